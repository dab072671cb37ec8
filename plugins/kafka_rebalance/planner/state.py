"""Working state of the search, changed in place by compiled kernels.

Index B is *unplaced*: replicas without a broker yet. As on a drained broker, nothing may stay there. Loads are in mean
loads per broker that stays, costs in mean bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kafka_assignors.arrays import Flags, Floats, Ints, Longs
from kafka_assignors.kernels import ByReference, inner_kernel, kernel
from kafka_rebalance.cluster_arrays.bands import distinct_racks
from kafka_rebalance.cluster_arrays.problem import BrokerSets, Carried, Problem, sum_loads
from kafka_rebalance.planner.params import DEFAULTS, BandParams, ReplicaKernelParams, SolveParams
from kafka_rebalance.planner.scales import move_costs, resource_scale
from kafka_rebalance.resources import COUNTED

# Small topics are counted on demand: 100,000 of them on 1,000 brokers need no table of 10⁸ cells.


@dataclass(frozen=True, eq=False)
class TopicSpread(ByReference):
    """Counts by topic and broker; ``row`` -1 for small topics."""

    topic: Ints  # int32[P]
    row: Ints  # int32[T]
    table: Ints  # int32[rows, B+1]
    limit: Ints  # int32[T]: ⌈replicas / brokers that stay⌉
    start: npt.NDArray[np.int64]  # int64[T+1]
    members: Ints  # partitions by topic


def topic_spread(problem: Problem, replicas: Ints, small_topic: int) -> TopicSpread:
    """Topics above ``small_topic`` replicas have a row."""
    topics = int(problem.topic.max(initial=-1)) + 1
    members = np.argsort(problem.topic, kind="stable").astype(np.int32)
    start = np.zeros(topics + 1, dtype=np.int64)
    np.cumsum(np.bincount(problem.topic, minlength=topics), out=start[1:])
    replica_count = np.bincount(problem.topic, weights=problem.target_rf, minlength=topics)
    has_row = replica_count > small_topic
    row = np.where(has_row, np.cumsum(has_row) - 1, -1).astype(np.int32)
    table = np.zeros((int(has_row.sum()), problem.broker_count + 1), dtype=np.int32)
    _count(replicas, problem.topic, row, table)
    return TopicSpread(np.ascontiguousarray(problem.topic), row, table, topic_limit(problem), start, members)


def topic_limit(problem: Problem) -> Ints:
    replica_count = np.bincount(
        problem.topic, weights=problem.target_rf, minlength=int(problem.topic.max(initial=-1)) + 1
    )
    return np.asarray(np.ceil(replica_count / max(1, int(problem.stays.sum()))), dtype=np.int32)


def topic_excess(topic: Ints, replicas: Ints, stays: Flags) -> int:
    is_there = replicas >= 0
    counts = is_there.sum(axis=1)
    total = np.bincount(topic, weights=counts)
    limit = np.ceil(total / max(1, int(stays.sum()))).astype(np.int64)
    key = np.repeat(topic.astype(np.int64), counts) * len(stays) + replicas[is_there]
    pair, count = np.unique(key, return_counts=True)
    return int(np.maximum(count - limit[pair // len(stays)], 0).sum())


@kernel
def _count(replicas: Ints, topic: Ints, row: Ints, table: Ints) -> None:
    for p in range(replicas.shape[0]):
        r = row[topic[p]]
        if r >= 0:
            for j in range(replicas.shape[1]):
                if replicas[p, j] >= 0:
                    table[r, replicas[p, j]] += 1


@inner_kernel
def replicas_of_topic(spread: TopicSpread, replicas: Ints, t: int, broker: int) -> int:
    if spread.row[t] >= 0:
        return int(spread.table[spread.row[t], broker])
    count = 0
    for i in range(spread.start[t], spread.start[t + 1]):
        p = spread.members[i]
        for j in range(replicas.shape[1]):
            if replicas[p, j] == broker:
                count += 1
    return count


@inner_kernel
def excess_change(spread: TopicSpread, replicas: Ints, p: int, source: int, target: int) -> int:
    """Change of the excess: -1, 0 or 1."""
    t = spread.topic[p]
    gained = 1 if replicas_of_topic(spread, replicas, t, target) >= spread.limit[t] else 0
    lost = 1 if replicas_of_topic(spread, replicas, t, source) > spread.limit[t] else 0
    return gained - lost


@dataclass(frozen=True, slots=True, eq=False)
class WorkingBands:
    """float64[B, D], slightly inside those asked for."""

    low: Floats
    high: Floats


def working_bands(problem: Problem, low: Floats, high: Floats, params: BandParams = DEFAULTS.bands) -> WorkingBands:
    """Bands less the margins; too narrow ones keep their middle. Drained brokers: [0, 0]."""
    scale = resource_scale(problem)
    inner_low, inner_high = low.copy(), high.copy()
    for d, resource in enumerate(problem.resources):
        if resource in COUNTED:
            inner_low[:, d] = np.ceil(low[:, d]) - params.count_margin
            inner_high[:, d] = np.floor(high[:, d]) + params.count_margin
        else:
            inner_low[:, d] = low[:, d] + params.margin * scale[d]
            inner_high[:, d] = high[:, d] - params.margin * scale[d]
    inner_low = np.where(low <= 0, 0.0, inner_low)
    crossed = inner_low > inner_high
    middle = (np.where(np.isfinite(high), high, low) + low) / 2
    inner_low, inner_high = np.where(crossed, middle, inner_low), np.where(crossed, middle, inner_high)
    inner_low[~problem.stays] = 0.0
    inner_high[~problem.stays] = 0.0
    return WorkingBands(inner_low, inner_high)


@dataclass(frozen=True, slots=True, eq=False)
class ReplicaSets:
    """``replicas`` holds the unplaced index for those to place."""

    replicas: Ints
    original: Ints


@dataclass(frozen=True, eq=False, kw_only=True)
class State(ByReference):
    """``original`` holds -2 - broker for a replica in an offline dir, which may not return."""

    replicas: Ints  # int32[P, W]
    original: Ints  # int32[P, W], today
    leader_index: Ints  # int32[P] slot, -1 = no leader load in this search
    has_leaders: bool
    follower: Floats  # float64[P, D]
    extra: Floats  # float64[P, D]
    own: Floats  # float64[P, W]: disk beyond the leader's, by original index; or float64[0, 0]
    cost: Floats  # float64[P]
    load: Floats  # float64[B+1, D]
    low: Floats
    high: Floats
    limit: Floats
    peak: Floats  # float64[B+1]: disk while both copies exist
    disk_column: int  # -1 where disk is not among the D
    has_limit: bool
    rack: Ints  # int32[B+1]
    takes: Flags  # bool[B+1]
    has_sets: bool  # some partition is confined
    set_of: Ints  # int32[P]: row of ``in_set``; or int32[0]
    in_set: Flags  # bool[S, B+1]
    leads: Flags  # bool[B+1]: where no other replica may lead
    leaves: Flags  # bool[B+1]: drained or unplaced
    receivers_in_rack: Longs  # int64[S, K]
    items: Ints  # replica slots p·W + j, by broker
    start: Longs  # int64[B+2]
    filled: Longs  # int64[B+1]
    position: Ints  # int32[P·W]: place in ``items``, -1 if pinned or empty
    topics: TopicSpread
    params: ReplicaKernelParams
    random: npt.NDArray[np.uint64]  # [1]


def make_state(
    problem: Problem,
    sets: ReplicaSets,
    leader_index: Ints,
    columns: list[int],
    bands: WorkingBands,
    *,
    seed: int,
    params: SolveParams = DEFAULTS,
) -> State:
    brokers, replicas, original = problem.broker_count, sets.replicas, sets.original
    scale = resource_scale(problem)[columns]
    rack = distinct_racks(problem.rack)
    rack_count, sets_of = int(rack.max()) + 1, problem.sets
    follower = np.ascontiguousarray(problem.follower_load[:, columns] / scale)
    extra = np.ascontiguousarray(problem.leader_extra[:, columns] / scale)
    names = [problem.resources[d] for d in columns]
    disk_column = names.index("disk") if "disk" in names else -1
    own = np.zeros((0, 0))
    if problem.own_disk is not None and disk_column >= 0:
        own = (problem.own_disk - problem.move_bytes[:, None]) / scale[disk_column]
    load = np.zeros((brokers + 1, len(columns)))
    sum_loads(replicas, original, leader_index, Carried(follower, extra, own, disk_column), load)
    limit = _with_unplaced(problem.limit[:, columns] / scale, np.inf)
    items, start, count, position = _items(replicas, problem.pinned, brokers + 1)
    return State(
        replicas=replicas,
        original=original,
        leader_index=leader_index,
        has_leaders=bool((leader_index >= 0).any()),
        follower=follower,
        extra=extra,
        own=own,
        cost=move_costs(problem, params.costs.per_move),
        load=load,
        low=_with_unplaced(bands.low[:, columns] / scale, 0.0),
        high=_with_unplaced(bands.high[:, columns] / scale, 0.0),
        limit=limit,
        peak=_peaks(problem, replicas, original, follower, own, disk_column, brokers + 1),
        disk_column=disk_column,
        has_limit=bool(np.isfinite(limit[:brokers]).any()),
        rack=np.append(rack, np.int32(rack_count)).astype(np.int32),
        takes=np.append(problem.takes_replicas, False),
        has_sets=problem.broker_sets is not None,
        set_of=np.ascontiguousarray(sets_of.of_partition) if problem.broker_sets else np.zeros(0, dtype=np.int32),
        in_set=np.column_stack([sets_of.brokers, np.zeros(len(sets_of.brokers), dtype=np.bool_)]),
        leads=np.append(_may_lead_alone(problem), False),
        leaves=np.append(~problem.stays, True),
        receivers_in_rack=_receivers_in_rack(sets_of, rack, problem.takes_replicas),
        items=items,
        start=start,
        filled=count,
        position=position,
        topics=topic_spread(problem, replicas, params.replicas.small_topic),
        params=params.replicas.kernels,
        random=np.array([seed * 2 + 88172645463325253], dtype=np.uint64),
    )


def _receivers_in_rack(sets: BrokerSets, rack: Ints, takes: Flags) -> Longs:
    sizes = sets.rack_sizes(rack, takes)
    return np.column_stack([sizes, np.zeros(len(sizes), dtype=np.int64)])


def _may_lead_alone(problem: Problem) -> Flags:
    """All where no receiver may lead."""
    if (problem.takes_replicas & problem.takes_leaders).any():
        return problem.takes_leaders
    return np.ones(problem.broker_count, dtype=np.bool_)


def _with_unplaced(table: Floats, value: float) -> Floats:
    return np.ascontiguousarray(np.vstack([table, np.full((1, table.shape[1]), value)]))


def _peaks(
    problem: Problem, replicas: Ints, original: Ints, follower: Floats, own: Floats, disk_column: int, brokers: int
) -> Floats:
    """Kafka deletes nothing before a copy is complete."""
    peak = np.zeros((brokers, 1))
    if disk_column >= 0 and np.isfinite(problem.limit).any():
        today = np.where(original < -1, -2 - original, original)
        size = np.ascontiguousarray(follower[:, disk_column : disk_column + 1])
        nobody = np.full(len(original), -1, dtype=np.int32)
        sum_loads(today, today, nobody, Carried(size, np.zeros_like(size), own, 0), peak)
        is_new = replicas >= 0
        for j in range(original.shape[1]):
            is_new &= replicas != original[:, j : j + 1]
        rows, replica_indexes = np.nonzero(is_new)
        np.add.at(peak[:, 0], replicas[rows, replica_indexes], size[rows, 0])
    return peak[:, 0].copy()


def _items(replicas: Ints, pinned: Flags, brokers: int) -> tuple[Ints, Longs, Longs, Ints]:
    """Space for three times the mean, so that a list never limits the search."""
    is_item = (replicas >= 0) & ~pinned[:, None]
    flat = replicas.ravel()
    replica_indexes = np.flatnonzero(is_item.ravel())
    count = np.bincount(flat[replica_indexes], minlength=brokers).astype(np.int64)
    capacity = np.maximum(count, min(len(replica_indexes), 3 * len(replica_indexes) // brokers + 64)) + 1
    start = np.zeros(brokers + 1, dtype=np.int64)
    np.cumsum(capacity, out=start[1:])
    items = np.empty(int(start[-1]), dtype=np.int32)
    position = np.full(replicas.size, -1, dtype=np.int32)
    filled = np.zeros(brokers, dtype=np.int64)
    _fill_items(flat, replica_indexes, start, filled, items, position)
    return items, start, count, position


@kernel
def _fill_items(flat: Ints, replica_indexes: Longs, start: Longs, filled: Longs, items: Ints, position: Ints) -> None:
    for replica_index in replica_indexes:
        broker = flat[replica_index]
        index = start[broker] + filled[broker]
        items[index] = replica_index
        position[replica_index] = index
        filled[broker] += 1
