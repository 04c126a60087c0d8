"""Looks at a flow's file in a process of its own, so that the console never imports Prefect nor the user's code."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from slurmtui.errors import CommandError, FlowError
from slurmtui.models.flow_info import LOOK_FOLDER, FlowInfo
from slurmtui.models.text import visible
from slurmtui.paths import typed_path

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from slurmtui.models.profile import Profile
    from slurmtui.sources.exec import Runner

Answer = TypeVar("Answer")

LOOK_SECONDS = 60.0
_SHOWN = 600


class _Answer(msgspec.Struct, frozen=True):
    error: str = ""
    problems: tuple[str, ...] = ()
    parameters: dict[str, Any] | None = None
    script: str = ""


async def inspect_flow_file(
    runner: Runner, python: str, file: str | Path, flow: str | None = None
) -> tuple[FlowInfo, ...]:
    """The flows of a file, or the one whose function is named ``flow``.

    Raises:
        FlowError: there is no such file, it is no Python file, it does not import, or it has no (such) flow.
    """
    path = checked_path(file)
    content = await _look(runner, [python, "-m", "slurmtui.flows.inspect", str(path)], path)
    if content.lstrip().startswith(b"{"):
        raise _said(path, _decoded(content, path, _Answer).error)
    flows = _decoded(content, path, tuple[FlowInfo, ...])
    if not flows:
        raise FlowError(f"{visible(str(path))} has no flow: a function with @flow at the top of the file.")
    if flow is None:
        return flows
    chosen = tuple(one for one in flows if flow in {one.function, one.name})
    if not chosen:
        raise FlowError(
            f"{visible(str(path))} has no flow {visible(flow)!r}. It has: "
            f"{', '.join(visible(one.function) for one in flows)}."
        )
    return chosen


async def validate_parameters(
    runner: Runner, python: str, entrypoint: str, parameters: Mapping[str, Any]
) -> dict[str, Any]:
    """The parameters as the flow's own types read them.

    Raises:
        FlowError: they do not fit; one sentence a problem, a line each.
    """
    file, _, flow = entrypoint.rpartition(":")
    path = checked_path(file)
    argv = [python, "-m", "slurmtui.flows.inspect", str(path), "--flow", flow, "--validate", "-"]
    answer = _decoded(await _look(runner, argv, path, msgspec.json.encode(dict(parameters))), path, _Answer)
    if answer.problems:
        raise FlowError("\n".join(visible(problem) for problem in answer.problems))
    if answer.parameters is None:
        raise _said(path, answer.error)
    return answer.parameters


async def preview_script(runner: Runner, python: str, entrypoint: str, profile: Profile | None = None) -> str:
    """The script of the SLURM jobs that the flow's task runner would submit; empty when it would submit none.

    Raises:
        FlowError: the file cannot be used, or Dask refuses what the task runner says.
    """
    path = checked_path(entrypoint.rpartition(":")[0])
    argv = [python, "-m", "slurmtui.flows.preview", entrypoint]
    answer = _decoded(await _look(runner, argv, path, msgspec.json.encode(profile)), path, _Answer)
    if answer.error:
        raise _said(path, answer.error)
    return answer.script


def checked_path(file: str | Path) -> Path:
    """The file's absolute path, once it is known to be a Python file that can be read.

    Raises:
        FlowError: it is not.
    """
    path = typed_path(str(file))
    shown = visible(str(path))
    if path.is_dir():
        raise FlowError(f"{shown} is a folder; name the Python file in it that has the flow.")
    if not path.exists():
        raise FlowError(f"{shown} does not exist.")
    if path.suffix != ".py":
        raise FlowError(f"{shown} is not a Python file: its name does not end in .py.")
    try:
        path.open("rb").close()
    except OSError as error:
        raise FlowError(f"{shown} cannot be read: {error.strerror}.") from error
    return path


async def _look(runner: Runner, argv: list[str], path: Path, stdin: bytes | None = None) -> bytes:
    """What the looking process printed on stdout; its folder goes as well when it is ended in the middle."""
    try:
        with tempfile.TemporaryDirectory(prefix="slurmtui-look-", ignore_cleanup_errors=True) as folder:
            env = {LOOK_FOLDER: folder}
            finished = await runner.run(argv, timeout=LOOK_SECONDS, check=False, stdin=stdin, env=env)
    except OSError as error:
        raise FlowError(f"{visible(str(path))} could not be looked at: {error}") from error
    except CommandError as error:
        if error.exit_code_of_command is None and "did not answer" in str(error):
            raise FlowError(
                f"{visible(str(path))} takes more than {LOOK_SECONDS:.0f} s to import: does it work, or wait for "
                "something, at the top of the file?"
            ) from error
        raise FlowError(f"{visible(str(path))} could not be looked at: {error}") from error
    if finished.code or not finished.stdout:
        words = next((line for line in reversed(finished.stderr.splitlines()) if line.strip()), "it said nothing")
        raise FlowError(
            f"{visible(str(path))} could not be looked at with {argv[0]} (exit code {finished.code}): "
            f"{visible(words.strip())[:_SHOWN]}"
        )
    return finished.stdout


def _decoded(content: bytes, path: Path, kind: type[Answer]) -> Answer:
    try:
        return msgspec.json.decode(content, type=kind)
    except msgspec.DecodeError as error:
        raise FlowError(f"{visible(str(path))}: the answer about it is not understood: {error}") from error


def _said(path: Path, words: str) -> FlowError:
    said = visible(words)[:_SHOWN]
    return FlowError(said if str(path) in said else f"{visible(str(path))}: {said}")
