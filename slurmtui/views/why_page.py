"""The page that says why a job waits: asked for when it is opened, and again at a key."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from slurmtui.errors import SlurmtuiError
from slurmtui.models.job_why_judge import judge
from slurmtui.models.text import visible
from slurmtui.sources.slurm.why import why_facts
from slurmtui.views.why_lines import why_lines
from slurmtui.widgets.beside import start

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from textual.app import ComposeResult
    from textual.events import Key

    from slurmtui.actions.model import Action
    from slurmtui.models.job import Job
    from slurmtui.sources.slurm.client import Slurm
    from slurmtui.widgets.bar import Piece

AGAIN_SECONDS = 5.0
"""How soon the same may be asked again."""


class WhyScreen(ModalScreen[None]):
    """A page over the list; escape leaves it."""

    DEFAULT_CSS = """
    WhyScreen { align: center middle; }
    WhyScreen > VerticalScroll {
        width: 120; max-width: 98%; height: auto; max-height: 94%;
        border: round $primary; padding: 1 1 0 1; background: $surface;
        scrollbar-size-vertical: 1; scrollbar-gutter: stable;
    }
    WhyScreen Static { height: auto; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter,b", "leave", "leave"),
        Binding("r", "again", "ask again"),
        Binding("j", "scroll(1)", "down", show=False),
        Binding("k", "scroll(-1)", "up", show=False),
    ]

    def __init__(self, slurm: Slurm, job: Job, act: Callable[[Action], None], keys: Mapping[str, Action]) -> None:
        """Show it for ``job``; ``keys`` are those of actions that can be started from here by ``act``."""
        super().__init__()
        self._slurm, self._job, self._act, self._keys = slurm, job, act, keys
        self._asked = 0.0
        self._lines: list[list[Piece]] = [[("asking SLURM…", "$text-muted")]]

    def compose(self) -> ComposeResult:
        """A grid of labels and sentences."""
        with VerticalScroll() as box:
            box.border_title = Content(f"why {self._job.id} waits · {visible(self._job.name)}")
            box.border_subtitle = Content("r asks again, escape leaves")
            yield Static("", id="why", markup=False)

    def on_mount(self) -> None:
        """Ask at once."""
        self.query_one(VerticalScroll).focus()
        self._paint()
        self.action_again()

    def on_resize(self) -> None:
        """Sentences are folded beside their labels."""
        self._paint()

    def on_key(self, event: Key) -> None:
        """What would help can be done from here: the page gives way to it."""
        action = self._keys.get(event.key)
        if action is not None:
            event.stop()
            self.dismiss(None)
            self.app.call_later(self._act, action)

    def action_leave(self) -> None:
        """Close the page."""
        self.dismiss(None)

    def action_scroll(self, step: int) -> None:
        """Scroll as vi does."""
        box = self.query_one(VerticalScroll)
        box.scroll_relative(y=step, animate=False)

    def action_again(self) -> None:
        """Ask SLURM (again), not more often than is decent."""
        if time.monotonic() - self._asked < AGAIN_SECONDS:
            return
        self._asked = time.monotonic()
        start(self, self._ask, "why", exclusive=True)

    async def _ask(self) -> None:
        try:
            facts = await why_facts(self._slurm, self._job)
        except SlurmtuiError as error:
            self._lines = [[(visible(str(error)), "$state-failed")]]
        else:
            self._lines = why_lines(facts, judge(facts))
            if "request" in facts.missing:
                self._lines = [[(facts.missing["request"], "$state-failed")]]
        self._paint()

    def _paint(self) -> None:
        width = self.query_one("#why", Static).size.width
        self.query_one("#why", Static).update(folded(self._lines, width or self.app.size.width - 6))


def folded(lines: Sequence[Sequence[Piece]], width: int) -> Content:
    """Lines whose last piece is folded under itself, so that a sentence never runs beneath its label."""
    from slurmtui.widgets.lines import wrap  # noqa: PLC0415 - with the page

    made: list[Content] = []
    for line in lines:
        if len(line) != 2:
            made.append(Content.assemble(*(piece if piece[1] else piece[0] for piece in line)))
            continue
        (label, label_style), (text, style) = line
        room = max(20, width - len(label))
        for number, part in enumerate(wrap(text, room) or [""]):
            first = label if not number else " " * len(label)
            made.append(Content.assemble((first, label_style), (part, style) if style else part))
    return Content("\n").join(made)
