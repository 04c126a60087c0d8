"""slurmtui: one console for Prefect flows and their jobs on a SLURM cluster."""

__version__ = "0.1.0"
