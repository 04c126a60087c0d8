"""A box with a few fields to fill in; what is done with them is asked afterwards."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from slurmtui.widgets.agreement import DEAF_SECONDS
from slurmtui.widgets.line_input import LineInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.events import DescendantFocus


class DialogField(NamedTuple):
    """One field: its name, what stands in it, and a word about what may be written."""

    name: str
    text: str = ""
    help: str = ""


class FormDialog(ModalScreen[dict[str, str] | None]):
    """Answers the texts by name, None when it was left."""

    DEFAULT_CSS = """
    FormDialog { align: center middle; }
    FormDialog > Vertical {
        width: 90; max-width: 98%; height: auto; max-height: 96%;
        border: round $primary; padding: 0 1; background: $surface;
    }
    FormDialog VerticalScroll { height: auto; max-height: 18; }
    FormDialog Horizontal { height: 1; }
    FormDialog .facts { color: $text-muted; margin-bottom: 1; }
    FormDialog .name { width: 16; }
    FormDialog LineInput { height: 1; border: none; padding: 0 1; width: 1fr; background: $boost; }
    FormDialog LineInput:focus { background: $primary-darken-1; }
    FormDialog #hint { color: $accent; margin-top: 1; }
    FormDialog #keys { color: $text-muted; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "leave"),
        Binding("down", "app.focus_next", "next field", show=False),
        Binding("up", "app.focus_previous", "field before", show=False),
    ]

    def __init__(self, title: str, facts: Sequence[str], fields: Sequence[DialogField]) -> None:
        super().__init__()
        self._title, self._facts, self._fields = title, facts, fields
        self._entries = [LineInput(field.text, select_on_focus=False, entered=self._enter) for field in fields]
        self._opened = time.monotonic()

    def compose(self) -> ComposeResult:
        """The facts, a line a field, what may be written into the field one is in."""
        with Vertical() as box:
            box.border_title = Content(self._title)
            if self._facts:
                yield Static(Content("\n".join(self._facts)), classes="facts")
            with VerticalScroll(can_focus=False):
                for field, entry in zip(self._fields, self._entries, strict=True):
                    with Horizontal():
                        yield Static(Content(field.name), classes="name")
                        yield entry
            yield Static("", id="hint", markup=False)
            yield Static(Content("tab next field   enter goes on   escape leaves"), id="keys")

    def on_mount(self) -> None:
        """The first field has the focus."""
        self._opened = time.monotonic()
        if self._entries:
            self._entries[0].focus()

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        """Tell what may be written here."""
        for field, entry in zip(self._fields, self._entries, strict=True):
            if entry is event.widget:
                self.query_one("#hint", Static).update(Content(field.help))

    def action_leave(self) -> None:
        """Leave it; nothing is done."""
        self.dismiss(None)

    def _enter(self, _: str) -> None:
        if time.monotonic() - self._opened >= DEAF_SECONDS:
            self.dismiss({field.name: entry.value for field, entry in zip(self._fields, self._entries, strict=True)})
