"""The Partitions view."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from slurmtui.actions.model import Context
from slurmtui.errors import SlurmtuiError
from slurmtui.models.amounts import counted_of
from slurmtui.models.partition_use import PartitionUse, partition_uses
from slurmtui.store.query_cluster import PARTITION_FIELDS
from slurmtui.store.query_objects import ObjectFilter
from slurmtui.views import fits
from slurmtui.views.keys import bindings_for
from slurmtui.views.order import Order
from slurmtui.views.partitions.columns import SORTS, columns
from slurmtui.views.partitions.rows import partition_lines, partition_rows
from slurmtui.views.side import OrderedScreen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slurmtui.models.partition_use import ClusterUse, JobCounts
    from slurmtui.store.side_feed import SideFeed
    from slurmtui.store.snapshot import Snapshot
    from slurmtui.widgets.bar import Piece
    from slurmtui.widgets.columns import Column


class PartitionsScreen(OrderedScreen):
    """Every partition that SLURM shows this user, with what is free in it now."""

    PLACE = "partitions"
    BINDINGS = bindings_for("partitions")
    HELP = (
        "What is free now, by partition and type of GPU: 14/16 is fourteen of sixteen. Nodes that are drained, down or "
        "reserved have nothing free. enter shows a partition's nodes, f what would have room now."
    )

    def __init__(self) -> None:
        super().__init__()
        self.filter: ObjectFilter[PartitionUse] = ObjectFilter(PARTITION_FIELDS)
        self.order: Order[PartitionUse] = Order(self, SORTS, "by name")
        self._uses: dict[str, PartitionUse] = {}
        self._told: dict[str, str] = {}
        self._made: tuple[ClusterUse | None, dict[str, JobCounts] | None, tuple[PartitionUse, ...]] = (None, None, ())
        self._asking = ""
        self._doing |= {"open": self.open_row, "fits": lambda: fits.ask(self.console), **self.order.doing()}

    def feeds(self) -> Sequence[SideFeed[Any]]:
        """Nodes, and jobs by partition."""
        side = self.console.store.side
        return (side.nodes, side.counts)

    def columns_for(self, width: int) -> tuple[Column, ...]:
        """The table's columns for a terminal of this width."""
        return columns(width)

    def rebuild(self, snapshot: Snapshot) -> None:
        """The partitions that match."""
        del snapshot
        shown = [use for use in self.filter.sift(self._all_uses()) if use.unhealthy or not self.wrong]
        self._uses = {f"partition:{use.facts.name}": use for use in shown}
        rows = partition_rows(self.order.sorted(shown))
        self.table.empty_text = self._empty_words()
        self.table.set_source(rows, index_of=rows.index_of)

    def _all_uses(self) -> tuple[PartitionUse, ...]:
        """Every partition with its sums, which are made once an answer."""
        side = self.console.store.side
        cluster, counts = side.nodes.part.data, side.counts.part.data if side.counts.part.at is not None else None
        if self._made[0] is not cluster or self._made[1] is not counts:
            self._made = (cluster, counts, partition_uses(cluster, counts))
        return self._made[2]

    def _empty_words(self) -> str:
        if self.console.store.side.nodes.part.at is None:
            return self.waiting_words()
        if self.filter.text:
            return f"No partition matches  {self.filter.text}  (escape clears the filter)"
        if self.wrong:
            return "Every partition is up, and most of its nodes are in order  (z shows all)"
        return "SLURM shows you no partition"

    def tab_words(self, snapshot: Snapshot) -> str:
        """How many, and of how many."""
        del snapshot
        count = len(self.console.store.side.nodes.part.data.partitions)
        return f"{counted_of(len(self._uses), count, 'partition')}{self.age_words()}" if count else ""

    def _use(self) -> PartitionUse | None:
        return self._uses.get(self.table.cursor_key or "")

    def context(self) -> Context:
        """The partition under the cursor."""
        use = self._use()
        return Context(
            self.console, self.PLACE, partition=use, row_kind="partition" if use else "", pane=self.pane_shown
        )

    def open_row(self) -> None:
        """Show the partition's nodes."""
        use = self._use()
        if use is not None:
            self.console.command(f"nodes partition={use.facts.name}")

    def detail_lines(self) -> list[list[Piece]]:
        """The sums, and what scontrol says of it."""
        use = self._use()
        if use is None:
            return super().detail_lines()
        name = use.facts.name
        if name not in self._told and name != self._asking:
            self._asking = name
            self.start(partial(self._ask, name), "detail")
        return partition_lines(use, self._told.get(name))

    async def _ask(self, name: str) -> None:
        session = self.console.session
        try:
            argv = ("scontrol", "show", "partition", name)
            finished = await session.runner.run(argv, timeout=session.config.slurm.timeout_seconds)
            self._told[name] = finished.stdout.decode("utf-8", "replace")
        except SlurmtuiError as error:
            self._told[name] = str(error)
        self._asking = ""
        self.paint_pane()
