"""How far bands are widened: for each resource and side one level, a multiple of the plain mean, the same for all.

Example: a mean of 10 GB, a band up to 11 GB, one partition of 18 GB: the level of the upper side is 1.8, and the band
of every broker goes up to 18 GB.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kafka_rebalance.arrays import Floats
from kafka_rebalance.cluster_arrays.fair_share import plain_mean
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.cluster_arrays.tolerances import BAND_ROUNDING
from kafka_rebalance.planner.params import DEFAULTS, BandParams
from kafka_rebalance.planner.scales import resource_scale


@dataclass(frozen=True, slots=True)
class Side:
    """One side of one resource's band."""

    resource: int  # column
    is_high: bool


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """``low``, ``high`` float64[D], nan where the band asked for stands."""

    low: Floats
    high: Floats

    def of(self, side: Side) -> float:
        """One of them."""
        return float((self.high if side.is_high else self.low)[side.resource])

    def sides(self) -> tuple[Side, ...]:
        """What is widened."""
        return tuple(
            Side(d, is_high)
            for d in range(len(self.low))
            for is_high in (True, False)
            if not np.isnan((self.high if is_high else self.low)[d])
        )

    def with_level(self, side: Side, level: float) -> Levels:
        """The same with another level of one side."""
        low, high = self.low.copy(), self.high.copy()
        (high if side.is_high else low)[side.resource] = level
        return Levels(low, high)


def mean_loads(problem: Problem) -> Floats:
    """float64[B, D]: what a level of 1 is for each broker, 0 on those that leave."""
    total = (problem.follower_load * problem.target_rf[:, None] + problem.leader_extra).sum(axis=0)
    mean = plain_mean(total, problem.capacity, problem.stays) * problem.capacity
    return np.where(problem.stays[:, None], mean, 0.0)


def reached_levels(problem: Problem, after: Floats) -> Levels:
    """The levels that hold the loads ``after`` float64[B, D]."""
    mean, stays = mean_loads(problem), problem.stays[:, None]
    level = np.divide(after, mean, out=np.ones_like(after), where=mean > 0)
    slack = BAND_ROUNDING * mean.max(axis=0, initial=0.0) + BAND_ROUNDING
    over = stays & (after > problem.band_high + slack) & (mean > 0)
    under = stays & (after < problem.band_low - slack) & (mean > 0)
    low = np.where(under, level, np.inf).min(axis=0)
    high = np.where(over, level, -np.inf).max(axis=0)
    return Levels(np.where(np.isinf(low), np.nan, low), np.where(np.isinf(high), np.nan, high))


def widened_problem(problem: Problem, levels: Levels, params: BandParams = DEFAULTS.bands) -> Problem:
    """``problem`` with its bands widened to ``levels``, and by what a search stays inside them; never above a cap."""
    mean, stays = mean_loads(problem), problem.stays[:, None]
    margin = 2 * params.margin * resource_scale(problem)
    is_high, is_low = ~np.isnan(levels.high), ~np.isnan(levels.low)
    high = np.maximum(problem.band_high, np.nan_to_num(levels.high) * mean + margin)
    if problem.cap is not None:
        high = np.minimum(high, np.maximum(problem.cap, problem.band_high))
    low = np.maximum(np.minimum(problem.band_low, np.nan_to_num(levels.low) * mean - margin), 0.0)
    return replace(
        problem,
        band_high=np.where(stays & is_high, high, problem.band_high),
        band_low=np.where(stays & is_low, low, problem.band_low),
    )
