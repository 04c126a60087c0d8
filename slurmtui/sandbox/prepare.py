"""Everything that must be in the sandbox's folder before its daemons start."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
from typing import TYPE_CHECKING

from slurmtui.atomic import write_private
from slurmtui.errors import CommandError, SandboxError
from slurmtui.sandbox import record
from slurmtui.sandbox.daemons import as_root, program, tail
from slurmtui.sandbox.layout import PORT_COUNT, Layout, make_base, make_folders
from slurmtui.sandbox.packages import search_path
from slurmtui.sandbox.ports import choose_block
from slurmtui.sandbox.texts import texts
from slurmtui.sources.exec import Runner

if TYPE_CHECKING:
    from pathlib import Path


def load_layout(folder: Path) -> Layout:
    """The layout as it was chosen before, or a new choice of ports and password.

    Raises:
        SandboxError: the folder or the user cannot be used.
    """
    settings = record.read(folder / "settings.json", record.Settings)
    if settings is None:
        settings = record.Settings(first_port=_new_ports(folder), database_password=record.new_password())
    return _keep(folder, settings)


def with_new_ports(layout: Layout) -> Layout:
    """The same sandbox on other ports."""
    settings = record.Settings(
        first_port=_new_ports(layout.folder), database_password=layout.database_password
    )  # fmt: skip
    return _keep(layout.folder, settings)


def _new_ports(folder: Path) -> int:
    return choose_block(f"{os.getuid()} {folder}", PORT_COUNT)


def _keep(folder: Path, settings: record.Settings) -> Layout:
    record.write(folder / "settings.json", settings)
    return Layout(
        folder=folder,
        base=make_base(folder),
        first_port=settings.first_port,
        user=_user_name(),
        database_password=settings.database_password,
    )


def _user_name() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        message = f"the user id {os.getuid()} has no name on this machine; SLURM wants its users to have one"
        raise SandboxError(message) from None


def write_files(layout: Layout, version: str) -> bool:
    """Write the folders, the key and the configuration; True when the configuration is not what it was."""
    make_folders(layout)
    key = layout.folder / "munge.key"
    if not key.exists() or key.stat().st_size < 32:
        write_private(key, secrets.token_bytes(1024))
    changed = False
    for name, text in texts(layout, version).items():
        file = layout.folder / name
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            write_private(file, text)
            changed = True
    return changed


async def make_database(layout: Layout) -> None:
    """Make MariaDB's own tables, aside and then moved into place, unless they are there.

    Raises:
        SandboxError: mariadb-install-db failed.
    """
    data, aside, log = layout.folder / "mysql", layout.folder / "mysql.new", layout.logs / "mariadb-install-db.out"
    if data.exists():
        return
    shutil.rmtree(aside, ignore_errors=True)
    argv = [
        program("mariadb-install-db"), "--no-defaults", *as_root(), f"--datadir={layout.base}/mysql.new",
        # Only this very user of this machine may be the database's root: no password to keep or to guess.
        "--auth-root-authentication-method=socket", f"--auth-root-socket-user={layout.user}",
        "--skip-test-db", "--skip-name-resolve", "--innodb-log-file-size=16M",
        # In /tmp, another MariaDB that starts at this moment would remove its temporary tables.
        f"--tmpdir={layout.base}/scratch",
    ]  # fmt: skip
    try:
        done = await Runner(environment={"PATH": search_path()}).run(argv, timeout=120, check=False)
    except CommandError as error:
        message = f"MariaDB's tables could not be made: {error}"
        raise SandboxError(message) from error
    write_private(log, done.stdout + done.stderr.encode())
    if done.code:
        quoted = "\n".join(f"  | {line}" for line in tail(log))
        message = f"MariaDB's tables could not be made. The end of {log}:\n{quoted}"
        raise SandboxError(message)
    aside.replace(data)
