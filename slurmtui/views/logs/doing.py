"""What the actions of the registry ask of a pane with a log."""

from __future__ import annotations

import asyncio
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from slurmtui import paths
from slurmtui.atomic import write_private
from slurmtui.models.text import visible
from slurmtui.paths import typed_path
from slurmtui.sources.files.needle import Needle
from slurmtui.store.log_entry import LIBRARY
from slurmtui.store.log_filter import LEVELS
from slurmtui.store.log_live import Spot
from slurmtui.store.log_merge import Found, Mark
from slurmtui.views.logs import handover
from slurmtui.views.logs.saving import save_log
from slurmtui.widgets.listing import ListingScreen
from slurmtui.widgets.log_lines import DATES
from slurmtui.widgets.log_sources import SourcesScreen

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from slurmtui.views.logs.pane import LogPane
    from slurmtui.widgets.log_rows import Line

FIND, ONLY, GOTO, SAVE = "log-find", "log-only", "log-goto", "log-save"
"""What the prompt is opened for."""
_PLACE = re.compile(r"(\d{1,15})(%?)|(\d{1,2}(?:\.\d+)?|100)(%)")


class Doing:
    """Carries out what is asked of a pane."""

    def __init__(self, pane: LogPane) -> None:
        self._pane = pane
        self._table: dict[str, Callable[[], object]] = {
            "end": lambda: self._work(pane.filling.to_end),
            "start": lambda: self._work(pane.filling.to_start),
            "follow": self._follow,
            "goto": lambda: self._ask(GOTO, "line or % ", ""),
            "find": lambda: self._ask(FIND, "find / ", self._sought),
            "next": lambda: pane.finding.step(1),
            "previous": lambda: pane.finding.step(-1),
            "only": lambda: self._ask(ONLY, "only lines with / ", self._only),
            "error": pane.finding.last_error,
            "fold": self._fold,
            "sources": self._choose_sources,
            "library": self._library,
            "wrap": lambda: setattr(pane, "wrap", not pane.wrap),
            "times": self._times,
            "numbers": self._numbers,
            "mark": self._mark,
            "copy": self._copy,
            "save": lambda: self._ask(SAVE, "save as ", str(Path.cwd() / f"{self._name}.log")),
            "line": self._line,
            "path": self._path,
            "pager": lambda: self._work(self._hand_over, handover.pager(), "pager"),
            "editor": lambda: self._work(self._hand_over, handover.editor(), "editor"),
        }

    def do(self, what: str) -> bool:
        """Do it; False for what is not a pane's business."""
        doing = self._table.get(what)
        if doing is None:
            return False
        doing()
        return True

    def entered(self, purpose: str, text: str) -> None:
        """Something was typed at the prompt."""
        if purpose == FIND:
            self._say(self._pane.finding.seek(text))
        elif purpose == ONLY:
            self._want_only(text)
        elif purpose == GOTO:
            self.go_to(text)
        elif purpose == SAVE:
            self._work(self._save, text)

    def leave(self) -> bool:
        """Leave what goes on in the pane: marking, a search, its matches; False when nothing did."""
        pane = self._pane
        if pane.cursor.marking:
            pane.cursor.clear()
            pane.repaint_changed()
        elif not pane.finding.stop():
            if pane.finding.needle is None:
                return False
            pane.finding.clear()
            pane.cursor.clear()
            pane.repaint_changed()
        return True

    def go_to(self, text: str) -> None:
        """Go to a line (``1200``) or a part (``40%``)."""
        match = _PLACE.fullmatch(text.strip())
        if match is None:
            self._say(f"Say a line's number or a percentage, not {visible(text)}")
        elif match[2] or match[4]:
            self._work(self._to_share, float(match[1] or match[3]) / 100)
        else:
            self._work(self._to_line, int(match[1]))

    # --- parts

    def _work(self, make: Callable[..., Coroutine[None, None, None]], *arguments: object) -> None:
        pane = self._pane
        pane.work("log-move", pane.console.guarded, partial(make, *arguments), self._say)

    def _ask(self, purpose: str, sign: str, text: str) -> None:
        self._pane.ask(purpose, sign, text)

    def _say(self, text: str) -> None:
        if text:
            self._pane.complain(text)

    @property
    def _sought(self) -> str:
        needle = self._pane.finding.needle
        return "" if needle is None or needle.text == "errors" else needle.text

    @property
    def _only(self) -> str:
        document = self._pane.document
        needle = document.window.filter.needle if document is not None else None
        return needle.text if needle is not None else ""

    @property
    def _name(self) -> str:
        return re.sub(r"[^\w.+-]+", "-", self._pane.facts().name).strip("-") or "log"

    def _follow(self) -> None:
        if self._pane.follow:
            self._pane.follow = False
        else:
            self._work(self._pane.filling.to_end)

    def _fold(self) -> None:
        kept = self._pane.kept
        self._pane.fold(folded=not kept.folded)
        if not any(line.members for line in kept.lines):
            self._say(f"There is no traceback here; the next will be {'folded' if kept.folded else 'shown whole'}")

    def _times(self) -> None:
        if self._pane.kept.timed:
            self._pane.times = (self._pane.times + 1) % (DATES + 1)
        else:
            self._say("No line here tells when it was written")

    async def _to_share(self, share: float) -> None:
        document = self._pane.document
        if document is not None:
            at = await self._pane.filling.to_spot(await document.spot_at(min(share, 1.0)))
            self._pane.reveal(self._pane.kept.lines[at] if self._pane.kept.lines else None)

    async def _to_line(self, number: int) -> None:
        place = self._pane.single
        if place is None:
            self._say("Lines have numbers in the log of one file: a job with one output, or one task of an array")
            return
        start = await self._pane.numbering.place_of(place, number)
        if start is None:
            await self._pane.filling.to_end()
            self._say(f"This log has no line {number:,}: this is its end")
            return
        at = await self._pane.filling.to_spot(Spot(place.lines.changed, place.key, start))
        self._pane.reveal(self._pane.kept.lines[at] if self._pane.kept.lines else None)

    def _want_only(self, text: str) -> None:
        document = self._pane.document
        if document is None:
            return
        try:
            needle = Needle(text) if text else None
        except re.error as error:
            self._say(f"/{visible(text)}/ is no regular expression: {error}")
            return
        self._work(self._pane.filling.want, document.window.filter._replace(needle=needle))

    def _choose_sources(self) -> None:
        document = self._pane.document
        if document is None:
            return
        wanted = document.window.filter
        sources = [(name, name not in wanted.hidden) for name in (*document.sources, LIBRARY)]

        def done(hidden: frozenset[str], level: int) -> None:
            self._work(self._pane.filling.want, wanted._replace(hidden=hidden, level=level))

        self._pane.app.push_screen(SourcesScreen(sources, LEVELS, wanted.level, done))

    def _library(self) -> None:
        """Dask's own lines, or not."""
        document = self._pane.document
        if document is not None:
            wanted = document.window.filter
            self._work(self._pane.filling.want, wanted._replace(hidden=wanted.hidden ^ {LIBRARY}))

    def _numbers(self) -> None:
        self._pane.numbers = not self._pane.numbers
        self._pane.numbering.assign()

    def _mark(self) -> None:
        pane = self._pane
        if pane.cursor.marking:
            pane.cursor.clear()
        else:
            shown = pane.shown_lines
            current = pane.cursor.current
            pane.cursor.begin(current if current in shown else shown[-1] if shown else None)
            pane.follow = False
        pane.repaint_changed()

    def _marked(self) -> list[Line]:
        return self._pane.cursor.marked() or self._pane.shown_lines

    def _copy(self) -> None:
        lines = self._marked()
        what = "1 line" if len(lines) == 1 else f"{len(lines):,} lines"
        self._pane.console.dialogs.copy(self._pane.kept.plain_text(lines), what)
        self._pane.cursor.clear()
        self._pane.repaint_changed()

    async def _save(self, text: str) -> None:
        path = paths_of_person(text)
        if path is None:
            return
        marked = self._pane.kept.plain_text(self._pane.cursor.marked()) if self._pane.cursor.marking else None
        self._say_plainly(f"saving to {path} …")
        count = await save_log(self._pane, path, marked)
        self._say_plainly(f"{count:,} lines saved to {path}")

    def _say_plainly(self, text: str) -> None:
        self._pane.complain(text, severity="information")

    def _line(self) -> None:
        """One line, whole."""
        current = self._pane.cursor.current
        for line in [current] if current is not None else self._marked()[-1:]:
            title = " ".join(filter(None, (line.row.time, line.row.tag))) or "line"
            number = f"line {line.number:,} · " if line.number is not None else ""
            screen = ListingScreen(visible(f"{number}{title}"), [[(line.text, "")]])
            self._pane.app.push_screen(screen)

    def _path(self) -> None:
        found = self._pane.facts().paths
        if len(found) == 1:
            self._pane.console.dialogs.copy(found[0], "path")
        else:
            self._pane.console.dialogs.page("files of this log", [((path, ""),) for path in found])

    async def _hand_over(self, program: list[str], what: str) -> None:
        if not program:
            self._say(f"There is no {what} here: set ${what.upper()}")
            return
        place, current = self._pane.single, next(iter(self._marked()), None)
        origin = current.row.origin if current is not None else None
        mark = origin.mark if isinstance(origin, Found) else None
        if place is not None and isinstance(mark, Mark) and mark.start >= 0:
            if what == "editor" and place.size > handover.MOST_FOR_AN_EDITOR:
                self._say(
                    f"{place.size / 1e6:,.0f} MB are too much for an editor, which reads all of it: p opens a pager"
                )
                return
            by_bytes = Path(program[0]).name == "less"
            line = None if by_bytes else await self._pane.numbering.number_of(place, mark.start)
            argv = handover.at_line(program, place.key, line, mark.start)
        else:
            file = paths.state_folder() / "shown.log"
            lines = self._pane.kept.lines
            await asyncio.to_thread(write_private, file, self._pane.kept.plain_text())
            number = next((number for number, one in enumerate(lines, 1) if one is current), None)
            argv = handover.at_line(program, str(file), number, None)
        await self._pane.console.dialogs.in_terminal(argv, [" ".join(argv)])


def paths_of_person(text: str) -> Path | None:
    """The path that was typed."""
    return typed_path(text.strip()) if text.strip() else None
