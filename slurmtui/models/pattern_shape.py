"""What can be told of a regular expression by looking at it: what it needs to find, and how long it can take."""

from __future__ import annotations

import re
from typing import NamedTuple

_TOKEN = re.compile(
    r"(?P<plain>[ !\"#%&',/:;<=>@_`~\w-])|\\(?P<escaped>[^\w\s])|(?P<optional>[*?]|\{\d*,?\d*\})"
    r"|(?P<other>\\[dDwWsSbBAZ]|\[\^?(?:\]|[^\]\[\\^]|\\[dDwWsS]|\\[^\w\s])(?:[^\]\[\\]|\\[dDwWsS]|\\[^\w\s])*\]"
    r"|[\]()}+|.^$]|[^\x00-\x7f])",
    re.ASCII,
)
"""A character that stands for itself, one by which what stands before is optional, or another of known meaning.

Not among them are a brace that repeats nothing, which ``regex`` may read otherwise than ``re``, and a class with a
bracket in it: of an expression with such a part nothing is known.
"""
_STEPS = 2_000_000  # at most; Python's ``re`` needs a few milliseconds for them


class Shape(NamedTuple):
    """What is known of an expression.

    Attributes:
        needle: a text that is in every text which it matches, in ASCII's small letters; empty when none is known. A
            text that is all ASCII, capitals or not, and has no needle in it has no match.
        longest: ``re`` searches texts of up to so many characters in a few milliseconds, whatever they are.
    """

    needle: str = ""
    longest: int = 0


def shape_of(source: str) -> Shape:
    """The shape of an expression; of one with unusual parts nothing is known."""
    tokens = _tokens(source)
    return Shape() if tokens is None else Shape(_needle(tokens), _longest(tokens))


def _tokens(source: str) -> list[re.Match[str]] | None:
    if "(?" in source:
        return None
    found, at = list[re.Match[str]](), 0
    while at < len(source):
        token = _TOKEN.match(source, at)
        if token is None:
            return None
        found.append(token)
        at = token.end()
    return found


def _needle(tokens: list[re.Match[str]]) -> str:
    runs, run, depth = [], "", 0
    for token in tokens:
        itself = token["plain"] or token["escaped"]
        if itself and itself.isascii() and depth == 0:
            run += itself
            continue
        if token[0] == "|" and depth == 0:
            return ""
        runs.append(run[:-1] if token["optional"] else run)
        run = ""
        depth += (token[0] == "(") - (token[0] == ")")
    return max(*runs, run, "", key=len).lower()


def _longest(tokens: list[re.Match[str]]) -> int:
    """A search begins at each character; each repetition may end at each that follows, each choice doubles the ways."""
    repetitions = choices = 0
    before = ""
    for token in tokens:
        repeats = token[0] in ("*", "+") or token[0].startswith("{")
        if before == ")" and (repeats or token[0] == "?"):
            return 0  # a repetition in a repetition may take for ever
        repetitions += repeats
        choices += token[0] in ("|", "?")
        before = token[0]
    ways = len(tokens) * 2 ** min(choices, 64)
    return int((_STEPS / (ways or 1)) ** (1 / (repetitions + 1)))
