"""What of a job can be changed while it is in the queue, and what stands in a form for it. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from slurmtui.models.amounts import limit_words
from slurmtui.models.values import Seconds, Special, seconds

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_WHOLE = re.compile(r"-?\d+", re.ASCII)


class JobValues(msgspec.Struct, frozen=True, kw_only=True):
    """What a job has now, as scontrol takes it; None where it is not known."""

    time_limit: Seconds = Special.UNKNOWN
    partition: str = ""
    qos: str = ""
    nice: int | None = None
    priority: int | None = None

    @property
    def held(self) -> bool:
        """Whether it is held: SLURM then gives it the priority 0."""
        return self.priority == 0

    def text(self, name: str) -> str:
        """A value as it is written; "" when it is not known."""
        if name == "TimeLimit":
            if self.time_limit is Special.UNLIMITED:
                return "UNLIMITED"
            return limit_words(self.time_limit) if isinstance(self.time_limit, int) else ""
        value = {"Partition": self.partition, "QOS": self.qos, "Nice": self.nice, "Priority": self.priority}[name]
        return "" if value is None else str(value)


class Editable(msgspec.Struct, frozen=True):
    """One field: SLURM's name, what a person calls it, and a word of help."""

    name: str
    title: str
    help: str


FIELDS = (
    Editable("TimeLimit", "time limit", "2:00:00, 1-12:00:00, 90 (minutes), UNLIMITED; raising needs an administrator"),
    Editable("Partition", "partition", "waiting jobs only; several with commas"),
    Editable("QOS", "qos", "waiting jobs only"),
    Editable("Nice", "nice", "a larger number lowers the priority; only administrators go below 0"),
    Editable("Priority", "priority", "administrators only; fixes it for good"),
)
THROTTLE = Editable("ArrayTaskThrottle", "tasks at once", "of the whole array; 0 for any number")


def common(values: Iterable[JobValues], name: str) -> str:
    """The value that all have, "" when they differ."""
    texts = {value.text(name) for value in values}
    return texts.pop() if len(texts) == 1 else ""


def complaint(name: str, text: str) -> str:
    """What is wrong with a value that a person typed, "" when nothing is plain to see."""
    if name == "TimeLimit":
        plain = text.lstrip("+-")
        if isinstance(seconds(plain), int) or seconds(plain) is Special.UNLIMITED:
            return ""
        return f"time limit: {text!r} is no duration; write 2:00:00, 1-12:00:00 or 90 (minutes)"
    if name in {"Nice", "Priority", "ArrayTaskThrottle"} and not _WHOLE.fullmatch(text):
        return f"{name}: {text!r} is no whole number"
    if name in {"Priority", "ArrayTaskThrottle"} and text.startswith("-"):
        return f"{name}: a number below 0 means nothing"
    if not re.fullmatch(r"[\w.,:+@/-]+", text):
        return f"{name}: {text!r} is no name"
    return ""


def inverse(
    before: Mapping[str, JobValues], changed: Sequence[str], ids: Iterable[str]
) -> list[tuple[dict[str, str], list[str]]]:
    """What brings the old values back: for each set of values, the jobs that had it.

    A priority that SLURM had reckoned cannot be brought back, because setting it fixes it; nor what was not known.
    """
    names = [name for name in changed if name != "Priority"]
    groups: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for job_id in ids:
        value = before.get(job_id)
        if value is None or not names:
            continue
        old = tuple((name, value.text(name)) for name in names if value.text(name))
        if old:
            groups.setdefault(old, []).append(job_id)
    return [(dict(old), members) for old, members in groups.items()]
