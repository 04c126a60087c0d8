"""The right word for a wrong one, for sentences that teach."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_LISTED = 12


def nearest(word: str, words: Iterable[str]) -> str | None:
    """The one of ``words`` that looks most like ``word``, None when none does."""
    folded = {known.lower().replace("-", "_"): known for known in words}
    found = difflib.get_close_matches(word.lower().replace("-", "_"), folded, n=1, cutoff=0.55)
    return folded[found[0]] if found else None


def did_you_mean(word: str, words: Iterable[str]) -> str:
    """``did you mean 'memory'?``, or what there is to choose from."""
    known = list(words)
    near = nearest(word, known)
    if near is not None:
        return f"did you mean {near!r}?"
    if not known:
        return "there is none."
    more = f" … ({len(known)} in all)" if len(known) > _LISTED else ""
    return f"there is: {', '.join(known[:_LISTED])}{more}."
