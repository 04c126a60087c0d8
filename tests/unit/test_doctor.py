"""``slurmtui doctor``: each thing it looks at, well and broken."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import httpx
import pytest

from slurmtui.cli import main
from slurmtui.errors import CommandError
from slurmtui.models.check import Check, fail, ok, warn
from slurmtui.models.config import Config
from slurmtui.models.profile import Profile
from slurmtui.session import Session, open_session
from slurmtui.sources.prefect.client import PrefectClient
from slurmtui.sources.prefect.connection import Connection
from slurmtui.verbs import doctor, doctor_machine, doctor_services
from tests.unit.programs import put_shell

if TYPE_CHECKING:
    from collections.abc import Callable

    from slurmtui.models.cluster import Partition


class Usage(NamedTuple):
    total: int
    used: int
    free: int


GIB = 1024**3


@pytest.fixture(autouse=True)
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(("PREFECT_", "SLURM_", "SLURMTUI_"))]:
        monkeypatch.delenv(name)
    for name in ("TMUX", "STY", "TZ", "NO_COLOR", "COLORTERM", "LC_ALL", "LC_CTYPE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("SLURMTUI_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path / "prefect"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


class TestMachine:
    def test_python(self) -> None:
        check = doctor_machine.python()
        assert check.state == "ok"
        assert check.what.startswith("Python 3.")

    def test_packages_are_looked_up_and_not_imported(self) -> None:
        code = (
            "import sys\n"
            "from slurmtui.verbs.doctor_machine import all_checks\n"
            "print({check.name: check for check in all_checks()}['packages'].what)\n"
            "print([name for name in ('prefect', 'dask', 'distributed', 'textual') if name in sys.modules])\n"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
        found, imported = done.stdout.splitlines()
        assert found.startswith("prefect 3.")
        assert imported == "[]"

    @pytest.mark.parametrize(
        ("version", "state"), [("3.6.22", "ok"), ("3.9.9", "ok"), ("3.10.0", "warn"), ("3.4", "warn")]
    )
    def test_a_version_of_prefect_that_was_not_tested(
        self, version: str, state: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(importlib.metadata, "version", lambda _: version)
        assert doctor_machine.packages().state == state

    def test_a_package_that_is_missing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def missing(name: str) -> str:
            if name == "prefect-dask":
                raise importlib.metadata.PackageNotFoundError(name)
            return "3.9.1"

        monkeypatch.setattr(importlib.metadata, "version", missing)
        check = doctor_machine.packages()
        assert (check.state, check.why) == ("fail", "not here: prefect-dask")
        assert check.next

    def test_the_state_folder_is_made_and_private(self, tmp_path: Path) -> None:
        check = doctor_machine.state_folder()
        assert check.state in {"ok", "warn"}  # a temporary folder may be in memory
        assert check.where == str(tmp_path / "state")
        assert list((tmp_path / "state").iterdir()) == []

    def test_a_state_folder_that_others_may_look_into(self, tmp_path: Path) -> None:
        (tmp_path / "state").mkdir(mode=0o755)
        (tmp_path / "state").chmod(0o755)
        check = doctor_machine.state_folder()
        assert (check.state, check.next) == ("fail", f"chmod 700 {tmp_path / 'state'}")

    def test_a_state_folder_that_cannot_be_written(self, tmp_path: Path) -> None:
        (tmp_path / "state").write_text("a file")
        check = doctor_machine.state_folder()
        assert check.state == "fail"
        assert "SLURMTUI_STATE" in check.next

    @pytest.mark.parametrize(("free", "state"), [(10 * GIB, "ok"), (GIB // 2, "warn"), (1024, "fail")])
    def test_room(self, free: int, state: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(free, 0, free))
        monkeypatch.setattr(doctor_machine, "file_system", lambda _: "ext4")
        assert doctor_machine.state_folder().state == state

    @pytest.mark.parametrize(("kind", "state", "said"), [
        ("nfs4", "ok", "shared with other nodes"), ("lustre", "ok", "shared"), ("tmpfs", "warn", "tmpfs"),
        ("xfs", "ok", "xfs"),
    ])  # fmt: skip
    def test_file_systems(self, kind: str, state: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(GIB, 0, 9 * GIB))
        monkeypatch.setattr(doctor_machine, "file_system", lambda _: kind)
        check = doctor_machine.state_folder()
        assert check.state == state
        assert said in check.what

    @pytest.mark.parametrize(
        ("variables", "size", "state", "said"),
        [
            ({}, (120, 40), "ok", "120x40, true colour, glyphs"),
            ({"TERM": "xterm"}, (80, 24), "ok", "80x24, 16 colours, glyphs"),
            ({"NO_COLOR": "1"}, (80, 24), "ok", "80x24, no colours (NO_COLOR), glyphs"),
            ({}, (79, 24), "warn", "79x24"),
            ({"LANG": "C"}, (80, 24), "warn", "letters for glyphs"),
            ({"TERM": "dumb"}, (80, 24), "fail", "80x24"),
            ({"TERM": ""}, (80, 24), "fail", "80x24"),
        ],
    )
    def test_terminals(
        self, variables: dict[str, str], size: tuple[int, int], state: str, said: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr("sys.stdout.isatty", lambda: True)
        monkeypatch.setattr(shutil, "get_terminal_size", lambda: os.terminal_size(size))
        check = doctor_machine.terminal()
        assert check.state == state
        assert check.what.startswith(said) or said in check.what
        assert check.state == "ok" or check.next

    def test_a_pipe_is_no_terminal(self) -> None:
        assert doctor_machine.terminal().what == "Not a terminal: nothing to check"

    def test_tmux(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert doctor_machine.multiplexer().state == "ok"
        monkeypatch.setenv("TMUX", "/tmp/tmux,1,0")
        assert doctor_machine.multiplexer().state == "warn"
        monkeypatch.setenv("TERM", "tmux-256color")
        check = doctor_machine.multiplexer()
        assert check.state == "ok"
        assert "focus-events" in check.next

    def test_a_zone_that_is_not_the_machines(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert doctor_machine.clock().state == "ok"
        monkeypatch.setattr(Path, "readlink", lambda _: Path("/usr/share/zoneinfo/Europe/Berlin"))
        monkeypatch.setenv("TZ", "Europe/Berlin")
        assert doctor_machine.clock().state == "ok"
        monkeypatch.setenv("TZ", "America/New_York")
        check = doctor_machine.clock()
        assert check.state == "warn"
        assert "Europe/Berlin" in check.why

    def test_a_node_that_ends_everything_at_logout(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        settings = tmp_path / "logind.conf"
        monkeypatch.setattr(doctor_machine, "_LOGIN_SETTINGS", (str(settings),))
        assert doctor_machine.after_logout().state == "ok"
        settings.write_text("[Login]\n#KillUserProcesses=yes\n")
        assert doctor_machine.after_logout().state == "ok"
        (tmp_path / "logind.conf.d").mkdir()
        (tmp_path / "logind.conf.d" / "site.conf").write_text("[Login]\nKillUserProcesses = yes\n")
        check = doctor_machine.after_logout()
        assert check.state == "warn"
        assert "loginctl enable-linger" in check.next


class MadeUpSlurm:
    """A cluster of made-up answers; ``broken`` are the questions it does not answer."""

    def __init__(self, *broken: str, version: tuple[int, ...] = (22, 5, 8)) -> None:
        self.broken = broken
        self.number = version

    def _ask(self, what: str) -> None:
        if what in self.broken:
            raise CommandError(f"{what}: Unable to contact slurm controller\x1b[31m", argv=[what], code=1)

    async def version(self) -> tuple[int, ...]:
        self._ask("scontrol")
        return self.number

    async def cluster_name(self) -> str:
        return "prod"

    async def partitions(self) -> tuple[Partition, ...]:
        self._ask("sinfo")
        return ()

    async def accounts_or_reason(self) -> tuple[tuple[str, ...], str]:
        self._ask("sacctmgr")
        return ("research",), ""


def session_of(slurm: MadeUpSlurm, config: Config | None = None) -> Session:
    session = open_session(config or Config())
    session.slurm = slurm  # type: ignore[assignment]
    return session


class TestSlurm:
    async def test_a_controller_that_answers(self) -> None:
        check = await doctor_services.controller(session_of(MadeUpSlurm()))
        assert (check.state, check.where) == ("ok", "prod")
        assert re.match(r"SLURM 22\.05\.8 answers in \d+\.\d", check.what)

    async def test_a_controller_that_is_down(self) -> None:
        check = await doctor_services.controller(session_of(MadeUpSlurm("scontrol")))
        assert (check.state, check.why) == ("fail", "scontrol: Unable to contact slurm controller␛[31m")

    async def test_a_controller_that_is_old(self) -> None:
        check = await doctor_services.controller(session_of(MadeUpSlurm(version=(18, 8, 5))))
        assert check.state == "warn"
        assert check.what.startswith("SLURM 18.08.5")

    async def test_accounting(self) -> None:
        assert (await doctor_services.accounting(session_of(MadeUpSlurm()))).what == "Your accounts: research"
        assert (await doctor_services.accounting(session_of(MadeUpSlurm("sacctmgr")))).state == "warn"

    def test_commands(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        check = doctor_services.commands()
        assert (check.state, check.what) == ("fail", "Not on PATH: squeue, sbatch, scancel, scontrol, sinfo")
        for name in ("squeue", "sbatch", "scancel", "scontrol", "sinfo"):
            put_shell(tmp_path / name, "true")
        assert doctor_services.commands() == warn(
            "slurm commands", "Not on PATH: sacct, sacctmgr", where=str(tmp_path),
            why="without them ended jobs cannot be looked up",
        )  # fmt: skip

    def test_place(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SLURM_CONF", str(tmp_path / "none.conf"))
        assert doctor_services.place(open_session(Config())).state == "fail"
        (tmp_path / "none.conf").touch()
        assert doctor_services.place(open_session(Config())).state == "ok"

    @pytest.mark.parametrize(
        ("script", "state", "said"),
        [
            ("echo 'sbatch: Job 7 to start at 2030-01-02T03:04:05 using 1 processors on nodes n1 in partition d' >&2",
             "ok", "SLURM would take a job, and start it 02 Jan 03:04 on n1"),
            ("echo 'sbatch: error: invalid partition specified: gup' >&2; exit 1",
             "fail", "invalid partition specified: gup"),
        ],
    )  # fmt: skip
    async def test_a_trial_submission(
        self, script: str, state: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        put_shell(tmp_path / "sbatch", script)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        check = await doctor_services.submission(open_session(Config(profiles={"a": Profile(name="a")})))
        assert check.state == state
        assert said in (check.what, check.why)

    async def test_no_profile_to_try(self) -> None:
        assert (await doctor_services.submission(open_session(Config()))).state == "warn"


class TestPrefect:
    def session(
        self,
        answer: Callable[[httpx.Request], httpx.Response],
        url: str = "http://login01:4200/api",
        auth: str | None = "me:pw",
    ) -> Session:
        session = open_session(Config())
        connection = Connection(api_url=url, auth=auth, origin="configuration", auth_origin="the password came from x")
        session._connection = connection
        session._prefect = PrefectClient(connection, session.log, httpx.MockTransport(answer))
        return session

    async def test_none(self) -> None:
        check = await doctor_services.prefect(open_session(Config()))
        assert (check.state, check.next) == ("warn", "slurmtui server start, or set PREFECT_API_URL")

    async def test_well(self) -> None:
        check = await doctor_services.prefect(self.session(lambda _: httpx.Response(200, json="3.9.1")))
        assert (check.state, check.where) == ("ok", "http://login01:4200/api (configuration)")
        assert re.match(r"Prefect 3\.9\.1 answers in \d+\.\d", check.what)
        assert check.what.endswith("the password is right")

    async def test_a_wrong_password(self) -> None:
        refused = httpx.Response(401, json={"exception_message": "Unauthorized"})
        check = await doctor_services.prefect(self.session(lambda _: refused))
        assert (check.state, check.what) == ("fail", "The Prefect server wants other credentials")
        assert "the password came from x" in check.why

    async def test_no_answer(self) -> None:
        def refuse(request: httpx.Request) -> httpx.Response:
            raise httpx.ConnectError("connection refused", request=request)

        check = await doctor_services.prefect(self.session(refuse))
        assert (check.state, check.next) == ("fail", "slurmtui server status")

    async def test_something_else_there(self) -> None:
        check = await doctor_services.prefect(self.session(lambda _: httpx.Response(200, text="<html>")))
        assert (check.state, check.what) == ("fail", "No usable Prefect server there")

    async def test_without_a_password(self) -> None:
        session = self.session(lambda _: httpx.Response(200, json="3.9.1"), auth=None)
        check = await doctor_services.prefect(session)
        assert check.state == "warn"
        assert "run code as you" in check.why

    async def test_an_address_that_compute_nodes_cannot_reach(self) -> None:
        for url in ("http://127.0.0.1:4200/api", "http://localhost:4200/api", "http://[::1]:4200/api"):
            check = await doctor_services.prefect(self.session(lambda _: httpx.Response(200, json="3.9.1"), url))
            assert check.state == "warn"
            assert "compute nodes cannot reach it" in check.why

    async def test_an_old_prefect(self) -> None:
        check = await doctor_services.prefect(self.session(lambda _: httpx.Response(200, json="2.20.1")))
        assert check.state == "fail"

    async def test_a_password_in_an_address_is_not_shown(self) -> None:
        url = "http://u:secret@login01:4200/api"
        check = await doctor_services.prefect(self.session(lambda _: httpx.Response(200, json="3.9.1"), url))
        assert "secret" not in str(check)


class TestConfiguration:
    def test_mistakes_do_not_end_the_other_checks(self, tmp_path: Path) -> None:
        file = tmp_path / "c.yaml"
        file.write_text("thme: paper\nprofiles: {a: {memory: 10}}\n")
        loaded, check = doctor_services.configuration(str(file))
        assert loaded.config == Config()
        assert check is not None
        assert (check.state, check.what) == ("fail", "2 mistakes")
        assert len(check.why.splitlines()) == 2

    async def test_none_on_a_cluster(self) -> None:
        loaded, broken = doctor_services.configuration(None)
        check = await doctor_services.held_against_cluster(loaded, session_of(MadeUpSlurm()))
        assert broken is None
        assert (check.state, check.next) == ("warn", "slurmtui config init")

    async def test_well(self, tmp_path: Path) -> None:
        file = tmp_path / "c.yaml"
        file.write_text("profiles: {a: {}, b: {}}\n")
        loaded, _ = doctor_services.configuration(str(file))
        check = await doctor_services.held_against_cluster(loaded, session_of(MadeUpSlurm(), loaded.config))
        assert check == ok("configuration", "2 profiles", where=str(file))

    async def test_what_the_cluster_does_not_have(self, tmp_path: Path) -> None:
        file = tmp_path / "c.yaml"
        file.write_text("profiles: {a: {account: resaerch}}\n")
        loaded, _ = doctor_services.configuration(str(file))
        check = await doctor_services.held_against_cluster(loaded, session_of(MadeUpSlurm(), loaded.config))
        assert (check.state, check.what) == ("fail", "1 mistake")
        assert "did you mean 'research'?" in check.why


CHECKS = [
    ok("one", "all well", where="/here", step="nice to know"),
    warn("two", "so so", why="because\nof that", step="do this"),
    fail("three", "broken"),
]


def test_checks_for_a_person() -> None:
    assert [line for check in CHECKS for line in doctor.lines(check, glyphs=True)] == [
        "✔ one             all well  (/here)",
        "                  hint: nice to know",
        "⚠ two             so so",
        "                  because",
        "                  of that",
        "                  next: do this",
        "✖ three           broken",
    ]
    assert doctor.lines(CHECKS[2], glyphs=False) == ["FAIL three           broken"]


@pytest.mark.parametrize(("checks", "code"), [(CHECKS, 1), (CHECKS[:2], 0)])
def test_the_exit_code_says_whether_something_fails(
    checks: list[Check], code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def examine(_: str | None) -> list[Check]:
        return checks

    monkeypatch.setattr(doctor, "examine", examine)
    assert main(["doctor"]) == code
    assert capsys.readouterr().out.splitlines()[-1] == f"{len(checks)} checks: {code} failed, 1 with a warning."
    assert main(["doctor", "--json"]) == code
    facts = json.loads(capsys.readouterr().out)
    assert facts["well"] is (code == 0)
    assert facts["checks"][1] == {
        "name": "two", "state": "warn", "what": "so so", "where": "", "why": "because\nof that", "next": "do this"
    }  # fmt: skip


async def test_everything_is_examined_where_there_is_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("SLURM_CONF", str(tmp_path / "none.conf"))
    checks = {check.name: check for check in await doctor.examine(None)}
    assert list(checks) == [
        "python", "packages", "state folder", "terminal", "tmux", "clock", "after logout", "configuration", "place",
        "slurm commands", "slurmctld", "slurm offers", "accounting", "submission", "prefect server",
    ]  # fmt: skip
    assert {name for name, check in checks.items() if check.state == "fail"} == {"place", "slurm commands", "slurmctld"}
    assert all(check.next for check in checks.values() if check.state == "fail")
