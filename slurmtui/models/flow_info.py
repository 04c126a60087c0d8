"""What a flow file offers, as found by importing it in a process of its own."""

from __future__ import annotations

from typing import Any

import msgspec

LOOK_FOLDER = "SLURMTUI_LOOK_FOLDER"
"""The variable that names the folder of a process that looks at a file; whoever started it takes the folder away."""


class ParameterInfo(msgspec.Struct, frozen=True, kw_only=True):
    """One parameter of a flow, from the flow's own JSON schema.

    ``type`` is the JSON type (``integer``, ``number``, ``string``, ``boolean``, ``array``, ``object``) or ``any``;
    ``choices`` are the values of an enum or Literal.
    """

    name: str
    type: str = "any"
    required: bool = False
    default: Any = None
    choices: tuple[Any, ...] = ()
    help: str = ""


class FlowInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A flow found in a file. ``entrypoint`` is ``/abs/file.py:function``.

    ``default_runner`` says that the flow names no task runner, so that the profile chosen at submission is used;
    ``shared_cluster`` is the name of that on which its tasks run;
    ``warnings`` are sentences a person should read before submitting (tasks that would run on the login node …).
    """

    name: str
    function: str
    entrypoint: str
    description: str = ""
    parameters: tuple[ParameterInfo, ...] = ()
    task_runner: str = ""
    default_runner: bool = True
    shared_cluster: str = ""
    warnings: tuple[str, ...] = ()
