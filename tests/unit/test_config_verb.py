"""``slurmtui config``: what it writes, checks and shows, with a made-up cluster."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from slurmtui.cli import main
from slurmtui.config import load_config
from slurmtui.config_reference import reference, renewed
from slurmtui.errors import CommandError
from slurmtui.models.cluster import Partition
from slurmtui.session import Session, open_session

if TYPE_CHECKING:
    from slurmtui.models.config import Config

DEBUG = Partition(
    name="debug", default=True, state="up", max_time=1800, nodes=2, cpus_per_node=8, memory_per_node=4000.0
)


class MadeUpSlurm:
    """Answers like the client of a small cluster, or not at all."""

    down = False

    async def partitions(self) -> tuple[Partition, ...]:
        if self.down:
            raise CommandError("sinfo: Unable to contact slurm controller", argv=["sinfo"], code=1)
        return (DEBUG,)

    async def accounts(self) -> tuple[str, ...]:
        return (await self.accounts_or_reason())[0]

    async def accounts_or_reason(self) -> tuple[tuple[str, ...], str]:
        return ("research",), ""


@pytest.fixture
def slurm(monkeypatch: pytest.MonkeyPatch) -> MadeUpSlurm:
    made_up = MadeUpSlurm()

    def opened(config: Config) -> Session:
        session = open_session(config)
        session.slurm = made_up  # type: ignore[assignment]
        return session

    monkeypatch.setattr("slurmtui.verbs.config.open_session", opened)
    return made_up


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith(("PREFECT_", "SLURM_", "SLURMTUI_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("SLURMTUI_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path / "prefect"))
    monkeypatch.setenv("SLURM_CONF", "/etc/slurm/slurm.conf")
    monkeypatch.setenv("SLURMTUI_CONFIG", str(tmp_path / "conf" / "config.yaml"))
    return tmp_path / "conf" / "config.yaml"


@pytest.mark.usefixtures("slurm")
class TestInit:
    def test_a_file_for_this_cluster_that_the_user_alone_may_read(
        self, file: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["config", "init"]) == 0
        assert capsys.readouterr().out.startswith(f"Written: {file}\nNext: `slurmtui config check`")
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        config = load_config()
        assert config.default_profile == "debug"
        assert config.profiles["debug"].account == "research"
        assert main(["config", "check"]) == 0

    def test_what_is_there_is_left_alone(self, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
        file.parent.mkdir()
        file.write_text("theme: paper\n")
        assert main(["config", "init"]) == 1
        assert capsys.readouterr().err.startswith(f"slurmtui: {file} is there already. `slurmtui config init --force`")
        assert file.read_text() == "theme: paper\n"
        assert os.listdir(file.parent) == [file.name]  # noqa: PTH208 - names are what counts

    def test_force_keeps_the_old_one_beside_it(self, file: Path) -> None:
        file.parent.mkdir()
        file.write_text("theme: paper\n")
        assert main(["config", "init", "--force"]) == 0
        assert load_config().default_profile == "debug"
        backup = file.with_name("config.yaml.bak")
        assert backup.read_text() == "theme: paper\n"
        assert stat.S_IMODE(backup.stat().st_mode) == 0o600

    def test_a_link_stays_a_link(self, file: Path, tmp_path: Path) -> None:
        file.parent.mkdir()
        real = tmp_path / "dotfiles.yaml"
        real.write_text("theme: paper\n")
        file.symlink_to(real)
        assert main(["config", "init"]) == 1
        assert main(["config", "init", "--force"]) == 0
        assert file.is_symlink()
        assert "debug" in real.read_text()

    def test_where_config_says(self, tmp_path: Path, file: Path) -> None:
        other = tmp_path / "other.yaml"
        assert main(["--config", str(other), "config", "init"]) == 0
        assert other.exists()
        assert not file.exists()

    def test_a_directory_is_refused(self, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
        file.mkdir(parents=True)
        assert main(["config", "init", "--force"]) == 1
        assert "is a directory: name the file in it" in capsys.readouterr().err

    def test_a_folder_that_may_not_be_written(self, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
        file.parent.parent.joinpath("conf").write_text("a file where a folder should be")
        assert main(["config", "init"]) == 1
        assert f"slurmtui: {file}: cannot be written: " in capsys.readouterr().err

    def test_without_slurm_it_is_a_template_and_says_so(
        self, file: Path, slurm: MadeUpSlurm, capsys: pytest.CaptureFixture[str]
    ) -> None:
        slurm.down = True
        assert main(["config", "init"]) == 0
        assert "sinfo: Unable to contact slurm controller" in capsys.readouterr().out
        assert "(sinfo: Unable to contact slurm controller): fill these in by hand" in file.read_text()
        assert load_config().profiles == {}


@pytest.mark.usefixtures("slurm")
class TestCheck:
    def test_what_the_cluster_does_not_have(self, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
        file.parent.mkdir()
        file.write_text(
            "profiles:\n  a: {partition: debgu, account: reserch}\n  b:\n    walltime: 1:00:00\n    memory: 8G\n"
            "keys: {log: L}\n"
        )
        assert main(["config", "check"]) == 1
        assert capsys.readouterr().out.splitlines() == [
            f"{file}:2: profiles.a.partition: this cluster has no partition 'debgu': did you mean 'debug'?",
            f"{file}:2: profiles.a.account: you have no account 'reserch': did you mean 'research'?",
            f"{file}:4: profiles.b.walltime: 01:00:00 is more than debug allows: 00:30:00.",
            f"{file}:5: profiles.b.memory: 8G is more than any node of debug has: 4000M.",
            f"{file}:6: keys.log: there is no action 'log': did you mean 'logs'?",
            f"{file}: 5 mistakes",
        ]
        assert main(["config", "check", "--offline"]) == 1
        assert capsys.readouterr().out.splitlines()[-1] == f"{file}: 1 mistake"

    def test_the_files_own_mistakes_as_json(self, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
        file.parent.mkdir()
        file.write_text("profiles: {a: {memory: 10}}\nthme: paper\n")
        assert main(["config", "check", "--json"]) == 1
        facts = json.loads(capsys.readouterr().out)
        assert facts["well"] is False
        assert facts["file"] == str(file)
        assert [problem.split(": ")[1] for problem in facts["problems"]] == ["profiles.a.memory", "thme"]

    def test_a_cluster_that_does_not_answer_is_a_note(
        self, file: Path, slurm: MadeUpSlurm, capsys: pytest.CaptureFixture[str]
    ) -> None:
        file.parent.mkdir()
        file.write_text("profiles: {a: {partition: x}}\n")
        slurm.down = True
        assert main(["config", "check"]) == 0
        assert capsys.readouterr().out.splitlines() == [
            "note: profiles were not held against the cluster: sinfo: Unable to contact slurm controller",
            f"{file}: no mistakes",
        ]

    def test_no_file_is_no_mistake(self, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["config", "check"]) == 0
        assert capsys.readouterr().out == f"no file at {file}, so the built-in configuration: no mistakes\n"

    def test_files_that_should_be_looked_at(self, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
        file.parent.mkdir()
        (file.parent / "secret").write_text("me:pw")
        (file.parent / "secret").chmod(0o644)
        (file.parent / "themes").mkdir()
        (file.parent / "themes" / "mine.yaml").write_text("base: nothing")
        file.write_text(
            "flows: gone\nprefect: {auth_file: secret}\nserver: {database_url: postgresql://u:pw@h/d}\n"
            "profiles: {a: {python: ./no-python}}\n"
        )
        file.chmod(0o666)
        leaky = "a password and others may read it: chmod 600 it."
        assert main(["config", "check"]) == 1
        assert capsys.readouterr().out.splitlines() == [
            "There is no theme 'nothing': there is: midnight, contrast, mine, paper, terminal16.",
            f"note: everybody may write {file}, and so run commands as you: chmod go-w it.",
            f"note: {file}:1: flows: {file.parent}/gone is not there.",
            f"note: {file}:2: prefect.auth_file: {file.parent}/secret holds {leaky}",
            f"note: {file}:3: server.database_url: {file} holds {leaky}",
            f"note: {file}:4: profiles.a.python: {file.parent}/no-python is not on this machine.",
            f"{file}: 1 mistake",
        ]


@pytest.mark.usefixtures("slurm")
class TestShow:
    def test_where_each_value_came_from(
        self, file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        file.parent.mkdir()
        file.write_text(
            "profiles:\n  a:\n    memory: 4096M\nserver: {database_url: 'postgresql://u:se@cret@h/d'}\n"
            "prefect: {api_url: http://mine/api}\n"
        )
        monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:1/api")
        monkeypatch.setenv("TERM", "xterm-256color")
        assert main(["config", "show", "--json"]) == 0
        facts = json.loads(capsys.readouterr().out)
        assert facts["file"] == str(file)
        values = facts["values"]
        assert values["profiles.a.memory"] == {"value": "4G", "from": "line 3"}
        assert values["profiles.a.cores"] == {"value": 1, "from": "built in"}
        assert values["prefect.api_url"] == {"value": "http://127.0.0.1:1/api", "from": "PREFECT_API_URL"}
        assert values["server.database_url"] == {"value": "postgresql://u:…@h/d", "from": "line 4"}
        assert values["theme"] == {"value": "midnight", "from": "this terminal"}

    def test_for_a_person(self, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
        file.parent.mkdir()
        file.write_text("profiles:\n  a:\n    adapt: {maximum: 3}\n    prologue: [x, y]\n")
        assert main(["config", "show"]) == 0
        out = capsys.readouterr().out
        assert out.startswith(f"file  {file}\n\n")
        lines = {line.split()[0]: line.split(maxsplit=1)[1] for line in out.splitlines() if line}
        assert lines["profiles.a.adapt"].startswith("{maximum: 3, minimum: 0}")
        assert lines["profiles.a.adapt"].endswith("line 3")
        assert lines["profiles.a.prologue"].startswith("[x, y]")
        assert lines["read_only"].startswith("false")
        assert "profiles.a.qos" not in lines

    def test_the_profiles_of_the_sandbox_are_marked(
        self, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        folder = tmp_path / "state" / "sandbox"
        folder.mkdir(parents=True)
        (folder / "sandbox.json").write_text('{"slurm_conf": "/x/slurm.conf"}')
        monkeypatch.setenv("SLURM_CONF", "/x/slurm.conf")
        assert main(["config", "show", "--json"]) == 0
        facts = json.loads(capsys.readouterr().out)
        assert facts["file"] is None
        assert not file.exists()
        assert facts["values"]["profiles.gpu.gres"] == {"value": "gpu:a100:1", "from": "built in for the sandbox"}
        assert facts["values"]["default_profile"] == {"value": "debug", "from": "built in for the sandbox"}


def test_the_page_of_the_documentation_is_fresh() -> None:
    """`python -m slurmtui.config_reference` renews it."""
    page = (Path(__file__).parent.parent.parent / "docs" / "configuration.md").read_text("utf-8")
    assert renewed(page) == page


def test_the_reference_names_every_key(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "reference"]) == 0
    out = capsys.readouterr().out
    assert out == reference()
    for key in ("`skip_directives`", "`floor_seconds`", "`auth_file`", "`maximum`", "`interface`", "`read_only`"):
        assert f"| {key} | " in out


@pytest.mark.usefixtures("slurm")
def test_every_mistake_is_told_at_once_also_those_against_the_cluster_and_the_keys(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.parent.mkdir(parents=True)
    file.write_text("driver: nowhere\nkeys:\n  run.nope: z\nprofiles:\n  mine:\n    partition: elsewhere\n")
    assert main(["config", "check"]) == 1
    told = capsys.readouterr().out
    for mistake in ("1: driver: ", "3: keys.run.nope: ", "6: profiles.mine.partition: "):
        assert f"{file}:{mistake}" in told
    assert f"{file}: 3 mistakes" in told
