"""Where the logs of a run's jobs go: ``jobs`` in the run folder, or a profile's ``log_directory`` that it links to."""

from __future__ import annotations

import logging
from pathlib import Path

_log = logging.getLogger("slurmtui.driver")


def make_folder(folder: Path, named: str | None, own: str) -> None:
    """Make ``folder/jobs``: as a folder, or as a link to the folder ``own`` in the profile's log directory, ``named``.

    That path is whole: ``~`` and variables were filled in when the configuration was read (``config_places``).

    Raises:
        OSError: neither can be made.
    """
    link = folder / "jobs"
    if named and not link.is_symlink():
        place = Path(named) / own
        try:
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            if link.is_dir():
                link.rmdir()  # fails when jobs of an earlier attempt have logs there: then they stay together
            link.symlink_to(place)
        except OSError as error:
            _log.warning("the jobs' logs stay in %s: %s", link, error)
    link.mkdir(mode=0o700, exist_ok=True)
