"""The pane beneath a list: the detail of a row, or a log that follows."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import ContentSwitcher, Static

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

    from slurmtui.views.logs.pane import LogPane
    from slurmtui.widgets.bar import Piece


class DetailPane(VerticalScroll):
    """Groups of label and value; it scrolls as the lists do."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "scroll_down", "down", show=False),
        Binding("k", "scroll_up", "up", show=False),
        Binding("g", "scroll_home", "top", show=False),
        Binding("G", "scroll_end", "end", show=False),
    ]

    DEFAULT_CSS = """
    DetailPane { padding: 0 1; scrollbar-size-vertical: 1; }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, can_focus=True)
        self._body = Static("", markup=False)
        self._shown: tuple[tuple[Piece, ...], ...] = ()

    def compose(self) -> ComposeResult:
        """One block of text."""
        yield self._body

    def show(self, lines: Sequence[Sequence[Piece]]) -> None:
        """Show these lines; the scroll position stays."""
        fresh = tuple(tuple(line) for line in lines)
        if fresh == self._shown:
            return
        self._shown = fresh
        text = [Content.assemble(*(piece if piece[1] else piece[0] for piece in line)) for line in fresh]
        self._body.update(Content("\n").join(text))


class Pane(ContentSwitcher):
    """What lies beneath a list: nothing, the detail, or a log.

    The pane with a log, and what it takes to read one, is imported when the first log is opened.
    """

    STEPS = (25, 40, 55, 70, 85)  # heights to choose from, in parts of a hundred

    def __init__(self) -> None:
        self.detail = DetailPane(id="detail")
        self._logs: LogPane | None = None
        super().__init__(self.detail, id="pane", initial="detail")
        self._step = 2

    @property
    def logs(self) -> LogPane:
        """The pane with a log."""
        if self._logs is None:
            self._logs = importlib.import_module("slurmtui.views.logs.pane").LogPane(id="logs")
            self._logs.display = False
            self.mount(self._logs)
        return self._logs

    @property
    def shown(self) -> str:
        """``detail``, ``logs`` or "" when it is closed."""
        return (self.current or "") if self.display else ""

    def open(self, which: str) -> None:
        """Show the detail or the log."""
        if which == "logs":
            self.current = self.logs.id
        else:
            self.shut_log()
            self.current = which
        self.display = True

    def shut(self) -> None:
        """Give the list the whole screen."""
        self.display = False
        self.shut_log()

    def shut_log(self) -> None:
        """Read no log."""
        if self._logs is not None:
            self._logs.shut()

    def grow(self, step: int) -> None:
        """Take more lines, or fewer."""
        self._step = min(max(self._step + step, 0), len(self.STEPS) - 1)
        self.styles.height = f"{self.STEPS[self._step]}%"
