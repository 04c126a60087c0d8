"""What an action is, what it is given, and what it may ask of the console.

Layers: an action knows facts and the console's few verbs (the ``Console`` protocol), no screen and no widget.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from slurmtui.actions.dialogs import Dialogs
    from slurmtui.actions.jobs_journal import Journal
    from slurmtui.control.cancel import Step
    from slurmtui.models.flow_run import TaskRun
    from slurmtui.models.history import PastJob
    from slurmtui.models.job import Job
    from slurmtui.models.job_group import JobGroup
    from slurmtui.models.node import Node
    from slurmtui.models.partition_use import PartitionUse
    from slurmtui.models.rescue import Case
    from slurmtui.models.run_view import RunView
    from slurmtui.models.shared_cluster import ClusterView
    from slurmtui.session import Session
    from slurmtui.store.store import Store

ANY = "any"


@dataclass(frozen=True)
class Question:
    """What a person is asked before something is touched.

    ``facts`` are shown first, ``plan`` is what would be done, as (part, what) pairs; ``typed`` must be typed to agree
    when it is not empty (many targets, or somebody else's); otherwise ``y`` agrees. ``no`` is the default.
    """

    title: str
    facts: tuple[str, ...] = ()
    plan: tuple[tuple[str, str], ...] = ()
    yes: str = "yes"
    no: str = "No, keep it"
    typed: str = ""


@dataclass(frozen=True)
class Option:
    """One of several ways: its columns stand beneath those of the others; with ``why_not`` it cannot be taken."""

    key: str
    title: str
    columns: tuple[str, ...] = ()
    why_not: str = ""


@dataclass(frozen=True)
class Choosing:
    """What a person is asked when there are several ways; the answer is an option's key.

    ``chosen`` is the option that is offered first. ``ask`` tells what would come of an option, in a few lines; it is
    called when the option is looked at. ``typed``, ``yes`` and ``no`` are as in a ``Question``.
    """

    title: str
    facts: tuple[str, ...]
    options: tuple[Option, ...]
    chosen: str
    ask: Callable[[str], Awaitable[tuple[str, ...]]]
    yes: str = "yes"
    no: str = "No"
    typed: str = ""


class StepsBoard(Protocol):
    """A board on which the steps of a longer action are ticked off; it may be closed while the work goes on."""

    def show(self, step: Step) -> None:
        """Show a step in its newest state."""

    def finish(self, text: str, *, well: bool) -> None:
        """Say how it ended."""


class Console(Protocol):
    """The console as an action sees it."""

    session: Session
    store: Store
    read_only: bool
    dialogs: Dialogs
    journal: Journal

    def go(self, view: str, key: str = "") -> None:
        """Show a view, with the cursor on the row of ``key`` if it is given."""

    def tell(self, text: str, *, severity: str = "information") -> None:
        """Say one sentence at the edge of the screen."""

    async def ask(self, question: Question) -> bool:
        """Ask, and wait for the answer; anything but a clear yes is no."""

    async def choose(self, choosing: Choosing) -> str:
        """Ask which of several ways, and wait for the answer; "" for none."""

    def new_run_from(self, target: str, profile: str, parameters: Mapping[str, Any]) -> None:
        """Open the form of a new run with these values in it."""

    def board(self, title: str) -> StepsBoard:
        """Open a board of steps."""

    def command(self, text: str) -> None:
        """Run a command as if it had been typed at the colon."""

    def perform(self, what: str) -> None:
        """Do something that concerns the screen alone: ``help``, ``palette``, ``log-pane``, ``quit`` and so on."""


@dataclass(frozen=True)
class LogFacts:
    """The pane with a log that has the focus, or is open.

    ``paths`` are its files; ``single`` tells that it is one file, whose lines have numbers; ``elsewhere`` is job, node
    and path of a file that only the job's node can read; ``panes`` is how many panes lie beside each
    other; ``library`` is how many of Dask's own lines it has, as far as it was read.
    """

    key: str = ""
    name: str = ""
    paths: tuple[str, ...] = ()
    single: bool = False
    lines: int = 0
    sought: bool = False
    library: int = 0
    elsewhere: tuple[str, ...] = ()
    panes: int = 1


@dataclass(frozen=True)
class Context:
    """What was under the cursor and marked when the key was pressed. Targets are frozen here."""

    console: Console
    place: str
    run: RunView | None = None
    job: Job | None = None
    task: TaskRun | None = None
    node: Node | None = None
    partition: PartitionUse | None = None
    past: PastJob | None = None
    case: Case | None = None
    cluster: ClusterView | None = None
    cluster_runs: tuple[RunView, ...] = ()  # those that go on and use ``cluster``
    row_kind: str = ""
    """A word such as ``run``, ``job``, ``array``, ``het``, ``task``; ``gone`` (has just left the queue), ``unread``
    (the queue is still being read), or nothing for an empty list."""
    pane: str = ""  # "detail", "logs" or "" for none beneath the list
    marked_runs: tuple[RunView, ...] = ()
    marked_jobs: Sequence[Job] = ()
    marked_cases: tuple[Case, ...] = ()
    groups: Mapping[str, JobGroup] = field(default_factory=dict)
    """Those of the targets that are an array or het job as a whole, by the job's id."""
    job_run_id: str = ""
    """The id of the run to which ``job`` belongs."""
    log: LogFacts | None = None
    hidden_marks: int = 0
    """How many rows are marked when none of them is shown."""

    @property
    def no_job(self) -> str:
        """Why the row under the cursor is no job that anything could be done with; "" when that is not the matter."""
        return {
            "gone": "This job has left the queue",
            "unread": "The queue is still being read: in a moment",
        }.get(self.row_kind, "")

    @property
    def target_runs(self) -> tuple[RunView, ...]:
        """The marked runs, else the run under the cursor (only when the cursor is on the run itself)."""
        return self.marked_runs or ((self.run,) if self.run and self.row_kind == "run" else ())

    @property
    def target_jobs(self) -> Sequence[Job]:
        """The marked jobs, else the job under the cursor."""
        return self.marked_jobs or ((self.job,) if self.job else ())


def _never(_: Context) -> str:
    return ""


@dataclass(frozen=True)
class Action:
    """One thing a person can do.

    ``why_not`` gives the reason it cannot be done now, "" when it can. ``label`` may make the footer's words depend on
    the row. ``footer`` orders the key line: lower comes first, 0 keeps the action out of it.
    """

    id: str
    key: str
    title: str
    help: str
    run: Callable[[Context], Awaitable[None] | None]
    places: tuple[str, ...] = (ANY,)
    touches: bool = False
    footer: int = 0
    why_not: Callable[[Context], str] = _never
    label: Callable[[Context], str] | None = None
    aliases: tuple[str, ...] = field(default=())
    of_rows: bool = True
    """Whether it concerns the marked rows, or the one under the cursor."""

    def at(self, place: str) -> bool:
        """Whether the action belongs to this place."""
        return ANY in self.places or place in self.places

    def refusal(self, context: Context) -> str:
        """Why the action cannot be done now, "" when it can."""
        if self.touches and context.console.read_only:
            return f"{self.title}: this console is read-only (start it without --read-only, or :rw)"
        if self.touches and self.of_rows and context.hidden_marks:
            hidden = f"{context.hidden_marks:,} {'row is' if context.hidden_marks == 1 else 'rows are'}"
            return f"{self.title}: {hidden} marked and not shown (filtered or gone): escape takes the marks away"
        return self.why_not(context)

    def words(self, context: Context) -> str:
        """The words of the key line."""
        return self.label(context) if self.label else self.title.lower()


def names(items: Sequence[str], most: int = 6) -> str:
    """A short list of names for a sentence."""
    shown = " ".join(items[:most])
    return shown if len(items) <= most else f"{shown} … and {len(items) - most} more"
