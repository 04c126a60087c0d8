"""YAML as it was written: a tree of nodes with line numbers, read strictly.

PyYAML's loaded values are not used: by YAML 1.1 ``12:00:00`` is the number 43200, ``010`` is eight, ``no`` is false and
a key that is given twice is lost. The node tree still has the text that a person typed, and the line it stands in.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import yaml

from slurmtui.errors import ConfigError

_KNOWN_TAGS = frozenset({"str", "int", "float", "bool", "null", "timestamp", "value", "merge", "map", "seq"})
_TAG = "tag:yaml.org,2002:"
_LONGEST_KEY = 100
_MOST_MERGES = 200
_SHOWN = 60


class Problems:
    """What is wrong with one file, or worth knowing; told in the order of its lines.

    Attributes:
        lines: the line of each key that was understood, by its path.
    """

    def __init__(self, file: Path | str) -> None:
        self.file = str(file)
        self._wrong: list[tuple[int, str]] = []
        self._notes: list[tuple[int, str]] = []
        self.lines: dict[str, int] = {}
        self.merges = 0

    def wrong(self, line: int, key: str, sentence: str) -> None:
        """Add a mistake."""
        self._wrong.append((line, self._text(line, key, sentence)))

    def note(self, line: int, key: str, sentence: str) -> None:
        """Add what is allowed, but should be known."""
        self._notes.append((line, self._text(line, key, sentence)))

    def _text(self, line: int, key: str, sentence: str) -> str:
        return f"{self.file}:{line}: {f'{key}: ' if key else ''}{sentence}"

    @property
    def sentences(self) -> tuple[str, ...]:
        """The mistakes, by line; none twice."""
        return tuple(dict.fromkeys(text for _, text in sorted(self._wrong, key=lambda found: found[0])))

    @property
    def notes(self) -> tuple[str, ...]:
        """What else is worth knowing, by line."""
        return tuple(dict.fromkeys(text for _, text in sorted(self._notes, key=lambda found: found[0])))

    def raise_if_any(self) -> None:
        """End here when anything is wrong.

        Raises:
            ConfigError: with every mistake found.
        """
        if self._wrong:
            raise ConfigError(self.sentences)


class Place(NamedTuple):
    """Where in the file something stands: its key path and its value's node, and where to say what is wrong."""

    problems: Problems
    path: str
    node: yaml.Node
    line: int

    def wrong(self, sentence: str) -> None:
        """Say that this value is a mistake."""
        self.problems.wrong(self.line, self.path, sentence)

    def note(self, sentence: str) -> None:
        """Say what should be known about this value."""
        self.problems.note(self.line, self.path, sentence)

    def under(self, key: str, node: yaml.Node, line: int | None = None) -> Place:
        """The place of something within this one."""
        path = f"{self.path}.{key}" if self.path else key
        return Place(self.problems, path, node, line_of(node) if line is None else line)

    def remember(self) -> None:
        """Note the line of this key, for those who ask later where a value came from."""
        self.problems.lines[self.path] = self.line

    @property
    def folder(self) -> Path:
        """The folder of the file."""
        return Path(self.problems.file).absolute().parent

    @property
    def empty(self) -> bool:
        """Whether nothing stands after the colon."""
        return self.plain and not self.text

    @property
    def tag(self) -> str:
        """What YAML 1.1 takes the value for, such as ``str``, ``int``, ``bool``, ``null``, ``map`` or ``seq``."""
        return str(self.node.tag).removeprefix(_TAG)

    @property
    def text(self) -> str:
        """What was typed, without its quotes; "" for anything but a scalar."""
        return str(self.node.value) if isinstance(self.node, yaml.ScalarNode) else ""

    @property
    def plain(self) -> bool:
        """Whether it was typed without quotes, so that YAML interprets it."""
        return isinstance(self.node, yaml.ScalarNode) and self.node.style is None


def line_of(node: yaml.Node) -> int:
    """The line a node starts in, from 1."""
    mark = node.start_mark
    return mark.line + 1 if mark is not None else 1


def quoted(text: str) -> str:
    """A value from the file for a sentence: short, in quotes, control characters spelled out."""
    return ascii(text[:_SHOWN] + ("…" if len(text) > _SHOWN else "")) if not text.isprintable() else repr(text[:_SHOWN])


class Entry(NamedTuple):
    """One key of a mapping, the line it stands in, and its value."""

    key: str
    line: int
    node: yaml.Node


def entries(place: Place) -> dict[str, Entry] | None:
    """The keys of a mapping as they were typed, ``<<`` merged in; a key given twice is a mistake.

    None (and a mistake) when it is no mapping.
    """
    if not known_tag(place):
        return None
    if not isinstance(place.node, yaml.MappingNode):
        place.wrong(f"must be keys with values, one `key: value` a line below it, not {kind(place)}.")
        return None
    found: dict[str, Entry] = {}
    merged: dict[str, Entry] = {}
    for key_node, value in place.node.value:
        key_place = place.under("", key_node)
        if key_place.tag == "merge":
            merged = {**_merge(place, value), **merged}
            continue
        key = key_place.text
        if not key.strip() or not key.isprintable() or len(key) > _LONGEST_KEY:
            place.problems.wrong(key_place.line, place.path, f"holds a key that is no word{_shown_key(key)}.")
        elif key in found:
            sentence = f"is given twice, first in line {found[key].line}: keep one."
            place.under(key, value, key_place.line).wrong(sentence)
        else:
            found[key] = Entry(key, key_place.line, value)
    return {**merged, **found}


def _shown_key(key: str) -> str:
    return f": {quoted(key)}" if key.strip() else ""


def _merge(place: Place, value: yaml.Node) -> dict[str, Entry]:
    """The keys that ``<<: *other`` brings in."""
    place.problems.merges += 1
    if place.problems.merges > _MOST_MERGES:
        place.problems.wrong(line_of(value), place.path, "merges (<<) too much.")
        return {}
    sources = value.value if isinstance(value, yaml.SequenceNode) else [value]
    merged: dict[str, Entry] = {}
    for source in sources:
        if source is place.node:
            place.problems.wrong(line_of(value), place.path, "merges (<<) itself.")
            continue
        merged = {**(entries(Place(place.problems, place.path, source, place.line)) or {}), **merged}
    return merged


def items(place: Place) -> list[Place] | None:
    """The values of a list; one value alone is a list of one. None (and a mistake) for a mapping."""
    if not known_tag(place):
        return None
    if isinstance(place.node, yaml.SequenceNode):
        return [place.under(str(number), node) for number, node in enumerate(place.node.value)]
    if isinstance(place.node, yaml.ScalarNode):
        return [place]
    place.wrong("must be a list, one `- value` a line below it.")
    return None


def known_tag(place: Place) -> bool:
    """Whether the value has one of YAML's own types; another (``!!python/…``, ``!Ref``) is a mistake."""
    if place.tag in _KNOWN_TAGS:
        return True
    place.wrong(f"has the YAML tag {quoted(str(place.node.tag))}, which means nothing here: remove it.")
    return False


def kind(place: Place) -> str:
    """What a value is, for a sentence."""
    if isinstance(place.node, yaml.MappingNode):
        return "keys with values"
    if isinstance(place.node, yaml.SequenceNode):
        return "a list"
    return f"the value {quoted(place.text)}" if place.text else "nothing"
