"""The commands typed at the colon."""

from __future__ import annotations

import difflib
import time
from functools import partial
from typing import TYPE_CHECKING

from slurmtui.actions import registry
from slurmtui.actions.model import Context
from slurmtui.actions.retry_runs import failed_lately
from slurmtui.views.base import ViewScreen
from slurmtui.widgets.beside import start

if TYPE_CHECKING:
    from collections.abc import Callable

    from slurmtui.app import SlurmtuiApp

COMMANDS = (
    "runs", "jobs", "nodes", "partitions", "history", "shares", "plots", "clusters", "fits ", "days ", "new", "refresh",
    "help", "log", "quit", "ro", "rw", "theme ", "filter ", "filter save ",
    "filter forget ", "run ", "job ", "logs ", "retry failed", "rescue",
)  # fmt: skip

_PERFORMED = {"refresh": "refresh", "help": "help", "log": "command-log", "quit": "quit", "q": "quit"}
_VIEWS = {
    "runs": "runs", "r": "runs", "jobs": "jobs", "j": "jobs", "rescue": "rescue", "nodes": "nodes", "n": "nodes",
    "partitions": "partitions", "p": "partitions", "history": "history", "h": "history", "shares": "shares",
    "plots": "plots", "plot": "plots", "clusters": "clusters", "cluster": "clusters",
}  # fmt: skip


def run_command(console: SlurmtuiApp, text: str) -> None:
    """Run one command line, or say what was not understood."""
    word, _, rest = text.strip().partition(" ")
    rest = rest.strip()
    if word[:1].isdecimal() and isinstance(console.screen, ViewScreen) and console.screen.log_pane is not None:
        console.screen.log_pane.doing.go_to(text)
        return
    takes_rest: dict[str, Callable[[SlurmtuiApp, str], None]] = {
        "theme": lambda console, name: console.looks.use(name), "filter": _filter, "run": _go_to_run,
        "job": lambda console, job_id: console.go("jobs", job_id), "new": _new,
        "logs": _logs,
        "retry": _retry, "fits": _fits, "days": _days,
        "ro": lambda console, _: _touching(console, allowed=False),
        "rw": lambda console, _: _touching(console, allowed=True),
    }  # fmt: skip
    if word in _VIEWS:
        console.go(_VIEWS[word])
        if rest:
            _filter(console, rest)
    elif word in _PERFORMED:
        console.perform(_PERFORMED[word])
    elif word in takes_rest:
        takes_rest[word](console, rest)
    elif word:
        near = difflib.get_close_matches(word, [*_VIEWS, *_PERFORMED, *takes_rest], 1)
        console.tell(f"There is no command {word}" + (f"; did you mean {near[0]}?" if near else ""), severity="warning")


def _new(console: SlurmtuiApp, _: str) -> None:
    if isinstance(console.screen, ViewScreen):
        console.start(registry.BY_ID["run.new"], console.screen.context())


def _fits(console: SlurmtuiApp, text: str) -> None:
    """What could start now: ``fits 2 a100 16 cores 64G``."""
    from slurmtui.views.fits import answer  # noqa: PLC0415 - the console starts without paying for it

    say = partial(console.tell, severity="warning")
    start(console, partial(console.guarded, partial(answer, console, text), say), "fits", exclusive=True)


def _days(console: SlurmtuiApp, text: str) -> None:
    """How many days of ended jobs are shown: ``days 30``."""
    if text.isdecimal() and int(text[:6]):
        console.store.side.set_days(int(text[:6]))
    else:
        console.tell("Say how many days back:  days 30", severity="warning")


def _retry(console: SlurmtuiApp, which: str) -> None:
    """``retry failed``: all that failed since yesterday; ``retry`` alone: as the key does."""
    if not isinstance(console.screen, ViewScreen):
        return
    context = console.screen.context()
    if which == "failed":
        failed = failed_lately(console.store.snapshot.runs, time.time())
        if not failed:
            console.tell("No run that could be retried has failed since yesterday")
            return
        context = Context(console, "runs", marked_runs=failed, row_kind="run")
    elif which:
        console.tell("retry failed  takes all that failed since yesterday", severity="warning")
        return
    console.start(registry.BY_ID["run.retry"], context)


def _logs(console: SlurmtuiApp, which: str) -> None:
    """The Logs view, with the logs of runs, jobs or files: ``logs 4711 brave-otter /tmp/x.out``."""
    if isinstance(console.screen, ViewScreen) and console.screen.PLACE == "logs":
        console.screen.seek(f"typed {which}")
    else:
        console.go("logs", f"typed {which}")


def _touching(console: SlurmtuiApp, *, allowed: bool) -> None:
    console.read_only = not allowed
    console.tell("actions may touch again" if allowed else "read-only: nothing can be touched")


def _filter(console: SlurmtuiApp, text: str) -> None:
    """``filter save NAME``, ``filter forget NAME``, ``filter NAME``, or the filter itself."""
    screen = console.screen
    if not isinstance(screen, ViewScreen):
        return
    word, _, name = text.partition(" ")
    known, name = console.keeper.memory.filters(screen.PLACE), name.strip()
    if word in {"save", "forget"} and name:
        _name_filter(console, screen, name, screen.filter.text if word == "save" else "")
    else:
        screen.sift(known.get(text, text))


def _name_filter(console: SlurmtuiApp, screen: ViewScreen, name: str, text: str) -> None:
    """Give the filter in force a name, or (without a text) forget a name."""
    if text:
        console.keeper.keep_filter(screen.PLACE, name, text)
        console.tell(f"kept as  filter {name} : {text}")
    elif name in console.keeper.memory.filters(screen.PLACE):
        console.keeper.keep_filter(screen.PLACE, name, "")
        console.tell(f"the filter {name} is forgotten")
    else:
        console.tell(f"There is no filter to keep as {name}: type one first (/)", severity="warning")


def _go_to_run(console: SlurmtuiApp, text: str) -> None:
    found = [view for view in console.store.snapshot.runs if view.run.name == text or view.run.id.startswith(text)]
    if len(found) == 1:
        console.go("runs", f"run:{found[0].run.id}")
    else:
        console.tell(f"{len(found) or 'no'} runs are called {text}", severity="warning")
