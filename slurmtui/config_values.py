"""Readers of single values: what was typed is understood, or refused with what to write instead.

A reader takes the place of a value and returns it, or None after it has said there what is wrong.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import yaml

from slurmtui.config_yaml import Place, items, kind, known_tag, quoted
from slurmtui.models.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Reader = Callable[[Place], Any]

_TRUE = frozenset({"true", "yes", "on"})
_FALSE = frozenset({"false", "no", "off"})
_NUMBER = re.compile(r"0|[1-9][0-9]*")
_DECIMAL = re.compile(r"(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
_MEMORY = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([kmgtp])(i?b)?", re.IGNORECASE)
_MEBIBYTES = {"k": 1 / 1024, "m": 1, "g": 1024, "t": 1024**2, "p": 1024**3}
_CLOCK = re.compile(r"(?:([0-9]+)-)?([0-9]+):([0-9]{1,2}):([0-9]{1,2})")
_DAYS = re.compile(r"([0-9]+)-([0-9]{1,2})(?::([0-9]{1,2}))?")
_UNITS = re.compile(r"(?:([0-9]+)\s*d(?:ays?)?)?\s*(?:([0-9]+)\s*h(?:ours?)?)?\s*(?:([0-9]+)\s*m(?:in(?:utes?)?)?)?")
_GRES = re.compile(r"[A-Za-z_]\w*(?::[\w.-]+){0,2}", re.ASCII)
_LONGEST_WALLTIME = 366 * 86400


def scalar(place: Place) -> str | None:
    """The text of one value; a list, keys or nothing is a mistake."""
    if not known_tag(place):
        return None
    if not isinstance(place.node, yaml.ScalarNode):
        place.wrong(f"must be one value, not {kind(place)}.")
        return None
    if not place.text.strip():
        place.wrong("has no value: write one after the colon, or remove the line.")
        return None
    if place.tag == "null":
        place.wrong(f"is {quoted(place.text)}, which YAML reads as nothing: write a value, or remove the line.")
        return None
    if not place.text.isprintable():
        place.wrong(f"holds a line break or a control character: {quoted(place.text)}.")
        return None
    return place.text.strip()


def word(place: Place) -> str | None:
    """A name as SLURM has them: without blanks, and no option."""
    found = scalar(place)
    if found is not None and (found.startswith("-") or re.search(r"\s", found)):
        place.wrong(f"must be a name without blanks and without '-' in front, not {quoted(found)}.")
        return None
    return found


def flag(place: Place) -> bool | None:
    """True or false (``yes``, ``no``, ``on`` and ``off`` are understood)."""
    found = scalar(place)
    if found is None:
        return None
    if found.lower() in _TRUE | _FALSE:
        return found.lower() in _TRUE
    place.wrong(f"must be true or false, not {quoted(found)}.")
    return None


def whole(least: int, most: int) -> Reader:
    """A reader of whole numbers between two bounds, in plain decimal digits."""

    def read(place: Place) -> int | None:
        found = scalar(place)
        if found is None:
            return None
        if not _NUMBER.fullmatch(found):
            place.wrong(f"must be a whole number in plain digits, not {quoted(found)}{_misread(place)}.")
            return None
        if not (len(found) < 20 and least <= int(found) <= most):
            place.wrong(f"must be from {least} to {most}, not {found[:20]}.")
            return None
        return int(found)

    return read


def _misread(place: Place) -> str:
    """What YAML 1.1 would have made of a number, when that surprises."""
    typed = place.text.replace("_", "").lower()
    if not place.plain or place.tag not in {"int", "float"}:
        return ""
    if ":" in typed:
        return " (YAML reads it in base 60)"
    if "_" in place.text:
        return f" (write {typed})" if _NUMBER.fullmatch(typed) else ""
    if re.fullmatch(r"[-+]?0[0-7]+", typed):
        return f" (YAML reads it as octal, {int(typed, 8)})"
    return ""


def seconds(least: float, most: float) -> Reader:
    """A reader of a number of seconds, such as ``10`` or ``2.5``."""

    def read(place: Place) -> float | None:
        found = scalar(place)
        if found is None:
            return None
        digits = re.sub(r"\s*s(ec(onds?)?)?$", "", found)
        if not _DECIMAL.fullmatch(digits) or len(digits) > 12:
            place.wrong(f"must be a number of seconds such as 10 or 2.5, not {quoted(found)}{_misread(place)}.")
            return None
        if not least <= float(digits) <= most:
            place.wrong(f"must be from {least:g} to {most:g} seconds, not {digits}.")
            return None
        return float(digits)

    return read


def memory(place: Place) -> str | None:
    """Memory with its unit (``4G``, ``512 MB``), as SLURM writes it."""
    found = scalar(place)
    if found is None:
        return None
    match = _MEMORY.fullmatch(found)
    if match is None:
        if _DECIMAL.fullmatch(found):
            place.wrong(
                f'has no unit: write "{found}G" for {found} gibibytes (SLURM would take {found} for megabytes).'
            )
        else:
            place.wrong(
                f'must be a number with its unit, such as "4G" or "512M", not {quoted(found)}{_misread(place)}.'
            )
        return None
    mebibytes = -(-float(match[1]) * _MEBIBYTES[match[2].lower()] // 1) if len(match[1]) < 15 else 0
    if not 1 <= mebibytes <= 1024**3:
        place.wrong(f"must be between 1M and 1024T, not {quoted(found)} (all memory of a node: directives --mem=0).")
        return None
    whole_mebibytes = int(mebibytes)
    return f"{whole_mebibytes // 1024}G" if whole_mebibytes % 1024 == 0 else f"{whole_mebibytes}M"


def walltime(place: Place) -> str | None:
    """A time limit, as ``[D-]HH:MM:SS``."""
    found = scalar(place)
    if found is None:
        return None
    if re.fullmatch(r"[0-9_]+", found):
        place.wrong(
            f"{found} is a number without a unit (SLURM would take it for minutes): "
            'write [D-]HH:MM:SS, such as "12:00:00" for twelve hours.'
        )
        return None
    if re.fullmatch(r"[0-9]+:[0-9]{1,2}", found):
        place.wrong(f'{found} can be hours or minutes: write "{found}:00" for hours or "0:{found}" for minutes.')
        return None
    total = duration(found)
    if total is None:
        place.wrong(f'must be a time as [D-]HH:MM:SS, such as "12:00:00" or "2-00:00:00", not {quoted(found)}.')
        return None
    if not 0 < total <= _LONGEST_WALLTIME:
        place.wrong(f"must be longer than nothing and at most 366 days, not {quoted(found)}.")
        return None
    return clock(total)


def duration(found: str) -> int | None:
    """Seconds of ``[D-]HH:MM:SS``, ``D-HH[:MM]`` or ``1d 2h 30m``; None for anything else."""
    if len(found) > 30:
        return None
    match = _CLOCK.fullmatch(found) or _DAYS.fullmatch(found) or _UNITS.fullmatch(found.lower())
    if match is None or not any(match.groups()):
        return None
    days, hours, minutes, rest = (*(int(part or 0) for part in match.groups()), 0)[:4]
    return ((days * 24 + hours) * 60 + minutes) * 60 + rest


def clock(total: int) -> str:
    """Seconds as ``[D-]HH:MM:SS``."""
    days, rest = divmod(total, 86400)
    shown = f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
    return f"{days}-{shown}" if days else shown


def choice(*words: str) -> Reader:
    """A reader of one of a few words."""

    def read(place: Place) -> str | None:
        found = scalar(place)
        if found is None or found in words:
            return found
        place.wrong(f"{quoted(found)} is not known here: {did_you_mean(found, words)}")
        return None

    return read


def lines(place: Place) -> tuple[str, ...] | None:
    """Lines of a script: a list, or a block of text (``|``)."""
    found = items(place)
    if found is None:
        return None
    result: list[str] = []
    for item in found:
        if not known_tag(item):
            continue
        if not isinstance(item.node, yaml.ScalarNode):
            item.wrong(f"must be one line of shell, not {kind(item)} (put a line with ': ' in quotes).")
            continue
        for line in item.text.split("\n"):
            if not line.replace("\t", " ").isprintable():
                item.wrong(f"holds a control character: {quoted(line)}.")
            elif line.strip():
                result.append(line.rstrip())
    return tuple(result)


def words(place: Place) -> tuple[str, ...] | None:
    """A list of texts; one alone need not be a list."""
    found = items(place)
    return None if found is None else tuple(part for item in found if (part := scalar(item)) is not None)


def directives(place: Place) -> tuple[str, ...] | None:
    """Options of sbatch, as they stand after ``#SBATCH``."""
    result = []
    for option in words(place) or ():
        bare = option.removeprefix("#SBATCH").strip()
        if re.match(r"--?[A-Za-z]", bare):
            result.append(bare)
        else:
            place.wrong(f'{quoted(option)} is no option of sbatch: write it as "--name=value", such as "--exclusive".')
    return tuple(result)


def matching(pattern: str, what: str) -> Reader:
    """A reader of texts of a certain form."""

    def read(place: Place) -> str | None:
        if place.empty:
            place.wrong(f"has no value (without quotes a # begins a comment): write {what}.")
            return None
        found = scalar(place)
        if found is None or re.fullmatch(pattern, found):
            return found
        place.wrong(f"must be {what}, not {quoted(found)}.")
        return None

    return read


def is_name(found: str) -> bool:
    """Whether a profile may be called so: it becomes part of file names and command lines."""
    return re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}", found) is not None


def gres(place: Place) -> str | None:
    """Generic resources as ``--gres`` takes them."""
    found = word(place)
    if found is None or all(_GRES.fullmatch(part) for part in found.split(",")):
        return found
    hint = f'write "gpu:{found}" for {found} of them' if _NUMBER.fullmatch(found) else 'such as "gpu:1" or "gpu:a100:2"'
    place.wrong(f"must be resources as name[:type]:count, {hint}, not {quoted(found)}.")
    return None


def one_of(known: Callable[[Place], Sequence[str]], what: str) -> Reader:
    """A reader of a name from a list that is looked up when it is needed."""

    def read(place: Place) -> str | None:
        found = scalar(place)
        names = known(place) if found is not None else ()
        if found is None or found in names:
            return found
        place.wrong(f"there is no {what} {quoted(found)}: {did_you_mean(found, names)}")
        return None

    return read
