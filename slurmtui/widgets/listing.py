"""A page of text lines over the screen: help, the command log."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

    from slurmtui.widgets.bar import Piece


_WIDTH = 110  # as the style below
_FRAME = 6  # columns: border, padding and scroll bar


class ListingScreen(ModalScreen[None]):
    """Lines of styled pieces that can be scrolled; any of the usual keys closes it.

    With ``hanging``, what of a line does not fit goes on so many columns in, below where its text began.
    """

    DEFAULT_CSS = """
    ListingScreen { align: center middle; }
    ListingScreen > VerticalScroll {
        width: 110; max-width: 98%; height: auto; max-height: 94%;
        border: round $primary; padding: 0 1; background: $surface;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter,question_mark,at", "leave", "leave"),
        Binding("j", "scroll('down')", "down", show=False),
        Binding("k", "scroll('up')", "up", show=False),
        Binding("g", "scroll('home')", "top", show=False),
        Binding("G", "scroll('end')", "end", show=False),
    ]

    def __init__(self, title: str, lines: Sequence[Sequence[Piece]], *, at_end: bool = False, hanging: int = 0) -> None:
        super().__init__()
        self._title, self._at_end, self._hanging = title, at_end, hanging
        self._lines = [Content.assemble(*(piece if piece[1] else piece[0] for piece in line)) for line in lines]
        self._text = Static()

    def compose(self) -> ComposeResult:
        """One block of text in a scroller."""
        with VerticalScroll() as box:
            box.border_title = Content(self._title)
            box.border_subtitle = Content("escape leaves")
            yield self._text

    def on_resize(self) -> None:
        """Break the lines anew."""
        width = min(_WIDTH, self.app.size.width * 98 // 100) - _FRAME - self._hanging
        lines = self._lines
        if self._hanging and width > self._hanging:
            lines = [part for line in lines for part in self._broken(line, width)]
        self._text.update(Content("\n").join(lines))

    def _broken(self, line: Content, width: int) -> list[Content]:
        """A line in parts; one that does not begin with a key is broken as it is."""
        key, text = line[: self._hanging], line[self._hanging :]
        if key.plain.rstrip() and not key.plain.endswith("  "):
            return [line]
        first, *others = text.wrap(width) or [Content("")]
        return [key + first, *(Content(" " * self._hanging) + part for part in others)]

    def on_mount(self) -> None:
        """The newest is what one came for, where there is a newest."""
        box = self.query_one(VerticalScroll)
        box.focus()
        if self._at_end:
            box.scroll_end(animate=False)

    def action_leave(self) -> None:
        """Close the page."""
        self.dismiss(None)

    def action_scroll(self, where: str) -> None:
        """Scroll as vi does."""
        box = self.query_one(VerticalScroll)
        moves = {
            "down": box.scroll_down, "up": box.scroll_up, "home": box.scroll_home, "end": box.scroll_end,
        }  # fmt: skip
        moves[where](animate=False)
