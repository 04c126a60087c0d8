"""``make demo`` and ``make demo-down``: a SLURM, a Prefect server and three flows on this machine, and the end of it.

Uses slurmtui's own verbs, as a person would. What ran before the demo (a private server, say) runs after it.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import psutil

from slurmtui import paths
from slurmtui.errors import CommandError, SandboxError, SlurmtuiError
from slurmtui.models.config import Config
from slurmtui.sandbox import processes, record
from slurmtui.sandbox.down import down
from slurmtui.sandbox.up import up
from slurmtui.sources.cluster_folder import keeper_process, read_clusters
from slurmtui.sources.exec import Runner
from slurmtui.sources.prefect.connection import find_connection
from slurmtui.sources.prefect.server_record import read_auth, read_record
from slurmtui.sources.processes import driver_process, driver_status, environment_of
from slurmtui.sources.run_folder import read_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slurmtui.models.run_record import RunRecord
    from slurmtui.models.server import ServerRecord

_EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"
_SUBMIT_SECONDS = 120
_SERVER_SECONDS = 180
_CANCEL_SECONDS = 60


class DemoRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What the demo started, so that only that is ended."""

    runs: tuple[str, ...] = ()
    started_server: bool = False
    made_server_folder: bool = False


def main(argv: Sequence[str] | None = None) -> int:
    """Bring the demo up and open the console, or end it; return the exit code."""
    parser = argparse.ArgumentParser(prog="slurmtui.sandbox.demo", description=__doc__)
    parser.add_argument("what", choices=("up", "down"))
    what = parser.parse_args(argv).what
    try:
        if what == "down":
            asyncio.run(_down())
            return 0
        environment = asyncio.run(_up())
    except SlurmtuiError as error:
        sys.stderr.write(f"slurmtui: {error}\n")
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    _open_console(environment)
    return 0


def _say(sentence: str) -> None:
    sys.stderr.write(f"slurmtui: {sentence}\n")
    sys.stderr.flush()


def _record_file() -> Path:
    return paths.state_folder() / "demo.json"


def _permission_file() -> Path:
    return paths.state_folder() / "sweep-may-publish"


async def _up() -> dict[str, str]:
    """Bring everything up; return the environment that the console needs besides the person's own."""
    _say("starting the sandbox, a real SLURM …")
    report = await up(_say)
    environment = {"SLURM_CONF": report.slurm_conf}
    if paths.config_file().exists():
        # The person's own profiles are for another cluster; the sandbox has built-in ones.
        environment["SLURMTUI_CONFIG"] = str(paths.state_folder() / "demo-config.yaml")
    environment |= _libraries_environment()
    kept = record.read(_record_file(), DemoRecord) or DemoRecord()
    if not paths.server_folder().exists():
        kept = msgspec.structs.replace(kept, made_server_folder=True)
        record.write(_record_file(), kept)  # now: also a server that fails to start leaves files
    _say("starting a private Prefect server …")
    server = await _slurmtui(environment, "server", "start", "--json", seconds=_SERVER_SECONDS)
    kept = msgspec.structs.replace(kept, started_server=kept.started_server or bool(server.get("started_now")))
    record.write(_record_file(), kept)
    environment |= _server_environment(str(server["api_url"]))
    if not kept.runs:
        kept = msgspec.structs.replace(kept, runs=tuple(await _submit_examples(environment)))
        record.write(_record_file(), kept)
    return environment


def _libraries_folder() -> Path:
    return paths.state_folder() / "demo"


def _libraries_environment() -> dict[str, str]:
    """Where Prefect and Dask put what they make by themselves: into the state folder instead of the person's home."""
    folder = _libraries_folder()
    places = {"PREFECT_HOME": "prefect", "DASK_CONFIG": "dask", "DASK_TEMPORARY_DIRECTORY": "scratch"}
    return {name: str(paths.private_folder(folder / place)) for name, place in places.items()}


def _server_environment(api_url: str) -> dict[str, str]:
    """What makes slurmtui use the private server where the person's own settings name another."""
    used = find_connection(Config())
    if used is not None and used.api_url == api_url:
        return {}
    return {"PREFECT_API_URL": api_url, "PREFECT_API_AUTH_STRING": read_auth() or ""}


async def _submit_examples(environment: dict[str, str]) -> list[str]:
    """Submit the example flows side by side; return the runs' ids."""
    examples = {
        "train.py": ("--profile", "debug"),
        # Fails until this file is made; then it can be retried.
        "sweep.py": ("--profile", "debug", "-p", f"permission={_permission_file()}"),
        "simulate.py": ("--profile", "batch"),
    }

    async def submit(name: str, options: tuple[str, ...]) -> str:
        argv = ("submit", str(_EXAMPLES / name), *options, "--json")
        run_id = str((await _slurmtui(environment, *argv, seconds=_SUBMIT_SECONDS))["id"])
        _say(f"submitted {name}: run {run_id}")
        return run_id

    _say("submitting three flows …")
    return await asyncio.gather(*(submit(name, options) for name, options in examples.items()))


async def _slurmtui(environment: dict[str, str], *argv: str, seconds: float) -> dict[str, Any]:
    """Call a verb of slurmtui and return the facts it prints.

    Raises:
        SandboxError: it failed; with its own words.
    """
    try:
        done = await Runner(environment=environment).run([sys.executable, "-m", "slurmtui", *argv], timeout=seconds)
        facts = msgspec.json.decode(done.stdout, type=dict[str, Any])
    except CommandError as error:
        said = error.stderr.removeprefix("slurmtui: ") or str(error)
        message = f"`slurmtui {' '.join(argv)}` failed: {said}"
        raise SandboxError(message) from error
    except msgspec.DecodeError as error:
        message = f"`slurmtui {' '.join(argv)}` printed something unexpected: {done.stdout[:200]!r}"
        raise SandboxError(message) from error
    return facts


def _open_console(environment: dict[str, str]) -> None:
    """Become the console; without a terminal, say how to open it."""
    _say("`make demo-down` ends everything and removes its data")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        _say("everything is up; to open the console, `make demo` or .venv/bin/slurmtui in a terminal")
        return
    os.execve(sys.executable, [sys.executable, "-m", "slurmtui"], {**os.environ, **environment})  # noqa: S606


async def _down() -> None:
    """End the demo: its runs, its server, the sandbox; then remove their data."""
    facts = record.read(_record_file(), DemoRecord) or DemoRecord()
    sandbox = record.read(paths.sandbox_folder() / "sandbox.json", record.SandboxRecord)
    environment = {"SLURM_CONF": sandbox.slurm_conf} if sandbox else {}
    server = read_record()
    if server is not None:
        environment |= _server_environment(server.api_url)
    ours = {run_id: run for run_id, run in read_all().items() if run_id in facts.runs or _is_in(run, server)}
    await _cancel(environment, [run_id for run_id, run in ours.items() if _may_live(run)])
    await processes.end([found for run in ours.values() if (found := driver_process(run))], 5)
    if sandbox is not None:
        await _end_clusters(environment, sandbox.slurm_conf)
    if facts.started_server:
        _say("ending the Prefect server …")
        await _slurmtui(environment, "server", "stop", "--json", seconds=_SERVER_SECONDS)
    _say("ending the sandbox …")
    await down(_say, purge=True)
    for run in ours.values():
        shutil.rmtree(run.folder, ignore_errors=True)
    if not read_all():
        shutil.rmtree(paths.state_folder() / "results", ignore_errors=True)  # of runs that are gone
    if facts.made_server_folder and read_record() is None:
        shutil.rmtree(paths.server_folder(), ignore_errors=True)
    shutil.rmtree(_libraries_folder(), ignore_errors=True)
    for file in (_record_file(), _permission_file()):
        file.unlink(missing_ok=True)
    for folder in (paths.runs_folder(), paths.clusters_folder(), paths.state_folder()):
        with contextlib.suppress(OSError):
            folder.rmdir()  # only when it is empty
    _say("the demo is down")


def _is_in(run: RunRecord, server: ServerRecord | None) -> bool:
    """Whether a run belongs to the private server that is about to end."""
    return server is not None and run.spec.api_url == server.api_url


def _may_live(run: RunRecord) -> bool:
    return driver_status(run, None).may_live


async def _end_clusters(environment: dict[str, str], slurm_conf: str) -> None:
    """End the shared clusters whose jobs are in the sandbox: they end with it."""
    for cluster in read_clusters().values():
        keeper = keeper_process(cluster)
        if keeper is None or _slurm_of(keeper) != slurm_conf:
            continue
        _say(f"ending the shared cluster {cluster.spec.name} …")
        argv = [sys.executable, "-m", "slurmtui", "cluster", "down", cluster.spec.name, "--json"]
        try:
            await Runner(environment=environment).run(argv, timeout=_CANCEL_SECONDS)
        except CommandError as error:
            _say(str(error))
        await processes.end([keeper], 5)
        shutil.rmtree(cluster.folder, ignore_errors=True)


def _slurm_of(process: psutil.Process) -> str:
    try:
        return environment_of(process).get("SLURM_CONF", "")
    except psutil.Error:  # it has just ended
        return ""


async def _cancel(environment: dict[str, str], run_ids: Sequence[str]) -> None:
    """Cancel runs; what does not go is ended with the sandbox anyway."""
    if not run_ids:
        return
    _say(f"cancelling {len(run_ids)} run{'s' if len(run_ids) > 1 else ''} …")
    argv = [sys.executable, "-m", "slurmtui", "cancel", "--yes", *run_ids]
    try:
        # It says no, too, when a run has just ended by itself: that is as good.
        await Runner(environment=environment).run(argv, timeout=_CANCEL_SECONDS, check=False)
    except CommandError as error:
        _say(str(error))


if __name__ == "__main__":
    sys.exit(main())
