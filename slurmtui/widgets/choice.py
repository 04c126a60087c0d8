"""A dialog before something is touched for which there are several ways: facts, the ways, what would come of each."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from rich.cells import cell_len
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from slurmtui.widgets.agreement import AgreementScreen
from slurmtui.widgets.beside import start

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from textual.app import ComposeResult

_PAUSE = 0.25  # seconds on a way before it is asked what would come of it


class Way(NamedTuple):
    """One way; with ``why_not`` it is shown, dim, and cannot be taken."""

    key: str
    title: str
    columns: tuple[str, ...] = ()
    why_not: str = ""


class WaysScreen(AgreementScreen[str]):
    """Asks; answers the key of a way for a clear yes, "" for anything else."""

    REFUSED = ""
    DEFAULT_CSS = """
    WaysScreen > Vertical { width: 84; }
    WaysScreen .facts { height: auto; max-height: 30vh; margin-bottom: 1; }
    WaysScreen #ways { height: auto; max-height: 45vh; scrollbar-size-vertical: 1; }
    WaysScreen #answer { height: auto; min-height: 2; margin-top: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "move(1)", "next way", show=False),
        Binding("up,k", "move(-1)", "way before", show=False),
    ]

    def __init__(  # noqa: PLR0913 - a dialog has these parts
        self,
        title: str,
        facts: Sequence[str],
        ways: Sequence[Way],
        *,
        chosen: str,
        ask: Callable[[str], Awaitable[tuple[str, ...]]],
        yes: str,
        no: str,
        typed: str = "",
    ) -> None:
        super().__init__(yes=yes, no=no, typed=typed)
        self._title, self._facts, self._ways, self._ask = title, facts, ways, ask
        self._answers: dict[str, tuple[str, ...]] = {}
        self._place = next((place for place, way in enumerate(ways) if way.key == chosen), 0)
        self._list, self._answer = Static("", markup=False), Static("", id="answer", markup=False)

    def compose(self) -> ComposeResult:
        """The facts, the ways, what would come of the chosen one, the two answers."""
        with Vertical() as box:
            box.border_title = Content(self._title)
            box.border_subtitle = Content("↑↓ another way")
            with VerticalScroll(classes="facts", can_focus=False):
                yield Static(Content("\n".join(self._facts)))
            with VerticalScroll(id="ways", can_focus=False):
                yield self._list
            yield self._answer
            yield self.answers()

    def on_mount(self) -> None:
        """Show the way that is offered first."""
        self._show()

    @property
    def chosen(self) -> str:
        """The key of the way that is chosen now."""
        return self._ways[self._place].key

    def _show(self) -> None:
        titles = max(cell_len(way.title) for way in self._ways)
        count = max(len(way.columns) for way in self._ways)
        widths = [
            max((cell_len(way.columns[at]) for way in self._ways if len(way.columns) > at), default=0)
            for at in range(count)
        ]
        self._list.update(Content("\n").join(self._line(place, titles, widths) for place in range(len(self._ways))))
        self.query_one("#ways", VerticalScroll).scroll_to(y=max(0, self._place - 5), animate=False)
        self._show_answer()
        if self.chosen not in self._answers:
            start(self, partial(self._ask_slowly, self.chosen), "way", exclusive=True)

    def _line(self, place: int, titles: int, widths: Sequence[int]) -> Content:
        way = self._ways[place]
        sign = "(•) " if place == self._place else "( ) "
        style = "dim" if way.why_not else "bold" if place == self._place else ""
        words = [_padded(text, width) for text, width in zip(way.columns, widths, strict=False)]
        text = f"{_padded(way.title, titles)}  {way.why_not or '  '.join(words)}".rstrip()
        return Content.assemble((sign, "bold $accent" if place == self._place else "dim"), (text, style or "none"))

    def _show_answer(self) -> None:
        lines = self._answers.get(self.chosen, ("asking…",))
        self._answer.update(Content.styled("\n".join(lines), "$text-muted"))

    async def _ask_slowly(self, key: str) -> None:
        await asyncio.sleep(_PAUSE)
        self._answers[key] = await self._ask(key)
        if self.is_mounted:
            self._show_answer()

    def action_move(self, step: int) -> None:
        """Choose another way; those that cannot be taken are passed over."""
        place = self._place + step
        while 0 <= place < len(self._ways) and self._ways[place].why_not:
            place += step
        if 0 <= place < len(self._ways):
            self._place = place
            self._show()

    def agreed(self) -> str:
        """The way that is chosen."""
        return self.chosen


def _padded(text: str, width: int) -> str:
    return text + " " * max(0, width - cell_len(text))
