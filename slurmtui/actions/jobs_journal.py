"""What was done to jobs and how it is undone: one step back at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slurmtui.control.jobs_many import Command

_KEPT = 20


@dataclass(frozen=True)
class Done:
    """One action that was done.

    ``undo`` are the commands that bring back what was before, each with its ids; empty when there is none, and then
    ``why_not`` says so.
    """

    words: str
    undo: tuple[tuple[Command, tuple[str, ...]], ...] = ()
    why_not: str = ""


@dataclass
class Journal:
    """The actions of this console, newest last."""

    done: list[Done] = field(default_factory=list)

    def note(self, words: str, undo: Sequence[tuple[Command, Sequence[str]]] = (), why_not: str = "") -> None:
        """Remember an action; only ids on which it succeeded belong in ``undo``."""
        kept = tuple((command, tuple(ids)) for command, ids in undo if ids)
        self.done = [*self.done[1 - _KEPT :], Done(words, kept, why_not)]

    @property
    def last(self) -> Done | None:
        """The newest action that has not been undone."""
        return self.done[-1] if self.done else None

    def undone(self, done: Done) -> None:
        """Forget an action that was undone."""
        self.done = [one for one in self.done if one is not done]
