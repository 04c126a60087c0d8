"""What writes the logs that are measured."""

from __future__ import annotations

import sqlite3
import threading
import time
import uuid
from contextlib import closing
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

import httpx

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from typing_extensions import Self

LINE = (
    "epoch 3 step {:09d} loss 0.4123 accuracy 0.91, 12.1 samples a second on gpu1 of 4, a line as training writes it\n"
)


def text_file(path: Path, size: int) -> int:
    """A file of about ``size`` bytes of text; how many lines it has."""
    count = 0
    with path.open("wb") as stream:
        while stream.tell() < size:
            stream.write("".join(LINE.format(number) for number in range(count, count + 20_000)).encode())
            count += 20_000
    return count


class Writer:
    """Appends lines at a rate, until it is stopped."""

    def __init__(self, paths: Sequence[Path], lines_a_second: float, pieces_a_second: float = 10) -> None:
        self._paths, self._rate, self._pieces = paths, lines_a_second, pieces_a_second
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)
        self.written = 0

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _write(self) -> None:
        started = time.perf_counter()
        while not self._stop.wait(1 / self._pieces):
            due = int((time.perf_counter() - started) * self._rate)
            data = "".join(LINE.format(number) for number in range(self.written, due))
            for path in self._paths:
                with path.open("a") as stream:
                    stream.write(data)
            self.written = due


def prefect_run(api: str, auth: str, database: Path, name: str, lines: int) -> str:
    """An ended run with so many lines at a real server; the lines are put into its database, for the time's sake."""
    user, _, password = auth.partition(":")
    with httpx.Client(base_url=f"{api.rstrip('/')}/", auth=(user, password), timeout=60) as client:

        def post(path: str, body: object) -> httpx.Response:
            return client.post(path, json=body).raise_for_status()

        flow = post("flows/", {"name": "bench"}).json()["id"]
        run = str(post("flow_runs/", {"flow_id": flow, "name": name, "state": {"type": "PENDING"}}).json()["id"])
        for state in ("RUNNING", "COMPLETED"):
            post(f"flow_runs/{run}/set_state", {"state": {"type": state}, "force": True})
    begun = datetime.now(timezone.utc) - timedelta(seconds=lines / 100)
    moments = [f"{begun + timedelta(seconds=number / 100):%Y-%m-%d %H:%M:%S.%f}" for number in range(lines)]
    rows = [
        (str(uuid.uuid4()), "prefect.flow_runs", 20, run, moment,
         f"step {number}: a message of the length that messages have, more or less, in most flows")
        for number, moment in enumerate(moments)
    ]  # fmt: skip
    with closing(sqlite3.connect(database, timeout=60)) as connection, connection:
        connection.executemany(
            "INSERT INTO log (id, name, level, flow_run_id, timestamp, message) VALUES (?, ?, ?, ?, ?, ?)", rows
        )
    return run
