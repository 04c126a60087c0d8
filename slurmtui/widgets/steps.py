"""A board on which the steps of a longer action are ticked off while it works."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

if TYPE_CHECKING:
    from textual.app import ComposeResult

_MARKS = {
    "waiting": ("·", "$text-muted"),
    "doing": ("…", "$state-waiting"),
    "done": ("✔", "$state-done"),
    "failed": ("✖", "$state-failed"),
    "skipped": ("-", "$text-muted"),
}


class StepsScreen(ModalScreen[None]):
    """Shows steps with their tick, time or error. Leaving it does not stop the work."""

    DEFAULT_CSS = """
    StepsScreen { align: center middle; }
    StepsScreen > Vertical {
        width: 76; max-width: 96%; height: auto; max-height: 90%;
        border: round $primary; padding: 0 1; background: $surface;
    }
    StepsScreen .hint { color: $text-muted; margin-top: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,enter,q", "leave", "leave")]

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = title
        self._steps: dict[str, tuple[str, str, str, float | None]] = {}
        self._ending: tuple[str, bool] | None = None
        self._ready = False
        self._body = Static(Content(""))
        self._hint = Static(Content("escape leaves this; the work goes on"), classes="hint")

    def compose(self) -> ComposeResult:
        """The steps and a hint."""
        with Vertical() as box:
            box.border_title = Content(self._title)
            yield self._body
            yield self._hint

    def on_mount(self) -> None:
        """Show what has already come."""
        self._ready = True  # Textual's own word for it comes only after this
        self._paint()

    def action_leave(self) -> None:
        """Close the board."""
        self.dismiss(None)

    def show_step(self, key: str, title: str, state: str, detail: str, seconds: float | None) -> None:
        """Show a step in its newest state."""
        self._steps[key] = (title, state, detail, seconds)
        self._paint()

    def finish(self, text: str, *, well: bool) -> None:
        """Say how it ended."""
        self._ending = (text, well)
        self._hint.update(Content("escape leaves"))
        self._paint()

    def _paint(self) -> None:
        if not self._ready:
            return
        width = max((len(step[0]) for step in self._steps.values()), default=0)
        lines = [self._line(width, *step) for step in self._steps.values()]
        if self._ending:
            text, well = self._ending
            lines.append(Content.styled(f"\n{text}", "bold $state-done" if well else "bold $state-failed"))
        self._body.update(Content("\n").join(lines))

    @staticmethod
    def _line(width: int, title: str, state: str, detail: str, seconds: float | None) -> Content:
        mark, style = _MARKS.get(state, ("?", ""))
        took = f"{seconds:5.1f} s" if seconds is not None else "       "
        return Content.assemble((f" {mark} ", style), f"{title.ljust(width)} ", (took, "$text-muted"), f"  {detail}")
