"""Submits a flow or a batch script. Everything that can be refused is refused before anything is created."""

from __future__ import annotations

import asyncio
import getpass
import os
import sys
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from slurmtui.control import run_folder
from slurmtui.control.flow_file import inspect_flow_file, validate_parameters
from slurmtui.control.launch import launch
from slurmtui.control.plan import check_jobs, check_options, driver_options, sbatch_options
from slurmtui.control.prefect import add_labels, create_flow_run, mark_crashed
from slurmtui.control.resolve import need_prefect
from slurmtui.control.slurm import submit_script
from slurmtui.control.target import choose_flow, read_values, split_target
from slurmtui.control.unbroken import unbroken
from slurmtui.errors import PrefectUnreachable, Refused, SlurmtuiError, UsageError
from slurmtui.models import marks
from slurmtui.models.flow_info import FlowInfo
from slurmtui.models.profile import Profile
from slurmtui.models.run_record import RunSpec
from slurmtui.paths import typed_path
from slurmtui.profiles import pick_profile
from slurmtui.sources.processes import host_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slurmtui.models.flow_run import FlowRun
    from slurmtui.session import Session
    from slurmtui.sources.prefect.client import PrefectClient

TAG = "slurmtui"
NO_PROFILE = "none"
"""Named as the profile: none, the flow runs within its driver."""


class SubmitRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be submitted.

    Attributes:
        target: ``FILE`` or ``FILE:FLOW``.
        profile: its name, None for the default, ``none`` for no profile at all.
        parameters: values of the flow's parameters.
        texts: values as typed on a command line, read by the flow's own schema.
        driver: ``login`` or ``slurm``, None for the configuration's choice.
        name: of the run, None to let Prefect choose.
        directory: where the driver runs, None for the current folder.
    """

    target: str
    profile: str | None = None
    parameters: dict[str, Any] = msgspec.field(default_factory=dict)
    texts: dict[str, str] = msgspec.field(default_factory=dict)
    driver: str | None = None
    name: str | None = None
    directory: str | None = None


class Prepared(msgspec.Struct, frozen=True, kw_only=True):
    """A request after every check."""

    flow: FlowInfo
    parameters: dict[str, Any]
    profile: Profile | None
    driver: str
    python: str
    slurm_said: str = ""  # when a job of the profile would start


async def submit_flow(session: Session, request: SubmitRequest, prepared: Prepared | None = None) -> RunSpec:
    """Create the run in Prefect, its folder, and start its driver; ``prepared`` is the request after its checks.

    What is begun is finished, also when the caller is cancelled meanwhile.

    Raises:
        UsageError: no such file or profile.
        FlowError: the file or the parameters cannot be used, or the driver ended at once.
        Refused: SLURM would not take the jobs, or there is no Prefect server.
        PrefectError: the server did not answer or refused.
        RunFolderError: the run folder cannot be written; the run is then marked CRASHED.
    """
    client = need_prefect(session)
    prepared = prepared or await prepare(session, request)
    return await unbroken(_create(session, client, request, prepared))


async def _create(session: Session, client: PrefectClient, request: SubmitRequest, prepared: Prepared) -> RunSpec:
    """Make the run and start its driver: half of that would be a run that waits for ever, or a job nobody knows of."""
    run = await create_flow_run(
        client,
        flow_name=prepared.flow.name,
        run_name=request.name,
        parameters=prepared.parameters,
        tags=[TAG, *([f"profile:{prepared.profile.name}"] if prepared.profile else [])],
        labels=_labels(prepared),
        idempotency_key=f"slurmtui-{uuid.uuid4()}",
    )
    spec = _spec(session, request, prepared, run)
    try:
        folder = await asyncio.to_thread(run_folder.create, spec)
        await add_labels(client, run.id, {"slurmtui.folder": str(folder)})
        await launch(session, spec, folder, attempt=1)
    except (SlurmtuiError, OSError, asyncio.CancelledError) as error:
        await mark_crashed(client, run.id, "start the run", error)
        raise
    return spec


async def prepare(session: Session, request: SubmitRequest, flow: FlowInfo | None = None) -> Prepared:
    """Check all of a request without creating anything; raises as ``submit_flow`` does.

    ``flow`` is the target, when it has been looked at before.
    """
    client = need_prefect(session)
    target = split_target(request.target)
    driver = request.driver or session.config.driver
    if driver not in {"login", "slurm"}:
        raise UsageError(f"The driver is 'login' or 'slurm', not {driver!r}.")
    await _reach(client)
    python = driver_python(_first_profile(session, request))
    flow = flow or choose_flow(await inspect_flow_file(session.runner, python, target.file), target)
    profile = _profile(session, request, flow)
    parameters = {**request.parameters, **read_values(flow, request.texts)}
    parameters, said = await asyncio.gather(
        validate_parameters(session.runner, python, flow.entrypoint, parameters), _taken(session, profile)
    )
    prepared = Prepared(
        flow=flow, parameters=parameters, profile=profile, driver=driver, python=python, slurm_said=said
    )
    if driver == "slurm":
        options, _ = await driver_options(session, _trial_spec(prepared))
        await check_options(session, options, "the driver's job")
    return prepared


async def _taken(session: Session, profile: Profile | None) -> str:
    return await check_jobs(session, profile) if profile is not None else ""


async def submit_batch(
    session: Session, script: Path, profile: Profile | None = None, options: Sequence[str] = ()
) -> str:
    """Hand a batch script to sbatch as it is; the profile's options go before its own. Returns the job's id.

    Raises:
        CommandError: sbatch refused it.
    """
    chosen = [*(sbatch_options(profile) if profile else ()), *options]
    return await submit_script(session.runner, script, chosen, chdir=Path.cwd())


def driver_python(profile: Profile | None) -> str:
    """The Python that runs the flow: the profile's, when it is here as well, else the one slurmtui runs in."""
    named = typed_path(profile.python) if profile is not None and profile.python else None
    return str(named) if named is not None and os.access(named, os.X_OK) else sys.executable


def _first_profile(session: Session, request: SubmitRequest) -> Profile | None:
    """The profile before the flow is known: named, or the default if there is one. It says which Python looks."""
    if request.profile == NO_PROFILE:
        return None
    try:
        return pick_profile(session.config, request.profile)
    except UsageError:
        if request.profile is not None:
            raise
        return None


def _profile(session: Session, request: SubmitRequest, flow: FlowInfo) -> Profile | None:
    if request.profile == NO_PROFILE:
        return None
    if request.profile is not None or flow.default_runner:
        return pick_profile(session.config, request.profile)
    return None  # the flow's own task runner says what it needs


async def _reach(client: PrefectClient) -> None:
    try:
        await client.version()
    except PrefectUnreachable as error:
        raise Refused(f"{error} If it is your own, start it with `slurmtui server start`.") from error


def _labels(prepared: Prepared) -> dict[str, str]:
    labels = {"slurmtui.host": host_name(), "slurmtui.driver": prepared.driver}
    if prepared.profile is not None:
        labels["slurmtui.profile"] = prepared.profile.name
    return labels


def _spec(session: Session, request: SubmitRequest, prepared: Prepared, run: FlowRun) -> RunSpec:
    return msgspec.structs.replace(
        _trial_spec(prepared),
        id=run.id,
        name=run.name,
        job_name=marks.job_name(prepared.flow.name, run.id),
        comment=marks.comment(run.id),
        api_url=session.connection.api_url if session.connection else "",
        created=time.time(),
        user=session.user or getpass.getuser(),
        submitted_from=host_name(),
        directory=request.directory or str(Path.cwd()),
    )


def _trial_spec(prepared: Prepared) -> RunSpec:
    """The run as it will be, before Prefect has given it an id."""
    return RunSpec(
        id="",
        name="",
        flow_name=prepared.flow.name,
        entrypoint=prepared.flow.entrypoint,
        parameters=prepared.parameters,
        profile=prepared.profile,
        driver_kind=prepared.driver,
        job_name="slurmtui-driver",
        comment=marks.COMMENT_PREFIX,
        python=prepared.python,
    )
