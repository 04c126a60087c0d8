"""The one handler of what goes wrong while a wish is carried out: it is said, logged, and the console goes on."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING

from slurmtui import paths
from slurmtui.errors import SlurmtuiError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_log = logging.getLogger(__name__)


@contextmanager
def told(say: Callable[[str], None]) -> Iterator[None]:
    """Errors raised on purpose are said; any other is logged and said as a fault of the program."""
    try:
        yield
    except (SlurmtuiError, OSError) as error:
        say(str(error))
    except Exception as error:  # noqa: BLE001 - this is that handler
        _log.exception("an action failed")
        say(f"a fault in slurmtui: {type(error).__name__}: {error}; its log file tells more: {paths.log_file()}")
