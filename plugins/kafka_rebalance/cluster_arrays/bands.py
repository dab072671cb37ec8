"""From options to bands: what each broker may carry of each resource, as absolute loads.

``within`` is a two-sided band around the fair share; a ``Target`` replaces it for one resource and speaks of the plain
mean. Counts may always be rounded: a fair share of 3.4 replicas may be 3 or 4 however narrow the band.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import Flags, Floats
from kafka_rebalance.cluster_arrays.fair_share import plain_mean
from kafka_rebalance.cluster_arrays.tolerances import BAND_ROUNDING
from kafka_rebalance.options.target import Target
from kafka_rebalance.resources import COUNTED


@dataclass(frozen=True, slots=True, eq=False)
class Bands:
    """float64[B, D] each: lowest and highest load that is inside."""

    low: Floats
    high: Floats


def band_of(
    *,
    resources: tuple[str, ...],
    shares: Floats,
    total: Floats,
    capacity: Floats,
    stays: Flags,
    within: Mapping[str, float | None],
    targets: Mapping[str, Target],
) -> Bands:
    """Bands of all brokers and resources. Drained brokers have [0, 0]; ``within`` by resource, None or none = no band.

    shares, capacity float64[B, D], total float64[D], stays bool[B]. O(B·D).
    """
    mean = plain_mean(total, capacity, stays)
    low = np.zeros_like(shares)
    high = np.full_like(shares, np.inf)
    for d, resource in enumerate(resources):
        target = targets.get(resource)
        if target is not None:
            level = mean[d] * capacity[:, d]
            low[:, d], high[:, d] = _target_band(target, level, is_count=resource in COUNTED)
        elif (width := within.get(resource)) is not None:
            low[:, d], high[:, d] = _share_band(width, shares[:, d], is_count=resource in COUNTED)
    low[~stays] = 0.0
    high[~stays] = 0.0
    return Bands(low, high)


def _share_band(within: float, share: Floats, *, is_count: bool) -> tuple[Floats, Floats]:
    low, high = share * (1 - within), share * (1 + within)
    if is_count:
        low, high = np.minimum(low, np.floor(share + BAND_ROUNDING)), np.maximum(high, np.ceil(share - BAND_ROUNDING))
    return np.maximum(low, 0.0), high


def _target_band(target: Target, level: Floats, *, is_count: bool) -> tuple[Floats, Floats]:
    low = np.zeros_like(level) if target.low is None else target.low * level
    high = np.full_like(level, np.inf) if target.high is None else target.high * level
    # A count at the very edge is a matter of rounding: keep off it.
    low, high = low + BAND_ROUNDING * (low > 0), np.maximum(high - BAND_ROUNDING, 0.0)
    if is_count:
        # A band around the mean that holds no whole number still allows the mean rounded either way.
        is_empty = np.ceil(low - BAND_ROUNDING) > np.floor(high + BAND_ROUNDING)
        low = np.where(is_empty, np.minimum(low, np.floor(level + BAND_ROUNDING)), low)
        high = np.where(is_empty, np.maximum(high, np.ceil(level - BAND_ROUNDING)), high)
    return low, high
