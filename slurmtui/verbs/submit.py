"""``slurmtui submit FILE[:FLOW]``: a flow, or a batch script."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

import msgspec

from slurmtui.config import load_config
from slurmtui.control import preflight
from slurmtui.control.submit import NO_PROFILE, SubmitRequest, prepare, submit_batch, submit_flow
from slurmtui.control.target import is_script, split_target
from slurmtui.control.wait import wait_for_run
from slurmtui.errors import UsageError
from slurmtui.models.text import visible
from slurmtui.profiles import pick_profile
from slurmtui.session import open_session
from slurmtui.theme import shows_glyphs
from slurmtui.verbs.doctor import lines

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from slurmtui.session import Session

NOT_COMPLETED = 3


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("target", metavar="FILE[:FLOW]", help="a Python file with a flow, or a script for sbatch")
    parser.add_argument(
        "--profile",
        metavar="NAME",
        help=f"what the jobs ask for (default: the configuration's; {NO_PROFILE!r}: no jobs)",
    )
    parser.add_argument(
        "-p",
        "--param",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="a parameter of the flow, as JSON or text",
    )
    parser.add_argument("--name", help="name of the run")
    parser.add_argument(
        "--driver", choices=("login", "slurm"), help="where the flow itself runs: here, or in a small job"
    )
    parser.add_argument("--wait", action="store_true", help="wait for the end; exit code 3 when it did not complete")
    parser.add_argument(
        "--check", action="store_true", help="submit nothing: look whether everything it needs is there (1: it is not)"
    )
    parser.add_argument(
        "--probe",
        choices=(preflight.AUTO, preflight.ALWAYS, preflight.NEVER),
        default=preflight.AUTO,
        help="with --check: one small job tries the server from a node (auto: when that was never proved)",
    )
    parser.add_argument("--json", action="store_true", help="print the facts as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Submit; 0 when it was submitted (with ``--wait``: when it completed)."""
    return asyncio.run(_run(arguments))


async def _run(arguments: argparse.Namespace) -> int:
    target = split_target(arguments.target)
    session = open_session(load_config(arguments.config))
    try:
        if not target.flow and is_script(target.file):
            return await _submit_script(session, target.file, arguments)
        return await _submit_flow(session, arguments)
    finally:
        await session.close()


async def _submit_script(session: Session, script: Path, arguments: argparse.Namespace) -> int:
    for option, given in (("-p", arguments.param), ("--driver", arguments.driver), ("--wait", arguments.wait)):
        if given:
            raise UsageError(f"{option} is for flows; {visible(script.name)} is a script for sbatch.")
    profile = pick_profile(session.config, arguments.profile) if arguments.profile else None
    options = [f"--job-name={arguments.name}"] if arguments.name else []
    if arguments.check:
        return _tell_found(await preflight.preflight_script(session, script, profile, options), as_json=arguments.json)
    job_id = await submit_batch(session, script, profile, options)
    name = arguments.name or script.name
    if arguments.json:
        _print_json({"id": job_id, "name": name, "flow": None, "kind": "job"})
    else:
        print(f"job {job_id} submitted ({visible(name)})")
    return 0


async def _submit_flow(session: Session, arguments: argparse.Namespace) -> int:
    request = SubmitRequest(
        target=arguments.target,
        profile=arguments.profile,
        texts=dict(map(_pair, arguments.param)),
        driver=arguments.driver,
        name=arguments.name,
    )
    if arguments.check:
        found = await preflight.preflight(session, request, probing=arguments.probe, say=tell)
        return _tell_found(found, as_json=arguments.json)
    prepared = await prepare(session, request)
    for sentence in prepared.flow.warnings:
        tell(f"warning: {visible(sentence)}")
    try:
        spec = await submit_flow(session, request, prepared)
    except asyncio.CancelledError:
        tell("interrupted; what had begun was finished first: `slurmtui runs` shows whether the run is there")
        raise
    facts: dict[str, object] = {
        "id": spec.id,
        "name": spec.name,
        "flow": spec.flow_name,
        "kind": "run",
        "profile": spec.profile.name if spec.profile else None,
        "driver": spec.driver_kind,
    }
    said = f"{visible(spec.name)} submitted (flow {visible(spec.flow_name)}, id {spec.id})"
    if not arguments.wait:
        _print_json(facts) if arguments.json else print(said)
        return 0
    print(said, file=sys.stderr, flush=True)
    return await wait_and_tell(session, facts, as_json=arguments.json)


def _tell_found(found: preflight.Preflight, *, as_json: bool) -> int:
    """Print what a preflight found; 1 when something of it speaks against submitting."""
    if as_json:
        facts = {"well": found.well, "checks": found.checks, "script": found.script}
        print(msgspec.json.encode(facts).decode())
        return 0 if found.well else 1
    print("\n".join(line for check in found.checks for line in lines(check, glyphs=shows_glyphs())))
    if found.script:
        print("\n" + "\n".join(visible(line) for line in found.script.splitlines()))
    print(f"\n{'All is well' if found.well else 'It would fail'}; nothing was submitted.")
    return 0 if found.well else 1


async def wait_and_tell(session: Session, facts: dict[str, object], *, as_json: bool) -> int:
    """Wait for the run of ``facts``, tell on stderr what it does and on stdout how it ended; the exit code."""
    try:
        ended = await wait_for_run(session, str(facts["id"]), tell)
    except asyncio.CancelledError:
        tell(f"no longer waiting; run {str(facts['id'])[:8]} goes on")
        raise
    if as_json:
        _print_json({**facts, "state": ended.state_type})
    else:
        why = f": {visible(ended.state_message)}" if ended.state_message and ended.state_type != "COMPLETED" else ""
        print(f"{visible(ended.name)} {ended.state_name.lower()}{why}")
    return 0 if ended.state_type == "COMPLETED" else NOT_COMPLETED


def tell(sentence: str) -> None:
    """One line on stderr."""
    print(sentence, file=sys.stderr, flush=True)


def _print_json(facts: dict[str, object]) -> None:
    print(msgspec.json.encode(facts).decode(), flush=True)


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise UsageError(f"-p wants NAME=VALUE, not {visible(text)!r}.")
    return name.strip(), value
