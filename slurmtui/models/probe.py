"""What a small job on a compute node found there."""

from __future__ import annotations

import msgspec


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where Python runs, and what it has there. Versions are empty where a package is not installed."""

    node: str = ""
    python: str = ""
    python_version: str = ""
    versions: dict[str, str] = {}
    seen: dict[str, bool] = {}  # by path: whether it is there


class ProbeAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What the job wrote: ``status`` is the HTTP status of the answer, None without one; ``said`` what was wrong."""

    place: Place
    status: int | None = None
    version: str = ""
    said: str = ""
    seconds: float = 0.0
    proxy: str = ""


class ProbeResult(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a probe.

    Attributes:
        time: when (seconds since the epoch).
        api_url: the server's address that was tried.
        where: partition, account and QOS of the job, in words.
        job_id: of the job.
        answer: what the job wrote; None when nothing came.
        problem: why nothing came, a sentence.
        waits: whether the job was still in the queue when it was given up.
    """

    time: float
    api_url: str
    where: str
    job_id: str = ""
    answer: ProbeAnswer | None = None
    problem: str = ""
    waits: bool = False

    @property
    def proven(self) -> bool:
        """Whether the server answered the job and took its password."""
        return self.answer is not None and self.answer.status == 200
