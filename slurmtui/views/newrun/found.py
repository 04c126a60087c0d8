"""Which flow files and batch scripts there are to choose from."""

from __future__ import annotations

import itertools
import os
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from slurmtui.paths import is_readable_file, typed_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from slurmtui.models.run_record import RunRecord

MOST_FILES = 2000
_DEEPEST = 3
_LARGEST = 400_000  # bytes: no flow file is larger
_SECONDS = 2.0
_FLOW = re.compile(rb"^(@(prefect\.)?flow\b|\w+ *= *(prefect\.)?flow\()", re.MULTILINE)
_SKIPPED = frozenset({"node_modules", "__pycache__", "site-packages", "tests"})
_TEST = re.compile(r"(test_.*|.*_test|conftest)\.py")


class Candidate(NamedTuple):
    """A file that may be submitted; ``kind`` is ``flow`` or ``script``."""

    path: str
    kind: str
    changed: float
    recent: bool = False


def candidates(folders: Iterable[str], recent: Sequence[str]) -> list[Candidate]:
    """Files with a flow in them and batch scripts under ``folders``; those used recently first, then the newest.

    Reads file systems: call it in a thread. It ends after two seconds, so that a slow home directory cannot hang it.
    """
    found: dict[str, Candidate] = {}
    for path in recent:
        file = Path(path)
        if file.is_file():
            found[path] = Candidate(
                path, "script" if file.suffix != ".py" else "flow", file.stat().st_mtime, recent=True
            )
    deadline = time.monotonic() + _SECONDS
    for folder in folders:
        for file in itertools.islice(_files(typed_path(folder), deadline), MOST_FILES):
            kind = _kind(file)
            if kind and str(file) not in found:
                found[str(file)] = Candidate(str(file), kind, file.stat().st_mtime)
    order = {path: number for number, path in enumerate(recent)}
    return sorted(found.values(), key=lambda one: (not one.recent, order.get(one.path, 0), -one.changed))


def recent_files(records: Iterable[RunRecord]) -> list[str]:
    """The files of the runs submitted last."""
    newest = sorted(records, key=lambda record: -record.spec.created)
    return list(dict.fromkeys(record.spec.entrypoint.rpartition(":")[0] for record in newest))[:10]


def typed_file(text: str) -> str:
    """The file that was typed, or a flow in it (``train.py:fit``), with its whole path; "" when it is not there."""
    if not text:
        return ""
    path = typed_path(text)
    file = Path(str(path).rpartition(":")[0]) if ":" in path.name else path
    return str(path) if is_readable_file(file) else ""


def _files(folder: Path, deadline: float) -> Iterator[Path]:
    base = len(folder.parts)
    for root, folders, names in os.walk(folder):
        if time.monotonic() > deadline:
            return
        here = Path(root)
        deep = len(here.parts) - base >= _DEEPEST
        folders[:] = [] if deep else [name for name in folders if not name.startswith(".") and name not in _SKIPPED]
        for name in names:
            if name.endswith((".py", ".sh", ".sbatch", ".slurm")) and not _TEST.fullmatch(name):
                yield (here / name).absolute()


def _kind(file: Path) -> str:
    """``flow``, ``script`` or "" for a file that is neither or cannot be read."""
    try:
        if file.stat().st_size > _LARGEST:
            return ""
        text = file.read_bytes()
    except OSError:
        return ""
    if file.suffix == ".py":
        return "flow" if _FLOW.search(text) else ""
    return "script" if b"#SBATCH" in text else ""
