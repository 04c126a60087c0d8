"""What is left of something that ended without saying so, with the proof of it and the repairs that are safe."""

from __future__ import annotations

import msgspec


class Repair(msgspec.Struct, frozen=True, kw_only=True):
    """One way to put a case right.

    ``key`` is its stable name for scripts, ``yes`` the words of consent, ``plan`` what would be done, part by part.
    """

    key: str
    title: str
    plan: tuple[tuple[str, str], ...] = ()
    yes: str = "do it"


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One thing to rescue.

    Attributes:
        id: names it from look to look.
        kind: a stable word for scripts (``driver-gone``, ``orphan-jobs``, ``stale-lock`` …).
        title: what it is about, a name.
        text: what is the matter, one sentence.
        evidence: what each source said.
        repairs: the safe ways, the most fitting first; none where nothing can be done from here.
        run_id: of the run it is about.
        job_ids: of the jobs it is about.
        paths: of the files and folders it is about.
    """

    id: str
    kind: str
    title: str
    text: str
    evidence: tuple[str, ...] = ()
    repairs: tuple[Repair, ...] = ()
    run_id: str = ""
    job_ids: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()

    def repair(self, key: str) -> Repair | None:
        """The repair of that name."""
        return next((one for one in self.repairs if one.key == key), None)


class RepairReport(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a repair: one sentence, and whether the case is settled."""

    ok: bool
    text: str


class Leftover(msgspec.Struct, frozen=True, kw_only=True):
    """Files in the state folder that nobody needs any more, or that may be put away.

    ``kind`` is ``stale-lock``, ``tls-files``, ``half-made-folder``, ``old-folders`` or ``dead-server``; ``moment`` is
    when they were last written (seconds since the epoch).
    """

    kind: str
    paths: tuple[str, ...]
    why: str
    run_id: str = ""
    moment: float = 0
