"""What live tests share: one real SLURM and one real Prefect server a session, and the proof that nothing is left."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import sys
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import psutil
import pytest

from slurmtui.config import load_config
from slurmtui.control import run_folder
from slurmtui.control.cancel import cancel_run
from slurmtui.control.prefect import create_flow_run
from slurmtui.control.slurm import cancel_jobs
from slurmtui.control.submit import SubmitRequest, submit_flow
from slurmtui.errors import Refused
from slurmtui.models import marks
from slurmtui.models.profile import Profile
from slurmtui.models.run_record import RunSpec
from slurmtui.sandbox.down import down
from slurmtui.sandbox.packages import SANDBOX_PROGRAMS, missing_packages
from slurmtui.sandbox.up import up
from slurmtui.session import Session, open_session
from slurmtui.sources.processes import command_line, environment_of
from tests.live.driven import Driven
from tests.live.staging import Stage
from tests.live.waiting import eventually_true, wait_for

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

    from slurmtui.models.server import ServerRecord

_LOGS = pytest.StashKey[list[str]]()
_PAUSE = 0.1


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test in this folder is a live one, whether its author said so or not."""
    for item in items:
        if "tests/live" in item.path.as_posix():
            item.add_marker(pytest.mark.live)


class Sandbox(msgspec.Struct, frozen=True):
    """The session's SLURM: its state folder (SLURMTUI_STATE) and its configuration (SLURM_CONF)."""

    state: Path
    slurm_conf: str

    @property
    def logs(self) -> Path:
        return self.state / "sandbox" / "logs"


@pytest.fixture(scope="session")
def wait_until() -> Callable[..., Any]:
    """``wait_until(condition, timeout, why)`` for tests that are no coroutines."""
    return wait_for


@pytest.fixture(scope="session")
def eventually() -> Callable[..., Awaitable[Any]]:
    """For tests that are coroutines: ``await`` it with a condition, a time limit and why."""
    return eventually_true


def ours(root: Path) -> list[psutil.Process]:
    """Every process that was started with a place under ``root`` as its state folder, SLURM or argument."""
    inside, found = f"{root}/", []
    spared = {os.getpid(), *(process.pid for process in psutil.Process().parents())}
    for process in psutil.process_iter():
        if process.pid in spared:
            continue
        with contextlib.suppress(psutil.Error, OSError):
            if process.status() == psutil.STATUS_ZOMBIE:
                continue
            environment = environment_of(process)
            named = [environment.get(name, "") for name in ("SLURMTUI_STATE", "SLURM_CONF")]
            if any(inside in text for text in (*named, *command_line(process))):
                found.append(process)
    return found


@pytest.fixture(scope="session")
def live_root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of everything live; when all is done, no process may be left that was started in it."""
    root = tmp_path_factory.mktemp("live")
    yield root
    deadline = time.monotonic() + 30
    while (left := ours(root)) and time.monotonic() < deadline:
        time.sleep(_PAUSE)
    told = []
    for process in left:
        with contextlib.suppress(psutil.Error):
            told.append(f"{process.pid}: {' '.join(command_line(process))}")
            process.kill()
    assert not told, "processes were left behind:\n" + "\n".join(told)


@pytest.fixture(scope="session")
def slurm_is_installed() -> None:
    """SLURM's programs are here. In CI their absence is a failure, elsewhere a reason to skip."""
    missing = missing_packages(SANDBOX_PROGRAMS)
    if missing and os.environ.get("CI"):
        pytest.fail(f"a live test may not be skipped in CI, and these packages are missing: {', '.join(missing)}")
    if missing:
        pytest.skip(f"not installed (make setup installs them): {', '.join(missing)}")


@pytest.fixture(scope="session")
def clean_environment(live_root: Path) -> Iterator[pytest.MonkeyPatch]:
    """This process without the person's own SLURM, Prefect server and configuration."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(("PREFECT_", "SLURM_", "SLURMTUI_", "SBATCH_"))]:
            patch.delenv(name)
        patch.setenv("PREFECT_HOME", str(live_root / "prefect"))
        patch.setenv("SLURMTUI_CONFIG", str(live_root / "config.yaml"))
        patch.setenv("SLURMTUI_STATE", str(live_root / "state"))
        yield patch


@pytest.fixture(scope="session")
def sandbox(
    request: pytest.FixtureRequest,
    live_root: Path,
    clean_environment: pytest.MonkeyPatch,
    slurm_is_installed: None,  # noqa: ARG001 - must come first
) -> Iterator[Sandbox]:
    """The session's real SLURM, up; ``SLURM_CONF`` and ``SLURMTUI_STATE`` of this process name it."""
    said: list[str] = []
    report = asyncio.run(up(said.append))
    clean_environment.setenv("SLURM_CONF", report.slurm_conf)
    place = Sandbox(live_root / "state", report.slurm_conf)
    yield place
    if request.session.testsfailed:
        request.config.stash[_LOGS] = [
            f"--- {log.name}\n{log.read_text(errors='replace')[-3000:]}"
            for log in sorted(place.logs.glob("*.out"))
            if log.stat().st_size
        ]
    asyncio.run(down(said.append, purge=True))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """After a failure, show what the sandbox's daemons said."""
    for text in config.stash.get(_LOGS, []):
        terminalreporter.write_line(text)


@pytest.fixture(autouse=True)
def forgotten_views(live_root: Path) -> None:
    """No console opens on the view that another test has left."""
    shutil.rmtree(live_root / "state" / "views", ignore_errors=True)


@pytest.fixture(scope="session")
def prefect_server(clean_environment: pytest.MonkeyPatch) -> Iterator[ServerRecord]:
    """The session's private Prefect server, ready."""
    from slurmtui.control import server  # noqa: PLC0415 - only for the tests that want it

    assert clean_environment is not None
    yield server.start(load_config())
    server.stop()


@pytest.fixture
async def session(sandbox: Sandbox, prefect_server: ServerRecord) -> AsyncIterator[Session]:
    """A session that speaks to the real SLURM and the real Prefect server."""
    assert sandbox.slurm_conf
    assert prefect_server.api_url
    opened = open_session(load_config())
    yield opened
    await opened.close()


@pytest.fixture
async def drive(session: Session, tmp_path: Path) -> AsyncIterator[Callable[..., Awaitable[Driven]]]:
    """Drives the flow of some code: called with the code, the function's name, ``start``, ``profile``, parameters."""
    made: list[Driven] = []

    async def make(
        code: str, flow: str, *, start: bool = True, profile: dict[str, Any] | None = None, **parameters: Any
    ) -> Driven:
        assert session.prefect is not None
        assert session.connection is not None
        file = tmp_path / "flows.py"
        file.write_text(code)
        run = await create_flow_run(
            session.prefect, flow_name=flow, run_name=None, parameters=parameters, idempotency_key=str(uuid.uuid4())
        )
        asked = {"name": "test", "partition": "batch", "memory": "500M", "walltime": "00:10:00", "workers": 2}
        spec = RunSpec(
            id=run.id, name=run.name, flow_name=flow, entrypoint=f"{file}:{flow}", parameters=parameters,
            profile=msgspec.convert({**asked, **(profile or {})}, Profile), job_name=marks.job_name(flow, run.id),
            comment=marks.comment(run.id), api_url=session.connection.api_url, created=time.time(),
            directory=str(tmp_path), python=sys.executable,
        )  # fmt: skip
        made.append(Driven(session, spec, run_folder.create(spec)))
        run_folder.write_credentials(made[-1].folder, session.connection.auth)
        return made[-1].start() if start else made[-1]

    yield make
    for driven in made:
        if driven.process is not None and driven.process.poll() is None:
            driven.process.kill()
            driven.process.wait()

        async def nothing_left(driven: Driven = driven) -> bool:
            left = [job.id for job in await driven.jobs()]
            if left:
                await cancel_jobs(session.runner, left)
            return not left

        await eventually_true(nothing_left, 90, f"the jobs of {driven.spec.id[:8]} to be gone")


@pytest.fixture
async def submit(session: Session, tmp_path: Path) -> AsyncIterator[Callable[..., Awaitable[RunSpec]]]:
    """To submit the flow of some code as the console does, and to end it afterwards."""
    made: list[RunSpec] = []

    async def make(
        code: str, flow: str, *, profile: str = "batch", driver: str = "login", **parameters: Any
    ) -> RunSpec:
        file = tmp_path / "submitted.py"
        file.write_text(code)
        wanted = SubmitRequest(target=f"{file}:{flow}", profile=profile, driver=driver, parameters=parameters)
        made.append(await submit_flow(session, wanted))
        return made[-1]

    yield make
    for spec in made:
        with contextlib.suppress(Refused):
            await cancel_run(session, spec.id)


@pytest.fixture
async def stage(session: Session, tmp_path: Path) -> AsyncIterator[Stage]:
    """A stage for faults; see there."""
    found = Stage(session, tmp_path)
    yield found
    await found.close()
