"""The environment of a driver, put in place before Prefect or Dask are imported: both read it at import."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from slurmtui import paths
from slurmtui.config import load_config
from slurmtui.control.run_folder import CREDENTIALS_FILE
from slurmtui.errors import ConfigError
from slurmtui.sources.prefect.connection import find_connection

if TYPE_CHECKING:
    from collections.abc import Mapping

    from slurmtui.models.run_record import RunSpec

RUN_FOLDER = "SLURMTUI_RUN_FOLDER"
"""Names the run's folder to everything that the driver starts, jobs included."""

ATTEMPT = "SLURMTUI_ATTEMPT"
"""Names the attempt to the sbatch wrapper."""

_PRELOAD = "DASK_DISTRIBUTED__WORKER__PRELOAD"
_RETRIES = "PREFECT_CLIENT_MAX_RETRIES"
# Prefect waits 2, 4, 8 … seconds: with seven tries a server may be away for four minutes, with its own five for one.
_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


def job_environment(folder: Path, job_name: str, attempt: int, current: Mapping[str, str]) -> dict[str, str]:
    """What makes the jobs of this process write into ``folder``, carry marks, and be written down there."""
    pattern = str(folder / "jobs" / "%j").replace(str(folder), str(folder).replace("%", "%%"))
    added = {
        RUN_FOLDER: str(folder),
        ATTEMPT: str(attempt),
        "SBATCH_OUTPUT": f"{pattern}.out",
        "SBATCH_ERROR": f"{pattern}.err",
        "DASK_JOBQUEUE__SLURM__SCHEDULER_OPTIONS": '{"dashboard_address": ":0"}',
        _PRELOAD: _with_preload(current.get(_PRELOAD)),
        "PATH": os.pathsep.join([str(folder / "bin"), current.get("PATH", os.defpath)]),
        "PYTHONUNBUFFERED": "1",
    }
    return {**added, "SBATCH_JOB_NAME": job_name} if job_name else added


def driver_environment(spec: RunSpec, folder: Path, attempt: int, current: Mapping[str, str]) -> dict[str, str]:
    """What the driver of ``spec`` adds to its ``current`` environment."""
    added = {
        **job_environment(folder, spec.job_name, attempt, current),
        "PREFECT_API_URL": spec.api_url,
        "PREFECT_RESULTS_PERSIST_BY_DEFAULT": "true",
        "PREFECT_LOCAL_STORAGE_PATH": str(paths.state_folder() / "results"),
        "PREFECT_LOGGING_TO_API_BATCH_INTERVAL": "0.2",
        _RETRIES: current.get(_RETRIES) or "7",
        "DO_NOT_TRACK": "1",
    }
    if auth := _auth(spec, folder, current):
        added["PREFECT_API_AUTH_STRING"] = auth
    host = urlsplit(spec.api_url).hostname
    if host and any(current.get(name) for name in _PROXIES):
        # A proxy set for the whole cluster would swallow the calls to a server inside it.
        beside = ",".join(filter(None, [current.get("no_proxy") or current.get("NO_PROXY"), host]))
        added |= {"no_proxy": beside, "NO_PROXY": beside}
    return added


def _auth(spec: RunSpec, folder: Path, current: Mapping[str, str]) -> str | None:
    """The server's ``user:password``: the launcher's file in the run folder, the environment's, what slurmtui knows."""
    with contextlib.suppress(OSError):
        if found := (folder / CREDENTIALS_FILE).read_text().strip():
            return found
    if named := current.get("PREFECT_API_AUTH_STRING"):
        return named
    with contextlib.suppress(ConfigError):
        connection = find_connection(load_config())
        if connection is not None and connection.api_url == spec.api_url.rstrip("/"):
            return connection.auth
    return None


def _with_preload(present: str | None) -> str:
    """Dask's list of worker preloads with ours at its end."""
    ours = str(Path(__file__).with_name("worker_preload.py"))
    if not present:
        return json.dumps([ours])
    try:
        listed = json.loads(present)
    except ValueError:
        listed = present
    return json.dumps([*([listed] if isinstance(listed, str) else listed), ours])
