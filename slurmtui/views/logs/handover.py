"""Handing a log over to a pager or an editor, at the line one is at. Pure: which program, with which arguments."""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

PAGERS = ("less", "more", "most")
EDITORS = ("nano", "vim", "vi", "emacs")
MOST_FOR_AN_EDITOR = 200_000_000
"""Bytes of a file that an editor is asked to open; it reads all of it."""
_PLUS = frozenset(
    {"vi", "vim", "nvim", "view", "nano", "emacs", "emacsclient", "micro", "kak", "joe", "jed", "ne", "mg"}
)
_COLON = frozenset({"hx", "helix", "code", "subl", "zed"})


def pager(environ: Mapping[str, str] = os.environ) -> list[str]:
    """``$PAGER`` as words, else the first pager there is; empty for none."""
    return _program(environ.get("PAGER", ""), PAGERS)


def editor(environ: Mapping[str, str] = os.environ) -> list[str]:
    """``$VISUAL`` or ``$EDITOR`` as words, else the first editor there is; empty for none."""
    return _program(environ.get("VISUAL") or environ.get("EDITOR") or "", EDITORS)


def _program(wanted: str, usual: tuple[str, ...]) -> list[str]:
    try:
        words = shlex.split(wanted)
    except ValueError:
        words = []
    if words and shutil.which(words[0]):
        return words
    return next(([name] for name in usual if shutil.which(name)), [])


def at_line(program: list[str], path: str, line: int | None, offset: int | None) -> list[str]:
    """The whole command, at this line if it is known and the program can be told; less finds a place by its bytes."""
    name = Path(program[0]).name
    if name == "less":
        place = [f"+{line}g"] if line is not None else [f"+{offset}P"] if offset else []
        return [*program, "-R", *place, "--", path]
    if line is not None and name in _COLON:
        return [*program, f"{path}:{line}"]
    if line is not None and (name in _PLUS or name in PAGERS):
        return [*program, f"+{line}", path]
    return [*program, path]
