"""The line at the bottom in which a filter or a command is typed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.suggester import SuggestFromList
from textual.widgets import Input, Static

from slurmtui.widgets.line_input import LineInput

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.app import ComposeResult
    from textual.widget import Widget


class Prompt(Horizontal):
    """A prompt that is hidden until it is opened for a purpose (``filter`` or ``command``).

    What is done with it is told at once, not by a message: the next key may be waiting already, and belongs to what has
    the focus then. ``entered`` is told the purpose and the text, ``abandoned`` the purpose and the text from before.
    """

    DEFAULT_CSS = """
    Prompt { height: 1; display: none; background: $boost; }
    Prompt Static { width: auto; color: $accent; }
    Prompt Input { background: $boost; width: 1fr; }
    Prompt #wrong { color: $state-failed; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "abandon", "abandon")]

    @dataclass
    class Typed(Message):
        """The text changed while typing."""

        purpose: str
        text: str

    def __init__(
        self,
        *,
        entered: Callable[[str, str], object],
        abandoned: Callable[[str, str], object],
        covers: Widget | None = None,
        id: str | None = None,  # noqa: A002 - Textual's name
    ) -> None:
        super().__init__(id=id)
        self._covers, self._entered, self._abandoned = covers, entered, abandoned
        self.purpose = ""
        self._before = self._complaint = ""

    def compose(self) -> ComposeResult:
        """A sign, the input, and room for a complaint."""
        yield Static("", id="sign", markup=False)
        yield LineInput(select_on_focus=False, entered=self._enter)
        yield Static("", id="wrong", markup=False)

    @property
    def text(self) -> str:
        """What stands in it now."""
        return self.query_one(LineInput).value

    @property
    def is_open(self) -> bool:
        """Whether it is on screen."""
        return bool(self.purpose)

    def open(self, purpose: str, sign: str, text: str, choices: Sequence[str] = ()) -> None:
        """Show the prompt with ``text`` in it; ``choices`` are completed as one types."""
        self._before = text
        self.query_one("#sign", Static).update(Content(sign))
        self.complain("")
        field = self.query_one(LineInput)
        field.suggester = SuggestFromList(choices, case_sensitive=False) if choices else None
        with self.prevent(Input.Changed):
            field.value = text
        field.cursor_position = len(text)
        self.purpose = purpose
        self.display = True
        self._show_over(shown=False)
        self.screen.set_focus(field)  # at once: what is typed next belongs here already

    def again(self, purpose: str, sign: str, text: str, wrong: str) -> None:
        """Show it once more, because of what is wrong with what was entered; escape still leaves all as it was."""
        before = self._before
        self.open(purpose, sign, text)
        self._before = before
        self.complain(wrong)

    def close(self) -> None:
        """Hide it."""
        self.purpose = ""
        self.display = False
        self._show_over(shown=True)

    def _show_over(self, *, shown: bool) -> None:
        """What the prompt stands in place of gives way: nothing else has to move, and to be painted anew."""
        if self._covers is not None:
            self._covers.display = shown

    def complain(self, text: str) -> None:
        """Say what is wrong with the text, "" when nothing is."""
        if text != self._complaint:  # with each key: a change lays the screen out anew
            self._complaint = text
            self.query_one("#wrong", Static).update(Content(f"  {text} " if text else ""))

    def action_abandon(self) -> None:
        """Leave everything as it was before the prompt was opened."""
        purpose = self.purpose
        self.close()
        self._abandoned(purpose, self._before)

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        if self.purpose:
            self.post_message(self.Typed(self.purpose, event.value))

    def _enter(self, text: str) -> None:
        purpose = self.purpose
        self.close()
        self._entered(purpose, text)
