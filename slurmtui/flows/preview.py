"""Prints the script of the SLURM jobs a flow would submit, as one JSON object on stdout; nothing is started.

``python -m slurmtui.flows.preview FILE:FLOW`` reads the chosen profile (JSON, or null) from stdin. The answer is
``{"script": "…"}``, empty when the flow's task runner submits no jobs, or ``{"error": "…"}``.
"""

from __future__ import annotations

import asyncio
import sys
import traceback
from typing import TYPE_CHECKING, Any

import msgspec

from slurmtui.errors import FlowError, SlurmtuiError
from slurmtui.flows.looking import Looking
from slurmtui.flows.trace import last_line
from slurmtui.models.profile import Profile

if TYPE_CHECKING:
    from collections.abc import Sequence

_ADDED = (
    "\n# At the submission slurmtui adds --job-name=<flow>-<run id>, --comment=slurmtui:<run id>\n"
    "# and --output and --error in the run's folder.\n"
)
_NOT_SHOWN = frozenset({"n_workers", "jobs", "certificates", "asynchronous"})


def main(arguments: Sequence[str]) -> None:
    """Look, and answer."""
    entrypoint = arguments[0]
    profile = msgspec.json.decode(sys.stdin.buffer.read() or b"null", type=Profile | None)
    looking = Looking()
    try:
        answer: Any = {"script": script_of(entrypoint, profile, looking.folder)}
    except SlurmtuiError as error:
        answer = {"error": str(error)}
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a file that is imported may raise anything; it is reported
        cause = getattr(error, "user_exc", None) or error
        traceback.print_exception(cause)
        file = entrypoint.rpartition(":")[0]
        answer = {"error": f"{file} does not import: {last_line(cause, file)}"}
    looking.answer(answer)


def script_of(entrypoint: str, profile: Profile | None, folder: str) -> str:
    """The script of the jobs of the flow's task runner; certificates that it would need are put into ``folder``."""
    from slurmtui.flows.engine import has_default_runner, load_flow
    from slurmtui.flows.runner import runner_for

    flow = load_flow(entrypoint)
    runner: Any = flow.task_runner
    if has_default_runner(flow):
        if profile is None:
            return ""
        runner = runner_for(profile)
    if type(runner).__name__ != "DaskTaskRunner" or runner.address:
        return ""
    return asyncio.run(_rendered(runner, folder))


async def _rendered(runner: Any, folder: str) -> str:
    """What dask-jobqueue itself renders: the cluster is made, as one that is to be awaited, and never awaited."""
    from slurmtui.flows.cluster import slurm_cluster

    made_by = runner.resolved_cluster_class or runner.cluster_class
    if made_by is slurm_cluster:
        from dask_jobqueue.slurm import SLURMCluster

        made_by = SLURMCluster
    if not isinstance(made_by, type) or not hasattr(made_by, "job_cls"):
        return ""  # a cluster of another kind, or a function that would have to be called to know
    keywords = {name: value for name, value in runner.cluster_kwargs.items() if name not in _NOT_SHOWN}
    if keywords.get("security"):
        keywords["shared_temp_directory"] = folder
    try:
        cluster: Any = made_by(asynchronous=True, **keywords)
        script = str(cluster.job_script())
    except (ValueError, TypeError, OSError) as error:
        words = " ".join(str(error).split())
        raise FlowError(f"{made_by.__name__} refuses what the task runner says: {words}") from error
    return script.rstrip("\n").replace(folder, "<run folder>/tls") + _ADDED


if __name__ == "__main__":
    main(sys.argv[1:])
