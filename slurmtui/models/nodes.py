"""Lists of nodes as SLURM folds them (``n[1-3,7],gpu2``), taken apart only when somebody needs the names."""

from __future__ import annotations

import functools

from slurmtui.models.values import known

_KEPT = 512


@functools.lru_cache(maxsize=_KEPT)
def expand_nodes(text: str) -> tuple[str, ...]:
    """The names in a node list; nothing for ``(null)``; the text itself when it is no node list."""
    folded = known(text)
    if not folded:
        return ()
    if not any(mark in folded for mark in "[],"):
        return (folded,)
    from ClusterShell.NodeSet import NodeSet, NodeSetException  # noqa: PLC0415 - slow to import, seldom needed

    try:
        return tuple(NodeSet(folded, resolver=_no_groups()))
    except NodeSetException:
        return (folded,)


def first_node(text: str) -> str:
    """The first name of a node list, or nothing."""
    names = expand_nodes(text)
    return names[0] if names else ""


@functools.lru_cache(maxsize=1)
def _no_groups() -> object:
    """A resolver without groups: ``@`` in a name must not start a look-up in some configuration file."""
    from ClusterShell.NodeUtils import GroupResolver  # noqa: PLC0415 - as above

    return GroupResolver()
