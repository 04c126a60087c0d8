"""What lies about in the state folder: found, and put aside or removed when a person says so.

Only what is proved to be nobody's any more counts: a lock whose holder is gone, the keys of a cluster whose driver is
gone, a folder that was never finished. Folders are moved into ``aside``, never deleted.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import time
from pathlib import Path
from typing import TYPE_CHECKING

from slurmtui import paths
from slurmtui.control import server
from slurmtui.control.run_lock import LOCK_FILE, break_stale, is_stale
from slurmtui.errors import RunFolderError
from slurmtui.models.rescue import Leftover
from slurmtui.models.run_record import DriverStatus, RunRecord
from slurmtui.sources.processes import SILENCE, driver_status, is_here, newest_start, orphans, silence
from slurmtui.sources.run_folder import RUN_FILE, is_run_id, read_run

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

OLD_DAYS = 30.0
_DAY = 86400.0
_HALF_MADE_SECONDS = 600.0
_TLS_QUIET_SECONDS = 3600.0


def find_leftovers(
    records: Mapping[str, RunRecord],
    active_runs: Collection[str] | None,
    *,
    days: float = OLD_DAYS,
    now: float | None = None,
) -> tuple[Leftover, ...]:
    """Everything that lies about.

    Args:
        records: the run folders.
        active_runs: runs that have jobs in the queue, or that Prefect holds for active; None when that is not known,
            and then no folder counts as old.
        days: so old a run's folder may be.
        now: seconds since the epoch, for tests.
    """
    moment = time.time() if now is None else now
    return (
        *_server(),
        *_locks(),
        *_half_made(moment),
        *_certificates(records, moment),
        *(_old_folders(records, active_runs, moment - days * _DAY) if active_runs is not None else ()),
    )


def put_aside(path: Path) -> Path:
    """Move a file or folder of the state folder into ``aside``; where it is now.

    Raises:
        RunFolderError: it is not in the state folder, or cannot be moved.
    """
    _check_inside(path)
    target = paths.state_folder() / "aside" / f"{path.name}-{time.strftime('%Y%m%d-%H%M%S')}"
    try:
        paths.private_folder(target.parent)
        number = 0
        while target.exists():
            number += 1
            target = target.with_name(f"{target.name}.{number}")
        path.rename(target)
    except OSError as error:
        raise RunFolderError(f"{path} cannot be put aside: {error.strerror}.") from error
    return target


def remove(path: Path) -> bool:
    """Remove a stale lock or a folder of certificates; False for a lock that is stale no more.

    Raises:
        Refused: other consoles take and break the lock in this moment.
        RunFolderError: it is not in the state folder, or it cannot be removed.
    """
    _check_inside(path)
    try:
        if not stat.S_ISDIR(path.lstat().st_mode):
            return break_stale(path)
        shutil.rmtree(path)
    except FileNotFoundError:
        return True
    except OSError as error:
        raise RunFolderError(f"{path} cannot be removed: {error.strerror}.") from error
    return True


def still_left(leftover_kind: str, path: Path) -> bool:
    """Whether what was found to lie about still does, looked at just before it is touched."""
    if leftover_kind == "stale-lock":
        return is_stale(path)
    if leftover_kind == "tls-files":
        run_id = path.parent.name
        return path.parent == paths.state_folder() or not is_run_id(run_id) or _record_is_dead(run_id)
    if leftover_kind == "half-made-folder":
        return path.is_dir() and not (path / RUN_FILE).exists()
    return not is_run_id(path.name) or _record_is_dead(path.name)


def _check_inside(path: Path) -> None:
    state = paths.state_folder().resolve()
    if path.is_symlink() or (state not in path.parent.resolve().parents and path.parent.resolve() != state):
        raise RunFolderError(f"{path} is not in the state folder {state}; it is left alone.")


def is_dead(record: RunRecord) -> bool:
    """Whether it is proved that no process of the run lives; of a driver that is a job its long silence is proof."""
    return _driver_is_dead(record) and not orphans(record)


def _driver_is_dead(record: RunRecord) -> bool:
    status = driver_status(record, ())
    if status is DriverStatus.ELSEWHERE or (status is DriverStatus.GONE and record.driver_job_id is not None):
        return silence(record) > SILENCE
    return status.dead


def _record_is_dead(run_id: str) -> bool:
    try:
        record = read_run(run_id)
    except RunFolderError:
        return False
    return record is None or is_dead(record)


def _server() -> Iterator[Leftover]:
    status = server.status(seconds=1.0)
    if status.state == "crashed" and status.record is not None:
        yield Leftover(
            kind="dead-server", paths=(status.record.log,), why=status.text, moment=_written(Path(status.record.log))
        )


def _locks() -> Iterator[Leftover]:
    for path in (*_children(paths.runs_folder(), f"*/{LOCK_FILE}"), *_children(paths.state_folder() / "locks", "*")):
        if not is_stale(path):
            continue
        in_run = path.name == LOCK_FILE
        run_id = path.parent.name if in_run else path.stem
        why = "The console that held it is gone; it would be broken by itself by the next one that acts on the run."
        yield Leftover(kind="stale-lock", paths=(str(path),), why=why, run_id=run_id, moment=_written(path))


def _half_made(now: float) -> Iterator[Leftover]:
    for folder in _children(paths.runs_folder(), "*"):
        if not is_run_id(folder.name) or folder.is_symlink() or not folder.is_dir() or (folder / RUN_FILE).exists():
            continue
        if now - _written(folder) > _HALF_MADE_SECONDS:
            why = f"It has no {RUN_FILE}: the disk was full, or who made it was killed."
            yield Leftover(
                kind="half-made-folder", paths=(str(folder),), why=why, run_id=folder.name, moment=_written(folder)
            )


def _certificates(records: Mapping[str, RunRecord], now: float) -> Iterator[Leftover]:
    for run_id, record in records.items():
        folder = Path(record.folder) / "tls"
        if folder.is_dir() and is_dead(record) and newest_start(record) is not None and _is_here(record):
            why = "The driver that made them is gone; they are readable by you alone."
            yield Leftover(kind="tls-files", paths=(str(folder),), why=why, run_id=run_id, moment=_written(folder))
    # Of flows run by hand: nothing names who made them, so they must have been quiet for longer than any worker lives.
    loose = [path for path in _children(paths.state_folder() / "tls", "run-*") if now - _written(path) > 7 * 24 * 3600]
    if loose:
        why = "They were made more than a week ago by flows run by hand."
        yield Leftover(kind="tls-files", paths=tuple(map(str, loose)), why=why, moment=max(map(_written, loose)))


def _is_here(record: RunRecord) -> bool:
    newest = newest_start(record)
    return newest is not None and (is_here(newest.host) or silence(record) > _TLS_QUIET_SECONDS)


def _old_folders(records: Mapping[str, RunRecord], active: Collection[str], before: float) -> Iterator[Leftover]:
    old = [
        record
        for run_id, record in records.items()
        if run_id not in active and _last_moment(record) < before and _driver_is_dead(record)
    ]
    if old:
        days = round((time.time() - before) / _DAY)
        why = f"Their runs ended more than {days} days ago; kept results lie elsewhere and stay, a retry would not find"
        yield Leftover(
            kind="old-folders",
            paths=tuple(record.folder for record in old),
            why=f"{why} its run folder any more.",
            moment=max(map(_last_moment, old)),
        )


def _last_moment(record: RunRecord) -> float:
    times = [record.spec.created, *(entry.time for entry in record.submissions)]
    if record.launch is not None:
        times.append(record.launch.time)
    if record.driver is not None:
        times += [record.driver.started, record.driver.ended or 0]
    return max(times)


def _children(folder: Path, pattern: str) -> tuple[Path, ...]:
    with contextlib.suppress(OSError):
        return tuple(sorted(path for path in folder.glob(pattern) if path.lstat().st_uid == os.getuid()))
    return ()


def _written(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
