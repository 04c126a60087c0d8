"""What a log is made of, and places and news in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from slurmtui.store.log_merge import Mark

if TYPE_CHECKING:
    from slurmtui.store.log_files import FileLines
    from slurmtui.store.log_merge import Found
    from slurmtui.store.log_prefect import PrefectLines
    from slurmtui.store.snapshot import Snapshot


class Live(Protocol):
    """What is followed: files and perhaps a run at Prefect's server."""

    why_empty: str

    @property
    def files(self) -> list[FileLines]:
        """The files, as far as they are known."""

    @property
    def prefect(self) -> PrefectLines | None:
        """The lines at Prefect's server, if there are any."""

    @property
    def notes(self) -> list[Found]:
        """Sentences that stand between the lines."""

    def begin_at_end(self) -> None:
        """Begin without any line."""

    def update(self, snapshot: Snapshot) -> None:
        """Tell what is known now."""

    async def gather(self) -> list[Found]:
        """What is new, as the places brought it; at the first call nothing but where their ends are."""

    def close(self) -> None:
        """Give the file handles back."""


class Spot(NamedTuple):
    """Somewhere in the log: a line of a file, or (without ``place``) a moment."""

    order: float
    place: str = ""
    at: int = 0


class News(NamedTuple):
    """What a look has brought.

    Attributes:
        found: new lines at the end of the window.
        reset: show these lines instead of the window.
    """

    found: list[Found]
    reset: bool = False


def spot_of(found: Found) -> Spot:
    """Where a line stands."""
    if isinstance(found.mark, Mark) and found.mark.start >= 0:
        return Spot(found.order, found.place, found.mark.start)
    return Spot(found.order)
