"""Lists to choose from, over the screen: one thing of many, or which of them in which order."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from slurmtui.widgets.columns import Column
from slurmtui.widgets.virtual_table import VirtualTable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.app import ComposeResult

    from slurmtui.widgets.lines import Cell


class Choice(NamedTuple):
    """One thing to choose: its key, what it is called, what it is, and a mark of its own (an arrow)."""

    key: str
    title: str
    about: str = ""
    mark: str = ""


class Picked(NamedTuple):
    """Which were chosen, in their order, and widths that were changed, by key."""

    keys: tuple[str, ...]
    widths: dict[str, int]


class _Rows:
    """The choices as rows."""

    def __init__(self, choices: Sequence[Choice], lines: Sequence[Sequence[Cell]]) -> None:
        self._choices, self._lines = choices, lines
        self._places = {choice.key: place for place, choice in enumerate(choices)}

    def __len__(self) -> int:
        return len(self._choices)

    def key(self, index: int) -> str:
        return self._choices[index].key

    def cells(self, index: int) -> Sequence[Cell]:
        return self._lines[index]

    def row_style(self, index: int) -> str | None:
        del index
        return None

    def index_of(self, key: str) -> int | None:
        return self._places.get(key)


_LONGEST = 24  # lines of a list; a longer one scrolls


class ListScreen(ModalScreen[str | None]):
    """A box with a list and a line about its keys."""

    DEFAULT_CSS = """
    ListScreen { align: center middle; }
    ListScreen > Vertical {
        width: 64; max-width: 98%; height: auto; max-height: 94%;
        border: round $primary; padding: 0 1; background: $surface;
    }
    ListScreen VirtualTable { height: auto; max-height: 100%; background: $surface; }
    """
    HINT = ""

    def __init__(self, title: str, choices: Sequence[Choice], *, cursor: str = "") -> None:
        super().__init__()
        self._title, self.choices, self._cursor = title, list(choices), cursor
        self.table = VirtualTable(self.list_columns())

    def compose(self) -> ComposeResult:
        """The list and its keys."""
        with Vertical() as box:
            box.border_title, box.border_subtitle = Content(self._title), Content(self.HINT)
            yield self.table

    def on_mount(self) -> None:
        """The cursor stands where one would look first."""
        self.on_resize()
        self.show_rows()
        self.table.move_to(self._cursor)
        self.table.focus()

    def on_resize(self) -> None:
        """As many lines as there are choices, and room."""
        room = self.app.size.height * 94 // 100 - 2  # the border
        self.table.styles.height = max(2, min(len(self.choices), _LONGEST, room - 1) + 1)

    def list_columns(self) -> tuple[Column, ...]:
        """The columns of the list."""
        return (Column("mark", "", 1), Column("title", "COLUMN", 14), Column("about", "WHAT IT SAYS", 0))

    def line(self, choice: Choice) -> Sequence[Cell]:
        """The cells of a choice."""
        return (choice.mark, choice.title, (choice.about, "dim"))

    def show_rows(self) -> None:
        """Show the choices as they are now."""
        rows = _Rows(self.choices, [self.line(choice) for choice in self.choices])
        self.table.set_source(rows, index_of=rows.index_of)

    def action_leave(self) -> None:
        """Leave it as it was."""
        self.dismiss(None)


class ChoiceScreen(ListScreen):
    """Choose one: answers its key, None for none."""

    HINT = "enter chooses · escape leaves"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "leave", "leave")]

    @on(VirtualTable.RowChosen)
    def _chosen(self, event: VirtualTable.RowChosen) -> None:
        event.stop()
        self.dismiss(event.key)


class OrderScreen(ListScreen):
    """Choose several, their order and widths. Every change is told at once; escape tells those of the beginning."""

    HINT = "space on, off · < > move · + - width · r reset · esc undo"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "give up"),
        Binding("space", "switch", "show or hide"),
        Binding("less_than_sign,shift+up,K", "move(-1)", "move up"),
        Binding("greater_than_sign,shift+down,J", "move(1)", "move down"),
        Binding("plus", "widen(1)", "wider"),
        Binding("minus,underscore", "widen(-1)", "narrower"),
        Binding("r", "reset", "as at first"),
    ]

    def __init__(  # noqa: PLR0913 - what there is to choose, and what is chosen
        self,
        title: str,
        choices: Sequence[Choice],
        *,
        picked: Picked,
        usual: Picked,
        natural: dict[str, int],
        changed: Callable[[Picked], None],
    ) -> None:
        self._before, self._usual, self._natural, self._changed = picked, usual, natural, changed
        self._all = {choice.key: choice for choice in choices}
        self._chosen: set[str] = set()
        self._widths: dict[str, int] = {}
        super().__init__(title, choices)
        self._take(picked)

    def _take(self, picked: Picked) -> None:
        """Show this choice: the chosen first, in their order."""
        first = [self._all[key] for key in dict.fromkeys(picked.keys) if key in self._all]
        self._chosen = {choice.key for choice in first}
        self._widths = dict(picked.widths)
        self.choices = [*first, *(choice for key, choice in self._all.items() if key not in self._chosen)]

    def list_columns(self) -> tuple[Column, ...]:
        """Box, name, width, meaning."""
        return (
            Column("mark", "", 3), Column("title", "COLUMN", 12), Column("width", "WIDE", 4, align="right"),
            Column("about", "WHAT IT SAYS", 0),
        )  # fmt: skip

    def line(self, choice: Choice) -> Sequence[Cell]:
        """The cells of a choice."""
        on_screen = choice.key in self._chosen
        width = self._widths.get(choice.key, self._natural.get(choice.key, 0))
        return (
            ("[x]", "mark") if on_screen else ("[ ]", "dim"),
            choice.title if on_screen else (choice.title, "dim"),
            (str(width) if width else "", "" if choice.key in self._widths else "dim"),
            (choice.about, "dim"),
        )

    def _tell(self) -> None:
        self.show_rows()
        self._changed(Picked(tuple(one.key for one in self.choices if one.key in self._chosen), dict(self._widths)))

    def action_switch(self) -> None:
        """Show or hide the one under the cursor; the last one cannot be hidden."""
        key = self.table.cursor_key
        if key is not None and (key not in self._chosen or len(self._chosen) > 1):
            self._chosen ^= {key}
            self._tell()

    def action_move(self, step: int) -> None:
        """Move the one under the cursor by a place."""
        here = self.table.cursor_index
        there = here + step
        if 0 <= here < len(self.choices) and 0 <= there < len(self.choices):
            self.choices[here], self.choices[there] = self.choices[there], self.choices[here]
            self._tell()

    def action_widen(self, step: int) -> None:
        """Change the width of the one under the cursor."""
        key = self.table.cursor_key
        if key is not None:
            width = self._widths.get(key, self._natural.get(key, 0)) + step
            self._widths[key] = min(max(width, 2), 120)
            self._tell()

    def action_reset(self) -> None:
        """As it is when nobody has chosen."""
        self._take(self._usual)
        self._tell()

    def action_leave(self) -> None:
        """As it was when this was opened."""
        self._changed(self._before)
        self.dismiss(None)

    @on(VirtualTable.RowChosen)
    def _kept(self, event: VirtualTable.RowChosen) -> None:
        event.stop()
        self.dismiss(event.key)
