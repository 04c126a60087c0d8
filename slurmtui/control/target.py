"""What a person wants to submit: ``FILE``, ``FILE:FLOW`` or a batch script, and ``-p name=value``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from slurmtui.errors import FlowError, UsageError
from slurmtui.models.text import visible
from slurmtui.paths import is_readable_file, typed_path

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from slurmtui.models.flow_info import FlowInfo, ParameterInfo

_SCRIPT_ENDINGS = frozenset({".sh", ".sbatch", ".slurm", ".bash", ".job"})


class Target(msgspec.Struct, frozen=True):
    """A file, and the flow in it that was named (empty when none was)."""

    file: Path
    flow: str = ""


def split_target(text: str) -> Target:
    """Take ``FILE[:FLOW]`` apart; a file may have a colon in its name.

    Raises:
        UsageError: there is no such file.
    """
    whole = typed_path(text)
    if is_readable_file(whole):
        return Target(whole)
    name, colon, flow = text.rpartition(":")
    part = typed_path(name)
    if colon and flow and is_readable_file(part):
        return Target(part, flow)
    missing = part if colon and name else whole
    reason = "is a folder, not a file" if os.path.isdir(missing) else "does not exist"  # noqa: PTH112 - raises nothing
    raise UsageError(f"{visible(str(missing))} {reason}.")


def is_script(file: Path) -> bool:
    """Whether the file is for sbatch rather than a Python file with flows.

    Raises:
        UsageError: it cannot be read.
    """
    if file.suffix in _SCRIPT_ENDINGS:
        return True
    if file.suffix == ".py":
        return False
    try:
        with file.open("rb") as stream:
            return stream.read(2) == b"#!"
    except OSError as error:
        raise UsageError(f"{visible(str(file))} cannot be read: {error.strerror}.") from error


def choose_flow(flows: Sequence[FlowInfo], target: Target) -> FlowInfo:
    """The flow that is meant, by the name of its function or its own.

    Raises:
        FlowError: there is none of that name, or several and none was named.
    """
    if target.flow:
        for key in ("function", "name"):
            found = [flow for flow in flows if getattr(flow, key) == target.flow]
            if len(found) == 1:
                return found[0]
        raise FlowError(f"{target.file} has no flow {visible(target.flow)!r}. It has: {_names(flows)}.")
    if not flows:
        raise FlowError(f"{target.file} has no flow: a function with @flow, at the top of the file.")
    if len(flows) > 1:
        raise FlowError(f"{target.file} has {len(flows)} flows: {_names(flows)}. Name one: {target.file}:FLOW.")
    return flows[0]


def read_values(flow: FlowInfo, texts: Mapping[str, str]) -> dict[str, Any]:
    """Parameters as typed on a command line: JSON where it is JSON, else text; where the flow wants text, text."""
    known = {parameter.name: parameter for parameter in flow.parameters}
    return {name: _value(text, known.get(name)) for name, text in texts.items()}


def _value(text: str, parameter: ParameterInfo | None) -> Any:
    try:
        value = msgspec.json.decode(text.encode())
    except (msgspec.DecodeError, UnicodeEncodeError):
        return text
    wants_text = parameter is not None and parameter.type == "string"
    if wants_text and not isinstance(value, str) and not (value is None and not parameter_required(parameter)):
        return text  # -p version=1.10 is the text "1.10", not a number
    return value


def parameter_required(parameter: ParameterInfo | None) -> bool:
    """Whether a value must be given."""
    return parameter is not None and parameter.required


def _names(flows: Sequence[FlowInfo]) -> str:
    return ", ".join(visible(flow.function) for flow in flows) or "none"
