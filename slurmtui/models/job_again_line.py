"""What the line of a submission asked for, as far as SLURM tells it. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_SHORT = {
    "A": "account", "J": "job-name", "N": "nodes", "n": "ntasks", "c": "cpus-per-task", "t": "time", "p": "partition",
    "q": "qos", "o": "output", "e": "error", "i": "input", "D": "chdir", "C": "constraint", "w": "nodelist",
    "x": "exclude", "a": "array", "L": "licenses",
}  # fmt: skip
_WITH_VALUE = frozenset({
    *_SHORT.values(), "mem", "mem-per-cpu", "mem-per-gpu", "gres", "gpus", "gpus-per-node", "gpus-per-task",
    "gpus-per-socket", "cpus-per-gpu", "ntasks-per-node", "ntasks-per-gpu", "comment", "nice", "reservation", "export",
    "signal", "mail-type", "mail-user", "tmp", "switches", "wckey", "open-mode",
})  # fmt: skip
_WITHOUT_VALUE = frozenset({"exclusive", "requeue", "no-requeue", "contiguous", "overcommit", "oversubscribe"})
_PASSED_OVER = frozenset(
    {"d", "b", "M", "dependency", "begin", "deadline", "clusters"}
)  # with a value; not asked again


def arguments_of(command: str, submit_line: str, exists: Sequence[str]) -> tuple[str, list[str]]:
    """The script's name and its arguments.

    SLURM joins both with spaces, so that the longest beginning that is a file (one of ``exists``) is taken for the
    script; where only the name stands (26.05), the arguments are what follows it in the line of the submission.
    """
    words = command.split(" ")
    beginnings = [" ".join(words[:number]) for number in range(len(words), 0, -1)]
    name = next((text for text in beginnings if text in exists), words[0])
    rest = command[len(name) :].split()
    if rest or not submit_line or not name:
        return name, rest
    short = name.rpartition("/")[2]
    place = re.search(rf"(?:^|[\s/]){re.escape(short)}(?=\s|$)", submit_line)
    return name, [] if place is None else submit_line[place.end() :].split()


def options_in(submit_line: str) -> tuple[dict[str, str], list[str]]:
    """The options of a submission and its script with the arguments, as far as the line tells.

    SLURM keeps the line without quotes: a value with spaces in it is torn. What is not known is left out, and so is
    what must not be asked for again (a dependency, a begin time, being held).
    """
    return options_in_words(submit_line.split()[1:])


def options_in_words(given: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """The same of arguments that are taken apart already; of one that is given twice the last holds, as for sbatch."""
    words = list(given)
    found: dict[str, str] = {}
    while words and words[0].startswith("-"):
        word = words.pop(0)
        if word.startswith("--wrap"):  # what follows is the command that was wrapped, and SLURM keeps it as a script
            return found, []
        name, equals, value = word.lstrip("-").partition("=")
        if not word.startswith("--"):
            name, value = word[1:2], word[2:]
        name, has_value = _SHORT.get(name, name), bool(equals or value)
        if name in _WITH_VALUE | _PASSED_OVER and not has_value:
            value = words.pop(0) if words else ""
        if (name in _WITH_VALUE and value) or name in _WITHOUT_VALUE:
            found[name] = value
    return found, words
