"""``slurmtui server start|stop|status|automation``: the private Prefect server."""

from __future__ import annotations

import asyncio
import sys
import time
from typing import TYPE_CHECKING

import msgspec

from slurmtui.config import load_config
from slurmtui.control import server, server_automation
from slurmtui.control.resolve import need_prefect
from slurmtui.control.server_care import care
from slurmtui.errors import UsageError
from slurmtui.session import open_session
from slurmtui.sources.prefect.connection import find_connection
from slurmtui.sources.prefect.server_record import auth_file
from slurmtui.store.words import clock

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from slurmtui.models.config import Config
    from slurmtui.models.server import ServerCare, ServerRecord, ServerStatus


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument(
        "what",
        choices=("start", "stop", "status", "automation"),
        help="what to do; automation: let Prefect mark runs without a heartbeat crashed (on, off, or tell)",
    )
    parser.add_argument("how", nargs="?", choices=("on", "off"), help="with automation")
    parser.add_argument("--json", action="store_true", help="print the facts as JSON")
    parser.add_argument(
        "--take-over", action="store_true", help="start although the server of another host may still run (be sure!)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Start or stop the server, or tell how it is; 0 when it then runs (start, status) or does not (stop)."""
    if arguments.what == "automation":
        return asyncio.run(_automation(arguments))
    if arguments.how:
        raise UsageError(f"{arguments.how!r} goes with automation: slurmtui server automation {arguments.how}")
    if arguments.what == "start":
        return _start(arguments)
    if arguments.what == "stop":
        return _stop(arguments)
    status = server.status()
    found = care(status)
    if arguments.json:
        print(msgspec.json.encode({**msgspec.to_builtins(status), "care": found}).decode())
    else:
        print("\n".join((status.text, *_care_lines(status, found))))
    return 0 if status.state == "running" else 1


def _care_lines(status: ServerStatus, found: ServerCare) -> Iterator[str]:
    if status.seconds is not None:
        yield f"  answers   in {status.seconds * 1000:.0f} ms"
    if status.record is not None and status.record.started and status.state == "running":
        memory = f", {found.memory_bytes / 1e6:.0f} MB of memory" if found.memory_bytes else ""
        yield f"  started   {clock(status.record.started, time.time())}{memory}"
    if found.database_bytes:
        kind = f", {found.file_system}" if found.file_system else ""
        yield f"  database  {found.database_bytes / 1e6:.1f} MB (SQLite{kind}, {found.database})"
    elif found.database == "external":
        yield "  database  the one of server.database_url"
    if found.last_crash is not None:
        yield f"  restarts  {found.crashes} after a crash, the last {clock(found.last_crash, time.time())}"
    for hint in found.hints:
        yield f"  note      {hint}"


async def _automation(arguments: argparse.Namespace) -> int:
    session = open_session(load_config(arguments.config))
    try:
        client = need_prefect(session)
        if arguments.how == "on":
            changed = await server_automation.turn_on(client)
        elif arguments.how == "off":
            changed = await server_automation.turn_off(client)
        else:
            changed = False
        there = await server_automation.find(client)
    finally:
        await session.close()
    is_on = bool(there and there.get("enabled"))
    if arguments.json:
        print(msgspec.json.encode({"on": is_on, "changed": changed}).decode())
    else:
        minutes = server_automation.WITHIN_SECONDS // 60
        print(
            f"on: Prefect marks a run crashed that gives no heartbeat for {minutes} minutes" if is_on
            else "off: Prefect leaves runs without a heartbeat as they are; slurmtui's verdicts tell of them"
        )  # fmt: skip
    return 0


def _start(arguments: argparse.Namespace) -> int:
    config = load_config(arguments.config)
    record, started = server.start_or_find(config, _tell, take_over=arguments.take_over)
    if arguments.json:
        facts = {"started_now": started, **msgspec.to_builtins(record)}
        print(msgspec.json.encode(facts).decode())
        return 0
    print(f"Prefect {record.version} runs on {record.api_url} ({record.host}, process {record.pid}).")
    print(f"For Prefect's own commands:  export PREFECT_API_URL={record.api_url}")
    print(f'                             export PREFECT_API_AUTH_STRING="$(cat {auth_file()})"')
    _tell_of_another(config, record)
    return 0


def _stop(arguments: argparse.Namespace) -> int:
    record = server.stop(_tell)
    if arguments.json:
        print(msgspec.json.encode({"stopped": record is not None, "record": record}).decode())
    elif record is None:
        print("No private Prefect server was running.")
    else:
        print(f"The private Prefect server (process {record.pid}) has ended.")
    return 0


def _tell_of_another(config: Config, record: ServerRecord) -> None:
    """Say so when slurmtui speaks to another server than the one that was started."""
    used = find_connection(config)
    if used is not None and used.api_url != record.api_url:
        _tell(f"Note: slurmtui uses {used.where}, not this server.")


def _tell(sentence: str) -> None:
    print(sentence, file=sys.stderr)
