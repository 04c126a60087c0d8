"""Actions that change how a list is shown: order, columns, what is left out. None of them touches anything."""

from __future__ import annotations

from slurmtui.actions.model import Action
from slurmtui.actions.plain import perform

SORTED = ("jobs", "nodes", "partitions", "history")

ACTIONS = (
    Action("wrong", "z", "Only what is wrong",
           "Show only what needs a look: runs that failed or need you; jobs held or unable to start. Again shows all.",
           perform("wrong"), ("runs", "jobs", "nodes", "partitions", "history"), footer=32),
    Action("sort", "s", "Sort", "Choose the column to sort by.", perform("sort"), SORTED, footer=33),
    Action("sort-left", "less_than_sign", "Sort by the column to the left", "Left of the first is SLURM's own order.",
           perform("sort-left"), SORTED),
    Action("sort-right", "greater_than_sign", "Sort by the column to the right", "From SLURM's order: by the first.",
           perform("sort-right"), SORTED),
    Action("sort-reverse", "equals_sign", "Turn the order round", "Largest first, or smallest first.",
           perform("sort-reverse"), SORTED),
    Action("columns", "c", "Columns", "Choose the columns, their order and their widths.", perform("columns"),
           ("jobs",), footer=34),
    Action("wide", "w", "Wide", "Show all columns in their full width, or the most important ones.", perform("wide"),
           ("jobs",), footer=35),
    Action("pan-left", "left", "Columns to the left", "In the wide view: back towards the first columns.",
           perform("pan-left"), ("jobs",)),
    Action("pan-right", "right", "Columns to the right", "In the wide view: show the columns that do not fit.",
           perform("pan-right"), ("jobs",)),
)  # fmt: skip
