"""Makes the Dask cluster of SLURM jobs that ``slurm_runner`` describes.

dask_jobqueue is imported only when a cluster is made: its import installs a SIGINT handler, and fails off the main
thread. Workers get the flow with its task runner, and so this function, by value: they need not have slurmtui.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import cloudpickle  # type: ignore[import-untyped]


def slurm_cluster(**keywords: Any) -> Any:
    """A ``dask_jobqueue.SLURMCluster`` that carries the marks of its run.

    Beside the arguments of SLURMCluster it takes ``jobs``, a fixed number of jobs that is kept up, and
    ``certificates``, the folder for those of TLS.
    """
    from dask_jobqueue.slurm import SLURMCluster
    from prefect.runtime import flow_run

    jobs, certificates = keywords.pop("jobs", 0), keywords.pop("certificates", None)
    if keywords.get("security") and certificates:
        inside = os.environ.get("SLURMTUI_RUN_FOLDER")
        folder = Path(inside) / "tls" if inside else Path(certificates)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        own = tempfile.mkdtemp(prefix="run-", dir=folder)
        atexit.register(shutil.rmtree, own, ignore_errors=True)
        keywords["shared_temp_directory"] = own
    if flow_run.id and "SLURMTUI_RUN_FOLDER" not in os.environ:
        # Run by hand, without the driver that marks the jobs: the marks stand in the script then.
        keywords["job_extra_directives"] = [
            *keywords.get("job_extra_directives", ()),
            f"--comment=slurmtui:{flow_run.id}",
        ]
    cluster: Any = SLURMCluster(**keywords)
    if jobs:
        from slurmtui.flows.replacement import Replacement

        cluster.scheduler.add_plugin(Replacement(cluster, jobs))
        cluster.scale(jobs=jobs)
    return cluster


slurm_cluster.title = "SLURMCluster"  # type: ignore[attr-defined]
cloudpickle.register_pickle_by_value(sys.modules[__name__])
