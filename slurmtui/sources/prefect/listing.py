"""Lists longer than a page, and pages that the server cannot make.

The server gives 200 rows at most. Between two pages rows may come and go, so pages overlap a little and rows are told
apart by id. One run with a broken label turns every page that holds it into a 500: such a page is halved until the rest
of it is found; what cannot be shown is counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

from slurmtui.errors import PrefectError, PrefectUnreachable
from slurmtui.sources.prefect import wire

if TYPE_CHECKING:
    from slurmtui.sources.prefect.transport import Transport

PAGE = 200
_OVERLAP = 5
_FAULTS_ENDURED = 40
"""So many faults in one list, and it is the server that is ill, not a row."""

Row = TypeVar("Row", bound=msgspec.Struct)


class Listed(msgspec.Struct, Generic[Row]):
    """What was found: the rows, whether there are more than were asked for, how many cannot be shown."""

    rows: list[Row]
    cut: bool = False
    unreadable: int = 0


class Lister(Generic[Row]):
    """Reads one list of one path, a page at a time."""

    def __init__(self, transport: Transport, path: str, kind: type[Row], body: dict[str, Any]) -> None:
        self._transport = transport
        self._path = path
        self._kind = kind
        self._body = body
        self._faults = 0
        self._unreadable: set[int] = set()  # places in the list; pages overlap

    async def read(self, limit: int) -> Listed[Row]:
        """The first ``limit`` rows.

        Raises:
            PrefectError: as the transport says.
        """
        found: dict[str, Row] = {}
        offset = 0
        while True:
            # One row more than is wanted tells whether there are more.
            size = min(PAGE, limit + 1 - len(found) + (_OVERLAP if offset else 0))
            rows, count = await self._page(offset, size)
            for row in rows:
                found.setdefault(row.id, row)  # type: ignore[attr-defined]
            if count < size or len(found) > limit:
                break
            offset += max(1, count - _OVERLAP)
        rows = list(found.values())
        return Listed(rows[:limit], cut=len(rows) > limit, unreadable=len(self._unreadable))

    async def _page(self, offset: int, size: int) -> tuple[list[Row], int]:
        """The rows of a page, and how many rows the server has there (those that cannot be shown included)."""
        try:
            content = await self._transport.call(
                "POST", self._path, {**self._body, "offset": offset, "limit": size}, repeat=True
            )
        except PrefectError as error:
            if error.status != 500:
                raise
            self._faults += 1
            if self._faults > _FAULTS_ENDURED:
                raise
            return await self._halves(offset, size)
        try:
            rows, odd, count = wire.decode_rows(content, self._kind)
        except msgspec.MsgspecError as error:
            where = self._transport.connection.where
            raise PrefectUnreachable(f"Prefect at {where} sent an answer that is no list ({error}).") from error
        self._unreadable.update(offset + place for place in odd)
        return rows, count

    async def _halves(self, offset: int, size: int) -> tuple[list[Row], int]:
        if size == 1:
            self._unreadable.add(offset)
            return [], 1
        half = size // 2
        first, first_count = await self._page(offset, half)
        if first_count < half:
            return first, first_count
        rest, rest_count = await self._page(offset + half, size - half)
        return first + rest, first_count + rest_count
