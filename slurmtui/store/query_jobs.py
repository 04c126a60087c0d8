"""Filters the queue: on bytes and whole columns, so that a hundred thousand jobs take a moment only."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from slurmtui.models.ids import base_id, parse_job_id
from slurmtui.models.nodes import expand_nodes
from slurmtui.models.records import PIECE_ROWS, unpadded
from slurmtui.models.text import visible
from slurmtui.models.values import known
from slurmtui.store.job_marks import own_rows
from slurmtui.store.query_tasks import rows_with_task
from slurmtui.store.query_terms import LIST_SECONDS, THREAD_SECONDS, Grammar, Term, aliases, in_time
from slurmtui.store.query_values import WAITING, duration, gpu_reader, instant, memory_in, number, reader

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from slurmtui.models.job_table import JobTable
    from slurmtui.models.records import Slot

Reader = Callable[[int], float | None]

GRAMMAR = Grammar(
    texts=aliases(
        {
            "state": "st status", "user": "u owner", "partition": "part p", "name": "jobname", "id": "job jobid",
            "account": "acct", "qos": "", "reason": "why", "nodes": "node where", "run": "flow flowrun",
            "comment": "", "dependency": "dep", "dir": "workdir",
        }
    ),
    numbers={
        "cpus": ("cpus", "count"), "cpu": ("cpus", "count"), "nodes": ("node_count", "count"),
        "gpus": ("gpus", "count"), "gpu": ("gpus", "count"), "priority": ("priority", "count"),
        "prio": ("priority", "count"), "mem": ("memory", "memory"), "memory": ("memory", "memory"),
        "time": ("elapsed", "time"), "elapsed": ("elapsed", "time"), "limit": ("time_limit", "time"),
        "left": ("left", "time"), "wait": ("wait", "time"), "age": ("age", "time"),
    },
    paths=frozenset({"dir"}),
)  # fmt: skip

_COLUMNS = {"dir": "work_dir"}
_WORDS = ("id", "name", "user", "account", "partition", "qos", "state", "reason", "nodes")
_NOTHINGS = ("(null)", "n/a", "none assigned", "unknown", "not_set", "invalid")
_CODES = {
    "pd": "pending", "r": "running", "cg": "completing", "cf": "configuring", "s": "suspended", "st": "stopped",
    "ca": "cancelled", "cd": "completed", "f": "failed", "to": "timeout", "oom": "out_of_memory", "nf": "node_fail",
    "pr": "preempted", "rq": "requeued", "rh": "requeue_hold", "se": "special_exit", "so": "stage_out",
}  # fmt: skip


def filter_rows(
    table: JobTable, terms: Sequence[Term], user: str | None, run_of_job: Mapping[str, str] | None
) -> list[int]:
    """The rows that fulfil every term; cheap terms are asked first."""
    rows = list(range(len(table))) if user is None else own_rows(table, user)
    cost = {"text": 0, "number": 1, "word": 2, "regex": 3}
    seconds = LIST_SECONDS if len(table) <= PIECE_ROWS else THREAD_SECONDS
    for term in sorted(in_time(terms, seconds), key=lambda one: cost[one.kind]):
        if not rows:
            break
        test, tasks = _test_of(table, term, run_of_job or {}), rows_with_task(table, term, rows)
        rows = [row for row in rows if test(row) is not term.negated or row in tasks]
    return rows


def _test_of(table: JobTable, term: Term, run_of_job: Mapping[str, str]) -> Callable[[int], bool]:
    if term.kind == "number":
        return _number_test(table, term)
    if term.kind == "word":
        return _word_test(table, term.values[0], run_of_job)
    if term.kind == "regex":
        return _any_column_test(table, term.pattern, term.needle)
    return _field_test(table, term, run_of_job)


def _column_test(
    table: JobTable, name: str, holds: Callable[[str], bool], needle: bytes = b""
) -> Callable[[int], bool]:
    """A test of one column's text; each distinct value is decoded and tested once."""
    _, start, end = table.layout.slots[name]
    part, answers = table.part_of(name), dict[bytes, bool]()

    def test(row: int) -> bool:
        raw = part[row][start:end]
        answer = answers.get(raw)
        if answer is None:
            answer = answers[raw] = _may_hold(raw, needle) and holds(_shown(raw, name))
        return answer

    return test


def _may_hold(raw: bytes, needle: bytes) -> bool:
    """Whether a text can match an expression all of whose matches hold ``needle``; of ASCII alone that is known."""
    return not needle or needle in raw.lower() or not raw.isascii()


def _shown(raw: bytes, name: str) -> str:
    """A field's text as it is shown; a job may be called "None"."""
    text = unpadded(raw)
    return visible(text if name == "name" else known(text))


def _judge_of(inside: Mapping[str, Slot], holds: Callable[[str], bool], needle: bytes) -> Callable[[bytes], bool]:
    def judge(raw: bytes) -> bool:
        if not _may_hold(raw, needle):
            return False
        for name, slot in inside.items():  # noqa: SIM110 - a generator takes half as long again
            if holds(_shown(raw[slot.start : slot.end], name)):
                return True
        return False

    return judge


def _part_test(table: JobTable, number: int, judge: Callable[[bytes], bool]) -> Callable[[int], bool]:
    """A test of a part of the record; what many rows have in common is judged once."""
    part, answers = table.parts[number], dict[bytes, bool]()

    def test(row: int) -> bool:
        raw = part[row]
        answer = answers.get(raw)
        if answer is None:
            answer = answers[raw] = judge(raw)
        return answer

    return test


def _any_column_test(table: JobTable, holds: Callable[[str], bool], needle: bytes = b"") -> Callable[[int], bool]:
    """A test of the text of every column that a word is sought in."""
    inside: dict[int, dict[str, Slot]] = {}
    for name in _WORDS:
        slot = table.layout.slots[name]
        inside.setdefault(slot.part, {})[name] = slot
    return _any_part_test(table, {number: _judge_of(slots, holds, needle) for number, slots in inside.items()})


def _any_part_test(table: JobTable, judges: Mapping[int, Callable[[bytes], bool]]) -> Callable[[int], bool]:
    """A test of several parts of the record. No two rows have the id in common: it is judged row by row, and last."""
    apart = table.layout.slots["id"].part
    ids, judge_id = table.parts[apart], judges[apart]
    tests = [_part_test(table, number, judge) for number, judge in judges.items() if number != apart]

    def holds(row: int) -> bool:
        for test in tests:
            if test(row):
                return True
        return judge_id(ids[row])

    return holds


def _word_test(table: JobTable, word: str, run_of_job: Mapping[str, str]) -> Callable[[int], bool]:
    """Whether a row's text holds a word, whatever its case."""
    runs = _run_test(table, lambda text: word in text.casefold(), run_of_job)
    if not word.isascii() or " " in word or any(word in nothing for nothing in _NOTHINGS):
        # Not to be sought in the bytes: other cases than ASCII's, the padding, SLURM's words for nothing.
        columns = _any_column_test(table, lambda text: word in text.casefold())
        return lambda row: columns(row) or runs(row)
    needle = word.encode()
    numbers = {table.layout.slots[name].part for name in _WORDS}
    parts = _any_part_test(table, dict.fromkeys(numbers, lambda raw: needle in raw.lower()))
    return lambda row: parts(row) or runs(row)


def _run_test(table: JobTable, holds: Callable[[str], bool], run_of_job: Mapping[str, str]) -> Callable[[int], bool]:
    """A test of the run a job belongs to: ``run_of_job`` gives text to look in, by job id."""
    if not run_of_job:
        return lambda _row: False
    found = {row for job_id, text in run_of_job.items() if holds(text) and (row := table.index(job_id)) is not None}
    return found.__contains__


def _field_test(table: JobTable, term: Term, run_of_job: Mapping[str, str]) -> Callable[[int], bool]:
    if term.field == "run":
        own = _run_test(table, term.says, run_of_job)
        marked = _column_test(table, "comment", lambda text: text.startswith("slurmtui:") and term.says(text[9:]))
        return lambda row: own(row) or marked(row)
    if term.field == "id" and term.pattern is None:
        return _column_test(table, "id", lambda text: _is_id(text.casefold(), term))
    if term.field == "state" and term.pattern is None:
        return _column_test(table, "state", lambda text: _is_state(text.casefold(), term.values))
    if term.field == "nodes":
        return _column_test(table, "nodes", lambda text: _has_node(text, term))
    return _column_test(table, _COLUMNS.get(term.field, term.field), term.says, term.needle)


def _has_node(text: str, term: Term) -> bool:
    """By the list as SLURM writes it, or by any node in it."""
    return term.says(text) or ("[" in text and any(map(term.says, expand_nodes(text))))


def _is_id(text: str, term: Term) -> bool:
    """``id=12`` is the job, array or het job 12; ``id:12`` every id that begins so."""
    if term.exact:
        return text in term.values or base_id(text) in term.values or ("[" in text and _has_task(text, term.values))
    return any(text.startswith(value) for value in term.values)


def _has_task(text: str, values: Sequence[str]) -> bool:
    """Whether one of the tasks that wait in the rest of an array is meant."""
    rest = parse_job_id(text)
    tasks = filter(None, map(parse_job_id, values)) if rest is not None else ()
    return rest is not None and any(rest.holds(task) for task in tasks)


def _is_state(text: str, values: tuple[str, ...]) -> bool:
    """Codes (``pd``) and beginnings of names (``pend``)."""
    return any(_CODES.get(value, value) == text or (value not in _CODES and text.startswith(value)) for value in values)


def _number_test(table: JobTable, term: Term) -> Callable[[int], bool]:
    value = _READERS.get(term.field)
    read = value(table) if value is not None else reader(table, term.field, lambda raw: number(raw) or 0)
    holds = term.holds
    return lambda row: holds(read(row))


def _elapsed(table: JobTable) -> Reader:
    used, state = reader(table, "elapsed", duration), reader(table, "state", bytes.strip)
    return lambda row: None if state(row) == WAITING else used(row)


def _left(table: JobTable) -> Reader:
    limit, used = reader(table, "time_limit", duration), reader(table, "elapsed", duration)

    def left(row: int) -> float | None:
        most = limit(row)
        return None if most is None else most - (used(row) or 0.0)

    return left


def _age(table: JobTable) -> Reader:
    now, submitted = time.time(), reader(table, "submit", instant)

    def age(row: int) -> float | None:
        submit = submitted(row)
        return None if submit is None else now - submit

    return age


def _wait(table: JobTable) -> Reader:
    age, state = _age(table), reader(table, "state", bytes.strip)
    return lambda row: age(row) if state(row) == WAITING else None


_READERS: dict[str, Callable[[JobTable], Reader]] = {
    "gpus": gpu_reader,
    "memory": lambda table: reader(table, "tres", memory_in),
    "time_limit": lambda table: reader(table, "time_limit", duration),
    "priority": lambda table: reader(table, "priority", number),
    "elapsed": _elapsed,
    "left": _left,
    "age": _age,
    "wait": _wait,
}
