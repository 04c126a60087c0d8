"""How each view was left, and the filters that were given a name: one small file a cluster.

What cannot be read is as if it had never been written: a damaged file costs the person a filter, never the console.
Two consoles of one user may write it; each writes what it changed, on top of what stands there.
"""

from __future__ import annotations

import logging
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from slurmtui import paths
from slurmtui.atomic import write_private

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_USUAL_CONF = ("/etc/slurm/slurm.conf", "/run/slurm/conf/slurm.conf", "/etc/slurm-llnl/slurm.conf")
_CLUSTER = re.compile(rb"^\s*ClusterName\s*=\s*(\S+)", re.IGNORECASE | re.MULTILINE)
_LARGEST = 1 << 20
_MOST_FILTERS = 200
_LONGEST_FILTER = 2000

_log = logging.getLogger(__name__)


class ViewState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a view was left. Columns are by key; those that do not exist (any more) are passed over when it is shown."""

    filter: str = ""
    sort: tuple[str, bool] | None = None
    columns: tuple[str, ...] = ()
    widths: dict[str, int] = {}
    wide: bool = False
    wrong: bool = False
    everyone: bool = False


def cluster_name(environment: Mapping[str, str], label: str = "") -> str:
    """A name for the cluster without asking it: ``label``, else what the configuration file says, else its path."""
    named = environment.get("SLURM_CONF") or os.environ.get("SLURM_CONF")
    for place in (named,) if named else _USUAL_CONF:
        try:
            with Path(place).open("rb") as stream:
                match = _CLUSTER.search(stream.read(_LARGEST))
        except OSError:
            continue
        if match is not None:
            return match[1].decode("utf-8", "replace")
    return label or "slurm"


class ViewMemory:
    """What the views of one cluster remember."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.last_view = ""
        self._views: dict[str, ViewState] = {}
        self._filters: dict[str, dict[str, str]] = {}
        self._changed: set[str] = set()
        self._read()

    @classmethod
    def of(cls, cluster: str) -> ViewMemory:
        """The memory of a cluster by its name."""
        safe = re.sub(r"[^\w.-]", "_", cluster)[:100].strip(".") or "slurm"
        return cls(paths.state_folder() / "views" / f"{safe}.json")

    # --- what is remembered

    def view(self, place: str) -> ViewState:
        """How a view was left."""
        return self._views.get(place, ViewState())

    def keep(self, place: str, state: ViewState) -> None:
        """Remember how a view is; ``save`` writes it."""
        if self._views.get(place, ViewState()) != state:
            self._views[place] = state
            self._changed.add(f"view {place}")

    def keep_last(self, place: str) -> None:
        """Remember the view that is shown."""
        if place != self.last_view:
            self.last_view = place
            self._changed.add("last")

    def filters(self, place: str) -> dict[str, str]:
        """The filters of a view that have a name."""
        return dict(sorted(self._filters.get(place, {}).items()))

    def keep_filter(self, place: str, name: str, text: str) -> bool:
        """Give a filter a name, or (without a text) forget it; False when there is none of this name to forget."""
        named = self._filters.setdefault(place, {})
        if not text and name not in named:
            return False
        if text:
            named[name] = text
        else:
            del named[name]
        self._changed.add(f"filter {place} {name}")
        return True

    # --- the file

    @property
    def dirty(self) -> bool:
        """Whether something is not written yet."""
        return bool(self._changed)

    def save(self) -> None:
        """Write what has changed: it reads the file, and waits for the disk, so not in the event loop. One at a time.

        Raises:
            OSError: it cannot be written; it is tried again with the next change.
        """
        changed = tuple(self._changed)
        self._changed.difference_update(changed)  # before it is read: what changes while it is written is news again
        try:
            self._write(changed)
        except BaseException:
            self._changed.update(changed)
            raise

    def _write(self, changed: Iterable[str]) -> None:
        stands = ViewMemory(self.path)
        for what in changed:
            kind, _, rest = what.partition(" ")
            if kind == "last":
                stands.last_view = self.last_view
            elif kind == "view":
                stands._views[rest] = self._views[rest]
            elif kind == "filter":
                place, _, name = rest.partition(" ")
                text = self._filters.get(place, {}).get(name, "")
                stands.keep_filter(place, name, text)
        write_private(self.path, msgspec.json.format(msgspec.json.encode(stands._content())))

    def _content(self) -> dict[str, Any]:
        return {
            "last_view": self.last_view,
            "views": {place: msgspec.to_builtins(state) for place, state in sorted(self._views.items())},
            "filters": {place: self.filters(place) for place in sorted(self._filters)},
        }

    def _read(self) -> None:
        try:
            with self.path.open("rb") as stream:
                found = msgspec.json.decode(stream.read(_LARGEST))
        except FileNotFoundError:
            return
        except (OSError, ValueError, RecursionError) as error:
            _log.warning("how the views were left cannot be read from %s: %s", self.path, error)
            return
        if not isinstance(found, dict):
            return
        last = found.get("last_view")
        self.last_view = last if isinstance(last, str) else ""
        for place, raw in _entries(found.get("views")):
            self._views[place] = _view_state(raw)
        for place, named in _entries(found.get("filters")):
            kept = [(name, text) for name, text in _entries(named) if isinstance(text, str)]
            self._filters[place] = {name: text[:_LONGEST_FILTER] for name, text in kept[:_MOST_FILTERS]}


def _entries(raw: object) -> list[tuple[str, Any]]:
    return [(key, value) for key, value in raw.items() if isinstance(key, str)] if isinstance(raw, dict) else []


def _view_state(raw: object) -> ViewState:
    """What can be understood of a view's part of the file, field by field."""
    kept: dict[str, Any] = {}
    for field in msgspec.structs.fields(ViewState):
        for name, value in _entries(raw):
            if name == field.name:
                try:
                    kept[name] = msgspec.convert(value, field.type)
                except (msgspec.ValidationError, RecursionError) as error:
                    _log.info("the %s of a view was not understood: %s", name, error)
    return ViewState(**kept)
