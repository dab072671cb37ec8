"""The dead band, inside which a plan does nothing, and the test whether a plan pays.

Imbalance is the share of all load outside the bands, summed over resources: 0.02 of the disk and 0.01 of the leaders
make 0.03.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kafka_assignors.arrays import Floats
from kafka_rebalance.cluster_arrays.bands import BAND_ROUNDING
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.plans.draft import Bands, Outcome
from kafka_rebalance.resources import COUNTED


@dataclass(frozen=True, slots=True)
class Deviation:
    """The broker furthest from its share: ``ratio`` = load / share."""

    resource: str
    broker: int
    ratio: float


def worst_deviation(problem: Problem, load: Floats, within: float) -> Deviation | None:
    """Of remaining brokers, None without load. A count within one of its share is at its share. A deficit that no plan
    can fill (``band_low``) does not count.
    """
    worst: Deviation | None = None
    share = problem.band_high / (1 + within)
    for d, resource in enumerate(problem.resources):
        usable = problem.stays & np.isfinite(share[:, d]) & (share[:, d] > 0)
        if not usable.any():
            continue
        ratio = np.ones(len(load))
        np.divide(load[:, d], share[:, d], out=ratio, where=usable)
        inside = (load[:, d] >= problem.band_low[:, d]) & (load[:, d] <= problem.band_high[:, d])
        if resource in COUNTED:
            inside |= np.abs(load[:, d] - share[:, d]) <= 1
        ratio = np.where(usable & ~inside, ratio, 1.0)
        b = int(np.abs(ratio - 1).argmax())
        if worst is None or abs(ratio[b] - 1) > abs(worst.ratio - 1):
            worst = Deviation(resource, b, float(ratio[b]))
    return worst


def imbalance(bands: Bands, load: Floats, stays: np.ndarray) -> float:
    """Share of all load above or below the bands, the larger, summed over resources."""
    total = 0.0
    for d in range(load.shape[1]):
        carried = float(load[:, d].sum())
        if carried > 0:
            over = np.maximum(load[stays, d] - bands.high[stays, d], 0.0).sum()
            under = np.maximum(bands.low[stays, d] - load[stays, d], 0.0).sum()
            total += float(max(over, under)) / carried
    return total


def gained(bands: Bands, before: Sequence[Floats], after: Sequence[Floats], stays: np.ndarray) -> tuple[float, float]:
    """Today's imbalance and its reduction, in the worst of several states of loads. It counts bands of the first rank
    if these change, else of more ranks, at last of all.
    """
    rank = np.zeros(before[0].shape[1], dtype=np.int32) if bands.rank is None else bands.rank
    was = gain = 0.0
    for step in np.unique(rank).tolist():
        some = rank <= step
        part = replace(bands, low=bands.low[:, some], high=bands.high[:, some])
        was = max(imbalance(part, load[:, some], stays) for load in before)
        gain = was - max(imbalance(part, load[:, some], stays) for load in after)
        if abs(gain) > BAND_ROUNDING:
            break
    return was, gain


def evens_out(bands: Bands, outcome: Outcome, stays: np.ndarray) -> bool:
    """Whether the worst of today's states of loads becomes better, by ``gained``."""
    return gained(bands, outcome.states_before, outcome.states_after, stays)[1] > 0


def gain_per_byte(gain: float, copied_bytes: float, total_bytes: float) -> float:
    if copied_bytes <= 0 or total_bytes <= 0:
        return float("inf")
    return gain / (copied_bytes / total_bytes)
