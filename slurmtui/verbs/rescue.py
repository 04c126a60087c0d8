"""``slurmtui rescue [ID --do REPAIR]``: what ended without saying so, and the safe repairs; none is done unasked."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

import msgspec

from slurmtui.config import load_config
from slurmtui.control.rescue import repair
from slurmtui.control.rescue_files import OLD_DAYS
from slurmtui.errors import UsageError
from slurmtui.models.text import visible
from slurmtui.session import open_session
from slurmtui.store.once import gather
from slurmtui.store.rescue_look import examine
from slurmtui.verbs.steps import tell_step

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from slurmtui.models.rescue import Case, RepairReport
    from slurmtui.session import Session
    from slurmtui.store.snapshot import Snapshot


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("ids", nargs="*", metavar="ID", help="only these cases: an id as listed, or its beginning")
    parser.add_argument("--do", metavar="REPAIR", help="do this repair for each ID (the list names those it has)")
    parser.add_argument(
        "--days", type=float, metavar="N", default=OLD_DAYS,
        help="run folders count as old when their run ended so many days ago (default: %(default)g)",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print the facts as JSON")


def run(arguments: argparse.Namespace) -> int:
    """List the cases (0 also when there are some), or repair; 1 when a repair failed or a source did not answer."""
    if arguments.do and not arguments.ids:
        raise UsageError("--do wants the ID of a case: slurmtui rescue lists them.")
    return asyncio.run(_run(arguments))


async def _run(arguments: argparse.Namespace) -> int:
    session = open_session(load_config(arguments.config))
    try:
        snapshot = await gather(session)
        cases = meant(await examine(session, snapshot, days=arguments.days), arguments.ids)
        problems = _problems(snapshot)
        for problem in problems:
            print(f"slurmtui: {problem}", file=sys.stderr)
        if arguments.do:
            return await _repair(session, cases, arguments)
    finally:
        await session.close()
    if arguments.json:
        print(msgspec.json.encode(cases).decode())
    elif cases:
        print("\n".join(line for case in cases for line in lines(case)))
    elif not problems:
        print("nothing to rescue")
    return 1 if problems else 0


def meant(cases: Sequence[Case], ids: Sequence[str]) -> tuple[Case, ...]:
    """The cases that are meant, each by its id, its title, or the beginning of its id or its run's, which means one.

    Raises:
        UsageError: a text means none, or several.
    """
    if not ids:
        return tuple(cases)
    found = [_one_meant(cases, text) for text in ids]
    return tuple(case for number, case in enumerate(found) if case not in found[:number])


def _one_meant(cases: Sequence[Case], text: str) -> Case:
    exact = [case for case in cases if text in {case.id, case.title, case.run_id} - {""}]
    matches = exact or [case for case in cases if text and (case.id.startswith(text) or case.run_id.startswith(text))]
    if not matches:
        raise UsageError(f"There is no case {visible(text)!r} (any more): slurmtui rescue lists them.")
    if len(matches) > 1:
        several = ", ".join(visible(case.id) for case in matches)
        raise UsageError(f"{visible(text)!r} may mean any of {several}: write more of it.")
    return matches[0]


async def _repair(session: Session, cases: Sequence[Case], arguments: argparse.Namespace) -> int:
    for case in cases:  # nothing is done when not everything can be
        if case.repair(arguments.do) is None:
            offered = ", ".join(one.key for one in case.repairs) or "none"
            what = f"There is no repair {visible(arguments.do)!r} for {visible(case.id)}."
            raise UsageError(f"{what} Offered for it: {offered}. Nothing was done.")
    results = []
    for case in cases:
        report = await repair(session, case, arguments.do, None if arguments.json else tell_step)
        results.append((case, report))
        if not arguments.json:
            print(visible(f"{case.id} {report.text}"))
    if arguments.json:
        print(msgspec.json.encode([_result(*result) for result in results]).decode())
    return 0 if all(report.ok for _, report in results) else 1


def _result(case: Case, report: RepairReport) -> dict[str, object]:
    return {"id": case.id, "kind": case.kind, "ok": report.ok, "text": report.text}


def _problems(snapshot: Snapshot) -> list[str]:
    errors = {"Prefect": snapshot.flow_runs.error, "SLURM": snapshot.queue.error}
    return [f"{name}: {visible(error)}" for name, error in errors.items() if error]


def lines(case: Case) -> list[str]:
    """A case for a person."""
    found = [f"{case.id}  {case.title}: {case.text}"]
    found += [f"    {sentence}" for sentence in case.evidence]
    found += [f"    --do {one.key:<12} {one.title}: {'; '.join(what for _, what in one.plan)}" for one in case.repairs]
    return [visible(line) for line in found]
