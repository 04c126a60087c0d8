"""Actions of the views of nodes, partitions, ended jobs, shares and plots. None of them touches anything."""

from __future__ import annotations

from slurmtui.actions.model import Action, Context
from slurmtui.actions.plain import go, perform

CLUSTER = ("nodes", "partitions")
VIEWS = (*CLUSTER, "history", "shares", "plots")


def _needs_part(context: Context) -> str:
    return "" if context.partition is not None else "There is no partition under the cursor"


def _jobs_of_part(context: Context) -> None:
    if context.partition is not None:
        context.console.command(f"jobs partition:{context.partition.facts.name}")


def _needs_node(context: Context) -> str:
    return "" if context.node is not None or context.job is not None else "There is no node under the cursor"


def _jobs_of_node(context: Context) -> None:
    if context.job is not None:
        context.console.go("jobs", context.job.id)
    elif context.node is not None:
        context.console.command(f"jobs node:{context.node.name}")


def _needs_run(context: Context) -> str:
    if context.past is None:
        return "There is no job under the cursor"
    if not context.job_run_id:
        return f"Job {context.past.id} belongs to no flow run that is known here"
    if context.console.store.snapshot.find_run(context.job_run_id) is None:
        return f"Its run {context.job_run_id[:8]} is older than the runs that are shown"
    return ""


def _to_run(context: Context) -> None:
    context.console.go("runs", f"run:{context.job_run_id}")


ACTIONS = (
    Action("view-nodes", "3", "Nodes", "The compute nodes: state, what is free, why one is out of order.",
           go("nodes")),
    Action("view-partitions", "4", "Partitions", "What is free now by partition and type of GPU; limits and jobs.",
           go("partitions")),
    Action("view-history", "5", "History", "My jobs that have ended, day by day.", go("history")),
    Action("view-shares", "6", "Shares", "My fair-share, my use and the limits of my accounts.", go("shares")),
    Action("view-plots", "7", "Plots", "The queue over time, the use of partitions and GPUs, waiting times.",
           go("plots")),
    Action("fits", "f", "What fits now", "What could start now with so many GPUs, cores, memory: 2 a100 16 cores 64G.",
           perform("fits"), CLUSTER, footer=10),
    Action("node-jobs", "o", "Its jobs", "The jobs of the node under the cursor in the queue; of a job: the job there.",
           _jobs_of_node, ("nodes",), footer=40, why_not=_needs_node),
    Action("partition-jobs", "o", "Its jobs", "The jobs of the partition under the cursor in the queue.",
           _jobs_of_part, ("partitions",), footer=40, why_not=_needs_part),
    Action("past-run", "o", "Its flow run", "From an ended job to the flow run it belonged to.",
           _to_run, ("history",), footer=40, why_not=_needs_run),
    Action("more-days", "m", "More days", "Show ended jobs further back: 7, 14, 30, 90, 366 days, then 7 again.",
           perform("more-days"), ("history", "plots"), footer=20),
)  # fmt: skip
