"""The dialog before something is touched: facts, and the plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from slurmtui.widgets.agreement import FLAT, AgreementScreen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult


class QuestionScreen(AgreementScreen[bool]):
    """Asks; answers True only for a clear yes."""

    REFUSED = False
    DEFAULT_CSS = """
    QuestionScreen > Vertical { width: 76; }
    QuestionScreen VerticalScroll { height: auto; max-height: 66vh; }
    QuestionScreen .plan { margin: 1 0 0 1; }
    QuestionScreen.-flat > Vertical {
        height: 100%; max-height: 100%; max-width: 100%; border: none; border-top: round $warning;
    }
    QuestionScreen.-flat VerticalScroll { height: 1fr; max-height: 100%; scrollbar-size-vertical: 1; }
    QuestionScreen.-flat .plan { margin: 0; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,right", "app.focus_next", "other button", show=False),
        Binding("up", "scroll_facts(-1)", "facts", show=False),
        Binding("down", "scroll_facts(1)", "facts", show=False),
    ]

    def __init__(  # noqa: PLR0913 - a dialog has these parts
        self,
        title: str,
        facts: Sequence[str],
        plan: Sequence[tuple[str, str]],
        *,
        yes: str,
        no: str,
        typed: str = "",
    ) -> None:
        super().__init__(yes=yes, no=no, typed=typed)
        self._title, self._facts, self._plan = title, facts, plan

    def compose(self) -> ComposeResult:
        """The facts, the plan, the two answers."""
        width = max((len(part) for part, _ in self._plan), default=0)
        with Vertical() as box:
            box.border_title = Content(self._title)
            with VerticalScroll(can_focus=False):
                for fact in self._facts:
                    yield Static(Content(fact))
                lines = [Content.assemble((part.ljust(width + 2), "$text-muted"), what) for part, what in self._plan]
                yield Static(Content("\n").join(lines), classes="plan")
            yield self.answers()

    def on_mount(self) -> None:
        """In a terminal of few lines what is done is seen first; up leads to the facts above it."""
        if self.app.size.height < FLAT:
            self.call_after_refresh(lambda: self.query_one(VerticalScroll).scroll_end(animate=False))

    def action_scroll_facts(self, lines: int) -> None:
        """The facts, where there is no room for all of them."""
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)

    def agreed(self) -> bool:
        """Yes."""
        return True
