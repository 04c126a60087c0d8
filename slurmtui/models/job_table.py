"""The queue as one answer of squeue: fixed-width records, decoded only where somebody looks."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from slurmtui.models.gres import parse_gres, shown, tres
from slurmtui.models.ids import base_id, parse_job_id
from slurmtui.models.job import Job
from slurmtui.models.job_names import JobNames
from slurmtui.models.records import PIECE_ROWS, Field, Layout, Records
from slurmtui.models.states import normal_state
from slurmtui.models.text import visible
from slurmtui.models.values import Special, count, known, moment, seconds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def _number(text: str) -> int:
    return count(text) or 0


QUEUE = Layout(
    Field("id", "JobArrayID", 56),
    Field("raw_id", "JobID", 12, _number, right=True),
    Field("name", "Name", 64),
    Field("user", "UserName", 24, right=True),
    Field("account", "Account", 24, known, right=True),
    Field("partition", "Partition", 32, right=True),
    Field("qos", "QOS", 20, known, right=True),
    Field("state", "State", 16, normal_state, right=True),
    Field("reason", "Reason", 48, known, right=True),
    Field("nodes", "NodeList", 48, known),
    Field("node_count", "NumNodes", 8, _number, right=True),
    Field("cpus", "NumCPUs", 8, _number, right=True),
    Field("tres_per_node", "tres-per-node", 32, known, right=True),
    Field("tres_per_job", "tres-per-job", 32, known, right=True),
    Field("tres", "tres-alloc", 72, known, right=True),
    Field("elapsed", "TimeUsed", 16, seconds),
    Field("time_limit", "TimeLimit", 16, seconds),
    Field("submit", "SubmitTime", 12, moment, right=True),
    Field("start", "StartTime", 12, moment, right=True),
    Field("end", "EndTime", 12, moment, right=True),
    Field("priority", "PriorityLong", 12, count, right=True),
    Field("comment", "Comment", 48, known, right=True),
    Field("dependency", "Dependency", 40, known, right=True),
    Field("work_dir", "WorkDir", 48, known, right=True),
    parts=("name", "user", "state", "node_count", "elapsed", "comment"),
)
"""What is asked of squeue for the queue: fields that every version from 20.11 on knows, none wider than is of use.

The columns of ids, nodes and times are padded on the right: padded on the left squeue does not cut them (its
``_print_str`` is told not to), and a long list of tasks or nodes would make the record longer than it may be.
"""

_ID = QUEUE.slots["id"]

MARK_PREFIX = b"slurmtui:"

_OWN_WORDS = frozenset({"name", "user", "partition"})  # a job may be called "None"


class JobTable(Records):
    """All jobs of one poll. Row numbers hold for this table only; follow a job by its id (:meth:`index`).

    ``names`` tells which row is which job, and which rows are parts of one array.
    """

    __slots__ = ("_by_raw_id", "_same", "names")

    EMPTY: ClassVar[JobTable]

    def __init__(self, data: bytes | Iterable[bytes] = b"", *, like: JobTable | None = None) -> None:
        """Keep the answer of ``squeue -h -O <QUEUE>``; see :class:`~slurmtui.models.records.Records`.

        With the table before (``like``), what has not changed since is kept once; so are the names, as long as the same
        jobs stand in the same rows.

        Raises:
            RecordError: it is not made of whole records.
        """
        self.names = JobNames(_ID.end - _ID.start)
        self._by_raw_id: dict[bytes, int] | None = None
        self._same = like  # while the rows are those of that table
        super().__init__(QUEUE, data, like=like.parts if like is not None else ())
        if self._same is not None and len(self._same) == len(self):
            self.names = self._same.names
        elif self._same is not None:
            self._name(0)
        self._same = None

    def _take(self, piece: bytes, kept: list[dict[bytes, bytes]]) -> None:
        first = len(self)
        super()._take(piece, kept)
        if self._same is not None:
            if self.parts[_ID.part][first:] == self._same.parts[_ID.part][first : len(self)]:
                return
            first, self._same = 0, None
        self._name(first)

    def _name(self, first: int) -> None:
        """Name the rows from this one on."""
        for start in range(first, len(self), PIECE_ROWS):
            ids = self.parts[_ID.part][start : start + PIECE_ROWS]
            self.names.extend([raw[_ID.start : _ID.end].strip(b" ") for raw in ids])

    def job(self, row: int) -> Job:
        """The job of a row, every field typed."""
        value = self.value
        state = value(row, "state")
        pending = state == "PENDING"
        shown_id = self.plain(row, "id")
        base, array, tasks = shown_id.partition("_")
        _, het, offset = shown_id.partition("+")
        return Job(
            id=shown_id,
            raw_id=value(row, "raw_id"),
            array_id=count(base) if array else None,
            array_tasks=tasks.strip("[]"),
            het_id=count(base_id(shown_id)) if het else None,
            het_offset=count(offset) if het else None,
            name=self.plain(row, "name"),
            user=self.plain(row, "user"),
            account=value(row, "account"),
            partition=self.plain(row, "partition"),
            qos=value(row, "qos"),
            state=state,
            reason=value(row, "reason"),
            nodes=value(row, "nodes"),
            node_count=value(row, "node_count"),
            cpus=value(row, "cpus"),
            memory=self._memory(row),
            gres=self._gres(row),
            elapsed=Special.UNKNOWN if pending else value(row, "elapsed"),
            time_limit=value(row, "time_limit"),
            submit=value(row, "submit"),
            start=value(row, "start"),
            end=value(row, "end"),
            priority=value(row, "priority"),
            comment=value(row, "comment"),
            dependency=value(row, "dependency"),
            work_dir=value(row, "work_dir"),
        )

    def jobs(self) -> Iterator[Job]:
        """Every job, in squeue's order."""
        return (self.job(row) for row in range(len(self)))

    def text(self, row: int, name: str) -> str:
        """A field of :class:`~slurmtui.models.job.Job` as text fit for a screen; empty where there is nothing."""
        if name == "memory":
            return visible(self._memory(row))
        if name == "gres":
            return visible(self._gres(row))
        if name == "state":
            return visible(str(self.value(row, name)))
        text = self.plain(row, name)
        return visible(text if name in _OWN_WORDS else known(text))

    def index(self, job_id: str) -> int | None:
        """The row of a job by its id as squeue shows it, or by SLURM's own number; None if it is not in the queue."""
        wanted = job_id.encode("utf-8", "replace")
        row = self.names.by_id.get(wanted)
        if row is not None or not wanted.isdigit():
            return row
        if self._by_raw_id is None:
            self._by_raw_id = {raw.strip(b" "): row for row, raw in enumerate(self.column("raw_id"))}
        return self._by_raw_id.get(wanted)

    def rows_of(self, job_id: str) -> list[int]:
        """The rows that ``job_id`` stands for: itself, or the tasks of an array, the components of a het job.

        A task that still waits in the rest of its array (``7_3`` in ``7_[2-9]``) is answered by that row.
        """
        wanted = parse_job_id(job_id)
        row = self.index(job_id)
        if wanted is None or (row is not None and (wanted.task is not None or wanted.offset is not None)):
            return [] if row is None else [row]
        rows = []
        for candidate in self.names.rows_of(str(wanted.base).encode()):
            other = parse_job_id(self.plain(candidate, "id"))
            if other is None or wanted.holds(other) or other.holds(wanted):
                rows.append(candidate)
        # Nothing of that base, but a row with that number: SLURM's own for a task, which the task knows itself by.
        return [row] if row is not None and not rows else rows

    def marked(self, prefix: bytes = MARK_PREFIX) -> list[int]:
        """The rows whose comment begins with slurmtui's mark, found without decoding the others."""
        return self.rows_where("comment", lambda raw: raw.startswith(prefix))

    def id_is_whole(self, row: int) -> bool:
        """Whether the row's id can be acted on: not cut, neither by its width nor by squeue's ``...``."""
        return not self.cut(row, "id") and parse_job_id(self.plain(row, "id")) is not None

    def _list(self, row: int, name: str) -> str:
        """A text of several things; where it was cut, without the last, whose number may have lost digits."""
        text: str = self.value(row, name)
        return text.rpartition(",")[0] if self.cut(row, name) else text

    def _memory(self, row: int) -> str:
        return tres(self._list(row, "tres")).get("mem", "")

    def _gres(self, row: int) -> str:
        """What the job asks for a node, else for the whole job, else what it was given."""
        for name in ("tres_per_node", "tres_per_job", "tres"):
            things = parse_gres(self._list(row, name))
            if things:
                return shown(things)
        return ""

    def gpu_texts(self, row: int) -> tuple[str, ...]:
        """The three texts that SLURM has about the job's GRES: per node, per job, and allocated or asked in all."""
        return tuple(self._list(row, name) for name in ("tres_per_node", "tres_per_job", "tres"))


JobTable.EMPTY = JobTable()
EMPTY = JobTable.EMPTY
