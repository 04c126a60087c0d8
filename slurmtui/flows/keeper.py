"""The process of a shared cluster: ``python -m slurmtui.flows.keeper CLUSTER_FOLDER``.

It holds a Dask scheduler whose workers are SLURM jobs, as many as there is work for. Flows connect to it by its address
and the certificates in its folder. It ends when somebody asks for that, by SIGTERM, or when no flow has used it for
long; at its end nothing of it is left in the queue.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from slurmtui.atomic import write_private
from slurmtui.errors import RunFolderError, SlurmtuiError
from slurmtui.flows import job_logs, jobs, network_folder
from slurmtui.flows.environment import job_environment
from slurmtui.flows.leaving import leave, log_to_stderr
from slurmtui.models.shared_cluster import ClusterStatus, KeeperRecord
from slurmtui.sources.cluster_folder import DOWN_FILE, KEEPER_FILE, STATUS_FILE, TLS_FOLDER, read_cluster
from slurmtui.sources.processes import find_process, host_name, is_here, started_at
from slurmtui.sources.within import within

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slurmtui.models.shared_cluster import ClusterSpec

_log = logging.getLogger("slurmtui.keeper")
_LOOK_EVERY = 1.0
_SIGN_EVERY = 20.0
_LONGEST_CLOSE = 30.0
_EMPTY_WITHIN = 30.0
_NO_FLOW = ("fire-and-forget", "Client-worker")  # clients that Dask itself makes


class Keeper:
    """One shared cluster, from its start to its end."""

    def __init__(self, folder: Path, spec: ClusterSpec, record: KeeperRecord) -> None:
        self._folder, self._spec, self._record = folder, spec, record
        self._stop = asyncio.Event()
        self._why = ""
        self._status = ClusterStatus(time=0)
        self._unwritten = ""
        self._last_flow = time.monotonic()
        self._look_afresh = network_folder.refresher(folder)

    async def run(self) -> None:
        """Keep the cluster until its end, whatever that is."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._end, f"ended by a signal ({number.name})")
        try:
            cluster = await self._open()
            try:
                await self._keep(cluster)
            finally:
                await self._close(cluster)
        except Exception as error:
            self._why = self._why or f"{type(error).__name__}: {error}"
            raise
        finally:
            await self._clean_up()

    def _end(self, why: str) -> None:
        _log.warning("the cluster ends: %s", why)
        self._why = self._why or why
        self._stop.set()

    async def _open(self) -> Any:
        from slurmtui.flows.certificates import new_certificates
        from slurmtui.flows.keeper_scaling import Following, SharedCluster, job_of_worker
        from slurmtui.flows.runner import cluster_arguments

        spec, profile = self._spec, self._spec.profile
        arguments = cluster_arguments(profile)
        if arguments.pop("certificates", None):
            arguments["security"] = new_certificates(self._folder / TLS_FOLDER)
        cluster = await SharedCluster(asynchronous=True, name=spec.id, **arguments)
        following = cluster.adapt(
            Adaptive=Following, minimum_jobs=spec.minimum, maximum_jobs=spec.maximum, interval="1s",
            wait_count=max(1, round(spec.idle)), worker_key=job_of_worker if profile.processes > 1 else None,
        )  # fmt: skip
        following.threads = max(1, profile.cores // profile.processes)
        self._write(msgspec.structs.replace(
            self._record, address=cluster.scheduler_address, dashboard=cluster.dashboard_link.removesuffix("/status")
        ))  # fmt: skip
        _log.info("the scheduler listens at %s", cluster.scheduler_address)
        return cluster

    async def _keep(self, cluster: Any) -> None:
        """Look after it until it shall end."""
        from slurmtui.flows.keeper_scaling import Abandoned

        abandoned = Abandoned(cluster.scheduler)
        while not self._stop.is_set():
            self._tell(cluster.scheduler)
            await abandoned.end()
            self._look_afresh()
            if self._asked_to_end():
                self._end("it was asked to end")
            elif time.monotonic() - self._last_flow > self._spec.end:
                self._end(f"no flow has used it for {self._spec.end:.0f} s")
            try:
                await within(self._stop.wait(), _LOOK_EVERY)
            except asyncio.TimeoutError:
                continue

    def _tell(self, scheduler: Any) -> None:
        """Write down how the cluster is, when that has changed, and now and then as a sign of life."""
        flows = sum(1 for client in scheduler.clients if not client.startswith(_NO_FLOW))
        if flows:
            self._last_flow = time.monotonic()
        tasks = sum(1 for task in scheduler.tasks.values() if task.state not in {"memory", "released", "erred"})
        now = ClusterStatus(time=time.time(), workers=len(scheduler.workers), tasks=tasks, flows=flows)
        same = msgspec.structs.replace(now, time=self._status.time) == self._status
        if same and now.time - self._status.time < _SIGN_EVERY:
            return
        try:
            write_private(self._folder / STATUS_FILE, msgspec.json.encode(now))
        except OSError as error:
            self._without_room(error)
            return
        self._status, self._unwritten = now, ""

    def _without_room(self, error: OSError) -> None:
        """Say once that nothing can be written: the flows on the cluster need no file, and it is tried again."""
        if self._unwritten != str(error):
            self._unwritten = str(error)
            _log.warning("the cluster's state cannot be written down: %s", error)
        with contextlib.suppress(OSError):
            os.utime(self._folder / KEEPER_FILE)  # a sign of life that needs no room

    def _asked_to_end(self) -> bool:
        try:
            return (self._folder / DOWN_FILE).exists()
        except OSError:  # the file system is away for a moment
            return False

    async def _close(self, cluster: Any) -> None:
        try:
            await within(cluster.close(), _LONGEST_CLOSE)
        except Exception as error:  # noqa: BLE001 - its jobs are ended beneath, and looked for, whatever failed here
            _log.warning("Dask did not close the cluster: %s: %s", type(error).__name__, error)

    async def _clean_up(self) -> None:
        """Leave no job in the queue and no key in the folder, and write down the end: each whatever another met."""
        for step in (self._end_submissions, self._end_jobs, self._remove_keys, self._write_end):
            try:
                await step()
            except Exception:  # noqa: BLE001, PERF203 - told with its trace; nobody else does the other steps
                _log.exception("the cluster's end is not whole:")
        _log.info("the cluster has ended: %s", self._why)

    async def _end_submissions(self) -> None:
        await asyncio.to_thread(jobs.wait_for_submissions, self._folder)

    async def _end_jobs(self) -> None:
        """Cancel what is in the queue until nothing is; after an error as well, within the same time."""
        until = time.monotonic() + _EMPTY_WITHIN
        while True:
            late = time.monotonic() >= until
            try:
                if not await jobs.cancel_leftovers(self._submitted()) or late:
                    return
            except (OSError, SlurmtuiError) as error:
                if late:
                    raise
                _log.warning("the jobs are not known to have ended: %s", error)
            await asyncio.sleep(_LOOK_EVERY)

    async def _remove_keys(self) -> None:
        shutil.rmtree(self._folder / TLS_FOLDER, ignore_errors=True)

    async def _write_end(self) -> None:
        self._write(msgspec.structs.replace(self._record, ended=time.time(), message=self._why))

    def _submitted(self) -> jobs.Submitted:
        found = read_cluster(self._folder)
        return jobs.submitted_by_cluster(found) if found is not None else jobs.made_here(())

    def _write(self, record: KeeperRecord) -> None:
        self._record = record
        write_private(self._folder / KEEPER_FILE, msgspec.json.encode(record))


def main(arguments: Sequence[str]) -> int:
    """Keep the cluster of the folder."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m slurmtui.flows.keeper CLUSTER_FOLDER\n")
        return 2
    folder = Path(arguments[0]).absolute()
    try:
        found = read_cluster(folder)
    except RunFolderError as error:
        sys.stderr.write(f"slurmtui keeper: {error}\n")
        return 1
    if found is None or _lives(found.keeper):
        sys.stderr.write(f"slurmtui keeper: {folder} holds no cluster that can be kept\n")
        return 1
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    log_to_stderr("slurmtui.keeper", "slurmtui.driver")  # the second one tells of the jobs
    record = KeeperRecord(
        host=host_name(), pid=os.getpid(), pid_started=started_at(os.getpid()), started=time.time()
    )  # fmt: skip
    write_private(folder / KEEPER_FILE, msgspec.json.encode(record))
    job_logs.make_folder(folder, found.spec.profile.log_directory, found.spec.id)
    os.environ.update(job_environment(folder, found.spec.id, 1, os.environ))
    asyncio.run(Keeper(folder, found.spec, record).run())
    return 0


def _lives(keeper: KeeperRecord | None) -> bool:
    if keeper is None:
        return False
    return keeper.ended is not None or not is_here(keeper.host) or bool(find_process(keeper.pid, keeper.pid_started))


if __name__ == "__main__":
    leave(main(sys.argv[1:]))
