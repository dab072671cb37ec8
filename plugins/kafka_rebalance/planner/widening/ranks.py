"""Bands give way by rank: caps are kept before any band, what was ordered before defaults (``Problem.band_rank``).

Example: disks of 0.5 and 2 TB, ``--target disk=0.9..1.1``. With equal counts of replicas, a default, no disk comes
below 2.1 × the mean. So the band of disk is met first with all others left out, and counts are then brought as near to
their own as it allows.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kafka_rebalance.arrays import Flags
from kafka_rebalance.cluster_arrays.problem import Problem


def given_up(problem: Problem) -> list[Flags]:
    """bool[D] each, resources whose bands are left out: all where there are caps, then those of each rank but the
    first, the highest rank alone at last.
    """
    rank = np.zeros(len(problem.resources), dtype=np.int32) if problem.band_rank is None else problem.band_rank
    steps = [rank > step for step in np.unique(rank)[:-1].tolist()]
    has_caps = problem.cap is not None and bool(np.isfinite(problem.cap[problem.stays]).any())
    return [np.ones(len(rank), dtype=np.bool_), *steps] if has_caps else steps


def without_bands(problem: Problem, dropped: Flags) -> Problem:
    """The same problem, the bands of ``dropped`` bool[D] left out; caps remain."""
    cap = np.full_like(problem.band_high, np.inf) if problem.cap is None else problem.cap
    free = problem.stays[:, None] & dropped[None, :]
    return replace(
        problem,
        band_low=np.where(free, 0.0, problem.band_low),
        band_high=np.where(free, cap, problem.band_high),
    )
