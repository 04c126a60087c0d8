"""Starts the console: what can be asked of SLURM at once is on its way before the rest is even imported."""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING

from slurmtui import log
from slurmtui.config import load_config
from slurmtui.errors import UsageError
from slurmtui.session import open_session
from slurmtui.theme_files import config_folder, theme_names
from slurmtui.views.keeper import Keeper

if TYPE_CHECKING:
    import argparse

    from slurmtui.session import Session


def run_console(arguments: argparse.Namespace) -> int:
    """Open the console and stay until it is left; return the exit code."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError("The console needs a terminal. For scripts there are verbs: slurmtui --help lists them.")
    log.set_up()
    config = load_config(arguments.config)
    known = theme_names(config_folder(config))
    if arguments.theme and arguments.theme not in known:
        raise UsageError(f"There is no theme {arguments.theme!r}. There are: {', '.join(known)}.")
    session = open_session(config)
    keeper = Keeper(session)
    early = session.slurm.ask_early(everyone=keeper.memory.view("jobs").everyone)
    try:
        return _opened(session, keeper, arguments)
    finally:
        early.leave()


def _opened(session: Session, keeper: Keeper, arguments: argparse.Namespace) -> int:
    from slurmtui.app import SlurmtuiApp  # noqa: PLC0415 - the longest part of the start, during which SLURM answers

    app = SlurmtuiApp(session, read_only=arguments.read_only, theme=arguments.theme, view=arguments.view, keeper=keeper)
    gc.freeze()  # what has been imported stays: the collector need not look at it again while somebody types
    gc.enable()
    sys.setswitchinterval(0.001)  # a thread that sorts a large queue never makes a key wait for longer
    # Without the mouse the terminal keeps its own selection, and a lost line leaves no mouse mode behind.
    return app.run(mouse=False) or 0
