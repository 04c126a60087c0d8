"""How a job ended, in words: the codes that SLURM gives in place of a program's own."""

from __future__ import annotations

_NO_OUTPUT = 53  # what SLURM's own "I/O error" (4021) looks like as a signal; no program is sent such a one
_MEANS = {_NO_OUTPUT: "output could not be opened"}


def signal_words(number: int) -> str:
    """``signal 9``, and for what is no real signal what it means."""
    means = _MEANS.get(number, "")
    return f"signal {number} ({means})" if means else f"signal {number}"


def code_words(code: str) -> str:
    """SLURM's ``0:53`` (exit code and signal) with what it means."""
    means = _MEANS.get(_signal(code), "")
    return f"{code} ({means})" if means else code


def had_no_output(code: str) -> bool:
    """Whether SLURM ended the job as it began because its output could not be opened, by its code ``0:53``."""
    return _signal(code) == _NO_OUTPUT


def _signal(code: str) -> int:
    number = code.partition(":")[2]
    return int(number) if number.isascii() and number.isdigit() else 0
