"""Stands as ``sbatch`` first on the PATH of a run: marks each job with its run and writes down what SLURM answered.

Otherwise it is what it stands for: same arguments, stdin, stdout, stderr, exit code. It is run by ``python -I -S``, so
it knows the standard library alone; the text of this file is copied into the run folder's ``bin``.
"""

# ruff: noqa: PTH113, PTH118, PTH119, PTH120, PTH123
# (os.path throughout: pathlib takes as long to import as everything else here)

import json
import os
import re
import selectors
import signal
import subprocess
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_SUBMITTED = re.compile(rb"^Submitted batch job (\d+)", re.MULTILINE)
_PARSABLE = re.compile(rb"^(\d+)(?:;\S*)?\s*$", re.MULTILINE)
_ASKS_ONLY = {"--test-only", "--help", "-h", "--usage", "--version", "-V"}
# sbatch's options that have no value, or none but behind a "="; all others take the next argument.
_FLAGS = (
    "contiguous", "consolidate-segments", "exclusive", "external", "get-user-env", "help", "hold", "ignore-pbs",
    "no-kill", "no-requeue", "nice", "oom-kill-step", "overcommit", "oversubscribe", "parsable", "propagate", "quiet",
    "reboot", "requeue", "resv-ports", "share", "spread-job", "spread-segments", "stepmgr", "test-only", "usage",
    "use-min-nodes", "verbose", "version", "wait",
)  # fmt: skip
_FLAG_LETTERS = "hHIkOQsuvVW"
_SECRET = re.compile(r"PREFECT_.*(AUTH_STRING|API_KEY|PASSWORD|CONNECTION_URL|TOKEN|CUSTOM_HEADERS)$")
_KEPT_OF_SLURM = ("SLURM_CONF", "SLURM_JWT", "SLURM_CLUSTERS")
_KEPT_WORDS = 2000
_KEPT_SCRIPT = 65536


def real_sbatch(own_folder: str, path: str) -> "str | None":
    """The next sbatch on PATH that does not lie in a run's bin folder like this one."""
    for folder in path.split(os.pathsep):
        candidate = os.path.join(folder or ".", "sbatch")
        if os.path.realpath(folder or ".") != own_folder and os.access(candidate, os.X_OK):
            return candidate
    return None


def job_environment(environment: "Mapping[str, str]") -> "dict[str, str]":
    """What goes along with the job: no passwords, and nothing of the job that this call may be made in."""
    return {
        name: value
        for name, value in environment.items()
        if not _SECRET.match(name) and (not name.startswith("SLURM_") or name in _KEPT_OF_SLURM)
    }


def script_at(arguments: "Sequence[str]") -> int:
    """Where the script stands among the arguments, or their number: what follows is the script's own."""
    number = 0
    while number < len(arguments):
        argument = arguments[number]
        if argument == "--":
            return number + 1
        if not argument.startswith("-") or argument == "-":
            return number
        number += 2 if _takes_next(argument) else 1
    return len(arguments)


def _takes_next(option: str) -> bool:
    """Whether the option's value is the next argument."""
    if option.startswith("--"):
        # An option may be cut short as long as it is the only one that begins so.
        return "=" not in option and not any(flag.startswith(option[2:]) for flag in _FLAGS)
    letters = option[1:].lstrip(_FLAG_LETTERS)  # the first one that takes a value has the rest, if there is one
    return len(letters) == 1


def has_comment(options: "Sequence[str]", script: "str | None") -> bool:
    """Whether the caller gives the job a comment, on the command line or in the script."""
    if any(option == "--comment" or option.startswith("--comment=") for option in options):
        return True
    if script is None or not os.path.isfile(script):
        return False
    with open(script, "rb") as content:
        return re.search(rb"^#SBATCH\s.*--comment", content.read(65536), re.MULTILINE) is not None


def record(folder: str, code: int, job_id: "str | None", said: str) -> None:
    """Append one line to the run's submissions.jsonl, in one write."""
    entry = {
        "time": time.time(),
        "code": code,
        "job_id": job_id,
        "said": said.strip()[-_KEPT_WORDS:],
        "attempt": int(os.environ.get("SLURMTUI_ATTEMPT") or 1),
        "by": os.environ.get("SLURMTUI_SUBMITTER", ""),
    }
    try:
        handle = os.open(os.path.join(folder, "submissions.jsonl"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.write(handle, json.dumps(entry).encode() + b"\n")
        os.close(handle)
    except OSError as error:
        pass_on(2, f"slurmtui: this job could not be written down for its run: {error}\n".encode())


def keep_script(folder: str, script: "str | None") -> None:
    """Keep the first script of each attempt in the run's folder: what its jobs asked for can then be looked at."""
    attempt = int(os.environ.get("SLURMTUI_ATTEMPT") or 1)
    if script is None or not os.path.isfile(script):
        return
    try:
        with open(script, "rb") as stream:
            content = stream.read(_KEPT_SCRIPT)
        kept = os.path.join(folder, f"script-{attempt}.sh")
        handle = os.open(kept, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        os.write(handle, content)
        os.close(handle)
    except OSError:  # there is one already, or no room: the job is what matters
        return


def pass_on(stream: int, words: bytes) -> None:
    """Write all of it, or give it up when nobody is there to read it: what was submitted is submitted."""
    try:
        while words:
            words = words[os.write(stream, words) :]
    except OSError:
        return


def run(
    command: "Sequence[str]",
    environment: "Mapping[str, str]",
    names_job: "re.Pattern[bytes]",
    on_job: "Callable[[str], None]",
) -> "tuple[int, bool, str]":
    """Run the real sbatch and pass on what it says as it says it; ``names_job`` finds the job's id in that.

    Returns its exit code, whether it named a job, and its stderr.
    """
    (out, out_end), (err, err_end) = os.pipe(), os.pipe()
    child = subprocess.Popen(command, env=environment, stdout=out_end, stderr=err_end)
    os.close(out_end)
    os.close(err_end)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda received, _frame: child.send_signal(received))
    said = {out: b"", err: b""}
    passed_on = {out: 1, err: 2}
    known = False
    with selectors.DefaultSelector() as waiting:
        for stream in said:
            waiting.register(stream, selectors.EVENT_READ)
        while waiting.get_map():
            for key, _ in waiting.select():
                piece = os.read(key.fd, 65536)
                if not piece:
                    waiting.unregister(key.fd)
                    continue
                said[key.fd] += piece
                found = None if known else names_job.search(said[out])
                if found:  # first of all: who called may be gone, and then this alone tells of the job
                    known = True
                    on_job(found.group(1).decode())
                pass_on(passed_on[key.fd], piece)
    return child.wait(), known, said[err].decode("utf-8", "replace")


def main() -> int:
    """Submit, mark and write down; return sbatch's exit code."""
    own_folder = os.path.dirname(os.path.realpath(sys.argv[0]))
    run_folder = os.path.dirname(own_folder)
    arguments = sys.argv[1:]
    sbatch = real_sbatch(own_folder, os.environ.get("PATH", os.defpath))
    if sbatch is None:
        sys.stderr.write("sbatch: command not found on PATH behind slurmtui's own\n")
        record(run_folder, 127, None, "sbatch: command not found")
        return 127
    environment = job_environment(os.environ)
    begin = script_at(arguments)
    options, script = arguments[:begin], next(iter(arguments[begin:]), None)
    if _ASKS_ONLY.intersection(options):
        os.execve(sbatch, [sbatch, *arguments], environment)  # noqa: S606 - it becomes the real one
    mark = [] if has_comment(options, script) else ["--comment=slurmtui:" + os.path.basename(run_folder)]
    keep_script(run_folder, script)
    names_job = _PARSABLE if any(option.startswith("--pars") for option in options) else _SUBMITTED
    command = [sbatch, *mark, *arguments]
    code, known, said = run(command, environment, names_job, lambda job_id: record(run_folder, 0, job_id, ""))
    if not known:
        record(run_folder, code, None, said)
    return code


if __name__ == "__main__":
    sys.exit(main())
