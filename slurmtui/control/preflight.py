"""Looks at everything a submission needs, and creates nothing: no run in Prefect, no run folder.

The one thing it may start is a small probe job, and only when it was asked for or nothing was ever proved.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import msgspec

from slurmtui.control import preflight_checks as checks
from slurmtui.control.flow_file import inspect_flow_file, preview_script, validate_parameters
from slurmtui.control.plan import check_jobs, check_options, driver_options, sbatch_options
from slurmtui.control.probe import facts_here, is_fresh, probe, remembered
from slurmtui.control.slurm import test_only
from slurmtui.control.submit import NO_PROFILE, SubmitRequest, driver_python
from slurmtui.control.target import choose_flow, read_values, split_target
from slurmtui.errors import CommandError, PrefectError, Refused, SlurmtuiError, UsageError
from slurmtui.models.check import Check, fail, ok, warn
from slurmtui.models.marks import COMMENT_PREFIX
from slurmtui.models.run_record import RunSpec
from slurmtui.models.text import visible
from slurmtui.profiles import pick_profile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from slurmtui.models.flow_info import FlowInfo
    from slurmtui.models.probe import ProbeResult
    from slurmtui.models.profile import Profile
    from slurmtui.session import Session

AUTO, ALWAYS, NEVER = "auto", "always", "never"


class Preflight(msgspec.Struct, frozen=True, kw_only=True):
    """What was found; ``script`` is the jobs' script as it would be submitted, empty when there would be none."""

    checks: tuple[Check, ...]
    script: str = ""

    @property
    def well(self) -> bool:
        """Whether nothing speaks against submitting."""
        return not any(check.state == "fail" for check in self.checks)


async def preflight(
    session: Session, request: SubmitRequest, *, probing: str = AUTO, say: Callable[[str], None] | None = None
) -> Preflight:
    """Look at a flow's submission.

    Args:
        session: whose SLURM and Prefect server.
        request: what would be submitted.
        probing: whether a probe job is sent: ``auto`` when nothing was proved yet, ``always``, ``never``.
        say: told what takes a while.
    """
    found = [await _server(session)]
    try:
        target = split_target(request.target)
        profile = _named(session, request.profile)
        python = driver_python(profile)
        flow = choose_flow(await inspect_flow_file(session.runner, python, target.file), target)
        if request.profile is None and not flow.default_runner:
            profile = None
        found.append(ok("flow", f"{visible(flow.name)} can be imported", where=flow.entrypoint))
        found += [warn("flow", visible(sentence), where=flow.entrypoint) for sentence in flow.warnings]
    except SlurmtuiError as error:
        return Preflight(checks=(*found, fail("flow", visible(str(error)))))
    parameters, slurm, driver, (script, of_script), more = await asyncio.gather(
        _parameters(session, request, flow, python),
        _slurm(session, profile),
        _driver(session, request, flow, profile),
        _script(session, flow, python, profile),
        beside(session, flow, profile, probing=probing, say=say),
    )
    return Preflight(checks=(*found, parameters, *of_script, *slurm, *driver, *more), script=script)


async def preflight_script(
    session: Session, script: Path, profile: Profile | None, options: Sequence[str]
) -> Preflight:
    """Look at the submission of a batch script."""
    content = await asyncio.to_thread(script.read_bytes)
    chosen = [*(sbatch_options(profile) if profile else ()), *options]
    try:
        answer = await test_only(session.runner, content, chosen, timeout=session.config.slurm.timeout_seconds)
        make = ok if answer.ok else fail
        said = make("sbatch", f"SLURM: {visible(answer.text) or 'it would take it'}", where=str(script))
    except CommandError as error:
        said = fail("sbatch", visible(str(error)))
    more = [] if profile is None else [*await _limits(session, profile)]
    return Preflight(checks=(said, *more), script=content.decode("utf-8", "replace"))


async def beside(
    session: Session,
    flow: FlowInfo,
    profile: Profile | None,
    *,
    probing: str = NEVER,
    say: Callable[[str], None] | None = None,
) -> list[Check]:
    """What is looked at beside the flow, its parameters, the script and sbatch's answer."""
    if profile is None:
        if flow.default_runner:
            return [warn("profile", "No profile: the tasks run within the driver, and no job is made")]
        if flow.shared_cluster:
            return [await asyncio.to_thread(checks.shared_cluster, flow.shared_cluster)]
        return [ok("profile", f"The flow's own task runner says what it needs: {visible(flow.task_runner)}")]
    python = driver_python(profile)
    wanted = checks.folders(flow.entrypoint.rpartition(":")[0])
    here = await facts_here(session.runner, python)
    result, complaint = await _probed(session, profile, python, [str(path) for path in wanted.values()], probing, say)
    return [
        *await _limits(session, profile),
        *checks.oddities(profile),
        *checks.on_shared(wanted, result, sandbox=session.place.sandbox),
        *(complaint or checks.from_node(result, here)),
    ]


async def _probed(  # noqa: PLR0913, PLR0917 - what a probe needs
    session: Session,
    profile: Profile,
    python: str,
    seen: Sequence[str],
    probing: str,
    say: Callable[[str], None] | None,
) -> tuple[ProbeResult | None, list[Check]]:
    """The probe's result, an old one or a new one, and what was wrong with sending one."""
    known = await asyncio.to_thread(remembered, session, profile, python)
    if probing == NEVER or (probing == AUTO and is_fresh(known)) or session.connection is None:
        return known, []
    try:
        return await probe(session, profile, python, seen, say=say), []
    except (SlurmtuiError, OSError) as error:
        return known, [fail("compute node", "The probe job could not be sent", why=visible(str(error)))]


async def _server(session: Session) -> Check:
    client = await asyncio.to_thread(lambda: session.prefect)
    if client is None:
        return fail("prefect", "No Prefect server is set up here", step="slurmtui server start")
    try:
        version = await client.version()
    except PrefectError as error:
        return fail("prefect", visible(str(error)), step="slurmtui doctor tells more")
    return ok("prefect", f"Prefect {visible(version)} answers, and takes the password", where=client.connection.api_url)


async def _parameters(session: Session, request: SubmitRequest, flow: FlowInfo, python: str) -> Check:
    try:
        values = {**request.parameters, **read_values(flow, request.texts)}
        read = await validate_parameters(session.runner, python, flow.entrypoint, values)
    except SlurmtuiError as error:
        return fail("parameters", visible(str(error)), where=flow.entrypoint, step="-p NAME=VALUE")
    given = ", ".join(visible(name) for name in read) or "none"
    return ok("parameters", f"They fit the flow: {given}")


async def _slurm(session: Session, profile: Profile | None) -> list[Check]:
    if profile is None:
        return []
    try:
        said = await check_jobs(session, profile)
    except Refused as error:
        return [fail("sbatch", visible(str(error)), where=f"profile {profile.name}")]
    return [ok("sbatch", f"SLURM: {visible(said) or 'it would take a job'}", where="sbatch --test-only")]


async def _driver(session: Session, request: SubmitRequest, flow: FlowInfo, profile: Profile | None) -> list[Check]:
    """Whether SLURM would take the driver, when that is a job too."""
    if (request.driver or session.config.driver) != "slurm":
        return []
    trial = RunSpec(
        id="", name="", flow_name=flow.name, entrypoint=flow.entrypoint, profile=profile, driver_kind="slurm",
        job_name="slurmtui-driver", comment=COMMENT_PREFIX,
    )  # fmt: skip
    try:
        options, _ = await driver_options(session, trial)
        said = await check_options(session, options, "the driver's job")
    except Refused as error:
        return [fail("driver", visible(str(error)), step="driver_profile in the configuration says what it asks for")]
    return [ok("driver", f"SLURM: {visible(said) or 'it would take the job of the driver'}")]


async def _limits(session: Session, profile: Profile) -> list[Check]:
    try:
        partitions = await session.slurm.partitions()
    except CommandError as error:
        return [warn("limits", "SLURM did not tell its partitions", why=visible(str(error)))]
    try:
        accounts = await session.slurm.accounts()
    except CommandError:
        accounts = ()  # no accounting: nothing to compare with
    return checks.limits(profile, partitions, accounts)


async def _script(session: Session, flow: FlowInfo, python: str, profile: Profile | None) -> tuple[str, list[Check]]:
    try:
        script = await preview_script(session.runner, python, flow.entrypoint, profile)
    except SlurmtuiError as error:
        return "", [fail("script", visible(str(error)), where=flow.entrypoint)]
    none = "No job script: the shared cluster has its own" if flow.shared_cluster else "No job script: no job is made"
    return script, [ok("script", "The jobs' script can be made" if script else none)]


def _named(session: Session, name: str | None) -> Profile | None:
    """The profile that is named, else the default one, if there is one."""
    if name == NO_PROFILE:
        return None
    try:
        return pick_profile(session.config, name)
    except UsageError:
        if name is not None:
            raise
        return None
