"""A shared cluster that needs rescue: its keeper is gone, or it has left jobs. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slurmtui.models.rescue import Case, Repair

if TYPE_CHECKING:
    from slurmtui.models.shared_cluster import ClusterView

_LISTED = 8


def cluster_case(view: ClusterView) -> Case | None:
    """A cluster whose keeper is gone, or that has ended and left jobs."""
    if view.verdict.kind not in {"keeper-gone", "ended-jobs-alive"}:
        return None
    spec, ids = view.record.spec, tuple(job.id for job in view.jobs)
    more = f" and {len(ids) - _LISTED} more" if len(ids) > _LISTED else ""
    cancel = (("SLURM", f"scancel {' '.join(ids[:_LISTED])}{more}"),) if ids else ()
    end = Repair(
        key="end-cluster",
        title="End what is left of it",
        plan=(*cancel, ("keys", "removed"), ("then", "look: squeue empty of it; the cluster is forgotten")),
        yes="end it",
    )
    return Case(
        id=f"cluster:{spec.id}",
        kind="dead-cluster",
        title=f"cluster {spec.name}",
        text=view.verdict.text,
        evidence=view.verdict.evidence,
        repairs=(end,),
        job_ids=ids,
        paths=(view.record.folder,),
    )
