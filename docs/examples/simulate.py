"""Two simulations as batch jobs of their own, each over two nodes with srun, and a summary afterwards."""

from __future__ import annotations

from pathlib import Path

from prefect import flow, task
from prefect.task_runners import ThreadPoolTaskRunner

from slurmtui.flows import batch_job

STEP = """
for step in 1 2 3; do
  echo "rank $SLURM_PROCID of $SLURM_NTASKS on $SLURMD_NODENAME: step $step"
  sleep 1
done
echo "energy $((RANDOM % 100 + 1))"
"""


@task
def energies(output: str) -> list[int]:
    """The energies that the ranks wrote."""
    lines = Path(output).read_text().splitlines()
    return [int(line.split()[1]) for line in lines if line.startswith("energy ")]


# The jobs do the work; the threads of the driver only wait for them.
@flow(log_prints=True, task_runner=ThreadPoolTaskRunner())
def simulate(nodes: int = 2, simulations: int = 2) -> float:
    """Simulate, each simulation over several nodes, and print the mean energy.

    Args:
        nodes: nodes of each simulation.
        simulations: how many run side by side.
    """
    # A node that fails is no fault of the simulation: each job is tried a second time.
    simulation = batch_job.with_options(name="simulation", retries=1)
    jobs = [simulation.submit(command=["srun", "bash", "-c", STEP], nodes=nodes) for _ in range(simulations)]
    found = [energy for job in jobs for energy in energies(job.result().stdout)]
    mean = sum(found) / len(found)
    print(f"{len(found)} ranks, mean energy {mean:.1f}")
    return mean
