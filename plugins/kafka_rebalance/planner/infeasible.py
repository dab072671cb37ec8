"""The smallest provable cause why no plan keeps the hard rules."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from kafka_assignors.arrays import Flags, Floats, Ints, Longs
from kafka_rebalance.cluster_arrays.bands import BAND_ROUNDING, distinct_racks, even_spread
from kafka_rebalance.cluster_arrays.problem import Problem, broker_loads
from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.planner.linear_program.relaxation import Rows, arcs_of, is_small, rack_rows
from kafka_rebalance.planner.params import DEFAULTS, LinearProgramParams
from kafka_rebalance.resources import REPLICA_CARRIED, UNITS


@dataclass(frozen=True, slots=True, eq=False)
class Cause:
    """``brokers`` (indices) together lack ``lacking`` of ``resource``."""

    fact: Fact
    helps: Fact
    resource: str
    brokers: Longs
    lacking: float

    def error(self) -> InfeasibleError:
        return InfeasibleError(self.fact, self.helps)


# A copy needs room beside everything on the disk today.


@dataclass(frozen=True, slots=True, eq=False)
class ForcedCopies:
    """Minima; a broker without a rack is its own. ``into_rack`` int64[P, K]."""

    size: Floats
    today: Floats
    limit: Floats
    free: Floats
    rack: Ints
    copies: Longs
    into_rack: Longs


def forced_copies(problem: Problem) -> ForcedCopies | None:
    """Forced copies, None where disks are unknown. O(P·(W + K))."""
    disk = problem.column("disk")
    if disk is None or not problem.moves_replicas:
        return None
    today = broker_loads(problem, problem.replicas, problem.leader)[:, disk]
    limit = problem.limit[:, disk]
    free = np.where(problem.takes_replicas, np.maximum(limit - today, 0.0), 0.0)
    rack = distinct_racks(problem.rack)
    copies, into_rack = _least_copies(problem, rack)
    return ForcedCopies(problem.follower_load[:, disk], today, limit, free, rack, copies, into_rack)


def _least_copies(problem: Problem, rack: Ints) -> tuple[Longs, Longs]:
    """Racks bind only if all brokers that stay take replicas."""
    racks = int(rack.max(initial=0)) + 1
    sizes, chosen = problem.sets.rack_sizes(rack, problem.stays), problem.sets.of_partition
    into = np.zeros((problem.partition_count, racks), dtype=np.int64)
    kept = (problem.replicas >= 0) & problem.stays[problem.replicas]
    if problem.must_leave is not None:
        kept &= ~problem.must_leave
    usable = np.minimum(kept.sum(axis=1), problem.target_rf)
    if (problem.takes_replicas == problem.stays).all():
        kept_in_rack = np.zeros_like(into)
        rows, slots = np.nonzero(kept)
        np.add.at(kept_in_rack, (rows, rack[problem.replicas[rows, slots]]), 1)
        for (number, size), factor in product(enumerate(sizes), np.unique(problem.target_rf).tolist()):
            share, odd = even_spread(factor, size)
            mine = (problem.target_rf == factor) & (chosen == number)
            into[mine] = np.maximum(share[None, :] - kept_in_rack[mine], 0)
            more = (kept_in_rack[mine] > share[None, :]).sum(axis=1)
            usable[mine] = np.minimum(kept_in_rack[mine], share[None, :]).sum(axis=1) + np.minimum(more, odd)
    into[problem.pinned] = 0
    return np.where(problem.pinned, 0, problem.target_rf - usable).astype(np.int64), into


# A set of racks must hold what each of its racks holds anyway, and odd replicas with no other rack. Sets grow rack by
# rack, least room first. Example: racks of 1 and 3 brokers, factor 2, 60 partitions: the lone broker must hold 60.


def rack_limit_cause(problem: Problem, resource: str, most: Floats) -> Cause | None:
    """Racks that lack most, None where racks do not bind. O(P·W + K² · factors)."""
    d = problem.column(resource)
    binds = problem.moves_replicas and not problem.budget.is_limited and (problem.takes_replicas == problem.stays).all()
    if d is None or resource not in REPLICA_CARRIED or not binds:
        return None
    racks = distinct_racks(problem.rack)
    loads = _Held.of(problem, racks, d)
    may = np.bincount(racks[problem.stays], weights=most[problem.stays], minlength=len(loads.anyway)).astype(np.float64)
    used = np.flatnonzero(loads.size > 0)
    order = used[np.argsort(may[used] - loads.anyway[used], kind="stable")]
    worst, tightest = 0.0, order[:0]
    for count in range(1, len(order)):
        lacking = loads.least(order[:count]) - float(may[order[:count]].sum())
        if np.isfinite(lacking) and lacking > worst + BAND_ROUNDING * loads.least(order[:count]):
            worst, tightest = lacking, order[:count]
    return _cause(problem, resource, racks, tightest, (loads.least(tightest), worst)) if len(tightest) else None


def _lightest(problem: Problem, d: int) -> Floats:
    """A replica that stays may be smaller than its leader's."""
    weight: Floats = problem.follower_load[:, d]
    if problem.own_disk is None or problem.resources[d] != "disk":
        return weight
    own = np.where(problem.replicas >= 0, problem.own_disk, np.inf).min(axis=1)
    return np.asarray(np.minimum(weight, own), dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class _Held:
    """``odd``: weight, number and possible racks of odd replicas by factor."""

    size: Longs
    anyway: Floats
    odd: list[tuple[float, int, Flags]]

    @classmethod
    def of(cls, problem: Problem, racks: Ints, d: int) -> _Held:
        weight, factors, free = _lightest(problem, d), problem.target_rf, ~problem.pinned & ~problem.is_confined
        if problem.must_leave is not None:  # a replica that must leave may leave its rack short
            free &= ~problem.must_leave.any(axis=1)
        size = np.bincount(racks[problem.stays], minlength=int(racks.max()) + 1).astype(np.int64)
        pinned = (problem.replicas >= 0) & problem.pinned[:, None]
        rows, columns = np.nonzero(pinned)
        anyway = np.bincount(racks[problem.replicas[rows, columns]], weights=weight[rows], minlength=len(size))
        odd = []
        for factor in np.unique(factors[free]).tolist():
            load = float(weight[free & (factors == factor)].sum())
            share, odd_count = even_spread(factor, size)
            anyway = anyway + load * share
            odd.append((load, odd_count, np.asarray(size > share)))
        return cls(size, anyway.astype(np.float64), odd)

    def least(self, racks: Longs) -> float:
        inside = np.isin(np.arange(len(self.size)), racks)
        more = sum(load * max(0, odd_count - int((is_open & ~inside).sum())) for load, odd_count, is_open in self.odd)
        return float(self.anyway[racks].sum() + more)


def _cause(problem: Problem, resource: str, racks: Ints, worst_racks: Longs, amounts: tuple[float, float]) -> Cause:
    needed, lacking = amounts
    brokers = np.flatnonzero(np.isin(racks, worst_racks) & problem.stays)
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
    needed_per_broker = needed / len(brokers)
    enough = float(np.ceil(needed_per_broker)) if UNITS[resource] == "count" else needed_per_broker
    return Cause(cause, fact(FactCode.RAISE_LIMIT, resource=resource, limit=enough), resource, brokers, lacking)


MOST_LISTED = 50


def rack_cause(problem: Problem, forced: ForcedCopies) -> Cause | None:
    needed = forced.size @ forced.into_rack
    return _fullest(problem, forced, [(np.flatnonzero(forced.rack == k), float(n)) for k, n in enumerate(needed)])


def disks_cause(problem: Problem, forced: ForcedCopies) -> Cause | None:
    receivers = np.flatnonzero(problem.takes_replicas)
    return _fullest(problem, forced, [(receivers, float(forced.size @ forced.copies))])


def set_cause(problem: Problem, forced: ForcedCopies) -> Cause | None:
    """Copies of the set's topics count, and of topics confined to fewer brokers."""
    sets, places = problem.sets, []
    for may in sets.brokers[1:]:
        only = ~(sets.brokers & ~may).any(axis=1)
        needed = float((forced.size * forced.copies)[only[sets.of_partition]].sum())
        places.append((np.flatnonzero(may & problem.takes_replicas), needed))
    return _fullest(problem, forced, places)


def _fullest(problem: Problem, forced: ForcedCopies, broker_sets: list[tuple[Longs, float]]) -> Cause | None:
    """``broker_sets``: brokers, forced bytes."""
    worst, cause = 0.0, None
    for broker_set, needed in broker_sets:
        brokers = broker_set[problem.takes_replicas[broker_set]]
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
    holders = np.unique(problem.replicas[problem.replicas >= 0])
    racks = np.unique(forced.rack[brokers])
    is_giver = ~problem.stays[holders] & ((len(racks) > 1) | np.isin(forced.rack[holders], racks))
    return tuple(int(problem.broker_ids[b]) for b in holders[is_giver].tolist())


def place_of(problem: Problem, brokers: Longs) -> dict[str, Any]:
    """The rack only where ``brokers`` are all of it."""
    takes, racks = problem.takes_replicas, np.unique(problem.rack[brokers])
    is_rack = len(racks) == 1 and racks[0] >= 0 and int((problem.rack == racks[0])[takes].sum()) == len(brokers)
    return {
        "rack": problem.rack_name(int(racks[0])) if is_rack else None,
        "brokers": tuple(int(problem.broker_ids[b]) for b in brokers[:MOST_LISTED].tolist()),
        "broker_count": len(brokers),
        "is_all": len(brokers) == int(takes.sum()),
    }


def largest_copy_cause(problem: Problem, forced: ForcedCopies) -> Cause | None:
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
    """Brokers that may take the partition, for each rack that must get a copy, else all."""
    may = (
        problem.takes_replicas
        & problem.sets.brokers[problem.sets.of_partition[row]]
        & ~np.isin(np.arange(problem.broker_count), problem.replicas[row])
    )
    if problem.target_rf[row] == 1:
        may &= problem.takes_leaders
    is_endless = ~np.isfinite(forced.limit)
    racks = np.flatnonzero(forced.into_rack[row] > 0).tolist()
    rack_masks = [forced.rack == k for k in racks] or [np.ones(problem.broker_count, dtype=np.bool_)]
    able = [may & is_in_rack for is_in_rack in rack_masks]
    return [np.flatnonzero(some) for some in able if some.any() and not (some & is_endless).any()]


def limit_cause(problem: Problem) -> Cause | None:
    """All brokers or some racks; a broker above its limit may stay so."""
    load = broker_loads(problem, problem.replicas, problem.leader)
    for d, name in enumerate(problem.resources):
        limit = problem.limit[:, d]
        if name == "disk" or name not in REPLICA_CARRIED or not np.isfinite(limit[problem.stays]).all():
            continue
        capacity: Floats = np.where(problem.stays, np.maximum(limit, load[:, d]), 0.0)
        total = float((problem.follower_load[:, d] * problem.target_rf).sum())
        lacking = total - float(capacity.sum())
        if lacking > BAND_ROUNDING * total:
            too_low = fact(
                FactCode.LIMITS_TOO_LOW,
                resource=name,
                needed=total,
                limit=float(capacity.sum()),
                brokers=int(problem.stays.sum()),
            )
            helps = fact(FactCode.RAISE_LIMIT, resource=name, lacking=lacking)
            return Cause(too_low, helps, name, np.flatnonzero(problem.stays), lacking)
        if (cause := rack_limit_cause(problem, name, capacity)) is not None:
            return cause
    return None


# Linear program of all copies, where no count proves a cause.
#
#     minimise Σ disk bought    over all ways to place what must be placed, each disk at its limit and what is bought
#
# A positive minimum is lacking: whole replicas fit no better. Brokers with dual price 1 lack it (Farkas' certificate).


def program_cause(
    problem: Problem, forced: ForcedCopies, params: LinearProgramParams = DEFAULTS.linear_program
) -> Cause | None:
    """None where fractional copies fit or the cluster is too large."""
    if not is_small(problem, params.arcs):
        return None
    arcs = arcs_of(problem, params.arcs)
    bounded = np.flatnonzero(problem.takes_replicas & np.isfinite(forced.limit))
    count, unit = len(arcs.row), max(float(forced.size.max(initial=0.0)), 1.0)
    if not count or not len(bounded):
        return None
    rows = Rows(count + len(bounded))
    new = np.flatnonzero(~arcs.is_kept & np.isin(arcs.broker, bounded))
    line = np.searchsorted(bounded, arcs.broker[new])
    own = np.arange(len(bounded))
    factor = np.concatenate([forced.size[arcs.row[new]] / unit, -np.ones(len(bounded))])
    rows.add(np.concatenate([line, own]), np.concatenate([new, count + own]), factor, forced.free[bounded] / unit)
    if (problem.takes_replicas == problem.stays).all():
        rack_rows(problem, arcs, rows)
    free = np.flatnonzero(~problem.pinned)
    every: Any = sp.csr_matrix(
        (np.ones(count), (np.searchsorted(free, arcs.row), np.arange(count))), (len(free), count + len(bounded))
    )
    top = np.append(np.ones(count), np.full(len(bounded), np.inf))
    box: Any = np.column_stack([np.zeros(rows.variables), top])
    matrix: Any = sp.vstack(rows.blocks).tocsr()
    answer = linprog(
        np.append(np.zeros(count), np.ones(len(bounded))),
        matrix,
        np.concatenate(rows.most),
        every,
        problem.target_rf[free].astype(np.float64),
        bounds=box,
        method="highs",
    )
    if (
        not answer.success
        or answer.fun is None
        or answer.fun * unit <= params.arcs.unused_share * float(forced.size.sum()) + 1
    ):
        return None
    price = -answer.ineqlin.marginals[: len(bounded)]
    brokers, lacking = bounded[price > 1 - params.arcs.unused_share], float(answer.fun) * unit
    if not len(brokers):
        return None
    free_bytes = float(forced.free[brokers].sum())
    cause = fact(
        FactCode.DISKS_LACK_ROOM,
        **place_of(problem, brokers),
        needed_bytes=free_bytes + lacking,
        free_bytes=free_bytes,
        is_by_program=True,
    )
    return Cause(cause, fact(FactCode.ADD_DISK, lacking_bytes=lacking), "disk", brokers, lacking)


def smallest_cause(problem: Problem, params: LinearProgramParams = DEFAULTS.linear_program) -> Cause | None:
    """None if fractions fit, though whole replicas may not."""
    forced = forced_copies(problem)
    if forced is None:
        return limit_cause(problem)
    return (
        rack_cause(problem, forced)
        or disks_cause(problem, forced)
        or set_cause(problem, forced)
        or largest_copy_cause(problem, forced)
        or limit_cause(problem)
        or program_cause(problem, forced, params)
    )
