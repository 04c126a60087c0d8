"""The key and certificates of a shared cluster: whoever can read them, the user alone, can speak to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from slurmtui.atomic import write_private

if TYPE_CHECKING:
    from pathlib import Path

_FILES = {"ca_file": "ca.pem", "cert": "cert.pem", "key": "key.pem"}


def new_certificates(folder: Path) -> Any:
    """Make them, write them into ``folder`` (0600), and return Dask's ``Security`` that names the files."""
    from distributed.security import Security

    made: Any = Security.temporary()  # type: ignore[no-untyped-call]
    write_private(folder / _FILES["ca_file"], made.tls_ca_file)
    write_private(folder / _FILES["cert"], made.tls_scheduler_cert)
    write_private(folder / _FILES["key"], made.tls_scheduler_key)
    return certificates(folder)


def certificates(folder: Path) -> Any:
    """Dask's ``Security`` of the files in ``folder``, for every part that it has."""
    from distributed.security import Security

    named = {
        f"tls_{role}_{kind}": str(folder / _FILES[kind])
        for role in ("client", "scheduler", "worker")
        for kind in ("cert", "key")
    }
    make: Any = Security  # it has no types
    return make(require_encryption=True, tls_ca_file=str(folder / _FILES["ca_file"]), **named)
