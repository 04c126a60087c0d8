"""What is wrong in the queue: jobs that need a person, or a node that is not there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slurmtui.models.reasons import bare, explain
from slurmtui.models.states import normal_state

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slurmtui.models.job_table import JobTable

WRONG_STATES = frozenset(
    {
        "BOOT_FAIL", "DEADLINE", "FAILED", "LAUNCH_FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "REQUEUE_HOLD",
        "RESV_DEL_HOLD", "RECONFIG_FAIL", "REVOKED", "SPECIAL_EXIT", "STOPPED", "TIMEOUT",
    }
)  # fmt: skip
WRONG_REASONS = frozenset(
    {
        "FrontEndDown", "NodeDown", "NonZeroExitCode", "OutOfMemory", "PartitionDown", "PartitionInactive",
        "RaisedSignal", "ReqNodeNotAvail", "SystemFailure", "TimeLimit",
    }
)  # fmt: skip


def is_wrong(state: str, reason: str) -> bool:
    """Whether a job in this state, waiting for this reason, is one to look at: it failed, is held, or cannot start."""
    if normal_state(state) in WRONG_STATES:
        return True
    word = bare(reason)
    return explain(reason).stuck or word.partition(":")[0].partition(",")[0] in WRONG_REASONS


def wrong_rows(table: JobTable, rows: Sequence[int]) -> list[int]:
    """Those of the rows with which something is wrong; each distinct pair of state and reason is judged once."""
    (part, first, last), (other, begin, end) = table.layout.slots["state"], table.layout.slots["reason"]
    states, reasons = table.parts[part], table.parts[other]
    judged: dict[tuple[bytes, bytes], bool] = {}
    found = []
    for row in rows:
        pair = (states[row][first:last], reasons[row][begin:end])
        wrong = judged.get(pair)
        if wrong is None:
            state, reason = (raw.strip().decode("utf-8", "replace") for raw in pair)
            wrong = judged[pair] = is_wrong(state, reason)
        if wrong:
            found.append(row)
    return found
