"""Fixed-width records: what squeue, sinfo and sacct print when every column has a width.

SLURM pads and cuts *bytes*, so a record is always as long as the widths say, whatever the fields hold: newlines,
separators and escape codes in a job's name cannot shift a column. One :class:`Layout` declares the columns; the
question, the slices and the types come from it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from slurmtui.models.text import decoded, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

PIECE_ROWS = 1024
"""So many records are taken apart by one call that nothing can interrupt."""


class RecordError(ValueError):
    """The output is not made of whole records."""


class Field(msgspec.Struct, frozen=True):
    """One column: its name here, SLURM's name for it, its width in bytes, and what it becomes (None: text).

    ``right`` has SLURM pad it on the left, which costs squeue far less: padding on the right is one printf a blank. It
    is never for a text that may begin with blanks of its own, nor for one that squeue does not cut then.
    """

    name: str
    ask: str
    width: int
    parse: Any = None  # Callable[[str], object] | None; msgspec has no type for callables
    right: bool = False


class Slot(NamedTuple):
    """Where a column stands: the part of the record, and first and last byte in it."""

    part: int
    start: int
    end: int


class Layout:
    """The columns of a record. ``gap`` is the number of bytes SLURM prints after each column (sacct: a space).

    ``parts`` names the columns with which another part of the record begins. Records that say the same in a part share
    its bytes: what differs from job to job stands apart from what a user's jobs have in common.
    """

    def __init__(self, *fields: Field, gap: int = 0, parts: Sequence[str] = ()) -> None:
        self.fields = fields
        self.gap = gap
        self.slots: dict[str, Slot] = {}
        self.parsers: dict[str, Callable[[str], Any] | None] = {}
        self.padded_left = frozenset(field.name for field in fields if field.right)
        starts = [0]
        offset = 0
        for field in fields:
            if field.name in parts and offset:
                starts.append(offset)
            start = offset - starts[-1]
            self.slots[field.name] = Slot(len(starts) - 1, start, start + field.width)
            self.parsers[field.name] = field.parse
            offset += field.width + gap
        self.stride = offset + 1  # the newline
        self.parts = tuple(zip(starts, [*starts[1:], offset], strict=True))

    def asked(self) -> str:
        """The columns in the words of ``squeue -O`` and ``sinfo -O``."""
        return ",".join(f"{field.ask}:{'.' * field.right}{field.width}" for field in self.fields)

    def asked_left(self) -> str:
        """The columns in the words of ``sacct -o`` (a minus means: on the left)."""
        return ",".join(f"{field.ask}%-{field.width}" for field in self.fields)

    def check(self, data: bytes) -> None:
        """Make sure that ``data`` is made of whole records.

        Raises:
            RecordError: it is not.
        """
        rows, rest = divmod(len(data), self.stride)
        ends = data[self.stride - 1 :: self.stride]
        if rest or ends.count(b"\n") != rows:
            start = visible(decoded(data[:80]))
            raise RecordError(f"{len(data)} bytes are not a number of records of {self.stride} bytes each: {start!r}")


class Records:
    """The records of one answer, kept as bytes; a field is decoded when it is looked at.

    Attributes:
        layout: the columns.
        parts: for each part of the layout the bytes of every record, padding and all; equal ones are one object.
    """

    __slots__ = ("layout", "parts")

    def __init__(
        self, layout: Layout, data: bytes | Iterable[bytes] = b"", *, like: Sequence[Sequence[bytes]] = ()
    ) -> None:
        """Keep ``data``, whole or in pieces of whole records.

        With the parts of the answer before (``like``), what has not changed since is kept once.

        Raises:
            RecordError: it is not made of whole records.
        """
        self.layout = layout
        self.parts: list[list[bytes]] = [[] for _ in layout.parts]
        kept: list[dict[bytes, bytes]] = [_known(part) for part in like] or [{} for _ in layout.parts]
        size = PIECE_ROWS * layout.stride
        for whole in (data,) if isinstance(data, bytes) else data:
            layout.check(whole)
            for first in range(0, len(whole), size):
                self._take(whole[first : first + size], kept)

    def _take(self, piece: bytes, kept: list[dict[bytes, bytes]]) -> None:
        stride = self.layout.stride
        for part, known, (start, end) in zip(self.parts, kept, self.layout.parts, strict=True):
            cuts = [piece[base + start : base + end] for base in range(0, len(piece), stride)]
            part.extend(map(known.setdefault, cuts, cuts))

    def __len__(self) -> int:
        return len(self.parts[0])

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Records) and self.layout is other.layout and self.parts == other.parts

    __hash__ = None  # type: ignore[assignment]  # compared by content, never a key

    def _padded(self, row: int, name: str) -> bytes:
        part, start, end = self.layout.slots[name]
        return self.parts[part][row][start:end]

    def raw(self, row: int, name: str) -> bytes:
        """The bytes of a field without the padding."""
        padded = self._padded(row, name)
        return padded.strip(b" ") if name in self.layout.padded_left else padded.rstrip(b" ")

    def cut(self, row: int, name: str) -> bool:
        """Whether the field fills its width, so that SLURM may have cut it: such a value is never acted on."""
        return len(self.raw(row, name)) == len(self._padded(row, name))

    def plain(self, row: int, name: str) -> str:
        """The field as text, as SLURM wrote it (control characters and all)."""
        raw = self.raw(row, name)
        return raw.decode("ascii") if raw.isascii() else decoded(raw, cut=self.cut(row, name))

    def text(self, row: int, name: str) -> str:
        """The field as text fit for a screen."""
        return visible(self.plain(row, name))

    def value(self, row: int, name: str) -> Any:
        """The field as what its declaration makes of it."""
        parse = self.layout.parsers[name]
        text = self.plain(row, name)
        return text if parse is None else parse(text)

    def part_of(self, name: str) -> list[bytes]:
        """The part with the field of every record."""
        return self.parts[self.layout.slots[name].part]

    def column(self, name: str) -> list[bytes]:
        """The field's bytes of all records, padded."""
        _, start, end = self.layout.slots[name]
        return [raw[start:end] for raw in self.part_of(name)]

    def rows_where(self, name: str, holds: Callable[[bytes], bool]) -> list[int]:
        """The rows whose field (its bytes without the padding) fulfils it; what many rows share is asked about once."""
        part, start, end = self.layout.slots[name]
        found = {raw for raw in set(self.parts[part]) if holds(raw[start:end].strip(b" "))}
        if not found:
            return []
        return [row for row, raw in enumerate(self.parts[part]) if raw in found]

    def values(self, name: str) -> list[Any]:
        """The field's values of all records, for sorting: each distinct value is parsed once."""
        parse = self.layout.parsers[name]
        seen: dict[bytes, Any] = {}
        answer = []
        for raw in self.column(name):
            if raw not in seen:
                text = unpadded(raw)
                seen[raw] = text if parse is None else parse(text)
            answer.append(seen[raw])
        return answer


def unpadded(raw: bytes) -> str:
    """A field's bytes as text without the padding; of a character that was cut in the middle nothing is left."""
    text = raw.strip(b" ")
    return text.decode("ascii") if text.isascii() else decoded(text, cut=len(text) == len(raw))


def _known(part: Sequence[bytes]) -> dict[bytes, bytes]:
    known: dict[bytes, bytes] = {}
    for first in range(0, len(part), PIECE_ROWS):
        some = part[first : first + PIECE_ROWS]
        known.update(zip(some, some, strict=True))
    return known
