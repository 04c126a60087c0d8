"""How the ids of jobs are handed to SLURM's commands: exactly the tasks that are meant, in as few words as possible.

Tasks of one array become one expression (``123_[4-6,9]``): SLURM answers it with one request, so that thousands of
tasks cost the controller no more than one job. What squeue writes and the other commands do not take (``%5``, the
throttle of an array, and ``0-20:4``, a step) is written out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from slurmtui.models.ids import JobId, parse_job_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

UNITS_A_CALL = 200
_LONGEST_TEXT = 20_000  # one argument may have 128 KiB; SLURM was seen to take 30,000 characters of tasks
_LONGEST_CALL = 100_000


class Unit(msgspec.Struct, frozen=True):
    """One argument for a command, and the ids it stands for."""

    text: str
    ids: tuple[str, ...]


def units(ids: Iterable[str]) -> tuple[list[Unit], list[str]]:
    """The arguments for ``ids``, and those ids that are not whole and so can never be passed on.

    Plain jobs, components of het jobs and steps stay alone; what is asked of one array is put together.
    """
    made: list[Unit] = []
    unfit: list[str] = []
    arrays: dict[int, list[tuple[str, JobId]]] = {}
    for job_id in dict.fromkeys(ids):
        parsed = parse_job_id(job_id)
        if parsed is None:
            unfit.append(job_id)
        elif parsed.step or (parsed.task is None and not parsed.tasks):
            made.append(Unit(job_id, (job_id,)))
        else:
            arrays.setdefault(parsed.base, []).append((job_id, parsed))
    for base, members in arrays.items():
        made.extend(_array_units(base, members))
    return made, unfit


def chunks(made: Sequence[Unit]) -> Iterator[list[Unit]]:
    """The arguments of one call after the other: not too many, and not too long together."""
    chunk: list[Unit] = []
    length = 0
    for unit in made:
        if chunk and (len(chunk) >= UNITS_A_CALL or length + len(unit.text) > _LONGEST_CALL):
            yield chunk
            chunk, length = [], 0
        chunk.append(unit)
        length += len(unit.text) + 1
    if chunk:
        yield chunk


def _array_units(base: int, members: Sequence[tuple[str, JobId]]) -> Iterator[Unit]:
    if len(members) == 1 and members[0][1].task is not None:
        yield Unit(members[0][0], (members[0][0],))
        return
    numbers: dict[int, list[str]] = {}  # a task may have been asked for by several ids: each wants its answer
    spans: list[tuple[int, int, list[str]]] = []
    for job_id, parsed in members:
        if parsed.task is not None:
            numbers.setdefault(parsed.task, []).append(job_id)
        for first, last, step in parsed.tasks:
            if step == 1:
                spans.append((first, last, [job_id]))
                continue
            for number in range(first, last + 1, step):
                numbers.setdefault(number, []).append(job_id)
    spans += [(number, number, asked) for number, asked in numbers.items()]
    yield from _written(base, sorted(spans))


def _written(base: int, spans: Sequence[tuple[int, int, list[str]]]) -> Iterator[Unit]:
    """Spans in their order as expressions; neighbours are joined, and a text that grows too long is ended."""
    parts: list[str] = []
    ids: dict[str, None] = {}
    length = 0
    for first, last, members in _joined(spans):
        part = f"{first}-{last}" if last > first else str(first)
        if parts and length + len(part) > _LONGEST_TEXT:
            yield Unit(f"{base}_[{','.join(parts)}]", tuple(ids))
            parts, ids, length = [], {}, 0
        parts.append(part)
        ids.update(dict.fromkeys(members))
        length += len(part) + 1
    if parts:
        yield Unit(f"{base}_[{','.join(parts)}]", tuple(ids))


def _joined(spans: Sequence[tuple[int, int, list[str]]]) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    start, end, members = -1, -2, list[str]()
    for first, last, asked in spans:
        if members and first <= end + 1:
            end = max(end, last)
            members.extend(asked)
            continue
        if members:
            yield start, end, tuple(members)
        start, end, members = first, last, list(asked)
    if members:
        yield start, end, tuple(members)
