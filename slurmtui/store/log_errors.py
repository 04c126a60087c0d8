"""Lines that tell of a failure, as programs on a SLURM cluster write them."""

from __future__ import annotations

from slurmtui.sources.files.needle import Needle

_KINDS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("Traceback (most recent call last)",), r"Traceback \(most recent call last\)"),
    (("out of memory", "OutOfMemory", "Out of memory", "Out Of Memory", "MemoryError"),
     r"out of memory|OutOfMemory|Out of memory|Out Of Memory|MemoryError"),
    (("oom",), r"\boom[-_ ]?kill"),
    (("memory budget",), r"exceeded \d+% memory budget"),  # Dask kills a worker
    (("slurmstepd: error", "srun: error", "slurmstepd-"),  # that a job was cancelled is how every Dask worker ends
     r"(slurmstepd(-\S+)?|srun): error(?!: \*\*\* (JOB|STEP) \S+ ON \S+ CANCELLED AT \S+ \*\*\*)"),
    (("NCCL", "nccl"),
     r"NCCL (WARN|(?i:error|failure)|.{0,80}(timed? ?out|abort))|nccl(Unhandled|System|Internal|Invalid|Remote)\w*Err"),
    (("egmentation fault", "SIGSEGV", "segfault", "core dumped", "Bus error"),
     r"[Ss]egmentation fault|SIGSEGV|segfault|core dumped|Bus error"),
    (("quota exceeded", "No space left on device"), r"quota exceeded|No space left on device"),
    (("ModuleNotFoundError", "No module named", "command not found", "cannot open shared object", "Lmod has detected",
      "Unable to locate a module"),
     r"ModuleNotFoundError|No module named|: command not found|cannot open shared|Lmod has detected|Unable to locate"),
    (("| ERROR ", "| CRITICAL", " ERROR ", " CRITICAL ", "[ERROR]", "ERROR:", "FATAL"),
     r"\| (ERROR|CRITICAL)\b|^\S.{0,60}\b(ERROR|CRITICAL|FATAL)\b"),
)  # fmt: skip

_WORDS = tuple(word for words, _ in _KINDS for word in words)
ERRORS = Needle("errors", words=_WORDS, verify="|".join(kind for _, kind in _KINDS))
"""Finds lines that tell of a failure."""


def tells_error(text: str) -> bool:
    """Whether a line tells of a failure."""
    return any(word in text for word in _WORDS) and ERRORS.pattern.matches(text)
