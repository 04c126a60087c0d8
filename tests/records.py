"""Records of fixed width as SLURM prints them, for the tests that answer in its place."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from slurmtui.models.records import Field, Layout

_COLUMN = re.compile(r"(?P<ask>[\w-]+)(?::(?P<right>\.?)|%-)(?P<width>\d+)", re.ASCII)


def padded(field: Field, value: object) -> bytes:
    """A value in its column: cut to the width in bytes, with blanks on the side on which they were asked for."""
    raw = value if isinstance(value, bytes) else str(value).encode()
    fits = raw[: field.width]
    return fits.rjust(field.width) if field.right else fits.ljust(field.width)


def record_of(layout: Layout, usual: Mapping[str, object] | None = None, /, **values: object) -> bytes:
    """One record of ``values`` by the names of their fields; where there is none stands what is ``usual``, or nothing.

    Raises:
        KeyError: the layout has no field of that name; a misspelt one would be empty without a word.
    """
    told = {**(usual or {}), **values}
    unknown = told.keys() - layout.slots.keys()
    if unknown:
        raise KeyError(f"the layout has no {', '.join(sorted(unknown))}")
    gap = b" " * layout.gap
    return b"".join(padded(field, told.get(field.name, b"")) + gap for field in layout.fields) + b"\n"


def laid_out_anew(layout: Layout, data: bytes, asked: str, *, may_lack: Collection[str] = ()) -> bytes:
    """Recorded bytes in the columns of ``layout``, whose widths and sides may have changed since.

    ``asked`` holds the columns that were recorded, in the words of squeue (``JobID:.12``) or of sacct (``JobID%-12``).
    Those of ``may_lack`` (SLURM's names) may not be among them, and are empty then.
    """
    columns = []
    for text in asked.strip().split(","):
        column = _COLUMN.fullmatch(text)
        assert column is not None, text
        columns.append((column["ask"], bool(column["right"]), int(column["width"])))
    stride = sum(width + layout.gap for _, _, width in columns) + 1
    assert len(data) % stride == 0
    empty = dict.fromkeys(may_lack, b"")
    records = []
    for base in range(0, len(data), stride):
        assert data[base + stride - 1 : base + stride] == b"\n"
        offset, values = base, dict(empty)
        for ask, right, width in columns:
            cell = data[offset : offset + width]
            values[ask] = cell.lstrip(b" ") if right else cell.rstrip(b" ")
            offset += width + layout.gap
        records.append(record_of(layout, {field.name: values[field.ask] for field in layout.fields}))
    return b"".join(records)
