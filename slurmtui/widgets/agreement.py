"""What every dialog has that asks before something is touched: the harmless answer is the default, a paste is none."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button

from slurmtui.widgets.line_input import LineInput

if TYPE_CHECKING:
    from textual import events
    from textual.widget import Widget

Answer = TypeVar("Answer")

DEAF_SECONDS = 0.3
"""Keys that arrive this soon were meant for what was on screen before, or belong to a paste."""
FLAT = 13
"""Lines of a terminal in which a dialog needs them all: what is done, and how to agree, come first."""


class AgreementScreen(ModalScreen[Answer], Generic[Answer]):
    """Asks; answers ``agreed()`` only for a clear yes (``y``, or what was to be ``typed``), ``REFUSED`` otherwise."""

    REFUSED: ClassVar[object]
    DEFAULT_CSS = """
    AgreementScreen { align: center middle; }
    AgreementScreen > Vertical {
        max-width: 98%; height: auto; max-height: 98%; overflow-y: auto;
        border: round $warning; padding: 0 1; background: $surface;
    }
    AgreementScreen .answers { height: auto; align-horizontal: right; margin-top: 1; }
    AgreementScreen Button { height: 1; min-width: 8; border: none; margin-left: 2; }
    AgreementScreen LineInput { width: 1fr; background: $boost; }
    AgreementScreen.-slim .answers { layout: vertical; }
    AgreementScreen.-slim Button { margin-left: 0; }
    AgreementScreen.-flat .answers { margin-top: 0; }
    """
    HORIZONTAL_BREAKPOINTS = [(0, "-slim"), (36, "-broad")]  # noqa: RUF012 - as Textual declares it
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (FLAT, "-high")]  # noqa: RUF012 - the same
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "agree", "yes"),
        Binding("n,escape,q", "refuse", "no"),
    ]

    def __init__(self, *, yes: str, no: str, typed: str = "") -> None:
        super().__init__()
        self._yes, self._no, self._typed = yes, no, typed
        self._opened = time.monotonic()

    def agreed(self) -> Answer:
        """What is answered for a yes."""
        raise NotImplementedError

    def answers(self) -> Horizontal:
        """The two answers, or where the one is typed."""
        no = Button(Content(self._no), id="no", compact=True)
        parts: list[Widget] = [no, Button(Content(f"y  {self._yes}"), id="yes", variant="warning", compact=True)]
        if self._typed:
            wanted = f"type {self._typed} and enter to {self._yes}"
            parts = [LineInput(placeholder=wanted, id="typed", entered=self._typed_answer), no]
        return Horizontal(*parts, classes="answers")

    def on_mount(self) -> None:
        """The harmless answer has the focus; keys are heard a little later."""
        self._opened = time.monotonic()
        self.query_one("#typed" if self._typed else "#no").focus()

    @property
    def _deaf(self) -> bool:
        return time.monotonic() - self._opened < DEAF_SECONDS

    def on_paste(self, event: events.Paste) -> None:
        """A paste never answers."""
        event.prevent_default()
        event.stop()

    def action_agree(self) -> None:
        """Yes, when a plain yes is enough and the person has had time to read."""
        if not self._typed and not self._deaf:
            self.dismiss(self.agreed())

    def action_refuse(self) -> None:
        """No."""
        self.dismiss(self.REFUSED)  # type: ignore[arg-type]  # each dialog names its own

    @on(Button.Pressed, "#no")
    def _pressed_no(self) -> None:
        self.action_refuse()

    @on(Button.Pressed, "#yes")
    def _pressed_yes(self) -> None:
        """A click agrees, and so does enter once the focus was moved there on purpose."""
        self.action_agree()

    def _typed_answer(self, text: str) -> None:
        if self._deaf:
            return
        if text.strip() == self._typed:
            self.dismiss(self.agreed())
        else:
            line = self.query_one("#typed", LineInput)
            line.value = ""
            line.placeholder = f"that was not {self._typed}; escape leaves"
