"""What became of an action on a job, and whom SLURM's words on stderr are about."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

import msgspec

from slurmtui.models.ids import parse_job_id, spans

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from slurmtui.models.job_units import Unit

Kind = Literal["done", "gone", "failed"]


class Outcome(msgspec.Struct, frozen=True):
    """What became of one id: ``done`` (SLURM took it), ``gone`` (it was in the queue no more), ``failed``."""

    id: str
    kind: Kind = "done"
    words: str = ""


_GONE = (
    "invalid job id specified", "already completing or completed", "job has already finished", "no job found",
    "invalid job id", "job/step already completing",
)  # fmt: skip
_BEFORE = re.compile(r"^(?P<words>.*?) (?:for|on) job (?:id )?(?P<id>\d+[\d_+\[\],%:.-]*)(?:: (?P<rest>.*))?$")
_FIRST = re.compile(r"^(?P<id>\d+(?:_[\d,:%-]+|_\[[\d,:%-]+\]|\+\d+)?): (?P<words>.+)$")
_CHATTER = re.compile(r"^(?:Terminating job|Signal \d+ to|select/|Job is in transitional|auth/|topology/|\S+: init: )")
_ECHO = re.compile(r"^slurm_\w+ error(?::\s*|$)")


def is_gone(words: str) -> bool:
    """Whether SLURM's words mean that there was nothing left to act on."""
    lower = words.lower()
    return any(gone in lower for gone in _GONE)


def said_of(stderr: str, command: str) -> tuple[list[tuple[str, str]], list[str]]:
    """Pairs of an id, as SLURM wrote it, and what it said of it; and what it said of no id in particular."""
    pairs: list[tuple[str, str]] = []
    general: list[str] = []
    for line in stderr.splitlines():
        words = line.strip().removeprefix(f"{command}: ").removeprefix("error: ")
        before, first = _BEFORE.match(words), _FIRST.match(words)
        if not words or _CHATTER.match(words):
            continue
        if before is not None:
            pairs.append((before["id"].rstrip("."), before["rest"] or before["words"]))
        elif first is not None:
            if first["words"] != "No error":
                pairs.append((first["id"], first["words"]))
        else:
            general.append(words)
    return pairs, general


def outcomes(chunk: Sequence[Unit], stderr: str, command: str, *, failed: bool, fallback: str) -> dict[str, Outcome]:
    """One outcome an id of ``chunk``.

    Args:
        chunk: what was handed to the command.
        stderr: what it said.
        command: its name.
        failed: whether its exit code was not 0.
        fallback: words for when it failed without one.
    """
    words: dict[str, str] = {}
    pairs, general = said_of(stderr, command)
    for written, text in pairs:
        for job_id, about in _meant(written, chunk).items():
            words.setdefault(job_id, f"{about}{text}")
    # ``slurm_suspend error: …`` repeats the last error of an id; alone it is about all of them.
    general = [text for text in general if not (words and _ECHO.match(text))]
    if failed and not words:
        said = "; ".join(filter(None, dict.fromkeys(_ECHO.sub("", text) for text in general))) or fallback
        words = {job_id: said for unit in chunk for job_id in unit.ids}
    return {job_id: _outcome(job_id, words.get(job_id, "")) for unit in chunk for job_id in unit.ids}


def _outcome(job_id: str, words: str) -> Outcome:
    if not words:
        return Outcome(job_id)
    return Outcome(job_id, "gone" if is_gone(words) else "failed", words)


def _meant(written: str, chunk: Sequence[Unit]) -> Mapping[str, str]:
    """The ids that SLURM means by ``written``, each with the tasks it names where those are a part of the id only."""
    plain = {unit.text: unit for unit in chunk}
    if written in plain:
        return dict.fromkeys(plain[written].ids, "")
    base, underscore, tasks = written.partition("_")
    told = spans(tasks.strip("[]").partition("%")[0]) if underscore else None
    found: dict[str, str] = {}
    for unit in chunk:
        if not unit.text.startswith(base) or unit.text[len(base) : len(base) + 1] not in {"", "_", "+"}:
            continue
        for job_id in unit.ids:
            part = "" if told is None else _shared(job_id, told)
            if part is not None:
                found[job_id] = part
    return found


def _shared(job_id: str, told: Iterable[tuple[int, int, int]]) -> str | None:
    """Nothing when all of ``job_id`` is told of, ``task 4: `` for a part of it, None when it is not meant."""
    parsed = parse_job_id(job_id)
    if parsed is None:
        return None
    if parsed.task is None and not parsed.tasks:
        return ""
    own = parsed.tasks or ((parsed.task or 0, parsed.task or 0, 1),)
    common = 0
    texts = []
    for first, last, _ in told:
        for start, end, step in own:
            low, high = max(first, start), min(last, end)
            low += -(low - start) % step
            if low <= high:
                common += (high - low) // step + 1
                texts.append(str(low) if low == high else f"{low}-{high}")
    if not common:
        return None
    whole = parsed.count() if parsed.tasks else 1
    return "" if common >= whole else f"task {', '.join(texts)}: "
