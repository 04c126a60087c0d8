"""A pane with a log in it, beneath a list or among others in the Logs view."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, cast

from slurmtui.actions.model import LogFacts
from slurmtui.store.log_document import LogDocument
from slurmtui.store.log_errors import ERRORS
from slurmtui.views.keys import keys_of
from slurmtui.views.logs.doing import Doing
from slurmtui.views.logs.filling import Filling, origins
from slurmtui.views.logs.finding import Finding
from slurmtui.views.logs.numbering import Numbering
from slurmtui.views.logs.rows import filter_words, sources_of
from slurmtui.widgets.beside import start
from slurmtui.widgets.log_lines import NO_TIMES, TIMES
from slurmtui.widgets.log_view import LogView, Rule

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from textual.binding import BindingType

    from slurmtui.app import SlurmtuiApp
    from slurmtui.store.log_live import Live
    from slurmtui.store.log_place import FilePlace
    from slurmtui.store.snapshot import Snapshot
    from slurmtui.views.base import ViewScreen


_ONE_AT_A_TIME = frozenset({"log", "log-find", "log-count", "log-which", "log-numbers"})


class LogPane(LogView):
    """A log that is read as long as it is open.

    Attributes:
        log_key: what is shown, "" for nothing.
        document: the log.
        filling: keeps what is shown filled.
        finding: what is sought.
        numbering: gives the lines their numbers.
        doing: carries out the actions.
    """

    BINDINGS: ClassVar[list[BindingType]] = keys_of("log")

    def __init__(self, *, id: str | None = None, name: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, name=name)
        self.log_key = ""
        self.document: LogDocument | None = None
        self.filling = Filling(self)
        self.finding = Finding(self)
        self.numbering = Numbering(self)
        self.doing = Doing(self)

    @property
    def console(self) -> SlurmtuiApp:
        """The app, typed."""
        return cast("SlurmtuiApp", self.app)

    # --- what is shown

    def open(self, key: str, name: str, live: Live) -> None:
        """Show the log of ``live``; nothing happens when it is the one shown already."""
        if key == self.log_key:
            live.close()
        else:
            self.open_document(key, LogDocument(live, name))

    def open_document(self, key: str, document: LogDocument) -> None:
        """Show this log."""
        self.shut()
        self.log_key, self.document = key, document
        self.empty_text = "reading…"
        self.rules = (Rule(ERRORS.pattern, "state-failed", whole=True), *self._own_rules())
        self.show_title()
        self.work("log", self.filling.follow, document)

    def shut(self) -> None:
        """Stop reading, and forget the log."""
        self.log_key = ""
        self.filling.stop()
        self.finding.clear()
        self.numbering.clear()
        self.workers.cancel_group(self, "log-move")
        if self.document is not None:
            self.document.close()
            self.document = None
        self.clear()

    def begin(self) -> None:
        """It is known what the log is made of: a file or job shows its lines as they are, times and all."""
        as_it_is = self.document is not None and (self.document.single is not None or self.document.one_job)
        self.times = NO_TIMES if as_it_is else TIMES
        self.show_title()

    def update(self, snapshot: Snapshot) -> None:
        """Tell the log what is known now."""
        if self.document is not None:
            self.document.update(snapshot)

    def looked(self) -> None:
        """The log was looked at: what is new is shown."""
        self.show_title()
        self.finding.go_on()
        self.repaint_changed()
        self.paint_bar()
        if self.has_focus:
            cast("ViewScreen", self.screen).paint_keys()

    def show_title(self) -> None:
        """What is shown, and what is left out."""
        document = self.document
        if document is not None:
            self.title = " · ".join(filter(None, (f"{document.name} · log", filter_words(document))))
            self.set_sources(sources_of(document))

    def facts(self) -> LogFacts:
        """What the actions have to know."""
        document = self.document
        if document is None:
            return LogFacts()
        elsewhere = getattr(document.live, "elsewhere", None)
        return LogFacts(
            key=self.log_key,
            name=document.name,
            paths=tuple(document.paths),
            single=document.single is not None,
            lines=len(self.kept.lines),
            sought=self.finding.needle is not None,
            library=len(document.window.library),
            elsewhere=tuple(elsewhere) if elsewhere is not None else (),
        )

    @property
    def single(self) -> FilePlace | None:
        """The only file of the log, if it is one."""
        return None if self.document is None else self.document.single

    @property
    def on_screen(self) -> bool:
        """Whether a person sees it."""
        return self.display and self.screen in self.app.screen_stack

    def work(self, group: str, make: Callable[..., Coroutine[Any, Any, None]], *arguments: Any) -> None:
        """Do something beside the keys; it gives way to the next of its group, if that is an exclusive one."""
        start(self, partial(make, *arguments), group, exclusive=group in _ONE_AT_A_TIME)

    # --- what the actions ask for

    def do(self, what: str) -> bool:
        """Do what an action of the registry asks for."""
        return self.doing.do(what)

    def ask(self, purpose: str, sign: str, text: str) -> None:
        """Open the prompt of the screen."""
        screen = cast("ViewScreen", self.screen)
        screen.prompt.open(purpose, sign, text)

    def complain(self, text: str, severity: str = "warning") -> None:
        """Say a sentence at the edge of the screen."""
        self.console.tell(text, severity=severity)

    def refused(self, why: str) -> None:
        """Say why a key does nothing."""
        self.complain(why, severity="information")

    # --- looks

    def on_log_window_moved(self) -> None:
        """Another part is on screen: more may be wanted at an end of the window."""
        self.filling.extend()

    def extent(self) -> tuple[float, float]:
        """Which part of the whole log is on screen."""
        document = self.document
        if document is None or (document.window.at_start and document.window.at_end):
            return super().extent()
        shown = [one for one in origins(self.shown_lines) if not one.entry.partial]
        if not shown:
            return super().extent()
        last = 1.0 if document.window.at_end and not self.rows_below else document.share_of(shown[-1])
        return document.share_of(shown[0]), last

    @property
    def state(self) -> str:
        """Whether the end is in view, in words."""
        unseen = self.unseen + (self.document.unseen if self.document is not None else 0)
        if self.follow:
            return "follow"
        return f"{unseen:,} new lines below, G to follow" if unseen else "scrolled, G to follow"

    def _own_rules(self) -> tuple[Rule, ...]:
        """What the configuration wants to stand out."""
        config: Any = self.console.session.config
        return tuple(Rule(rule.compiled(), rule.style, rule.line) for rule in config.logs.highlights)
