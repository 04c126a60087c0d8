"""Flow runs as a tree: run, and beneath it its SLURM jobs and task runs."""
