"""Where the panes of the Logs view lie: which there are, how they share the room, and that they are remembered."""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import TYPE_CHECKING, cast

from textual.containers import Container
from textual.content import Content

from slurmtui.models.text import visible
from slurmtui.store import log_panes
from slurmtui.store.log_open import jobs_key, open_key
from slurmtui.store.log_panes import Box, Leaf, Tree
from slurmtui.views.logs.filling import FIRST_LINES
from slurmtui.views.logs.pane import LogPane
from slurmtui.widgets.beside import start

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from textual.app import RenderResult

    from slurmtui.app import SlurmtuiApp
    from slurmtui.store.log_document import LogDocument
    from slurmtui.store.snapshot import Snapshot

_EMPTY = (
    "No log is open here.\n\n| and - ask for one: the name of a run, the number of a job or of an array, or a path.\n"
    "In the lists of runs and jobs they bring the log of the row under the cursor here, beside or below the others;\n"
    "l there with several rows marked (space) brings all of them at once."
)
_LARGEST = 1 << 18

_log = logging.getLogger(__name__)


class Area(Container):
    """The panes.

    Args:
        changed: told when there are other panes, or other sizes.

    Attributes:
        plan: how they lie.
        panes: by number.
        zoomed: one has the whole area.
        restored: the panes are back as they were left, if there were any.
    """

    DEFAULT_CSS = """
    Area {
        height: 1fr;
        content-align: center middle;
        text-align: center;
        color: $foreground-muted;
        & > LogPane { position: absolute; }
    }
    """

    def __init__(self, changed: Callable[[], None], *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self.plan: Tree | None = None
        self.panes: dict[int, LogPane] = {}
        self.zoomed = False
        self.restored = False
        self._restoring = asyncio.Lock()
        self._changed = changed
        self._begun: dict[int, LogDocument] = {}  # logs of panes that are being made

    def render(self) -> RenderResult:
        """How logs come here, while there is none."""
        return super().render() if self.panes else Content(_EMPTY)

    @property
    def console(self) -> SlurmtuiApp:
        """The app, typed."""
        return cast("SlurmtuiApp", self.app)

    @property
    def current(self) -> LogPane | None:
        """The pane that has the focus, else the first."""
        focused = self.screen.focused
        if isinstance(focused, LogPane):
            return focused
        return next(iter(self.panes.values()), None)

    @property
    def _number(self) -> int | None:
        """The number of the current pane."""
        current = self.current
        return next((number for number, pane in self.panes.items() if pane is current), None)

    # --- as it was left

    async def restore(self) -> None:
        """The panes as they were left; once."""
        async with self._restoring:
            if self.restored:
                return
            file = self.console.keeper.panes_file
            try:
                data = await asyncio.to_thread(_read, file)
            except OSError as error:
                _log.warning("the panes cannot be read from %s: %s", file, error)
                data = b""
            self.restored = True
            if data:
                self.show(log_panes.decode(data))

    # --- which panes

    def show_all(self, keys: list[str]) -> None:
        """These logs and no others: a pane for each, or one for all when those would be too small."""
        width, height = self.size if self.size.width else (self.screen.size.width, self.screen.size.height - 4)
        tree = log_panes.tiled(keys, width, height)
        if tree is None and all(key.startswith(("job:", "jobs:")) for key in keys):
            self.console.tell(f"{len(keys)} panes do not fit on this screen: their logs are shown as one")
            tree = Leaf(1, jobs_key([key.partition(":")[2] for key in keys]))
        elif tree is None:
            fits = next((count for count in range(len(keys), 1, -1) if log_panes.tiled(keys[:count], width, height)), 1)
            self.console.tell(f"{len(keys)} panes do not fit on this screen: the first {fits} are shown")
            tree = log_panes.tiled(keys[:fits], width, height) or Leaf(1, keys[0])
        self.show(tree)

    def add(self, key: str, *, across: bool) -> None:
        """One more, beside the current one or below it."""
        number = max(self.panes, default=0) + 1
        self.show(log_panes.insert(self.plan, self._number or 0, Leaf(number, key), across=across), focus=number)

    def close_current(self) -> None:
        """Close the current pane."""
        if self._number is not None:
            self.show(log_panes.remove(self.plan, self._number))

    def resize(self, step: int) -> None:
        """Give the current pane more room, or less."""
        if len(self.panes) < 2:
            self.console.tell("There is one pane only, and it has the whole room: | and - open more")
        elif self.plan is not None and self._number is not None:
            self.show(log_panes.resize(self.plan, self._number, step))

    def show(self, tree: Tree | None, focus: int | None = None) -> None:
        """Have these panes, and no others."""
        self.plan, self.zoomed = tree, False
        wanted = {leaf.number: leaf.key for leaf in log_panes.leaves(tree)}
        for number in [number for number, pane in self.panes.items() if wanted.get(number) != pane.name]:
            pane = self.panes.pop(number)
            begun = self._begun.pop(number, None)
            if begun is not None:
                begun.close()
            pane.shut()
            pane.remove()
        new = {number: LogPane(name=key) for number, key in wanted.items() if number not in self.panes}
        self.panes.update(new)
        for number in new:  # they are read while the panes are made
            document = self._document_of(wanted[number])
            if document is not None:
                document.begin(FIRST_LINES)
                self._begun[number] = document
        self.refresh()
        start(self, partial(self._place, list(new.values()), focus), "place")
        self.console.keeper.remember_panes(tree)

    async def _place(self, new: list[LogPane], focus: int | None) -> None:
        if new:
            await self.mount_all(new)
        self.settle(focus)

    # --- where they lie

    def settle(self, focus: int | None = None) -> None:
        """Give every pane its place, and one the focus."""
        self.lay_out()
        self.open_waiting()
        pane = self.panes.get(focus) if focus is not None else None
        if pane is None and self.screen.focused not in self.panes.values():
            pane = next(iter(self.panes.values()), None)
        if pane is not None and pane.is_attached:
            self.call_after_refresh(pane.focus)  # what closes meanwhile gives its focus to somebody
        self._changed()

    def lay_out(self) -> None:
        """Give each pane its place."""
        whole = Box(0, 0, self.size.width, self.size.height)
        zoomed = self.current if self.zoomed else None
        for number, box in log_panes.boxes(self.plan, whole).items():
            pane = self.panes.get(number)
            if pane is None:
                continue
            box = whole if pane is zoomed else box  # noqa: PLW2901 - the whole screen instead
            pane.display = zoomed in {None, pane} and bool(box.width and box.height)
            pane.styles.offset = (box.x, box.y)
            pane.styles.width, pane.styles.height = box.width, box.height

    def zoom(self) -> None:
        """Give the current pane the whole area, or the others their places again."""
        self.zoomed = not self.zoomed
        self.lay_out()
        self._changed()

    def next_pane(self) -> None:
        """The focus to the next pane."""
        order = [self.panes[leaf.number] for leaf in log_panes.leaves(self.plan) if leaf.number in self.panes]
        if len(order) < 2:
            self.console.tell("There is one pane only: | and - open more" if order else "No log is open here")
            return
        here = order.index(self.current) if self.current in order else -1
        following = order[(here + 1) % len(order)]
        following.display = True  # it may be behind one that has the whole area
        following.focus()
        self.call_after_refresh(self.lay_out)

    # --- their logs

    def open_waiting(self) -> None:
        """Open the logs of panes that wait for their run to be known."""
        for leaf in log_panes.leaves(self.plan):
            pane = self.panes.get(leaf.number)
            if pane is None or pane.log_key or not pane.is_attached:
                continue
            document = self._begun.pop(leaf.number, None) or self._document_of(leaf.key)
            if document is not None:
                pane.open_document(leaf.key, document)
            else:
                pane.title = visible(leaf.key)
                pane.empty_text = "Prefect has not told of this run yet, or it is older than the runs that are shown."

    def _document_of(self, key: str) -> LogDocument | None:
        snapshot = self.console.store.snapshot
        return open_key(self.console.session, snapshot, key, _name_of(key, snapshot))


def _name_of(key: str, snapshot: Snapshot) -> str:
    kind, _, what = key.partition(":")
    table = snapshot.queue.data
    number = table.index(what) if kind == "job" else None
    return f"job {what} {table.text(number, 'name')}" if number is not None else ""


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(_LARGEST)
    except FileNotFoundError:
        return b""
