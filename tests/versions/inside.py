"""The first process of a private place in which the commands of another SLURM stand on PATH; runs a command there.

    python -m tests.versions.inside TREE WORK -- COMMAND…

The chroot gets what the commands need to see (/proc, /dev, /sys, /tmp, the working folder), and WORK/bin one wrapper a
program. Every path means the same inside and outside, so that nothing that uses SLURM notices. The mounts belong to
this place alone (:func:`tests.versions.processes.private`) and end with it.
"""

from __future__ import annotations

import os
import shlex
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = (
    "sacct", "sacctmgr", "salloc", "sattach", "sbatch", "sbcast", "scancel", "scontrol", "scrontab", "sdiag", "sinfo",
    "sprio", "squeue", "sreport", "srun", "sshare", "sstat", "strigger", "munge", "unmunge",
)  # fmt: skip
DAEMONS = ("munged", "slurmctld", "slurmd", "slurmdbd")
_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
_WRAPPER = '#!/bin/sh\nexec chroot {tree} /usr/bin/env -C "$PWD" PATH={path} {program} "$@"\n'
_NO_PROGRAM = '#!/bin/sh\necho "{program}: not in this release" >&2\nexit 127\n'


def mount(*options: str) -> None:
    """Mount something in this place."""
    subprocess.run(("mount", *options), check=True, timeout=60)


def open_tree(tree: Path, shared: Sequence[Path]) -> None:
    """Let those in the chroot see the machine's devices and processes, and these folders under their own names."""
    mount("-t", "proc", "proc", str(tree / "proc"))
    for name in ("dev", "sys"):
        mount("--rbind", f"/{name}", str(tree / name))
    for folder in shared:
        place = tree / folder.relative_to("/")
        place.mkdir(parents=True, exist_ok=True)
        mount("--rbind", str(folder), str(place))
    (tree / "etc/hosts").write_text(f"127.0.0.1 localhost {socket.gethostname()}\n")
    clock = Path("/etc/localtime")
    if clock.exists():
        (tree / "etc/localtime").unlink(missing_ok=True)
        shutil.copyfile(clock, tree / "etc/localtime")


def write_wrappers(tree: Path, folder: Path) -> None:
    """One script a program of SLURM's and munge's, so that none of the machine's own is ever found."""
    folder.mkdir()
    for name, place in (*((name, "bin") for name in COMMANDS), *((name, "sbin") for name in DAEMONS)):
        program = f"/usr/{place}/{name}"
        text = _WRAPPER if (tree / program[1:]).exists() else _NO_PROGRAM
        (folder / name).write_text(text.format(tree=shlex.quote(str(tree)), path=_PATH, program=program))
        (folder / name).chmod(0o755)


def main() -> None:
    """Prepare the place and become the command."""
    tree, work, _, *command = sys.argv[1:]
    shared = [Path("/tmp")]
    shared += [folder for folder in (Path(work), Path.cwd()) if Path("/tmp") not in folder.parents]
    open_tree(Path(tree), shared)
    write_wrappers(Path(tree), Path(work) / "bin")
    os.environ["PATH"] = f"{work}/bin:{os.environ['PATH']}"
    os.execvp(command[0], command)  # noqa: S606 - no shell is what is meant


if __name__ == "__main__":
    main()
