"""Themes: the shipped ones are whole and readable; a user's own is checked and never stops the console."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slurmtui.errors import ConfigError
from slurmtui.models.verdict import Mood
from slurmtui.theme import glyphs, load_theme, load_themes, shows_glyphs, suitable_theme, theme_names
from slurmtui.theme_files import PALETTE, PARTS, STATES, Look

SHIPPED = ("midnight", "contrast", "paper", "terminal16")
DATA = Path(__file__).parent.parent / "data" / "config"
NOWHERE = Path("/nonexistent")
TEXTS = ("dim", "mark", "match", "key", "log-time", "log-prefect", "log-driver", "log-out", "log-err", "changed")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "themes").mkdir()
    return tmp_path


def write(folder: Path, name: str, text: str) -> Path:
    file = folder / "themes" / f"{name}.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def problems_of(folder: Path, name: str, text: str) -> list[str]:
    file = write(folder, name, text)
    with pytest.raises(ConfigError) as caught:
        load_theme(name, folder)
    return [problem.removeprefix(f"{file}:") for problem in caught.value.problems]


def test_all_shipped_themes_load() -> None:
    looks, problems = load_themes(NOWHERE)
    assert tuple(looks) == SHIPPED == theme_names(NOWHERE)
    assert problems == ()


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_theme_is_whole(name: str) -> None:
    look = load_theme(name, NOWHERE)
    assert set(look.palette) == set(PALETTE)
    assert set(look.states) == set(STATES) == {mood.value for mood in Mood}
    assert set(look.parts) == set(PARTS)
    assert all(look.variables.values())


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize(("name", "least"), [("midnight", 4.5), ("paper", 4.5), ("contrast", 7.0)])
def test_texts_can_be_read(name: str, least: float) -> None:
    look = load_theme(name, NOWHERE)
    texts = {**look.states, **{part: look.parts[part] for part in TEXTS}, "foreground": look.palette["foreground"]}
    for ground in ("background", "surface", "boost"):
        for text, colour in texts.items():
            assert contrast(colour, look.palette[ground]) >= least, f"{text} on {ground}"
    assert contrast(look.parts["cursor-text"], look.parts["cursor"]) >= 7
    assert contrast(look.parts["header-text"], look.parts["header"]) >= 4.5
    assert contrast(look.parts["selection-text"], look.parts["selection"]) >= 4.5
    assert contrast(look.palette["foreground"], look.parts["cursor-blurred"]) >= 4.5


@pytest.mark.parametrize("name", SHIPPED)
def test_states_that_mean_different_things_look_different(name: str) -> None:
    look = load_theme(name, NOWHERE)
    shown = [(look.states[mood.value], look.glyph(mood)) for mood in Mood]
    assert len(set(shown)) == len(Mood)
    assert len({look.glyph(mood) for mood in Mood}) == len(Mood)
    assert len({look.glyph(mood, letters=True) for mood in Mood}) == len(Mood)
    assert len({look.states[name] for name in ("running", "waiting", "done", "failed", "lost")}) == 5


def test_the_plain_theme_uses_the_terminals_own_colours() -> None:
    look = load_theme("terminal16", NOWHERE)
    assert look.ansi
    assert all(colour.startswith("ansi_") for colour in (*look.palette.values(), *look.variables.values()))


def test_letters_are_ascii_and_glyphs_are_one_cell() -> None:
    look = load_theme(None, NOWHERE)
    assert look.name == "midnight"
    assert all(sign.isascii() for sign in glyphs(look, letters=True).values())
    assert glyphs(look, letters=False)["running"] == "▶"


def test_a_theme_of_ones_own_changes_what_it_names(folder: Path) -> None:
    write(folder, "dusk", 'base: paper\nstates: {running: "#123456"}\nglyphs: {done: "•"}\n')
    look, base = load_theme("dusk", folder), load_theme("paper", folder)
    assert look.states == {**base.states, "running": "#123456"}
    assert (look.dark, look.palette, look.parts) == (base.dark, base.palette, base.parts)
    assert look.glyph(Mood.DONE) == "•"
    assert look.glyph(Mood.FAILED) == base.glyph(Mood.FAILED)
    assert theme_names(folder) == ("midnight", "contrast", "dusk", "paper", "terminal16")


def test_a_file_named_like_a_shipped_theme_changes_that_one(folder: Path) -> None:
    write(folder, "midnight", 'parts: {mark: "#abcdef"}\n')
    look = load_theme("midnight", folder)
    assert look.parts["mark"] == "#abcdef"
    assert look.states == load_theme("midnight", NOWHERE).states


def recorded_mistakes() -> list[tuple[str, list[str]]]:
    blocks = (DATA / "theme_mistakes.txt").read_text(encoding="utf-8").split("====\n")[1:]
    pairs = (block.split("\n=>\n") for block in blocks)
    return [(text, said.splitlines()) for text, said in pairs]


@pytest.mark.parametrize(("text", "said"), recorded_mistakes())
def test_a_mistake_in_a_theme_is_named(folder: Path, text: str, said: list[str]) -> None:
    assert problems_of(folder, "own", text) == said


def test_a_theme_without_a_base_must_be_whole(folder: Path) -> None:
    found = problems_of(folder, "own", 'palette: {background: "#000"}\n')
    assert [problem.split(": ")[1] for problem in found] == ["palette", "states", "parts"]
    assert found[0] == (
        "1: palette: lacks surface, panel, boost, foreground, primary, secondary, accent, warning, error, success "
        "(or name a theme to start from: `base: midnight`)."
    )


def test_themes_in_a_circle_are_refused(folder: Path) -> None:
    write(folder, "a", "base: b")
    write(folder, "b", "base: a")
    with pytest.raises(ConfigError, match="based on each other in a circle"):
        load_theme("a", folder)


def test_a_broken_theme_never_takes_the_others_with_it(folder: Path) -> None:
    write(folder, "broken", "base: [")
    write(folder, "fine", "base: paper")
    (folder / "themes" / "folder.yaml").mkdir()
    looks, problems = load_themes(folder)
    assert set(looks) == {*SHIPPED, "fine"}
    assert len(problems) == 2
    assert any("broken.yaml:1: is not YAML" in problem for problem in problems)
    assert any("folder.yaml: is a directory" in problem for problem in problems)


def test_there_is_no_such_theme() -> None:
    with pytest.raises(ConfigError, match=r"There is no theme 'papre': did you mean 'paper'\?"):
        load_theme("papre", NOWHERE)


@pytest.mark.parametrize(
    ("environment", "theme"),
    [
        ({"TERM": "xterm-256color"}, "midnight"),
        ({"TERM": "tmux-256color"}, "midnight"),
        ({"TERM": "xterm-kitty"}, "midnight"),
        ({"TERM": "xterm", "COLORTERM": "truecolor"}, "midnight"),
        ({"TERM": "xterm"}, "terminal16"),
        ({"TERM": "linux"}, "terminal16"),
        ({"TERM": "xterm", "COLORTERM": "1"}, "terminal16"),
        ({}, "terminal16"),
    ],
)
def test_the_theme_suits_the_terminal(environment: dict[str, str], theme: str) -> None:
    assert suitable_theme(environment) == theme


@pytest.mark.parametrize(
    ("environment", "shown"),
    [
        ({"LANG": "en_US.UTF-8"}, True),
        ({"LANG": "C.utf8"}, True),
        ({"LC_ALL": "C", "LANG": "en_US.UTF-8"}, False),
        ({"LANG": "de_DE.ISO-8859-1"}, False),
        ({"LANG": "C.UTF-8", "TERM": "linux"}, False),
        ({"LANG": "C.UTF-8", "SLURMTUI_ASCII": "1"}, False),
        ({}, False),
    ],
)
def test_glyphs_only_where_they_can_be_shown(environment: dict[str, str], shown: bool) -> None:  # noqa: FBT001
    assert shows_glyphs(environment) is shown


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(
    text=st.one_of(st.text(max_size=80), st.from_regex(r"(base: midnight\n)?[a-z]{4,8}: .{0,20}\n?", fullmatch=True))
)
def test_any_file_is_a_theme_or_a_problem(text: str, folder: Path) -> None:
    (folder / "themes" / "any.yaml").write_bytes(text.encode("utf-8", "surrogatepass"))
    looks, problems = load_themes(folder)
    assert ("any" in looks) != bool(problems)
    assert all(isinstance(look, Look) for look in looks.values())
