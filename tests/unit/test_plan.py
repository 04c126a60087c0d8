"""From a profile to the options of sbatch, and SLURM's answer to them in words."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from slurmtui.control.plan import check_jobs, driver_options, sbatch_options
from slurmtui.errors import CommandError, Refused
from slurmtui.models.cluster import Partition
from slurmtui.models.config import Config
from slurmtui.models.profile import Profile
from slurmtui.models.run_record import RunSpec
from slurmtui.models.values import Special
from slurmtui.sources.exec import Runner
from tests.unit.programs import put_shell

if TYPE_CHECKING:
    from pathlib import Path

GPU = Profile(
    name="gpu", partition="gpu", account="lab", qos="high", cores=4, memory="16G", walltime="1-00:00:00", nodes=2,
    gres="gpu:a100:1", directives=("--constraint=fast", "--mem-bind=local"), skip_directives=("--qos",),
    prologue=("module load cuda",),
)  # fmt: skip


class Cluster:
    """Partitions, or SLURM's silence."""

    def __init__(self, *partitions: Partition, silent: bool = False) -> None:
        self._partitions, self._silent = partitions, silent

    async def partitions(self) -> tuple[Partition, ...]:
        if self._silent:
            raise CommandError("no answer", argv=("sinfo",), code=1)
        return self._partitions


def session(config: Config, *partitions: Partition, silent: bool = False) -> Any:
    return SimpleNamespace(config=config, slurm=Cluster(*partitions, silent=silent), runner=Runner())


def spec(profile: Profile | None) -> RunSpec:
    return RunSpec(
        id="i", name="n", flow_name="f", entrypoint="/a.py:f", profile=profile, job_name="f-1234", comment="slurmtui:i"
    )


def test_every_wish_of_a_profile_is_an_option_except_those_to_skip() -> None:
    assert sbatch_options(GPU) == (
        "--partition=gpu", "--account=lab", "--nodes=2", "--cpus-per-task=4", "--mem=16G", "--time=1-00:00:00",
        "--gres=gpu:a100:1", "--constraint=fast", "--mem-bind=local",
    )  # fmt: skip


async def test_a_driver_job_is_small_goes_where_the_run_goes_and_lasts_as_long_as_it_may() -> None:
    options, prologue = await driver_options(session(Config(), Partition(name="gpu", max_time=3600)), spec(GPU))
    assert {"--partition=gpu", "--account=lab", "--cpus-per-task=1", "--time=60"} <= set(options)
    assert {"--job-name=f-1234", "--comment=slurmtui:i"} <= set(options)
    assert not any(option.startswith("--gres") for option in options)
    assert prologue == ("module load cuda",)
    options, _ = await driver_options(session(Config(), Partition(name="gpu", max_time=Special.UNLIMITED)), spec(GPU))
    assert "--time=2880" in options
    options, _ = await driver_options(session(Config(), silent=True), spec(GPU))
    assert not any(option.startswith("--time") for option in options)
    options, _ = await driver_options(session(Config(), Partition(name="d", default=True, max_time=600)), spec(None))
    assert "--time=10" in options


async def test_the_driver_profile_of_the_configuration_goes_first() -> None:
    config = Config(
        profiles={"service": Profile(name="service", partition="long", memory="4G")}, driver_profile="service"
    )
    options, _ = await driver_options(session(config), spec(GPU))
    assert {"--partition=long", "--mem=4G", "--time=00:30:00", "--job-name=f-1234"} <= set(options)
    assert not any("gpu" in option for option in options)


def fake_sbatch(folder: Path, body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    put_shell(folder / "sbatch", body)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


async def test_slurms_own_words_say_why_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_sbatch(tmp_path, "echo 'sbatch: error: Invalid account \033[31m' >&2; exit 1", monkeypatch)
    with pytest.raises(Refused, match=r"profile 'gpu': .*Invalid account.*Nothing was created") as caught:
        await check_jobs(session(Config()), GPU)
    assert "\033" not in str(caught.value)


async def test_a_controller_that_is_down_refuses_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)"
    fake_sbatch(tmp_path, f"echo '{words}' >&2; exit 1", monkeypatch)
    with pytest.raises(Refused, match="Unable to contact slurm controller"):
        await check_jobs(session(Config()), GPU)
    (tmp_path / "sbatch").unlink()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Refused, match=r"sbatch.*Nothing was created"):
        await check_jobs(session(Config()), GPU)


async def test_what_slurm_would_take_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_sbatch(
        tmp_path,
        f'echo "$@" >{tmp_path}/asked; echo \'sbatch: Job 5 to start at 2026-01-01T00:00:00 using 1 processors '
        "on nodes n1 in partition gpu' >&2",
        monkeypatch,
    )
    await check_jobs(session(Config()), GPU)
    assert (tmp_path / "asked").read_text().split()[:2] == ["--test-only", "--partition=gpu"]
