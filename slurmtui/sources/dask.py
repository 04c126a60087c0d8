"""A Dask scheduler's own counts, from the dashboard that a driver's log names. No answer is no news: it is optional."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from slurmtui.models.run_detail import DaskCounts

if TYPE_CHECKING:
    from pathlib import Path

SECONDS = 1.0
_ADDRESS = re.compile(rb"dashboard is available at (http://[\w.:\[\]-]{1,255})/status")
_READ = 1_000_000


def dashboard_address(log: Path) -> str:
    """The newest dashboard that a driver's log names; empty when it names none."""
    try:
        with log.open("rb") as stream:
            stream.seek(max(0, log.stat().st_size - _READ))
            found = _ADDRESS.findall(stream.read())
    except OSError:
        return ""
    return str(found[-1].decode("ascii")) if found else ""


async def dask_counts(address: str) -> DaskCounts | None:
    """What the scheduler counts now; None when it does not answer within a second."""
    import httpx  # noqa: PLC0415 - a tenth of a second, and only when somebody looks

    try:
        # Not by way of a proxy: it is a port of this cluster.
        async with httpx.AsyncClient(timeout=SECONDS, trust_env=False) as client:
            answer = await client.get(f"{address}/json/counts.json")
            facts: Any = msgspec.json.decode(answer.content) if answer.is_success else None
    except (httpx.HTTPError, httpx.InvalidURL, msgspec.DecodeError, UnicodeError):
        return None
    return _counts(address, facts)


def _counts(address: str, facts: Any) -> DaskCounts | None:
    if not isinstance(facts, dict):
        return None
    numbers = {name: facts.get(name) for name in ("workers", "processing", "waiting", "erred")}
    return DaskCounts(address=address, **{name: number for name, number in numbers.items() if isinstance(number, int)})
