"""The console's process imports neither Prefect nor Dask, whatever is opened in it."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from slurmtui.session import Session

PROGRAM = """
import asyncio, sys
from slurmtui.app import SlurmtuiApp
from slurmtui.config import load_config
from slurmtui.session import open_session

async def main():
    app = SlurmtuiApp(open_session(load_config()))
    async with app.run_test(size=(120, 40)) as pilot:
        for _ in range(1200):
            await pilot.pause(0.05)
            if app.store.snapshot.queue.at and app.store.snapshot.flow_runs.at:
                break
        else:
            raise SystemExit("neither SLURM nor Prefect answered")
        for key in ("d", "l", "escape", "2", "d", "a", "slash", "x", "escape", "1", "N", "escape", "at", "escape"):
            await pilot.press(key)
            await pilot.pause(0.1)
    print(" ".join(sorted(name for name in sys.modules if name.split(".")[0] in sys.argv[1:])))

asyncio.run(main())
"""
FORBIDDEN = ("prefect", "prefect_dask", "dask", "dask_jobqueue", "distributed")


async def test_the_console_never_imports_prefect_or_dask(session: Session) -> None:
    assert session.prefect is not None
    done = subprocess.run(  # noqa: ASYNC221 - nothing else runs in this test
        [sys.executable, "-c", PROGRAM, *FORBIDDEN], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == ""
