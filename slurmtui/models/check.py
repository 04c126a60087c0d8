"""One thing that ``doctor`` looked at."""

from __future__ import annotations

import msgspec


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """``state`` is ``ok``, ``warn`` (works, but know this) or ``fail``; ``what`` is one sentence.

    ``where`` is the file, host or command it is about, ``why`` what the matter was said to be, ``next`` what to do.
    """

    name: str
    state: str
    what: str
    where: str = ""
    why: str = ""
    next: str = ""


def ok(name: str, what: str, *, where: str = "", why: str = "", step: str = "") -> Check:
    """All is well; ``step`` is then a hint."""
    return Check(name=name, state="ok", what=what, where=where, why=why, next=step)


def warn(name: str, what: str, *, where: str = "", why: str = "", step: str = "") -> Check:
    """It works, but this should be known."""
    return Check(name=name, state="warn", what=what, where=where, why=why, next=step)


def fail(name: str, what: str, *, where: str = "", why: str = "", step: str = "") -> Check:
    """It does not work."""
    return Check(name=name, state="fail", what=what, where=where, why=why, next=step)
