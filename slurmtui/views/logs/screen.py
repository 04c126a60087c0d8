"""The Logs view: logs of runs and jobs beside and below each other, as they were left."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import TYPE_CHECKING

from slurmtui.actions.model import Context
from slurmtui.views.base import ViewScreen
from slurmtui.views.keys import bindings_for
from slurmtui.views.logs.area import Area
from slurmtui.views.logs.opening import keys_meant
from slurmtui.widgets.beside import start
from slurmtui.widgets.columns import Column

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual.widget import Widget

    from slurmtui.store.snapshot import Snapshot
    from slurmtui.views.logs.pane import LogPane
    from slurmtui.widgets.bar import Piece

OPEN = "log-open"
_MOST_ADDED = 8
"""More logs than this are shown instead of the panes that are there, as many as fit."""


class LogsScreen(ViewScreen):
    """Panes with logs."""

    PLACE = "logs"
    AUTO_FOCUS = ""
    BINDINGS = bindings_for("logs")
    HELP = "Logs side by side and stacked. tab goes from pane to pane, + and _ size a pane, x closes it."

    def __init__(self) -> None:
        super().__init__()
        self.table.display = False
        self.area = Area(self.paint_lines, id="panes")
        self._across = False
        self._doing |= {
            "next-pane": self.area.next_pane,
            "bigger": lambda: self.area.resize(1),
            "smaller": lambda: self.area.resize(-1),
        }

    def body(self) -> Iterator[Widget]:
        """The panes in the place of the list, which is there, but not to be seen."""
        yield self.table
        yield self.area

    # --- what a view has

    def columns_for(self, width: int) -> tuple[Column, ...]:
        """There is no list."""
        del width
        return (Column("log", "LOG", 0),)

    def rebuild(self, snapshot: Snapshot) -> None:
        """The logs are told what is known; those that wait for their run are opened."""
        for pane in self.area.panes.values():
            pane.update(snapshot)
        self.area.open_waiting()

    def detail_lines(self) -> list[list[Piece]]:
        """There is no detail."""
        return []

    def log_source(self) -> None:
        """There is no row whose log could be meant."""
        return

    def tab_words(self, snapshot: Snapshot) -> str:
        """How many panes."""
        del snapshot
        count = len(self.area.panes)
        zoomed = " · one on the whole screen" if self.area.zoomed else ""
        return f"{count} pane{'' if count == 1 else 's'}{zoomed}"

    def context(self) -> Context:
        """The pane that has the focus."""
        pane = self.log_pane
        facts = None if pane is None else dataclasses.replace(pane.facts(), panes=len(self.area.panes))
        return Context(self.console, self.PLACE, log=facts, pane="logs")

    def key_context(self) -> Context:
        """The same."""
        return self.context()

    @property
    def log_pane(self) -> LogPane | None:
        """The pane that has the focus, else the first."""
        return self.area.current

    def on_mount(self) -> None:
        """The panes as they were left."""
        start(self, self.area.restore, "restore")

    # --- what is asked for

    def seek(self, key: str) -> None:
        """Show logs: ``beside``, ``below`` or ``all`` (instead of what is there), and their keys, one a line.

        After ``typed`` comes what a person has typed. The panes of the last time are there first.
        """
        if not self.area.restored:
            start(self, partial(self._seek_beside_the_last, key), "restore")
            return
        where, _, keys = key.partition(" ")
        if where == "typed":
            if keys:
                self._across = False
                self.open_typed(keys)
            return
        wanted = [one for one in keys.split("\n") if one]
        if where == "all" or len(wanted) > _MOST_ADDED:
            self.area.show_all(wanted)
        else:
            for one in wanted:
                self.area.add(one, across=where == "beside")

    async def _seek_beside_the_last(self, key: str) -> None:
        await self.area.restore()
        self.seek(key)

    def perform_in_log(self, what: str) -> bool:
        """Do what concerns the panes, or the pane that has the focus."""
        if what in {"beside", "below"}:
            self._across = what == "beside"
            names = [view.run.name for view in self.snapshot.runs]
            self.prompt.open(OPEN, "run, job or file ", "", names)
        elif what == "close":
            self.area.close_current()
        elif what == "zoom":
            self.area.zoom()
        else:
            return super().perform_in_log(what)
        return True

    def entered_in_log(self, purpose: str, text: str) -> None:
        """Something was typed that concerns the panes, or the log in one of them."""
        if purpose == OPEN:
            self.open_typed(text)
        else:
            super().entered_in_log(purpose, text)

    def open_typed(self, text: str) -> None:
        """Show the logs of what was typed: runs, jobs or files; nothing shows the same log once more."""
        keys, problem = keys_meant(self.snapshot, text)
        if not text.strip() and self.log_pane is not None:
            keys, problem = [self.log_pane.log_key], ""
        if problem:
            self.console.tell(problem, severity="warning")
        for key in keys:
            self.area.add(key, across=self._across)
        if not keys and self.log_pane is not None:
            self.log_pane.focus()

    def back(self) -> None:
        """Leave what goes on in a log, or the whole screen."""
        if self.log_pane is not None and self.log_pane.doing.leave():
            return
        if self.area.zoomed:
            self.area.zoom()
        else:
            self.console.tell("x closes this pane; 1 and 2 go back to the lists")

    def on_resize(self) -> None:
        """The panes share another room."""
        self.call_after_refresh(self.area.lay_out)
        if self.is_current:
            self.paint_lines()

    def on_screen_resume(self) -> None:
        """What came while another view was shown."""
        super().on_screen_resume()
        self.call_after_refresh(self.area.settle)
