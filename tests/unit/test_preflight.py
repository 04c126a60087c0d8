"""What a preflight says of profiles, folders and probes, in words."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from slurmtui.control import preflight_checks as checks
from slurmtui.control import probe
from slurmtui.models.probe import Place, ProbeAnswer, ProbeResult
from slurmtui.models.profile import Adapt, Profile

if TYPE_CHECKING:
    from slurmtui.models.check import Check

HERE = Place(node="login", python_version="3.11.7", versions={"prefect": "3.9.1", "distributed": "2026.8.0"})


def result(**changes: object) -> ProbeResult:
    facts = {"place": HERE, "status": 200, "version": "3.9.1", **changes}
    return ProbeResult(time=1, api_url="http://h/api", where="partition p", job_id="3", answer=ProbeAnswer(**facts))  # type: ignore[arg-type]


def states(found: list[Check]) -> list[tuple[str, str]]:
    return [(check.name, check.state) for check in found]


def test_what_is_odd_in_a_profile_is_told_and_a_plain_one_is_not() -> None:
    assert states(checks.oddities(Profile(name="p", memory="2G"))) == [("encryption", "ok")]
    odd = Profile(name="p", memory="600M", processes=2, cores=1, walltime="00:01:00", adapt=Adapt(maximum=3), tls=False)
    told = " ".join(check.what for check in checks.oddities(odd))
    for word in ("300 MB each", "more than its 1 core", "hardly longer", "adapt.minimum", "can run code as you"):
        assert word in told
    assert all(check.next for check in checks.oddities(odd))


def test_the_probe_is_told_with_what_to_do() -> None:
    assert states(checks.from_node(None, HERE)) == [("compute node", "warn")]
    well = result(place=Place(node="n1", python_version="3.11.9", versions={**HERE.versions, "prefect-dask": "0.3.7"}))
    assert states(checks.from_node(well, HERE)) == [("compute node", "ok"), ("versions", "ok")]
    refused = checks.from_node(result(status=401), HERE)[0]
    assert refused.state == "fail"
    assert "password is refused" in refused.what
    far = checks.from_node(result(status=None, said="Connection refused"), HERE)[0]
    assert (far.state, far.why) == ("fail", "Connection refused")
    assert "server.host" in far.next


def test_other_versions_there_are_told() -> None:
    older = Place(node="n1", python_version="3.10.2", versions=HERE.versions)
    assert ("versions", "fail") in states(checks.from_node(result(place=older), HERE))
    without = Place(node="n1", python_version="3.11.7", versions={"prefect": "", "distributed": "2026.8.0"})
    told = [check.what for check in checks.from_node(result(place=without), HERE)]
    assert "prefect is not installed there" in told


def test_a_job_that_waits_is_no_failure_and_one_that_ended_silently_is() -> None:
    nothing = ProbeResult(time=1, api_url="u", where="p", job_id="3", problem="gave no answer", waits=True)
    assert checks.from_node(nothing, HERE)[0].state == "warn"
    silent = ProbeResult(time=1, api_url="u", where="p", job_id="3", problem="ended without an answer")
    assert checks.from_node(silent, HERE)[0].state == "fail"


def test_folders_are_judged_by_what_the_node_saw(tmp_path: Path) -> None:
    wanted = {"flow file": tmp_path / "flow.py"}
    (tmp_path / "flow.py").touch()
    seen = result(place=Place(node="n1", seen={str(tmp_path / "flow.py"): True}))
    unseen = result(place=Place(node="n1", seen={str(tmp_path / "flow.py"): False}))
    assert checks.on_shared(wanted, seen, sandbox=False)[0].state == "ok"
    assert checks.on_shared(wanted, unseen, sandbox=False)[0].state == "fail"
    assert checks.on_shared(wanted, None, sandbox=True)[0].state == "ok"
    (local,) = checks.on_shared(wanted, None, sandbox=False)
    assert local.state == "warn"
    assert "--probe" in local.next


def test_the_jobs_script_holds_no_secret_and_its_options_keep_it_small() -> None:
    profile = Profile(
        name="p",
        partition="gpu",
        gres="gpu:4",
        directives=("--exclusive", "--constraint=a"),
        prologue=("module load x",),
    )
    script = probe._script(profile, "/opt/my python", Path("/s/probes/1")).decode()
    assert script.splitlines()[1] == "module load x"
    assert "'/opt/my python' -B /s/probes/1/probe_job.py /s/probes/1" in script
    options = probe._options(profile, Path("/s"))
    assert "--constraint=a" in options
    assert not any("exclusive" in option or "gres" in option for option in options)
    assert "--mem=200M" in options


@pytest.mark.parametrize("answers", [True, False])
def test_what_the_job_runs_leaves_an_answer_whatever_happens(tmp_path: Path, *, answers: bool) -> None:
    url = "http://127.0.0.1:1/api" if answers else "nonsense"
    (tmp_path / "ask.json").write_text(f'{{"api_url": "{url}", "paths": ["/", "/no/such"]}}')
    (tmp_path / "credentials").write_text("a:b")
    script = Path(probe.__file__).with_name("probe_job.py")
    done = subprocess.run(
        [sys.executable, "-B", str(script), str(tmp_path)], env={"PATH": os.environ["PATH"]}, capture_output=True,
        text=True, timeout=30, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    answer = probe._read(tmp_path / "answer.json")
    assert answer is not None
    assert answer.status is None
    assert answer.said
    assert answer.place.seen == {"/": True, "/no/such": False}
