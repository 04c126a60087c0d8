"""``slurmtui logs ID``: the log of a run or a job, for a terminal or a pipe."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import time
from typing import TYPE_CHECKING

from slurmtui.config import load_config
from slurmtui.errors import Refused, UsageError
from slurmtui.models.ids import parse_job_id
from slurmtui.models.text import visible
from slurmtui.session import open_session
from slurmtui.store.ended_log import EndedJobLog
from slurmtui.store.log_follow import follow_job, follow_run, give_rest
from slurmtui.store.log_jobs import JobsLog
from slurmtui.store.log_outputs import is_array
from slurmtui.store.log_stream import RunLog
from slurmtui.store.once import gather
from slurmtui.verbs.cancel import meant
from slurmtui.verbs.logs_lines import Printer

if TYPE_CHECKING:
    import argparse

    from slurmtui.models.run_view import RunView
    from slurmtui.session import Session

_DEFAULT_LINES = "1000"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument(
        "id",
        metavar="ID",
        help="a run's id (may be cut short) or name; a job's as squeue shows it: 123, 123_4, 123_[4-6], an array's for "
        "all of it",
    )
    parser.add_argument("-f", "--follow", action="store_true", help="go on until the run or job has ended")
    parser.add_argument(
        "-n",
        "--lines",
        metavar="LINES",
        default=_DEFAULT_LINES,
        help="so many of the last lines, or all (default: 1000)",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object a line")


def run(arguments: argparse.Namespace) -> int:
    """Print the log; 0 when all of it could be had, 1 when a part is missing."""
    lines = _line_count(arguments.lines)
    try:
        code = asyncio.run(_run(arguments, lines))
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read has seen enough
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code


def _line_count(text: str) -> int | None:
    """How many lines are wanted; None for all.

    Raises:
        UsageError: it is no number.
    """
    if text == "all":
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise UsageError(f"--lines {visible(text)!r} is no number of lines: write for example 100, or all.")
    return int(text)


async def _run(arguments: argparse.Namespace, lines: int | None) -> int:
    session = open_session(load_config(arguments.config))
    try:
        wanted = await meant(session, arguments.id)
        if wanted.kind == "run":
            return await _run_log(session, wanted.id, arguments, lines)
        return await _job_log(session, wanted.id, arguments, lines)
    finally:
        await session.close()


async def _run_log(session: Session, run_id: str, arguments: argparse.Namespace, lines: int | None) -> int:
    view = await _view(session, run_id)
    log = RunLog(session, view, lines, keep_up=False)
    printer = Printer(json=arguments.json, names=True)
    try:
        entries = await log.read_new()
        if arguments.follow:
            printer.print_last(entries, lines)
            if lines != 0 and not printer.count and not view.run.final:
                _say(log.why_empty)
            await follow_run(session, view, log, printer.print)
        else:
            printer.print_last(entries + await log.read_rest(), lines)
        for problem in log.problems:
            _say(problem)
        if lines != 0 and not printer.count and not log.problems:
            _say(log.why_empty)
        return 1 if log.problems else 0
    finally:
        log.close()


async def _view(session: Session, run_id: str) -> RunView:
    snapshot = await gather(session, since=time.time(), ids=[run_id])
    view = snapshot.find_run(run_id)
    if view is None:
        raise Refused(snapshot.flow_runs.error or f"There is no run {run_id}. `slurmtui runs` lists them.")
    return view


async def _job_log(session: Session, job_id: str, arguments: argparse.Namespace, lines: int | None) -> int:
    parsed = parse_job_id(job_id)
    several = bool(parsed and parsed.tasks) or await is_array(session, job_id)
    log: EndedJobLog | JobsLog = (
        JobsLog(session, [job_id], lines, keep_up=False)
        if several
        else EndedJobLog(session, job_id, lines, keep_up=False)
    )
    printer = Printer(json=arguments.json, names=several)
    try:
        entries = await log.read_new()
        if arguments.follow and not log.failed:
            printer.print_last(entries, lines)
            if lines != 0 and not printer.count:
                _say(log.why_empty)
            await follow_job(log, printer.print)
        elif lines is None:
            printer.print(entries)
            await give_rest(log, printer.print)
        else:
            printer.print_last(entries + await log.read_rest(), lines)
        if lines != 0 and not printer.count:
            _say(log.why_empty)
        return 1 if log.failed else 0
    finally:
        log.close()


def _say(sentence: str) -> None:
    """To the person, beside the log."""
    sys.stdout.flush()
    print(f"slurmtui: {sentence}", file=sys.stderr, flush=True)
