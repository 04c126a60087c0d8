"""The text of ``scontrol show job`` taken apart, without trusting the free text that stands in it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_NEXT_KEY = re.compile(r"\s+(?=[A-Z][\w:/]*=)")
_WHOLE_LINE = (
    "Command=", "WorkDir=", "StdErr=", "StdIn=", "StdOut=", "Comment=", "AdminComment=", "SystemComment=", "Extra=",
    "SubmitLine=", "MailUser=", "Reservation=", "Container=",
)  # fmt: skip
_HIDDEN = "\0{}\0"
_OUTERMOST = ("JobName", "Comment", "Command", "WorkDir")  # first what may hold forged lines of the others
_SUBMIT_LINE = re.compile(r"\n   SubmitLine=(.*?)(?=\n   WorkDir=\0\d+\0\n)", re.DOTALL)
_HOLE = re.compile(r"\0(\d+)\0")


def parse_show_job(text: str, free: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    r"""Keys and values in SLURM's order.

    Args:
        text: one job's record as scontrol wrote it.
        free: values of keys that users choose (``JobName``, ``Comment`` …), known exactly from elsewhere. They are
            taken out first, so that a name such as ``x\n   StdOut=/etc/passwd`` is a name and nothing else.
    """
    kept: list[str] = []
    for key in sorted(free, key=_OUTERMOST.index):
        place = _find(text, key, free[key]) if free[key] else None
        if place is not None:
            text = _hide(text, place, kept)
    submit_line = _SUBMIT_LINE.search(text)
    if submit_line is not None:  # 26.05: the words of the submission, free text that nothing else tells
        text = _hide(text, submit_line.span(1), kept)
    pairs = []
    for line in text.split("\n"):
        for part in _parts(line.strip()):
            key, equals, value = part.partition("=")
            if equals and key:
                pairs.append((key, _HOLE.sub(lambda hole: kept[int(hole[1])], value)))
    return tuple(pairs)


def _parts(line: str) -> list[str]:
    return [line] if line.startswith(_WHOLE_LINE) else _NEXT_KEY.split(line)


def _hide(text: str, place: tuple[int, int], kept: list[str]) -> str:
    """``text`` with a hole in which the next of ``kept`` stood."""
    start, end = place
    kept.append(text[start:end])
    return f"{text[:start]}{_HIDDEN.format(len(kept) - 1)}{text[end:]}"


def _find(text: str, key: str, value: str) -> tuple[int, int] | None:
    """Where ``value`` stands after ``key``, as the rest of a line; with the spaces at its end, which squeue drops.

    The name and the command stand before every other free text, the rest after it.
    """
    pattern = rf"(?:^|\s){re.escape(key)}=({re.escape(value)}[ ]*)(?=\n|\Z)"
    places = [match.span(1) for match in re.finditer(pattern, text)]
    if not places:
        return None
    return places[0] if key in {"JobName", "Command"} else places[-1]
