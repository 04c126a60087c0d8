"""One process per flow run: ``python -m slurmtui.flows.driver RUN_FOLDER``.

It takes the run, puts the environment in place, loads the flow and runs it in this process with Prefect's own engine,
under the id that the run has in Prefect. Beside the flow a thread watches for the end that somebody asks for. At the
end nothing of the run is left in the queue. Exit code 0: completed; 1: anything else.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import shutil
import signal
import stat
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import psutil

from slurmtui import paths
from slurmtui.control.run_folder import LOG_FILE, install_wrapper
from slurmtui.errors import FlowError, RunFolderError, SlurmtuiError
from slurmtui.flows import again, job_logs, jobs, run_files, state
from slurmtui.flows.control_channel import ControlChannel
from slurmtui.flows.environment import driver_environment
from slurmtui.flows.leaving import leave, log_to_stderr
from slurmtui.flows.trace import last_line
from slurmtui.flows.watcher import Watcher
from slurmtui.sources.run_folder import read_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType

    from slurmtui.flows.state import RunState
    from slurmtui.models.run_record import DriverRecord, RunSpec

_log = logging.getLogger("slurmtui.driver")


class Terminated(BaseException):
    """SIGTERM came while Prefect's engine was not there to handle it."""


class Driver:
    """One attempt of a run."""

    def __init__(self, folder: Path, spec: RunSpec, record: DriverRecord) -> None:
        self.folder, self.spec, self.record = folder, spec, record
        self.channel = ControlChannel()
        self.watcher = Watcher(
            folder, record, self.channel, engine_ends=self._engine_ends, give_up=self._end_without_the_flow
        )
        self.problem = ""
        self.again = False  # whether this process goes on with another attempt
        self._file = spec.entrypoint.rpartition(":")[0]
        self._ending = False
        self._closing = threading.Lock()
        self._signals = 0

    def run(self) -> int:
        """Run the flow to its end, whatever that is; return the exit code."""
        signal.signal(signal.SIGTERM, self._on_sigterm)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        os.environ["PREFECT_API_URL"] = self.spec.api_url
        try:
            self._prepare()
            self.watcher.start()
            self._execute()
        except Terminated:
            self.problem = "The driver was ended from outside (SIGTERM) before the flow had begun."
        except BaseException as error:  # noqa: BLE001 - whatever ends the flow, its end must be settled and written down
            self.problem = last_line(error, self._file)
            ended = type(error).__name__ == "TerminationSignal"
            _log.info("the flow %s", "was ended by a signal" if ended else f"ended with {self.problem}")
            if not self.channel.connected:  # so it was not the flow, of which the engine has told
                _log.info("this is where:", exc_info=error)
        finally:
            self._ending = True
        self.watcher.finish()
        return self._close()

    def _close(self) -> int:
        """Settle the state, clean up, write down the end; once."""
        with self._closing:
            final = self._settle()
            with _whatever_happens("its jobs could not be looked up, so some may be left in the queue"):
                self._clean_up()
            outcome = final.type or "UNKNOWN"
            words = final.message or self.problem
            ended = msgspec.structs.replace(self.record, ended=time.time(), outcome=outcome, message=words)
            if self.watcher.stop is None and not self._signals:
                with _whatever_happens("what ended it could not be found out, so it is not run again"):
                    ended = again.judged(self.folder, self.spec, ended)
            ended = self._write_down(ended)
            _log.info("the run ended: %s %s", outcome, words)
            self.again = bool(ended.again)
            return 0 if final.type == "COMPLETED" else 1

    def _write_down(self, ended: DriverRecord) -> DriverRecord:
        """Record the end; without room for it no other attempt follows, and Prefect alone tells of the end."""
        try:
            run_files.end_record(self.folder, ended)
        except OSError as error:
            _log.warning("the end could not be written down: %s", error)
            if ended.again:
                state.set_state(self.spec.id, ended.outcome or "FAILED", f"{ended.message} ({error})", force=True)
            return msgspec.structs.replace(ended, again="")
        return ended

    def _end_without_the_flow(self) -> None:
        """Called by the watcher when the flow does not follow: the main thread is given up."""
        code = 1
        try:
            code = self._close()
        finally:
            os._exit(code)

    def _engine_ends(self) -> bool:
        held = state.read_state(self.spec.id, tries=1)
        return held.final or held.type == "CANCELLING"

    def _prepare(self) -> None:
        """Everything that must stand before Prefect and Dask are imported."""
        paths.private_folder(paths.state_folder() / "results")
        named = self.spec.profile.log_directory if self.spec.profile is not None else None
        job_logs.make_folder(self.folder, named, self.spec.job_name or self.spec.id)
        if not (self.folder / "bin" / "sbatch").exists():
            install_wrapper(self.folder, sys.executable)
        os.environ.update(driver_environment(self.spec, self.folder, self.record.attempt, os.environ))
        os.environ.update(self.channel.environment)
        if self.spec.directory and Path(self.spec.directory).is_dir():
            os.chdir(self.spec.directory)
        if self.record.attempt > 1:
            asyncio.run(jobs.cancel_leftovers(self._submitted()))

    def _execute(self) -> None:
        """Load the flow and run it; what goes wrong before the engine has the run ends in ``problem``."""
        from slurmtui.flows import engine  # Prefect is imported here, and not before

        execution = engine.Execution(self.spec.id)
        try:
            flow = engine.load_flow(self.spec.entrypoint)
        except (FlowError, engine.ScriptError) as error:
            cause = getattr(error, "user_exc", None) or error
            self.problem = last_line(cause, self._file)
            execution.logger.exception("The flow could not be loaded: %s", self.problem, exc_info=cause)
            return
        from slurmtui.flows.profile import run_profile_was_used

        default = engine.has_default_runner(flow) and self.spec.profile is not None
        self.record = msgspec.structs.replace(self.record, uses_profile=default or run_profile_was_used())
        run_files.write_record(self.folder, self.record)
        if default and self.spec.profile is not None:
            from slurmtui.flows.runner import runner_for

            runner: Any = runner_for(self.spec.profile)
            flow.task_runner = runner
        execution.run(flow)

    def _settle(self) -> RunState:
        """See to it that Prefect holds the right final state, and return it."""
        held, stop = state.read_state(self.spec.id), self.watcher.stop
        if stop is not None and not stop.state:
            return held
        if stop is not None and held.type not in {stop.state, "COMPLETED"}:
            return state.set_state(self.spec.id, stop.state, stop.message, force=True)
        if stop is None and held.type in {"PENDING", "RUNNING", "CANCELLING"}:
            kind = "CRASHED" if self._signals else "FAILED"
            words = self.problem or "The driver ended, and the flow had not."
            return state.set_state(self.spec.id, kind, words, force=True)
        return held

    def _clean_up(self) -> None:
        """Leave no job of this run in the queue."""
        self.channel.close()
        shutil.rmtree(self.folder / "tls", ignore_errors=True)
        jobs.wait_for_submissions(self.folder)
        left = asyncio.run(jobs.cancel_leftovers(self._submitted()))
        if left:
            _log.info("cancelled what was left in the queue: %s", ", ".join(sorted(left)))

    def _submitted(self) -> jobs.Submitted:
        return jobs.submitted(self.folder, self.record.attempt)

    def _on_sigterm(self, _number: int, _frame: FrameType | None) -> None:
        """SIGTERM when Prefect's own handler is not in place, or has handed it on."""
        self._signals += 1
        if self._ending:
            if self._signals > 2:
                os._exit(1)
            return
        if not self.channel.connected:
            raise Terminated


@contextlib.contextmanager
def _whatever_happens(words: str) -> Iterator[None]:
    """A step of the end that may fail without keeping the driver from the next one: what it says goes to the log."""
    try:
        yield
    except (OSError, SlurmtuiError, psutil.Error) as error:
        _log.warning("%s: %s", words, error)


def _write_into_the_log(folder: Path) -> None:
    """Let stdout and stderr be a file: a terminal that goes away would make the flow's prints fail."""
    if not (_is_file(1) and _is_file(2)):
        handle = os.open(folder / LOG_FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.dup2(handle, 1)
        os.dup2(handle, 2)
    for name, number in (("stdout", 1), ("stderr", 2)):
        if getattr(sys, name) is None:  # it was closed when Python began
            setattr(sys, name, os.fdopen(number, "w"))
        getattr(sys, name).reconfigure(line_buffering=True, errors="backslashreplace")


def _is_file(number: int) -> bool:
    try:
        return stat.S_ISREG(os.fstat(number).st_mode)
    except OSError:
        return False


def main(arguments: Sequence[str]) -> int:
    """Take the run in the folder and drive it."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m slurmtui.flows.driver RUN_FOLDER\n")
        return 2
    folder, environment = Path(arguments[0]).absolute(), dict(os.environ)
    try:
        found = read_folder(folder)
        spec = msgspec.structs.replace(found.spec, profile=found.profile)
        job_id = os.environ.get("SLURM_JOB_ID") if spec.driver_kind == "slurm" else None
        record = run_files.take(folder, job_id=job_id)
    except RunFolderError as error:
        sys.stderr.write(f"slurmtui driver: {error}\n")
        return 1
    _write_into_the_log(folder)
    log_to_stderr("slurmtui.driver")
    driver = Driver(folder, spec, record)
    code = driver.run()
    if driver.again:
        again.start_over(folder, environment)
    return code


if __name__ == "__main__":
    leave(main(sys.argv[1:]))
