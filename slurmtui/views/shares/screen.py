"""The Shares view."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from slurmtui.actions.model import Context
from slurmtui.models.amounts import counted_of
from slurmtui.models.share import Limits, Share, Shares
from slurmtui.models.text import visible
from slurmtui.store.my_use import MyUse, my_use
from slurmtui.store.query_cluster import SHARE_FIELDS
from slurmtui.store.query_objects import ObjectFilter
from slurmtui.views.keys import bindings_for
from slurmtui.views.shares.rows import columns, limits_lines, share_key, share_lines, share_rows
from slurmtui.views.side import SideScreen
from slurmtui.widgets.bar import Bar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

    from slurmtui.models.job_table import JobTable
    from slurmtui.store.side_feed import SideFeed
    from slurmtui.store.snapshot import Snapshot
    from slurmtui.widgets.bar import Piece
    from slurmtui.widgets.columns import Column


class SharesScreen(SideScreen):
    """What the cluster promises me, what I have used, and what binds my jobs."""

    PLACE = "shares"
    BINDINGS = bindings_for("shares")
    HELP = (
        "What each of your accounts promises you (share), what you used of it, and the fair-share that follows: 1 is "
        "best and goes into the priority of your jobs. Beneath, the limits of your accounts and of the QOS you may use."
    )
    SOURCE = "accounting"

    def __init__(self) -> None:
        super().__init__()
        self.filter: ObjectFilter[Share | Limits] = ObjectFilter(SHARE_FIELDS)
        self.note = Bar(id="note")
        self._use: tuple[JobTable | None, dict[tuple[str, str], MyUse]] = (None, {})
        self._things: dict[str, Share | Limits] = {}
        self._doing["open"] = self.toggle_detail

    def feeds(self) -> Sequence[SideFeed[Any]]:
        """Shares and limits."""
        return (self.console.store.side.shares,)

    @property
    def _data(self) -> Shares:
        data: Shares = self.console.store.side.shares.part.data
        return data

    def columns_for(self, width: int) -> tuple[Column, ...]:
        """The table's columns for a terminal of this width."""
        return columns(width)

    def rebuild(self, snapshot: Snapshot) -> None:
        """The lines that match."""
        table = snapshot.queue.data
        if self._use[0] is not table:
            self._use = (table, my_use(table, snapshot.user))
        data = self._data
        matching = self.filter.sift([*data.shares, *data.limits])
        shares = [one for one in matching if isinstance(one, Share)]
        limits = [one for one in matching if isinstance(one, Limits)]
        self._things = {share_key(one): one for one in shares} | {one.key: one for one in limits}
        rows = share_rows(shares, limits, self._use[1])
        self.table.empty_text = self._empty_words()
        self.table.set_source(rows, index_of=rows.index_of)

    def _empty_words(self) -> str:
        if self.console.store.side.shares.part.at is None:
            return self.waiting_words()
        if self.filter.text:
            return f"Nothing matches  {self.filter.text}  (escape clears the filter)"
        return self._data.why_none or "There is neither a share nor a limit"

    def complaint_words(self, snapshot: Snapshot, now: float) -> str:
        """What is old, else why there are no limits."""
        error = " ".join(self._data.limits_error.split())
        told = f" The limits are not known: {visible(error)}" if error else ""
        return super().complaint_words(snapshot, now) or told

    def compose(self) -> ComposeResult:
        """As every view, with a line that says why there is no fair-share."""
        yield from super().compose()
        yield self.note

    def on_mount(self) -> None:
        """The line stands above the list."""
        super().on_mount()
        self.move_child(self.note, before=self.table)

    def paint_lines(self) -> None:
        """The usual lines, and the one of this view."""
        super().paint_lines()
        why = self._data.why_none
        self.note.show([(f" {why}", "$text-muted")] if why else [])
        self.note.display = bool(why)

    def tab_words(self, snapshot: Snapshot) -> str:
        """Whose, how many of them when not all are shown, and how old."""
        number = len(self._data.shares) + len(self._data.limits)
        some = f" · {counted_of(len(self._things), number, 'line')}" if len(self._things) < number else ""
        return f"{visible(snapshot.user)}{some}{self.age_words()}"

    def context(self) -> Context:
        """The line under the cursor."""
        kind = "share" if self.table.cursor_key in self._things else ""
        return Context(self.console, self.PLACE, row_kind=kind, pane=self.pane_shown)

    def detail_lines(self) -> list[list[Piece]]:
        """Everything about the line under the cursor."""
        thing = self._things.get(self.table.cursor_key or "")
        if thing is None:
            return super().detail_lines()
        if isinstance(thing, Limits):
            return limits_lines(thing)
        own = (one for one in self._data.limits if one.kind == "account")
        same = (one for one in own if (one.name, one.partition) == (thing.account, thing.partition))
        return share_lines(thing, next(same, None) if thing.user else None)
