"""Run folders as the submitter leaves them, for the tests of the driver."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from slurmtui.models.run_record import RunSpec

if TYPE_CHECKING:
    from pathlib import Path

RUN = "01234567-89ab-cdef-0123-456789abcdef"
SPEC = RunSpec(id=RUN, name="n", flow_name="f", entrypoint="/x.py:f", api_url="http://127.0.0.1:1/api")


def submitted_run(place: Path) -> Path:
    """A folder in ``place`` that holds what was submitted (``SPEC``), and no driver yet."""
    folder = place / RUN
    folder.mkdir()
    (folder / "run.json").write_bytes(msgspec.json.encode(SPEC))
    return folder
