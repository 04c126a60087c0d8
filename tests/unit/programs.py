"""Programs that tests put in the place of real ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def put_program(path: Path, text: str) -> None:
    """Write a script, with the line that names its interpreter, and let it be run."""
    path.write_text(text)
    path.chmod(0o755)


def put_shell(path: Path, line: str) -> None:
    """Let ``path`` be a program that runs a line of shell."""
    put_program(path, f"#!/bin/sh\n{line}\n")
