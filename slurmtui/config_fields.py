"""Every key of the configuration, declared once: reading, checking and the reference in docs/ come from here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from slurmtui import config_looks as looks
from slurmtui import config_places as places
from slurmtui import config_values as values
from slurmtui import keymap
from slurmtui.config_yaml import entries, items
from slurmtui.models.config import Config, Highlight, LogsConfig, PrefectConfig, ServerConfig, SlurmConfig
from slurmtui.models.nearest import nearest
from slurmtui.models.profile import Adapt, Profile, RetryPolicy, SharedPolicy
from slurmtui.profiles import OTHER_NAMES
from slurmtui.theme_files import theme_names

if TYPE_CHECKING:
    import msgspec

    from slurmtui.config_values import Reader
    from slurmtui.config_yaml import Place


@dataclass(frozen=True)
class Field:
    """One key: how its value is read, what it is for, and one value for the reference."""

    key: str
    read: Reader
    help: str
    example: str


@dataclass(frozen=True)
class Section:
    """Keys that stand together. ``path`` is where, as in the reference (``profiles.NAME``)."""

    path: str
    struct: type[msgspec.Struct]
    help: str
    fields: tuple[Field, ...]


ADAPT = Section(
    "profiles.NAME.adapt",
    Adapt,
    "Bounds of a number of jobs that follows the work (Dask's adaptive scaling).",
    (
        Field("minimum", values.whole(0, 100_000), "Jobs that are kept even when there is nothing to do.", "1"),
        Field("maximum", values.whole(1, 100_000), "Jobs at most. Must be given.", "8"),
    ),
)

RETRY = Section(
    "profiles.NAME.retry",
    RetryPolicy,
    "How often a run is started again by itself, by what ended it. What the code raises is never retried.",
    (
        Field("node_fail", values.whole(0, 100), "Times after a node failed under a job.", "2"),
        Field("preempted", values.whole(0, 100), "Times after a job was preempted.", "2"),
        Field("out_of_memory", values.whole(0, 100), "Times after a job ran out of memory; with more memory.", "1"),
        Field("timeout", values.whole(0, 100), "Times after a job reached its time limit; with more time.", "1"),
        Field("grow", values.whole(1, 16), "How many times the memory or the time is asked for then.", "2"),
    ),
)

SHARED = Section(
    "profiles.NAME.shared",
    SharedPolicy,
    "When a shared cluster of the profile (`slurmtui cluster up NAME`) lets go.",
    (
        Field("idle", values.seconds(1, 604_800), "Seconds that a job without work is kept for the next one.", "300"),
        Field("end", values.seconds(1, 2_592_000), "Seconds without a flow after which the cluster ends.", "3600"),
    ),
)

PROFILE = Section(
    "profiles.NAME",
    Profile,
    "What each job of a run asks SLURM for. NAME is yours: letters, digits, `.`, `_` and `-`.",
    (
        Field("partition", values.word, "Partition; without it SLURM's default one.", "gpu"),
        Field("account", values.word, "Account the time is billed to.", "proj42"),
        Field("qos", values.word, "Quality of service.", "long"),
        Field("cores", values.whole(1, 100_000), "CPU cores of a job.", "8"),
        Field("processes", values.whole(1, 100_000), "Dask worker processes that share a job's cores and memory.", "2"),
        Field("memory", values.memory, "Memory of a job, with its unit (K, M, G, T; a G is 1024 M).", "16G"),
        Field("walltime", values.walltime, "Time limit of a job: `[D-]HH:MM:SS`, or `1d 2h 30m`.", "02:00:00"),
        Field("nodes", values.whole(1, 100_000), "Nodes of a batch job. Dask's jobs always use one.", "2"),
        Field("gres", values.gres, "Generic resources of a job, as sbatch's `--gres` takes them.", "gpu:a100:1"),
        Field("workers", values.whole(1, 100_000), "A fixed number of jobs. Not together with `adapt`.", "4"),
        Field("adapt", lambda place: read_section(ADAPT, place), "A number of jobs that follows the work.",
              "{minimum: 1, maximum: 8}"),
        Field("python", places.program, "Python of the jobs; without it the one that submits.", "~/env/bin/python"),
        Field("prologue", values.lines, "Lines of shell before the job's work, a list or a block.",
              "[module load cuda]"),
        Field("directives", values.directives, "More options of sbatch, as after `#SBATCH`.", "[--exclusive]"),
        Field("skip_directives", values.words, "Leave out `#SBATCH` lines that hold one of these texts.", "[--mem]"),
        Field("interface", values.word, "Network interface between the driver and the jobs.", "ib0"),
        Field("local_directory", places.node_path, "Folder on the compute node for what spills from memory.",
              "$TMPDIR"),
        Field("log_directory", places.path, "Folder of the jobs' logs; without it the run's own folder.",
              "~/slurm-logs"),
        Field("tls", values.flag, "Encrypt and authenticate what Dask sends. Leave it on where others can log in.",
              "true"),
        Field("retry", lambda place: read_section(RETRY, place), "Start a run again by itself after SLURM ended it.",
              "{node_fail: 2, timeout: 1}"),
        Field("shared", lambda place: read_section(SHARED, place), "When a shared cluster of this profile lets go.",
              "{idle: 300, end: 3600}"),
    ),
)  # fmt: skip

PREFECT = Section(
    "prefect",
    PrefectConfig,
    "The Prefect server. PREFECT_API_URL goes before it; a profile of Prefect's comes after it.",
    (
        Field("api_url", places.api_url, "Address of its API.", "http://login01:4200/api"),
        Field("auth_file", places.path, "File with `user:password` (0600).", "~/.prefect-password"),
    ),
)

SERVER = Section(
    "server",
    ServerConfig,
    "The private server that `slurmtui server start` starts.",
    (
        Field("host", places.host, "Address it listens on and that compute nodes reach it by.", "login01"),
        Field("interface", values.word, "Network interface whose address is used instead of `host`.", "ib0"),
        Field("port", values.whole(1024, 65535), "Its port; without it a free one is chosen and kept.", "4711"),
        Field("database_url", values.scalar, "Another database than SQLite in the state folder.",
              "postgresql+asyncpg://me@db/prefect"),
    ),
)  # fmt: skip

SLURM = Section(
    "slurm",
    SlurmConfig,
    "Manners towards SLURM's controller.",
    (
        Field("poll_seconds", values.seconds(0.5, 3600), "How often the queue is asked for.", "10"),
        Field("floor_seconds", values.seconds(0.5, 3600), "It is never asked more often than this.", "2"),
        Field("timeout_seconds", values.seconds(1, 600), "How long a command of SLURM may take.", "20"),
    ),
)


HIGHLIGHT = Section(
    "logs.highlights",
    Highlight,
    "What stands out in logs: a list of these.",
    (
        Field("pattern", looks.expression, "Regular expression. Must be given.", "'loss=[0-9.]+'"),
        Field("style", looks.styles, "Attributes and colours: bold, underline, accent, warning, failed, done …",
              "bold accent"),
        Field("line", values.flag, "Give the style to the whole line.", "true"),
    ),
)  # fmt: skip


def _read_highlights(place: Place) -> tuple[dict[str, Any], ...]:
    """The rules that are right; each must have a pattern."""
    found = []
    for item in items(place) or ():
        rule = read_section(HIGHLIGHT, item)
        if rule is not None and "pattern" in rule:
            found.append(rule)
        elif rule is not None:
            item.wrong("has no pattern: write one, such as  pattern: 'loss=[0-9.]+'")
    return tuple(found)


LOGS = Section(
    "logs",
    LogsConfig,
    "How logs are shown.",
    (Field("highlights", _read_highlights, "What stands out in them; see below.", ""),),
)


def _read_profiles(place: Place) -> dict[str, dict[str, Any]]:
    """The profiles by name; what is wrong in one does not hide what is wrong in the next."""
    found = {}
    for entry in (_optional_entries(place) or {}).values():
        inner = place.under(entry.key, entry.node, entry.line)
        if not values.is_name(entry.key):
            inner.wrong("a profile's name has letters, digits, '.', '_' and '-', at most 64 of them.")
        inner.remember()
        found[entry.key] = {"name": entry.key, **(read_section(PROFILE, inner) or {})}
    return found


def _read_keys(place: Place) -> dict[str, str]:
    """Action id to key as Textual names it; which actions exist is known to the console alone."""
    found = {}
    for entry in (_optional_entries(place) or {}).values():
        inner = place.under(entry.key, entry.node, entry.line)
        inner.remember()
        written = inner.text.strip() if inner.text.strip() in {"~", "="} else values.scalar(inner)
        names = [] if written is None else keymap.split(written)
        for name in names:
            refusal = keymap.refusal(name)
            if refusal:
                inner.wrong(refusal)
        found[entry.key] = ",".join(filter(None, map(keymap.key_name, names)))
    return found


def _theme_folder(place: Place) -> tuple[str, ...]:
    return theme_names(place.folder)


TOP = Section(
    "",
    Config,
    "Keys at the top of the file.",
    (
        Field("profiles", _read_profiles, "What jobs ask SLURM for, by name; see below.", ""),
        Field("default_profile", values.scalar, "Profile that is used when none is named.", "gpu"),
        Field("flows", places.paths, "Files and folders in which the console looks for flows.", "[~/flows]"),
        Field("driver", values.choice("login", "slurm"),
              "Where the process that drives a run lives: on the login node, or in a small SLURM job of its own.",
              "slurm"),
        Field("driver_profile", values.scalar, "Profile of the driver's job, with `driver: slurm`.", "small"),
        Field("theme", values.one_of(_theme_folder, "theme"), "Colours of the console.", "paper"),
        Field("read_only", values.flag, "Open the console without any action that touches.", "true"),
        Field("keys", _read_keys, "Other keys for actions: `action: key`. docs/keys.md lists the actions.",
              "{logs: L}"),
        Field("prefect", lambda place: _read_optional(PREFECT, place), "See below.", ""),
        Field("server", lambda place: _read_optional(SERVER, place), "See below.", ""),
        Field("slurm", lambda place: _read_optional(SLURM, place), "See below.", ""),
        Field("logs", lambda place: _read_optional(LOGS, place), "See below.", ""),
    ),
)  # fmt: skip

SECTIONS = (TOP, PROFILE, ADAPT, RETRY, SHARED, PREFECT, SERVER, SLURM, LOGS, HIGHLIGHT)


def read_section(section: Section, place: Place) -> dict[str, Any] | None:
    """The values of a section's keys as far as they are right; mistakes are told at their places."""
    found = entries(place)
    if found is None:
        return None
    fields = {field.key: field for field in section.fields}
    result: dict[str, Any] = {}
    for entry in found.values():
        inner = place.under(entry.key, entry.node, entry.line)
        field = fields.get(entry.key)
        if field is None:
            inner.wrong(_unknown(entry.key, section))
            continue
        inner.remember()
        value = field.read(inner)
        if value is not None:
            result[entry.key] = value
    return result


def _read_optional(section: Section, place: Place) -> dict[str, Any] | None:
    """A section that may be left without keys, all of them in comments."""
    return {} if place.empty else read_section(section, place)


def _optional_entries(place: Place) -> dict[str, Any] | None:
    return {} if place.empty else entries(place)


def _unknown(key: str, section: Section) -> str:
    """What to write instead of a key that is not known in this section."""
    known = [field.key for field in section.fields]
    folded = key.lower().replace("-", "_")
    if folded in known:
        return f"unknown key: write {folded!r}."
    if section in (PROFILE, ADAPT) and folded in OTHER_NAMES:
        return f"unknown key: {OTHER_NAMES[folded]}"
    for other in SECTIONS:
        if other is not section and folded in {field.key for field in other.fields}:
            where = f"below `{other.path}:`" if other.path else "at the top of the file, not indented"
            return f"unknown key here: it belongs {where}."
    near = nearest(key, known)
    return f"unknown key: did you mean {near!r}?" if near else f"unknown key: there is {', '.join(known)}."
