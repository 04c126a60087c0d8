"""Tells every thread of a driver that the run is being ended: Prefect interrupts the main thread only."""

from __future__ import annotations

import threading

ENDING = threading.Event()
"""Set once, when the end of the run was asked for or a SIGTERM came."""
