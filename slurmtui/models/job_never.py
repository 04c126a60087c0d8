"""Whether a request can ever be met: what is asked for, against what a partition has and allows. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slurmtui.models.amounts import counted, limit_words, size_words
from slurmtui.models.gres import gres_words
from slurmtui.models.job_limits import PER_JOB, PER_NODE
from slurmtui.models.job_why import Never
from slurmtui.models.nodes import expand_nodes
from slurmtui.models.partition_rules import features_fit
from slurmtui.models.values import Special, count, memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from slurmtui.models.gres import Gres
    from slurmtui.models.job_limits import Limit
    from slurmtui.models.job_request import JobRequest
    from slurmtui.models.partition_rules import NodeKind, PartitionRules


def judge_partition(
    request: JobRequest, rules: PartitionRules, kinds: Sequence[NodeKind], *, passed: bool = False
) -> Never:
    """What keeps ``request`` from ever starting in a partition.

    Args:
        request: what is asked for.
        rules: what the partition allows.
        kinds: the kinds of its nodes.
        passed: the scheduler has looked at the job and let it through the partition's rules (a QOS may lift them).
    """
    never = [] if passed else list(_against_rules(request, rules))
    never += _against_totals(request, rules, kinds)
    alone = list(_against_nodes(request, rules.name, kinds))
    never += alone
    fitting = [kind for kind in kinds if _fits(request, kind)]
    number = sum(_usable(request, kind) for kind in fitting)
    blocked = []
    if kinds and not alone and number < request.nodes:
        never.append(_too_few(request, rules.name, number))
    elif number:
        well = sum(_usable(request, kind) for kind in fitting if not kind.state.wrong)
        if well < request.nodes:
            of = f"{counted(number, 'node')} of {rules.name} that would do"
            blocked.append(f"of the {of}, {number - well} are out of service ({_states(fitting)})")
    if not rules.open:
        blocked.append(f"partition {rules.name} starts no jobs now (it is {rules.state.lower()})")
    return Never(rules.name, tuple(dict.fromkeys(never)), tuple(blocked), number)


def _too_few(request: JobRequest, name: str, number: int) -> str:
    if not number:
        return f"no node of {name} has all of that together: {_together(request)}"
    one = f"only {counted(number, 'node')} of {name} would do"
    return f"asks for {counted(request.nodes, 'node')}; {one}: {_together(request)}"


def _against_rules(request: JobRequest, rules: PartitionRules) -> Iterator[str]:
    """What the partition does not allow."""
    name = rules.name
    limit, wanted = rules.max_time, request.time_limit
    if isinstance(limit, int) and (wanted is Special.UNLIMITED or (isinstance(wanted, int) and wanted > limit)):
        yield f"asks for {limit_words(wanted)}; {name} allows {limit_words(limit)}"
    if rules.max_nodes is not None and request.nodes > rules.max_nodes:
        yield f"asks for {counted(request.nodes, 'node')}; {name} allows {rules.max_nodes} for a job"
    if rules.min_nodes is not None and request.nodes < rules.min_nodes:
        yield f"asks for {counted(request.nodes, 'node')}; {name} wants {rules.min_nodes} at least"
    if rules.max_cpus_per_node is not None and request.cpus_per_node > rules.max_cpus_per_node:
        yield f"asks for {request.cpus_per_node} CPUs on a node; {name} allows {rules.max_cpus_per_node}"
    needed, most = request.memory_needed, rules.max_memory_per_node
    if needed is not None and most is not None and needed > most:
        yield f"asks for {size_words(needed)} on a node; {name} allows {size_words(most)}"
    yield from _not_allowed("account", request.account, name, rules.allow_accounts, rules.deny_accounts)
    yield from _not_allowed("QOS", request.qos, name, rules.allow_qos, rules.deny_qos)


def _not_allowed(what: str, own: str, name: str, allowed: Sequence[str] | None, denied: Sequence[str]) -> Iterator[str]:
    if own and (own in denied or (allowed is not None and own not in allowed)):
        yield f"its {what} {own} may not use {name}" + (f" (only {', '.join(allowed[:6])})" if allowed else "")


def _against_totals(request: JobRequest, rules: PartitionRules, kinds: Sequence[NodeKind]) -> Iterator[str]:
    """What the whole partition does not have."""
    name = rules.name
    total = rules.total_nodes or sum(kind.count for kind in kinds)
    if total and request.nodes > total:
        yield f"asks for {counted(request.nodes, 'node')}; {name} has {total}"
    cpus = rules.total_cpus or sum(kind.count * kind.cpus for kind in kinds)
    if cpus and request.cpus > cpus:
        yield f"asks for {request.cpus:,} CPUs; {name} has {cpus:,}"
    for thing in request.gres_per_job:
        there = sum(kind.count * kind.has(thing) for kind in kinds)
        if kinds and thing.count > there:
            yield f"asks for {gres_words(thing)}; all of {name} has {there or 'none'}"
    inside = set(expand_nodes(rules.nodes))
    outside = [node for node in request.only_nodes if node not in inside]
    if inside and outside:
        yield f"asks for node {', '.join(outside[:4])}, which {name} does not have"


def _against_nodes(request: JobRequest, name: str, kinds: Sequence[NodeKind]) -> Iterator[str]:
    """What no single node has, each thing by itself."""
    if not kinds:
        return
    most = max(kind.cpus for kind in kinds)
    if request.cpus_per_node > most:
        yield f"asks for {request.cpus_per_node} CPUs on a node; the largest node of {name} has {most}"
    needed = request.memory_needed
    sizes = [kind.memory for kind in kinds if kind.memory is not None]
    if needed is not None and sizes and needed > max(sizes):
        yield f"asks for {size_words(needed)} on a node; the largest node of {name} has {size_words(max(sizes))}"
    for thing in request.gres_per_node:
        there = max(kind.has(thing) for kind in kinds)
        if thing.count > there:
            yield f"asks for {gres_words(thing)} on a node; {_the_most(kinds, thing, there, name)}"
    if all(features_fit(request.features, kind.features) is False for kind in kinds):
        yield f"no node of {name} has the feature it asks for: {request.features}"


def _the_most(kinds: Iterable[NodeKind], thing: Gres, there: int, name: str) -> str:
    if there:
        return f"the largest node of {name} has {there}"
    others = {own.type for kind in kinds for own in kind.gres if own.name == thing.name and own.type}
    return f"no node of {name} has one" + (f" (there are {', '.join(sorted(others))})" if others else "")


def _fits(request: JobRequest, kind: NodeKind) -> bool:
    """Whether one node of this kind, were it free, has all that is wanted on a node."""
    needed = request.memory_needed
    if request.cpus_per_node > kind.cpus:
        return False
    if needed is not None and kind.memory is not None and needed > kind.memory:
        return False
    if any(thing.count > kind.has(thing) for thing in request.gres_per_node):
        return False
    return features_fit(request.features, kind.features) is not False


def _usable(request: JobRequest, kind: NodeKind) -> int:
    """How many nodes of a kind are not excluded by the request."""
    if not request.not_nodes:
        return kind.count
    return len([node for node in expand_nodes(kind.names) if node not in request.not_nodes])


def _states(kinds: Iterable[NodeKind]) -> str:
    return "; ".join(f"{kind.names} {kind.state.words}" for kind in kinds if kind.state.wrong)


def _together(request: JobRequest) -> str:
    parts = [counted(request.cpus_per_node, "CPU")]
    if request.memory_needed:
        parts.append(size_words(request.memory_needed))
    parts += [gres_words(thing) for thing in request.gres_per_node]
    if request.features:
        parts.append(request.features)
    return ", ".join(parts) + (f", not {', '.join(request.not_nodes[:4])}" if request.not_nodes else "")


def over_limits(request: JobRequest, limits: Iterable[Limit]) -> Iterator[str]:
    """Limits on one job that the request exceeds by itself, whatever else runs."""
    for limit in limits:
        if limit.what not in {"", "wall time"} or (limit.what and limit.per != PER_JOB):
            continue
        wanted = _wanted(request, limit)
        if wanted is not None and wanted > limit.limit:
            asked = limit.amount(wanted)
            yield f"asks for {asked} {limit.thing}; {limit.whose} allows {limit.amount(limit.limit)} {limit.per}"


def _wanted(request: JobRequest, limit: Limit) -> float | None:
    """How much of what a limit counts the job wants."""
    if limit.what == "wall time":
        return request.time_limit / 60 if isinstance(request.time_limit, int) else None
    if limit.per == PER_NODE:
        if limit.tres == "cpu":
            return request.cpus_per_node
        return request.memory_needed if limit.tres == "mem" else None
    return wanted_in_all(request, limit.tres)


def wanted_in_all(request: JobRequest, tres: str) -> float | None:
    """How much of a TRES the whole job wants; mebibytes for memory."""
    text = request.total.get(tres)
    if text is None:
        return None
    parse: Callable[[str], float | None] = memory if tres == "mem" else count
    return parse(text)
