"""Which lines of a log are wanted: a switch for each source, and the lowest level."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType

from slurmtui.widgets.columns import Column
from slurmtui.widgets.picker import Choice, ListScreen
from slurmtui.widgets.virtual_table import VirtualTable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from slurmtui.widgets.lines import Cell

_ABOUT = {
    "prefect": "what the flow logs, from Prefect's server", "driver": "what the driver of the run prints",
    "dask": "Dask's own, of nothing wrong",
    "out": "standard output of jobs", "err": "standard error of jobs",
}  # fmt: skip


class SourcesScreen(ListScreen):
    """Switches; ``done`` is told the hidden sources and the level."""

    HINT = "space or enter switches, escape is done"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "done", "done"),
        Binding("space", "switch", "switch"),
    ]

    def __init__(
        self,
        sources: Sequence[tuple[str, bool]],
        levels: Sequence[tuple[int, str]],
        level: int,
        done: Callable[[frozenset[str], int], None],
    ) -> None:
        self._done = done
        self._hidden = {name for name, shown in sources if not shown}
        self._level = level
        self._levels = {f"level {number}": number for number, _ in levels}
        choices = [Choice(name, name, _ABOUT.get(name, "")) for name, _ in sources]
        choices += [Choice(f"level {number}", title, "lines of this level and worse") for number, title in levels]
        super().__init__("lines that are shown", choices)

    def list_columns(self) -> tuple[Column, ...]:
        """The switch, the name, what it is."""
        return (Column("mark", "", 1), Column("title", "LINES OF", 14), Column("about", "WHICH ARE", 0))

    def line(self, choice: Choice) -> Sequence[Cell]:
        """A switch."""
        if choice.key in self._levels:
            mark = "●" if self._levels[choice.key] == self._level else "○"
        else:
            mark = "□" if choice.key in self._hidden else "■"
        return (mark, choice.title, (choice.about, "dim"))

    def action_switch(self) -> None:
        """Turn the switch under the cursor."""
        key = self.table.cursor_key
        if key in self._levels:
            self._level = self._levels[key]
        elif key:
            self._hidden ^= {key}
        self.show_rows()

    @on(VirtualTable.RowChosen)
    def _chosen(self, event: VirtualTable.RowChosen) -> None:
        event.stop()
        self.action_switch()

    def action_done(self) -> None:
        """Take it."""
        self.dismiss(None)
        self._done(frozenset(self._hidden), self._level)
