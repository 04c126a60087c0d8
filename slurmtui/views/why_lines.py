"""The page that says why a job waits. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slurmtui.models.amounts import counted, limit_words, size_words
from slurmtui.models.gres import gres_words
from slurmtui.models.job_why_judge import line_words
from slurmtui.models.job_why_todo import clock_words
from slurmtui.models.text import visible
from slurmtui.models.values import Special
from slurmtui.sources.slurm.priority import FIRST_COME

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from slurmtui.models.job_request import JobRequest
    from slurmtui.models.job_why import Factor, Why, WhyFacts
    from slurmtui.widgets.bar import Piece

_LABEL = 18
_MOST_LIMITS = 8


def why_lines(facts: WhyFacts, why: Why) -> list[list[Piece]]:
    """Reason, what would have to happen, whether it can ever be met, when, the place in the order, the limits."""
    style = "bold $state-failed" if why.stuck else "bold $state-waiting"
    word = f" ({visible(why.word)})" if why.word and why.word not in why.reason else ""
    lines: list[list[Piece]] = []
    lines += _rows("it waits because", [(f"{visible(why.reason)}{word}", style)])
    lines += _rows("what has to happen", _texts(why.todo, ""))
    lines += _rows("can it ever start", _verdict(why))
    lines += _rows("what you can do", _texts(why.remedies, ""))
    lines += _rows("estimated start", [(_start(facts, why), "")])
    lines += _rows("place in line", _texts(line_words(why.place, _where(facts)), ""))
    lines += _rows("its priority", _priority(facts))
    lines += _rows("limits", _limits(why))
    lines += _rows("it asks for", [(visible(request_words(facts.request)), "")])
    missing = {part: words for part, words in facts.missing.items() if words != FIRST_COME}
    lines += _rows("not known", [(f"{part}: {visible(' '.join(words.split()))}", "$text-muted")
                                 for part, words in missing.items()])  # fmt: skip
    return lines[:-1]


def _rows(label: str, pieces: Sequence[Piece]) -> list[list[Piece]]:
    """A label and its lines beside it, then an empty line; nothing where there is nothing to say."""
    if not pieces:
        return []
    rows: list[list[Piece]] = [
        [((label if not number else "").ljust(_LABEL + 2), "$text-muted"), piece] for number, piece in enumerate(pieces)
    ]
    return [*rows, []]


def _texts(texts: Iterable[str], style: str) -> list[Piece]:
    return [(visible(text), style) for text in texts]


def _where(facts: WhyFacts) -> Sequence[str]:
    return facts.request.partitions or (facts.job.partition,)


def _verdict(why: Why) -> list[Piece]:
    if why.never:
        return [("no, not as it is:", "bold $state-failed"), *_texts(why.never, "$state-failed")]
    if why.blocked:
        return [("not until an administrator does something:", "bold $state-failed"), *_texts(why.blocked, "")]
    if not why.known:
        return [("not known: partitions or nodes could not be asked for", "$text-muted")]
    return [("yes: there are nodes that have what it asks for", "$state-done")]


def _start(facts: WhyFacts, why: Why) -> str:
    if why.start is None:
        return "SLURM has none for it (yet)"
    where = f" on {visible(why.nodes_planned)}" if why.nodes_planned else ""
    return f"{clock_words(why.start, facts.now)}{where}, as things are now"


def _priority(facts: WhyFacts) -> list[Piece]:
    if FIRST_COME in facts.missing.values():
        return [(FIRST_COME, "")]
    if not facts.factors:
        return []
    total = f"{facts.job.priority:,} = " if facts.job.priority else ""
    return [(total + " + ".join(_factor(factor) for factor in facts.factors).replace("+ -", "- "), "")]


def _factor(factor: Factor) -> str:
    most = f" of {factor.most:,.0f}" if factor.most else ""
    return f"{factor.name} {factor.value:,.0f}{most}" if factor.value >= 0 else f"-{factor.name} {-factor.value:,.0f}"


def _limits(why: Why) -> list[Piece]:
    found: list[Piece] = []
    for limit, is_the_one in why.limits[:_MOST_LIMITS]:
        used = "" if limit.used is None else f", {limit.amount(limit.used)} used"
        text = f"{limit.whose}: {limit.amount(limit.limit)} {limit.thing} {limit.per}{used}"
        style = "bold $state-failed" if is_the_one else ""
        found.append((visible(text + (" ◂ this holds it" if is_the_one else "")), style))
    if len(why.limits) > _MOST_LIMITS:
        found.append((f"and {len(why.limits) - _MOST_LIMITS} more", "$text-muted"))
    return found or [("none is set for its QOS, account and user", "$text-muted")]


def request_words(request: JobRequest) -> str:
    """What a job asks for, in one sentence."""
    nodes = counted(request.nodes, "node")
    parts = [f"{nodes} of {', '.join(request.partitions) or 'any partition'}", counted(request.cpus, "CPU")]
    if request.memory_per_node:
        parts.append(f"{size_words(request.memory_per_node)} on each")
    elif request.memory_per_cpu:
        parts.append(f"{size_words(request.memory_per_cpu)} for each CPU")
    parts += [f"{gres_words(thing)} on each" for thing in request.gres_per_node]
    parts += [f"{gres_words(thing)} in all" for thing in request.gres_per_job]
    if request.features:
        parts.append(f"feature {request.features}")
    if request.exclusive:
        parts.append("whole nodes")
    if request.licenses:
        parts.append(f"licences {request.licenses}")
    if request.reservation:
        parts.append(f"reservation {request.reservation}")
    limit = request.time_limit
    parts.append("without a time limit" if limit is Special.UNLIMITED else f"for {limit_words(limit)}")
    return ", ".join(parts)
