"""Reads the run folders: what slurmtui itself knows of its runs.

A folder that is not this user's, a link, or damaged is skipped and named in ``problems``: one broken run must not
hide the others, and nothing another user put there may be taken for a run.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from slurmtui import paths
from slurmtui.errors import RunFolderError
from slurmtui.models.run_record import (
    AttemptProfile,
    CancelRequest,
    DriverRecord,
    LaunchRecord,
    RunRecord,
    RunSpec,
    SharedUse,
    TaskPlace,
)
from slurmtui.sources.record_files import check_owner, read_facts, read_lines, read_submissions, signature

if TYPE_CHECKING:
    from pathlib import Path

    from slurmtui.sources.record_files import Signature

RUN_FILE = "run.json"
DRIVER_FILE = "driver.json"
LAUNCH_FILE = "launch.json"
SUBMISSIONS_FILE = "submissions.jsonl"
CANCEL_FILE = "cancel.json"
OVERRIDES_FILE = "overrides.json"
ATTEMPTS_FILE = "attempts.jsonl"
SHARED_FILE = "shared.json"
TASKS_FOLDER = "tasks"
_FILES = (
    RUN_FILE, DRIVER_FILE, LAUNCH_FILE, SUBMISSIONS_FILE, CANCEL_FILE, OVERRIDES_FILE, ATTEMPTS_FILE,
    SHARED_FILE,
)  # fmt: skip
_RUN_ID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")


class RunRecords(dict[str, RunRecord]):
    """Records by run id.

    Attributes:
        problems: one sentence for each folder that could not be used, and for each file in a used one that is damaged.
    """

    def __init__(self) -> None:
        super().__init__()
        self.problems: tuple[str, ...] = ()


class RunFolders:
    """Reads all run folders, and again only those in which a file has changed."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[Signature, RunRecord, tuple[str, ...]]] = {}

    def read_all(self) -> RunRecords:
        """Every run's record; never raises for a single damaged folder."""
        records = RunRecords()
        problems: list[str] = []
        kept: dict[str, tuple[Signature, RunRecord, tuple[str, ...]]] = {}
        for name in _folder_names(problems):
            folder = paths.runs_folder() / name
            try:
                entry = self._read(name, folder)
            except RunFolderError as error:
                problems.append(str(error))
                continue
            if entry is not None:
                kept[name] = entry
                records[name] = entry[1]
                problems.extend(entry[2])
        self._kept = kept
        records.problems = tuple(problems)
        return records

    def _read(self, name: str, folder: Path) -> tuple[Signature, RunRecord, tuple[str, ...]] | None:
        signed = tuple(signature(folder / file) for file in _FILES)
        known = self._kept.get(name)
        if known is not None and known[0] == signed:
            return known
        if signed[0] is None:
            check_owner(folder)
            return None  # being made at this moment, or what was left by a full disk
        record, problems = _read_folder(name, folder)
        return signed, record, problems


def is_run_id(text: str) -> bool:
    """Whether ``text`` has the form of a flow run's id."""
    return _RUN_ID.fullmatch(text) is not None


def folder_of(run_id: str) -> Path:
    """Where the folder of this run is, whether it exists or not.

    Raises:
        RunFolderError: this is no id of a run.
    """
    if not is_run_id(run_id):
        raise RunFolderError(f"{run_id!r} is no id of a flow run.")
    return paths.runs_folder() / run_id


def read_run(run_id: str) -> RunRecord | None:
    """The record of one run; None when it has no folder here.

    Raises:
        RunFolderError: the folder is damaged or not this user's.
    """
    folder = folder_of(run_id)
    return _read_folder(run_id, folder)[0] if (folder / RUN_FILE).exists() else None


def read_folder(folder: Path) -> RunRecord:
    """The record in ``folder``, wherever it is.

    Raises:
        RunFolderError: there is none, or it is damaged or not this user's.
    """
    return _read_folder(folder.name, folder)[0]


def read_all() -> RunRecords:
    """Every run's record, read afresh; ``RunFolders`` is for reading them again and again."""
    return RunFolders().read_all()


def read_driver(folder: Path) -> DriverRecord | None:
    """The record of the newest driver that began, None while there is none that can be read."""
    return read_facts(folder / DRIVER_FILE, DriverRecord, [])


def read_cancel(folder: Path) -> CancelRequest | None:
    """The request to end the run, None while there is none."""
    path = folder / CANCEL_FILE
    if not path.exists():
        return None
    found = read_facts(path, CancelRequest, [])
    # Damaged or not, somebody asked: the file's being there is the request.
    return found if found is not None else CancelRequest(time=0)


def read_attempts(folder: Path) -> tuple[DriverRecord, ...]:
    """The attempts that said that they ended, oldest first; a line cut off by a crash is left out."""
    return tuple(read_lines(folder / ATTEMPTS_FILE, DriverRecord))


def read_task_places(folder: Path) -> dict[str, TaskPlace]:
    """Where each task run has last begun, by its id; only of runs whose workers could tell."""
    found: dict[str, TaskPlace] = {}
    try:
        files = sorted((folder / TASKS_FOLDER).glob("*.jsonl"))
    except OSError:
        return found
    for file in files:
        for place in read_lines(file, TaskPlace):
            before = found.get(place.task_run_id)
            if before is None or before.time <= place.time:
                found[place.task_run_id] = place
    return found


def _folder_names(problems: list[str]) -> list[str]:
    root = paths.runs_folder()
    try:
        names = sorted(path.name for path in root.iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:
        problems.append(f"{root} cannot be read: {error.strerror}")
        return []
    strange = [name for name in names if not is_run_id(name) and not name.startswith(".")]
    problems.extend(f"{root / name} is no run folder: its name is no run id" for name in strange)
    return [name for name in names if is_run_id(name)]


def _read_folder(run_id: str, folder: Path) -> tuple[RunRecord, tuple[str, ...]]:
    check_owner(folder)
    problems: list[str] = []
    spec = read_facts(folder / RUN_FILE, RunSpec, problems)
    if spec is None:
        raise RunFolderError(problems[0] if problems else f"{folder / RUN_FILE} is missing")
    if spec.id != run_id:
        raise RunFolderError(f"{folder / RUN_FILE} is of another run ({spec.id})")
    launch = read_facts(folder / LAUNCH_FILE, LaunchRecord, problems)
    driver = read_facts(folder / DRIVER_FILE, DriverRecord, problems)
    record = RunRecord(
        spec=spec,
        folder=str(folder),
        driver=driver,
        launch=launch,
        driver_job_id=(launch.job_id if launch else None) or (driver.job_id if driver else None),
        submissions=read_submissions(folder / SUBMISSIONS_FILE, problems),
        cancel=read_cancel(folder),
        attempts=read_attempts(folder),
        shared=read_facts(folder / SHARED_FILE, SharedUse, problems),
        overrides=read_facts(folder / OVERRIDES_FILE, tuple[AttemptProfile, ...], problems) or (),
    )
    return record, tuple(problems)
