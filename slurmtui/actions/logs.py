"""Actions in a log: in the pane that has the focus, and in the Logs view, where several lie beside each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slurmtui.actions.general import WITH_LOGS
from slurmtui.actions.model import Action, Context, LogFacts, Question
from slurmtui.sources.files.elsewhere import argv_of, read_elsewhere

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = ("log", "logs")
"""A pane with a log that has the focus, in any view; and the Logs view."""
_LISTS = ("runs", "jobs", "history", "nodes")


def _pane(what: str) -> Callable[[Context], None]:
    """An action that the pane carries out."""

    def run(context: Context) -> None:
        context.console.perform(f"log.{what}")

    return run


def _log(context: Context) -> LogFacts:
    return context.log or LogFacts()


def _needs_log(context: Context) -> str:
    return "" if _log(context).key else "There is no log in this pane: l on a run or job opens one"


def _needs_shown_log(context: Context) -> str:
    """With a list the log beneath it is meant, whichever of the two has the focus."""
    if context.place in HERE:
        return _needs_log(context)
    return "" if context.pane == "logs" else "This chooses the lines of a log: l opens one"


def _needs_lines(context: Context) -> str:
    return _needs_log(context) or ("" if _log(context).lines else "There is no line yet")


def _needs_numbers(context: Context) -> str:
    if _needs_log(context):
        return _needs_log(context)
    return "" if _log(context).single else "Lines have numbers in the log of one file: this one is of several"


def _needs_search(context: Context) -> str:
    return _needs_log(context) or ("" if _log(context).sought else "Nothing is sought: / or ! first")


def _needs_library(context: Context) -> str:
    return _needs_log(context) or ("" if _log(context).library else "None of Dask's own lines was read in this log")


def _needs_path(context: Context) -> str:
    return _needs_log(context) or ("" if _log(context).paths else "This log has no file here")


def _needs_elsewhere(context: Context) -> str:
    if _log(context).elsewhere:
        return ""
    return "This is for the file of a running job that only its own node can read"


def _needs_panes(context: Context) -> str:
    return "" if _log(context).panes > 1 else "There is one pane only: | and - open more"


def _needs_any_log(context: Context) -> str:
    if context.place in {"log", "logs"} or _log(context).key:
        return ""
    return "" if context.row_kind or context.marked_jobs or context.marked_runs else "There is nothing under the cursor"


async def _read_elsewhere(context: Context) -> None:
    """Read the end of a file on the node of its job, which takes a step of the job for a moment."""
    job_id, node, path = _log(context).elsewhere
    question = Question(
        f"Read on {node}",
        (f"{path}", "The file is not to be seen from here. A step of the job reads its end there, once."),
        (("SLURM", " ".join(argv_of(job_id, node, path))),),
        yes="read it",
        no="No",
    )
    console = context.console
    if await console.ask(question):
        copy = await read_elsewhere(console.session.runner, job_id, node, path)
        console.go("logs", f"below file:{copy}")


ACTIONS = (
    Action("view-logs", "8", "Logs", "Logs side by side and stacked, as they were left.",
           lambda context: context.console.go("logs")),
    Action("log.end", "end", "End", "Go to the end and follow it.", _pane("end"), HERE, aliases=("G",),
           why_not=_needs_log),
    Action("log.start", "home", "Start", "Go to the beginning.", _pane("start"), HERE, aliases=("g",),
           why_not=_needs_log),
    Action("log.follow", "f", "Follow", "Follow the end, or stay.", _pane("follow"), HERE, footer=10,
           why_not=_needs_log),
    Action("log.goto", "ctrl+g", "Go to", "Go to a line or a percentage: 1200, 40%.", _pane("goto"), HERE,
           why_not=_needs_lines),
    Action("log.find", "slash", "Find", "Find a text or a regular expression; lower case finds capitals too.",
           _pane("find"), HERE, footer=1, why_not=_needs_log),
    Action("log.next", "n", "Next", "Go down to the next match.", _pane("next"), HERE, footer=2, why_not=_needs_search),
    Action("log.previous", "N", "Previous", "Go up to the match before.", _pane("previous"), HERE, footer=3,
           why_not=_needs_search),
    Action("log.error", "exclamation_mark", "Last error",
           "Go to the last failure (traceback, out of memory, srun or slurmstepd error, NCCL, segfault, quota, missing "
           "module); again: to the one before.", _pane("error"), HERE, footer=4, why_not=_needs_lines),
    Action("log.only", "ampersand", "Only", "Keep only lines that match; an empty text shows all again.",
           _pane("only"), HERE, footer=5, why_not=_needs_log),
    Action("log.sources", "e", "Lines of", "Switch sources (Prefect, driver, output, errors, Dask) and levels.",
           _pane("sources"), (*HERE, *WITH_LOGS), footer=6, why_not=_needs_shown_log),
    Action("log.library", "a", "Dask's lines",
           "Show Dask's own lines that tell of nothing wrong (distributed.*), dimmed; or hide them again.",
           _pane("library"), HERE, footer=8, why_not=_needs_library, label=lambda _: "Dask's lines"),
    Action("log.fold", "z", "Fold", "Fold every traceback into one line, or unfold them.", _pane("fold"), HERE,
           footer=20, why_not=_needs_lines),
    Action("log.wrap", "w", "Wrap", "Break long lines, or cut them and move sideways with ← and →.",
           _pane("wrap"), HERE, footer=21, why_not=_needs_log),
    Action("log.times", "t", "Times", "Show no time, the time of day, or date and time of each line.",
           _pane("times"), HERE, why_not=_needs_log),
    Action("log.numbers", "number_sign", "Line numbers", "Number the lines.", _pane("numbers"), HERE,
           why_not=_needs_numbers),
    Action("log.line", "enter", "Whole line", "Show the current, marked or last line on screen whole.",
           _pane("line"), HERE, why_not=_needs_lines),
    Action("log.mark", "m", "Mark lines", "Mark lines from here on with ↑ and ↓; y then copies them, s saves them.",
           _pane("mark"), HERE, footer=22, why_not=_needs_lines),
    Action("log.copy", "y", "Copy", "Copy the marked lines, else those on screen: clipboard and file.",
           _pane("copy"), HERE, why_not=_needs_lines),
    Action("log.save", "s", "Save", "Save the marked lines, else the whole log, to a file.", _pane("save"), HERE,
           why_not=_needs_lines),
    Action("log.path", "i", "Path", "Copy the path of the file; of several, show them.", _pane("path"), HERE,
           why_not=_needs_path),
    Action("log.pager", "p", "Pager", "Open the log in $PAGER at this line; the console waits.", _pane("pager"), HERE,
           footer=23, why_not=_needs_lines),
    Action("log.editor", "o", "Editor", "Open the log in $EDITOR at this line; the console waits.", _pane("editor"),
           HERE, why_not=_needs_lines),
    Action("log.elsewhere", "T", "Read on its node",
           "Read the end of a file that only the job's own node can see (srun --overlap), once.",
           _read_elsewhere, HERE, touches=True, footer=7, why_not=_needs_elsewhere, of_rows=False),
    Action("log.beside", "vertical_line", "Pane beside", "Show this log, or another, beside those in the Logs view.",
           _pane("beside"), (*HERE, *_LISTS), why_not=_needs_any_log),
    Action("log.below", "minus", "Pane below", "Show this log, or another, below those in the Logs view.",
           _pane("below"), (*HERE, *_LISTS), why_not=_needs_any_log),
    Action("log.close", "x", "Close pane", "Close this pane.", _pane("close"), ("logs",), footer=30,
           why_not=_needs_log),
    Action("log.zoom", "v", "Whole screen", "Give this pane the whole screen, or the others their places again.",
           _pane("zoom"), ("logs",), footer=31, why_not=_needs_panes),
)  # fmt: skip
