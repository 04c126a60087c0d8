"""Work that goes on beside the keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from textual.dom import DOMNode
    from textual.worker import Worker


def start(node: DOMNode, work: Callable[[], Awaitable[None]], group: str, *, exclusive: bool = False) -> Worker[None]:
    """Begin ``work`` as long as ``node`` is there; with ``exclusive`` in place of what the group was doing.

    It is given what makes the coroutine, not a coroutine: one that must give way before its first step would never be
    awaited, which Python warns of.
    """

    async def working() -> None:
        await work()

    made: Any = working  # as Textual types it, a function with a result
    worker: Worker[None] = node.run_worker(made, group=group, exclusive=exclusive, exit_on_error=False)
    return worker
