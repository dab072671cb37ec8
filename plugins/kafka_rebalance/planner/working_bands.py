"""The bands that the search aims at: a hair inside the ones asked for, so that rounding never leaves a load outside."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import Floats
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.params import DEFAULTS, BandParams
from kafka_rebalance.planner.scales import resource_scale
from kafka_rebalance.resources import COUNTED


@dataclass(frozen=True, slots=True, eq=False)
class WorkingBands:
    """float64[B, D] each, absolute loads."""

    low: Floats
    high: Floats


def working_bands(problem: Problem, low: Floats, high: Floats, params: BandParams = DEFAULTS.bands) -> WorkingBands:
    """``low``..``high`` shrunk by the margins; a band too narrow for that keeps its middle. Drained brokers: [0, 0]."""
    scale = resource_scale(problem)
    inner_low, inner_high = low.copy(), high.copy()
    for d, resource in enumerate(problem.resources):
        if resource in COUNTED:
            inner_low[:, d] = np.ceil(low[:, d]) - params.count_margin
            inner_high[:, d] = np.floor(high[:, d]) + params.count_margin
        else:
            inner_low[:, d] = low[:, d] + params.margin * scale[d]
            inner_high[:, d] = high[:, d] - params.margin * scale[d]
    inner_low = np.where(low <= 0, 0.0, inner_low)
    crossed = inner_low > inner_high
    middle = (np.where(np.isfinite(high), high, low) + low) / 2
    inner_low, inner_high = np.where(crossed, middle, inner_low), np.where(crossed, middle, inner_high)
    inner_low[~problem.stays] = 0.0
    inner_high[~problem.stays] = 0.0
    return WorkingBands(inner_low, inner_high)
