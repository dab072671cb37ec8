"""Who leads first, and which counts of leaders a band allows."""

from __future__ import annotations

import numpy as np

from kafka_rebalance.arrays import Flags, Floats, Ints, Longs
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.params import DEFAULTS


def first_leaders(problem: Problem, replicas: Ints, may_lead: Flags) -> Ints:
    """int32[P] slots: today's leader where it may go on, else the first replica that may, else the first."""
    is_today = (replicas == problem.leader[:, None]) & may_lead
    preferred = is_today if not problem.elects_preferred else may_lead
    replica_index: Ints = np.where(preferred.any(axis=1), preferred.argmax(axis=1), may_lead.argmax(axis=1)).astype(
        np.int32
    )
    return replica_index


def count_band(low: Floats, high: Floats, tolerance: float = DEFAULTS.bounds.count_tolerance) -> tuple[Longs, Longs]:
    """int64[B] each: the whole numbers in low..high; a band without an upper end holds any count."""
    top = np.minimum(np.where(np.isfinite(high), high, 1e15), 1e15)
    return np.ceil(low - tolerance).astype(np.int64), np.floor(top + tolerance).astype(np.int64)
