"""Causes that counting proves: each says what must go where, what is free there, and what is lacking.

Example: rack r1 has two brokers of 1 TiB, 1.6 TiB on them, and replicas of 0.5 TiB must be copied to it: its disks need
105 %, and 102.4 GiB are lacking. With less than that no plan is lawful, whatever else is done.
"""

from __future__ import annotations

import numpy as np

from kafka_rebalance.amounts import amount_in_words, bytes_in_words
from kafka_rebalance.arrays import Floats, Longs
from kafka_rebalance.cluster_arrays.broker_loads import broker_loads
from kafka_rebalance.cluster_arrays.params import DEFAULTS
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.cluster_arrays.tolerances import BAND_ROUNDING
from kafka_rebalance.planner.infeasible.cause import Cause
from kafka_rebalance.planner.infeasible.forced_copies import ForcedCopies
from kafka_rebalance.planner.infeasible.rack_limits import rack_limit_cause
from kafka_rebalance.resources import REPLICA_CARRIED, UNITS


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
    name, limit = place_name(problem, brokers), float(forced.limit[brokers].sum())
    today = float(np.minimum(forced.today, forced.limit)[brokers].sum())
    percent = f"{(today + needed) / limit:.1%}" if limit > 0 else "more than they have"
    lacking, leaving = bytes_in_words(needed - free), _leaving_words(problem, forced, brokers)
    text = (
        f"{name} {'needs' if name.startswith('the disk of') else 'need'} {percent}: {bytes_in_words(needed)} must be "
        f"copied there beside what they hold, {bytes_in_words(free)} is free: {lacking} is lacking{leaving}"
    )
    helps = f"add {lacking} of disk there at the least, keep less, or ask for fewer replicas"
    return Cause(text, helps, "disk", brokers, needed - free)


def _leaving_words(problem: Problem, forced: ForcedCopies, brokers: Longs) -> str:
    """Which of the brokers that leave hand on to ``brokers``: those of their racks, all where these are in many."""
    holders = np.unique(problem.replicas[problem.replicas >= 0])
    racks = np.unique(forced.rack[brokers])
    is_giver = ~problem.stays[holders] & ((len(racks) > 1) | np.isin(forced.rack[holders], racks))
    givers = [str(problem.broker_ids[b]) for b in holders[is_giver].tolist()]
    return f"; what leaves {_listed(givers)} is in it" if givers else ""


def _listed(ids: list[str]) -> str:
    most = DEFAULTS.most_named
    rest = f" and {len(ids) - most:,} more" if len(ids) > most else ""
    return f"broker{'s' if len(ids) > 1 else ''} {', '.join(ids[:most])}{rest}"


def place_name(problem: Problem, brokers: Longs) -> str:
    """For messages: rack r1's disks, the disk of broker 3, the disks of brokers 1, 2, or of all that take replicas."""
    takes = problem.takes_replicas
    racks = np.unique(problem.rack[brokers])
    if len(racks) == 1 and racks[0] >= 0 and int((problem.rack == racks[0])[takes].sum()) == len(brokers):
        return f"{problem.rack_name(int(racks[0]))}'s disks"
    if len(brokers) == 1:
        return f"the disk of {problem.broker_name(int(brokers[0]))}"
    if len(brokers) == int(takes.sum()):
        return f"the disks of the {len(brokers)} brokers that take replicas"
    return f"the disks of {_listed([str(problem.broker_ids[b]) for b in brokers.tolist()])}"


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
                text = (
                    f"a replica of {problem.name_of(row)} takes {bytes_in_words(float(forced.size[row]))}, and of the "
                    f"brokers that may get it {problem.broker_name(freest)} has most left, "
                    f"{bytes_in_words(float(forced.free[freest]))}: {bytes_in_words(lacking)} is lacking"
                )
                helps = f"add {bytes_in_words(lacking)} of disk to one of them, or more, smaller partitions"
                worst = Cause(text, helps, "disk", np.array([freest]), lacking)
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
            told = amount_in_words(lacking, UNITS[name])
            text = (
                f"all replicas bring {amount_in_words(total, UNITS[name])} of {name}, the brokers that stay may carry "
                f"{amount_in_words(float(held.sum()), UNITS[name])}: {told} is lacking"
            )
            helps = f"{told} more of {name}: a higher limit or another broker"
            return Cause(text, helps, name, np.flatnonzero(problem.stays), lacking)
        if (cause := rack_limit_cause(problem, name, held)) is not None:
            return cause
    return None
