"""Measures a program in a terminal on a queue: the console, and turm as its peer."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.bench.controller import Controller, told
from tests.bench.pty_program import KeyTime, PtyProgram

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.bench.load import Call, Place

DOWN, UP, PAGE_DOWN, PAGE_UP, ENTER = "\x1b[B", "\x1b[A", "\x1b[6~", "\x1b[5~", "\r"
FOCUS_LOST, FOCUS = "\x1b[O", "\x1b[I"
BACKSPACE, ESCAPE = "\x7f", "\x1b"
ARRANGING = (">", "=", "<", "/", "7", "7", BACKSPACE, ESCAPE)
TIMED = frozenset({">", "=", "<", "7"})
MOVES = (DOWN, DOWN, UP, PAGE_DOWN, UP, PAGE_UP)
QUIET_ARRANGING = 0.4
"""While a list of 100,000 is arranged nothing may come; the cursor of a filter blinks every half second."""
AFTER_POLL = 1.0
"""So long after squeue has ended its answer is still being digested and shown."""


class Times(NamedTuple):
    """For how many seconds each part is measured."""

    settle: float
    rest: float
    unfocused: float
    keys: float


class Peer(NamedTuple):
    """A program: how it is started, when its first job is seen, and what is seen when an array has been opened."""

    argv: tuple[str, ...]
    seen: str
    opened: str = ""


def p99(values: Sequence[float]) -> float:
    """The ninety-ninth percentile: of less than a hundred values the largest."""
    return sorted(values)[max(0, math.ceil(0.99 * len(values)) - 1)] if values else math.nan


def starts(place: Place, peer: Peer, times: int) -> dict[str, float]:
    """Until the first job is on screen: seconds, and CPU seconds; the best of some starts, without the wrappers."""
    environment = {**place.environment, "PATH": place.environment["PATH"].partition(":")[2]}
    clock, cpu = [], []
    for _ in range(times):
        program = PtyProgram(peer.argv, environment)
        clock.append(program.wait_for(peer.seen))
        cpu.append(program.cpu().own)
        program.end()
    return {"first_job_s": round(min(clock), 2), "first_job_cpu_s": round(min(cpu), 2)}


def measure(place: Place, peer: Peer, times: Times, base: float, *, ours: bool) -> dict[str, Any]:
    """Leave it alone, then without the focus, then press keys."""
    found: dict[str, Any] = {**starts(place, peer, 3)}
    program = PtyProgram(peer.argv, place.environment)
    program.wait_for(peer.seen)
    program.rest(times.settle)
    if peer.opened:
        found["opened_s"] = round(_opened(program, peer.opened), 2)
        program.rest(times.settle)
    found |= _at_rest(place, program, times.rest, base)
    if times.unfocused:
        found["unfocused_commands_minute"] = _unfocused(place, program, times.unfocused)
    found |= _moved(place, program, times.keys)
    if ours:
        found["arrange_ms"] = round(_arranged(program), 1)
    found["peak_mb"], found["tree_peak_mb"] = round(program.peak(), 1), round(program.tree_peak, 1)
    program.end()
    return found


def _opened(program: PtyProgram, seen: str) -> float:
    start = time.perf_counter()
    program.send(ENTER)
    program.wait_for(seen)
    return time.perf_counter() - start


def _at_rest(place: Place, program: PtyProgram, seconds: float, base: float) -> dict[str, Any]:
    controller = Controller(place)
    size, cpu = program.rest(seconds)
    polls = [call for call in controller.calls() if call.name == "squeue"]
    return {
        "rest_bytes_s": round(size / seconds, 1),
        "rest_cpu": round(100 * cpu.own / seconds, 2),
        "rest_cpu_with_squeue": round(100 * (cpu.own + cpu.children) / seconds, 2),
        "cpu_a_poll_s": round(cpu.own / len(polls), 3) if polls else None,
        "polls_minute": round(len(polls) * 60 / seconds, 1),
        "memory_mb": round(program.memory(), 1),
        **told(controller, base),
    }


def _unfocused(place: Place, program: PtyProgram, seconds: float) -> float:
    """Commands a minute; the poll that was due when the focus was lost is not counted."""
    program.send(FOCUS_LOST)
    program.rest(1)
    began = time.time()
    program.rest(seconds)
    found = len(place.calls(began))
    program.send(FOCUS)
    program.rest(3)
    return round(found * 60 / seconds, 1)


def _moved(place: Place, program: PtyProgram, seconds: float) -> dict[str, Any]:
    """Keys that move the cursor, one after another; those while a poll is under way are told apart."""
    began, cpu, keys = time.time(), program.cpu().own, list[KeyTime]()
    while time.time() - began < seconds:
        keys += [program.press(key) for key in MOVES]
    cpu = program.cpu().own - cpu
    polls = [call for call in place.calls(began - 30) if call.name == "squeue"]
    firsts = [key.first for key in keys if key.size]
    arriving = [key.first for key in keys if key.size and _while(polls, key.at)]
    return {
        "keys": len(firsts),
        "key_cpu_ms": round(cpu * 1000 / len(firsts), 1),
        "key_ms": round(sorted(firsts)[len(firsts) // 2], 1),
        "key_p99_ms": round(p99(firsts), 1),
        "poll_keys": len(arriving),
        "poll_key_p99_ms": round(p99(arriving), 1) if arriving else None,
    }


def _while(polls: Sequence[Call], at: float) -> bool:
    return any(call.began <= at <= call.ended + AFTER_POLL for call in polls)


def _arranged(program: PtyProgram, rounds: int = 3) -> float:
    """The longest that the picture of a list sorted or filtered anew takes, to its last byte; the median of rounds."""
    found: dict[str, list[float]] = {}
    for _ in range(rounds):
        for number, key in enumerate(ARRANGING):
            took = program.press(key, quiet=QUIET_ARRANGING).last
            if key in TIMED:
                found.setdefault(f"{number}", []).append(took)
    return max(sorted(times)[len(times) // 2] for times in found.values())
