"""Two ordinary users on one machine: the second gets at nothing of the first, and no secret lies open.

The first one has all of it: a sandbox, a private Prefect server, a run with a Dask cluster over TLS.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

import slurmtui
from slurmtui.sources.processes import command_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

FIRST, SECOND = "slurmtui-one", "slurmtui-two"
FLOW = """
import time
from prefect import flow, task

@task
def nap():
    time.sleep(600)

@flow
def naps():
    nap.submit().result()
"""
ASK = """
import sys, urllib.request, urllib.error
for auth in (None, "slurmtui:guess"):
    request = urllib.request.Request(sys.argv[1] + "/flow_runs/filter", data=b"{}", method="POST")
    request.add_header("Content-Type", "application/json")
    if auth:
        import base64
        request.add_header("Authorization", "Basic " + base64.b64encode(auth.encode()).decode())
    try:
        print(urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=10).status)
    except urllib.error.HTTPError as error:
        print(error.code)
"""
CONNECT = """
import socket, ssl, sys
host, port, *own = sys.argv[1:]
context = ssl.create_default_context()
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
if own:
    context.load_cert_chain(*own)
for plain in (False, True):
    try:
        with socket.create_connection((host, int(port)), timeout=15) as raw:
            line = raw if plain else context.wrap_socket(raw)
            heard = line.recv(100)  # Dask speaks first
            print("heard", len(heard)) if heard else print("refused")
    except OSError as error:
        print("refused", error)
"""


class User:
    """An ordinary account of this machine."""

    def __init__(self, name: str, python: str, more: dict[str, str]) -> None:
        subprocess.run(["useradd", "--create-home", "--shell", "/bin/sh", name], check=True)
        self.name, self.home = name, Path("~" + name).expanduser()
        self.python, self.more = python, more

    def run(self, *argv: str, check: bool = True, seconds: float = 150) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "USER": self.name, "LOGNAME": self.name}
        environment.update(self.more)
        done = subprocess.run(
            ["runuser", "-u", self.name, "--", *argv],
            env=environment, cwd=self.home, capture_output=True, text=True, timeout=seconds, check=False,
        )  # fmt: skip
        assert done.returncode == 0 or not check, done.stdout + done.stderr
        return done

    def slurmtui(self, *words: str, check: bool = True) -> str:
        return self.run(self.python, "-m", "slurmtui", *words, check=check).stdout

    def remove(self) -> None:
        deadline = time.monotonic() + 20
        while left := [process for process in psutil.process_iter() if _owner(process) == self.name]:
            for process in left:  # of this test's own account
                with contextlib.suppress(psutil.Error):
                    process.kill()
            assert time.monotonic() < deadline, left
            time.sleep(0.1)
        subprocess.run(["userdel", "--remove", self.name], check=True, capture_output=True)


def _owner(process: psutil.Process) -> str:
    try:
        return process.username()
    except (psutil.Error, KeyError):
        return ""


@pytest.fixture(scope="module")
def can_make_users() -> None:
    """Only root can; in CI that is no reason to skip."""
    if os.geteuid() != 0 or shutil.which("useradd") is None:
        if os.environ.get("CI"):
            pytest.fail("a live test may not be skipped in CI, and only root can make users")
        pytest.skip("only root can make users")


@pytest.fixture(scope="module")
def readable_python(can_make_users: None) -> Iterator[tuple[str, dict[str, str]]]:  # noqa: ARG001 - must come first
    """This Python where ordinary users can run it (root's own may lie in root's home), and what leads to packages."""
    places = (str(Path(slurmtui.__file__).parent.parent), str(Path(psutil.__file__).parent.parent))
    more = {"PYTHONPATH": os.pathsep.join(places)}
    ask = ["runuser", "-u", "nobody", "--", sys.executable, "-c", "import slurmtui, prefect"]
    if subprocess.run(ask, check=False, capture_output=True, cwd="/").returncode == 0:
        yield sys.executable, {}
        return
    copy = Path(tempfile.mkdtemp(prefix="slurmtui-python-", dir="/var/tmp"))
    try:
        copy.chmod(0o755)
        base = Path(sys.base_prefix)
        skipped = shutil.ignore_patterns("site-packages", "test", "__pycache__", "share", "*.a")
        shutil.copytree(base, copy / "python", symlinks=True, ignore=skipped)
        (copy / "python" / "lib" / base_library() / "site-packages").mkdir()
        more["LD_LIBRARY_PATH"] = str(copy / "python" / "lib")  # for one that was built with a shared library
        yield str(copy / "python" / "bin" / Path(sys.executable).resolve().name), more
    finally:
        shutil.rmtree(copy)


def base_library() -> str:
    return f"python{sys.version_info.major}.{sys.version_info.minor}"


@pytest.fixture(scope="module")
def users(
    slurm_is_installed: None,  # noqa: ARG001 - must come first
    readable_python: tuple[str, dict[str, str]],
) -> Iterator[tuple[User, User]]:
    made: list[User] = []
    try:
        made += [User(FIRST, *readable_python)]
        made += [User(SECOND, *readable_python)]
        for user in made:
            user.run(user.python, "-c", "import slurmtui, prefect, distributed")
        yield made[0], made[1]
    finally:
        for user in made:
            user.remove()


class Scene:
    """What the first user has running."""

    def __init__(self, first: User) -> None:
        self.first = first
        first.slurmtui("sandbox", "up")
        self.server: dict[str, Any] = json.loads(first.slurmtui("server", "start", "--json"))
        self.cluster: dict[str, Any] = json.loads(first.slurmtui("cluster", "up", "gpu", "--json"))
        flow = first.home / "flow.py"
        flow.write_text(FLOW)
        flow.chmod(0o644)
        shutil.chown(flow, first.name)
        self.run: dict[str, Any] = json.loads(first.slurmtui("submit", f"{flow}:naps", "--profile", "debug", "--json"))
        self.state = first.home / ".local" / "state" / "slurmtui"
        self.folder = self.state / "runs" / self.run["id"]
        self.password = (self.state / "server" / "auth").read_text().strip().partition(":")[2]

    @property
    def tasks_run(self) -> bool:
        found = json.loads(self.first.slurmtui("runs", self.run["id"], "--json", check=False) or "[]")
        return bool(found and found[0]["tasks"] and found[0]["tasks"]["running"])

    @property
    def scheduler(self) -> str:
        """The scheduler's address, from the command of a worker."""
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                found = re.search(r"tls://[\d.]+:\d+", " ".join(command_line(process)))
                if found and process.username() == self.first.name:
                    return found.group()
        return ""

    @property
    def keys(self) -> list[str]:
        """A line of each private key there is."""
        files = [*self.pem_files("PRIVATE KEY"), Path(self.cluster["folder"]) / "tls" / "key.pem"]
        return [path.read_text().splitlines()[5] for path in files]

    def pem_files(self, what: str) -> list[Path]:
        """The files of the run's TLS folder that hold this."""
        inside = sorted(path for path in (self.folder / "tls").rglob("*") if path.is_file())
        return [path for path in inside if what in path.read_text()]


@pytest.fixture(scope="module")
def scene(users: tuple[User, User], wait_until: Callable[..., Any]) -> Iterator[Scene]:
    found = Scene(users[0])
    try:
        wait_until(lambda: found.tasks_run, 120, "the task to run")
        yield found
    finally:
        users[0].slurmtui("cancel", found.run["id"], "--yes", check=False)
        users[0].slurmtui("cluster", "down", check=False)
        users[0].slurmtui("server", "stop", check=False)
        users[0].slurmtui("sandbox", "down", check=False)


def test_the_second_user_is_refused_everywhere(scene: Scene, users: tuple[User, User]) -> None:
    second = users[1]
    asked = second.run(second.python, "-c", ASK, scene.server["api_url"])
    assert asked.stdout.split() == ["401", "401"]
    assert (scene.folder / "credentials").exists()
    for path in (
        scene.state, scene.folder, scene.folder / "run.json", scene.folder / "credentials", scene.folder / "driver.log",
        scene.state / "server" / "auth", scene.state / "server" / "home" / "prefect.db", scene.folder / "tls",
    ):  # fmt: skip
        assert path.exists(), path
        done = second.run("cat" if path.is_file() else "ls", str(path), check=False)
        assert "Permission denied" in done.stderr, (path, done.stdout, done.stderr)
    host, port = scene.scheduler.removeprefix("tls://").split(":")
    key = scene.pem_files("PRIVATE KEY")[0]
    certificate = next(path for path in scene.pem_files("CERTIFICATE") if ".cert" in path.name)
    own = scene.first.run(scene.first.python, "-c", CONNECT, host, port, str(certificate), str(key)).stdout.splitlines()
    assert own[0].startswith("heard"), own  # with the keys it speaks: the refusals below are not a fault of the test
    tried = second.run(second.python, "-c", CONNECT, host, port).stdout.splitlines()
    assert len(tried) == 2, tried
    assert all(line.startswith("refused") for line in tried), tried


def test_nobody_else_can_use_a_shared_cluster(scene: Scene, users: tuple[User, User]) -> None:
    first, second = users
    folder = Path(scene.cluster["folder"])
    keys = [str(folder / "tls" / name) for name in ("cert.pem", "key.pem")]
    for path in (folder, folder / "tls", *map(Path, keys), folder / "keeper.log", folder / "keeper.json"):
        assert path.exists(), path
        done = second.run("cat" if path.is_file() else "ls", str(path), check=False)
        assert "Permission denied" in done.stderr, (path, done.stdout, done.stderr)
    host, port = scene.cluster["address"].removeprefix("tls://").split(":")
    own = first.run(first.python, "-c", CONNECT, host, port, *keys).stdout.splitlines()
    assert own[0].startswith("heard"), own  # with the keys it speaks: the refusals below are not a fault of the test
    tried = second.run(second.python, "-c", CONNECT, host, port).stdout.splitlines()
    assert len(tried) == 2, tried
    assert all(line.startswith("refused") for line in tried), tried


def test_no_secret_stands_where_others_can_read_it(scene: Scene) -> None:
    secrets = [scene.password, *scene.keys]
    assert len(scene.password) > 20
    assert len(secrets) > 1, "no TLS key was found"
    lines = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            lines.append(" ".join(command_line(process)))
    assert any("distributed" in line or "dask" in line for line in lines)
    assert not [line for line in lines if any(secret in line for secret in secrets)]
    conf = json.loads(scene.first.slurmtui("sandbox", "status", "--json"))["slurm_conf"]
    for job_id in [
        entry["job_id"] for entry in map(json.loads, (scene.folder / "submissions.jsonl").read_text().splitlines())
    ]:
        for asked in (("write", "batch_script", job_id, "-"), ("show", "job", "-dd", job_id)):
            shown = scene.first.run("env", f"SLURM_CONF={conf}", "scontrol", *asked).stdout
            assert "dask" in shown or "JobId" in shown
            assert not any(secret in shown for secret in secrets)
    for log in [path for pattern in ("*.log", "*.out", "*.err") for path in scene.state.rglob(pattern)]:
        content = log.read_text(errors="replace")
        assert not any(secret in content for secret in secrets), log


def _can_be_entered(folder: Path, device: int) -> bool:
    try:
        found = folder.lstat()
    except OSError:
        return False
    return bool(found.st_mode & stat.S_IXOTH) and found.st_dev == device


def readable_by_others(top: Path, uid: int) -> Iterator[Path]:
    """Files of the user that others can open, on this file system."""
    device = top.stat().st_dev
    for folder, names, files in os.walk(top):
        names[:] = [name for name in names if _can_be_entered(Path(folder, name), device)]
        for name in files:
            path = Path(folder, name)
            with contextlib.suppress(OSError):
                found = path.lstat()
                if stat.S_ISREG(found.st_mode) and found.st_uid == uid and found.st_mode & stat.S_IROTH:
                    yield path


def test_no_file_that_others_can_open_holds_a_secret(scene: Scene) -> None:
    secrets = [secret.encode() for secret in (scene.password, *scene.keys)]
    uid = scene.first.home.stat().st_uid
    seen = [path for top in (scene.first.home, Path("/tmp"), Path("/dev/shm")) for path in readable_by_others(top, uid)]
    assert scene.first.home / "flow.py" in seen or not scene.first.home.stat().st_mode & stat.S_IXOTH
    guilty = []
    for path in seen:
        with contextlib.suppress(FileNotFoundError):  # others' come and go in /tmp
            guilty += [path] if any(secret in path.read_bytes() for secret in secrets) else []
    assert not guilty
    assert scene.state.stat().st_mode & 0o077 == 0
