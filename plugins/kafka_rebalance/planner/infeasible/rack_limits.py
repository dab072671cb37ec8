"""Caps by rack: an even spread brings the brokers of some racks more than they may carry together.

For a set of racks, what it must hold of a partition is what every rack holds of it anyway, and of the odd replicas
those that find no other rack. Sets are tried from the rack that is fullest on, one rack more each time.

Example: racks of 1 and 3 brokers, factor 2, 60 partitions, at most 40 replicas a broker: the lone broker must hold 60,
20 more than it may, though all four together may carry 160 and 120 are there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import Flags, Floats, Ints, Longs
from kafka_rebalance.cluster_arrays.even_spread import even_spread
from kafka_rebalance.cluster_arrays.fair_share import distinct_racks
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.cluster_arrays.tolerances import BAND_ROUNDING
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.planner.infeasible.cause import Cause
from kafka_rebalance.resources import REPLICA_CARRIED, UNITS


def rack_limit_cause(problem: Problem, resource: str, most: Floats) -> Cause | None:
    """The set of racks that lacks most: ``most`` float64[B], what brokers may carry of ``resource`` at the highest.

    None where racks do not bind: only leaders move, a budget may leave racks as they are, or a broker that stays takes
    nothing. O(P·W + K² · factors).
    """
    d = problem.column(resource)
    binds = problem.moves_replicas and not problem.budget.is_limited and (problem.takes_replicas == problem.stays).all()
    if d is None or resource not in REPLICA_CARRIED or not binds:
        return None
    racks = distinct_racks(problem.rack)
    held = _Held.of(problem, racks, d)
    may = np.bincount(racks[problem.stays], weights=most[problem.stays], minlength=len(held.anyway)).astype(np.float64)
    used = np.flatnonzero(held.size > 0)
    order = used[np.argsort(may[used] - held.anyway[used], kind="stable")]
    worst, found = 0.0, order[:0]
    for count in range(1, len(order)):  # all racks together are no matter of racks
        lacking = held.least(order[:count]) - float(may[order[:count]].sum())
        if np.isfinite(lacking) and lacking > worst + BAND_ROUNDING * held.least(order[:count]):
            worst, found = lacking, order[:count]
    return _cause(problem, resource, racks, found, (held.least(found), worst)) if len(found) else None


def _lightest(problem: Problem, d: int) -> Floats:
    """float64[P]: what a replica weighs at the least: one that stays where it is may be smaller than its leader's."""
    weight: Floats = problem.follower_load[:, d]
    if problem.own_disk is None or problem.resources[d] != "disk":
        return weight
    own = np.where(problem.replicas >= 0, problem.own_disk, np.inf).min(axis=1)
    return np.asarray(np.minimum(weight, own), dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class _Held:
    """What racks of ``size`` brokers must hold: ``anyway`` float64[K] by each; for each factor what one replica of all
    weighs, how many odd ones there are, and which racks could hold one, bool[K].
    """

    size: Longs
    anyway: Floats
    odd: list[tuple[float, int, Flags]]

    @classmethod
    def of(cls, problem: Problem, racks: Ints, d: int) -> _Held:
        weight, factors, free = _lightest(problem, d), problem.target_rf, ~problem.pinned & ~problem.is_confined
        if problem.must_leave is not None:  # what may not come back to a broker may leave its rack short: not counted
            free &= ~problem.must_leave.any(axis=1)
        size = np.bincount(racks[problem.stays], minlength=int(racks.max()) + 1).astype(np.int64)
        pinned = (problem.replicas >= 0) & problem.pinned[:, None]
        rows, columns = np.nonzero(pinned)
        anyway = np.bincount(racks[problem.replicas[rows, columns]], weights=weight[rows], minlength=len(size))
        odd = []
        for factor in np.unique(factors[free]).tolist():
            load = float(weight[free & (factors == factor)].sum())
            share, left = even_spread(factor, size)
            anyway = anyway + load * share
            odd.append((load, left, np.asarray(size > share)))
        return cls(size, anyway.astype(np.float64), odd)

    def least(self, racks: Longs) -> float:
        """By these racks together."""
        inside = np.isin(np.arange(len(self.size)), racks)
        more = sum(load * max(0, left - int((is_open & ~inside).sum())) for load, left, is_open in self.odd)
        return float(self.anyway[racks].sum() + more)


def _cause(problem: Problem, resource: str, racks: Ints, found: Longs, amounts: tuple[float, float]) -> Cause:
    needed, lacking = amounts
    brokers = np.flatnonzero(np.isin(racks, found) & problem.stays)
    named = sorted({problem.rack_name(rack) for rack in problem.rack[brokers].tolist() if rack >= 0})
    cause = fact(
        FactCode.LIMITS_TOO_LOW,
        resource=resource,
        needed=needed,
        limit=needed - lacking,
        brokers=len(brokers),
        racks=tuple(named),
        brokers_without_rack=tuple(int(problem.broker_ids[b]) for b in brokers.tolist() if problem.rack[b] < 0),
    )
    each = needed / len(brokers)
    enough = float(np.ceil(each)) if UNITS[resource] == "count" else each
    return Cause(cause, fact(FactCode.RAISE_LIMIT, resource=resource, limit=enough), resource, brokers, lacking)
