"""What happens between the steps of a new run."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slurmtui.control.flow_file import inspect_flow_file, preview_script
from slurmtui.control.plan import sbatch_options
from slurmtui.control.preflight import NEVER, beside
from slurmtui.control.slurm import test_only
from slurmtui.control.submit import (
    NO_PROFILE,
    Prepared,
    SubmitRequest,
    driver_python,
    prepare,
    submit_batch,
    submit_flow,
)
from slurmtui.control.target import split_target
from slurmtui.models.text import visible
from slurmtui.profiles import pick_profile
from slurmtui.widgets.form import Field

if TYPE_CHECKING:
    from collections.abc import Mapping

    from slurmtui.models.check import Check
    from slurmtui.models.flow_info import FlowInfo, ParameterInfo
    from slurmtui.models.profile import Profile
    from slurmtui.session import Session

_TRIAL = b"#!/bin/sh\ntrue\n"


@dataclass
class Draft:
    """What has been entered so far; ``given`` are parameters it began with, those of an earlier run."""

    target: str = ""
    flow: FlowInfo | None = None
    profile: str = ""
    texts: dict[str, str] = field(default_factory=dict)
    given: dict[str, Any] = field(default_factory=dict)
    emptied: frozenset[str] = frozenset()  # those of them that were taken away
    prepared: Prepared | None = None  # after the last look, for exactly what was looked at

    @property
    def is_script(self) -> bool:
        """Whether it is a batch script, not a flow."""
        return bool(self.target) and self.flow is None

    @property
    def own_words(self) -> str:
        """What stands for "no profile", when what is submitted knows itself what it needs."""
        if self.is_script:
            return "what the script's own #SBATCH lines say"
        if self.flow is not None and not self.flow.default_runner:
            return f"the flow's own task runner: {self.flow.task_runner}"
        return ""


async def inspect(session: Session, draft: Draft, target: str) -> tuple[FlowInfo, ...]:
    """Read what was chosen into ``draft``; several flows are returned, for the person to choose one."""
    chosen, split = target, split_target(target)
    draft.flow = None
    if split.file.suffix == ".py":
        flows = await inspect_flow_file(
            session.runner, driver_python(_profile(session, draft)), split.file, split.flow or None
        )
        if len(flows) > 1:
            return flows
        draft.flow = flows[0]
        target = draft.flow.entrypoint
    if draft.target not in {"", chosen, target}:  # what was entered was for another flow
        draft.given, draft.texts, draft.emptied = {}, {}, frozenset()
    draft.target = target
    if not draft.profile:
        draft.profile = NO_PROFILE if draft.own_words else session.config.default_profile or ""
    return ()


def _profile(session: Session, draft: Draft) -> Profile | None:
    if draft.profile in {"", NO_PROFILE}:
        return None
    return pick_profile(session.config, draft.profile)


def fields_of(draft: Draft) -> tuple[Field, ...]:
    """The form of a flow's parameters."""
    return tuple(_field(parameter, draft.given) for parameter in draft.flow.parameters) if draft.flow else ()


def _field(parameter: ParameterInfo, given: Mapping[str, Any]) -> Field:
    value = given.get(parameter.name, parameter.default)
    text = "" if value is None else _text(value)
    choices = tuple(_text(choice) for choice in parameter.choices)
    return Field(parameter.name, parameter.type, text, choices, parameter.help, parameter.required)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


async def look(session: Session, draft: Draft, *, probing: str = NEVER) -> tuple[list[tuple[str, str]], bool]:
    """The last look before submitting: what goes where, SLURM's answer, the job script; and whether all is well."""
    profile = _profile(session, draft)
    if draft.flow is None:
        return await _look_at_script(session, draft, profile)
    flow = draft.flow
    prepared, script, checks = await asyncio.gather(
        prepare(session, _request(draft), flow),
        preview_script(session.runner, driver_python(profile), flow.entrypoint, profile),
        beside(session, flow, profile, probing=probing),
    )
    draft.prepared = prepared
    lines = [(f"flow        {flow.name}  {flow.entrypoint}", "bold"), (f"profile     {draft.profile}", "")]
    lines += [(f"parameter   {name} = {_text(value)}", "") for name, value in prepared.parameters.items()]
    lines += [(f"⚠ {warning}", "$state-waiting") for warning in flow.warnings]
    if prepared.slurm_said:
        lines.append((f"✔ SLURM: {prepared.slurm_said}", "$state-done"))
    lines += [line for check in checks for line in _check_lines(check)]
    return [*lines, ("", ""), *((line, "$text-muted") for line in script.splitlines())], True


def _check_lines(check: Check) -> list[tuple[str, str]]:
    """What a preflight found: what is well in one line, of anything else where, why and what to do."""
    sign, style = {"ok": ("✔", "$state-done"), "warn": ("⚠", "$state-waiting")}.get(check.state, ("✖", "$state-failed"))
    found = [(f"{sign} {visible(check.name)}: {visible(check.what)}", style)]
    if check.state != "ok":
        more = " · ".join(part for part in (check.where, check.why, check.next and f"next: {check.next}") if part)
        found.append((f"  {visible(more)}", "$text-muted"))
    return found


def _request(draft: Draft) -> SubmitRequest:
    return SubmitRequest(
        target=draft.target,
        profile=draft.profile or None,
        parameters=_known_parameters(draft),
        texts=draft.texts,
        directory=str(Path(draft.target).parent),
    )


def _known_parameters(draft: Draft) -> dict[str, Any]:
    """What was given at first, without what was taken away and what the flow has no parameter for any more."""
    names = {parameter.name for parameter in draft.flow.parameters} if draft.flow else set()
    return {name: value for name, value in draft.given.items() if name in names - draft.emptied}


async def _look_at_script(
    session: Session, draft: Draft, profile: Profile | None
) -> tuple[list[tuple[str, str]], bool]:
    script = await asyncio.to_thread(Path(draft.target).read_bytes)
    options = sbatch_options(profile) if profile else ()
    answer = await test_only(session.runner, script, options)
    lines = [
        (f"sbatch {' '.join(options)} {draft.target}", "bold"),
        (f"{'✔' if answer.ok else '✖'} SLURM: {answer.text}", "$state-done" if answer.ok else "$state-failed"),
        ("", ""),
    ]
    return [*lines, *((line, "$text-muted") for line in script.decode("utf-8", "replace").splitlines())], answer.ok


async def submit(session: Session, draft: Draft) -> tuple[str, str, str]:
    """Submit it; returns a sentence, and the view and the row to go to."""
    profile = _profile(session, draft)
    if draft.flow is None:
        job_id = await submit_batch(session, Path(draft.target), profile)
        return f"job {job_id} submitted", "jobs", job_id
    spec = await submit_flow(session, _request(draft), draft.prepared)
    return f"{spec.name} submitted", "runs", f"run:{spec.id}"
