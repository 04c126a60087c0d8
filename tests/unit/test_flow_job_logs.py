"""Where the logs of a run's jobs go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slurmtui.flows.job_logs import make_folder

if TYPE_CHECKING:
    from pathlib import Path


def test_a_profiles_log_directory_is_linked_to_as_the_configuration_gives_it(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    named = tmp_path / "~logs of $HOME"
    make_folder(run, str(named), "train-5d1f0b6a")
    assert (run / "jobs").readlink() == named / "train-5d1f0b6a"
    assert (run / "jobs").is_dir()
    make_folder(run, str(tmp_path / "another"), "train-5d1f0b6a")
    assert (run / "jobs").readlink() == named / "train-5d1f0b6a", "logs of an earlier attempt stay where they are"


def test_without_one_or_when_it_cannot_be_made_the_logs_stay_in_the_runs_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for name, named in (("without", None), ("impossible", str(tmp_path / "file"))):
        run = tmp_path / name
        run.mkdir()
        make_folder(run, named, "train-5d1f0b6a")
        assert (run / "jobs").is_dir()
        assert not (run / "jobs").is_symlink()
