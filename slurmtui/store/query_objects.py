"""The filter language for lists of things that are not the queue: nodes, partitions, ended jobs."""

from __future__ import annotations

import functools
import time
from typing import TYPE_CHECKING, Generic, TypeVar

from slurmtui.errors import PatternTooSlow
from slurmtui.models.states import normal_state
from slurmtui.models.text import visible
from slurmtui.store.query import Filter, error_in
from slurmtui.store.query_terms import LIST_SECONDS, Grammar, Term, aliases, in_time, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

Thing = TypeVar("Thing")
Texts = tuple[str, ...]


class Fields(Generic[Thing]):
    """What a filter may ask of a thing.

    Args:
        texts: by field (and ``other names`` after it), the texts that are sought in.
        numbers: by field (and other names), how to read the number: ``count``, ``time`` or ``memory``, and its value.
        words: the fields in which plain words are sought; all of ``texts`` without it.
        beginnings: fields of which a value must be the beginning (ids).
        states: fields that are states of jobs, found by code as well.
    """

    def __init__(
        self,
        texts: Mapping[str, Callable[[Thing], Texts]],
        numbers: Mapping[str, tuple[str, Callable[[Thing], float | None]]],
        *,
        words: Iterable[str] = (),
        beginnings: Iterable[str] = (),
        states: Iterable[str] = (),
    ) -> None:
        names = {key.split()[0]: " ".join(key.split()[1:]) for key in texts}
        self._texts = {key.split()[0]: found for key, found in texts.items()}
        self._numbers = {name: found for key, (_, found) in numbers.items() for name in key.split()}
        kinds = {name: (name, kind) for key, (kind, _) in numbers.items() for name in key.split()}
        self.grammar = Grammar(texts=aliases(names), numbers=kinds)
        self._words = tuple(words) or tuple(self._texts)
        self._beginnings, self._states = frozenset(beginnings), frozenset(states)
        self.terms = functools.lru_cache(maxsize=64)(self._terms)

    def _terms(self, text: str) -> tuple[Term, ...]:
        return parse(text, self.grammar)

    def fulfils(self, thing: Thing, terms: Iterable[Term]) -> bool:
        """Whether every term holds."""
        return all(self._holds(thing, term) is not term.negated for term in terms)

    def _holds(self, thing: Thing, term: Term) -> bool:
        if term.kind == "number":
            return term.holds(self._numbers[term.field](thing))
        fields = (term.field,) if term.field else self._words
        texts = (visible(text) for name in fields for text in self._texts[name](thing))
        if term.pattern is not None:
            return any(map(term.pattern, texts))
        if term.kind == "word":
            return any(term.values[0] in text.casefold() for text in texts)
        if term.field in self._states:
            return any(_is_state(text, term) for text in texts)
        if term.field in self._beginnings and not term.exact:
            return any(text.casefold().startswith(term.values) for text in texts)
        return any(term.says(text) for text in texts)


def _is_state(text: str, term: Term) -> bool:
    """A state by its code (``to``), or by the beginning of its name."""
    for value in term.values:
        name = normal_state(value)
        if name == text or (not term.exact and text.startswith(value.upper()) and name == value.upper()):
            return True
    return False


class ObjectFilter(Filter, Generic[Thing]):
    """A filter as it is typed, of one kind of things; the last good one stays in force while the newest is wrong."""

    def __init__(self, fields: Fields[Thing]) -> None:
        super().__init__()
        self._fields = fields

    def set(self, text: str) -> bool:
        """Take ``text``; False (and ``error`` says why) when it is wrong."""
        self.error = error_in(self._fields.terms, text)
        if not self.error:
            self.text = text
        return not self.error

    def sift(self, things: Sequence[Thing]) -> list[Thing]:
        """Those that match; all that match the last filter of use when this one takes too long."""
        text = self.text
        try:
            found = self.sifted(things, text)
        except PatternTooSlow as error:
            self.refuse(text, error)
            return self.sifted(things, self.text)
        self.proved(text)
        return found

    def sifted(self, things: Sequence[Thing], text: str, seconds: float = LIST_SECONDS) -> list[Thing]:
        """Those that match a filter that is not wrong; also in a thread.

        Raises:
            PatternTooSlow: a regular expression takes longer than ``seconds``.
        """
        terms = in_time(self._fields.terms(text), seconds)
        return [thing for thing in things if self._fields.fulfils(thing, terms)] if terms else list(things)


def age_of(moment: float | None) -> float | None:
    """Seconds since a moment."""
    return None if moment is None else time.time() - moment
