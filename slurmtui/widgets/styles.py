"""Style names ("failed", "mark", "dim", "bold") to styles of the theme in use.

A name is looked up among the theme's variables as ``state-<name>`` and ``<name>``; a theme without them (Textual's own)
gives its nearest meaning. Words like ``bold`` may stand beside a name: ``failed bold``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.style import Style
from textual.color import Color, ColorParseError

if TYPE_CHECKING:
    from textual.widget import Widget

_ATTRIBUTES = frozenset({"bold", "italic", "underline", "reverse", "strike"})
_NEAREST = {
    "running": "success",
    "waiting": "warning",
    "done": "foreground-muted",
    "failed": "error",
    "lost": "error",
    "cancelled": "secondary",
    "unknown": "foreground-muted",
    "mark": "accent",
    "match": "warning",
    "dim": "foreground-muted",
}


class StyleBook:
    """The styles of one widget by name; ``forget()`` when the theme, the focus or the style sheet has changed."""

    def __init__(self, widget: Widget, prefix: str) -> None:
        self._widget = widget
        self._prefix = prefix
        self._styles: dict[str, Style] = {}

    def forget(self) -> None:
        """Look everything up again when it is next asked for."""
        self._styles.clear()

    @property
    def base(self) -> Style:
        """The style of the widget itself."""
        style = self._styles.get("")
        if style is None:
            style = self._styles[""] = self._widget.rich_style
        return style

    def component(self, name: str) -> Style:
        """The style of the widget's component class ``<prefix>--<name>``, complete with the background."""
        key = f"--{name}"
        style = self._styles.get(key)
        if style is None:
            style = self._widget.get_component_rich_style(f"{self._prefix}--{name}")
            self._styles[key] = style
        return style

    def background_of(self, name: str) -> Style:
        """The background alone of a component class, and what stands for it where there are no colours."""
        key = f"_{name}"
        style = self._styles.get(key)
        if style is None:
            whole = self.component(name)
            style = Style(bgcolor=whole.bgcolor, reverse=whole.reverse or None, underline=whole.underline or None)
            self._styles[key] = style
        return style

    def named(self, name: str) -> Style:
        """The style of a name given by the program: a colour of the theme, attributes, or both."""
        style = self._styles.get(name)
        if style is None:
            style = Style.combine(self._part(word) for word in name.split())
            self._styles[name] = style
        return style

    def _part(self, word: str) -> Style:
        if word in _ATTRIBUTES:
            return Style.parse(word)
        variables = self._widget.app.theme_variables
        if word == "new":
            return self._tint(variables)
        name = word.removeprefix("state-")
        value = variables.get(f"state-{name}") or variables.get(name) or variables.get(_NEAREST.get(name, ""), "")
        attributes = " ".join(part for part in value.split() if part in _ATTRIBUTES)
        colour = " ".join(part for part in value.split() if part not in _ATTRIBUTES)
        style = Style.parse(attributes) if attributes else Style.null()
        if name == "match":
            style += Style(bold=True, underline=True)  # to be seen without colours as well
        try:
            found = Color.parse(colour) if colour else None
        except ColorParseError:
            found = None
        if found is None:
            return style
        if found.ansi is None and found.a < 1:
            found = self._widget.background_colors[1] + found
        return style + Style(color=found.rich_color)

    def _tint(self, variables: dict[str, str]) -> Style:
        """The background of a row that is new; without one (the terminal's own colours, or none), that it is bold."""
        if self._widget.app.no_color:
            return Style(bold=True)
        try:
            accent = Color.parse(variables.get("accent", ""))
        except ColorParseError:
            return Style(bold=True)
        ground = self._widget.background_colors[1]
        if accent.ansi is not None or ground.ansi is not None:
            return Style(bold=True)
        return Style(bgcolor=ground.blend(accent, 0.16).rich_color)
