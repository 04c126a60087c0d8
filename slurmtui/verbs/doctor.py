"""``slurmtui doctor``: is everything needed here, and does it answer?"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import msgspec

from slurmtui.session import open_session
from slurmtui.theme import shows_glyphs
from slurmtui.verbs import doctor_machine as machine
from slurmtui.verbs import doctor_services as services

if TYPE_CHECKING:
    import argparse

    from slurmtui.models.check import Check

_SIGNS = {"ok": "✔", "warn": "⚠", "fail": "✖"}
_WORDS = {"ok": "ok  ", "warn": "WARN", "fail": "FAIL"}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("--json", action="store_true", help="print the facts as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Check everything; 1 when something fails."""
    checks = asyncio.run(examine(arguments.config))
    failed = sum(check.state == "fail" for check in checks)
    if arguments.json:
        print(msgspec.json.encode({"well": not failed, "checks": checks}).decode())
    else:
        print("\n".join(line for check in checks for line in lines(check, glyphs=shows_glyphs())))
        warned = sum(check.state == "warn" for check in checks)
        print(f"\n{len(checks)} checks: {failed} failed, {warned} with a warning.")
    return 1 if failed else 0


async def examine(path: str | None) -> list[Check]:
    """All checks; those that wait for others run side by side."""
    on_this_machine = machine.all_checks()
    commands = services.commands()
    loaded, broken = services.configuration(path)
    session = open_session(loaded.config)
    try:
        held, *answers = await asyncio.gather(
            services.held_against_cluster(loaded, session),
            services.controller(session),
            services.offers(session),
            services.accounting(session),
            services.submission(session),
            services.prefect(session),
        )
    finally:
        await session.close()
    return [*on_this_machine, broken or held, services.place(session), commands, *answers]


def lines(check: Check, *, glyphs: bool) -> list[str]:
    """A check for a person."""
    sign = (_SIGNS if glyphs else _WORDS)[check.state]
    where = f"  ({check.where})" if check.where else ""
    result = [f"{sign} {check.name:<15} {check.what}{where}"]
    indent = " " * (len(sign) + 17)
    if check.why:
        result += [f"{indent}{line}" for line in check.why.splitlines()]
    if check.next:
        result.append(f"{indent}{'hint' if check.state == 'ok' else 'next'}: {check.next}")
    return result
