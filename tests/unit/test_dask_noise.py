"""What Dask logs while it is shut down counts as no failure, and what failed does (tests/data/dask: real logs)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from slurmtui.models.dask_noise import CONTEXT, noise_among
from slurmtui.sources.files import search
from slurmtui.sources.files.search import Until
from slurmtui.store.log_errors import ERRORS
from slurmtui.store.log_finding import Finder
from tests.unit.test_log_document import Files, opened

if TYPE_CHECKING:
    from collections.abc import Sequence

DATA = Path(__file__).parent.parent / "data" / "dask"
STARTS = "2026-11-30 17:58:14,241 - distributed.worker - INFO -       Start worker at:      tls://192.0.2.2:36121\n"
CLOSES = "2026-11-30 17:58:33,055 - distributed.worker - INFO - Stopping worker at tls://192.0.2.2:1. Reason: x\n"
CANCELLED = "slurmstepd-n1: error: *** JOB 4 ON n1 CANCELLED AT 2026-11-30T17:58:33 ***\n"
DASK = (
    '  File "/home/me/venv/lib/python3.11/site-packages/distributed/comm/core.py", line 336, in connect\n    await x\n'
)
SSL = '  File "/usr/lib/python3.11/ssl.py", line 1383, in do_handshake\n    self._sslobj.do_handshake()\n'
MINE = '  File "/home/me/flow.py", line 3, in fit\n    raise ValueError\n'


def said(level: str, words: str, speaker: str = "distributed.nanny") -> str:
    return f"2026-11-30 17:58:34,000 - {speaker} - {level} - {words}\n"


def trace(*frames: str, raised: str) -> str:
    return f"Traceback (most recent call last):\n{''.join(frames)}{raised}\n"


def failures(text: str) -> list[str]:
    data = text.encode()
    return [data[start:].split(b"\n")[0].decode() for start in ERRORS.lines(data, 0, len(data))]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("ended_well.err", []),
        ("restarting.err", ["exceeded 95% memory budget"] * 2),
        ("failed_task.err", ["| ERROR", "Traceback", "| ERROR"]),
        ("failed_flow.log", ["| ERROR", "Traceback"]),
        ("killed_twice.log", ["workers died", "| ERROR", "Traceback", "out of memory"] * 2),
    ],
)
def test_of_real_logs_only_what_failed_counts(name: str, told: Sequence[str]) -> None:
    found = failures((DATA / name).read_text())
    assert len(found) == len(told)
    assert all(words in line for words, line in zip(told, found, strict=True))


@pytest.mark.parametrize(
    "text",
    [
        said("ERROR", "Exception in callback", "tornado.application") + trace(DASK, SSL, raised="StreamClosedError"),
        said("INFO", "Batched Comm Closed", "distributed.batched")
        + trace(DASK, raised="a.b.CommClosedError: in <TLS>"),
        said("ERROR", "Task exception was never retrieved", "asyncio")
        + "future: <Task finished name='Task-2'>\n"
        + trace(DASK, SSL, raised="ConnectionResetError: [Errno 104] Connection reset by peer"),
        "18:09:21.588 | ERROR   | distributed.core - x\n" + trace(DASK, raised="CommClosedError"),
        CLOSES + said("ERROR", "Timed out") + trace(DASK, raised="TimeoutError"),
        CANCELLED + said("ERROR", "Worker failed to connect"),
        said("ERROR", "Exception in callback")
        + trace(SSL, raised="ssl.SSLEOFError: x")
        + "\nDuring handling of the above exception, another exception occurred:\n\n"
        + trace(DASK, raised="ValueError: invalid operation on non-started TCPListener"),
    ],
)
def test_noise_is_no_failure_and_hidden_whole(text: str) -> None:
    assert failures(text) == []
    flags = noise_among(text.encode().split(b"\n")[:-1])
    assert all(flags[1:] if text.startswith((CLOSES, CANCELLED)) else flags)
    assert any(flags)


@pytest.mark.parametrize(
    "text",
    [
        # Its own, of a process of its own, between Dask's lines.
        CLOSES + trace(MINE, raised="ConnectionResetError: mine"),
        CLOSES + said("INFO", "hello") + trace(MINE, raised="ValueError: mine"),
        # What the code raised, as Dask tells it.
        said("ERROR", "Compute Failed", "distributed.worker"),
        CLOSES + said("ERROR", "Exception in callback") + trace(DASK, MINE, raised="CommClosedError"),
        # While the worker works.
        said("ERROR", "Timed out") + trace(DASK, raised="TimeoutError"),
        said("ERROR", "Worker failed to connect"),
        CLOSES + STARTS + said("ERROR", "Worker failed to connect"),
        # Others' words.
        CANCELLED + "2026-11-30 17:58:34,000 - mine.distributed - ERROR - x\n",
        CANCELLED + "2026-11-30 17:58:34,000 - distributedly - ERROR - x\n",
        CANCELLED + "17:58:34.000 | ERROR   | Flow run 'distributed.x' - failed\n",
    ],
)
def test_a_failure_stays_one(text: str) -> None:
    assert failures(text)
    assert not any(noise_among(text.encode().split(b"\n")[:-1]))


@pytest.mark.parametrize("gap", [0, 100, CONTEXT // 2])
def test_it_is_known_across_the_blocks_of_a_search(tmp_path: Path, gap: int) -> None:
    """What tells that it is noise may stand in the block before, or behind."""
    path = tmp_path / "job.err"
    noise = said("ERROR", "Timed out") + trace(DASK * 20, raised="TimeoutError")
    padding = "x\n" * ((search.BLOCK - gap - len(CLOSES)) // 2)
    path.write_text("Bus error\n" + padding[10:] + CLOSES + noise + "y\n" * 100)
    with path.open("rb") as stream:
        handle, size = stream.fileno(), path.stat().st_size
        assert search.find_before(handle, size, ERRORS, Until()) == 0
        assert search.find_after(handle, 1, size, ERRORS, Until()) is None
        hits = search.Hits(ERRORS)
        assert hits.extend(handle, size, Until())
        assert hits.total == 1


async def test_the_log_of_a_run_that_went_well_does_not_end_in_a_traceback(tmp_path: Path) -> None:
    path = tmp_path / "33.err"
    path.write_text((DATA / "ended_well.err").read_text())
    document, window = await opened(Files(path), 10)
    while not document.window.at_start:
        window[:0] = await document.older(10)
    assert [one.entry.text for one in window if "Traceback" in one.entry.text or "File" in one.entry.text] == []
    assert "Finished in state Completed" in " ".join(one.entry.text for one in window)
    finder = Finder(document, ERRORS)
    assert await finder.count()
    assert finder.total == 0
    assert await finder.from_end(-1) is None


async def test_it_is_hidden_while_it_is_written_too(tmp_path: Path) -> None:
    path = tmp_path / "33.err"
    path.write_text("mine\n")
    document, window = await opened(Files(path), 10)
    with path.open("a") as stream:
        stream.write(CLOSES)
    assert not (await document.look(10, following=True)).found
    with path.open("a") as stream:
        stream.write(said("ERROR", "Timed out") + trace(DASK, raised="TimeoutError") + "mine as well\n")
    assert [one.entry.text for one in (await document.look(10, following=True)).found] == ["mine as well"]
    assert [one.entry.text for one in window] == ["mine"]
