"""Actions of the Clusters view: start a shared cluster, end one, look at it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slurmtui.actions.model import Action, Choosing, Context, Option, Question, names
from slurmtui.actions.plain import go, perform
from slurmtui.errors import SlurmtuiError
from slurmtui.models.run_record import DriverStatus
from slurmtui.models.steps import Step

if TYPE_CHECKING:
    from slurmtui.models.profile import Profile
    from slurmtui.models.shared_cluster import ClusterView

_PLACE = ("clusters",)
_OVERLAY_SECONDS = 60.0


def _needs_cluster(context: Context) -> str:
    return "" if context.cluster is not None else "There is no cluster under the cursor"


def _needs_part(context: Context) -> str:
    if context.run is None and context.job is None:
        return "Put the cursor on a job or a run of the cluster: o then shows it in its own view"
    return ""


def _other_side(context: Context) -> None:
    if context.run is not None:
        context.console.go("runs", f"run:{context.run.run.id}")
    elif context.job is not None:
        context.console.go("jobs", context.job.id)


def _cannot_end(context: Context) -> str:
    view = context.cluster
    if view is None:
        return "There is no cluster under the cursor"
    if context.row_kind == "run":
        return "This would end the cluster: put the cursor on it; o goes to the run, which can be cancelled there"
    if view.over and not view.jobs:
        return f"The cluster {view.record.spec.name} has ended; nothing of it is left"
    return ""


def _end_question(view: ClusterView, runs: tuple[str, ...]) -> Question:
    spec, ids = view.record.spec, [job.id for job in view.jobs]
    facts = [view.verdict.text]
    if runs:
        facts.append(f"lost: the work of {len(runs)} flow run{'s' * (len(runs) > 1)} on it, which will fail: ")
        facts[-1] += names(runs)
    plan = [] if view.keeper is DriverStatus.GONE else [("keeper", f"asked to end, then SIGTERM ({view.record.where})")]
    if ids:
        plan.append(("SLURM", f"scancel {names(ids, 8)}"))
    plan += [("then", "look: squeue empty of it"), ("keys", "removed")]
    # With flows on it, it is their work too: that wants more than one key.
    typed = spec.name if runs else ""
    return Question(f"End cluster {spec.name}", tuple(facts), tuple(plan), yes="end it", typed=typed)


async def _end(context: Context) -> None:
    from slurmtui.control.clusters_down import down  # noqa: PLC0415 - the console starts without paying for it

    console, view = context.console, context.cluster
    if view is None:
        return
    runs = tuple(run.run.name for run in context.cluster_runs)
    if not await console.ask(_end_question(view, runs)):
        return
    spec = view.record.spec
    console.store.overlay(spec.id, "ending…", _OVERLAY_SECONDS)
    board = console.board(f"End cluster {spec.name}")
    try:
        report = await down(console.session, view.record, board.show)
    except SlurmtuiError as error:
        board.finish(str(error), well=False)
    else:
        left = f"; still there: {names(report.left_jobs)}" if report.left_jobs else ""
        board.finish(("ended: squeue seen empty" if report.ok else "not wholly ended") + left, well=report.ok)
    console.store.overlay(spec.id, "", 0)
    console.store.kick("queue", "prefect", "records")


def _cannot_start(context: Context) -> str:
    return "" if context.console.session.config.profiles else "The configuration has no profile to start one of"


async def _start(context: Context) -> None:
    from slurmtui.control.clusters import Bounds, new_spec, up  # noqa: PLC0415 - as above

    console = context.console
    session, profiles = console.session, console.session.config.profiles

    async def plan_of(name: str) -> tuple[str, ...]:
        spec = new_spec(session, profiles[name], Bounds())
        return (
            f"{spec.minimum} to {spec.maximum} jobs as there is work, none while there is none",
            f"a job goes after {spec.idle:.0f} s without work, the cluster after {spec.end:.0f} s without a flow",
        )

    options = tuple(Option(name, name, _columns(profile)) for name, profile in profiles.items())
    first = session.config.default_profile or next(iter(profiles))
    name = await console.choose(
        Choosing("Start a shared cluster", ("of a profile:",), options, first, plan_of, yes="start it", no="No")
    )
    if not name:
        return
    board = console.board(f"Start cluster {name}")
    doing = "SLURM is asked whether it takes the jobs"
    board.show(Step(key="up", title="keeper", state="doing", detail=doing))
    try:
        record, started = await up(session, name)
    except SlurmtuiError as error:
        board.finish(str(error), well=False)
        return
    board.show(Step(key="up", title="keeper", state="done", detail=record.where))
    said = "is up" if started else "was up already"
    board.finish(f'{said}: slurm_runner("{name}", shared=True) uses it', well=True)
    console.store.kick("queue", "records")


def _columns(profile: Profile) -> tuple[str, ...]:
    return (profile.memory, profile.walltime, profile.partition or "")


ACTIONS = (
    Action("view-clusters", "9", "Clusters", "Dask clusters that flows share: their jobs, workers and flows.",
           go("clusters")),
    Action("cluster.detail", "enter", "Evidence", "What is known of the cluster, and how a flow uses it.",
           perform("detail-pane"), _PLACE, footer=1, why_not=_needs_cluster, aliases=("d", "b")),
    Action("cluster.part", "o", "Other side", "From a job or run of the cluster to its line in its own view.",
           _other_side, _PLACE, footer=20, why_not=_needs_part),
    Action("cluster.ended", "z", "Ended ones too", "Show clusters that have ended as well, or only the others.",
           perform("ended"), _PLACE, footer=32),
    Action("cluster.up", "U", "Start", "Start a shared cluster of a profile.",
           _start, _PLACE, touches=True, footer=12, why_not=_cannot_start),
    Action("cluster.down", "X", "End", "End the cluster: keeper, jobs, keys. It looks afterwards at squeue.",
           _end, _PLACE, touches=True, footer=10, why_not=_cannot_end),
)  # fmt: skip
