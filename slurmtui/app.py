"""The console: routes keys to actions, actions to screens, snapshots to the screen shown. It computes nothing."""

from __future__ import annotations

import asyncio
import functools
import inspect
import logging
import os
import signal
import sys
import time
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from textual.binding import Binding

from slurmtui import keymap
from slurmtui.actions import registry
from slurmtui.actions.jobs_journal import Journal
from slurmtui.actions.model import Question
from slurmtui.control.unbroken import is_settled, settled
from slurmtui.errors import SlurmtuiError
from slurmtui.models.text import visible
from slurmtui.store.store import Store
from slurmtui.theme import load_theme, shows_glyphs
from slurmtui.views import pages
from slurmtui.views.base import ViewScreen
from slurmtui.views.board import Board, choice_screen
from slurmtui.views.commands import COMMANDS, run_command
from slurmtui.views.dialogs import AppDialogs
from slurmtui.views.faults import told
from slurmtui.views.keeper import Keeper
from slurmtui.views.line import Line
from slurmtui.views.looks import Looks, line_filters, wants_no_colours
from slurmtui.views.modes import LATER
from slurmtui.views.palette import ActionProvider
from slurmtui.views.rescue.first import FirstLook
from slurmtui.views.toasts import Toasts
from slurmtui.views.typing_order import TypingOrder
from slurmtui.widgets.beside import start
from slurmtui.widgets.narrow import narrow
from slurmtui.widgets.question import QuestionScreen
from slurmtui.widgets.steps import StepsScreen

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from textual.binding import BindingType
    from textual.screen import Screen

    from slurmtui.actions.dialogs import Dialogs
    from slurmtui.actions.model import Action, Choosing, Context
    from slurmtui.session import Session
    from slurmtui.store.snapshot import Snapshot

IDLE_SECONDS = 300.0
LINES_SECONDS = 5.0
_HUNG_UP = 129

Answer = TypeVar("Answer")

_log = logging.getLogger(__name__)


class SlurmtuiApp(TypingOrder, Toasts):
    """The console."""

    CSS_PATH = None
    CSS = """
    Input:nocolor > .input--cursor { text-style: reverse; }
    ModalScreen ToastRack { dock: top; align: right top; margin: 0; }  /* the keys of a dialog stand at its bottom */
    """
    TITLE = "slurmtui"
    ENABLE_COMMAND_PALETTE = True
    COMMANDS: ClassVar[set[Any]] = {lambda: ActionProvider}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c,ctrl+q", "leave", "Leave", show=False, priority=True),
        Binding("ctrl+z", "suspend_process", "To the shell", show=False),
    ]
    MODES: ClassVar[dict[str, Any]] = dict(LATER)
    DEFAULT_MODE = "runs"

    def __init__(
        self,
        session: Session,
        *,
        read_only: bool = False,
        theme: str | None = None,
        view: str | None = None,
        keeper: Keeper | None = None,
    ) -> None:
        self.keeper = keeper or Keeper(session)
        first = view or self.keeper.memory.last_view
        if first in self.MODES:
            self.DEFAULT_MODE = first  # type: ignore[misc]  # read once, by the next line
        super().__init__()
        self.no_color = wants_no_colours()
        self._filters = line_filters(self._filters, no_colours=self.no_color, letters=not shows_glyphs())
        self.session = session
        self.store = Store(session)
        self.read_only = read_only or session.config.read_only
        self.place_name = session.place.label or "slurm"
        self._wanted_theme = theme or session.config.theme
        self._last_key = time.monotonic()
        self.own_keys: dict[str, str] = {}
        self.looks = Looks(self)
        self.dialogs: Dialogs = AppDialogs(self)
        self.journal = Journal()
        self._last_wait: asyncio.Future[None] | None = None
        self._line: Line | None = None

    # --- start and end

    def on_load(self) -> None:
        """The first questions to SLURM and Prefect are on their way while the screen is made."""
        self.store.set_everyone(self.keeper.memory.view("jobs").everyone)
        if (begun := self.session.slurm.begun) is not None:
            show = functools.partial(self.store.show_first_jobs, everyone=begun.everyone)
            begun.tell_first_jobs(asyncio.get_running_loop(), show)
        self.store.start()

    def on_mount(self) -> None:
        """Themes, keys, the line that may be lost."""
        self.looks.start(self._wanted_theme)
        self._start_keys()
        self.keeper.remember_view(self.current_mode)
        self.store.subscribe(self._published)
        self.call_later(lambda: self._published(self.store.snapshot))  # SLURM may have answered before this
        FirstLook(self)
        self.set_interval(LINES_SECONDS, self._tick)
        start(self, self._name_cluster, "cluster")
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGHUP, self._hung_up)
        if not self.is_headless:
            self._line = Line(sys.__stdin__.fileno())  # type: ignore[union-attr]  # Textual has read from it

    def _start_keys(self) -> None:
        keys = self.session.config.keys
        defaults = {action.id: ",".join((action.key, *action.aliases)) for action in registry.ACTIONS}
        places = {action.id: action.places for action in registry.ACTIONS}
        touching = [action.id for action in registry.ACTIONS if action.touches]
        for problem in keymap.validate(keys, defaults, places=places, touching=touching):
            self.tell(problem, severity="warning")
        self.own_keys = keymap.normalised(keys, touching)
        self.set_keymap(self.own_keys)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """The program's own variables, for themes (Textual's) that lack them."""
        return {**super().get_theme_variable_defaults(), **load_theme().variables}

    async def _name_cluster(self) -> None:
        if self.session.place.label:
            return
        try:
            self.place_name = await self.session.slurm.cluster_name()
        except SlurmtuiError as error:
            _log.info("cluster name: %s", error)

    def _hung_up(self) -> None:
        """The line is gone: nothing can be drawn any more, and nothing here is worth keeping but what is half done."""
        if is_settled():
            os._exit(_HUNG_UP)
        self._last_wait = asyncio.ensure_future(settled())
        self._last_wait.add_done_callback(lambda _: os._exit(_HUNG_UP))

    async def on_unmount(self) -> None:
        """End the pollers, after what must not stop half way."""
        await settled()
        await self.store.stop()
        await self.keeper.end()
        await self.session.close()

    # --- what is known

    def _published(self, snapshot: Snapshot) -> None:
        screen = self.screen
        if isinstance(screen, ViewScreen):
            screen.show_snapshot(snapshot)
        else:  # a dialog is over it; the list behind it stays fresh
            for under in self.screen_stack:
                if isinstance(under, ViewScreen):
                    under.show_snapshot(snapshot)

    def _tick(self) -> None:
        if self._line is not None and self._line.gone and self._last_wait is None:
            self._hung_up()
        if time.monotonic() - self._last_key > IDLE_SECONDS:
            self.store.set_pace("idle")
        if isinstance(self.screen, ViewScreen):
            self.screen.tick()

    def glyph(self, mood: str) -> str:
        """The sign of a mood in this theme."""
        return self.looks.signs.get(mood, "?")

    def _display(self, screen: Screen[Any], renderable: Any) -> None:
        """Paint; a line of which a part has changed is sent in that part."""
        super()._display(screen, narrow(renderable))

    async def on_event(self, event: Any) -> None:
        """A key or the focus wakes the pollers from their idle pace."""
        name = type(event).__name__
        if name in {"Key", "AppFocus"}:
            if name == "AppFocus" or time.monotonic() - self._last_key > IDLE_SECONDS:
                self.store.set_pace("normal")
            self._last_key = time.monotonic()
        elif name == "AppBlur":
            self.store.set_pace("idle")
        await super().on_event(event)

    # --- what actions ask for (the Console protocol)

    def start(self, action: Action, context: Context) -> None:
        """Run an action on the targets in ``context``, or say why not."""
        reason = action.refusal(context)
        if reason:
            self.tell(reason, severity="warning")
            return
        work = functools.partial(action.run, context)
        say = lambda text: self.tell(f"{action.title}: {text}", severity="error")  # noqa: E731 - used twice, here only
        if inspect.iscoroutinefunction(action.run):
            start(self, functools.partial(self.guarded, work, say), f"action {action.id}")
            return
        with told(say):
            work()

    async def guarded(self, work: Callable[[], Awaitable[None] | None], say: Callable[[str], None]) -> None:
        """Do it; what goes wrong is said."""
        with told(say):
            working = work()
            if working is not None:
                await working

    def action_leave(self) -> None:
        """Leave, whatever is open; runs, jobs and the server go on."""
        self.exit(0)

    def go(self, view: str, key: str = "") -> None:
        """Show a view, with the cursor on ``key``."""
        self.switch_mode(view)
        self.keeper.remember_view(view)
        if key and isinstance(self.screen, ViewScreen):
            self.screen.call_after_refresh(self.screen.seek, key)

    async def ask(self, question: Question) -> bool:
        """Ask before something is touched."""
        screen: Screen[bool] = QuestionScreen(
            visible(question.title), [visible(fact) for fact in question.facts],
            [(part, visible(what)) for part, what in question.plan],
            yes=question.yes, no=question.no, typed=question.typed,
        )  # fmt: skip
        return await self.answer(screen) is True

    async def choose(self, choosing: Choosing) -> str:
        """Ask which of several ways; nothing is the answer "none"."""
        return await self.answer(choice_screen(choosing)) or ""

    async def answer(self, screen: Screen[Answer]) -> Answer | None:
        """The answer of a dialog; a question that comes when another page is open is not asked: its keys are others."""
        if isinstance(self.screen, ViewScreen):
            return await self.push_screen_wait(screen)
        self.tell("A question was not asked, because another page had been opened: press its key again")
        return None

    def new_run_from(self, target: str, profile: str, parameters: Mapping[str, Any]) -> None:
        """Open the form of a new run with these values in it."""
        pages.new_run(self, target, profile, parameters)

    def board(self, title: str) -> Board:
        """Open a board of steps."""
        screen = StepsScreen(visible(title))
        self.push_screen(screen)
        return Board(screen)

    def perform(self, what: str) -> None:
        """What concerns the screen alone."""
        screen = self.screen
        if isinstance(screen, ViewScreen) and screen.do(what):
            return
        pages.perform(self, what)

    def command(self, text: str) -> None:
        """A command typed at the colon."""
        run_command(self, text)

    @property
    def command_names(self) -> list[str]:
        """What completes at the colon."""
        filters = self.keeper.memory.filters(self.current_mode)
        return [*COMMANDS, *(f"theme {name}" for name in self.looks.names), *(f"filter {name}" for name in filters)]


__all__ = ["Question", "SlurmtuiApp", "registry"]
