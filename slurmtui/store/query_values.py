"""Values of the queue's fields from their bytes, quickly: each distinct one is understood once."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from slurmtui.models.gres import gpus, parse_gres, tres_memory
from slurmtui.models.records import unpadded
from slurmtui.models.values import Special, count, moment, seconds

if TYPE_CHECKING:
    from collections.abc import Callable

    from slurmtui.models.job_table import JobTable

_SEPARATORS = b":-"
WAITING = b"PENDING"


def reader(table: JobTable, field: str, value: Callable[[bytes], Any]) -> Callable[[int], Any]:
    """A function from a row to the value of a field."""
    _, start, end = table.layout.slots[field]
    part, seen = table.part_of(field), dict[bytes, Any]()

    def read(row: int) -> Any:
        raw = part[row][start:end]
        if raw in seen:
            return seen[raw]
        found = seen[raw] = value(raw)
        return found

    return read


def each(table: JobTable, field: str, value: Callable[[bytes], Any]) -> list[Any]:
    """The value of a field in every row."""
    seen: dict[bytes, Any] = {}
    answer = []
    for raw in table.column(field):
        if raw in seen:
            answer.append(seen[raw])
        else:
            found = seen[raw] = value(raw)
            answer.append(found)
    return answer


def duration(raw: bytes) -> float | None:
    """Seconds from a duration as squeue prints it; infinite for no limit; None where there is none."""
    digits = raw.translate(None, _SEPARATORS)
    if digits.strip().isdigit() and (b":" in raw if b"-" not in raw else raw.count(b":") == 2):
        number = int(digits)
        minutes, hours, days = number // 100 % 100, number // 10_000 % 100, number // 1_000_000
        return number % 100 + minutes * 60 + hours * 3600 + days * 86400
    found = seconds(raw.decode("ascii", "replace"))
    if isinstance(found, Special):
        return math.inf if found is Special.UNLIMITED else None
    return found


def instant(raw: bytes) -> float | None:
    """A moment; None where there is none."""
    text = raw.strip()
    return float(text) or None if text.isdigit() else moment(raw.decode("ascii", "replace"))


def number(raw: bytes) -> int | None:
    """A count; None where there is none."""
    text = raw.strip()
    return int(text) if text.isdigit() else count(raw.decode("ascii", "replace"))


def memory_in(raw: bytes) -> float | None:
    """The memory (mebibytes) in a TRES text; not from the last entry of one that was cut."""
    text = unpadded(raw)
    return tres_memory(text.rpartition(",")[0] if b" " not in raw else text)


def gpu_reader(table: JobTable) -> Callable[[int], int]:
    """A function from a row to its number of GPUs."""
    start = table.layout.slots["tres_per_node"].start
    end = table.layout.slots["tres"].end  # the fields that tell of them stand side by side, in one part
    part, seen = table.part_of("tres"), dict[bytes, int]()

    def read(row: int) -> int:
        raw = part[row][start:end]
        found = seen.get(raw)
        if found is None:
            found = seen[raw] = max(gpus(parse_gres(text)) for text in table.gpu_texts(row))
        return found

    return read
