"""Send a signal to running jobs, and attach a shell to one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slurmtui.actions.dialogs import Pick
from slurmtui.actions.jobs_doing import do, tell
from slurmtui.actions.jobs_targets import freeze, plan_of, question, refusal
from slurmtui.actions.model import Action, Context
from slurmtui.control.jobs_attach import attach_argv, nodes_of, ssh_line
from slurmtui.control.jobs_many import SIGNALS, signal_command

if TYPE_CHECKING:
    from collections.abc import Callable

    from slurmtui.models.job import Job

_ABOUT = {
    "USR1": "many programs write a checkpoint", "USR2": "the same, in others", "INT": "as ctrl+c does",
    "TERM": "asks it to end", "HUP": "some read their settings again", "QUIT": "ends it, with a core dump if allowed",
    "STOP": "halts it where it is (CONT lets it go on); its time runs on", "CONT": "lets it go on after STOP",
    "KILL": "ends it at once",
}  # fmt: skip
_WHOM = (
    Pick("--full", "all of it", "the batch script and every step (--full)"),
    Pick("--batch", "the script", "the batch script alone, which may trap it (--batch)"),
    Pick("steps", "the steps", "what srun started, and not the batch script"),
)


def _runs(job: Job) -> bool:
    return job.state in {"RUNNING", "SUSPENDED", "STOPPED"}


def _gets_no_signal(context: Context) -> Callable[[Job], str]:
    def why_not(job: Job) -> str:
        if job.id in context.groups and _runs(job):
            part = context.groups[job.id].part
            return f"A signal goes to running jobs only: open the row (enter) and choose running {part}s"
        return f"Job {job.id} is {job.state.lower()}: only running jobs get signals"

    return why_not


def _gets_signals(context: Context) -> Callable[[Job], bool]:
    # A signal to one waiting task would reach the whole waiting rest of its array: SLURM keeps them as one job.
    return lambda job: _runs(job) and job.id not in context.groups


def _cannot_signal(context: Context) -> str:
    return refusal(context, _gets_signals(context), _gets_no_signal(context))


async def _signal(context: Context) -> None:
    targets = await freeze(context, _gets_signals(context), _gets_no_signal(context))
    dialogs = context.console.dialogs
    signal = await dialogs.pick(f"Signal for {targets.title}", [Pick(name, name, _ABOUT[name]) for name in SIGNALS])
    whom = await dialogs.pick(f"{signal}: who gets it", _WHOM) if signal else ""
    if not signal or not whom:
        return
    command = signal_command(signal, "" if whom == "steps" else whom)
    facts = [_ABOUT[signal]]
    if whom == "steps":
        facts.append("a job whose script started nothing by srun has no such steps")
    asked = question(
        context, targets, f"signal {signal}", plan_of(command, targets.ids), facts=facts, lost=signal == "KILL"
    )
    if not await context.console.ask(asked):
        return
    results = await do(context, targets, command, overlay=f"{signal}…", title=f"{signal} for {targets.title}")
    context.console.journal.note(f"signal {signal} to {targets.title}", why_not="a signal cannot be taken back")
    tell(context, targets, results, f"sent {signal}")


def _is_not_entered(job: Job) -> str:
    return f"Job {job.id} is {job.state.lower()}: only a running job is attached to"


def _cannot_attach(context: Context) -> str:
    if len(context.marked_jobs) > 1:
        return "Attach takes one job at a time: clear the marks (escape)"
    refused = refusal(context, _runs, _is_not_entered)
    if refused:
        return refused
    job = context.target_jobs[0]
    if job.id in context.groups:
        return f"Open the {context.groups[job.id].kind} (enter) and choose one of its {context.groups[job.id].part}s"
    if job.user != context.console.session.user:
        return f"Job {job.id} is {job.user}'s: SLURM lets nobody else into it"
    return ""


async def _attach(context: Context) -> None:
    targets = await freeze(context, _runs, _is_not_entered)
    job, dialogs = targets.rows[0].job, context.console.dialogs
    nodes = nodes_of(job)
    node = nodes[0] if nodes else ""
    if len(nodes) > 1:
        node = await dialogs.pick(f"Node of job {job.id}", [Pick(name, name, "") for name in nodes])
        if not node:
            return
    argv = attach_argv(job, node if len(nodes) > 1 else "")
    facts = ["opens a shell inside the job, beside what runs there; it shares the job's CPUs and memory",
             "the console waits until the shell is left (exit)"]  # fmt: skip
    plan = (("here", " ".join(argv)), ("or", ssh_line(node)))
    if not await context.console.ask(question(context, targets, "attach", plan, facts=facts, harmless=True)):
        return
    otherwise = [f"This terminal cannot be lent to another program. In a terminal of your own, for job {job.id}:",
                 "", f"  {' '.join(argv)}", f"  {ssh_line(node)}"]  # fmt: skip
    await dialogs.in_terminal(argv, otherwise)
    context.console.store.kick("queue")


ACTIONS = (
    Action("job.signal", "S", "Signal", "Send a signal to running jobs: choose which, and to whom in the job.",
           _signal, ("jobs",), touches=True, footer=17, why_not=_cannot_signal),
    Action("job.attach", "A", "Attach", "Open a shell inside a running job, on its node (srun --overlap --pty).",
           _attach, ("jobs",), touches=True, footer=18, why_not=_cannot_attach),
)  # fmt: skip
