"""Twelve short trainings side by side, one task each, on the workers of the profile chosen at submission."""

from __future__ import annotations

import math
import random
import time
from typing import Literal

from prefect import flow, task
from prefect.logging import get_run_logger


@task
def train_one(seed: int, lr: float, epochs: int, optimizer: str) -> float:
    """Walk downhill on a noisy curve; return the loss where the walk ends."""
    logger = get_run_logger()
    noise = random.Random(f"{seed}-{optimizer}")  # noqa: S311 - chance for a walk, not for a secret
    position, speed = noise.uniform(-4, 4), 0.0
    for epoch in range(1, epochs + 1):
        time.sleep(0.4)
        slope = 2 * position + noise.gauss(0, 0.3)
        speed = 0.8 * speed - lr * slope if optimizer == "momentum" else -lr * slope
        position += speed
        logger.info("seed %d: epoch %d of %d, loss %.4f", seed, epoch, epochs, position**2)
    return position**2


@flow(log_prints=True)
def train(lr: float = 0.1, epochs: int = 4, optimizer: Literal["sgd", "momentum"] = "sgd") -> float:
    """Train with twelve seeds and keep the best.

    Args:
        lr: the learning rate, above 0 and below 1.
        epochs: how often each training sees its data.
        optimizer: how a step is made from the slope.
    """
    if not 0 < lr < 1:
        raise ValueError(f"lr must lie between 0 and 1, not {lr}")
    runs = train_one.map(range(12), lr=lr, epochs=epochs, optimizer=optimizer)
    losses = [run.result() for run in runs]
    best = min(losses)
    print(f"best of {len(losses)}: loss {best:.4f}, mean {math.fsum(losses) / len(losses):.4f}")
    return best
