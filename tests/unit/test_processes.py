"""What a process tells of itself, also while it is just beginning."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from slurmtui.sources import processes
from slurmtui.sources.processes import command_line, environment_of

if TYPE_CHECKING:
    from collections.abc import Iterator

WORDS = ["sleep", "60"]


def kernels_name() -> str:
    """What the first process of the kernel is called; in a container that number is anybody's."""
    told = Path("/proc/2/comm")
    return told.read_text().strip() if told.exists() else ""


@pytest.fixture
def bare() -> Iterator[psutil.Process]:
    """A process that was given an empty environment."""
    with subprocess.Popen(WORDS, env={}) as process:
        yield psutil.Process(process.pid)
        process.kill()


class JustBegun(psutil.Process):
    """What a busy machine shows of a process in the middle of ``execve``, for two looks: nothing."""

    looks = 2

    def _hidden(self) -> bool:
        self.looks -= 1
        return self.looks >= 0

    def cmdline(self) -> list[str]:
        return [] if self._hidden() else super().cmdline()

    def environ(self) -> dict[str, str]:
        return {} if self._hidden() else super().environ()


@pytest.mark.parametrize("kind", [psutil.Process, JustBegun])
def test_a_process_that_began_this_moment_tells_who_it_is(
    monkeypatch: pytest.MonkeyPatch, kind: type[psutil.Process]
) -> None:
    monkeypatch.setattr(processes, "_BEGIN_SECONDS", 30.0)  # on however busy a machine
    with subprocess.Popen(WORDS, env={**os.environ, "NUMBER": "7"}) as process:
        told = environment_of(kind(process.pid)).get("NUMBER"), command_line(kind(process.pid))
        process.kill()
    assert told == ("7", WORDS)


def test_an_environment_that_is_empty_for_good_is_not_awaited(
    monkeypatch: pytest.MonkeyPatch, bare: psutil.Process
) -> None:
    assert command_line(bare) == WORDS
    monkeypatch.setattr(time, "sleep", lambda _: pytest.fail("it was awaited"))
    assert environment_of(bare) == {}


def test_a_process_that_is_gone_raises_what_psutil_raises(bare: psutil.Process) -> None:
    bare.kill()
    bare.wait()
    with pytest.raises(psutil.NoSuchProcess):
        environment_of(bare)


@pytest.mark.skipif(kernels_name() != "kthreadd", reason="the processes of the kernel are not to be seen here")
def test_a_process_of_the_kernel_is_not_awaited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "sleep", lambda _: pytest.fail("it was awaited"))
    assert command_line(psutil.Process(2)) == []


@pytest.mark.skipif(kernels_name() != "kthreadd", reason="the processes of the kernel are not to be seen here")
def test_nor_by_somebody_who_may_not_know_its_program(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: psutil.Process) -> str:
        raise psutil.AccessDenied(self.pid)

    monkeypatch.setattr(psutil.Process, "exe", refuse)
    assert command_line(psutil.Process(2)) == []
