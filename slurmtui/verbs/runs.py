"""``slurmtui runs [ID…]``: flow runs with their SLURM jobs and what is really going on with them."""

from __future__ import annotations

import asyncio
import re
import sys
import time
from datetime import datetime
from typing import TYPE_CHECKING, Any

import msgspec

from slurmtui.config import load_config
from slurmtui.errors import UsageError
from slurmtui.models.flow_run import STATE_NAMES, STATE_TYPES
from slurmtui.models.text import visible
from slurmtui.models.verdict import KINDS
from slurmtui.session import open_session
from slurmtui.sources.processes import newest_start
from slurmtui.store.facts import driver_job_ids
from slurmtui.store.once import gather
from slurmtui.store.words import clock
from slurmtui.verbs.runs_table import print_runs

if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection, Sequence

    from slurmtui.models.run_view import RunView
    from slurmtui.store.snapshot import Snapshot

_DAY = 86400.0
_SPAN = re.compile(r"(\d+(?:\.\d+)?)([smhdw])", re.IGNORECASE)
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": _DAY, "w": 7 * _DAY}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("ids", nargs="*", metavar="ID", help="only these: ids (may be cut short) or names of runs")
    span = parser.add_mutually_exclusive_group()
    span.add_argument(
        "--since",
        metavar="WHEN",
        default="2d",
        help="ended runs from then on: 36h, 2d, 1w, 2026-01-31, 2026-01-31T14:00 (default: 2d)",
    )
    span.add_argument("--all-days", action="store_true", help="ended runs however old")
    parser.add_argument(
        "--state",
        metavar="S[,S]",
        help="only runs in these states, Prefect's (running, failed …) or a verdict's (waiting, lost, driver-gone …)",
    )
    parser.add_argument("--jobs", action="store_true", help="each run's jobs in the queue beneath it")
    parser.add_argument("--json", action="store_true", help="print the facts as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print the runs; 0 when Prefect and SLURM both answered and every ID was found."""
    now = time.time()
    since = None if arguments.all_days else moment(arguments.since, now)
    snapshot = asyncio.run(_gather(arguments.config, since, arguments.ids))
    views = snapshot.runs
    states = None if arguments.state is None else states_of(arguments.state, {view.run.state_name for view in views})
    missing = []
    if arguments.ids:
        views = tuple(view for view in views if any(_is_meant(view, text) for text in arguments.ids))
        missing = [text for text in arguments.ids if not any(_is_meant(view, text) for view in views)]
    if states is not None:
        views = tuple(view for view in views if _in_state(view, states))
    if arguments.json:
        print(msgspec.json.encode([facts(view) for view in views]).decode())
    elif views:
        print_runs(views, now, with_jobs=arguments.jobs)
    problems = [
        *_problems(snapshot),
        *(f"no run is called {visible(text)!r} or has an id that begins so" for text in missing),
    ]
    for problem in problems:
        print(f"slurmtui: {problem}", file=sys.stderr)
    if not views and not problems and not arguments.json:
        span = "" if since is None else f" since {clock(since, now)}"
        print(f"no {'such ' if arguments.state else ''}runs{span}", file=sys.stderr)
    if snapshot.flow_runs_cut:
        print("slurmtui: there are more runs than were read; --since shortens the list", file=sys.stderr)
    return 1 if problems else 0


async def _gather(config: str | None, since: float | None, ids: Sequence[str]) -> Snapshot:
    session = open_session(load_config(config))
    try:
        prefixes = [text.lower() for text in ids if re.fullmatch(r"[0-9a-fA-F-]{4,36}", text)]
        return await gather(session, since=since, ids=prefixes)
    finally:
        await session.close()


def moment(text: str, now: float) -> float:
    """The moment a person means by ``2d``, ``36h`` (ago), or by a date with or without a time.

    Raises:
        UsageError: it is neither.
    """
    match = _SPAN.fullmatch(text.strip())
    if match is not None:
        return now - float(match[1]) * _UNITS[match[2].lower()]
    try:
        found = datetime.fromisoformat(text.strip())
        return found.timestamp()
    except (ValueError, OverflowError):
        raise UsageError(f"--since {text!r} is no time: write 36h, 2d, 1w or a date such as 2026-01-31.") from None


def _is_meant(view: RunView, text: str) -> bool:
    return bool(text) and (view.run.id.startswith(text.lower()) or view.run.name == text)


def states_of(text: str, own: Collection[str] = ()) -> frozenset[str]:
    """The states and verdicts that are meant, without their case; ``own`` are names that flows gave their states.

    Raises:
        UsageError: one of them is neither.
    """
    words = [word.strip() for word in text.split(",") if word.strip()]
    known = {name.casefold() for name in (*STATE_TYPES, *STATE_NAMES, *KINDS, *own)}
    for word in words:
        if word.casefold() not in known:
            raise UsageError(
                f"--state {visible(word)!r} is no state. Prefect's: {', '.join(sorted(map(str.lower, STATE_TYPES)))}. "
                f"Verdicts: {', '.join(KINDS)}."
            )
    if not words:
        raise UsageError(f"--state {visible(text)!r} names no state: write for example running or failed,lost.")
    return frozenset(word.casefold() for word in words)


def _in_state(view: RunView, wanted: frozenset[str]) -> bool:
    run = view.run
    return bool(wanted & {run.state_type.casefold(), run.state_name.casefold(), view.verdict.kind})


def _problems(snapshot: Snapshot) -> list[str]:
    """What did not answer, a sentence each."""
    errors = {
        "Prefect": snapshot.flow_runs.error,
        "SLURM": snapshot.queue.error,
        "the counts of tasks": snapshot.counts.error,
        "accounting": snapshot.ended.error,
        "run folders": snapshot.records.error,
    }
    return [f"{name}: {visible(error)}" for name, error in errors.items() if error]


def facts(view: RunView) -> dict[str, Any]:
    """One run for a script: the names here are a promise."""
    run, record = view.run, view.record
    start = newest_start(record) if record is not None else None
    own = sorted(driver_job_ids(record))
    profile = record.profile if record is not None else None
    return {
        "id": run.id,
        "name": run.name,
        "flow": run.flow_name,
        "state": run.state_type or None,
        "verdict": view.verdict.kind,
        "verdict_text": view.verdict.text,
        "evidence": list(view.verdict.evidence),
        "profile": profile.name if profile is not None else None,
        "driver": {
            "host": (start.host or None) if start is not None else None,
            "pid": (start.pid or None) if start is not None else None,
            "job": own[-1] if own else None,
            "status": view.driver.value,
        },
        "jobs": [
            {"id": job.id, "name": job.name, "state": job.state, "reason": job.reason, "node": job.nodes or None}
            for job in view.jobs
        ],
        "attempts": [
            {"attempt": one.attempt, "outcome": one.outcome, "cause": one.cause or None, "again": one.again or None}
            for one in (record.attempts if record is not None else ())
        ],
        "tasks": _task_counts(view),
        "started": iso(run.start),
        "ended": iso(run.end) if run.final or not view.known else None,
    }


def _task_counts(view: RunView) -> dict[str, int] | None:
    """The counts by state; None where they are not known."""
    if view.tasks is None:
        return None
    names = ("completed", "cached", "failed", "crashed", "running", "pending", "cancelled", "total")
    return {name: getattr(view.tasks, name) for name in names}


def iso(moment: float | None) -> str | None:
    """A moment as ISO 8601 with this machine's zone."""
    return None if moment is None else datetime.fromtimestamp(moment).astimezone().isoformat(timespec="seconds")
