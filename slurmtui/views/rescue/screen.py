"""The Rescue view: what ended without saying so, with the proof and the safe repairs. Nothing is done unasked."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from slurmtui.actions.model import Context
from slurmtui.models.text import visible
from slurmtui.store.rescue import Beyond, find_cases
from slurmtui.store.rescue_look import look_beyond
from slurmtui.views.base import ViewScreen
from slurmtui.views.keys import bindings_for
from slurmtui.views.rescue.rows import case_lines, case_rows, columns
from slurmtui.widgets.beside import start

if TYPE_CHECKING:
    from slurmtui.models.rescue import Case
    from slurmtui.store.snapshot import Snapshot
    from slurmtui.widgets.bar import Piece
    from slurmtui.widgets.columns import Column

_LOOK_EVERY = 30.0


class RescueScreen(ViewScreen):
    """Runs whose driver or jobs are gone, jobs whose run is gone, cancels that hang, files that lie about."""

    PLACE = "rescue"
    BINDINGS = bindings_for("rescue")
    HELP = (
        "What ended without saying so, with what each source said of it. R does the repair that is chosen, after a "
        "question with its plan. Nothing here is ever done by itself."
    )

    def __init__(self) -> None:
        super().__init__()
        self._beyond: Beyond | None = None
        self._whole = False  # it was looked after SLURM and Prefect had both answered
        self._looked = 0.0
        self._cases: dict[str, Case] = {}
        self._doing |= {"open": self.toggle_detail}

    def columns_for(self, width: int) -> tuple[Column, ...]:
        """The table's columns for a terminal of this width."""
        return columns(width)

    def rebuild(self, snapshot: Snapshot) -> None:
        """The cases; those of runs and jobs are as fresh as the snapshot."""
        if _both_answer(snapshot) and not self._whole and self._beyond is not None:
            self._beyond = None
            self.look_again()
        cases = find_cases(snapshot, self._beyond)
        self._cases = {case.id: case for case in cases}
        rows = case_rows(cases)
        self.table.empty_text = self._empty_words(snapshot)
        self.table.set_source(rows, index_of=rows.index_of)

    def _empty_words(self, snapshot: Snapshot) -> str:
        for name, error in (("SLURM", snapshot.queue.error), ("Prefect", snapshot.flow_runs.error)):
            if error:
                return f"What needs rescue cannot be told while {name} does not answer: {visible(error)}"
        if not self._whole:
            return "Looking…"
        return "Nothing to rescue: every run, job and file is accounted for"

    def tab_words(self, snapshot: Snapshot) -> str:
        """How many."""
        del snapshot
        return f"{len(self._cases)} to rescue" if self._cases else ""

    def context(self) -> Context:
        """The case under the cursor, or those that are marked."""
        case = self._cases.get(self.table.cursor_key or "")
        marked = tuple(self._cases[key] for key in self.table.marks_shown() if key in self._cases)
        return Context(
            self.console, self.PLACE, case=case, marked_cases=marked, row_kind="case" if case else "",
            pane=self.pane_shown, hidden_marks=self.hidden_marks,
        )  # fmt: skip

    def detail_lines(self) -> list[list[Piece]]:
        """The evidence of the case under the cursor, and its repairs."""
        case = self._cases.get(self.table.cursor_key or "")
        return case_lines(case) if case is not None else [[("Nothing is under the cursor", "$text-muted")]]

    def log_source(self) -> None:
        """Nothing here has a log."""
        return

    def on_screen_resume(self) -> None:
        """On screen: look."""
        super().on_screen_resume()
        self.look_again()

    def tick(self) -> None:
        """Look again now and then."""
        super().tick()
        if time.monotonic() - self._looked > _LOOK_EVERY:
            self.look_again()

    def look_again(self) -> None:
        """Look through the state folder and ask Prefect by id."""
        self._looked = time.monotonic()
        start(self, self._look, "look", exclusive=True)

    async def _look(self) -> None:
        whole = _both_answer(self.snapshot)
        self._beyond = await look_beyond(self.console.session, self.snapshot)
        self._whole = whole
        self.show_snapshot(self.snapshot)


def _both_answer(snapshot: Snapshot) -> bool:
    """Whether it can be told of files that nobody needs them any more."""
    return snapshot.queue.good and snapshot.flow_runs.good
