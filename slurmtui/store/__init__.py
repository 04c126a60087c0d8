"""The joined picture: snapshots, the link of runs to jobs, verdicts and the pollers."""
