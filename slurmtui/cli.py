"""The command line: verbs for scripts, and without a verb the console.

A verb's module is imported only when it is called, so that the console starts without paying for the others.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import sys
from typing import TYPE_CHECKING

from slurmtui import __version__
from slurmtui.errors import SlurmtuiError

if TYPE_CHECKING:
    from collections.abc import Sequence

VIEWS = ("runs", "jobs", "nodes", "partitions", "history", "shares", "plots", "logs", "clusters", "rescue")
VERBS = {
    "runs": "flow runs with their SLURM jobs and verdicts",
    "jobs": "the SLURM queue",
    "logs": "the logs of a run or a job",
    "submit": "submit a flow or an sbatch script",
    "cancel": "cancel runs or jobs, and see that they are gone",
    "retry": "run a failed, crashed or cancelled run again",
    "rescue": "what ended without saying so: lost runs, orphaned jobs, leftovers; and repairs",
    "cluster": "a Dask cluster on SLURM that flows share: up, down, ls",
    "server": "start, stop or look at the private Prefect server",
    "sandbox": "a private SLURM on this machine",
    "config": "write, check or show the configuration",
    "doctor": "check that everything needed is here and answers",
}
"""Each verb is ``slurmtui.verbs.<verb>`` with ``configure(parser)`` and ``run(arguments) -> int``."""


def build_parser() -> argparse.ArgumentParser:
    """The parser of what stands before a verb."""
    listing = "\n".join(f"  {verb:<9} {text}" for verb, text in VERBS.items())
    parser = argparse.ArgumentParser(
        prog="slurmtui",
        description="One console for Prefect flows and their jobs on a SLURM cluster.",
        epilog=f"verbs (each has --help; without one the console opens):\n{listing}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"slurmtui {__version__}")
    parser.add_argument(
        "--config", metavar="FILE", help="configuration file (else SLURMTUI_CONFIG, else the usual place)"
    )
    parser.add_argument("--read-only", action="store_true", help="open the console without any action that touches")
    parser.add_argument("--theme", metavar="NAME", help="theme of the console")
    parser.add_argument("--view", choices=VIEWS, help="the view to open (else the one that was left)")
    parser.add_argument("verb", nargs="?", choices=VERBS, metavar="VERB", help=argparse.SUPPRESS)
    parser.add_argument("rest", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code (0 well, 1 refused or failed, 2 usage, 3 run not completed)."""
    top = build_parser().parse_args(argv)
    try:
        if top.verb is None:
            gc.disable()  # what is imported stays, so that looking for garbage among it only delays the first screen
            from slurmtui.start import run_console  # noqa: PLC0415 - only when the console is wanted

            return run_console(top)
        module = importlib.import_module(f"slurmtui.verbs.{top.verb}")
        parser = argparse.ArgumentParser(prog=f"slurmtui {top.verb}", description=VERBS[top.verb])
        parser.add_argument("--config", metavar="FILE", default=top.config, help="configuration file")
        module.configure(parser)
        code: int = module.run(parser.parse_args(top.rest))
    except SlurmtuiError as error:
        print(f"slurmtui: {error}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        what = f"{where}{error.strerror or error}"
        print(f"slurmtui: {what}. `slurmtui doctor` looks at folders and disks.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return code
