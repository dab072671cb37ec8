"""Does the verdict stand if the loads are off? Each partition's figures are changed at random and judged again.

Measured loads are snapshots of something that moves. So each trial multiplies every partition's disk, in, out and CPU
by a factor of its own from 1 - noise to 1 + noise, and checks: would the moves still remove most of the imbalance
(where nothing is to be done: is it still within the dead band; where moving does not mend it: is it still uneven)?
Seeded: the same snapshot gives the same answer.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kafka_rebalance.arrays import Ints
from kafka_rebalance.cluster_arrays.broker_loads import broker_loads
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.plans.dead_band import gained, worst_deviation
from kafka_rebalance.plans.outcome import Bands
from kafka_rebalance.plans.params import DEFAULTS, RobustnessParams
from kafka_rebalance.plans.plan import Robustness, Verdict
from kafka_rebalance.resources import COUNTED


def robustness_of(
    problem: Problem,
    verdict: Verdict,
    planned: tuple[Ints, Ints],
    within: float,
    dead_band: float,
    *,
    seed: int,
    params: RobustnessParams = DEFAULTS.robustness,
) -> Robustness | None:
    """None where nothing was measured: counts cannot be off. ``planned``: replicas int32[P, W] and leaders."""
    measured = [d for d, name in enumerate(problem.resources) if name not in COUNTED]
    if not measured or problem.partition_count == 0:
        return None
    draw = np.random.Generator(np.random.PCG64(seed))
    stands = 0
    for _ in range(params.trials):
        shaken = _shaken(problem, measured, draw, params.noise)
        before = broker_loads(shaken, shaken.replicas, shaken.leader)
        bands = Bands(shaken.band_low, shaken.band_high, np.zeros(len(problem.resources)), problem.band_rank)
        was, gain = gained(bands, (before,), (broker_loads(shaken, *planned),), problem.stays)
        if verdict is Verdict.NOTHING_TO_DO:
            worst = worst_deviation(shaken, before, within)
            stands += worst is None or abs(worst.ratio - 1) <= dead_band
        elif verdict is Verdict.NOT_FIXABLE_BY_MOVING:
            stands += was > 0
        else:
            stands += gain >= 0.5 * was
    return Robustness(params.trials, params.noise, int(stands))


def _shaken(problem: Problem, measured: list[int], draw: np.random.Generator, noise: float) -> Problem:
    """The problem with other loads; each band keeps its level, moved with the mean."""
    follower, extra = problem.follower_load.copy(), problem.leader_extra.copy()
    low, high = problem.band_low.copy(), problem.band_high.copy()
    own = None if problem.own_disk is None else problem.own_disk.copy()
    for d in measured:
        factor = draw.uniform(1 - noise, 1 + noise, problem.partition_count)
        total = _total(problem, d)
        follower[:, d] *= factor
        extra[:, d] *= factor
        if own is not None and problem.resources[d] == "disk":
            own *= factor[:, None]
        shaken = replace(problem, follower_load=follower, leader_extra=extra)
        change = _total(shaken, d) / total if total > 0 else 1.0
        low[:, d] *= change
        high[:, d] *= change
    disk = problem.column("disk")
    size = problem.move_bytes if disk is None else follower[:, disk]
    return replace(
        problem, follower_load=follower, leader_extra=extra, band_low=low, band_high=high, own_disk=own, move_bytes=size
    )


def _total(problem: Problem, d: int) -> float:
    return float((problem.follower_load[:, d] * problem.target_rf).sum() + problem.leader_extra[:, d].sum())
