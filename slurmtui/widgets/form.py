"""A form of text fields; wrong input is marked as it is typed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from textual import on
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.suggester import SuggestFromList
from textual.widgets import Input, Static

from slurmtui.widgets.line_input import LineInput

if TYPE_CHECKING:
    from textual.app import ComposeResult


class Field(NamedTuple):
    """One field.

    ``kind`` is a JSON type; ``text`` what stands in it at first; ``choices`` what alone is allowed, when there are any.
    """

    name: str
    kind: str = "any"
    text: str = ""
    choices: tuple[str, ...] = ()
    help: str = ""
    required: bool = False


def complaint(field: Field, text: str) -> str:
    """What is wrong with ``text`` in this field, "" when nothing is plain to see from here."""
    text = text.strip()
    if not text:
        return "needed" if field.required else ""
    if field.choices and text not in field.choices:
        return f"one of: {', '.join(field.choices)}"
    if field.kind == "boolean" and text.lower() not in {"true", "false"}:
        return "true or false"
    if field.kind in {"integer", "number"}:
        return _number_complaint(field.kind, text)
    if field.kind in {"array", "object"}:
        return _json_complaint(field.kind, text)
    return ""


def _number_complaint(kind: str, text: str) -> str:
    try:
        (int if kind == "integer" else float)(text)
    except ValueError:
        return "a whole number" if kind == "integer" else "a number"
    return ""


def _json_complaint(kind: str, text: str) -> str:
    wanted, example = (list, '["a", "b"]') if kind == "array" else (dict, '{"a": 1}')
    try:
        fits = isinstance(json.loads(text), wanted)
    except ValueError:
        fits = False
    return "" if fits else f"JSON such as {example}"


class Form(VerticalScroll):
    """Fields beneath each other: name, input, and what is expected."""

    DEFAULT_CSS = """
    Form { height: 1fr; padding: 0 1; }
    Form Horizontal { height: auto; }
    Form .name { width: 20; }
    Form LineInput { height: 1; border: none; padding: 0 1; width: 2fr; background: $boost; }
    Form LineInput:focus { background: $primary-darken-1; }
    Form .hint { width: 3fr; padding-left: 1; color: $text-muted; }
    Form .wrong { color: $state-failed; }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, can_focus=False)
        self.fields: tuple[Field, ...] = ()
        self._rows: list[tuple[Field, LineInput, Static]] = []

    def compose(self) -> ComposeResult:
        """A sentence until there are fields."""
        yield Static("", markup=False)

    async def set_fields(self, fields: tuple[Field, ...], empty: str) -> None:
        """Show these fields; ``empty`` is the sentence when there is none."""
        if fields == self.fields and self._rows:
            return
        self.fields, self._rows = fields, []
        await self.remove_children()
        if not fields:
            await self.mount(Static(Content(empty)))
        for field in fields:
            entry = LineInput(
                field.text,
                suggester=SuggestFromList(field.choices) if field.choices else None,
                select_on_focus=False,
                entered=lambda _: self.focus_next_field(),
            )
            hint = Static(classes="hint", markup=False)
            self._rows.append((field, entry, hint))
            star = "*" if field.required else ""
            await self.mount(Horizontal(Static(Content(f"{field.name}{star}"), classes="name"), entry, hint))
        self._mark_all()

    @property
    def texts(self) -> dict[str, str]:
        """What was entered, by name; fields left as they were and empty are left out."""
        return {
            field.name: entry.value.strip()
            for field, entry, _ in self._rows
            if entry.value.strip() and entry.value.strip() != field.text
        }

    @property
    def emptied(self) -> frozenset[str]:
        """The fields from which what stood in them was taken."""
        return frozenset(field.name for field, entry, _ in self._rows if field.text and not entry.value.strip())

    @property
    def complaints(self) -> list[str]:
        """What is wrong, one sentence a field."""
        found = ((field.name, complaint(field, entry.value)) for field, entry, _ in self._rows)
        return [f"{name}: {text}" for name, text in found if text]

    def focus_first(self) -> None:
        """Put the cursor into the first field."""
        if self._rows:
            self.screen.set_focus(self._rows[0][1])

    def focus_next_field(self) -> bool:
        """Move to the next field; False when this was the last."""
        entries = [entry for _, entry, _ in self._rows]
        focused = self.screen.focused
        if isinstance(focused, LineInput) and focused in entries[:-1]:
            self.screen.set_focus(entries[entries.index(focused) + 1])
            return True
        return False

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        self._mark_all()

    def _mark_all(self) -> None:
        for field, entry, hint in self._rows:
            wrong = complaint(field, entry.value)
            hint.set_class(bool(wrong), "wrong")
            hint.update(Content(wrong or _expected(field)))


def _expected(field: Field) -> str:
    """What may be written into a field, and what it is for."""
    choices = f" ({', '.join(field.choices)})" if field.choices else ""
    return " · ".join(part for part in (f"{field.kind}{choices}", field.help) if part)
