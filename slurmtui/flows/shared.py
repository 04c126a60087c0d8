"""A task runner whose tasks run on a shared cluster that is up: ``slurm_runner(…, shared=True)``.

The cluster is looked up when the flow submits its first task, not when its file is imported: a file can be listed,
checked and submitted while no cluster is up. Workers get the flow with its task runner, and so this class, by value:
they need not have slurmtui.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cloudpickle  # type: ignore[import-untyped]
from prefect_dask.task_runners import DaskTaskRunner

if TYPE_CHECKING:
    from slurmtui.models.shared_cluster import ClusterRecord


class SharedTaskRunner(DaskTaskRunner):
    """Prefect's Dask task runner on the shared cluster of the profile ``name``."""

    def __init__(self, name: str = "", **keywords: Any) -> None:
        self.name_of_cluster = name
        super().__init__(**keywords)

    def duplicate(self) -> SharedTaskRunner:
        """A new one with the same settings; Prefect asks for one for each run."""
        return type(self)(
            self.name_of_cluster,
            client_kwargs=self.client_kwargs,
            performance_report_path=self.performance_report_path,
        )

    @property
    def client(self) -> Any:
        """Dask's client; the first time it is wanted the cluster is looked up."""
        if not self._client:
            from slurmtui.flows.shared import connect

            self.address, security = connect(self.name_of_cluster)
            if security is not None:
                self.client_kwargs["security"] = security
        return super().client


def connect(name: str) -> tuple[str, Any]:
    """The address of the shared cluster ``name`` and, with TLS, Dask's ``Security`` for it; the run's folder notes it.

    Raises:
        FlowError: there is none, or it is gone; says what to do.
    """
    from slurmtui.errors import FlowError
    from slurmtui.flows.certificates import certificates
    from slurmtui.sources.cluster_folder import TLS_FOLDER, usable

    record, why_not = usable(name)
    if record is None or record.keeper is None:
        raise FlowError(why_not)
    note(record)
    tls = Path(record.folder) / TLS_FOLDER
    return record.keeper.address, certificates(tls) if record.spec.profile.tls else None


def note(record: ClusterRecord) -> None:
    """Write into the run's folder which cluster it uses."""
    import msgspec

    from slurmtui.atomic import write_private
    from slurmtui.flows.environment import ATTEMPT, RUN_FOLDER
    from slurmtui.models.run_record import SharedUse
    from slurmtui.sources.run_folder import SHARED_FILE

    folder = os.environ.get(RUN_FOLDER)
    if folder:
        attempt = int(os.environ.get(ATTEMPT) or 1)
        use = SharedUse(cluster_id=record.spec.id, name=record.spec.name, attempt=attempt, time=time.time())
        write_private(Path(folder) / SHARED_FILE, msgspec.json.encode(use))


cloudpickle.register_pickle_by_value(sys.modules[__name__])
