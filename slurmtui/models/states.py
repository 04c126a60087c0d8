"""Names of job states: short codes, cut ones and those with a tail become the long name; unknown ones stay."""

from __future__ import annotations

import functools

_CODES = {
    "BF": "BOOT_FAIL", "CA": "CANCELLED", "CD": "COMPLETED", "CF": "CONFIGURING", "CG": "COMPLETING", "DL": "DEADLINE",
    "F": "FAILED", "LF": "LAUNCH_FAILED", "NF": "NODE_FAIL", "OOM": "OUT_OF_MEMORY", "PD": "PENDING", "PR": "PREEMPTED",
    "R": "RUNNING", "RD": "RESV_DEL_HOLD", "RF": "REQUEUE_FED", "RH": "REQUEUE_HOLD", "RQ": "REQUEUED",
    "RS": "RESIZING", "RV": "REVOKED", "S": "SUSPENDED", "SE": "SPECIAL_EXIT", "SI": "SIGNALING", "SO": "STAGE_OUT",
    "ST": "STOPPED", "TO": "TIMEOUT",
}  # fmt: skip
_NAMES = (*_CODES.values(), "RECONFIG_FAIL", "EXPIRED", "POWER_UP_NODE", "UPDATE_DB")
_SHORTEST_CUT = 6


@functools.lru_cache(maxsize=1024)
def normal_state(text: str) -> str:
    """The long name in capitals of a state as SLURM wrote it (``CANCELLED by 1000``, ``OUT_OF_ME+``, ``CG``)."""
    word = text.strip().upper().partition(" ")[0]
    if word in _CODES:
        return _CODES[word]
    if word in _NAMES:
        return word
    start = word.removesuffix("+")
    if start in _NAMES:
        return start
    if start != word and len(start) >= _SHORTEST_CUT:
        full = [name for name in _NAMES if name.startswith(start)]
        if len(full) == 1:
            return full[0]
    return word
