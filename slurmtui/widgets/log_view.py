"""A pane that shows a part of a growing log: how its lines look, and the keys that move in it.

A line is looked at when it comes onto the screen and not before, so thousands of lines a second cost little.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.reactive import reactive

from slurmtui.widgets.lines import width_of
from slurmtui.widgets.log_lines import NO_TIMES, TIMES, LogLines, Look, Rule
from slurmtui.widgets.log_rows import Line, LogRow
from slurmtui.widgets.log_window import LogWindow
from slurmtui.widgets.sentence import sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.strip import Strip

    from slurmtui.models.pattern import Pattern
    from slurmtui.widgets.line_view import Facts

__all__ = ["LogRow", "LogView", "Rule"]

_SIDE_STEP = 20


class _RowFacts(NamedTuple):
    """What the look of a row depends on."""

    line: Line
    version: int
    number: int | None
    part: tuple[int, int]
    look: Look
    mark: int
    folded: bool


class LogView(LogWindow):
    """The pane.

    Attributes:
        pattern: what is sought, None for nothing.
        rules: what stands out.
    """

    HELP = "The log follows its end until you scroll up; `G` or `f` goes back to the end, `/` searches."
    STYLE_PREFIX = "log-view"
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "log-view--empty", "log-view--title", "log-view--current", "log-view--selected", "log-view--track",
        "log-view--thumb",
    }  # fmt: skip
    DEFAULT_CSS = """
    LogView {
        overflow-y: scroll;
        & > .log-view--empty { color: $foreground-muted; }
        & > .log-view--title { color: $foreground-muted; }
        & > .log-view--current { background: $boost; }
        & > .log-view--selected { background: $surface; }
        & > .log-view--track { background: $background; color: $foreground-muted; }
        & > .log-view--thumb { background: $panel; color: $foreground-muted; }
        &:focus > .log-view--title { color: $foreground; }
        &:focus > .log-view--current { background: $panel; }
        &:focus > .log-view--thumb { background: $foreground-muted; color: $foreground; }
        &:nocolor > .log-view--thumb { text-style: reverse; }
        &:nocolor > .log-view--current { text-style: underline; }
        &:nocolor > .log-view--selected { text-style: underline; }
        &:nocolor:focus > .log-view--current { text-style: reverse; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "rows(-1)", "Up", id="log.up", show=False),
        Binding("down,j", "rows(1)", "Down", id="log.down", show=False),
        Binding("pageup,ctrl+u,ctrl+b", "page(-1)", "Page up", id="log.page-up", show=False),
        Binding("pagedown,ctrl+d,ctrl+f,space", "page(1)", "Page down", id="log.page-down", show=False),
        Binding("left", "sideways(-1)", "Left", id="log.left", show=False),
        Binding("right", "sideways(1)", "Right", id="log.right", show=False),
    ]

    times: reactive[int] = reactive(TIMES)
    """Whether no time, the time of day, or date and time is shown."""
    numbers: reactive[bool] = reactive(False)
    """Whether the lines' numbers are shown, as far as they are known."""
    title: reactive[str] = reactive("")
    """What is shown, on the first line."""
    news: reactive[str] = reactive("")
    """Said on the first line beside the title: a search that goes on, how many matches."""
    empty_text: reactive[str] = reactive("")
    """The sentence shown while there is no line."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.pattern: Pattern | None = None
        self.rules: tuple[Rule, ...] = ()
        self._lines = LogLines(self.style_book)
        self._sources: tuple[tuple[str, bool], ...] = ()
        self._left = 0  # cells by which lines are moved sideways
        self._highest = 0  # the highest number of a line

    # --- for the owner

    def clear(self) -> None:
        """Forget all lines and follow again."""
        self._left = 0
        super().clear()

    def set_sources(self, sources: Sequence[tuple[str, bool]]) -> None:
        """Name on the first line who writes, and whose lines are shown."""
        self._sources = tuple(sources)
        self.repaint_changed()

    def seek(self, pattern: Pattern | None) -> None:
        """Mark what matches."""
        self.pattern = pattern
        self.repaint_changed()

    def show_numbers(self, highest: int) -> None:
        """Lines have got their numbers; room is needed for ``highest``."""
        wider = len(str(highest)) != len(str(self._highest))
        self._highest = highest
        if wider:
            self.lay_out()
        else:
            self.repaint_changed()

    def fold(self, *, folded: bool) -> None:
        """Show each traceback as one row, or whole."""
        self.kept.folded = folded
        self.lay_out()

    def on_mount(self) -> None:
        """Settings that change the look."""
        for name in ("wrap", "times", "numbers"):
            self.watch(self, name, self.lay_out, init=False)
        for name in ("title", "empty_text", "news"):
            self.watch(self, name, self.repaint_changed, init=False)

    def action_sideways(self, step: int) -> None:
        """Move long lines sideways, as far as there is something to be seen."""
        before = self._left
        longest = max((width_of(line.text) for line in self.shown_lines), default=0)
        beyond = before + max(1, self.text_width - self.prefix_cells()) < longest
        if not self.wrap and (step < 0 or beyond):
            self._left = max(0, before + step * _SIDE_STEP)
        if self._left == before:
            self.refused(
                "Long lines are broken here: w cuts them, and moves them sideways"
                if self.wrap
                else "No line on screen goes on there"
            )
        self.repaint_changed()

    def refused(self, why: str) -> None:
        """A key could do nothing; whoever owns the pane may say why."""

    # --- painting

    def prefix_cells(self) -> int:
        """Cells before the text of a line."""
        return self._look.prefix_cells(self.text_width)

    @property
    def _look(self) -> Look:
        width = len(str(self._highest)) if self.numbers and self._highest else 0
        times = self.times if self.kept.timed else NO_TIMES
        left = 0 if self.wrap else self._left
        return Look(times, width, self.kept.tag_width, left, self.pattern, self.rules, not self.wrap)

    @property
    def state(self) -> str:
        """Whether the end is in view, in words."""
        if self.follow:
            return "follow"
        return f"{self.unseen:,} new lines below, G to follow" if self.unseen else "scrolled, G to follow"

    def line_facts(self, line: int) -> Facts:
        """Title, row of the log, or sentence."""
        if line == 0:
            return (self.title, self.news, self.state, self._sources)
        places = self.kept.places
        if not places:
            return (self.empty_text, self.page_rows)
        row = self.top_row + line - self.fixed_lines
        if row >= len(places):
            return ("", 0)
        entry, first, last = places[row]
        return _RowFacts(
            entry, entry.version, entry.number, (first, last), self._look, self.cursor.mark_of(entry), self.kept.folded
        )

    def line_strip(self, facts: Facts, line: int, width: int) -> Strip:
        """Paint a line."""
        if line == 0:
            title = f"{self.title} · {self.news}" if self.news else self.title
            return self._lines.title(title, self.state, self._sources, width)
        if isinstance(facts, _RowFacts):
            return self._lines.row(
                facts.line, facts.part, facts.look, self.rich_style, width, mark=facts.mark, folded=facts.folded
            )
        return sentence(str(facts[0]), line - 1, Size(width, self.page_rows), self.style_book.component("empty"))
