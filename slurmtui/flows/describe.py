"""Facts about a flow, from the flow itself: parameters from its schema, the task runner, what to beware of."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from slurmtui.flows.engine import Flow, has_default_runner
from slurmtui.models.flow_info import FlowInfo, ParameterInfo

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

_CLUSTER_LOST = (
    "DaskTaskRunner(cluster=…) loses its cluster when the flow starts, and the tasks would run in a LocalCluster "
    "beside the driver, on the login node: give cluster_class= and cluster_kwargs= instead."
)
_ON_THE_LOGIN_NODE = (
    "DaskTaskRunner without a cluster of SLURM jobs starts a LocalCluster beside the driver: the tasks would run "
    'on the login node. Give cluster_class="dask_jobqueue.SLURMCluster", or no task runner and a profile.'
)
_TYPES = frozenset({"integer", "number", "string", "boolean", "array", "object"})


def flows_of(module: ModuleType) -> dict[str, Flow[..., Any]]:
    """The flows at the top of a module by the names they have there: its own, or if it has none the imported ones."""
    named: dict[str, Flow[..., Any]] = {}
    seen: set[int] = set()
    for name, value in vars(module).items():
        if isinstance(value, Flow) and id(value) not in seen:
            seen.add(id(value))
            named[name] = value
    own = {name: flow for name, flow in named.items() if flow.fn.__module__ == module.__name__}
    return own or named


def describe(flow: Flow[..., Any], function: str, file: str, module: ModuleType) -> FlowInfo:
    """What a person must know to submit the flow."""
    return FlowInfo(
        name=flow.name,
        function=function,
        entrypoint=f"{file}:{function}",
        description=_first_paragraph(flow.description or inspect.getdoc(flow.fn) or ""),
        parameters=parameters_of(flow),
        task_runner=runner_words(flow),
        default_runner=has_default_runner(flow),
        shared_cluster=getattr(flow.task_runner, "name_of_cluster", ""),
        warnings=_warnings(flow, module),
    )


def parameters_of(flow: Flow[..., Any]) -> tuple[ParameterInfo, ...]:
    """The flow's parameters in the order of its signature."""
    schema = flow.parameters.model_dump()
    required = set(schema.get("required") or ())
    properties = sorted((schema.get("properties") or {}).items(), key=lambda item: item[1].get("position", 0))
    definitions = schema.get("definitions") or {}
    return tuple(_parameter(name, fields, name in required, definitions) for name, fields in properties)


def _parameter(name: str, fields: Mapping[str, Any], required: bool, definitions: Mapping[str, Any]) -> ParameterInfo:  # noqa: FBT001
    shape = _resolved(fields, definitions)
    return ParameterInfo(
        name=name,
        type=_type(shape),
        required=required,
        default=fields.get("default"),
        choices=_choices(shape),
        help=" ".join((fields.get("description") or shape.get("description") or "").split()),
    )


def _resolved(fields: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    """The shape behind references; of ``X | None`` it is X."""
    for _ in range(10):
        reference = fields.get("$ref")
        if isinstance(reference, str):
            fields = definitions.get(reference.rpartition("/")[2]) or {}
            continue
        options = [one for one in fields.get("anyOf") or fields.get("allOf") or () if one.get("type") != "null"]
        if len(options) != 1:
            break
        fields = options[0]
    return fields


def _type(shape: Mapping[str, Any]) -> str:
    found = shape.get("type")
    if found in _TYPES:
        return str(found)
    words = {type(choice) for choice in _choices(shape)}
    return "string" if words == {str} else "integer" if words == {int} else "any"


def _choices(shape: Mapping[str, Any]) -> tuple[Any, ...]:
    if "const" in shape:
        return (shape["const"],)
    return tuple(shape.get("enum") or ())


def _first_paragraph(text: str) -> str:
    return " ".join(inspect.cleandoc(text).partition("\n\n")[0].split())


def runner_words(flow: Flow[..., Any]) -> str:
    """The task runner in words: ``DaskTaskRunner on SLURMCluster``; empty when the flow names none."""
    if has_default_runner(flow):
        return ""
    runner: Any = flow.task_runner
    name = type(runner).__name__
    if shared := getattr(runner, "name_of_cluster", ""):
        return f"the shared cluster {shared}"
    if name != "DaskTaskRunner":
        return name
    if runner.address:
        return f"{name} at {runner.address}"
    return f"{name} on {cluster_name(runner) or 'LocalCluster'}"


def cluster_name(runner: Any) -> str:
    """The last name of the class that makes the runner's cluster; empty when none was given."""
    chosen = runner.cluster_class
    if chosen is None:
        return ""
    title = getattr(chosen, "title", None)  # a cluster from a profile says which
    if isinstance(title, str):
        return title
    return str(chosen if isinstance(chosen, str) else getattr(chosen, "__name__", chosen)).rpartition(".")[2]


def _warnings(flow: Flow[..., Any], module: ModuleType) -> tuple[str, ...]:
    if has_default_runner(flow):
        return ()
    runner: Any = flow.task_runner
    kind = type(runner).__name__
    if kind == "DaskTaskRunner":
        return _dask_warnings(runner)
    if kind == "PrefectTaskRunner":
        return ("PrefectTaskRunner hands tasks to `prefect task serve` workers; without one they wait for ever.",)
    if kind in {"ThreadPoolTaskRunner", "ProcessPoolTaskRunner"} and not _uses_batch_jobs(module):
        what = "threads" if kind.startswith("Thread") else "processes"
        return (f"{kind} runs the tasks as {what} of the driver, not in SLURM jobs.",)
    return ()


def _dask_warnings(runner: Any) -> tuple[str, ...]:
    if getattr(runner, "_cluster", None) is not None:
        return (_CLUSTER_LOST,)
    if not runner.address and cluster_name(runner) in {"", "LocalCluster"}:
        return (_ON_THE_LOGIN_NODE,)
    return ()


def _uses_batch_jobs(module: ModuleType) -> bool:
    return any(getattr(value, "__module__", "") == "slurmtui.flows.batch" for value in vars(module).values())
