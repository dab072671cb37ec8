"""Covers: what whole replicas say about one broker's band where shares of replicas say less.

Of the replicas that a broker may hold take any set S. What S weighs beyond the room within the band, its ``surplus``,
must not be there; and a replica that is not there takes off its weight, but never more than the whole surplus counts:

    Σ over S of min(weight, surplus) · (1 - is there)  >=  surplus        (a knapsack cover, Carr et al. 2000)

For if one replica as heavy as the surplus is not there, that alone is enough, and else nothing was cut down. Leaders'
extra loads only make the room smaller and are left out.

Example: room for 10, on the broker 6, 4 and 3: the surplus is 3. By shares half of the 6 leaves; by the cover it counts
3 at most, so a whole replica leaves, whichever.

Complexity: O(P) a cover.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import NOBODY, Flags, Floats, Longs
from kafka_rebalance.cluster_arrays.broker_loads import broker_loads
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.solution import Cover
from kafka_rebalance.planner.tolerances import COVER_ROUNDING


@dataclass(frozen=True, slots=True, eq=False)
class CoverRow:
    """The inequality: ``row`` int64[n] partitions in order, ``weight`` float64[n] cut down to ``surplus`` > 0."""

    row: Longs
    weight: Floats
    surplus: float

    @property
    def most(self) -> float:
        """The same inequality as Σ weight · is there <= most."""
        return float(self.weight.sum()) - self.surplus


def pinned_load(problem: Problem) -> Floats:
    """float64[B, D]: what partitions that nobody may touch put on brokers."""
    held = np.where(problem.pinned[:, None], problem.replicas, NOBODY)
    return np.asarray(broker_loads(problem, held, np.where(problem.pinned, problem.leader, NOBODY)))


def may_stay_on(problem: Problem, broker: int) -> Flags:
    """bool[P, W]: replicas of free partitions that may stay on ``broker``."""
    there = (problem.replicas == broker) & ~problem.pinned[:, None]
    if problem.must_leave is not None:
        there &= ~problem.must_leave
    return np.asarray(there & problem.stays[broker])


def cover_row(problem: Problem, cover: Cover, pinned: Floats) -> CoverRow | None:
    """None where the broker leaves, or the set fits into its band but for rounding.

    ``pinned`` float64[B, D] is ``pinned_load``.
    """
    there = may_stay_on(problem, cover.broker)
    stays = there.any(axis=1)
    taken = np.array(stays)
    taken[cover.gone] = False
    taken[cover.come] = ~problem.pinned[cover.come]
    weight = problem.follower_load[:, cover.column].copy()
    if problem.own_disk is not None and cover.column == problem.column("disk"):
        weight[stays] = problem.own_disk[there]
    row = np.flatnonzero(taken & (weight > 0))
    headroom = float(problem.band_high[cover.broker, cover.column] - pinned[cover.broker, cover.column])
    surplus = float(weight[row].sum()) * (1 - COVER_ROUNDING) - headroom
    if not problem.stays[cover.broker] or not np.isfinite(headroom) or surplus <= 0:
        return None
    return CoverRow(row, np.minimum(weight[row], surplus), surplus)


@dataclass(frozen=True, slots=True, eq=False)
class Surcharges:
    """What covers at their prices add to the Lagrangian: ``amount`` float64[n] for a replica of ``row`` int64[n], in
    order, on ``broker`` int64[n], and ``constant`` once.
    """

    row: Longs
    broker: Longs
    amount: Floats
    constant: float

    def of_slice(self, rows: Longs) -> tuple[Longs, Longs, Floats]:
        """Place in ``rows`` int64[M], in order, broker and amount of those that are among them."""
        some = slice(*np.searchsorted(self.row, [rows[0], rows[-1] + 1])) if len(rows) else slice(0, 0)
        row, broker, amount = self.row[some], self.broker[some], self.amount[some]
        place = np.searchsorted(rows, row)
        found = rows[place] == row
        return place[found], broker[found], amount[found]


def surcharges(problem: Problem, covers: tuple[Cover, ...]) -> Surcharges:
    """Each broker's amounts of a partition summed up."""
    pinned, constant = pinned_load(problem), 0.0
    cells: list[Longs] = [np.zeros(0, dtype=np.int64)]
    amounts: list[Floats] = [np.zeros(0)]
    for cover in covers:
        found = cover_row(problem, cover, pinned)
        if found is not None:
            cells.append(found.row * problem.broker_count + cover.broker)
            amounts.append(cover.price * found.weight)
            constant -= cover.price * found.most
    cell, place = np.unique(np.concatenate(cells), return_inverse=True)
    amount = np.bincount(place, weights=np.concatenate(amounts), minlength=len(cell)).astype(np.float64)
    row, broker = np.divmod(cell, problem.broker_count)
    return Surcharges(row, broker, amount, constant)
