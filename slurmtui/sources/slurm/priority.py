"""What a waiting job's priority is made of, from sprio."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from slurmtui.errors import CommandError
from slurmtui.models.job_why import Factor
from slurmtui.sources.exec import failure
from slurmtui.sources.slurm.ask import ask

if TYPE_CHECKING:
    from slurmtui.sources.slurm.client import Slurm

_WIDTH = 16
_PARTS = (
    ("A", "waiting time"), ("F", "fair-share"), ("J", "job size"), ("P", "partition"), ("Q", "QOS"),
    ("B", "association"), ("S", "site"), ("N", "nice"),
)  # fmt: skip
_TRES_WIDTH = 120
_FORMAT = "".join(f"%{_WIDTH}{letter}" for letter, _ in _PARTS) + f"%{_TRES_WIDTH}T"
FIRST_COME = "this cluster has no priority factors: first come, first served (priority/basic)"


async def factors_of(slurm: Slurm, raw_id: int) -> tuple[Factor, ...]:
    """The parts of a job's priority that are not zero, largest first.

    Raises:
        CommandError: sprio cannot tell, for one because the cluster does not reckon with factors.
    """
    own = await _said(slurm, ("-j", str(raw_id)))
    if not own:
        return ()
    most = dict(_numbers(await _said(slurm, ("-w",))))
    found = [Factor(name, value, most.get(name)) for name, value in _numbers(own) if value]
    return tuple(sorted(found, key=lambda factor: -abs(factor.value)))


async def _said(slurm: Slurm, which: tuple[str, ...]) -> str:
    argv = ("sprio", "-h", *which, "-o", _FORMAT)
    finished = await ask(slurm.runner, argv, slurm.timeout, check=False)
    text = finished.stdout.decode("utf-8", "replace")
    if "supported priority plugin" in finished.stderr + text:
        raise CommandError(FIRST_COME, argv=argv, code=finished.code, stderr=finished.stderr)
    if finished.code:
        raise failure(finished)
    lines = [line.removeprefix("Weights") for line in text.split("\n") if line.strip()]
    return lines[0] if lines else ""


def _numbers(line: str) -> list[tuple[str, float]]:
    """The columns of one line; those of the single TRES by their names."""
    found = []
    for place, (letter, name) in enumerate(_PARTS):
        text = line[place * _WIDTH : (place + 1) * _WIDTH].strip()
        number = _number(text)
        if number is not None:
            found.append((name, -number if letter == "N" else number))
    for part in line[len(_PARTS) * _WIDTH :].strip().split(","):
        name, equals, text = part.partition("=")
        number = _number(text) if equals else None
        if number is not None:
            found.append((f"TRES {name}", number))
    return found


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"-?\d+(?:\.\d+)?", text, re.ASCII) else None
