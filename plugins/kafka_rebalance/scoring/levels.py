"""Level, plain mean and skew: one definition each, for brokers, racks, replicas of a topic and members of a group.

    level      = load / capacity (capacity 1 where none is given)
    plain mean = total load / total capacity
    skew       = highest level / plain mean (0 where nothing is carried)

Example: loads 6, 3, 0 on capacities 2, 1, 1: levels 3, 3, 0, plain mean 9/4, skew 4/3. Source: DESIGN §9.
"""

from __future__ import annotations

import numpy as np

from kafka_rebalance.arrays import Floats


def plain_mean(load: Floats, capacity: Floats | None = None) -> float:
    """Mean of float64[N] ``load`` over float64[N] ``capacity`` (1 each); 0 where there is nobody."""
    total_capacity = float(len(load) if capacity is None else capacity.sum())
    return float(load.sum()) / total_capacity if total_capacity > 0 else 0.0


def skew(load: Floats, capacity: Floats | None = None) -> float:
    """Highest level over plain mean; 0 where nothing is carried, 1 where all is even. ``load`` has no ``nan``."""
    mean = plain_mean(load, capacity)
    levels = load if capacity is None else load / capacity
    return float(levels.max()) / mean if mean > 0 else 0.0


def known_skew(load: Floats) -> float | None:
    """Skew, ``None`` where a load is unknown: half-known loads make no statement."""
    return None if np.isnan(load).any() else skew(load)
