"""``slurmtui retry ID``: run a failed, crashed or cancelled run again under its own id."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

import msgspec

from slurmtui.config import load_config
from slurmtui.control.cost import cost_of, cost_words
from slurmtui.control.resolve import resolve_run
from slurmtui.control.retry import RetryPlan, plan_retry, retry_run
from slurmtui.control.retry_change import Change, changed_profile, slurm_says
from slurmtui.errors import Refused
from slurmtui.models.retry import difference
from slurmtui.models.text import visible
from slurmtui.session import open_session
from slurmtui.sources.run_folder import read_run
from slurmtui.verbs.submit import tell, wait_and_tell

if TYPE_CHECKING:
    import argparse

    from slurmtui.models.profile import Profile
    from slurmtui.session import Session


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("id", metavar="ID", help="the run's id (may be cut short) or its name")
    parser.add_argument("--profile", metavar="NAME", help="another profile for its jobs")
    parser.add_argument("--memory", metavar="SIZE", help="other memory for each of its jobs, such as 32G")
    parser.add_argument("--time", metavar="LIMIT", help="another time limit for its jobs, such as 4:00:00")
    parser.add_argument("--partition", metavar="NAME", help="another partition for its jobs")
    parser.add_argument("--plan", action="store_true", help="only tell what it would reuse, run again and cost at most")
    parser.add_argument("--wait", action="store_true", help="wait for the end; exit code 3 when it did not complete")
    parser.add_argument("--json", action="store_true", help="print the facts as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Retry; 0 when the run was started again (with ``--wait``: when it completed)."""
    return asyncio.run(_run(arguments))


async def _run(arguments: argparse.Namespace) -> int:
    session = open_session(load_config(arguments.config))
    try:
        found = await resolve_run(session, arguments.id)
        plan = await plan_retry(session, found.id)
        if plan.refused:
            raise Refused(plan.refused)
        profile, said = await _wanted(session, found.id, arguments)
        facts = _facts(plan, profile)
        if arguments.plan:
            lines = _plan_lines(plan, profile, said)
            print(msgspec.json.encode({**facts, "slurm": said}).decode() if arguments.json else "\n".join(lines))
            return 0
        if plan.repair:
            tell(f"{visible(plan.repair)}: that is put right first")
        spec = await retry_run(session, found.id, profile)
        told = difference(plan.profile, profile)
        reused = f"{plan.reused} of {plan.total} tasks have their results and are reused"
        sentence = f"{visible(spec.name)} runs again{f' with {told}' if told else ''}; {reused}"
        if arguments.wait:
            print(sentence, file=sys.stderr, flush=True)
            return await wait_and_tell(session, facts, as_json=arguments.json)
        print(msgspec.json.encode(facts).decode() if arguments.json else sentence)
        return 0
    finally:
        await session.close()


async def _wanted(session: Session, run_id: str, arguments: argparse.Namespace) -> tuple[Profile | None, str]:
    """The profile that was asked for and SLURM's word on it; what SLURM would not take is refused at once."""
    change = Change(
        profile=arguments.profile, memory=arguments.memory, time=arguments.time, partition=arguments.partition
    )
    record = read_run(run_id)
    profile = changed_profile(session, record, change) if record is not None else None
    asked = profile or (record.profile if arguments.plan and record is not None else None)
    if asked is None:
        return profile, ""
    well, said = await slurm_says(session, asked)
    if not well and profile is not None:
        raise Refused(f"SLURM would not take such a job: {said}\nNothing was changed.")
    return profile, said


def _facts(plan: RetryPlan, profile: Profile | None) -> dict[str, object]:
    asked = profile or plan.profile
    cost = cost_of(asked) if asked is not None else None
    return {
        "id": plan.run.id, "name": plan.run.name, "flow": plan.run.flow_name, "kind": "run",
        "reused": plan.reused, "tasks": plan.total, "change": difference(plan.profile, profile),
        "jobs": cost.jobs if cost else None, "core_hours": cost.core_hours if cost else None,
        "gpu_hours": cost.gpu_hours if cost else None,
    }  # fmt: skip


def _plan_lines(plan: RetryPlan, profile: Profile | None, said: str) -> list[str]:
    asked = profile or plan.profile
    lines = [
        f"reused      {plan.reused} of {plan.total} tasks have their results",
        f"runs again  {plan.again} task{'s' * (plan.again != 1)}, and those that had not begun",
        f"cost        {cost_words(cost_of(asked)) if asked is not None else plan.fixed or 'not known'}",
    ]
    if told := difference(plan.profile, profile):
        lines.append(f"change      {visible(told)}")
    return [*lines, *([f"SLURM says  {said}"] if said else [])]
