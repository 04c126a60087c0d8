"""Doctor's checks of this machine: Python, packages, the state folder, the terminal, the clock, the end of a login."""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import stat
import sys
import tempfile
import time
from pathlib import Path

from slurmtui import __version__, paths
from slurmtui.control.server_database import file_system, is_network
from slurmtui.models.check import Check, fail, ok, warn
from slurmtui.session import user_name
from slurmtui.theme import shows_glyphs, suitable_theme

_NEEDED = ("prefect", "prefect-dask", "dask-jobqueue", "distributed")
_TESTED_PREFECT = ((3, 6, 22), (3, 10))
_LITTLE_SPACE = 1024**3
_NO_SPACE = 50 * 1024**2
_LOGIN_SETTINGS = ("/usr/lib/systemd/logind.conf", "/etc/systemd/logind.conf")


def python() -> Check:
    """The Python that runs this."""
    version = ".".join(map(str, sys.version_info[:3]))
    return ok("python", f"Python {version}, slurmtui {__version__}", where=sys.executable)


def packages() -> Check:
    """The packages that run flows; they are looked up, not imported."""
    versions, missing = {}, []
    for name in _NEEDED:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:  # noqa: PERF203 - each may be missing
            missing.append(name)
    what = ", ".join(f"{name} {version}" for name, version in versions.items()) or "no package that runs flows"
    if missing:
        return fail(
            "packages",
            what,
            where=sys.prefix,
            why=f"not here: {', '.join(missing)}",
            step="pip install prefect-slurmtui in this environment again",
        )
    low, high = _TESTED_PREFECT
    found = numbers(versions["prefect"])
    if not low <= found < high:
        return warn(
            "packages",
            what,
            where=sys.prefix,
            why="slurmtui was tested with Prefect 3.6.22 up to 3.9",
            step='pip install "prefect>=3.6.22,<3.10" if runs do not start',
        )
    return ok("packages", what, where=sys.prefix)


def numbers(version: str) -> tuple[int, ...]:
    """The numbers a version begins with."""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def state_folder() -> Check:
    """The folder of everything that outlives a console."""
    folder = paths.state_folder()
    try:
        paths.private_folder(folder)
        with tempfile.NamedTemporaryFile(prefix=".doctor.", dir=folder) as stream:
            stream.write(b"x" * 4096)
            stream.flush()
        free = shutil.disk_usage(folder).free
        mode = stat.S_IMODE(folder.stat().st_mode)
    except OSError as error:
        return fail(
            "state folder",
            "The state folder cannot be written",
            where=str(folder),
            why=error.strerror or str(error),
            step="make room or set SLURMTUI_STATE",
        )
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        return fail(
            "state folder",
            f"Others may look into it (mode {mode:04o})",
            where=str(folder),
            why="passwords and logs are in it",
            step=f"chmod 700 {folder}",
        )
    return _room(folder, free)


def _room(folder: Path, free: int) -> Check:
    """Whether the folder has room, in a place that lasts."""
    kind = file_system(folder)
    what = f"{free / 1024**3:.1f} GiB free on {kind or 'an unknown file system'}"
    if free < _LITTLE_SPACE:
        return (fail if free < _NO_SPACE else warn)(
            "state folder",
            what,
            where=str(folder),
            why="logs and results need room",
            step="make room or set SLURMTUI_STATE to another folder",
        )
    if kind == "tmpfs":
        return warn(
            "state folder",
            what,
            where=str(folder),
            why="it is in memory: a reboot loses it, and compute nodes do not see it",
            step="set SLURMTUI_STATE to a folder that compute nodes share",
        )
    shared = f"{what}: shared with other nodes" if is_network(kind) else what
    return ok("state folder", shared, where=str(folder))


def terminal() -> Check:
    """Whether the console can be shown well here."""
    name = os.environ.get("TERM", "")
    if not sys.stdout.isatty():
        return ok("terminal", "Not a terminal: nothing to check", where=f"TERM={name}")
    size = shutil.get_terminal_size()
    colours = "true colour" if suitable_theme() != "terminal16" else "16 colours"
    if os.environ.get("NO_COLOR"):
        colours = "no colours (NO_COLOR)"
    signs = "glyphs" if shows_glyphs() else "letters for glyphs"
    what, where = f"{size.columns}x{size.lines}, {colours}, {signs}", f"TERM={name}"
    if name in {"", "dumb"}:
        return fail(
            "terminal",
            what,
            where=where,
            why="it cannot place a cursor",
            step="export TERM=xterm-256color if your terminal is a usual one",
        )
    if size.columns < 80 or size.lines < 24:
        return warn(
            "terminal",
            what,
            where=where,
            why="80x24 is what is designed for",
            step="make the window larger",
        )
    if not shows_glyphs():
        return warn(
            "terminal",
            what,
            where=where,
            why="the locale is not UTF-8",
            step="export LC_ALL=C.UTF-8 if your terminal shows UTF-8",
        )
    return ok("terminal", what, where=where)


def multiplexer() -> Check:
    """Whether the console runs in tmux or screen, and how those should be set."""
    if os.environ.get("TMUX"):
        if not os.environ.get("TERM", "").startswith(("tmux", "screen")):
            return warn(
                "tmux",
                "In tmux, with a TERM that is not tmux's",
                where=f"TERM={os.environ.get('TERM', '')}",
                why="colours and keys may be wrong",
                step='in ~/.tmux.conf: set -g default-terminal "tmux-256color"',
            )
        return ok("tmux", "In tmux", step="in ~/.tmux.conf: set -g focus-events on")
    if os.environ.get("STY"):
        return ok("tmux", "In screen")
    return ok("tmux", "Not in tmux: no need, runs go on when the line drops")


def clock() -> Check:
    """The zone in which times are shown and SLURM's are read."""
    zone = time.strftime("%Z (UTC%z)")
    named = os.environ.get("TZ")
    try:
        system = str(Path("/etc/localtime").readlink()).partition("zoneinfo/")[2]
    except OSError:
        system = ""
    what = f"Times are shown in {zone}"
    if named and system and named.removeprefix(":") != system and not _same_zone(named, system):
        return warn(
            "clock",
            what,
            where=f"TZ={named}",
            why=f"this machine's zone is {system}; colleagues' times will differ from yours",
            step="unset TZ to see the machine's time",
        )
    return ok("clock", what, where=f"TZ={named}" if named else system)


def _same_zone(one: str, other: str) -> bool:
    utc = {"UTC", "Etc/UTC", "UCT", "Etc/UCT", "Zulu", "GMT", "Etc/GMT"}
    return one in utc and other in utc


def after_logout() -> Check:
    """Whether what was started goes on when its user has logged out."""
    kill = False
    for name in _LOGIN_SETTINGS:
        for file in (Path(name), *sorted(Path(f"{name}.d").glob("*.conf"))):
            try:
                found = re.findall(
                    r"^\s*KillUserProcesses\s*=\s*(\w+)", file.read_text("utf-8", "replace"), re.MULTILINE
                )
            except OSError:  # not there, not to be read: systemd's own default is no
                continue
            kill = found[-1].lower() in {"yes", "true", "1", "on"} if found else kill
    lingers = Path("/var/lib/systemd/linger", user_name()).is_file()
    if kill and not lingers:
        return warn(
            "after logout",
            "This node ends your processes when you log out",
            where="KillUserProcesses=yes",
            why="drivers on the login node would end with your last session",
            step="loginctl enable-linger, or `driver: slurm` in the configuration",
        )
    return ok("after logout", "Drivers go on after you have logged out")


def all_checks() -> list[Check]:
    """Every check of this machine."""
    return [python(), packages(), state_folder(), terminal(), multiplexer(), clock(), after_logout()]
