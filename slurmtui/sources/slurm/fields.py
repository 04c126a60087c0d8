"""Columns that a version of SLURM does not know: found out once, then left out of the question and empty in the answer.

One unknown column fails a whole call, or is left out of every record. Here it is taken out of the question, what is
off is kept with a sentence (``Runner.lacks``), and the records of the answer get an empty column in its place, so that
whoever reads them need not know.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from slurmtui.models.records import RecordError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from slurmtui.sources.digest import Digest

_COLUMN = r"[\w-]+(?::\.?|%-)\d+"
_FORMAT = re.compile(rf"(format=)?{_COLUMN}(?:,{_COLUMN})*", re.ASCII)
_UNKNOWN = re.compile(
    r"(?:invalid job format specification: |invalid field requested: |unknown field |invalid field: )[\"']?([\w-]+)",
    re.ASCII | re.IGNORECASE,
)
_OFF = {
    "sinfo StateComplete": "the state of a node is told by its main word alone",
    "sacct SubmitLine": "the line that an ended job was submitted with is not kept",
    "sacct StdOut": "the names of an ended job's output files are not kept",
    "sacct StdErr": "the names of an ended job's error files are not kept",
}
"""What is off without a column."""


class Asked(msgspec.Struct, frozen=True):
    """The columns of a question: each one's name, width and whole text; and how many bytes SLURM writes after each."""

    columns: tuple[tuple[str, int, str], ...]
    gap: int
    prefix: str = ""

    @property
    def stride(self) -> int:
        """How long a record is."""
        return sum(width + self.gap for _, width, _ in self.columns) + 1

    def word(self) -> str:
        """As they stand in the command."""
        return self.prefix + ",".join(text for _, _, text in self.columns)

    def without(self, lacking: Collection[str]) -> Asked:
        """The columns that are left."""
        kept = tuple(column for column in self.columns if column[0] not in lacking)
        return msgspec.structs.replace(self, columns=kept)


def asked_in(argv: Sequence[str]) -> Asked | None:
    """The columns that a command asks for by its last word; None when it asks for none with a width."""
    match = _FORMAT.fullmatch(argv[-1])
    if match is None:
        return None
    prefix = match[1] or ""
    mark, gap = ("%-", 1) if "%-" in argv[-1] else (":", 0)
    columns = []
    for text in argv[-1].removeprefix(prefix).split(","):
        name, _, width = text.rpartition(mark)
        columns.append((name, int(width.lstrip(".")), text))
    return Asked(tuple(columns), gap, prefix)


def unknown_column(stderr: str, asked: Asked) -> str:
    """The column that SLURM says it does not know, "" when it says nothing of that kind."""
    names = {name.lower(): name for name, _, _ in asked.columns}
    return next((names[word.lower()] for word in _UNKNOWN.findall(stderr) if word.lower() in names), "")


def key(command: str, column: str) -> str:
    """Under what it is remembered that a column is lacking."""
    return f"{command} {column}"


def sentence(command: str, column: str) -> str:
    """What is off without a column, and why."""
    what = _OFF.get(key(command, column), "what it would tell stays empty")
    return f"{what}: {command} of this SLURM knows no {column}"


def lacking(lacks: Mapping[str, str], command: str, asked: Asked) -> frozenset[str]:
    """Those of the columns that are known to be lacking."""
    return frozenset(name for name, _, _ in asked.columns if key(command, name) in lacks)


def filled(data: bytes, asked: Asked, missing: Collection[str]) -> bytes:
    """The records of an answer without some columns, with empty ones in their places.

    Raises:
        RecordError: it is not made of whole records.
    """
    stride = asked.without(missing).stride
    if len(data) % stride:
        raise RecordError(f"{len(data)} bytes are not a number of records of {stride} bytes each")
    cuts: list[tuple[int, int] | bytes] = []
    place = 0
    for name, width, _ in asked.columns:
        size = width + asked.gap
        if name in missing:
            cuts.append(b" " * size)
        else:
            cuts.append((place, place + size))
            place += size
    parts = []
    for first in range(0, len(data), stride):
        record = data[first : first + stride]
        parts += [cut if isinstance(cut, bytes) else record[cut[0] : cut[1]] for cut in cuts]
        parts.append(record[-1:])
    return b"".join(parts)


def filling(digest: Digest, asked: Asked, missing: Collection[str]) -> Digest:
    """As ``digest``, of records without some columns: it is given them with empty ones in their places."""
    whole, short = asked.stride, asked.without(missing).stride

    def run(read: Callable[[int], Iterator[bytes]]) -> object:
        return digest(lambda size: (filled(piece, asked, missing) for piece in read(max(1, size // whole) * short)))

    return run
