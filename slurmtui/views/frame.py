"""The frame of every view: header, tabs, table, pane, prompt and key line, and how they are painted.

A view says what its rows are (``rebuild``), what is under the cursor (``context``) and what its panes show. It keeps no
facts: it is a function of the snapshot that the app hands it. What its keys do is in ``base``.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, cast

from textual.containers import Horizontal
from textual.reactive import Reactive
from textual.screen import Screen

from slurmtui.store.query import Filter
from slurmtui.store.view_state import ViewState
from slurmtui.views import header
from slurmtui.views.lines import tab_line
from slurmtui.views.panes import Pane
from slurmtui.widgets.bar import Bar
from slurmtui.widgets.prompt import Prompt
from slurmtui.widgets.virtual_table import VirtualTable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual.app import ComposeResult
    from textual.widget import Widget

    from slurmtui.actions.model import Context
    from slurmtui.app import SlurmtuiApp
    from slurmtui.store.log_live import Live as LogSource
    from slurmtui.store.snapshot import Snapshot
    from slurmtui.widgets.bar import Piece
    from slurmtui.widgets.columns import Column

FILTERED: dict[str, Literal["jobs", "runs"]] = {"runs": "runs", "jobs": "jobs"}
"""The filter language of each view."""

SEEK_SECONDS = 20.0
"""How long a row that is not there yet (a run just submitted) is waited for."""
_LOW = 10
"""Lines of a terminal below which the rows need the complaint's; the header has a sign for it."""
PATIENCE = 3.0
"""After so many seconds it is said that the row is not there."""


class FrameScreen(Screen[None]):
    """The lines of a view and its hooks."""

    PLACE: ClassVar[str] = ""
    focused: Reactive[Widget | None] = Reactive(None, repaint=False)
    """As in every screen, but for painting all of it again: those whose focus comes or goes paint themselves."""
    AUTO_FOCUS = "#table"
    CSS_PATH = str(Path(__file__).with_name("base.tcss"))  # absolute: subclasses live in other folders

    def __init__(self) -> None:
        super().__init__()
        self.filter = Filter(FILTERED.get(self.PLACE))
        self.wrong = False
        self.bar_left, self.bar_right = Bar(id="left"), Bar(id="right")
        self.tabs, self.keys, self.complaint = Bar(id="tabs"), Bar(id="keys"), Bar(id="complaint")
        self.table = VirtualTable(self.columns_for(0), id="table")
        self.pane = Pane()
        self.detail = self.pane.detail
        self.prompt = Prompt(covers=self.keys, entered=self.entered, abandoned=self.abandoned, id="prompt")
        self._sought: tuple[str, float] = ("", 0)  # a row to go to as soon as it is there, and until when

    @property
    def console(self) -> SlurmtuiApp:
        """The app, typed."""
        return cast("SlurmtuiApp", self.app)

    @property
    def snapshot(self) -> Snapshot:
        """What is known now."""
        return self.console.store.snapshot

    def compose(self) -> ComposeResult:
        """One header line, one line of tabs, the list, the pane, one line of keys."""
        with Horizontal(id="header"):
            yield self.bar_left
            yield self.bar_right
        yield self.tabs
        yield self.complaint
        yield from self.body()
        yield self.prompt
        yield self.keys

    def body(self) -> Iterator[Widget]:
        """What lies between the tabs and the keys."""
        yield self.table
        yield self.pane

    # --- what a view adds

    def columns_for(self, width: int) -> tuple[Column, ...]:
        """The table's columns for a terminal of this width."""
        raise NotImplementedError

    @property
    def sorted_by(self) -> tuple[str, bool] | None:
        """The column the rows are sorted by, and whether the largest comes first."""
        return None

    def rebuild(self, snapshot: Snapshot) -> None:
        """Give the table its rows."""
        raise NotImplementedError

    def context(self) -> Context:
        """What is under the cursor and marked, now."""
        raise NotImplementedError

    def detail_lines(self) -> list[list[Piece]]:
        """The detail of the row under the cursor."""
        raise NotImplementedError

    def log_source(self) -> tuple[str, str, LogSource] | None:
        """Key, name and source of the log of the row under the cursor."""
        raise NotImplementedError

    def entered(self, purpose: str, text: str) -> None:
        """Something was typed at the prompt."""
        raise NotImplementedError

    def abandoned(self, purpose: str, before: str) -> None:
        """The prompt was left; ``before`` stood in it when it was opened."""
        raise NotImplementedError

    def tab_words(self, snapshot: Snapshot) -> str:
        """What stands at the right of the tab line."""
        raise NotImplementedError

    # --- how it was left

    def left_as(self) -> ViewState:
        """What is remembered of the view until the console is opened again."""
        return ViewState(filter=self.filter.text, wrong=self.wrong)

    def restore(self, state: ViewState) -> None:
        """Show the view as it was left; what is no longer understood is passed over."""
        self.filter.set(state.filter)
        self.wrong = state.wrong

    def on_mount(self) -> None:
        """As it was left."""
        self.filter.refused = lambda: self.call_later(self._tell_refusal)  # by a thread, it may be
        self.restore(self.console.keeper.memory.view(self.PLACE))

    def changed(self) -> None:
        """Something that is remembered was changed by the person: show it."""
        self.console.keeper.remember(self.PLACE, self.left_as())
        self.rebuild(self.snapshot)
        self.paint_lines()

    def _tell_refusal(self) -> None:
        """The filter takes too long: that of before is in force again."""
        if self.prompt.purpose == "filter":
            self.prompt.complain(self.filter.error)
        else:
            self.console.tell(self.filter.error, severity="warning")
        self.rebuild(self.snapshot)
        self.paint_lines()

    # --- a new snapshot

    def show_snapshot(self, snapshot: Snapshot) -> None:
        """Show it: the rows first, then the lines around them."""
        self.rebuild(snapshot)
        self.seek_on()
        part = snapshot.queue if self.PLACE == "jobs" else snapshot.flow_runs
        self.table.dimmed = bool(part.error)
        self.paint_lines()
        self.paint_pane()

    def seek(self, key: str) -> None:
        """Put the cursor on a row, now or as soon as it appears; until the person goes on by themselves."""
        self._sought = (key, time.monotonic() + SEEK_SECONDS)
        self.seek_on()
        if self._sought[0]:
            self.set_timer(PATIENCE, self._say_what_is_sought)

    def _say_what_is_sought(self) -> None:
        """The row has not come: an action would take another one for it."""
        key, _ = self._sought
        if key:
            self.console.tell(f"{key.removeprefix('run:')} is not in this list{self.why_hidden()}", severity="warning")

    def why_hidden(self) -> str:
        """What may hide a row, as the end of a sentence."""
        return ""

    def on_row_list_steered(self) -> None:
        """The person has gone on."""
        self._sought = ("", 0.0)

    def seek_on(self) -> None:
        """Go to the row that is sought, if it is there by now."""
        key, until = self._sought
        if key and (self.table.move_to(key) or time.monotonic() > until):
            self._sought = ("", 0)

    def tick(self) -> None:
        """Some seconds have gone by."""
        self.paint_lines()

    def paint_lines(self) -> None:
        """Header, tabs and key line."""
        now, snapshot, console = time.time(), self.snapshot, self.console
        load = f"{console.session.log.per_minute(now)} cmd/min"
        mode = "RO" if console.read_only else "RW"
        prefect = console.session.has_prefect
        self.bar_left.show(header.left(snapshot, console.place_name, self.size.width))
        self.bar_right.show(
            header.right(snapshot, now, load, prefect=prefect, mode=mode, width=self.size.width), layout=True
        )
        complaint = self.complaint_words(snapshot, now)
        self.complaint.show([(complaint, "bold $state-failed")] if complaint else [])
        self.complaint.display = bool(complaint) and self.size.height >= _LOW
        self.paint_tabs()
        self.paint_keys()

    def complaint_words(self, snapshot: Snapshot, now: float) -> str:
        """One sentence when what is shown is old, "" while all is well."""
        return header.complaint(snapshot, now)

    def paint_tabs(self) -> None:
        """The views, and what this one shows."""
        wrong = "  ! only what is wrong" if self.wrong else ""
        marked = f"  {len(self.table.marks):,} marked" if self.table.marks else ""
        sifted = f"  / {self.filter.text}" if self.filter.text else ""
        self.tabs.show(
            tab_line(self.PLACE, f"{self.tab_words(self.snapshot)}{wrong}{sifted}{marked} ", self.size.width)
        )

    def paint_keys(self) -> None:
        """The keys that can be used now."""
        raise NotImplementedError

    def paint_pane(self) -> None:
        """What the pane beneath the list shows."""
        raise NotImplementedError
