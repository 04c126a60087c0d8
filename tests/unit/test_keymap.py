"""Keys of one's own: understood as they are written, refused with a reason."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slurmtui.keymap import key_name, normalised, validate

DEFAULTS = {"logs": "l", "detail": "d,b", "filter": "slash", "cancel": "X", "help": "question_mark", "all": "a"}
PLACES = {"logs": ("runs",), "detail": ("runs",), "filter": ("any",), "cancel": ("runs",), "all": ("jobs",)}


def problems(keys: dict[str, str]) -> list[str]:
    return validate(keys, DEFAULTS, places=PLACES, touching={"cancel"})


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("x", "x"), ("X", "X"), ("7", "7"), ("/", "slash"), ("?", "question_mark"), (":", "colon"), (" ", "space"),
        ("~", "tilde"), (",", "comma"), ("slash", "slash"), ("esc", "escape"), ("Enter", "enter"), ("pgup", "pageup"),
        ("F5", "f5"), ("ctrl+x", "ctrl+x"), ("Ctrl-X", "ctrl+x"), ("control+x", "ctrl+x"), ("shift+x", "X"),
        ("shift+tab", "shift+tab"), ("ctrl+up", "ctrl+up"), ("shift+pgdn", "shift+pagedown"),
    ],
)  # fmt: skip
def test_keys_are_understood_as_they_are_written(written: str, name: str) -> None:
    assert key_name(written) == name


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("ctrl+shift+x", "terminals do not tell several modifiers apart: use one."),
        ("alt+x", "terminals do not send it reliably: use a letter, a capital or ctrl+letter."),
        ("cmd+x", "terminals do not send it reliably: use a letter, a capital or ctrl+letter."),
        ("gg", "keys one after the other are not known: write 'g', or 'g,g' for either."),
        ("entr", "did you mean 'enter'?"),
        ("ctrl+1", "there is: "),
        ("shift+1", "there is: "),
        ("f13", "did you mean 'f"),
        ("ä", "there is: "),
    ],
)
def test_keys_that_do_not_exist(written: str, said: str) -> None:
    (problem,) = problems({"logs": written})
    assert problem.startswith(f"keys.logs: there is no key {written!r}: {said}")


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("ctrl+i", "ctrl+i cannot be told from tab by a terminal."),
        ("ctrl+m", "ctrl+m cannot be told from enter by a terminal."),
        ("ctrl+h", "ctrl+h cannot be told from backspace by a terminal."),
        ("ctrl+s", "ctrl+s stops the output of many terminals: take another."),
        ("ctrl+c", "ctrl+c leaves the console, whatever else is wrong: take another."),
    ],
)
def test_keys_that_cannot_be_used(written: str, said: str) -> None:
    assert problems({"logs": written}) == [f"keys.logs: {said}"]


def test_an_action_that_does_not_exist() -> None:
    assert problems({"log": "L"}) == ["keys.log: there is no action 'log': did you mean 'logs'?"]


@pytest.mark.parametrize("written", ["x", "7", "space", "enter", ";"])
def test_an_action_that_touches_is_not_put_on_a_key_pressed_by_accident(written: str) -> None:
    (problem,) = problems({"cancel": written})
    assert "too easily pressed for an action that touches: take a capital letter or ctrl+letter." in problem


@pytest.mark.parametrize("written", ["K", "ctrl+x", "shift+k"])
def test_an_action_that_touches_may_move_to_a_capital(written: str) -> None:
    assert problems({"cancel": written}) == []


def test_clashes_in_one_place_are_told() -> None:
    assert problems({"logs": "b"}) == ["keys.logs: b is the key of 'detail' as well: move one of the two."]
    assert problems({"logs": "/"}) == ["keys.logs: slash is the key of 'filter' as well: move one of the two."]
    assert problems({"logs": "v", "detail": "v"}) == [
        "keys.logs: v is the key of 'detail' as well: move one of the two."
    ]


def test_two_actions_may_share_a_key_in_different_places() -> None:
    assert problems({"logs": "a"}) == []


def test_two_actions_may_swap_their_keys() -> None:
    assert problems({"logs": "d,b", "detail": "l"}) == []


def test_the_defaults_are_not_held_against_the_user() -> None:
    assert validate({}, {"a": "x", "b": "x"}) == []
    assert validate({"c": "y"}, {"a": "x", "b": "x", "c": "z"}) == []


def test_normalised_is_what_textual_takes() -> None:
    assert normalised({"logs": "L, /", "help": "no such", "all": ","}) == {"logs": "L,slash", "all": "comma"}


@given(st.dictionaries(st.sampled_from([*DEFAULTS, "x"]), st.text(max_size=12), max_size=4))
def test_any_keys_are_judged(keys: dict[str, str]) -> None:
    assert all(problem.startswith("keys.") for problem in problems(keys))
    assert set(normalised(keys)) <= set(keys)
