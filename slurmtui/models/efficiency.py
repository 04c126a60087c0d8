"""What an ended job used of what it asked for, and what follows for the next one. Sizes in mebibytes."""

from __future__ import annotations

import msgspec

from slurmtui.models.amounts import limit_words, rounded_up, size_words
from slurmtui.models.values import Seconds, Special

_MUCH_MEMORY = 1024.0  # below that nobody need be told
_FEW = 0.5  # of what was asked for: less is worth a word
_SPARE = 1.25  # of what was used: what to ask for the next time
_MEASURED_AFTER = 30


class StepUsage(msgspec.Struct, frozen=True, kw_only=True):
    """One step as accounting tells it. ``memory`` is the most that all its tasks used together."""

    step: str
    name: str = ""
    state: str = ""
    exit_code: str = ""
    tasks: int = 0
    elapsed: int | None = None
    cpu: int | None = None
    memory: float | None = None
    gpu_percent: int | None = None


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """A job as accounting tells it, with its steps. ``memory`` is what it asked for in all, on all its nodes."""

    id: str
    state: str = ""
    exit_code: str = ""
    start: float | None = None
    end: float | None = None
    elapsed: int | None = None
    time_limit: Seconds = Special.UNKNOWN
    cpus: int = 0
    nodes: int = 1
    cpu: int | None = None
    memory: float | None = None
    gpus: int = 0
    steps: tuple[StepUsage, ...] = ()


class Efficiency(msgspec.Struct, frozen=True, kw_only=True):
    """Shares are between 0 and 1 (memory may be above), None where they are not known."""

    cpu_share: float | None = None
    cpus_busy: float | None = None
    memory_share: float | None = None
    memory_used: float | None = None
    time_share: float | None = None
    cpu_hours: float | None = None
    gpu_hours: float | None = None
    gpu_share: float | None = None
    advice: tuple[str, ...] = ()
    why_unknown: str = ""


def efficiency(usage: Usage) -> Efficiency:
    """The shares and the advice. Pure."""
    elapsed, limit = usage.elapsed or 0, usage.time_limit
    if not elapsed:
        return Efficiency(why_unknown="it ended within a second" if usage.steps else "it never ran")
    used = max((step.memory for step in usage.steps if step.memory), default=None)
    share = usage.cpu / (elapsed * usage.cpus) if usage.cpu is not None and usage.cpus else None
    percent = max((step.gpu_percent for step in usage.steps if step.gpu_percent is not None), default=None)
    found = Efficiency(
        cpu_share=share,
        cpus_busy=None if share is None else share * usage.cpus,
        memory_share=used / usage.memory if used and usage.memory else None,
        memory_used=used,
        time_share=elapsed / limit if isinstance(limit, int) and limit else None,
        cpu_hours=elapsed * usage.cpus / 3600,
        gpu_hours=elapsed * usage.gpus / 3600 if usage.gpus else None,
        gpu_share=percent / 100 if percent is not None and usage.gpus else None,
        why_unknown="" if used else _unmeasured(elapsed),
    )
    return msgspec.structs.replace(found, advice=tuple(_advice(usage, found)))


def _unmeasured(elapsed: int) -> str:
    if elapsed < _MEASURED_AFTER:
        return "it ended before its memory was measured"
    return "its memory was not measured here"


def _advice(usage: Usage, found: Efficiency) -> list[str]:
    advice = [text for text in (_memory_advice(usage, found), _time_advice(usage, found)) if text]
    busy = found.cpus_busy
    if busy is not None and usage.cpus > 1 and (found.cpu_share or 0) < _FEW and (usage.elapsed or 0) > 60:
        advice.append(f"asked for {usage.cpus} CPUs, kept {busy:.1f} busy")
    if found.gpu_share is not None and found.gpu_share < _FEW:
        advice.append(f"its GPUs were {found.gpu_share:.0%} busy on average")
    return advice


def _memory_advice(usage: Usage, found: Efficiency) -> str:
    asked, used = usage.memory, found.memory_used
    where = f" on each of {usage.nodes} nodes" if usage.nodes > 1 else ""
    if usage.state == "OUT_OF_MEMORY":
        each = f" (it had {size_words(asked / usage.nodes)}{where})" if asked else ""
        return f"ran out of memory{each}: ask for more; R submits it again with more"
    if asked is None or not used or asked < _MUCH_MEMORY or used / asked >= _FEW:
        return ""
    enough = size_words(rounded_up(used * _SPARE / usage.nodes))
    each, need = size_words(asked / usage.nodes), size_words(used / usage.nodes)
    return f"asked for {each}{where}, used {need}: {enough} would do"


def _time_advice(usage: Usage, found: Efficiency) -> str:
    if usage.state == "TIMEOUT":
        return f"was ended by its time limit of {limit_words(usage.time_limit)}: R submits it again with more"
    if found.time_share is None or found.time_share >= _FEW or usage.state != "COMPLETED":
        return ""
    used = limit_words(usage.elapsed or 0)
    return f"asked for {limit_words(usage.time_limit)}, took {used}: a shorter limit lets it start sooner"
