"""From a file to a tree of YAML nodes, with one clear sentence for everything that can be in the way."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import yaml

from slurmtui.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

LARGEST_FILE = 256 * 1024
"""Far beyond any sensible configuration; a bigger file is a mistake, and would take long to read."""


def read_text(file: Path) -> str:
    """The text of a configuration file.

    Raises:
        ConfigError: it is not there, may not be read, or is not a text of a sensible size.
    """
    try:
        data, size = _read_start(file)
    except FileNotFoundError:
        message = f"{file}: there is no such file. `slurmtui config init` writes one (with --config FILE: there)."
        raise ConfigError([message]) from None
    except IsADirectoryError:
        raise ConfigError([f"{file}: is a directory: name the file in it, {file / 'config.yaml'}."]) from None
    except PermissionError:
        raise ConfigError([f"{file}: may not be read by you{_owner(file)}: see `ls -l {file}`."]) from None
    except (OSError, ValueError) as error:
        raise ConfigError([f"{file}: cannot be read: {getattr(error, 'strerror', None) or error}."]) from None
    if len(data) > LARGEST_FILE:
        shown = f"{size / 1024**2:,.1f} MiB is"
        raise ConfigError([f"{file}: {shown} too large for a configuration ({LARGEST_FILE // 1024} KiB at most)."])
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"{file}:{line}: is not text in UTF-8 (byte {data[error.start]:#04x}): save it as UTF-8."
        raise ConfigError([message]) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise ConfigError([f"{file}:{line}: is not text: it holds NUL bytes."])
    return text


def _read_start(file: Path) -> tuple[bytes, int]:
    """The file's bytes, as far as they may go, and its size. A pipe is not waited for."""
    handle = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = os.fstat(handle)
        if stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError
        if not stat.S_ISREG(found.st_mode):
            raise ValueError("it is no file but a pipe, socket or device")
        with os.fdopen(handle, "rb", closefd=False) as stream:
            return stream.read(LARGEST_FILE + 1), found.st_size
    finally:
        os.close(handle)


def _owner(file: Path) -> str:
    try:
        return f" (it belongs to {file.owner()})"
    except (OSError, KeyError):  # not to be seen, or a user number without a name
        return ""


def parse(text: str, file: Path | str) -> yaml.Node | None:
    """The node tree of a YAML text; None when there is nothing in it but comments.

    Raises:
        ConfigError: it is not YAML, with the line.
    """
    try:
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise ConfigError([f"{file}:{line}: {_explain(error, text, line)}"]) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        code = error.character if isinstance(error.character, int) else ord(error.character)
        raise ConfigError([f"{file}:{line}: holds the control character U+{code:04X}: remove it."]) from None
    except RecursionError:
        raise ConfigError([f"{file}: is nested too deeply to be a configuration."]) from None
    except (ValueError, OverflowError):  # PyYAML makes the character of \U99999999 without a look at the number
        line = text.count("\n", 0, text.find("\\U")) + 1
        raise ConfigError([f"{file}:{line}: holds an escape (\\U…) of a character that does not exist."]) from None
    except yaml.YAMLError as error:
        raise ConfigError([f"{file}: is not YAML: {' '.join(str(error).split())}."]) from None


def _explain(error: yaml.MarkedYAMLError, text: str, line: int) -> str:
    lines = text.splitlines()
    written = lines[line - 1] if line <= len(lines) else ""
    indent = written[: len(written) - len(written.lstrip())]
    if "\t" in indent:
        return "is indented by a tab: YAML wants spaces."
    if "'\\t'" in (error.problem or ""):
        return "holds a tab where YAML wants a space."
    problem = " ".join((error.problem or error.context or "not YAML").split())
    hints = {
        "mapping values are not allowed here": "a second ': ' in one line? Put the value in quotes",
        "found another document": "a second '---'? One file holds one configuration",
        "could not find expected ':'": "every line is `key: value`",
        "alias": "text that begins with '*' belongs in quotes",
        "anchor": "text that begins with '&' belongs in quotes",
        "cannot start any token": "text that begins with it belongs in quotes",
    }
    about = f"{error.context} {problem}"
    hint = next((f" ({says})" for what, says in hints.items() if what in about), "")
    return f"is not YAML: {problem}{hint}."
