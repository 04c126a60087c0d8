"""A private, real SLURM on one machine, run as an ordinary user."""
