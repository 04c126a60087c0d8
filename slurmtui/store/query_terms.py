"""The grammar of a filter: what a person typed becomes terms, or one sentence that says what is wrong."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import msgspec

from slurmtui.errors import UsageError
from slurmtui.models.nearest import did_you_mean, nearest
from slurmtui.models.pattern import Pattern, too_slow
from slurmtui.models.values import Special, memory, seconds

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_FIELD = re.compile(r"(?P<field>[A-Za-z_]+)(?P<op>>=|<=|!=|[:=<>])(?P<value>.*)", re.DOTALL)
_MATCHED = re.compile(r"(?P<field>[A-Za-z_]+)(?P<op>!=|[:=])/")
_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw])", re.IGNORECASE)
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_SYMBOLS = {">": "gt", "<": "lt", ">=": "ge", "<=": "le"}


LIST_SECONDS = 0.2
"""So long a regular expression may take for all of a list that is sifted at once."""
THREAD_SECONDS = 2.0
"""The same for a long list, which is sifted in a thread."""


class QueryError(UsageError):
    """A filter that cannot be understood; the text says which word and why."""


class Term(msgspec.Struct, frozen=True):
    """One condition. ``kind`` is ``word``, ``regex``, ``text`` (of a field) or ``number`` (of a field).

    ``values`` are the alternatives of a text, in lower case, or the one regular expression; ``exact`` says that one of
    them must be the whole field; ``needle`` is in every ASCII text that the regular expression matches.
    """

    kind: str
    negated: bool = False
    field: str = ""
    values: tuple[str, ...] = ()
    exact: bool = False
    compare: str = ""
    number: float = 0.0
    needle: bytes = b""
    pattern: Any = None  # Pattern, of a text also; after ``in_time`` a test of a text

    def holds(self, value: float | None) -> bool:
        """Whether a number fulfils the comparison; what is not known fulfils none."""
        if value is None:
            return False
        return {
            "gt": value > self.number,
            "lt": value < self.number,
            "ge": value >= self.number,
            "le": value <= self.number,
            "eq": value == self.number,
        }[self.compare]

    def says(self, text: str) -> bool:
        """Whether the text of the term's field fulfils it."""
        if self.pattern is not None:
            matched: bool = self.pattern(text)
            return matched
        folded = text.casefold()
        return folded in self.values if self.exact else any(value in folded for value in self.values)


class Grammar(msgspec.Struct, frozen=True):
    """The fields of one list: the other names of text fields, and what the numbers of number fields are.

    ``paths`` are fields whose text begins with a slash: there it begins no regular expression.
    """

    texts: dict[str, str]  # name or alias -> field
    numbers: dict[str, tuple[str, str]]  # name or alias -> field, "count" | "time" | "memory"
    paths: frozenset[str] = frozenset()

    @property
    def names(self) -> list[str]:
        """All that may stand before a ``:``."""
        return sorted({*self.texts, *self.numbers})


class Word(msgspec.Struct, frozen=True):
    """One word of a filter without its ``!`` and quotes. ``kind`` is ``plain``, ``quoted`` or ``regex``.

    A regular expression may be for one ``field`` only, and ``whole`` if it is to match all of it.
    """

    text: str
    negated: bool = False
    kind: str = "plain"
    field: str = ""
    whole: bool = False


def parse(text: str, grammar: Grammar) -> tuple[Term, ...]:
    """The terms of a filter, all of which must hold.

    Raises:
        QueryError: a word cannot be understood.
    """
    return tuple(_term(word, grammar) for word in split(text, grammar))


def in_time(terms: Iterable[Term], seconds: float) -> tuple[Term, ...]:
    """The terms for the texts of a list, of which the regular expressions may take so long each for all of it.

    PatternTooSlow is raised by the test that takes longer.
    """
    return tuple(
        msgspec.structs.replace(term, pattern=term.pattern.within(seconds)) if term.pattern is not None else term
        for term in terms
    )


def check_patience(terms: Iterable[Term]) -> None:
    """Refuse what was found to take too long before.

    Raises:
        QueryError: one of the regular expressions is such.
    """
    for term in terms:
        if term.pattern is not None and term.pattern.slow:
            raise QueryError(str(too_slow(term.pattern.text, "this list")))


def split(text: str, grammar: Grammar) -> list[Word]:
    """The words of a filter: blanks in quotes and between slashes are kept; what is not closed is still being typed."""
    words: list[Word] = []
    at, end = 0, len(text)
    while at < end:
        if text[at].isspace():
            at += 1
            continue
        negated = text[at] == "!"
        begun = at + negated
        word, at = _field_regex(text, begun, grammar, negated=negated) or _one_word(text, begun, negated=negated)
        if word.text:
            words.append(word)
    return words


def _one_word(text: str, at: int, *, negated: bool) -> tuple[Word, int]:
    if text[at : at + 1] == "/":
        source, at = _regex_word(text, at + 1)
        return Word(source, negated, "regex"), at
    kind = "quoted" if text[at : at + 1] == '"' else "plain"
    parts = []
    while at < len(text) and not text[at].isspace():
        if text[at] == '"':
            close = text.find('"', at + 1)
            close = len(text) if close < 0 else close
            parts.append(text[at + 1 : close])
            at = close + 1
        else:
            parts.append(text[at])
            at += 1
    return Word("".join(parts), negated, kind), at


def _field_regex(text: str, at: int, grammar: Grammar, *, negated: bool) -> tuple[Word, int] | None:
    """``name:/^fit-/``; None for anything else, such as a path (``name:/a/b``)."""
    match = _MATCHED.match(text, at)
    field = grammar.texts.get(match["field"].lower(), "") if match else ""
    if match is None or not field or field in grammar.paths:
        return None
    source, end = _regex_word(text, match.end())
    if not text[end : end + 1].strip():
        return Word(source, negated is not (match["op"] == "!="), "regex", field, match["op"] != ":"), end
    return None


def _regex_word(text: str, at: int) -> tuple[str, int]:
    """A regular expression: up to the next slash that has no backslash before it."""
    close = at
    while close < len(text) and text[close] != "/":
        close += 2 if text[close] == "\\" else 1
    return text[at:close].replace("\\/", "/"), close + 1


def _term(word: Word, grammar: Grammar) -> Term:
    if word.kind == "regex":
        pattern = _compiled(word.text)
        needle = pattern.shape.needle.encode()
        if word.whole:
            pattern = _compiled(f"^(?:{word.text})$")
        kind = "text" if word.field else "regex"
        return Term(kind, word.negated, word.field, values=(word.text,), needle=needle, pattern=pattern)
    match = _FIELD.fullmatch(word.text) if word.kind == "plain" else None
    if match is None:
        return Term("word", word.negated, values=(word.text.casefold(),))
    return _field_term(word, match, grammar)


def _compiled(source: str) -> Pattern:
    try:
        return Pattern(source, fold=True)
    except re.error as error:
        raise QueryError(f"/{source}/ is no regular expression: {error}") from None
    except (RecursionError, OverflowError):
        raise QueryError(f"/{source}/ is too much of a regular expression") from None


def _field_term(word: Word, match: re.Match[str], grammar: Grammar) -> Term:
    name, op, value = match["field"].lower(), match["op"], match["value"]
    negated = word.negated
    if op == "!=":
        negated, op = not negated, "="
    if name in grammar.numbers and (op in _SYMBOLS or name not in grammar.texts):
        field, unit = grammar.numbers[name]
        if not value:  # still being typed: it hides nothing
            return Term("word", values=("",))
        return Term("number", negated, field, compare=_SYMBOLS.get(op, "eq"), number=_number(value, unit, word.text))
    if op in _SYMBOLS or name not in grammar.texts:
        return _no_field(word, name, grammar, compared=op in _SYMBOLS)
    values = tuple(part.casefold() for part in value.split(",") if part)
    # ``field:`` with nothing behind it is still being typed: it hides nothing.
    typed = bool(values)
    return Term("text", negated and typed, grammar.texts[name], values or ("",), exact=typed and op == "=")


def _no_field(word: Word, name: str, grammar: Grammar, *, compared: bool) -> Term:
    """Anybody may have a ``:`` in a name: only what looks like a field, or compares one, is a mistake."""
    if compared and name in grammar.texts:
        numbers = ", ".join(sorted(grammar.numbers))
        raise QueryError(f"{word.text!r}: {name} is no number; what can be compared is {numbers}")
    if compared or nearest(name, grammar.names) is not None:
        hint = did_you_mean(name, sorted(grammar.numbers) if compared else grammar.names)
        raise QueryError(f"{word.text!r}: there is no field {name!r}; {hint}")
    return Term("word", word.negated, values=(word.text.casefold(),))


def _number(value: str, unit: str, body: str) -> float:
    text = value.strip()
    found: float | None = None
    if unit == "memory":
        found = memory(text)
    elif unit == "time":
        found = _duration(text)
    else:
        try:
            found = float(text)
        except ValueError:
            found = memory(text) if text[-1:].upper() in {"K", "M", "G"} else None
    if found is None or found != found:  # noqa: PLR0124 - that is what a NaN is
        example = {"memory": "4G", "time": "2h"}.get(unit, "8")
        raise QueryError(f"{body!r}: {value!r} is no {'number' if unit == 'count' else unit} (such as {example})")
    return found


def _duration(text: str) -> float | None:
    """Seconds from ``90s``, ``2h``, ``1d12h``, ``1-00:00``, ``2:30:00``; a bare number means minutes, as in SLURM."""
    parts = _SPAN.findall(text)
    if parts and not _SPAN.sub("", text).strip():
        return sum(float(number) * _UNITS[unit.lower()] for number, unit in parts)
    found = seconds(text)
    if found is Special.UNLIMITED:
        return math.inf
    return None if isinstance(found, Special) else float(found)


def aliases(fields: Mapping[str, str]) -> dict[str, str]:
    """``{"state": "st status"}`` as a look-up of every name."""
    return {name: field for field, others in fields.items() for name in (field, *others.split())}
