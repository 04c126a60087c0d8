"""A thread beside the flow: it notices what must end the run, and sees to it that the run ends.

It looks for a request to cancel (a file, so that it can be asked from any host that shares the file system), for a
refused sbatch, lost jobs or a lost shared cluster that leave the run waiting for ever, for another driver that took the
run, and for SIGTERM.

The end goes through Prefect's engine, which gets a SIGTERM of which it was told what it means. A flow that does not
follow (a task in a thread cannot be interrupted) gets another one, its jobs are cancelled, and then the driver is ended
without it.
"""

from __future__ import annotations

import asyncio
import logging
import os
import select
import signal
import socket
import threading
import time
from typing import TYPE_CHECKING

import msgspec

from slurmtui.errors import SlurmtuiError
from slurmtui.flows import control_channel, jobs, network_folder, refusal, run_files, shared_watch, stranded
from slurmtui.flows.ending import ENDING
from slurmtui.sources.run_folder import read_cancel

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from slurmtui.flows.control_channel import ControlChannel
    from slurmtui.models.run_record import DriverRecord

_LOOK_EVERY = 0.3
_LOOK_FOR_REFUSALS_EVERY = 2.0
_ACKNOWLEDGE_WITHIN = 2.0
_FOLLOW_WITHIN = 4.0  # seconds between the steps of an end that the flow does not follow
_FINISH_WITHIN = 60.0  # seconds for hooks, once the engine has begun to end the run

_log = logging.getLogger("slurmtui.driver")


class Stop(msgspec.Struct, frozen=True):
    """Why the run is being ended: the state it shall get (none: leave it) and what the state shall say."""

    state: str
    message: str
    intent: bytes = b""


TERMINATED = Stop("CRASHED", "Execution was aborted by a termination signal.")
"""SIGTERM from outside: a time limit, a shutdown. Prefect's engine says the same."""


class Watcher:
    """Watches one attempt; ``stop`` says why it is being ended.

    Args:
        folder: the run's folder.
        record: this attempt.
        channel: to the engine.
        engine_ends: whether the engine has begun to write the run's last states.
        give_up: ends the process when the flow does not follow; does not return.
    """

    def __init__(
        self,
        folder: Path,
        record: DriverRecord,
        channel: ControlChannel,
        *,
        engine_ends: Callable[[], bool],
        give_up: Callable[[], None],
    ) -> None:
        self.stop: Stop | None = None
        self._folder, self._record, self._channel = folder, record, channel
        self._engine_ends, self._give_up = engine_ends, give_up
        self._earlier = run_files.last_end(folder, record.attempt)
        self._refusals = refusal.Refusals(folder, record.attempt)
        self._stranded = stranded.Stranded(folder, record.attempt)
        self._shared = shared_watch.SharedWatch(folder, record.attempt)
        self._look_afresh = network_folder.refresher(folder)
        self._next: dict[str, float] = {}
        self._told: set[str] = set()
        self._over = threading.Event()
        self._signals, self._wakeup = socket.socketpair()
        self._signals.setblocking(False)
        self._wakeup.setblocking(False)
        self._thread = threading.Thread(target=self._watch, name="slurmtui-watcher", daemon=True)

    def start(self) -> None:
        """Begin to look; to be called on the main thread."""
        # Python writes each signal's number there, also while the handler is Prefect's.
        signal.set_wakeup_fd(self._wakeup.fileno(), warn_on_full_buffer=False)
        self._thread.start()

    def finish(self) -> None:
        """Look no more: the flow is through."""
        self._over.set()
        signal.set_wakeup_fd(-1)
        self._wakeup.close()
        if not self._thread.is_alive():
            self._signals.close()

    def _watch(self) -> None:
        while not self._over.is_set():
            if self._terminated():
                self._end(TERMINATED, begun=True)
                return
            stop = self._look()
            if stop is not None:
                self._end(stop)
                return

    def _look(self) -> Stop | None:
        """Look at what is due; the sign of life first, and whatever fails keeps nothing else from being looked at."""
        now = time.monotonic()
        for look, every in (
            (self._taken_from_us, run_files.TOUCH_EVERY),
            (self._asked_to_cancel, 0.0),
            (self._refused, _LOOK_FOR_REFUSALS_EVERY),
        ):
            if now < self._next.get(look.__name__, 0.0):
                continue
            self._next[look.__name__] = now + every
            try:
                stop = look()
            except Exception as error:  # noqa: BLE001 - a run that nobody watches could not even be cancelled
                self._tell_once(error)
                continue
            if stop is not None:
                return stop
        return None

    def _tell_once(self, error: Exception) -> None:
        """What fails may fail at each look."""
        if repr(error) not in self._told:
            self._told.add(repr(error))
            _log.error("a look at the run failed, and is tried again", exc_info=error)

    def _terminated(self) -> bool:
        """Wait for a signal, a moment long; True when it is SIGTERM."""
        if not select.select([self._signals], [], [], _LOOK_EVERY)[0]:
            return False
        return signal.SIGTERM in self._signals.recv(4096)

    def _asked_to_cancel(self) -> Stop | None:
        self._look_afresh()
        request = read_cancel(self._folder)
        if request is None or 0 < request.time <= self._earlier:
            return None  # nobody asked, or it was an earlier attempt that was meant
        return Stop("CANCELLED", "Flow run was cancelled.", control_channel.CANCEL)

    def _taken_from_us(self) -> Stop | None:
        """Touch the lock, and see whether another driver holds a newer one (this process was silent for long)."""
        try:
            os.utime(run_files.lock_file(self._folder, self._record.attempt))
        except OSError as error:
            _log.warning("the lock could not be touched: %s", error)
        if run_files.lock_file(self._folder, self._record.attempt + 1).exists():
            return Stop("", "another driver took this run", control_channel.RELINQUISH)
        return None

    def _refused(self) -> Stop | None:
        if words := self._refusals.for_good():
            return Stop("FAILED", f"sbatch refused: {words}", control_channel.RELINQUISH)
        words = self._stranded.for_good() or self._shared.for_good()
        return Stop("FAILED", words, control_channel.RELINQUISH) if words else None

    def _end(self, stop: Stop, *, begun: bool = False) -> None:
        """End the run; harder, if it does not follow."""
        self.stop = stop
        _log.warning("ending the run: %s", stop.message)
        if not begun:
            if not self._channel.tell(stop.intent, _ACKNOWLEDGE_WITHIN):
                _log.info("the engine did not acknowledge; it gets a plain SIGTERM")
            self._signal()
        ENDING.set()  # after the engine knows why: a thread that ends its task now must not pass for a crash
        if self._followed():
            return
        _log.warning("the flow does not follow; its jobs are cancelled, and it gets another SIGTERM")
        try:
            asyncio.run(jobs.cancel_leftovers(jobs.submitted(self._folder, self._record.attempt)))
        except (OSError, SlurmtuiError) as error:
            self._tell_once(error)
        self._signal()
        if self._followed():
            return
        _log.warning("the flow still does not follow; the driver ends without it")
        self._give_up()

    def _followed(self) -> bool:
        """Wait for the flow's end; longer once the engine is at it, for hooks may take their time."""
        if self._over.wait(_FOLLOW_WITHIN):
            return True
        return self._engine_ends() and self._over.wait(_FINISH_WITHIN)

    def _signal(self) -> None:
        # To the main thread itself, so that it is woken whatever it waits for.
        main = threading.main_thread().ident
        if main is not None and not self._over.is_set():
            signal.pthread_kill(main, signal.SIGTERM)
