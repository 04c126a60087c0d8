"""Looking at a flow's file without letting it do anything: for the processes that inspect and preview.

What the file prints goes to stderr, and stdout carries the one answer. A cluster that the file makes while it is
imported finds an sbatch that refuses.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any, NoReturn

import msgspec

from slurmtui.models.flow_info import LOOK_FOLDER

_REFUSING = "#!/bin/sh\necho 'slurmtui: nothing is submitted while a flow is only looked at' >&2\nexit 1\n"


class Looking:
    """Sets the process up for looking; ``answer`` ends it. ``folder`` is for what must be written meanwhile."""

    def __init__(self) -> None:
        self._stdout = os.dup(1)
        os.dup2(2, 1)
        given = os.environ.pop(LOOK_FOLDER, None)
        self._temporary = tempfile.TemporaryDirectory(prefix="slurmtui-look-", dir=given)
        self.folder = self._temporary.name
        for name in ("sbatch", "srun", "salloc"):
            command = Path(self.folder) / name
            command.write_text(_REFUSING)
            command.chmod(0o700)
        os.environ["PATH"] = os.pathsep.join([self.folder, os.environ.get("PATH", os.defpath)])
        os.environ["DO_NOT_TRACK"] = "1"
        # Nothing is asked of a server here; a temporary one must not be started either.
        os.environ.setdefault("PREFECT_API_URL", "http://127.0.0.1:9/api")

    def answer(self, facts: Any) -> NoReturn:
        """Write the answer and leave at once, whatever threads the file has started."""
        sys.stdout.flush()
        sys.stderr.flush()
        with os.fdopen(self._stdout, "wb") as stream:
            stream.write(msgspec.json.encode(facts) + b"\n")
        self._temporary.cleanup()
        os._exit(0)
