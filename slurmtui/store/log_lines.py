"""Raw lines of one writer made into lines of the log: parsed, put in order, and marked with where they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from slurmtui.store.log_entry import LogEntry
from slurmtui.store.log_merge import FLOW, Found, Mark
from slurmtui.store.log_parse import Parsed, parse_after, parse_lines

if TYPE_CHECKING:
    from collections.abc import Sequence


class Spans(NamedTuple):
    """Lines of a file and where each of them stands.

    Attributes:
        texts: the lines.
        starts: where each starts.
        end: where the last one ends.
        generation: since which beginning of the file.
        apart: they do not follow each other.
        noise: which of them Dask logged while it was shut down; empty for none.
    """

    texts: Sequence[bytes]
    starts: Sequence[int]
    end: int
    generation: int
    apart: bool = False
    noise: Sequence[bool] = ()

    def marks(self) -> list[Mark]:
        """Where each line stands."""
        if self.apart:
            ends = [start + len(text) + 1 for start, text in zip(self.starts, self.texts, strict=True)]
        else:
            ends = [*self.starts, self.end][1:]
        return [Mark(start, end, self.generation) for start, end in zip(self.starts, ends, strict=True)]


class Writer(NamedTuple):
    """Who writes.

    Attributes:
        place: the file.
        source: "driver", "out" or "err".
        job_id: whose output it is, if it is a job's.
        raw: show the lines as they stand in the file, also what Prefect's console puts before a message; they are
            then not compared with what others bring.
    """

    place: str
    source: str
    job_id: str = ""
    raw: bool = False

    def up_to(self, lines: Spans, latest: float) -> list[Found]:
        """Lines of which the last was written at ``latest`` or before."""
        parsed = parse_lines(lines.texts, latest)
        first = next((one.time for one in parsed if one.time is not None), latest)
        return self._ordered(parsed, lines, min(first, latest), latest)

    def since(self, lines: Spans, earliest: float, latest: float) -> list[Found]:
        """Lines of which the first was written at ``earliest`` or after, the last at ``latest`` or before."""
        return self._ordered(parse_after(lines.texts, earliest), lines, earliest, latest)

    def partial(self, text: bytes) -> LogEntry:
        """A line that is not finished."""
        return LogEntry(
            text=text.decode("utf-8", "replace"), source=self.source, job_id=self.job_id, key=self.place, partial=True
        )

    def _ordered(self, parsed: list[Parsed], lines: Spans, order: float, latest: float) -> list[Found]:
        found: list[Found] = []
        noise = lines.noise or [False] * len(parsed)
        for one, raw, mark, quiet in zip(parsed, lines.texts, lines.marks(), noise, strict=True):
            if one.time is not None and one.time > order:  # the file's own order is kept
                order = min(one.time, max(latest, order))
            found.append(self._found(one._replace(library=True) if quiet else one, raw, order, mark))
        return found

    def _found(self, one: Parsed, raw: bytes, order: float, mark: Mark) -> Found:
        speaker = ""
        if one.message is not None and not self.raw:
            speaker = f"task {one.logger}" if one.task else FLOW if one.flow else one.logger
        entry = LogEntry(
            text=raw.decode("utf-8", "replace").removesuffix("\r") if self.raw else one.text,
            source=self.source,
            time=one.time,
            job_id=self.job_id,
            task=one.logger if one.task and not self.raw else "",
            level=one.level,
            key=self.place,
            library=one.library,
        )
        return Found(order, entry, self.place, None if self.raw else one.message, speaker, mark=mark)
