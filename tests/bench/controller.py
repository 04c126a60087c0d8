"""The controller's side: what a console makes slurmctld do, by sdiag and by the seconds that it computes."""

from __future__ import annotations

import os
import re
import time
from typing import TYPE_CHECKING, Any

import psutil

from slurmtui.models.job_table import QUEUE

if TYPE_CHECKING:
    from tests.bench.load import Call, Place

_RPC = re.compile(r"^\s+(\S+)\s+\( *\d+\) count:(\d+)", re.MULTILINE)
_QUESTIONS = re.compile(r"REQUEST_\w+")
_OWN = {"REQUEST_STATS_INFO", "REQUEST_COMPLETE_BATCH_SCRIPT", "REQUEST_SUBMIT_BATCH_JOB", "REQUEST_UPDATE_JOB"}
"""RPCs of the measuring and of the sandbox's own daemons."""

SQUEUE = ("squeue", "-h", "-a", "-O", QUEUE.asked())
"""What the console asks."""


class Controller:
    """Counts from its making on."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self._process = psutil.Process(place.slurmctld)
        self.began = time.time()
        self._cpu, self._questions = self._seconds(), self._counted()

    def _seconds(self) -> float:
        times = self._process.cpu_times()
        return float(times.user + times.system)

    def _counted(self) -> int:
        """RPCs that ask for something, of the only user there is (the daemons of the sandbox are the same user's)."""
        text = self.place.run("sdiag")
        kinds, _, users = text.partition("statistics by user")
        self.user = next(iter(_RPC.findall(users)), ("", ""))[0]
        return sum(int(count) for name, count in _RPC.findall(kinds) if _QUESTIONS.fullmatch(name) and name not in _OWN)

    @property
    def cpu(self) -> float:
        """CPU seconds so far."""
        return self._seconds() - self._cpu

    @property
    def seconds(self) -> float:
        """How long it has counted."""
        return time.time() - self.began

    @property
    def questions_a_minute(self) -> float:
        """The RPCs that asked for something."""
        return (self._counted() - self._questions) * 60 / self.seconds

    def calls(self) -> list[Call]:
        """The calls of SLURM's commands."""
        return self.place.calls(self.began)


def cost_of_a_poll(place: Place, polls: int = 3) -> dict[str, float]:
    """What one squeue of the console costs itself and slurmctld, when nothing else is asked."""
    environment = {**place.environment, "SLURM_TIME_FORMAT": "%s"}
    usage, size, controller = 0.0, 0, Controller(place)
    answer = place.folder / "answer"
    for _ in range(polls):
        into = (os.POSIX_SPAWN_OPEN, 1, str(answer), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        pid = os.posix_spawnp(SQUEUE[0], SQUEUE, environment, file_actions=[into])
        _, _, used = os.wait4(pid, 0)
        usage += used.ru_utime + used.ru_stime
        size = answer.stat().st_size
    return {
        "squeue_cpu_s": round(usage / polls, 3),
        "slurmctld_cpu_s": round(controller.cpu / polls, 3),
        "answer_mb": round(size / 1e6, 2),
    }


def at_rest(place: Place, seconds: float) -> float:
    """CPU seconds a second of slurmctld while nobody asks anything: scheduling and writing its state."""
    controller = Controller(place)
    time.sleep(seconds)
    return controller.cpu / controller.seconds


def told(controller: Controller, base: float) -> dict[str, Any]:
    """What was asked of the controller by now; ``base`` is what it uses by itself."""
    seconds, cpu = controller.seconds, controller.cpu
    return {
        "commands_minute": round(len(controller.calls()) * 60 / seconds, 1),
        "rpcs_minute": round(controller.questions_a_minute, 1),
        "slurmctld_cpu": round(max(0.0, 100 * (cpu / seconds - base)), 2),
    }
