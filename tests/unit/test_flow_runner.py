"""Task runners from profiles."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import cloudpickle  # type: ignore[import-untyped]
import pytest

from slurmtui.errors import UsageError
from slurmtui.flows import slurm_runner
from slurmtui.flows.profile import changed
from slurmtui.models.profile import Adapt, Profile

if TYPE_CHECKING:
    from pathlib import Path

PROFILE = Profile(name="p", partition="batch", cores=4, processes=2, memory="8G", walltime="12:00:00", workers=3)


def arguments(*given: Any, **overrides: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the runner will make its cluster with, and how it will adapt."""
    runner = slurm_runner(*given, **overrides)
    return runner.cluster_kwargs, runner.adapt_kwargs


def test_a_fixed_number_of_jobs() -> None:
    cluster, adapt = arguments(PROFILE)
    assert cluster["jobs"] == 3
    assert adapt == {}
    assert (cluster["queue"], cluster["cores"], cluster["walltime"]) == ("batch", 4, "12:00:00")
    assert (cluster["job_mem"], cluster["memory"]) == ("8G", "8192MiB"), "SLURM's gibibytes are not Dask's gigabytes"
    assert cluster["scheduler_options"] == {"dashboard_address": ":0"}
    assert cluster["security"] is True


def test_workers_end_before_slurm_ends_them() -> None:
    cluster, _ = arguments(PROFILE)
    assert cluster["worker_extra_args"] == ["--lifetime", "42900s", "--lifetime-stagger", "240s"]
    assert arguments(PROFILE, walltime="00:01:00")[0]["worker_extra_args"] == [], "too short for it"


def test_an_adaptive_profile_counts_jobs() -> None:
    cluster, adapt = arguments(PROFILE, adapt={"maximum": 10})
    assert "jobs" not in cluster
    assert adapt == {"minimum_jobs": 0, "maximum_jobs": 10}


def test_overrides() -> None:
    cluster, _ = arguments(PROFILE, tls=False, gres="gpu:2", death_timeout=5, worker_extra_args=["--no-dashboard"],
                           scheduler_options={"interface": "ib0"})  # fmt: skip
    assert "security" not in cluster
    assert cluster["job_extra_directives"] == ["--gres=gpu:2"]
    assert cluster["death_timeout"] == 5
    assert cluster["worker_extra_args"][-1] == "--no-dashboard"
    assert cluster["scheduler_options"] == {"dashboard_address": ":0", "interface": "ib0"}


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ({"memry": "4G"}, "slurm_runner has no argument 'memry'; did you mean 'memory'?"),
        ({"workers": "three"}, "profile 'p': .*workers"),
        ({"memory": "plenty"}, "memory: 'plenty' is no memory"),
    ],
)
def test_overrides_that_do_not_fit(overrides: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        slurm_runner(PROFILE, **overrides)


def test_workers_and_adapt_replace_each_other() -> None:
    adaptive = changed(PROFILE, {"adapt": {"maximum": 4}})
    assert (adaptive.workers, adaptive.adapt) == (None, Adapt(maximum=4))
    fixed = changed(adaptive, {"workers": 2})
    assert (fixed.workers, fixed.adapt) == (2, None)


def test_a_profile_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("profiles:\n  gpu: {partition: gpu, memory: 4G, walltime: '01:00:00'}\n")
    monkeypatch.setenv("SLURMTUI_CONFIG", str(file))
    monkeypatch.delenv("SLURMTUI_RUN_FOLDER", raising=False)
    assert arguments("gpu")[0]["queue"] == "gpu"
    with pytest.raises(UsageError, match=r"There is no profile 'gpo'.*did you mean 'gpu'"):
        slurm_runner("gpo")


def test_workers_need_not_have_slurmtui(tmp_path: Path) -> None:
    """A flow with a profile's task runner is unpickled where slurmtui cannot be imported."""
    pickled = tmp_path / "runner"
    pickled.write_bytes(cloudpickle.dumps(slurm_runner(PROFILE)))
    code = (
        "import sys; sys.modules['slurmtui'] = None\nimport cloudpickle\n"
        f"runner = cloudpickle.load(open({str(pickled)!r}, 'rb'))\nprint(runner.cluster_class.__name__)"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "slurm_cluster", done.stderr


def test_importing_the_package_costs_nothing() -> None:
    code = "import sys, slurmtui.flows; print(sorted({'prefect', 'dask', 'distributed', 'httpx'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
