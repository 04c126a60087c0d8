"""Painted answers of the sources of single views, and looking at the screen, for the tests of those views."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Any

from slurmtui.models.gres import parse_gres
from slurmtui.models.history import PastJob, day_start, days_back
from slurmtui.models.job_table import QUEUE, JobTable
from slurmtui.models.node import Node, parse_node_state
from slurmtui.models.partition_use import ClusterUse, JobCounts, PartitionFacts
from slurmtui.models.share import Limits, Share, Shares
from slurmtui.store.history_book import History
from slurmtui.store.poller import Timing
from slurmtui.store.side_feed import SideFeed
from slurmtui.store.side_feeds import OnNodes, SideFeeds
from tests.records import record_of
from tests.ui.conftest import BRAVE

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.pilot import Pilot

    from slurmtui.session import Session
    from tests.ui.conftest import PaintedApp

SIZES = [(160, 48), (80, 24), (40, 10)]
TIMING = Timing(floor=0.05, fast=0.15, normal=0.15, idle=0.15)
PLACES = {"nodes": "3", "partitions": "4", "history": "5", "shares": "6", "plots": "7"}


def job_on(job_id: str, nodes: str, **fields: str) -> JobTable:
    usual = {"id": job_id, "raw_id": job_id, "user": "bob", "state": "RUNNING", "partition": "gpu", "nodes": nodes,
             "cpus": "4", "name": "x[/y]\x1b]52;", "elapsed": "5:00"}  # fmt: skip
    return JobTable(record_of(QUEUE, usual, **fields))


def some_cluster() -> ClusterUse:
    def node(name: str, parts: str, state: str, cpus: tuple[int, int], gpus: str = "", **facts: Any) -> Node:
        gres, _, used = gpus.partition("|")
        return Node(
            name=name, partitions=tuple(parts.split(",")), state=parse_node_state(state), cpus=cpus[1],
            cpus_used=cpus[1] - cpus[0], cpus_idle=cpus[0] if "drain" not in state and "down" not in state else 0,
            memory=16000, memory_used=1000.0 * (cpus[1] - cpus[0]), load=1.5, gres=parse_gres(gres),
            gres_used=parse_gres(used), **facts,
        )  # fmt: skip

    nodes = (
        node("gpu1", "gpu", "mixed", (12, 16), "gpu:4,gpu:a100:4(S:0-1)|gpu:a100:1(IDX:0)"),
        node("gpu2", "gpu", "idle", (16, 16), "gpu:a100:2,gpu:v100:2|gpu:a100:0(IDX:N/A),gpu:v100:0(IDX:N/A)"),
        node("n1", "debug,batch", "allocated", (0, 8)),
        node("n2", "debug,batch", "IDLE+DRAIN*", (8, 8), reason="disk [x]\x1b[31m", since=time.time() - 7200, by="eve"),
        node("n10", "batch", "idle~", (8, 8)),
        node("n11", "batch", "MIXED+PLANNED", (4, 8)),
        node("n12", "batch", "sublimated", (8, 8)),
    )
    partitions = (
        PartitionFacts(name="batch", state="up", max_time=172800, size="1-infinite"),
        PartitionFacts(name="debug", state="up", max_time=1800, default=True),
        PartitionFacts(name="gpu", state="up", max_time=86400, size="1-2"),
        PartitionFacts(name="old", state="drain"),
    )
    return ClusterUse(nodes, partitions)


def some_history() -> History:
    now = time.time()
    days = days_back(now, 7)
    now = max(now, day_start(days[0]) + 600)  # all but the oldest ended today, also right after midnight

    def job(number: int, ago: float, job_id: str = "", **facts: Any) -> PastJob:
        made: dict[str, Any] = {
            "partition": "gpu", "state": "COMPLETED", "name": "train", "elapsed": 60, "nodes": "gpu1", "cpus": 8,
            "submit": now - ago - 100, "start": now - ago - 60, "node_count": 1, "account": "research", **facts,
        }  # fmt: skip
        return PastJob(id=job_id or str(number), raw_id=str(number), end=now - ago, **made)

    jobs = (
        job(900, 60, name="train-11111111", comment=f"slurmtui:{BRAVE}"),
        job(901, 70, state="TIMEOUT", name="slow|x", exit_code=0, signal=15),
        *(job(910 + n, 80 + n, f"909_{n}", state="FAILED" if n == 3 else "COMPLETED", name="sweep") for n in range(12)),
        job(950, 100, state="COMPLETED", name="twice"),
        job(950, 400, state="REQUEUED", name="twice", start=now - 500),
        job(960, 200000, state="OUT_OF_MEMORY", name="old", partition="batch"),
    )
    return History(jobs=jobs, days=tuple(days), read=frozenset(days))


def some_shares() -> Shares:
    return Shares(
        shares=(
            Share(account="research", shares="10", norm_shares=0.5, usage=0.8),
            Share(
                account="research", user="alice", shares="3", norm_shares=0.75, usage=0.25, fair_share=0.31, level=3.0
            ),
        ),
        limits=(
            Limits(kind="account", name="research", qos=("normal", "long"), values=(("a job", "cpu=8"),)),
            Limits(kind="qos", name="long", values=(("each user", "cpu=16,gres/gpu=2"), ("time limit", "7-00:00:00"))),
        ),
    )


class PaintedSide(SideFeeds):
    """Feeds that answer what a test paints, and count how often they are asked."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.paint: dict[str, Any] = {
            "nodes": some_cluster(), "counts": {"gpu": JobCounts(3, 40), "batch": JobCounts(1, 9535)},
            "on_nodes": OnNodes(), "history": some_history(), "shares": some_shares(),
        }  # fmt: skip
        self.asked: Counter[str] = Counter()
        for name, empty in (
            ("nodes", ClusterUse()), ("counts", {}), ("on_nodes", OnNodes()), ("history", History()),
            ("shares", Shares()),
        ):  # fmt: skip
            setattr(self, name, SideFeed(name, self._giver(name), empty, TIMING))

    def _giver(self, name: str) -> Callable[[], Any]:
        async def give() -> Any:
            self.asked[name] += 1
            found = self.paint[name]
            if isinstance(found, Exception):
                raise found
            return found

        return give


def with_side(make_console: Callable[..., PaintedApp]) -> Callable[..., PaintedApp]:
    """Consoles whose single views are painted too."""

    def made(**options: Any) -> PaintedApp:
        app = make_console(**options)
        app.store._side = PaintedSide(app.session)
        return app

    return made


def side_of(pilot: Pilot[Any]) -> PaintedSide:
    side: PaintedSide = pilot.app.store.side  # type: ignore[attr-defined]
    return side


def line_of(text: str, start: str) -> str:
    return next(line for line in text.splitlines() if line.lstrip(" ▸▾●").startswith(start))
