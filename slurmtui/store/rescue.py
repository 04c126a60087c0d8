"""Finds what needs rescue in a snapshot and in what lies about in the state folder. Nothing is changed here.

Pure; ``rescue_look`` asks what is needed beside the snapshot.
Absence of data proves nothing here either: while SLURM or Prefect does not answer, no job counts as an orphan and no
folder as forgotten.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import msgspec

from slurmtui.models.rescue import Case, Leftover, Repair
from slurmtui.models.run_record import DriverStatus
from slurmtui.models.text import visible
from slurmtui.store.rescue_clusters import cluster_case
from slurmtui.store.words import clock, counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from slurmtui.models.run_view import RunView
    from slurmtui.store.snapshot import Snapshot

_LISTED = 8
_RUN_KINDS = frozenset(
    {"driver-gone", "lost", "cancel-stuck", "cancelled-jobs-alive", "cancelled-driver-alive", "sbatch-refused"}
)


class Beyond(msgspec.Struct, frozen=True, kw_only=True):
    """What a snapshot does not hold: files that lie about, and runs that Prefect was asked for by id.

    ``known`` are those it knows, ``unknown`` those it said it does not know; of the others nothing is said.
    """

    leftovers: tuple[Leftover, ...] = ()
    known: frozenset[str] = frozenset()
    unknown: frozenset[str] = frozenset()


def find_cases(snapshot: Snapshot, beyond: Beyond | None = None, now: float | None = None) -> tuple[Case, ...]:
    """Every case, runs first."""
    beyond = beyond if beyond is not None else Beyond()
    moment = time.time() if now is None else now
    cases = [
        *(case for view in snapshot.runs if (case := _run_case(view)) is not None),
        *(case for view in snapshot.shared.values() if (case := cluster_case(view)) is not None),
        *_orphans(snapshot, beyond),
        *_forgotten(snapshot, beyond, moment),
        *(_leftover(leftover, moment, _name_of(snapshot, leftover.run_id)) for leftover in beyond.leftovers),
    ]
    return tuple(cases)


def runs_to_seek(snapshot: Snapshot) -> tuple[str, ...]:
    """The runs of which Prefect must be asked by id before anything can be said of them."""
    if not snapshot.flow_runs.good:
        return ()
    listed = {run.id for run in snapshot.flow_runs.data}
    orphaned = dict.fromkeys(orphan.run_id for orphan in snapshot.orphans)
    recorded = [run_id for run_id in snapshot.records.data if run_id not in listed and _quiet(snapshot, run_id)]
    return tuple(dict.fromkeys((*orphaned, *recorded)))


def words(cases: Collection[Case]) -> str:
    """One sentence for the start of the console, empty when there is nothing."""
    if not cases:
        return ""
    kinds: dict[str, int] = {}
    for case in cases:
        name = _NAMES.get(case.kind, "leftover")
        kinds[name] = kinds.get(name, 0) + 1
    listed = ", ".join(counted(count, name) for name, count in kinds.items())
    return f"{counted(len(cases), 'thing')} to rescue ({listed}):  !  shows them"


_NAMES = {
    **dict.fromkeys(_RUN_KINDS, "run"), "ended-jobs-alive": "run", "unknown-alive": "run",
    "orphan-jobs": "orphaned job group", "dead-cluster": "dead cluster",
    "dead-server": "dead server",
}  # fmt: skip


# --- runs


def _run_case(view: RunView) -> Case | None:
    verdict = view.verdict
    if not verdict.needs_you:
        return None
    kind = verdict.kind
    if kind == "unknown":
        kind = "unknown-alive"
    elif kind == "waiting" or (kind == "sbatch-refused" and view.run.final and not view.jobs):
        return None  # a request that SLURM will never grant, or an end that was told: nothing is left lying about
    elif kind not in _RUN_KINDS:
        if not view.jobs:
            return None  # its end was told, and nothing of it is left
        kind = "ended-jobs-alive"
    return Case(
        id=f"run:{view.run.id}",
        kind=kind,
        title=view.run.name,
        text=verdict.text,
        evidence=verdict.evidence,
        repairs=_run_repairs(view, kind),
        run_id=view.run.id,
        job_ids=tuple(job.id for job in view.jobs),
    )


def _run_repairs(view: RunView, kind: str) -> tuple[Repair, ...]:
    end_all = Repair(
        key="cancel",
        title="Finish the cancel" if kind in {"cancel-stuck", "cancelled-driver-alive"} else "End what is left of it",
        plan=(*_ending(view), *_final_state(view, "CANCELLED"), ("then", "look: squeue empty of it")),
        yes="end it",
    )
    if kind in {"driver-gone", "lost"} and view.driver.dead and not view.run.final:
        reason = visible(view.verdict.text)
        crash = Repair(
            key="crash",
            title="Mark it crashed",
            plan=(*_ending(view), ("Prefect", f"CRASHED: {reason}"), ("then", "look: squeue empty of it")),
            yes="mark it crashed",
        )
        retry = Repair(
            key="retry",
            title="Run it again",
            plan=(*_ending(view), ("driver", "started again under the same id; kept results are reused")),
            yes="run it again",
        )
        return (crash, retry, end_all) if view.record is not None else (crash, end_all)
    return (end_all,)


def _ending(view: RunView) -> Iterator[tuple[str, str]]:
    if view.driver is DriverStatus.ALIVE:
        yield "driver", "asked to end, then SIGTERM"
    elif view.driver is DriverStatus.ELSEWHERE:
        yield "driver", "asked to end through the run folder (it is on another host)"
    if view.jobs:
        yield "SLURM", f"scancel {_listed([job.id for job in view.jobs])}"


def _final_state(view: RunView, state: str) -> Iterator[tuple[str, str]]:
    if view.known and not view.run.final:
        yield "Prefect", state
    elif view.known:
        yield "Prefect", f"stays {view.run.state_name}"


# --- jobs and folders of runs that nobody knows


def _orphans(snapshot: Snapshot, beyond: Beyond) -> Iterator[Case]:
    if not snapshot.queue.good:
        return
    groups: dict[str, list[str]] = {}
    for orphan in snapshot.orphans:
        groups.setdefault(orphan.run_id, []).append(orphan.job_id)
    for run_id, job_ids in groups.items():
        if run_id in beyond.known or run_id not in beyond.unknown:
            continue
        listed = _listed(job_ids)
        yield Case(
            id=f"jobs:{run_id}",
            kind="orphan-jobs",
            title=f"jobs of {visible(run_id)[:8]}",
            text=f"{counted(len(job_ids), 'job')} in the queue of a run that nobody here knows",
            evidence=(
                f"In the queue with the mark of run {visible(run_id)}: {listed}.",
                f"Prefect{_at(snapshot)} does not know this run.",
                "The state folder has no folder of it.",
                "If another slurmtui of yours works with another state folder or Prefect server, they may be its own.",
            ),
            repairs=(
                Repair(
                    key="cancel-jobs",
                    title="Cancel its jobs",
                    plan=(("SLURM", f"scancel {listed}"), ("then", "look: squeue empty of them")),
                    yes="cancel them",
                ),
            ),
            run_id=run_id,
            job_ids=tuple(job_ids),
        )


def _forgotten(snapshot: Snapshot, beyond: Beyond, now: float) -> Iterator[Case]:
    """Folders of runs that Prefect said it does not know, and nothing of which lives."""
    if not (snapshot.flow_runs.good and snapshot.queue.good and snapshot.records.at is not None):
        return
    for run_id in sorted(beyond.unknown):
        record = snapshot.records.data.get(run_id)
        if record is None or not _quiet(snapshot, run_id) or record.spec.created > (snapshot.flow_runs.asked or 0):
            continue
        if record.spec.api_url.rstrip("/") != snapshot.api_url.rstrip("/"):
            continue  # it was submitted to another server, which may well know it
        yield Case(
            id=f"folder:{run_id}",
            kind="forgotten-run",
            title=visible(record.spec.name) or run_id[:8],
            text="a run folder whose run Prefect no longer knows",
            evidence=(
                f"Prefect{_at(snapshot)} does not know run {run_id}.",
                f"It was submitted {clock(record.spec.created, now)}; no driver and no job of it is alive.",
                f"Its folder: {visible(record.folder)}",
            ),
            repairs=(_put_aside(visible(record.folder)),),
            run_id=run_id,
            paths=(record.folder,),
        )


def _quiet(snapshot: Snapshot, run_id: str) -> bool:
    """Whether nothing of a recorded run is known to live."""
    return snapshot.drivers.get(run_id, DriverStatus.NONE).dead and run_id not in snapshot.run_of_job.values()


# --- files


_LEFTOVER_WORDS = {
    "stale-lock": ("a lock whose holder is gone", Repair(key="remove", title="Remove the lock", yes="remove it")),
    "tls-files": (
        "keys and certificates of clusters that are gone",
        Repair(key="remove", title="Remove them", yes="remove them"),
    ),
    "half-made-folder": ("a run folder that was never finished", Repair(key="put-aside", title="Put it aside")),
    "old-folders": ("folders of runs that ended long ago", Repair(key="put-aside", title="Put them aside")),
    "dead-server": (
        "the private Prefect server has died",
        Repair(key="start-server", title="Start it again", yes="start it"),
    ),
}


def _leftover(leftover: Leftover, now: float, name: str) -> Case:
    text, repair = _LEFTOVER_WORDS[leftover.kind]
    if repair.key == "put-aside":
        repair = _put_aside(_listed([visible(path) for path in leftover.paths], 3))
    elif repair.key == "remove":
        repair = msgspec.structs.replace(
            repair, plan=(("remove", _listed([visible(path) for path in leftover.paths], 3)),)
        )
    else:
        repair = msgspec.structs.replace(
            repair, plan=(("server", "started again with its database, address and password"),)
        )
    written = (f"Last written {clock(leftover.moment, now)}.",) if leftover.moment else ()
    place = leftover.run_id or (leftover.paths[0] if leftover.paths else "")
    return Case(
        id=f"{leftover.kind}:{place}",
        kind=leftover.kind,
        title=_title(leftover, name),
        text=f"{text}{f' ({len(leftover.paths)})' if len(leftover.paths) > 1 else ''}",
        evidence=(visible(leftover.why), *written, *(visible(path) for path in leftover.paths[:_LISTED])),
        repairs=(repair,),
        run_id=leftover.run_id,
        paths=leftover.paths,
    )


def _name_of(snapshot: Snapshot, run_id: str) -> str:
    """The name of a run, as its folder tells it: what it has left is found beside what else is said of it."""
    record = snapshot.records.data.get(run_id)
    return visible(record.spec.name) if record is not None else ""


def _title(leftover: Leftover, name: str) -> str:
    if leftover.kind == "dead-server":
        return "server"
    if leftover.run_id:
        what = "keys" if leftover.kind == "tls-files" else "lock"
        return f"{what} of {name}" if name else leftover.run_id[:8]
    return visible(leftover.paths[0].rpartition("/")[2]) if leftover.paths else leftover.kind


def _put_aside(what: str) -> Repair:
    plan = (("move", what), ("to", "the folder `aside` of the state folder; nothing is deleted"))
    return Repair(key="put-aside", title="Put aside", plan=plan, yes="put it aside")


def _at(snapshot: Snapshot) -> str:
    return f" at {visible(snapshot.api_url)}" if snapshot.api_url else ""


def _listed(items: Sequence[str], most: int = _LISTED) -> str:
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return f"{' '.join(items[:most])}{more}"
