"""The four steps of a new run: their order, the title above them and the keys beneath. Pure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from slurmtui.models.text import cut_middle, visible
from slurmtui.views.lines import key_pieces

if TYPE_CHECKING:
    from slurmtui.views.newrun.work import Draft
    from slurmtui.widgets.bar import Piece

STEPS = ("what", "profile", "parameters", "submit")
_KEYS = {
    "what": (("type", "to filter or a path"), ("↑↓", "choose"), ("enter", "next"), ("esc", "leave")),
    "profile": (("↑↓", "choose"), ("enter", "next"), ("esc", "back")),
    "parameters": (
        ("enter", "next field, at the last: next step"), ("ctrl+n", "next step"), ("tab", "next field"),
        ("esc", "back"),
    ),
    "submit": (("y", "submit"), ("p", "try the server from a node (one small job)"), ("esc", "back")),
}  # fmt: skip
_SAID_LINES = 5
"""As many lines of the screen as a message may fill, about: where words are broken early it takes one or two more."""


def title_pieces(draft: Draft, step: str) -> list[Piece]:
    """All steps, with what was chosen in them; the present one stands out."""
    chosen = {
        "what": Path(draft.target).name,
        "profile": draft.profile if draft.is_script or draft.flow else "",
    }
    pieces: list[Piece] = [(" new run   ", "bold")]
    for number, name in enumerate(STEPS, 1):
        picked = f" {visible(chosen[name])}" if chosen.get(name) else ""
        pieces.append((f" {number} {name}{picked} ", "bold reverse" if name == step else "$text-muted"))
    return pieces


def step_keys(step: str, width: int) -> list[Piece]:
    """What the keys do in a step: as many as there is room for, and always how to leave it."""
    return key_pieces(_KEYS[step], width)


def said_pieces(text: str, width: int, *, wrong: bool) -> list[Piece]:
    """A message in a few lines of ``width``; too long, it loses its middle: what is wrong often stands at the end."""
    shown = cut_middle(visible(" ".join(text.split())), _SAID_LINES * width)
    return [(shown, "bold $state-failed" if wrong else "$state-waiting")]


def step_before(draft: Draft, step: str) -> str | None:
    """Where escape leads, None out of the form; a batch script has no parameters."""
    if step == STEPS[0]:
        return None
    before = STEPS[STEPS.index(step) - 1]
    return "profile" if before == "parameters" and draft.is_script else before
