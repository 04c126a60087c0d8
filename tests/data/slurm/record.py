"""Records what a real SLURM of some version says, for the tests of the readers.

Run as root beside a SLURM in a chroot, whose user ``alice`` owns /home/alice:

    python tests/data/slurm/record.py CHROOT tests/data/slurm/VERSION

It submits jobs with hostile names, arrays, het and GPU jobs, waits until they show what is wanted, and keeps squeue's,
scontrol's, sacct's and sinfo's bytes together with the columns that were asked for (``queue.format`` …), so that the
recordings stay of use when a width changes. At the end it ends slurmdbd and slurmctld, to keep what is said without
them. Takes about four minutes a version.
"""

# ruff: noqa: E501, T201 - tables of commands read better on one line each; a tool prints
from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from slurmtui.models.job_table import QUEUE
from slurmtui.sources.slurm.accounting import ENDED
from slurmtui.sources.slurm.cluster import PARTITIONS
from slurmtui.sources.slurm.detail import WIDE

ENVIRONMENT = {
    "PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/home/alice", "USER": "alice", "SLURM_CONF": "/sb/slurm.conf",
    "LC_ALL": "C.UTF-8", "SLURM_TIME_FORMAT": "%s", "SLURM_BITSTR_LEN": "0",
}  # fmt: skip
RUN_ID = "0b7cbd0d-6f3a-4a53-9d6a-2f6f0a3f9a10"
SCRIPT = "#!/bin/sh\nsleep ${1:-300}\nexit ${2:-0}\n"

# What each job is there for, and sbatch's options. "{x}" is replaced by the id of the job kept as x.
JOBS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("hostile", ("-J", "h\n|\x1f\x1b[31m名前😀" + "x" * 80, f"--comment=slurmtui:{RUN_ID}")),
    (
        "forged",
        ("-J", "f\n   UserId=root(0)\n   StdOut=/etc/passwd JobState=FAILED", "--comment=c\n   StdOut=/etc/shadow\n"),
    ),
    ("markup", ("-J", "x[/y] [red]a|b,c\td", "--comment=[b")),
    ("cjk", ("-J", "名" * 40, "-o", "/home/alice/logs/名.out")),
    ("exact", ("-J", "e" * 64)),
    (
        "spaces",
        ("-J", "  two  words  ", "-o", "/home/alice/my logs/$(x) ;'\"%x-%j.out", "-e", "/home/alice/logs/%j.err"),
    ),
    ("none", ("-J", "None", "-o", "/dev/null")),
    ("array", ("-J", "arr", "--array=0-19%3", "-o", "/home/alice/logs/%x-%A_%4a.out")),
    ("sparse", ("-J", "sparse", "--array=" + ",".join(str(n) for n in range(1, 80, 2)) + "%5", "-H")),
    ("stepped", ("-J", "stepped", "--array=0-9,12-40:4%2", "-H")),
    ("gpu_typed", ("-J", "gpu typed", "-p", "gpu", "--gres=gpu:a100:2")),
    ("gpus", ("-J", "gpus", "-p", "gpu", "--gpus=1")),
    ("gpu_waiting", ("-J", "gpu waiting", "-p", "gpu", "--gres=gpu:4", "-t", "3-00:00:00")),
    ("held", ("-J", "held", "-H")),
    ("later", ("-J", "later", "--begin=now+2hours")),
    ("after", ("-J", "after", "--dependency=afterok:{hostile}")),
    ("two_nodes", ("-J", "two nodes", "-p", "batch", "-N", "2", "--comment=slurmtui:other")),
    ("percent", ("-J", "percent", "-o", "/home/alice/logs/100%%-%N-%u-%j.out")),
)
ENDING: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("done", ("-J", "done|\nwell"), ("1",)),
    ("failed", ("-J", "failed"), ("1", "3")),
    ("cancelled", ("-J", "cancelled"), ("300",)),
    ("cancelled_waiting", ("-J", "cancelled waiting", "-H"), ("300",)),
    ("late", ("-J", "late", "-t", "1"), ("300",)),
    ("requeued", ("-J", "requeued", "--requeue"), ("6",)),
    ("node_fail", ("-J", "node fail", "-p", "batch", "-w", "n3", "--no-requeue"), ("300",)),
    ("ended_array", ("-J", "ended array", "--array=1-3"), ("1",)),
)


class Recorder:
    """Talks to the SLURM in one chroot and keeps what it says."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.root = root
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def run(
        self, *argv: str, user: str = "alice", env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a command in the chroot."""
        command = ("chroot", f"--userspec={user if ':' in user else f'{user}:{user}'}", str(self.root), *argv)
        environment = {**ENVIRONMENT, **(env or {})}
        return subprocess.run(command, capture_output=True, env=environment, check=False, timeout=120)

    def begin(self, *argv: str) -> None:
        """Start a command that goes on."""
        command = ("chroot", "--userspec=alice:alice", str(self.root), *argv)
        null = subprocess.DEVNULL
        subprocess.Popen(command, env=ENVIRONMENT, stdin=null, stdout=null, stderr=null, start_new_session=True)

    def end(self, name: str) -> None:
        """End a daemon and wait until it is gone."""
        pid = int((self.root / "sb" / name).read_text())
        os.kill(pid, signal.SIGTERM)
        while Path(f"/proc/{pid}").exists():
            time.sleep(0.1)

    def keep(self, name: str, *argv: str, env: dict[str, str] | None = None) -> bytes:
        """Run a command and keep what it wrote."""
        finished = self.run(*argv, env=env)
        if finished.returncode:
            print(name, argv, finished.stderr.decode(), file=sys.stderr)
        (self.folder / name).write_bytes(finished.stdout)
        return finished.stdout

    def said(self, *argv: str, user: str = "alice") -> dict[str, object]:
        """Run a command; all that it answered."""
        finished = self.run(*argv, user=user, env={"SLURM_TIME_FORMAT": "standard"})
        out, err = finished.stdout.decode(), finished.stderr.decode()
        return {"argv": argv, "code": finished.returncode, "stdout": out, "stderr": err}

    def sbatch(self, options: tuple[str, ...], script: str, arguments: tuple[str, ...] = ()) -> str:
        """Submit a job; its id."""
        common = ("--parsable", "-D", "/home/alice", "--mem=50", "-t", "20")
        finished = self.run("sbatch", *common, *options, script, *arguments)
        if finished.returncode:
            sys.exit(f"{options}: {finished.stderr.decode()}")
        return finished.stdout.decode().strip().partition(";")[0]

    def wait(self, job_id: str, *states: str) -> None:
        """Wait until a job is in one of ``states``."""
        for _ in range(1200):
            said = self.run("squeue", "-h", "-t", "all", "-j", job_id, "-O", "State:20").stdout.decode().split()
            if set(said) & set(states):
                return
            time.sleep(0.1)
        print(job_id, "never came to", states, file=sys.stderr)


def submit(recorder: Recorder) -> dict[str, str]:
    """Submit everything; the ids by purpose."""
    ids: dict[str, str] = {}
    for purpose, options, arguments in ENDING:
        ids[purpose] = recorder.sbatch(options, "/home/alice/job.sh", arguments)
    recorder.wait(ids["cancelled"], "RUNNING")
    recorder.run("scancel", ids["cancelled"], ids["cancelled_waiting"])
    recorder.wait(ids["requeued"], "RUNNING")
    recorder.run("scontrol", "requeue", ids["requeued"])
    recorder.wait(ids["node_fail"], "RUNNING")
    recorder.run("scontrol", "update", "nodename=n3", "state=down", "reason=test", user="root")
    recorder.wait(ids["node_fail"], "NODE_FAIL")
    recorder.run("scontrol", "update", "nodename=n3", "state=resume", user="root")
    for purpose, options in JOBS:
        ids[purpose] = recorder.sbatch(
            tuple(option.format(**ids) if "{" in option else option for option in options), "/home/alice/job.sh"
        )
    het = recorder.run(
        "sbatch", "--parsable", "-D", "/home/alice", "-J", "het", "--mem=50", "-p", "debug", "-o", "/home/alice/logs/het-%j.out",
        ":", "-p", "batch", "-c", "2", "--mem=60", "/home/alice/job.sh",
    )  # fmt: skip
    ids["het"] = het.stdout.decode().strip().partition(";")[0]
    recorder.begin("srun", "-J", "interactive", "-p", "batch", "--mem=50", "-D", "/home/alice", "sleep", "300")
    for _ in range(100):
        found = recorder.run("squeue", "-h", "-n", "interactive", "-t", "R", "-O", "JobID:12").stdout.decode().strip()
        if found:
            ids["interactive"] = found
            break
        time.sleep(0.1)
    return ids


def record(recorder: Recorder, ids: dict[str, str]) -> None:
    """Keep the answers of every command the program asks."""
    recorder.wait(ids["het"], "RUNNING")
    recorder.wait(ids["hostile"], "RUNNING")
    for name, layout, argv in (
        ("queue", QUEUE, ("squeue", "-h", "-a")),
        ("partitions", PARTITIONS, ("sinfo", "-h", "-e")),
    ):
        (recorder.folder / f"{name}.format").write_text(layout.asked() + "\n")
        recorder.keep(f"{name}.out", *argv, "-O", layout.asked())
    (recorder.folder / "wide.format").write_text(WIDE.asked() + "\n")
    standard = {"SLURM_TIME_FORMAT": "standard"}
    tasks = {
        "array": f"{ids['array']}_1",
        "array_waiting": f"{ids['array']}_15",
        "het_1": f"{ids['het']}+1",
        "het_0": f"{ids['het']}+0",
    }
    shown = {purpose: ids[purpose] for purpose, _ in JOBS if purpose not in {"array", "sparse", "stepped"}} | tasks
    shown["interactive"] = ids["interactive"]
    wide = []
    for purpose, job_id in shown.items():
        answer = recorder.run("squeue", "-h", "-a", "-t", "all", "-j", job_id, "-O", WIDE.asked()).stdout
        wide.append((purpose, len(answer)))
        with gzip.GzipFile(recorder.folder / "wide.out.gz", "ab" if len(wide) > 1 else "wb", mtime=0) as file:
            file.write(answer)
        recorder.keep(f"show-{purpose}.out", "scontrol", "show", "job", job_id, env=standard)
    (recorder.folder / "wide.json").write_text(json.dumps(wide) + "\n")
    recorder.keep("nodes.out", "scontrol", "show", "node", env=standard)
    config = recorder.keep("config.out", "scontrol", "show", "config", env=standard).decode()
    wanted = [
        line for line in config.splitlines() if line.startswith(("ClusterName", "SLURM_VERSION", "Configuration"))
    ]
    (recorder.folder / "config.out").write_text("\n".join(wanted) + "\n")
    recorder.wait(ids["late"], "TIMEOUT")
    recorder.wait(ids["requeued"], "COMPLETED")
    time.sleep(12)  # slurmctld tells slurmdbd with a delay
    (recorder.folder / "ended.format").write_text(ENDED.asked_left() + "\n")
    recorder.keep("ended.out", "sacct", "-n", "-j", ",".join(ids.values()), "-o", ENDED.asked_left())
    (recorder.folder / "ids.json").write_text(json.dumps({**ids, **tasks}, indent=1) + "\n")


def record_words(recorder: Recorder, ids: dict[str, str]) -> None:
    """Keep what SLURM says when something is wrong, and what it says on submission."""
    cases = {
        "squeue_purged": ("squeue", "-h", "-j", "99999"),
        "squeue_one_purged": ("squeue", "-h", "-j", f"99999,{ids['held']}", "-O", "JobArrayID:20"),
        "scontrol_purged": ("scontrol", "show", "job", "99999"),
        "scancel_purged": ("scancel", "99999"),
        "scancel_purged_two": ("scancel", "99998", "99999"),
        "scancel_bad_id": ("scancel", "12x"),
        "scancel_ended": ("scancel", ids["done"]),
        "squeue_bad_field": ("squeue", "-h", "-O", "NoSuchField:10"),
        "sbatch_bad_partition": ("sbatch", "-p", "nowhere", "/home/alice/job.sh"),
        "sbatch_bad_account": ("sbatch", "-A", "nobody", "/home/alice/job.sh"),
        "sbatch_too_long": ("sbatch", "-p", "debug", "-t", "3-00:00:00", "/home/alice/job.sh"),
        "sbatch_too_much": ("sbatch", "-p", "debug", "--mem=1T", "/home/alice/job.sh"),
        "sbatch_no_file": ("sbatch", "/home/alice/nothing.sh"),
        "test_only": ("sbatch", "--test-only", "-t", "5", "--mem=50", "/home/alice/job.sh"),
        "test_only_two_nodes": (
            "sbatch",
            "--test-only",
            "-t",
            "5",
            "--mem=50",
            "-p",
            "batch",
            "-N",
            "2",
            "/home/alice/job.sh",
        ),
        "test_only_refused": ("sbatch", "--test-only", "--mem=1T", "/home/alice/job.sh"),
        "sacct_bad_field": ("sacct", "-n", "-o", "NoSuchField"),
    }
    said = {}
    for name, argv in cases.items():
        said[name] = recorder.said(*argv)
    other = recorder.sbatch(("-H", "-J", "other"), "/home/alice/job.sh")
    said["scancel_not_owner"] = recorder.said("scancel", other, ids["held"], user="nobody:nogroup")
    recorder.run("scancel", "-u", "alice", user="root")
    recorder.end("slurmdbd.pid")
    said["accounting_down"] = recorder.said("sacct", "-n", "-j", ids["done"])
    said["accounts_down"] = recorder.said(
        "sacctmgr", "-n", "-P", "show", "associations", "user=alice", "format=account"
    )
    recorder.end("slurmctld.pid")
    said["controller_down"] = recorder.said("squeue", "-h")
    said["submit_down"] = recorder.said("sbatch", "/home/alice/job.sh")
    (recorder.folder / "words.json").write_text(json.dumps(said, indent=1) + "\n")


def main(root: str, folder: str) -> None:
    """Record one version."""
    recorder = Recorder(Path(root), Path(folder))
    home = recorder.root / "home/alice"
    for name in ("logs", "my logs"):
        (home / name).mkdir(exist_ok=True)
    (home / "job.sh").write_text(SCRIPT)
    recorder.run("chown", "-R", "alice:alice", "/home/alice", user="root")
    recorder.run("chmod", "755", "/home/alice/job.sh", user="root")
    ids = submit(recorder)
    record(recorder, ids)
    record_words(recorder, ids)


if __name__ == "__main__":
    main(*sys.argv[1:])
