"""Records what a real SLURM of some version says of nodes, ended jobs and shares, for the tests of those readers.

Run as root beside a SLURM in a chroot, with slurmdbd, priority/multifactor, nodes n1 to n4 and gpu1, gpu2 and a user
``alice`` in the accounts ``research`` and ``teaching``:

    python tests/data/slurm/record_cluster.py CHROOT tests/data/slurm/VERSION

It drains, stops and reserves nodes, submits jobs, requeues one and lets some fail, and keeps the bytes of sinfo, squeue,
sacct, sshare and sacctmgr together with the columns that were asked for. Takes about four minutes, most of them the
two that SLURM lets a requeued job wait.
"""

# ruff: noqa: E501, T201 - tables of commands read better on one line each; a tool prints
from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

from slurmtui.sources.slurm import history, nodes_reader, shares

RUN_ID = "0b7cbd0d-6f3a-4a53-9d6a-2f6f0a3f9a10"
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/home/alice", "SLURM_CONF": "/sb/slurm.conf",
    "LC_ALL": "C.UTF-8", "SLURM_TIME_FORMAT": "%s",
}  # fmt: skip
ROOT_SETS = (
    ("update", "nodename=n3", "state=drain", "reason=bad |disk\n\x1b[31m名"),
    (
        "create",
        "reservation",
        "reservationname=m",
        "starttime=now",
        "duration=60",
        "flags=maint,ignore_jobs",
        "nodes=gpu2",
        "users=root",
    ),
)
JOBS = (
    ("requeued", ("-p", "batch", "-w", "n2", "-J", "re|q\n0b7cbd0d", f"--comment=slurmtui:{RUN_ID}", "--requeue"), "sleep 15"),
    ("draining", ("-p", "batch", "-w", "n1", "-c3", "--mem=500", "-J", "drains"), "sleep 600"),
    ("failed", ("-p", "debug", "-J", "train-0b7cbd0d", "--mem=100", "-w", "n2"), "exit 3"),
    ("array", ("-p", "batch", "--array=1-3", "--mem=100", "-w", "n2"), "exit 0"),
    ("gpus", ("-p", "gpu", "-w", "gpu1", "--gres=gpu:a100:2", "-c2", "--mem=1000"), "sleep 1"),
    ("held", ("-p", "batch", "-H"), "exit 0"),
    ("running", ("-p", "gpu", "-w", "gpu1", "--gres=gpu:a100:1", "-c2", "--mem=1000", "-J", "on gpu1"), "sleep 600"),
    ("waiting", ("-p", "batch", "--array=0-9%1", "-H", "--mem=100"), "exit 0"),
)  # fmt: skip


class Recorder:
    """Talks to the SLURM in one chroot and keeps what it says."""

    def __init__(self, root: str, folder: str) -> None:
        self.root, self.folder = root, Path(folder)
        self.words: dict[str, object] = {}

    def run(
        self, *argv: str, user: str = "alice", env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a command in the chroot."""
        command = ("chroot", f"--userspec={user}:{user}", self.root, *argv)
        return subprocess.run(
            command, capture_output=True, env={**ENVIRONMENT, **(env or {})}, check=False, timeout=120
        )

    def keep(self, name: str, asked: str, *argv: str) -> None:
        """Run a command and keep what it wrote."""
        finished = self.run(*argv)
        if finished.returncode or finished.stderr:
            print(name, finished.returncode, finished.stderr.decode(), file=sys.stderr)
        (self.folder / f"{name}.format").write_text(asked + "\n")
        (self.folder / f"{name}.out").write_bytes(finished.stdout)

    def say(self, name: str, *argv: str, env: dict[str, str] | None = None) -> None:
        """Keep everything that was answered to a command that fails."""
        finished = self.run(*argv, env=env)
        self.words[name] = {
            "argv": argv, "code": finished.returncode, "stdout": finished.stdout.decode(), "stderr": finished.stderr.decode()
        }  # fmt: skip

    def wait(self, job_id: str, state: str, seconds: int = 240) -> None:
        """Wait until a job is in a state."""
        for _ in range(seconds * 2):
            if state in self.run("squeue", "-h", "-t", "all", "-j", job_id, "-O", "State:20").stdout.decode().split():
                return
            time.sleep(0.5)
        print(job_id, "never came to", state, file=sys.stderr)


def main(root: str, folder: str) -> None:
    """Record one version."""
    recorder = Recorder(root, folder)
    began = int(time.time()) - 5
    for words in ROOT_SETS:
        recorder.run("scontrol", *words, user="root")
    ids = {}
    for name, options, work in JOBS:
        finished = recorder.run("sbatch", "--parsable", "-D", "/home/alice", "-t", "20", *options, f"--wrap={work}")
        print(name, finished.stdout.decode().strip(), finished.stderr.decode().strip())
        ids[name] = finished.stdout.decode().strip()
    recorder.wait(ids["requeued"], "RUNNING")
    recorder.wait(ids["draining"], "RUNNING")
    time.sleep(8)  # else slurmdbd never learns that it ran
    recorder.run("scontrol", "update", "nodename=n1", "state=drain", "reason=after its job", user="root")
    recorder.run("scontrol", "requeue", ids["requeued"])
    recorder.run("scancel", ids["held"], user="root")
    recorder.wait(ids["requeued"], "COMPLETED")
    recorder.wait(ids["running"], "RUNNING")
    time.sleep(15)  # slurmctld tells slurmdbd with a delay
    recorder.run("scontrol", "update", "nodename=n4", "state=down", "reason=fan [x]", user="root")
    version = recorder.run("sinfo", "--version").stdout.decode().split()[-1]
    asked = nodes_reader.nodes_layout().asked()
    if version.startswith("20."):
        asked = asked.replace(f"{nodes_reader.STATE_WITH_FLAGS}:128,", "")
    recorder.keep("node_list", asked, "sinfo", "-h", "-N", "-O", asked)
    recorder.keep("job_counts", nodes_reader.COUNTS.asked(), "squeue", "-h", "-r", "-O", nodes_reader.COUNTS.asked())
    until = int(time.time())
    asked = history.HISTORY.asked_left()
    span = ("-S", f"uts{began}", "-E", f"uts{until}", "-s", history.STATES)
    recorder.keep("past", asked, "sacct", "-n", "-X", "-D", "-u", "alice", *span, "-o", asked)
    asked = shares.SHARES.asked_left()
    recorder.keep("shares", asked, "sshare", "-h", "-U", "-u", "alice", "-o", asked)
    asked = shares.ASSOCIATIONS.asked_left()
    recorder.keep("limits", asked, "sacctmgr", "-n", "show", "assoc", "where", "user=alice", f"format={asked}")
    asked = shares.QUALITIES.asked_left()
    recorder.keep("qos", asked, "sacctmgr", "-n", "show", "qos", "where", "name=normal,long", f"format={asked}")
    old = f"uts{until - 86400}"
    recorder.say("too_wide", "sacct", "-n", "-X", "-u", "alice", "-S", old, "-E", f"uts{until}", "-s", "CD")
    off = {"SLURM_CONF": "/sb/off.conf"}
    recorder.say("off", "sacct", "-n", "-X", env=off)
    recorder.say("manager_off", "sacctmgr", "-n", "show", "assoc", env=off)
    recorder.say("no_field", "sinfo", "-h", "-O", "NoSuchField:8")
    (recorder.folder / "cluster_words.json").write_text(json.dumps(recorder.words, indent=1) + "\n")
    recorder.run("scancel", "-u", "alice", user="root")


if __name__ == "__main__":
    main(*sys.argv[1:])
