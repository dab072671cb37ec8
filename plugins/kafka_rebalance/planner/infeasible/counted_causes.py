"""Causes that counting proves: each says what must go where, what is free there, and what is lacking.

Example: rack r1 has two brokers of 1 TiB, 1.6 TiB on them, and replicas of 0.5 TiB must be copied to it: its disks need
105 %, and 102.4 GiB are lacking. With less than that no plan is lawful, whatever else is done.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kafka_rebalance.arrays import Floats, Longs
from kafka_rebalance.cluster_arrays.broker_loads import broker_loads
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.cluster_arrays.tolerances import BAND_ROUNDING
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.planner.infeasible.cause import Cause
from kafka_rebalance.planner.infeasible.forced_copies import ForcedCopies
from kafka_rebalance.planner.infeasible.rack_limits import rack_limit_cause
from kafka_rebalance.resources import REPLICA_CARRIED

MOST_LISTED = 50  # brokers in the arguments of a fact


def rack_cause(problem: Problem, forced: ForcedCopies) -> Cause | None:
    """The rack whose disks lack the largest share of what must be copied to it."""
    needed = forced.size @ forced.into_rack
    return _fullest(problem, forced, [(np.flatnonzero(forced.rack == k), float(n)) for k, n in enumerate(needed)])


def disks_cause(problem: Problem, forced: ForcedCopies) -> Cause | None:
    """All disks together, less what is on them, are smaller than all that must be copied."""
    receivers = np.flatnonzero(problem.takes_replicas)
    return _fullest(problem, forced, [(receivers, float(forced.size @ forced.copies))])


def set_cause(problem: Problem, forced: ForcedCopies) -> Cause | None:
    """The brokers that topics are confined to, whose disks lack the largest share of what must be copied to them.

    Only copies that may go nowhere else are counted: of the set's own topics, and of those confined to fewer.
    """
    sets, places = problem.sets, []
    for may in sets.brokers[1:]:
        only = ~(sets.brokers & ~may).any(axis=1)  # sets within this one
        needed = float((forced.size * forced.copies)[only[sets.of_partition]].sum())
        places.append((np.flatnonzero(may & problem.takes_replicas), needed))
    return _fullest(problem, forced, places)


def _fullest(problem: Problem, forced: ForcedCopies, places: list[tuple[Longs, float]]) -> Cause | None:
    """Of ``places``, brokers and bytes that must be copied to them, the one that lacks most for its size."""
    worst, cause = 0.0, None
    for place, needed in places:
        brokers = place[problem.takes_replicas[place]]
        free, limit = float(forced.free[brokers].sum()), float(forced.limit[brokers].sum())
        lacking = needed - free
        if not np.isfinite(limit) or lacking <= BAND_ROUNDING * max(needed, 1.0):
            continue
        share = lacking / max(limit, 1.0)
        if cause is None or share > worst:
            worst, cause = share, _too_small(problem, forced, brokers, needed, free)
    return cause


def _too_small(problem: Problem, forced: ForcedCopies, brokers: Longs, needed: float, free: float) -> Cause:
    cause = fact(
        FactCode.DISKS_LACK_ROOM,
        **place_of(problem, brokers),
        needed_bytes=needed,
        free_bytes=free,
        held_bytes=float(np.minimum(forced.today, forced.limit)[brokers].sum()),
        limit_bytes=float(forced.limit[brokers].sum()),
        leaving_brokers=_leaving(problem, forced, brokers)[:MOST_LISTED],
    )
    return Cause(cause, fact(FactCode.ADD_DISK, lacking_bytes=needed - free), "disk", brokers, needed - free)


def _leaving(problem: Problem, forced: ForcedCopies, brokers: Longs) -> tuple[int, ...]:
    """Which of the brokers that leave hand on to ``brokers``: those of their racks, all where these are in many."""
    holders = np.unique(problem.replicas[problem.replicas >= 0])
    racks = np.unique(forced.rack[brokers])
    is_giver = ~problem.stays[holders] & ((len(racks) > 1) | np.isin(forced.rack[holders], racks))
    return tuple(int(problem.broker_ids[b]) for b in holders[is_giver].tolist())


def place_of(problem: Problem, brokers: Longs) -> dict[str, Any]:
    """Return the arguments of a fact that name brokers: their ids, and their rack where they are all of it."""
    takes, racks = problem.takes_replicas, np.unique(problem.rack[brokers])
    is_rack = len(racks) == 1 and racks[0] >= 0 and int((problem.rack == racks[0])[takes].sum()) == len(brokers)
    return {
        "rack": problem.rack_name(int(racks[0])) if is_rack else None,
        "brokers": tuple(int(problem.broker_ids[b]) for b in brokers[:MOST_LISTED].tolist()),
        "broker_count": len(brokers),
        "is_all": len(brokers) == int(takes.sum()),
    }


def largest_copy_cause(problem: Problem, forced: ForcedCopies) -> Cause | None:
    """A replica that must be copied is larger than what any disk has left that may take it."""
    worst: Cause | None = None
    open_racks = np.unique(forced.rack[problem.takes_replicas])
    least = min((float(forced.free[forced.rack == k].max()) for k in open_racks.tolist()), default=0.0)
    for row in np.flatnonzero((forced.copies > 0) & ((forced.size > least) | problem.is_confined)).tolist():
        for brokers in _where(problem, forced, row):
            freest = int(brokers[forced.free[brokers].argmax()])
            lacking = float(forced.size[row] - forced.free[freest])
            if lacking > BAND_ROUNDING * forced.size[row] and (worst is None or lacking > worst.lacking):
                cause = fact(
                    FactCode.COPY_TOO_LARGE,
                    partition=problem.name_of(row),
                    replica_bytes=float(forced.size[row]),
                    broker=int(problem.broker_ids[freest]),
                    free_bytes=float(forced.free[freest]),
                )
                helps = fact(FactCode.ADD_DISK, lacking_bytes=lacking, or_smaller_partitions=True)
                worst = Cause(cause, helps, "disk", np.array([freest]), lacking)
    return worst


def _where(problem: Problem, forced: ForcedCopies, row: int) -> list[Longs]:
    """For each place that must get a copy of the partition, the brokers that may: racks, else all."""
    may = (
        problem.takes_replicas
        & problem.sets.brokers[problem.sets.of_partition[row]]
        & ~np.isin(np.arange(problem.broker_count), problem.replicas[row])
    )
    if problem.target_rf[row] == 1:
        may &= problem.takes_leaders
    is_endless = ~np.isfinite(forced.limit)
    racks = np.flatnonzero(forced.into_rack[row] > 0).tolist()
    places = [forced.rack == k for k in racks] or [np.ones(problem.broker_count, dtype=np.bool_)]
    able = [may & place for place in places]
    return [np.flatnonzero(some) for some in able if some.any() and not (some & is_endless).any()]


def limit_cause(problem: Problem) -> Cause | None:
    """All brokers together, or those of some racks, may carry less of a resource than replicas bring; who is above its
    limit may stay so.
    """
    load = broker_loads(problem, problem.replicas, problem.leader)
    for d, name in enumerate(problem.resources):
        limit = problem.limit[:, d]
        if name == "disk" or name not in REPLICA_CARRIED or not np.isfinite(limit[problem.stays]).all():
            continue
        held: Floats = np.where(problem.stays, np.maximum(limit, load[:, d]), 0.0)
        total = float((problem.follower_load[:, d] * problem.target_rf).sum())
        lacking = total - float(held.sum())
        if lacking > BAND_ROUNDING * total:
            too_low = fact(
                FactCode.LIMITS_TOO_LOW,
                resource=name,
                needed=total,
                limit=float(held.sum()),
                brokers=int(problem.stays.sum()),
            )
            helps = fact(FactCode.RAISE_LIMIT, resource=name, lacking=lacking)
            return Cause(too_low, helps, name, np.flatnonzero(problem.stays), lacking)
        if (cause := rack_limit_cause(problem, name, held)) is not None:
            return cause
    return None
