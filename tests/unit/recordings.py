"""What real SLURMs of several versions told (tests/data/slurm; record.py and record_cluster.py made it)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slurmtui.sources.exec import Finished
from tests.records import laid_out_anew

if TYPE_CHECKING:
    from collections.abc import Collection

    from slurmtui.models.records import Layout

_DATA = Path(__file__).parent.parent / "data" / "slurm"


def versions_with(name: str) -> list[str]:
    """The versions of which there is a recording of that name."""
    return sorted(folder.name for folder in _DATA.iterdir() if (folder / name).exists())


class Recorded:
    """What one version told. ``words`` is the file of what it said when something was wrong."""

    def __init__(self, version: str, words: str) -> None:
        self.version = version
        self.folder = _DATA / version
        self._words: dict[str, Any] = json.loads(self.read(words))

    def read(self, name: str) -> str:
        """A recording as text."""
        return (self.folder / name).read_text()

    def laid_out(
        self, name: str, layout: Layout, data: bytes | None = None, *, may_lack: Collection[str] = ()
    ) -> bytes:
        """The records of ``name`` (or of those a part, ``data``) as they would be asked for today."""
        raw = (self.folder / f"{name}.out").read_bytes() if data is None else data
        return laid_out_anew(layout, raw, self.read(f"{name}.format"), may_lack=may_lack)

    def said(self, case: str) -> Finished:
        """How a command ended, and in which words."""
        answer = self._words[case]
        return Finished(tuple(answer["argv"]), answer["code"], answer["stdout"].encode(), answer["stderr"].strip(), 0)
