"""The views that are imported when they are first shown, so that the console starts without paying for them."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from slurmtui.views.base import ViewScreen

_WHERE = {
    "runs": ("slurmtui.views.runs.screen", "RunsScreen"),
    "jobs": ("slurmtui.views.jobs.screen", "JobsScreen"),
    "nodes": ("slurmtui.views.nodes.screen", "NodesScreen"),
    "partitions": ("slurmtui.views.partitions.screen", "PartitionsScreen"),
    "history": ("slurmtui.views.history.screen", "HistoryScreen"),
    "shares": ("slurmtui.views.shares.screen", "SharesScreen"),
    "plots": ("slurmtui.views.plots.screen", "PlotsScreen"),
    "logs": ("slurmtui.views.logs.screen", "LogsScreen"),
    "clusters": ("slurmtui.views.clusters.screen", "ClustersScreen"),
    "rescue": ("slurmtui.views.rescue.screen", "RescueScreen"),
}


def _maker(module: str, name: str) -> Callable[[], ViewScreen]:
    def make() -> ViewScreen:
        screen: ViewScreen = getattr(importlib.import_module(module), name)()
        return screen

    return make


LATER: Mapping[str, Callable[[], ViewScreen]] = {place: _maker(*where) for place, where in _WHERE.items()}
