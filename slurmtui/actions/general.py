"""Actions that look: moving between views, panes, help, filter. None of them touches anything."""

from __future__ import annotations

from slurmtui.actions.model import Action, Context
from slurmtui.actions.plain import go, perform


def _needs_row(context: Context) -> str:
    return "" if context.row_kind else "There is nothing under the cursor"


def _needs_log(context: Context) -> str:
    if not context.row_kind:
        return "There is nothing under the cursor whose log could be shown"
    return "Put the cursor on a job: l follows its log" if context.row_kind in {"node", "day"} else ""


def _run_of_job(context: Context) -> str | None:
    if context.job is None:
        return None
    return context.job_run_id or context.console.store.snapshot.run_of_job.get(context.job.id)


def _needs_other_side(context: Context) -> str:
    if context.place == "jobs":
        if context.job is None:
            return context.no_job or "There is no job under the cursor"
        return "" if _run_of_job(context) else f"Job {context.job.id} belongs to no flow run that is known here"
    if context.row_kind != "job":
        return "Put the cursor on a job of the run: o then shows it in the queue"
    return "" if context.job is not None else "This job has left the queue: the history (5) shows it"


def _other_side(context: Context) -> None:
    if context.place == "jobs":
        run_id = _run_of_job(context)
        context.console.go("runs", f"run:{run_id}")
    elif context.job:
        context.console.go("jobs", context.job.id)


def _expand_label(context: Context) -> str:
    if context.row_kind == "partition":
        return "its nodes"
    return "open" if context.row_kind in {"run", "array", "het", "node", "day"} else "detail"


WITH_LOGS = ("runs", "jobs", "nodes", "history", "clusters")
LISTS = ("runs", "jobs", "nodes", "partitions", "history", "shares")

ACTIONS = (
    Action("open", "enter", "Open",
           "Open or close a run, an array, a het job: what is in it stands beneath. On a job or task: its detail.",
           perform("open"), LISTS, footer=1, why_not=_needs_row, label=_expand_label),
    Action("logs", "l", "Logs", "Follow the logs of the run or job under the cursor.",
           perform("log-pane"), WITH_LOGS, footer=2, why_not=_needs_log),
    Action("detail", "d", "Detail", "Everything about the row under the cursor, with the evidence for its verdict.",
           perform("detail-pane"), LISTS, footer=3, why_not=_needs_row),
    Action("whole", "v", "Whole page", "Give the detail or the log the whole screen; again, or esc, gives it back.",
           perform("whole"), ("runs",), footer=4, why_not=_needs_row),
    Action("other-side", "o", "Other side", "From a job to its flow run, and back.",
           _other_side, ("runs", "jobs"), footer=40, why_not=_needs_other_side),
    Action("everyone", "a", "Mine or all", "Show my jobs, or everybody's.",
           perform("everyone"), ("jobs",), footer=20),
    Action("mark", "space", "Mark", "Mark the row; actions then take all marked rows.",
           perform("mark"), ("runs", "jobs"), footer=30, why_not=_needs_row),
    Action("filter", "slash", "Filter",
           "Show only rows that match: words, !not, state:failed, user:alice, nodes>2, mem>4G, wait>2h, /regex/, "
           "name:/regex/. :filter save NAME keeps it under a name, :filter NAME takes it again.",
           perform("filter"), LISTS, footer=31),
    Action("pane", "tab", "Other pane", "Move between the list and the pane below it.", perform("next-pane")),
    Action("bigger", "plus", "Bigger pane", "Give the pane below more lines.", perform("bigger")),
    Action("smaller", "underscore", "Smaller pane", "Give the pane below fewer lines.", perform("smaller")),
    Action("back", "escape", "Back", "Close the pane, clear marks, close the array, then clear the filter.",
           perform("back"),
           aliases=("q",)),
    Action("view-runs", "1", "Runs", "Flow runs with their tasks and jobs.", go("runs")),
    Action("view-jobs", "2", "Jobs", "The SLURM queue.", go("jobs")),
    Action("refresh", "ctrl+r", "Refresh", "Ask SLURM and Prefect now.", perform("refresh")),
    Action("command", "colon", "Command", "Type a command: runs, jobs, logs ID, theme NAME, ro, rw, quit.",
           perform("command"), footer=90),
    Action("palette", "ctrl+p", "Palette", "Search all actions by name.", perform("palette")),
    Action("command-log", "at", "Command log", "Every command and request this console has made.",
           perform("command-log")),
    Action("help", "question_mark", "Help", "What the keys do here, and which cannot be used now and why.",
           perform("help"), footer=99),
    Action("quit", "ctrl+c", "Quit", "Leave. Runs, jobs and the server go on.", perform("quit")),
)  # fmt: skip
