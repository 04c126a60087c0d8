"""The detail of an ended job, an array that ended, or a day. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slurmtui.models.amounts import counted, size_words
from slurmtui.models.efficiency import efficiency
from slurmtui.models.exit_words import signal_words
from slurmtui.models.text import visible
from slurmtui.views import amounts
from slurmtui.views import format as words
from slurmtui.views.history.rows import day_words, tally_spans
from slurmtui.views.lines import pairs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slurmtui.models.efficiency import Usage
    from slurmtui.models.history import Lives, PastJob
    from slurmtui.views.history.rows import Line
    from slurmtui.widgets.bar import Piece


def many_lines(line: Line, now: float) -> list[list[Piece]]:
    """A day, or the tasks of an array that ended on a day."""
    jobs = line.jobs
    title = (
        day_words(line.key.removeprefix("day:"), now) if line.kind == "day" else f"array {jobs[0].id.partition('_')[0]}"
    )
    elapsed = [job.elapsed for job in jobs if isinstance(job.elapsed, int)]
    hours = sum(job.elapsed * job.cpus for job in jobs if isinstance(job.elapsed, int)) / 3600
    gpu_hours = sum(job.elapsed * job.gpus for job in jobs if isinstance(job.elapsed, int)) / 3600
    waits = sorted(job.wait for job in jobs if job.wait is not None)
    return [
        [(f"{visible(title)} · {counted(len(jobs), 'job')} · ", "bold"), *_dollars(tally_spans(jobs))],
        *pairs(
            [
                ("used", f"{hours:,.1f} CPU hours" + (f", {gpu_hours:,.1f} GPU hours" if gpu_hours else "")),
                ("ran for", _spread(sorted(elapsed))),
                ("waited for", _spread(waits)),
            ]
        ),
    ]


def _dollars(spans: Sequence[tuple[str, str]]) -> list[Piece]:
    return [(text, f"${style}" if style else "") for text, style in spans]


def _spread(values: Sequence[float]) -> str:
    if not values:
        return ""
    middle = values[len(values) // 2]
    return f"{words.coarse(values[0])} to {words.coarse(values[-1])}, half of them at most {words.coarse(middle)}"


def past_lines(job: PastJob, lives: Lives, told: Usage | str | None, run: str) -> list[list[Piece]]:
    """Everything about one job that has ended; ``told`` is what its steps add, None while that is awaited."""
    style = f"bold ${words.style_of(words.mood_of(job.state))}"
    ended = signal_words(job.signal) if job.signal else f"exit code {job.exit_code}"
    lines: list[list[Piece]] = [
        [(f"job {job.id} · {visible(job.name)} · ", "bold"), (visible(job.state), style), (f" · {ended}", "")]
    ]
    wait = "" if job.wait is None else f", after {words.coarse(job.wait)} of waiting"
    gpus = f", {job.gpus} {visible(job.gpu_type) or 'GPU'}" if job.gpus else ""
    nodes, cpus = counted(job.node_count, "node"), counted(job.cpus, "CPU")
    lines += pairs(
        [
            ("run", visible(run)),
            ("account", f"{visible(job.account) or words.DASH} · qos {visible(job.qos) or words.DASH}"),
            ("where", f"{visible(job.partition)} {visible(job.nodes)}"),
            ("had", f"{nodes}, {cpus}, {amounts.memory(job.memory)} memory{gpus}"),
            ("submitted", words.moment_words(job.submit)),
            ("started", f"{words.moment_words(job.start)}{wait}" if job.ran else "never"),
            ("ended", words.moment_words(job.end)),
            ("time", f"{words.span(job.elapsed)} of {words.span(job.time_limit)}"),
            ("comment", visible(job.comment)),
        ]
    )  # fmt: skip
    lines += _lives(job, lives)
    if told is None:
        return [*lines, [("asking accounting…", "$text-muted")]]
    if isinstance(told, str):
        return [*lines, [(visible(told), "$text-muted")]]
    return lines + _used(told)


def _used(usage: Usage) -> list[list[Piece]]:
    """What it used of what it asked for."""
    found = efficiency(usage)
    memory = ""
    if found.memory_used is not None and usage.memory:
        memory = f"{size_words(found.memory_used)} of {size_words(usage.memory)}"
    cpus = "" if found.cpus_busy is None else f"{found.cpus_busy:.1f} of {counted(usage.cpus, 'CPU')} busy"
    gpus = "" if found.gpu_hours is None else f"{found.gpu_hours:.1f} GPU hours"
    return pairs(
        [
            ("used memory", memory),
            ("used CPU", cpus),
            ("used GPU", gpus),
            ("unknown", found.why_unknown),
            ("advice", "; ".join(found.advice)),
        ]
    )


def _lives(job: PastJob, lives: Lives) -> list[list[Piece]]:
    every = lives.all_of(job)
    if len(every) == 1:
        return []
    lines: list[list[Piece]] = [[("lives".ljust(14), "$text-muted"), ("it was requeued:", "")]]
    for number, life in enumerate(every, 1):
        here = " ←" if life is job else ""
        style = f"${words.style_of(words.mood_of(life.state))}"
        lines.append([
            (f"{'':14}{number}. ", "$text-muted"), (f"{visible(life.state):<12}", style),
            (f" {words.moment_words(life.start)}, {words.span(life.elapsed)} on {visible(life.nodes)}{here}", ""),
        ])  # fmt: skip
    return lines
