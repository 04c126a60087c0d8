"""``slurmtui sandbox up|down|status|env``: a private, real SLURM on this machine."""

from __future__ import annotations

import asyncio
import shlex
import sys
from typing import TYPE_CHECKING

import msgspec

from slurmtui import paths
from slurmtui.errors import SandboxError, UsageError
from slurmtui.models.amounts import counted

if TYPE_CHECKING:
    import argparse

    from slurmtui.sandbox.status import SandboxStatus

_WHAT = """\
up      start it, or repair it after a crash or a reboot; harmless when it is up
down    cancel its jobs and end every process of it; --purge removes its data as well
status  what of it runs (exit code 0 when it is up, 1 when it is down or broken)
env     the exports for a shell: eval "$(slurmtui sandbox env)"
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Say what the verb takes."""
    parser.epilog = _WHAT
    parser.formatter_class = _raw()
    parser.add_argument("what", choices=("up", "down", "status", "env"))
    parser.add_argument("--json", action="store_true", help="up, down, status: print the facts as JSON")
    parser.add_argument("--purge", action="store_true", help="down: remove the sandbox's data too")


def _raw() -> type[argparse.HelpFormatter]:
    import argparse  # noqa: PLC0415 - the parser is there already; this only names its formatter

    return argparse.RawDescriptionHelpFormatter


def run(arguments: argparse.Namespace) -> int:
    """Do it; return the exit code."""
    if arguments.purge and arguments.what != "down":
        message = "--purge goes with `sandbox down` only"
        raise UsageError(message)
    if arguments.what == "up":
        return _up(as_json=arguments.json)
    if arguments.what == "down":
        return _down(purge=arguments.purge, as_json=arguments.json)
    if arguments.what == "env":
        return _env()
    return _status(as_json=arguments.json)


def _say(sentence: str) -> None:
    print(f"slurmtui: {sentence}", file=sys.stderr, flush=True)


def _print_json(facts: msgspec.Struct) -> None:
    print(msgspec.json.format(msgspec.json.encode(facts), indent=2).decode())


def _up(*, as_json: bool) -> int:
    from slurmtui.sandbox.up import up  # noqa: PLC0415

    report = asyncio.run(up(_say))
    if as_json:
        _print_json(report)
    elif report.started:
        print(f"The sandbox is up after {report.seconds:.1f} s: 8 nodes, partitions debug, batch and gpu.")
        print(
            "slurmtui uses it by itself where no other SLURM is configured; "
            'a shell after: eval "$(slurmtui sandbox env)"'
        )
    else:
        print("The sandbox was up already.")
    return 0


def _down(*, purge: bool, as_json: bool) -> int:
    from slurmtui.sandbox.down import down  # noqa: PLC0415

    report = asyncio.run(down(_say, purge=purge))
    if as_json:
        _print_json(report)
        return 0
    if report.jobs:
        print("1 job was cancelled." if report.jobs == 1 else f"{report.jobs} jobs were cancelled.")
    print("The sandbox is down." if report.processes else "The sandbox was down already.")
    if report.purged:
        print("Its data are removed.")
    return 0


def _env() -> int:
    from slurmtui.sandbox.up import slurm_conf_if_up  # noqa: PLC0415

    conf = slurm_conf_if_up(paths.sandbox_folder())
    if conf is None:
        message = "the sandbox is not up; `slurmtui sandbox up` starts it"
        raise SandboxError(message)
    print(f"export SLURM_CONF={shlex.quote(conf)}")
    return 0


def _status(*, as_json: bool) -> int:
    from slurmtui.sandbox.status import status  # noqa: PLC0415

    found = asyncio.run(status())
    if as_json:
        _print_json(found)
    else:
        _print_status(found)
    return 0 if found.state == "up" else 1


def _print_status(found: SandboxStatus) -> None:
    print(f"The sandbox in {found.folder} is {found.state}.")
    if found.state == "down":
        return
    for daemon in found.daemons:
        where = f"port {daemon.port}" if daemon.port else ""
        print(f"  {daemon.name:<12} {f'pid {daemon.pid}' if daemon.pid else 'does not run':<14} {where}")
    for node, state in found.nodes.items():
        print(f"  node {node:<7} {state}")
    known = found.jobs is not None
    print(f"  {counted(found.jobs or 0, 'job')} in the queue" if known else "  how many jobs are queued is not known")
    for problem in found.problems:
        print(f"  ! {problem}")
    if found.problems:
        print("`slurmtui sandbox up` repairs it.")
