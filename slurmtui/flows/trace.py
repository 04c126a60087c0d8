"""One line for an error of the user's code: what was raised, and where in the user's file."""

from __future__ import annotations

import traceback

from slurmtui.errors import SlurmtuiError


def last_line(error: BaseException, file: str = "") -> str:
    """What the error's traceback says last, and where: in ``file`` if it came by there, else where it was raised."""
    said = _said(error)
    if isinstance(error, SyntaxError):
        return f"{said} ({error.filename}:{error.lineno})"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith("<frozen")]
    own = [frame for frame in frames if frame.filename == file]
    places = own or frames
    return f"{said} ({places[-1].filename}:{places[-1].lineno})" if places else said


def _said(error: BaseException) -> str:
    if isinstance(error, SlurmtuiError):
        return str(error)
    said = traceback.format_exception_only(error)[-1].strip()
    return f"it ends Python: {said}" if isinstance(error, SystemExit) else said
