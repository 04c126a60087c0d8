"""What a preflight says of a profile, of folders and a probe. Pure but for looks at this host's mounts and clusters."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from slurmtui import paths
from slurmtui.config_values import duration
from slurmtui.control.server_database import file_system, is_network
from slurmtui.models.amounts import counted
from slurmtui.models.check import Check, fail, ok, warn
from slurmtui.models.text import visible
from slurmtui.profile_limits import compare, mebibytes
from slurmtui.sources.cluster_folder import usable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from slurmtui.models.cluster import Partition
    from slurmtui.models.probe import Place, ProbeResult
    from slurmtui.models.profile import Profile

_SMALL_MEMORY = 400  # mebibytes: a Dask worker with Prefect takes about 200 before it has done anything
_SHORT = 180
_SAME = ("prefect", "distributed", "prefect-dask")


def limits(profile: Profile, partitions: Sequence[Partition], accounts: Sequence[str]) -> list[Check]:
    """The profile against the limits of partition and account."""
    name, where = "limits", f"profile {profile.name}"
    found = compare(profile, partitions, accounts)
    if not found:
        return [ok(name, "The profile keeps the limits of its partition and account", where=where)]
    step = "change the profile; slurmtui config check looks again"
    return [
        (fail if finding.wrong else warn)(name, f"{finding.key}: {finding.sentence}", where=where, step=step)
        for finding in found
    ]


def shared_cluster(name: str) -> Check:
    """Whether the shared cluster that a flow wants is up."""
    record, why_not = usable(name)
    if record is None:
        return fail("cluster", visible(why_not))
    return ok("cluster", f"The shared cluster {name} is up ({record.where})")


def oddities(profile: Profile) -> list[Check]:
    """What is allowed and yet seldom meant."""
    said: list[tuple[str, str]] = []
    each = mebibytes(profile.memory) / max(profile.processes, 1)
    if each < _SMALL_MEMORY:
        shared = f"memory: {profile.memory} for {profile.processes} processes is {each:.0f} MB each"
        said.append((f"{shared}, which a worker with Prefect fills by itself", "memory: 1G or more for each process"))
    if profile.processes > profile.cores:
        said.append(
            (f"processes: {profile.processes} are more than its {counted(profile.cores, 'core')}", "fewer processes")
        )
    seconds = duration(profile.walltime) or 0
    if seconds < _SHORT:
        said.append((f"walltime: {profile.walltime} is hardly longer than a worker's start", "a longer walltime"))
    if profile.adapt is not None and profile.adapt.minimum == 0:
        said.append((
            "adapt.minimum: 0 gives all jobs back whenever there is nothing to do, also between two steps",
            "adapt: {minimum: 1} keeps one",
        ))  # fmt: skip
    if profile.nodes > 1:
        said.append((
            f"nodes: {profile.nodes}, yet a Dask worker uses the first node only", "nodes: 1, and more workers"
        ))  # fmt: skip
    checks = [warn("profile", text, where=f"profile {profile.name}", step=step) for text, step in said]
    if profile.tls:
        checks.append(ok("encryption", "Scheduler and workers speak TLS, each run with keys of its own"))
    else:
        checks.append(warn(
            "encryption", "tls: false: whoever reaches the Dask scheduler's port can run code as you",
            where=f"profile {profile.name}", step="tls: true",
        ))  # fmt: skip
    return checks


def folders(flow_file: str) -> dict[str, Path]:
    """What the jobs of a run must see, by name."""
    return {
        "state folder": paths.state_folder(),
        "folder of kept results": paths.state_folder() / "results",
        "flow file": Path(flow_file),
    }


def on_shared(wanted: Mapping[str, Path], result: ProbeResult | None, *, sandbox: bool) -> list[Check]:
    """Whether compute nodes see these places: seen by a probe, on a file system of the network, or not known."""
    checks = []
    for name, path in wanted.items():
        seen = result.answer.place.seen.get(str(path)) if result is not None and result.answer is not None else None
        there = _nearest(path)
        kind = file_system(there) or "unknown"
        where = str(path)
        if seen or (seen is False and there != path and name != "flow file"):
            node = result.answer.place.node if result is not None and result.answer is not None else ""
            checks.append(ok("folders", f"The {name} is seen from {visible(node)} ({kind})", where=where))
        elif seen is False:
            checks.append(fail(
                "folders", f"The {name} is not there on a compute node ({kind} here)", where=where,
                step="put it on a file system that all nodes have",
            ))  # fmt: skip
        elif sandbox:
            checks.append(ok("folders", f"The {name} is on this machine, and so are the nodes ({kind})", where=where))
        elif is_network(kind):
            checks.append(ok("folders", f"The {name} is on a shared file system ({kind})", where=where))
        else:
            checks.append(warn(
                "folders", f"The {name} is on a file system of this host ({kind}): do the nodes have it?", where=where,
                step="slurmtui submit --check --probe always looks from a node",
            ))  # fmt: skip
    return checks


def from_node(result: ProbeResult | None, here: Place | None) -> list[Check]:
    """What the probe found, or that there was none."""
    name = "compute node"
    if result is None:
        step = "slurmtui submit --check --probe always sends one small job"
        return [warn(name, "Never tried from a compute node whether the Prefect server is reached", step=step)]
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(result.time))
    where = f"{result.where}, job {result.job_id}, {when}"
    answer = result.answer
    if answer is None:
        make = warn if result.waits else fail
        step = "try again when the partition is less busy" if result.waits else "look at the job with slurmtui jobs"
        return [make(name, "The probe job gave no answer", where=where, why=visible(result.problem), step=step)]
    checks = [_api(result, where)]
    if answer.place.python_version and here is not None:
        checks += _versions(here, answer.place, where)
    if answer.proxy:
        checks.append(warn(
            "proxy", "http_proxy is set on the nodes; slurmtui's drivers go round it for the Prefect server",
            where=where, why=visible(answer.proxy.rpartition("@")[2]),
        ))  # fmt: skip
    return checks


def _api(result: ProbeResult, where: str) -> Check:
    name, answer = "compute node", result.answer
    assert answer is not None  # noqa: S101 - asked by the caller
    node = visible(answer.place.node)
    if answer.status == 200:
        took = f"{answer.seconds * 1000:.0f} ms"
        return ok(
            name, f"{node} reaches Prefect {visible(answer.version)} at {result.api_url} with the password ({took})",
            where=where,
        )  # fmt: skip
    if answer.status in {401, 403}:
        what, step = f"{node} reaches {result.api_url}, but the password is refused", "check prefect.auth_file"
    elif answer.status is not None:
        what, step = f"{node} reaches {result.api_url}, but it is no Prefect server", "check prefect.api_url"
    else:
        what = f"{node} does not reach the Prefect server at {result.api_url}"
        step = "give the address that nodes know: server.host or server.interface in the configuration"
    return fail(name, what, where=where, why=visible(answer.said), step=step)


def _versions(here: Place, there: Place, where: str) -> list[Check]:
    name = "versions"
    step = "the same environment on a shared file system, named as python: in the profile"
    mine, theirs = here.python_version, there.python_version
    if mine.split(".")[:2] != theirs.split(".")[:2]:
        what = f"Python {theirs} there, {mine} here: what is sent to a worker cannot be read"
        return [fail(name, what, where=where, why=visible(there.python), step=step)]
    checks = []
    for package in _SAME:
        one, other = here.versions.get(package, ""), there.versions.get(package, "")
        if not other:
            checks.append(fail(name, f"{package} is not installed there", where=visible(there.python), step=step))
        elif one and one != other:
            checks.append(warn(name, f"{package} {other} there, {one} here", where=where, step=step))
    return checks or [ok(name, f"Python {theirs} and Prefect {there.versions.get('prefect')} there as here")]


def _nearest(path: Path) -> Path:
    """The path itself, or the first folder above it that exists."""
    return next((one for one in (path, *path.parents) if one.exists()), path)
