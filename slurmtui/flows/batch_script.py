"""What ``batch_job`` hands to sbatch: the script, and the options that go before those in it."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from prefect.runtime import flow_run

from slurmtui import paths
from slurmtui.control.plan import sbatch_options
from slurmtui.errors import UsageError
from slurmtui.flows.environment import RUN_FOLDER
from slurmtui.flows.profile import changed, find_profile
from slurmtui.models import marks
from slurmtui.models.profile import Profile
from slurmtui.paths import is_readable_file, typed_path

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class BatchScript(msgspec.Struct, frozen=True, kw_only=True):
    """Ready to be submitted: a file or a text, sbatch's options, more environment, the run's folder if there is one."""

    script: Path | bytes
    options: tuple[str, ...] = ()
    environment: dict[str, str] = {}
    folder: Path | None = None


def batch_script(
    script: str | Path | None,
    command: str | Sequence[str] | None,
    profile: str | Profile | None,
    options: Sequence[str],
    overrides: Mapping[str, Any],
) -> BatchScript:
    """Put together what is submitted.

    Raises:
        ConfigError: the configuration holds mistakes.
        UsageError: not exactly one of script and command was given, the script's file is not there, there is no such
            profile, or an override does not fit.
    """
    if command is None and isinstance(script, str) and _is_command(script):
        script, command = None, script
    if (script is None) == (command is None):
        raise UsageError("batch_job takes a script or a command, one of the two.")
    folder = run_folder()
    chosen = _profile(profile, overrides, needed=command is not None)
    if command is not None:
        body: Path | bytes = _script_of(command, chosen)
    elif isinstance(script, str) and script.lstrip().startswith("#!"):
        body = script.lstrip().encode()
    else:
        body = _file(str(script))
    return BatchScript(
        script=body,
        options=(*(sbatch_options(chosen) if chosen else ()), *_marks(folder), *options),
        environment=_environment(folder),
        folder=folder,
    )


def run_folder() -> Path | None:
    """The folder of the run this is part of: its driver's, or found by the run's id on another node."""
    named = os.environ.get(RUN_FOLDER)
    if named:
        return Path(named)
    found = paths.runs_folder() / str(flow_run.id) if flow_run.id else None
    return found if found is not None and (found / "run.json").is_file() else None


def _profile(profile: str | Profile | None, overrides: Mapping[str, Any], *, needed: bool) -> Profile | None:
    """The profile to ask SLURM with; a script that has directives of its own needs none."""
    if profile is None and not overrides and not needed:
        return None
    chosen = profile if isinstance(profile, Profile) else find_profile(profile)
    return changed(chosen, overrides) if overrides else chosen


def _script_of(command: str | Sequence[str], profile: Profile | None) -> bytes:
    """A script around a command: an argv list is quoted, a text is taken as lines of bash that must each succeed."""
    text = command if isinstance(command, str) else shlex.join([str(word) for word in command])
    lines = ["#!/usr/bin/env bash", *(profile.prologue if profile else ()), "set -e", text, ""]
    return "\n".join(lines).encode()


def _is_command(text: str) -> bool:
    """Whether a text given as the script is a command line (``srun ./simulate``): several words, and no such file."""
    return " " in text.strip() and not text.lstrip().startswith("#!") and not is_readable_file(typed_path(text))


def _file(name: str) -> Path:
    path = typed_path(name)
    if not path.is_file():
        raise UsageError(f"{path} is no file (a script given as text begins with #!).")
    return path


def _marks(folder: Path | None) -> tuple[str, ...]:
    """The marks that tie the job to its run, said once more: a job's environment may not have reached this node."""
    run_id = folder.name if folder is not None else flow_run.id
    if not run_id:
        return ()
    named = (f"--job-name={marks.job_name(flow_run.flow_name or 'flow', run_id)}", f"--comment={marks.comment(run_id)}")
    if folder is None:
        return named
    pattern = f"{folder}/jobs".replace("%", "%%") + "/%j"
    return (*named, f"--output={pattern}.out", f"--error={pattern}.err")


def _environment(folder: Path | None) -> dict[str, str]:
    if folder is None:
        return {}
    found = {"SLURMTUI_SUBMITTER": "batch_job", RUN_FOLDER: str(folder)}
    bin_folder = str(folder / "bin")
    path = os.environ.get("PATH", os.defpath)
    if bin_folder not in path.split(os.pathsep):
        found["PATH"] = os.pathsep.join([bin_folder, path])
    return found
