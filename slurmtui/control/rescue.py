"""Does what a person chose to put a case right. Each repair looks again before it touches anything."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from slurmtui.control import rescue_files, server
from slurmtui.control.cancel import cancel_run
from slurmtui.control.clusters_down import down
from slurmtui.control.end_jobs import EMPTY, JOBS, EndJobs
from slurmtui.control.prefect import set_state
from slurmtui.control.resolve import need_prefect
from slurmtui.control.retry import retry_run
from slurmtui.control.run_lock import holding
from slurmtui.control.steps import Steps
from slurmtui.errors import PrefectError, Refused, RunFolderError
from slurmtui.models.marks import Marks, job_name
from slurmtui.models.rescue import Case, RepairReport
from slurmtui.models.text import visible
from slurmtui.sources.cluster_folder import keeper_status, read_clusters
from slurmtui.sources.run_folder import is_run_id, read_run

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection

    from slurmtui.models.run_record import RunRecord
    from slurmtui.models.steps import Step
    from slurmtui.session import Session
    from slurmtui.sources.prefect.client import PrefectClient

    Progress = Callable[[Step], None] | None

_SEEN_AT_ONCE = 100
_FOUND, _NOT_FOUND = 200, 404
_SILENT = {JOBS: "jobs: scancel", EMPTY: "squeue seen empty"}


async def repair(session: Session, case: Case, key: str, progress: Progress = None) -> RepairReport:
    """Do the repair ``key`` of the case, tell ``progress`` about each step, and report.

    Raises:
        Refused: the case offers no such repair, it is no longer so, or another console acts on the run.
        PrefectError: the server does not answer or refuses.
        RunFolderError: a file cannot be moved or removed.
        SlurmtuiError: what else the retry or the server's start raise.
    """
    if case.repair(key) is None:
        offered = ", ".join(one.key for one in case.repairs) or "none"
        raise Refused(f"There is no repair {visible(key)!r} for {case.id}. Offered: {offered}.")
    return await _DOING[key](session, case, progress)


async def ask_about(session: Session, ids: Collection[str]) -> tuple[frozenset[str], frozenset[str]]:
    """The runs among ``ids`` that Prefect knows, and those it says it does not know; of others nothing is said."""
    client = await asyncio.to_thread(lambda: session.prefect)
    known, unknown = set(), set()
    if client is None:
        return frozenset(), frozenset()
    for run_id in list(ids)[:_SEEN_AT_ONCE]:
        status = await _status_of(client, run_id) if is_run_id(run_id) else _NOT_FOUND
        if status == _FOUND:
            known.add(run_id)
        elif status == _NOT_FOUND:
            unknown.add(run_id)
        elif status is None:
            break
    return frozenset(known), frozenset(unknown)


async def _status_of(client: PrefectClient, run_id: str) -> int | None:
    try:
        await client.flow_run(run_id)
    except PrefectError as error:
        return error.status
    return _FOUND


async def _cancel(session: Session, case: Case, progress: Progress) -> RepairReport:
    report = await cancel_run(session, case.run_id, progress)
    left = f" Jobs that may be left: {' '.join(report.left_jobs)}." if report.left_jobs else ""
    text = f"{case.title}: {' '.join(report.problems)}{left}"
    if report.ok:
        text = f"{case.title} is {report.state_type.lower() or 'ended'}; no driver and no job of it is left"
    return RepairReport(ok=report.ok, text=text)


async def _crash(session: Session, case: Case, progress: Progress) -> RepairReport:
    """End its jobs, then let Prefect say CRASHED and why."""
    client = need_prefect(session)
    async with holding(case.run_id, "rescuing"):
        run = await client.flow_run(case.run_id)
        if run.final:
            raise Refused(f"{run.name} has ended meanwhile ({run.state_name}).")
        record = await asyncio.to_thread(read_run, case.run_id)
        if record is not None:
            await _refuse_if_alive(session, record, run.name)
        steps = Steps({**_SILENT, "final": "Prefect: CRASHED"}, progress)
        names = {job_name(run.flow_name, run.id)}
        jobs = EndJobs(session, Marks.of(record.spec, record) if record else Marks(run.id, names), steps)
        await jobs.end(twice=True, expected=record is None or bool(record.job_ids))
        if steps[EMPTY].state == "failed":
            steps.failed_with("final", f"left at {run.state_name}: jobs of the run may still be alive")
            return RepairReport(ok=False, text=f"{run.name}: {steps[EMPTY].detail}")
        steps.begin("final")
        reason = f"Marked by {session.user} with slurmtui rescue: {case.text}"
        answer = await set_state(client, run.id, "CRASHED", reason)
        if not answer.accepted and answer.state_type != "CRASHED":
            answer = await set_state(client, run.id, "CRASHED", reason, force=True)
        if not answer.accepted:
            steps.failed_with("final", f"Prefect keeps {answer.state_type}: {answer.reason}")
            return RepairReport(ok=False, text=f"{run.name}: Prefect keeps {answer.state_type}: {answer.reason}")
        steps.done("final")
    return RepairReport(ok=True, text=f"{run.name} is crashed, with the reason; no driver and no job of it is left")


async def _cancel_jobs(session: Session, case: Case, progress: Progress) -> RepairReport:
    """Cancel the jobs that carry the mark of a run, if Prefect still does not know it."""
    _, unknown = await ask_about(session, [case.run_id])
    record = None
    with contextlib.suppress(RunFolderError):  # the mark may name anything
        record = await asyncio.to_thread(read_run, case.run_id)
    if case.run_id not in unknown or record is not None:
        raise Refused(f"Run {visible(case.run_id)} is known by now, or Prefect does not answer: look again.")
    steps = Steps(_SILENT, progress)
    await EndJobs(session, Marks(case.run_id, ()), steps).end(twice=False)
    ok = not steps.failed
    return RepairReport(ok=ok, text="squeue shows none of them any more" if ok else steps[EMPTY].detail)


async def _retry(session: Session, case: Case, progress: Progress) -> RepairReport:
    """End the jobs that its driver left behind, then start it again."""
    record = await asyncio.to_thread(read_run, case.run_id)
    if record is None:
        raise Refused(f"Run {case.run_id} has no run folder here, so it cannot be run again.")
    async with holding(case.run_id, "rescuing"):
        await _refuse_if_alive(session, record, case.title)
        steps = Steps({**_SILENT, "again": "driver"}, progress)
        await EndJobs(session, Marks.of(record.spec, record), steps).end(twice=True, expected=bool(record.job_ids))
        if steps[EMPTY].state == "failed":
            steps.skip("again", "not started")
            return RepairReport(ok=False, text=f"{case.title}: {steps[EMPTY].detail}")
    steps.begin("again")
    spec = await retry_run(session, case.run_id)
    steps.done("again", "started again")
    return RepairReport(ok=True, text=f"{spec.name} runs again")


async def _refuse_if_alive(session: Session, record: RunRecord, name: str) -> None:
    """Refuse when the driver lives after all."""
    if record.driver_job_id:
        found = await session.slurm.jobs_by_id([record.driver_job_id])
        if any(job.active for job in found.values()):
            raise Refused(f"The driver of {name} is job {record.driver_job_id}, which is in the queue.")
    elif not await asyncio.to_thread(rescue_files.is_dead, record):
        raise Refused(f"The driver of {name} is alive: cancel the run instead.")


async def _end_cluster(session: Session, case: Case, progress: Progress) -> RepairReport:
    """End what a dead cluster has left; not one whose keeper lives after all."""
    record = (await asyncio.to_thread(read_clusters)).get(case.id.removeprefix("cluster:"))
    if record is None or (await asyncio.to_thread(keeper_status, record)).lives:
        raise Refused(f"{case.title} is alive, or known no more: look again.")
    report = await down(session, record, progress)
    text = "nothing of it is left" if report.ok else " ".join(report.problems)
    return RepairReport(ok=report.ok, text=f"{case.title}: {text}")


async def _put_aside(session: Session, case: Case, progress: Progress) -> RepairReport:
    del progress
    if case.kind == "forgotten-run":
        _, unknown = await ask_about(session, [case.run_id])
        if case.run_id not in unknown:
            raise Refused(f"Prefect knows run {case.run_id} by now, or does not answer: its folder stays.")
    moved = await asyncio.to_thread(_touch_all, case, rescue_files.put_aside)
    return RepairReport(ok=moved == len(case.paths), text=f"{moved} of {len(case.paths)} put aside")


async def _remove(session: Session, case: Case, progress: Progress) -> RepairReport:
    del session, progress
    removed = await asyncio.to_thread(_touch_all, case, rescue_files.remove)
    return RepairReport(ok=removed == len(case.paths), text=f"{removed} of {len(case.paths)} removed")


def _touch_all(case: Case, touch: Callable[[Path], object]) -> int:
    done = 0
    for path in map(Path, case.paths):
        if rescue_files.still_left(case.kind, path) and touch(path):
            done += 1
    return done


async def _start_server(session: Session, case: Case, progress: Progress) -> RepairReport:
    del case, progress
    record = await asyncio.to_thread(server.start, session.config, lambda _: None)
    await session.forget_prefect()
    return RepairReport(ok=True, text=f"Prefect {record.version} runs on {record.api_url}")


_DOING: dict[str, Callable[[Session, Case, Progress], Awaitable[RepairReport]]] = {
    "cancel": _cancel,
    "crash": _crash,
    "cancel-jobs": _cancel_jobs,
    "retry": _retry,
    "end-cluster": _end_cluster,
    "put-aside": _put_aside,
    "remove": _remove,
    "start-server": _start_server,
}
