"""The SLURM queue."""
