"""The one module that knows Prefect's inside.

Prefect runs a flow of which only the id and the file are known in ``prefect.flow_engine``; that module is meant for its
own subprocesses and moves between releases. What is used of it stands here and is checked against the version.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from typing import TYPE_CHECKING, Any
from uuid import UUID

import prefect
import prefect.flows
from prefect import flow_engine
from prefect.exceptions import MissingFlowError, ScriptError, TerminationSignal
from prefect.flows import Flow, load_flow_from_entrypoint
from prefect.logging.loggers import flow_run_logger
from prefect.utilities.importtools import load_script_as_module

from slurmtui.errors import FlowError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from prefect.client.schemas.objects import FlowRun

__all__ = [
    "Execution", "Flow", "ScriptError", "TerminationSignal", "has_default_runner", "load_flow", "load_module",
    "prefect_version",
]  # fmt: skip

_USED = ("load_flow_run", "run_flow")
_MARK = "_slurmtui_default_runner"


def prefect_version() -> str:
    """The version of Prefect that is installed."""
    return str(prefect.__version__)


def load_flow(entrypoint: str) -> Flow[..., Any]:
    """Import the file of ``/abs/file.py:function`` and return its flow.

    Raises:
        FlowError: the file has no such flow, or runs a flow when it is imported.
        ScriptError: the file does not import; the reason is its ``user_exc``.
    """
    with _defaults_marked(), _no_flow_is_called():
        try:
            return load_flow_from_entrypoint(entrypoint, use_placeholder_flow=False)
        except MissingFlowError as error:
            raise FlowError(f"{entrypoint}: {error}") from error


def load_module(file: str) -> ModuleType:
    """Import a flow's file as Prefect does, without running any flow.

    Raises:
        ScriptError: the file does not import; the reason is its ``user_exc``.
    """
    with _defaults_marked(), _no_flow_is_called():
        return load_script_as_module(file)


def has_default_runner(flow: Flow[..., Any]) -> bool:
    """Whether the flow's author named no task runner (the flow was loaded by ``load_flow``)."""
    return bool(getattr(flow.task_runner, _MARK, False))


@contextlib.contextmanager
def _defaults_marked() -> Iterator[None]:
    """While flows are defined, mark the task runner that Prefect chooses for those that name none.

    Afterwards the default cannot be told from the same runner chosen on purpose, and a purpose must be honoured.
    """
    flows: Any = prefect.flows
    original = flows.ThreadPoolTaskRunner

    def marked() -> Any:
        runner = original()
        setattr(runner, _MARK, True)
        return runner

    flows.ThreadPoolTaskRunner = marked
    try:
        yield
    finally:
        flows.ThreadPoolTaskRunner = original


@contextlib.contextmanager
def _no_flow_is_called() -> Iterator[None]:
    """While a file is imported, refuse what it would start then: it is to be loaded, not run."""

    def refused(flow: Flow[..., Any], *_arguments: Any, **_keywords: Any) -> Any:
        raise FlowError(
            f"the file runs its flow {flow.name!r} while it is imported: put the call under `if __name__ == "
            '"__main__":`'
        )

    kept = {name: getattr(Flow, name) for name in ("__call__", "serve", "deploy") if hasattr(Flow, name)}
    for name in kept:
        setattr(Flow, name, refused)
    try:
        yield
    finally:
        for name, method in kept.items():
            setattr(Flow, name, method)


class Execution:
    """One existing flow run, to be run in this process."""

    def __init__(self, run_id: str) -> None:
        missing = [name for name in _USED if not hasattr(flow_engine, name)]
        if missing:
            raise FlowError(
                f"Prefect {prefect_version()} lacks {', '.join(missing)}, which slurmtui needs to run a flow; "
                "install a version that slurmtui names as tested"
            )
        self.flow_run: FlowRun = flow_engine.load_flow_run(flow_run_id=UUID(run_id))
        self.logger = flow_run_logger(flow_run=self.flow_run)

    def run(self, flow: Flow[..., Any]) -> None:
        """Run the flow with the parameters that Prefect holds for the run; the engine writes the states.

        Raises:
            BaseException: whatever the flow raised, or ``TerminationSignal`` when it was ended from outside.
        """
        with contextlib.ExitStack() as stack:
            metrics = getattr(flow_engine, "RunMetrics", None)
            if metrics is not None:
                stack.enter_context(metrics(self.flow_run, flow))
            # Without an error_logger: it would say once more, as an "unexpected exception", what the flow raised.
            result = flow_engine.run_flow(flow, flow_run=self.flow_run)
            _drive(flow, result)


def _drive(flow: Flow[..., Any], result: Any) -> None:
    """Do the deferred work of an asynchronous or generator flow, on this (the main) thread."""
    drive = getattr(flow_engine, "_drive_run_flow_result", None)
    if drive is not None:
        drive(flow, result)
        return
    if inspect.iscoroutine(result):
        asyncio.run(result)
    elif inspect.isgenerator(result):
        for _ in result:
            pass
