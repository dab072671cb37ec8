"""Partitions of a snapshot as the planner's arrays: replicas, measured loads, and what must be left alone and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from kafka_rebalance.arrays import NOBODY, Flags, Floats, Ints
from kafka_rebalance.cluster_arrays.assemble import Placement
from kafka_rebalance.cluster_arrays.broker_arrays import BrokerArrays
from kafka_rebalance.cluster_arrays.broker_sets import BrokerSets, broker_sets_of
from kafka_rebalance.cluster_arrays.laggards import laggards_of, waits_and_leaves
from kafka_rebalance.cluster_arrays.params import DEFAULTS
from kafka_rebalance.cluster_arrays.resource_columns import MeasuredLoads
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.resources import COUNTED, TABLE
from kafka_rebalance.snapshot.load import LoadKind, LoadSource
from kafka_rebalance.snapshot.model import ClusterSnapshot, PartitionLoads, partition_table

AUTO_ELECTION = "auto.leader.rebalance.enable"  # of brokers; on by default


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PartitionArrays:
    """P partitions. ``size`` float64[P] the leader's replica size (nan: unknown), ``own_size`` float64[P, W] of each
    replica (nan: as the leader's), ``rate`` float64[P] bytes/s written (nan: unknown), ``arriving_bytes`` float64[B]
    what running reassignments still have to copy: a replica that they add counts in full from the start.

    ``excluded`` (by the options, or because of observers), ``in_flight``, ``leaderless``, ``waiting`` (for a replica
    out of sync), ``short`` (on a broker that is gone, and too few brokers to replace it): left alone whatever happens;
    ``unknown``: left alone unless it must go. ``laggards`` bool[P, W]: replicas out of sync on brokers that stay
    (``laggards.py``); those that must leave are in ``placement.must_leave``.
    """

    placement: Placement
    size: Floats
    own_size: Floats
    rate: Floats
    arriving_bytes: Floats
    sources: dict[str, str]
    left_out: dict[str, Fact]
    excluded: Flags
    in_flight: Flags
    leaderless: Flags
    waiting: Flags
    short: Flags
    laggards: Flags
    unknown: Flags
    under_replicated: Flags
    notes: tuple[Fact, ...]

    @property
    def immovable(self) -> Flags:
        """bool[P]."""
        return self.excluded | self.in_flight | self.leaderless | self.waiting | self.short


def build_partition_arrays(
    snapshot: ClusterSnapshot, broker_arrays: BrokerArrays, options: PlanOptions
) -> PartitionArrays:
    """O(P·W). What a running reassignment takes away counts as gone, what it adds as there."""
    if not broker_arrays.brokers:  # a group table alone names partitions, and no replica of them
        snapshot = replace(snapshot, partitions=partition_table([], {}), loads=PartitionLoads())
    table = snapshot.partitions
    replicas, own, offline, in_sync = _replicas(snapshot, broker_arrays)
    size = snapshot.load(LoadKind.LOG_BYTES)
    figures, left_out = _figures(snapshot)
    observed = np.zeros(len(table), dtype=np.bool_)
    observed[sorted(table.observers)] = True
    allowed = np.array([options.is_topic_allowed(topic.name) for topic in snapshot.topics], dtype=np.bool_)
    leader = _leaders(snapshot, broker_arrays, replicas)
    in_flight = np.zeros(len(table), dtype=np.bool_)
    in_flight[sorted({*table.adding, *table.removing})] = True
    unknown = np.zeros(len(table), dtype=np.bool_)
    for values in figures.values():
        unknown |= np.isnan(values)
    filled = {kind: np.nan_to_num(values) for kind, values in figures.items()}
    has_own = LoadKind.LOG_BYTES in filled and bool((~np.isnan(own)).any())
    own_disk = np.where(np.isnan(own), filled[LoadKind.LOG_BYTES][:, None], own) if has_own else None
    names = [topic.name for topic in snapshot.topics]
    topics, numbers = table.topic.tolist(), table.partition.tolist()
    sets = broker_sets_of(
        options.topic_brokers, names, np.where(allowed[table.topic], table.topic, -1), broker_arrays.brokers
    )
    outside = None if sets is None else sets.outside(replicas)
    must_leave = offline if outside is None else offline | outside
    left_alone = ~allowed[table.topic] if len(table) else np.zeros(0, dtype=np.bool_)
    excluded = left_alone | observed
    laggards = laggards_of(replicas, leader, in_sync, must_leave, broker_arrays.arrays.stays)
    laggards &= ~(excluded | in_flight)[:, None]
    waiting = laggards[:, 0]
    leaves = laggards  # where leaders alone change, a replica that "must leave" is one that may not lead
    if options.moves_replicas and laggards.any():
        count = np.asarray((replicas >= 0).sum(axis=1), dtype=np.int32)
        target = count if options.replication_factor is None else np.full_like(count, options.replication_factor)
        waiting, leaves = waits_and_leaves(replicas, laggards, must_leave, target, broker_arrays, sets)
    must_leave = must_leave | leaves
    left_alone_so_far = excluded | in_flight | (leader == NOBODY) | waiting
    short = _short_of_brokers(replicas, must_leave, ~left_alone_so_far, broker_arrays, sets, options)
    placement = Placement(
        replicas=replicas,
        leader=leader,
        topic=np.asarray(table.topic, dtype=np.int32),
        loads=MeasuredLoads.by_kind(filled),
        own_disk=own_disk,
        must_leave=must_leave if must_leave.any() else None,
        preferred=_preferred(snapshot, broker_arrays, replicas, leader, observed | offline[:, 0]),
        broker_sets=sets,
        name_of=lambda row: f"{names[topics[row]]}-{numbers[row]}",
    )
    return PartitionArrays(
        placement=placement,
        size=size,
        own_size=own,
        rate=snapshot.load(LoadKind.IN_BYTES_PER_S),
        arriving_bytes=_arriving(snapshot, broker_arrays, size),
        sources=_sources(snapshot, left_out),
        left_out=left_out,
        excluded=excluded,
        in_flight=in_flight,
        leaderless=leader == NOBODY,
        waiting=waiting,
        short=short,
        laggards=laggards,
        unknown=unknown,
        under_replicated=(in_sync.sum(axis=1) + table.idle_observers < (replicas >= 0).sum(axis=1))
        | offline.any(axis=1),
        notes=_notes(left_alone, observed, in_flight, leader == NOBODY, unknown & ~observed),
    )


def _replicas(snapshot: ClusterSnapshot, broker_arrays: BrokerArrays) -> tuple[Ints, Floats, Flags, Flags]:
    """int32[P, W] broker indices, own sizes along them, which are offline, which are in sync (all where unknown)."""
    table = snapshot.partitions
    counts = table.replica_counts
    width = int(counts.max(initial=1))
    row = table.row_of_replica
    column = np.arange(len(table.replicas)) - table.offsets[:-1][row]
    replicas = np.full((len(table), width), NOBODY, dtype=np.int32)
    own = np.full((len(table), width), np.nan)
    replicas[row, column] = broker_arrays.indices(table.replicas)
    own[row, column] = np.where(table.replica_log_bytes < 0, np.nan, table.replica_log_bytes)
    in_sync = np.zeros(replicas.shape, dtype=np.bool_)
    in_sync[row, column] = True if table.in_sync is None else table.in_sync
    offline = np.zeros(replicas.shape, dtype=np.bool_)
    for p, brokers in sorted(table.offline.items()):
        offline[p] = np.isin(replicas[p], broker_arrays.indices(brokers))
    for p, brokers in sorted(table.adding.items()):
        own[p, np.isin(replicas[p], broker_arrays.indices(brokers))] = np.nan
    for p, brokers in sorted(table.removing.items()):
        keep = np.flatnonzero(~np.isin(replicas[p], broker_arrays.indices(brokers)) & (replicas[p] >= 0))
        for cells, empty in ((replicas, NOBODY), (own, np.nan), (offline, False), (in_sync, False)):
            kept = cells[p, keep].copy()
            cells[p] = empty
            cells[p, : len(keep)] = kept
    return replicas, own, offline, in_sync


def _arriving(snapshot: ClusterSnapshot, broker_arrays: BrokerArrays, size: Floats) -> Floats:
    """float64[B]: of replicas that are being added what is not there yet."""
    table, index = snapshot.partitions, broker_arrays.index_of
    arriving = np.zeros(len(broker_arrays.brokers))
    for p, brokers in sorted(table.adding.items()):
        for cell in range(int(table.offsets[p]), int(table.offsets[p + 1])):
            if int(table.replicas[cell]) in brokers:
                there = max(int(table.replica_log_bytes[cell]), 0)
                arriving[index[int(table.replicas[cell])]] += max(float(np.nan_to_num(size[p])) - there, 0.0)
    return arriving


def _leaders(snapshot: ClusterSnapshot, broker_arrays: BrokerArrays, replicas: Ints) -> Ints:
    """int32[P]; where a running reassignment takes the leader away, the first replica that is left will lead."""
    leader = snapshot.partitions.leader
    leads = broker_arrays.indices(leader)
    for p, brokers in sorted(snapshot.partitions.removing.items()):
        if int(leader[p]) in brokers and replicas[p, 0] != NOBODY:
            leads[p] = replicas[p, 0]
    return leads


def _short_of_brokers(
    replicas: Ints,
    must_leave: Flags,
    free: Flags,
    broker_arrays: BrokerArrays,
    sets: BrokerSets | None,
    options: PlanOptions,
) -> Flags:
    """bool[P]: on a broker that is gone, and fewer brokers may hold a replica than it has. They are left alone where
    something else has to move, which can be done without them; where nothing else has to, the plan is infeasible.
    """
    arrays = broker_arrays.arrays
    gone = np.array([broker.state.is_gone for broker in broker_arrays.brokers], dtype=np.bool_)
    there = replicas >= 0
    has_to = free & (there & (~arrays.stays[replicas] | must_leave)).any(axis=1)
    if not options.moves_replicas or options.replication_factor is not None or not has_to.any():
        return np.zeros(len(replicas), dtype=np.bool_)
    takes = arrays.takes_replicas[None, :] if sets is None else arrays.takes_replicas & sets.brokers
    of_partition = np.zeros(len(replicas), dtype=np.int32) if sets is None else sets.of_partition
    is_taken = there & takes[of_partition[:, None], np.maximum(replicas, 0)]
    usable = (there & arrays.stays[replicas] & ~must_leave).sum(axis=1)
    usable += takes.sum(axis=1)[of_partition] - is_taken.sum(axis=1)
    short = has_to & (there & gone[replicas]).any(axis=1) & (usable < there.sum(axis=1))
    return short if (has_to & ~short).any() else np.zeros_like(short)


def _preferred(
    snapshot: ClusterSnapshot, broker_arrays: BrokerArrays, replicas: Ints, leader: Ints, left_as_led: Flags
) -> Ints:
    """int32[P]: who leads once preferred replicas are elected, which the controller does by itself by default
    (``auto.leader.rebalance.enable``): the first replica, which will have caught up if it is out of sync, unless its
    broker is gone or leaves; else today's leader.
    """
    if any(broker.configs.get(AUTO_ELECTION) == "false" for broker in snapshot.brokers):
        return leader
    first = replicas[:, 0]
    is_elected = (first != NOBODY) & (leader != NOBODY) & broker_arrays.arrays.stays[first] & ~left_as_led
    return np.where(is_elected, first, leader).astype(np.int32)


def _figures(snapshot: ClusterSnapshot) -> tuple[dict[LoadKind, Floats], dict[str, Fact]]:
    """What is known for most partitions, as far as resources are made of it; and why which resource is left out."""
    needed = DEFAULTS.least_known
    values = {kind: snapshot.load(kind) for row in TABLE for kind in row.rests_on}
    shares = {kind: 1 - float(np.isnan(value).mean()) if len(value) else 0.0 for kind, value in values.items()}
    left_out = {
        row.name: unknown_figure(row.load, shares[row.load], needed)
        for row in TABLE
        if row.load is not None and shares[row.load] < needed
    }
    for row in TABLE:
        unknown = tuple(kind.value for kind in row.rests_on if shares[kind] < needed)
        if row.name not in left_out and unknown:
            left_out[row.name] = fact(FactCode.RESTS_ON_UNKNOWN_FIGURE, figures=unknown)
    used = dict.fromkeys(kind for row in TABLE if row.name not in left_out for kind in row.rests_on)
    return {kind: values[kind] for kind in used}, left_out


def unknown_figure(kind: LoadKind, share: float, needed: float) -> Fact:
    """Why a resource is left out of which a figure is known for ``share`` of the partitions."""
    if share > 0:
        return fact(FactCode.FIGURE_KNOWN_FOR_FEW, figure=kind.value, known_share=share, needed_share=needed)
    return fact(FactCode.FIGURE_NOT_MEASURED, figure=kind.value)


def _sources(snapshot: ClusterSnapshot, left_out: Mapping[str, Fact]) -> dict[str, str]:
    """Who measured each known resource, or that it was counted."""
    sources = dict.fromkeys(COUNTED, "counted")
    for row in TABLE:
        if row.load is not None and row.name not in left_out:
            column = snapshot.loads.column(row.load)
            sources[row.name] = LoadSource.LOG_DIRS.value if column is None else column.source.value
    return sources


def _notes(excluded: Flags, observed: Flags, in_flight: Flags, leaderless: Flags, unknown: Flags) -> tuple[Fact, ...]:
    counted = (
        ("reassigning", in_flight),
        ("leaderless", leaderless & ~in_flight),
        ("unmeasured", unknown & ~excluded),
        ("excluded", excluded),
        ("observers", observed),
    )
    return tuple(
        fact(FactCode.PARTITIONS_LEFT_ALONE, why=why, partitions=int(flags.sum()))
        for why, flags in counted
        if flags.any()
    )
