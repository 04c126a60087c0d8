"""The program's own log: a file in the state folder, never the screen."""

from __future__ import annotations

import logging
from logging.handlers import RotatingFileHandler

from slurmtui import paths

_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def set_up() -> None:
    """Send slurmtui's log records to the log file; without a writable state folder they are dropped."""
    logger = logging.getLogger("slurmtui")
    logger.propagate = False
    if logger.handlers:
        return
    file = paths.log_file()
    try:
        paths.private_folder(file.parent)
        handler: logging.Handler = RotatingFileHandler(file, maxBytes=2_000_000, backupCount=1, encoding="utf-8")
        file.chmod(0o600)
    except OSError:
        handler = logging.NullHandler()
    handler.setFormatter(logging.Formatter(_FORMAT))
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
