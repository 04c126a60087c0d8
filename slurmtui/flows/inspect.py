"""Looks at a flow's file in a process of its own and prints one JSON value on stdout.

``python -m slurmtui.flows.inspect FILE`` prints the list of its flows. With ``--flow NAME --validate -`` it reads
parameters (a JSON object) from stdin and prints ``{"parameters": {…}}``, cast as the flow will see them, or
``{"problems": ["…"]}``. When the file cannot be used it is ``{"error": "…"}``.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from typing import TYPE_CHECKING, Any

import msgspec

from slurmtui.errors import FlowError
from slurmtui.flows.looking import Looking
from slurmtui.flows.trace import last_line

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str]) -> None:
    """Look, and answer."""
    parser = argparse.ArgumentParser(prog="python -m slurmtui.flows.inspect")
    parser.add_argument("file", help="absolute path of the file")
    parser.add_argument("--flow", help="the function's name")
    parser.add_argument("--validate", choices=["-"], help="check the parameters on stdin against the flow")
    asked = parser.parse_args(arguments)
    given = msgspec.json.decode(sys.stdin.buffer.read(), type=dict[str, Any]) if asked.validate else None
    looking = Looking()
    looking.answer(_look(asked.file, asked.flow, given))


def _look(file: str, flow: str | None, given: dict[str, Any] | None) -> Any:
    try:
        return _facts(file, flow, given)
    except FlowError as error:
        return {"error": str(error)}
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a file that is imported may raise anything; it is reported
        cause = getattr(error, "user_exc", None) or error
        traceback.print_exception(cause)
        return {
            "error": str(cause) if isinstance(cause, FlowError) else f"{file} does not import: {last_line(cause, file)}"
        }


def _facts(file: str, flow: str | None, given: dict[str, Any] | None) -> Any:
    from slurmtui.flows import checking, describe, engine

    module = engine.load_module(file)
    flows = describe.flows_of(module)
    if given is None:
        chosen = flows if flow is None else {name: one for name, one in flows.items() if name == flow}
        return [describe.describe(one, name, file, module) for name, one in chosen.items()]
    if flow not in flows:
        raise FlowError(f"{file} has no flow {flow!r}. It has: {', '.join(flows) or 'none'}.")
    parameters, problems = checking.check(flows[flow], given)
    return {"problems": problems} if problems else {"parameters": parameters}


if __name__ == "__main__":
    main(sys.argv[1:])
