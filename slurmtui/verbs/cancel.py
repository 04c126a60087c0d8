"""``slurmtui cancel ID…``: runs or jobs, until nothing of them is seen any more."""

from __future__ import annotations

import asyncio
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from slurmtui.config import load_config
from slurmtui.control.cancel import cancel_run
from slurmtui.control.cancel_job import cancel_job_ids
from slurmtui.control.resolve import resolve_id
from slurmtui.errors import CommandError, PrefectError, Refused, RunFolderError, SlurmtuiError, UsageError
from slurmtui.models.ids import parse_job_id
from slurmtui.models.text import visible
from slurmtui.session import open_session
from slurmtui.sources.run_folder import read_run
from slurmtui.verbs.steps import tell_step

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from slurmtui.models.steps import Step
    from slurmtui.session import Session

_AT_A_TIME = 4
_COULD_BE_RUN = 6  # digits from which a number may mean a run by the beginning of its id
_ALSO_RUN = 4  # digits from which it is told that such a run exists as well


class Wanted(msgspec.Struct, frozen=True):
    """One thing to cancel."""

    id: str
    kind: str  # "run" or "job"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument(
        "ids",
        nargs="+",
        metavar="ID",
        help="runs by id (may be cut short) or name, or jobs by their ids as squeue shows them (123, 123_4)",
    )
    parser.add_argument(
        "--yes", "-y", action="store_true", help="do not ask (nothing is asked without a terminal, or with --json)"
    )
    parser.add_argument("--json", action="store_true", help="print the facts as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Cancel; 0 when nothing is left of any of them."""
    return asyncio.run(_run(arguments))


async def _run(arguments: argparse.Namespace) -> int:
    session = open_session(load_config(arguments.config))
    try:
        wanted = list(dict.fromkeys([await meant(session, text) for text in arguments.ids]))
        if not arguments.yes and sys.stdin.isatty() and not arguments.json and not _sure(wanted):
            print("nothing was cancelled", file=sys.stderr)
            return 1
        results = await _cancel_all(session, wanted, quiet=arguments.json)
    finally:
        await session.close()
    if arguments.json:
        print(msgspec.json.encode(results).decode())
    else:
        for result in results:
            print(f"{result['kind']} {result['id']} {result['text']}")
    return 0 if all(result["ok"] for result in results) else 1


async def meant(session: Session, text: str) -> Wanted:
    """The run or the job that is meant. A long number may be either: it is looked up as both."""
    if parse_job_id(text) is None or text.startswith("0"):  # no job's number does
        return Wanted(await resolve_id(session, text), "run")
    if not text.isdigit() or len(text) < _ALSO_RUN:
        return Wanted(text, "job")
    try:
        run_id = await resolve_id(session, text)
    except (Refused, PrefectError):
        return Wanted(text, "job")
    except UsageError:
        if len(text) >= _COULD_BE_RUN:
            raise
        run_id = ""
    if len(text) < _COULD_BE_RUN:
        _say_both(text, run_id)
        return Wanted(text, "job")
    try:
        job = await session.slurm.jobs_by_id([text])
    except CommandError as error:
        both = f"{text} may be a job, and is the beginning of run {run_id}; SLURM does not tell: {error}"
        raise UsageError(f"{both}. Give more of the run's id, or try again.") from error
    if job:
        raise UsageError(f"{text} is a job, and the beginning of run {run_id}: give more of the run's id.")
    return Wanted(run_id, "run")


def _say_both(text: str, run_id: str) -> None:
    which = f"run {run_id} begins" if run_id else "ids of runs begin"
    print(
        f"slurmtui: {text} is taken for a job; {which} so too, and is meant with {_COULD_BE_RUN} characters or more",
        file=sys.stderr,
    )


def _sure(wanted: Sequence[Wanted]) -> bool:
    print(f"Cancel {', '.join(map(_named, wanted))}?")
    try:
        return input("y cancels, anything else does not: ").strip().lower() in {"y", "yes"}
    except EOFError:
        return False


def _named(one: Wanted) -> str:
    """The thing in a person's words: a run by its name, where it is known here."""
    if one.kind != "run":
        parsed = parse_job_id(one.id)
        return f"job {one.id}" + (f" and with it the whole het job {parsed.base}" if parsed and parsed.leads else "")
    try:
        record = read_run(one.id)
    except RunFolderError:
        record = None
    return f"run {visible(record.spec.name)} ({one.id})" if record else f"run {one.id}"


async def _cancel_all(session: Session, wanted: Sequence[Wanted], *, quiet: bool) -> list[dict[str, Any]]:
    """A result for each, in the order in which they were named."""
    gate = asyncio.Semaphore(_AT_A_TIME)
    several = len(wanted) > 1

    async def one_run(run_id: str) -> dict[str, Any]:
        tell = partial(tell_step, prefix=f"{run_id[:8]}  " if several else "", timed=True)
        async with gate:
            return await _cancel_run(session, run_id, None if quiet else tell)

    runs = [one.id for one in wanted if one.kind == "run"]
    jobs = [one.id for one in wanted if one.kind == "job"]
    of_jobs, *of_runs = await asyncio.gather(_cancel_jobs(session, jobs), *map(one_run, runs))
    by_id = {result["id"]: result for result in [*of_jobs, *of_runs]}
    return [by_id[one.id] for one in wanted]


async def _cancel_run(session: Session, run_id: str, progress: Callable[[Step], None] | None) -> dict[str, Any]:
    try:
        report = await cancel_run(session, run_id, progress)
    except SlurmtuiError as error:
        return {"id": run_id, "kind": "run", "ok": False, "text": f"was not cancelled: {error}", "error": str(error)}
    if report.ok:
        text = (
            "cancelled, and seen gone from the queue"
            if report.state_type == "CANCELLED"
            else (f"is {report.state_type.lower() or 'not known to Prefect'}, and nothing of it is left")
        )
    else:
        left = f" Jobs that may be left: {', '.join(report.left_jobs)}." if report.left_jobs else ""
        text = f"is not wholly cancelled. {' '.join(report.problems)}{left}"
    return {
        "id": run_id, "kind": "run", "ok": report.ok, "text": text, "state": report.state_type,
        "left_jobs": report.left_jobs, "steps": report.steps,
    }  # fmt: skip


async def _cancel_jobs(session: Session, ids: Sequence[str]) -> list[dict[str, Any]]:
    if not ids:
        return []
    try:
        results = await cancel_job_ids(session, ids)
    except CommandError as error:
        words = f"was not cancelled: {error}"
        return [{"id": job_id, "kind": "job", "ok": False, "text": words, "error": str(error)} for job_id in ids]
    return [{"id": one.id, "kind": "job", "ok": one.ok, "text": one.text} for one in results]
