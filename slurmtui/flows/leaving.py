"""What the processes of a run and of a shared cluster have in common: their log and their exit."""

from __future__ import annotations

import logging
import os
import sys
import threading
from typing import NoReturn

_LONGEST_EXIT = 5.0  # seconds that threads left over by the flow may hold up the end of the process


def log_to_stderr(*names: str) -> None:
    """The process's own words, among what Prefect, Dask and the flow write; their loggers are left as they are."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s | slurmtui | %(message)s", "%H:%M:%S"))
    for name in names:
        logger = logging.getLogger(name)
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        logger.propagate = False


def leave(code: int) -> NoReturn:
    """Exit as Python does, but not later than ``_LONGEST_EXIT`` because of threads that will not end."""
    guard = threading.Timer(_LONGEST_EXIT, os._exit, (code,))
    guard.daemon = True
    guard.start()
    sys.exit(code)
