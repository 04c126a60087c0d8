"""Readers of values that say how something looks: regular expressions and styles."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING

from slurmtui.config_values import scalar
from slurmtui.config_yaml import quoted
from slurmtui.models.nearest import did_you_mean

if TYPE_CHECKING:
    from slurmtui.config_yaml import Place

STYLE_WORDS = (
    "bold", "italic", "underline", "reverse", "strike", "accent", "primary", "secondary", "success", "warning", "error",
    "running", "waiting", "done", "failed", "lost", "cancelled", "dim", "match",
)  # fmt: skip
"""Attributes of text, colours that every theme has, and those of the states."""


def expression(place: Place) -> str | None:
    """A regular expression, with which lines are searched."""
    found = scalar(place)
    if found is None:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(found)
    except re.error as error:
        place.wrong(f"is no regular expression: {error}: {quoted(found)}.")
        return None
    return found


def styles(place: Place) -> str | None:
    """Words for how something is to look: attributes, colours of the theme."""
    found = scalar(place)
    for part in (found or "").split():
        if part not in STYLE_WORDS:
            place.wrong(f"there is no style {quoted(part)}: {did_you_mean(part, STYLE_WORDS)}")
            return None
    return found
