"""The two lists of a new run: files and profiles. Pure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from slurmtui.control.submit import NO_PROFILE
from slurmtui.models.amounts import counted
from slurmtui.models.text import visible
from slurmtui.views.format import clock
from slurmtui.widgets.columns import Column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slurmtui.models.config import Config
    from slurmtui.models.profile import Profile
    from slurmtui.views.newrun.found import Candidate
    from slurmtui.views.newrun.work import Draft
    from slurmtui.widgets.lines import Cell

NO_FILE = "No flow file found here: type a path, or name folders under  flows:  in the config"
NO_MATCH = "No file of the list has this in its path: enter takes it for the path of a file"

FILE_COLUMNS = (
    Column("file", "FILE", 0, weight=2, min_width=14, max_width=34, cut="middle", priority=100),
    Column("kind", "KIND", 7, priority=60),
    Column("changed", "CHANGED", 8, align="right", priority=50),
    Column("folder", "FOLDER", 0, weight=3, min_width=10, cut="middle", priority=80),
)
PROFILE_COLUMNS = (
    Column("profile", "PROFILE", 16, min_width=8, cut="middle", priority=100),
    Column("partition", "PARTITION", 10, priority=80),
    Column("jobs", "JOBS", 8, priority=90),
    Column("size", "EACH", 0, weight=2, min_width=20, priority=85),
    Column("time", "TIME", 11, align="right", priority=70),
)


class Listed:
    """Rows that are known beforehand."""

    def __init__(self, rows: Sequence[tuple[str, Sequence[Cell]]]) -> None:
        self._rows = rows
        self._index = {key: number for number, (key, _) in enumerate(rows)}

    def __len__(self) -> int:
        return len(self._rows)

    def key(self, index: int) -> str:
        """The key of a row."""
        return self._rows[index][0]

    def cells(self, index: int) -> Sequence[Cell]:
        """The cells of a row."""
        return self._rows[index][1]

    def row_style(self, index: int) -> str | None:
        """No row is loud."""
        del index
        return None

    def index_of(self, key: str) -> int | None:
        """Where a key is."""
        return self._index.get(key)


def files(found: Sequence[Candidate], typed: str) -> Listed:
    """The files whose path holds every word typed."""
    needles = typed.lower().split()
    rows: list[tuple[str, Sequence[Cell]]] = []
    for one in found:
        if all(needle in one.path.lower() for needle in needles):
            path = Path(one.path)
            when = "recent" if one.recent else clock(one.changed)
            cells = (visible(path.name), one.kind, (when, "dim"), (visible(str(path.parent)), "dim"))
            rows.append((one.path, cells))
    return Listed(rows)


def profiles(config: Config, draft: Draft) -> Listed:
    """The profiles; first what a flow with its own task runner, or a script, brings along itself."""
    rows = [(profile.name, _profile_cells(profile)) for profile in config.profiles.values()]
    if draft.own_words:
        rows.insert(0, (NO_PROFILE, ("as it is", "", "", (draft.own_words, "dim"), "")))
    elif draft.flow is not None:
        rows.append((NO_PROFILE, ("none", "", "", ("no jobs: the tasks run in the driver itself", "dim"), "")))
    return Listed(rows)


def _profile_cells(profile: Profile) -> Sequence[Cell]:
    jobs = f"{profile.adapt.minimum}–{profile.adapt.maximum}" if profile.adapt else str(profile.workers or 1)  # noqa: RUF001 - a range
    nodes = f", {profile.nodes} nodes" if profile.nodes > 1 else ""
    size = f"{counted(profile.cores, 'core')}, {profile.memory}{nodes} {profile.gres or ''}"
    return (visible(profile.name), visible(profile.partition or "default"), jobs, visible(size), profile.walltime)
