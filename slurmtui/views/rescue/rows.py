"""The columns, rows and detail of the Rescue view. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slurmtui.models.text import visible
from slurmtui.views.side import Rows
from slurmtui.widgets.columns import Column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slurmtui.models.rescue import Case
    from slurmtui.widgets.bar import Piece


def columns(width: int) -> tuple[Column, ...]:
    """The columns for a terminal of this width."""
    del width
    return (
        Column("kind", "WHAT", 0, weight=2, min_width=11, max_width=22, priority=80),
        Column("name", "NAME", 0, weight=2, min_width=8, max_width=26, cut="middle", priority=90),
        Column("text", "WHAT IS THE MATTER", 0, weight=6, min_width=20, max_width=120, priority=100),
        Column("repair", "REPAIR", 0, weight=3, min_width=10, max_width=46, priority=70),
    )


def case_rows(cases: Sequence[Case]) -> Rows:
    """A row a case; its key is the case's id."""
    return Rows(
        [
            (
                case.id,
                (
                    (case.kind, "state-lost" if case.run_id or case.job_ids else "state-waiting"),
                    visible(case.title),
                    visible(case.text),
                    (", ".join(one.title.lower() for one in case.repairs) or "none from here", "dim"),
                ),
                None,
            )
            for case in cases
        ]
    )


def case_lines(case: Case) -> list[list[Piece]]:
    """The evidence, and each repair with its plan."""
    found: list[list[Piece]] = [[(f"{visible(case.title)} · ", "bold"), (visible(case.text), "bold $state-lost")]]
    found += [[("  ", ""), (visible(sentence), "")] for sentence in case.evidence]
    for one in case.repairs:
        found += [[("", "")], [(one.title, "bold $accent"), (f"  ({one.key})", "$text-muted")]]
        width = max((len(part) for part, _ in one.plan), default=0)
        found += [[(f"  {part.ljust(width)}  ", "$text-muted"), (visible(what), "")] for part, what in one.plan]
    return found
