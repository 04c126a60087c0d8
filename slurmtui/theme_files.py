"""Themes: one YAML file each, shipped in ``themes/`` and the user's own in ``themes/`` beside the configuration.

A user's theme may name a ``base`` and then holds only what differs; with the name of a shipped theme, that is its base.
Themes are checked as strictly as the configuration, but a broken one never stops the console: ``load_themes`` leaves it
out and tells what is wrong with it.
"""

from __future__ import annotations

import unicodedata
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from slurmtui import paths
from slurmtui.config_text import parse, read_text
from slurmtui.config_values import flag, matching, scalar
from slurmtui.config_yaml import Place, Problems, entries, quoted
from slurmtui.errors import ConfigError
from slurmtui.models.nearest import did_you_mean
from slurmtui.models.verdict import Mood

if TYPE_CHECKING:
    from collections.abc import Iterable

    from slurmtui.config_values import Reader
    from slurmtui.models.config import Config

DEFAULT_THEME = "midnight"
PLAIN_THEME = "terminal16"
"""For terminals with 16 colours, and for slow lines: fewer bytes a frame."""

PALETTE = (
    "background", "surface", "panel", "boost", "foreground", "primary", "secondary", "accent", "warning", "error",
    "success",
)  # fmt: skip
STATES = tuple(mood.value for mood in Mood)
PARTS = {
    "mark": ("mark",),
    "match": ("match",),
    "dim": ("dim", "text-muted", "foreground-muted", "text-disabled"),
    "header": ("header",),
    "header-text": ("header-text",),
    "changed": ("changed",),
    "key": ("key", "footer-key-foreground"),
    "cursor": ("block-cursor-background",),
    "cursor-text": ("block-cursor-foreground",),
    "cursor-blurred": ("block-cursor-blurred-background",),
    "border": ("border",),
    "border-blurred": ("border-blurred",),
    "scrollbar": ("scrollbar", "scrollbar-hover", "scrollbar-active"),
    "scrollbar-background": (
        "scrollbar-background", "scrollbar-background-hover", "scrollbar-background-active", "scrollbar-corner-color"
    ),
    "selection": ("screen-selection-background", "input-selection-background"),
    "selection-text": ("screen-selection-foreground", "input-selection-foreground"),
    "log-time": ("log-time",),
    "log-prefect": ("log-prefect",),
    "log-driver": ("log-driver",),
    "log-out": ("log-out",),
    "log-err": ("log-err",),
}  # fmt: skip
"""Parts of the screen, and the variables of the style sheets that each of them sets."""

GLYPHS = {"running": "▶", "waiting": "◷", "done": "✔", "failed": "✖", "lost": "⚠", "cancelled": "⊘", "unknown": "?"}
LETTERS = {"running": "R", "waiting": "W", "done": "+", "failed": "X", "lost": "!", "cancelled": "C", "unknown": "?"}
"""For terminals that cannot show the glyphs."""

_COLOUR = (
    r"#[0-9A-Fa-f]{3}|#[0-9A-Fa-f]{6}"
    r"|ansi_(?:default|(?:bright_)?(?:black|red|green|yellow|blue|magenta|cyan|white))"
)
_DEEPEST = 8


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """A theme, complete: every colour and glyph is there.

    ``palette`` are Textual's own colours, ``states`` those of the moods, ``parts`` those of parts of the screen.
    ``source`` is the file it came from.
    """

    name: str
    about: str = ""
    dark: bool = True
    ansi: bool = False
    palette: dict[str, str]
    states: dict[str, str]
    parts: dict[str, str]
    glyphs: dict[str, str] = msgspec.field(default_factory=lambda: dict(GLYPHS))
    letters: dict[str, str] = msgspec.field(default_factory=lambda: dict(LETTERS))
    source: str = ""

    @property
    def variables(self) -> dict[str, str]:
        """The variables of the style sheets, such as ``state-running``, ``mark`` and ``dim``."""
        found = {f"state-{name}": colour for name, colour in self.states.items()}
        for part, colour in self.parts.items():
            found.update(dict.fromkeys(PARTS[part], colour))
        return found

    def glyph(self, mood: Mood, *, letters: bool = False) -> str:
        """The sign of a mood, or its letter."""
        return (self.letters if letters else self.glyphs)[mood.value]


def config_folder(config: Config) -> Path | None:
    """The folder beside whose ``themes/`` the user's own themes stand, None for the usual one."""
    return Path(config.source).parent if config.source else None


def theme_names(folder: Path | None = None) -> tuple[str, ...]:
    """The names of all themes, the default one first; ``folder`` is that of the configuration."""
    return tuple(sorted(_files(folder), key=lambda name: (name != DEFAULT_THEME, name)))


def load_theme(name: str | None = None, folder: Path | None = None) -> Look:
    """The theme of this name.

    Raises:
        ConfigError: there is no such theme, or its file holds mistakes (all of them are told).
    """
    return _load(name or DEFAULT_THEME, folder, ())


def load_themes(folder: Path | None = None) -> tuple[dict[str, Look], tuple[str, ...]]:
    """All themes that are right, and what is wrong with the others."""
    looks: dict[str, Look] = {}
    problems: list[str] = []
    for name in theme_names(folder):
        try:
            looks[name] = load_theme(name, folder)
        except ConfigError as error:  # noqa: PERF203 - each theme stands or falls by itself
            problems.extend(error.problems)
    return looks, tuple(dict.fromkeys(problems))


def _files(folder: Path | None) -> dict[str, list[Path]]:
    """The files of each theme: a user's own before the shipped one."""
    own = (folder if folder is not None else paths.config_file().parent) / "themes"
    found: dict[str, list[Path]] = {}
    for place in (own, shipped_folder()):
        try:
            files = sorted(file for file in place.iterdir() if file.suffix in {".yaml", ".yml"})
        except OSError:  # no folder of one's own, or one that may not be looked into
            continue
        for file in files:
            found.setdefault(file.stem, []).append(file)
    return found


def shipped_folder() -> Path:
    """Where the themes that come with the program are: in the package, or beside it in a checkout."""
    inside = Path(str(resources.files("slurmtui"))) / "themes"
    return inside if inside.is_dir() else inside.parent.parent / "themes"


def _load(name: str, folder: Path | None, above: tuple[str, ...]) -> Look:
    files = _files(folder)
    if name not in files:
        raise ConfigError([f"There is no theme {quoted(name)}: {did_you_mean(name, theme_names(folder))}"])
    level = above.count(name)
    if level >= len(files[name]) or len(above) > _DEEPEST:
        raise ConfigError([f"{files[name][-1]}: base: themes are based on each other in a circle."])
    file = files[name][level]
    problems = Problems(file)
    node = parse(read_text(file), file)
    if node is None:
        raise ConfigError([f"{file}: is empty."])
    place = Place(problems, "", node, 1)
    found = _read(place) or {}
    base_name = found.pop("base", None) or (name if level + 1 < len(files[name]) else None)
    problems.raise_if_any()
    base = _load(base_name, folder, (*above, name)) if base_name else None
    return _complete(name, found, base, problems)


def _complete(name: str, found: dict[str, Any], base: Look | None, problems: Problems) -> Look:
    """The theme with what its base gives; without a base everything must be there."""
    values: dict[str, Any] = {} if base is None else msgspec.structs.asdict(base)
    values |= {"glyphs": values.get("glyphs", GLYPHS), "letters": values.get("letters", LETTERS)}
    for key, value in found.items():
        values[key] = {**values.get(key, {}), **value} if isinstance(value, dict) else value
    for section, wanted in (("palette", PALETTE), ("states", STATES), ("parts", PARTS)):
        missing = [key for key in wanted if key not in values.get(section, {})]
        if missing:
            line = problems.lines.get(section, 1)
            problems.wrong(
                line, section, f"lacks {', '.join(missing)} (or name a theme to start from: `base: midnight`)."
            )
    problems.raise_if_any()
    return msgspec.convert({**values, "name": name, "source": problems.file}, Look)


def _read(place: Place) -> dict[str, Any] | None:
    colour = matching(_COLOUR, 'a colour in quotes, such as "#7aa2f7", or one of the terminal\'s, such as ansi_blue')
    readers: dict[str, Reader] = {
        "base": scalar,
        "about": scalar,
        "dark": flag,
        "ansi": flag,
        "palette": lambda inner: _table(inner, PALETTE, colour),
        "states": lambda inner: _table(inner, STATES, colour),
        "parts": lambda inner: _table(inner, PARTS, colour),
        "glyphs": lambda inner: _table(inner, STATES, _glyph),
        "letters": lambda inner: _table(inner, STATES, matching(r"[!-~]", "one ASCII character")),
    }
    return _fields(place, readers)


def _table(place: Place, keys: Iterable[str], reader: Reader) -> dict[str, Any] | None:
    return _fields(place, dict.fromkeys(keys, reader))


def _fields(place: Place, readers: dict[str, Reader]) -> dict[str, Any] | None:
    found = entries(place)
    if found is None:
        return None
    result = {}
    for entry in found.values():
        inner = place.under(entry.key, entry.node, entry.line)
        inner.remember()
        if entry.key not in readers:
            inner.wrong(f"unknown key: {did_you_mean(entry.key, readers)}")
            continue
        value = readers[entry.key](inner)
        if value is not None:
            result[entry.key] = value
    return result


def _glyph(place: Place) -> str | None:
    found = scalar(place)
    if found is None:
        return None
    if len(found) == 1 and unicodedata.east_asian_width(found) not in "WF" and not unicodedata.combining(found):
        return found
    place.wrong(f"must be one character that is one cell wide, not {quoted(found)}.")
    return None
