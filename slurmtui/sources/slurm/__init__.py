"""Reading SLURM: squeue, scontrol, sacct and what the cluster offers."""
