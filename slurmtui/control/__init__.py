"""Writes: everything that changes SLURM, Prefect, a process or a run folder."""
