"""A snapshot as arrays: brokers, partitions, and the search's ``Problem``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from kafka_assignors.arrays import ABSENT, Flags, Floats, Ints
from kafka_rebalance.cluster_arrays.bands import Bands, band_of, distinct_racks, fair_shares
from kafka_rebalance.cluster_arrays.problem import (
    DEFAULTS,
    BrokerSets,
    Budget,
    Columns,
    MeasuredLoads,
    Problem,
    broker_sets_of,
    columns_of,
)
from kafka_rebalance.errors import UsageError
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.options.values import Target
from kafka_rebalance.resources import BALANCED, COUNTED, LEADER_CARRIED, ONLY_LEADERS, TABLE
from kafka_rebalance.snapshot.figures import LoadKind, LoadSource
from kafka_rebalance.snapshot.model import (
    Broker,
    BrokerState,
    Capacity,
    ClusterSnapshot,
    LogDir,
    PartitionLoads,
    partition_table,
)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Brokers:
    ids: npt.NDArray[np.int64]
    rack: Ints
    stays: Flags
    takes_replicas: Flags
    takes_leaders: Flags
    keeps_leaders: Flags
    is_new: Flags
    capacity: Mapping[str, Floats] = field(default_factory=dict)
    limit: Mapping[str, Floats] = field(default_factory=dict)
    rack_names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Placement:
    replicas: Ints
    leader: Ints
    topic: Ints
    loads: MeasuredLoads
    own_disk: Floats | None = None
    must_leave: Flags | None = None
    preferred: Ints | None = None
    broker_sets: BrokerSets | None = None
    name_of: Callable[[int], str] = "partition row {}".format


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Wanted:
    """``resources``: None = the default ones and the targets'. ``balanced``: those with the common band. ``highest``:
    load per capacity, the upper end of a band without a lower one. ``relieved_to``: float64[B], the load at which a
    band ends that ends higher without it.
    """

    within: float | None = 0.10
    targets: Mapping[str, Target] = field(default_factory=dict)
    highest: Mapping[str, float] = field(default_factory=dict)
    relieved_to: Mapping[str, Floats] = field(default_factory=dict)
    caps: Mapping[str, Floats] = field(default_factory=dict)
    ranks: Mapping[str, int] = field(default_factory=dict)
    resources: tuple[str, ...] | None = None
    balanced: Collection[str] = BALANCED
    target_rf: Ints | None = None
    pinned: Flags | None = None
    budget: Budget = field(default_factory=Budget)
    moves_replicas: bool = True
    elects_preferred: bool = False


def assemble(brokers: Brokers, placement: Placement, goals: Wanted) -> Problem:
    today_rf = (placement.replicas >= 0).sum(axis=1).astype(np.int32)
    target_rf = today_rf if goals.target_rf is None else goals.target_rf
    if goals.pinned is not None:
        target_rf = np.where(goals.pinned, today_rf, target_rf).astype(np.int32)
    replicas, own_disk, must_leave = _pad(placement, int(target_rf.max(initial=1)))
    wanted_names = BALANCED | goals.targets.keys() if goals.resources is None else goals.resources
    columns = columns_of(placement.loads, target_rf, wanted_names)
    capacity = _by_resource(brokers.capacity, columns.resources, len(brokers.ids), 1.0)
    bands = _bands(brokers, placement, goals, columns, capacity, target_rf)
    disk = placement.loads.disk_bytes
    return Problem(
        resources=columns.resources,
        broker_ids=brokers.ids,
        rack=brokers.rack,
        stays=brokers.stays,
        takes_replicas=brokers.takes_replicas,
        takes_leaders=brokers.takes_leaders,
        keeps_leaders=brokers.keeps_leaders,
        is_new=brokers.is_new,
        capacity=capacity,
        band_low=bands.low,
        band_high=bands.high,
        limit=_by_resource(brokers.limit, columns.resources, len(brokers.ids), np.inf),
        cap=_by_resource(goals.caps, columns.resources, len(brokers.ids), np.inf),
        band_rank=np.array([goals.ranks.get(name, 0) for name in columns.resources], dtype=np.int32),
        replicas=replicas,
        leader=placement.leader,
        topic=placement.topic,
        follower_load=columns.follower_load,
        leader_extra=columns.leader_extra,
        move_bytes=np.zeros(len(replicas)) if disk is None else disk,
        pinned=np.zeros(len(replicas), dtype=np.bool_) if goals.pinned is None else goals.pinned,
        target_rf=target_rf,
        own_disk=own_disk,
        must_leave=must_leave,
        preferred=placement.preferred,
        broker_sets=placement.broker_sets,
        moves_replicas=goals.moves_replicas,
        elects_preferred=goals.elects_preferred,
        budget=goals.budget,
        name_of=placement.name_of,
        rack_names=brokers.rack_names,
    )


def _pad(placement: Placement, width: int) -> tuple[Ints, Floats | None, Flags | None]:
    missing = max(0, width - placement.replicas.shape[1])
    pad = ((0, 0), (0, missing))
    replicas = np.pad(placement.replicas, pad, constant_values=ABSENT).astype(np.int32)
    own_disk = None if placement.own_disk is None else np.pad(placement.own_disk, pad)
    must_leave = None if placement.must_leave is None else np.pad(placement.must_leave, pad)
    return replicas, own_disk, must_leave


def _by_resource(values: Mapping[str, Floats], resources: tuple[str, ...], count: int, missing: float) -> Floats:
    table = [np.broadcast_to(values.get(resource, missing), count).astype(np.float64) for resource in resources]
    return np.stack(table, axis=1) if table else np.zeros((count, 0))


def _bands(
    brokers: Brokers, placement: Placement, goals: Wanted, columns: Columns, capacity: Floats, target_rf: Ints
) -> Bands:
    """A broker that cannot receive needs no more than it holds."""
    is_leader_carried = np.array([resource in LEADER_CARRIED for resource in columns.resources], dtype=np.bool_)
    only_leaders = np.array([resource in ONLY_LEADERS for resource in columns.resources], dtype=np.bool_)
    may_lead = brokers.keeps_leaders | brokers.takes_leaders
    may_carry = brokers.stays[:, None] & (may_lead[:, None] | ~only_leaders[None, :])
    shares = fair_shares(
        rack=brokers.rack,
        capacity=capacity,
        may_carry=may_carry,
        may_lead=may_lead,
        target_rf=target_rf,
        follower_load=columns.follower_load,
        leader_extra=columns.leader_extra,
    )
    total = (columns.follower_load * target_rf[:, None] + columns.leader_extra).sum(axis=0)
    bands = band_of(
        resources=columns.resources,
        shares=shares,
        total=total,
        capacity=capacity,
        stays=brokers.stays,
        within={name: goals.within for name in columns.resources if name in goals.balanced},
        targets=goals.targets,
    )
    today = _loads_of(placement.replicas, placement.leader, columns, len(brokers.ids))
    low = np.where(brokers.takes_replicas[:, None] | only_leaders[None, :], bands.low, np.minimum(bands.low, today))
    low = np.where(~brokers.takes_leaders[:, None] & is_leader_carried[None, :], np.minimum(low, today), low)
    low = np.where(~brokers.keeps_leaders[:, None] & is_leader_carried[None, :], 0.0, low)
    high = bands.high
    for d, resource in enumerate(columns.resources):
        if resource in goals.highest:
            low[:, d], high[:, d] = 0.0, np.where(brokers.stays, goals.highest[resource] * capacity[:, d], 0.0)
        for top in (given[resource] for given in (goals.caps, goals.relieved_to) if resource in given):
            low[:, d], high[:, d] = np.minimum(low[:, d], top), np.minimum(high[:, d], top)
    return Bands(low, high)


def _loads_of(replicas: Ints, leader: Ints, columns: Columns, broker_count: int) -> Floats:
    loads = np.zeros((broker_count, len(columns.resources)))
    for d in range(len(columns.resources)):
        for j in range(replicas.shape[1]):
            there = replicas[:, j] >= 0
            weights = columns.follower_load[there, d]
            loads[:, d] += np.bincount(replicas[there, j], weights=weights, minlength=broker_count)
        led = leader >= 0
        loads[:, d] += np.bincount(leader[led], weights=columns.leader_extra[led, d], minlength=broker_count)
    return loads


_CAPACITY_FIELDS = {row.name: row.capacity for row in TABLE if row.capacity is not None}


@dataclass(frozen=True, slots=True, eq=False)
class BrokerArrays:
    """``brokers`` by id, added ones last; ``capacity`` only where all are known."""

    brokers: tuple[Broker, ...]
    arrays: Brokers
    usable_bytes: Floats  # free on the log dirs' volumes, inf where unknown
    unplaced_bytes: Floats  # stray logs and copies between dirs
    notes: tuple[Fact, ...]

    @property
    def index_of(self) -> dict[int, int]:
        return {broker.id: index for index, broker in enumerate(self.brokers)}

    def indices(self, broker_ids: npt.ArrayLike) -> Ints:
        """ABSENT for an unknown id, however large."""
        asked_ids, ids = np.asarray(broker_ids, dtype=np.int64), np.asarray(self.arrays.ids, dtype=np.int64)
        if not len(ids):
            return np.full(asked_ids.shape, ABSENT, dtype=np.int32)
        order = np.argsort(ids)
        at = order[np.minimum(np.searchsorted(ids, asked_ids, sorter=order), len(ids) - 1)]
        return np.asarray(np.where(ids[at] == asked_ids, at, ABSENT), dtype=np.int32)


def build_broker_arrays(snapshot: ClusterSnapshot, options: PlanOptions) -> BrokerArrays:
    brokers = planned_brokers(snapshot, options)
    stays = np.array([broker.state.stays for broker in brokers], dtype=np.bool_)
    excluded = np.array([broker.id in options.exclude_brokers for broker in brokers], dtype=np.bool_)
    cordoned = np.array([broker.is_cordoned for broker in brokers], dtype=np.bool_)
    # Demoting does not make an unresponsive broker respond.
    unresponsive_ids = {broker.id for broker in snapshot.brokers if broker.state.is_unresponsive}
    unresponsive = np.array([broker.id in unresponsive_ids for broker in brokers], dtype=np.bool_)
    demoted = np.array([broker.state is BrokerState.DEMOTED for broker in brokers], dtype=np.bool_)
    capacity, limit, notes = _capacities(brokers, options, stays)
    arrays = Brokers(
        ids=np.array([broker.id for broker in brokers], dtype=np.int64),
        rack=_racks(brokers),
        rack_names=_rack_names(brokers),
        stays=stays,
        takes_replicas=stays & ~excluded & ~cordoned & ~unresponsive,
        takes_leaders=stays & ~excluded & ~demoted & ~unresponsive,
        keeps_leaders=stays & ~demoted,
        is_new=np.array([broker.state is BrokerState.NEW for broker in brokers], dtype=np.bool_),
        capacity=capacity,
        limit=limit,
    )
    usable, unplaced = [usable_bytes(broker.log_dirs) for broker in brokers], snapshot.unplaced_bytes
    return BrokerArrays(
        brokers=brokers,
        arrays=arrays,
        usable_bytes=np.array([np.inf if free_bytes is None else free_bytes for free_bytes in usable]),
        unplaced_bytes=np.array([float(unplaced.get(broker.id, 0)) for broker in brokers]),
        notes=notes,
    )


def require_brokers_known(snapshot: ClusterSnapshot, options: PlanOptions) -> None:
    brokers = {broker.id for broker in snapshot.brokers}
    _require_racks_known(snapshot, options)
    for action, ids in (
        ("remove", options.remove_brokers),
        ("demote", options.demote_brokers),
        ("exclude", options.exclude_brokers),
    ):
        unknown = sorted(ids - brokers - options.add_brokers.keys())
        if unknown:
            hint = f"its brokers: {', '.join(map(str, sorted(brokers)[: DEFAULTS.most_named]))}"
            hint += f" and {len(brokers) - DEFAULTS.most_named:,} more" if len(brokers) > DEFAULTS.most_named else ""
            raise UsageError.at(f"--{action}-broker {unknown[0]}", f"broker {unknown[0]} is not in the cluster", hint)
    for broker in sorted(options.disk_growth.keys() - brokers):
        raise UsageError.at(f"--disk-growth {broker}", f"broker {broker} is not in the cluster", "leave it out")


def _require_racks_known(snapshot: ClusterSnapshot, options: PlanOptions) -> None:
    rack_of = {broker.id: broker.rack for broker in snapshot.brokers}
    racks = sorted({rack for rack in rack_of.values() if rack is not None})
    for rack in sorted(options.remove_racks - set(racks)):
        hint = f"its racks: {', '.join(racks[: DEFAULTS.most_named])}" if racks else "no broker tells its rack"
        raise UsageError.at(f"--remove-rack {rack}", f"rack {rack!r} is not in the cluster", hint)
    for broker in sorted(options.add_brokers.keys() & rack_of.keys()):
        if rack_of[broker] in options.remove_racks:
            raise UsageError.at(f"--add-broker {broker}", f"stands on rack {rack_of[broker]}, which is to be removed")


def volume_bytes(log_dirs: tuple[LogDir, ...]) -> float | None:
    """None if a dir does not report. Dirs with the same total and usable bytes share a volume."""
    volumes = {(log_dir.total_bytes, log_dir.usable_bytes) for log_dir in log_dirs}
    totals = [total for total, _ in volumes if total is not None]
    return float(sum(totals)) if volumes and len(totals) == len(volumes) and sum(totals) > 0 else None


def usable_bytes(log_dirs: tuple[LogDir, ...]) -> float | None:
    volumes = {(log_dir.total_bytes, log_dir.usable_bytes) for log_dir in log_dirs}
    usable = [free for _, free in volumes if free is not None]
    return float(sum(usable)) if volumes and len(usable) == len(volumes) else None


def planned_brokers(snapshot: ClusterSnapshot, options: PlanOptions) -> tuple[Broker, ...]:
    """Return the brokers as a plan sees them: with given capacities, those that leave or join."""
    require_brokers_known(snapshot, options)
    broker_by_id = {broker.id: broker for broker in snapshot.with_capacities(options.capacities).brokers}
    result = []
    for broker_id in sorted(broker_by_id):
        broker = broker_by_id[broker_id]
        if options.is_removed(broker_id, broker.rack) and broker.state.stays:
            broker = replace(broker, state=BrokerState.DRAINING)
        elif broker_id in options.demote_brokers and broker.state.stays:
            broker = replace(broker, state=BrokerState.DEMOTED)
        result.append(broker)
    added = sorted(options.add_brokers.keys() - broker_by_id.keys())
    result += [
        Broker(
            id=broker_id,
            rack=options.add_brokers[broker_id],
            state=BrokerState.NEW,
            capacity=options.capacities.get(broker_id, Capacity()),
        )
        for broker_id in added
    ]
    return tuple(result)


def _rack_names(brokers: tuple[Broker, ...]) -> tuple[str, ...]:
    return tuple(sorted({broker.rack for broker in brokers if broker.rack is not None}))


def _racks(brokers: tuple[Broker, ...]) -> Ints:
    index = {name: number for number, name in enumerate(_rack_names(brokers))}
    return np.array([ABSENT if b.rack is None else index[b.rack] for b in brokers], dtype=np.int32)


def _capacities(
    brokers: tuple[Broker, ...], options: PlanOptions, stays: Flags
) -> tuple[dict[str, Floats], dict[str, Floats], tuple[Fact, ...]]:
    """Capacities of resources where all are known; hard limits, inf where unknown: what is known of one broker holds,
    whatever is known of the others.
    """
    capacity: dict[str, Floats] = {}
    limit: dict[str, Floats] = {}
    notes: list[Fact] = []
    # New and unresponsive brokers cannot report.
    unasked = np.array([b.state is BrokerState.NEW or b.state.is_unresponsive for b in brokers], dtype=np.bool_)
    equal = []
    for resource, name in _CAPACITY_FIELDS.items():
        if resource not in BALANCED and resource not in options.headroom:
            continue
        values = np.array([_capacity_of(broker, name) for broker in brokers])
        is_known = ~np.isnan(values)
        limit[resource] = np.where(is_known, values, np.inf)
        missing = np.flatnonzero(~is_known & stays & ~unasked)
        if not is_known.any() or len(missing):
            equal.append(resource)
            continue
        capacity[resource] = limit[resource] = np.where(is_known, values, float(values[is_known].mean()))
        notes += [
            fact(FactCode.CAPACITY_ASSUMED_MEAN, resource=resource, broker=brokers[b].id)
            for b in np.flatnonzero(~is_known & stays).tolist()
        ]
    if equal:
        notes.append(fact(FactCode.CAPACITIES_ASSUMED_EQUAL, resources=tuple(equal)))
    return capacity, limit, tuple(notes)


def _capacity_of(broker: Broker, name: str) -> float:
    """Return nan where unknown. A given disk outranks volumes: of these, two with equal figures look like one."""
    value = getattr(broker.capacity, name)
    if value is None and name == "disk_bytes":
        value = volume_bytes(broker.log_dirs)
    return float("nan") if value is None else float(value)


def broker_caps(options: PlanOptions, brokers: BrokerArrays) -> dict[str, Floats]:
    """The lower of cap and headroom; only of known capacities."""
    capacity, count = brokers.arrays.capacity, len(brokers.brokers)
    caps = {name: np.full(count, float(cap)) for name, cap in options.caps.items()}
    for name, share in options.headroom.items():
        if name in capacity:
            left = (1 - share) * capacity[name]
            caps[name] = np.minimum(caps[name], left) if name in caps else left
    return caps


# Partitions with a replica out of sync on a broker that stays.
#
# Kafka completes a reassignment only when every replica of the target list is in sync (KAFKA-16218, KAFKA-19975), and a
# lagging replica may not lead. So, in this order:
#
# 1. A replica out of sync never leads, and is never in a list whose replicas change.
# 2. It is dropped where the replicas in sync fill a smaller target list.
# 3. It is replaced where another replica cannot stay and enough brokers, on enough racks, can take the copies.
# 4. Else its partition waits for it. A leaders-only plan waits for a first replica.
#
# Example: [2, 3, 1] at factor 2 with 2 and 3 in sync becomes [2, 3]; with 2 alone it waits. Without broker 3 of 1 to 5
# it becomes [2, 4, 5], of 1 to 3 it waits.


def laggards_of(replicas: Ints, leader: Ints, in_sync: Flags, must_leave: Flags, stays: Flags) -> Flags:
    """Replicas out of sync that could stay. Without a leader the ISR is outdated: none."""
    there = (replicas >= 0) & stays[replicas] & ~must_leave
    return np.asarray(there & ~in_sync & (leader != ABSENT)[:, None] & (replicas != leader[:, None]))


def waits_and_leaves(
    replicas: Ints,
    laggards: Flags,
    must_leave: Flags,
    target_rf: Ints,
    broker_arrays: BrokerArrays,
    sets: BrokerSets | None,
) -> tuple[Flags, Flags]:
    arrays = broker_arrays.arrays
    there = replicas >= 0
    kept = there & arrays.stays[replicas] & ~must_leave & ~laggards
    lags = laggards.any(axis=1)
    is_filled = lags & (kept.sum(axis=1) >= target_rf)
    is_urgent = lags & ~is_filled & (there & (~arrays.stays[replicas] | must_leave)).any(axis=1)
    is_replaced = np.zeros(len(replicas), dtype=np.bool_)
    rack = distinct_racks(arrays.rack)
    takes = arrays.takes_replicas[None, :] if sets is None else arrays.takes_replicas & sets.brokers
    for p in np.flatnonzero(is_urgent).tolist():
        allowed = np.flatnonzero(takes[0 if sets is None else int(sets.of_partition[p])])
        held = replicas[p][kept[p]]
        usable = np.concatenate([held, np.setdiff1d(allowed, replicas[p][there[p]])])
        most_racks = min(int(target_rf[p]), len(np.unique(rack[allowed])))
        is_replaced[p] = len(usable) >= target_rf[p] and len(np.unique(rack[usable])) >= most_racks
    leaves = laggards & (is_filled | is_replaced)[:, None]
    return lags & ~is_filled & ~is_replaced, np.asarray(leaves)


AUTO_ELECTION = "auto.leader.rebalance.enable"  # on by default


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PartitionArrays:
    """``own_size``: nan = as the leader's; other nan: unknown. ``arriving_bytes``: rest of running reassignments, which
    count as done.

    Left alone: ``excluded`` (options or observers), ``in_flight``, ``leaderless``, ``waiting`` (replica out of sync),
    ``short`` (on a dead broker, too few brokers); ``unknown`` unless it must go. ``laggards``: out of sync on brokers
    that stay.
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
        return self.excluded | self.in_flight | self.leaderless | self.waiting | self.short


def build_partition_arrays(
    snapshot: ClusterSnapshot, broker_arrays: BrokerArrays, options: PlanOptions
) -> PartitionArrays:
    """Running reassignments count as done. O(P·W)."""
    if not broker_arrays.brokers:  # a group table alone has partitions without replicas
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
    leaves = laggards  # leaders-only: "must leave" means may not lead
    if options.moves_replicas and laggards.any():
        count = np.asarray((replicas >= 0).sum(axis=1), dtype=np.int32)
        target = count if options.replication_factor is None else np.full_like(count, options.replication_factor)
        waiting, leaves = waits_and_leaves(replicas, laggards, must_leave, target, broker_arrays, sets)
    must_leave = must_leave | leaves
    left_alone_so_far = excluded | in_flight | (leader == ABSENT) | waiting
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
        leaderless=leader == ABSENT,
        waiting=waiting,
        short=short,
        laggards=laggards,
        unknown=unknown,
        under_replicated=(in_sync.sum(axis=1) + table.idle_observers < (replicas >= 0).sum(axis=1))
        | offline.any(axis=1),
        notes=_notes(left_alone, observed, in_flight, leader == ABSENT, unknown & ~observed),
    )


def _replicas(snapshot: ClusterSnapshot, broker_arrays: BrokerArrays) -> tuple[Ints, Floats, Flags, Flags]:
    """In sync where unknown."""
    table = snapshot.partitions
    counts = table.replica_counts
    width = int(counts.max(initial=1))
    row = table.row_of_replica
    column = np.arange(len(table.replicas)) - table.offsets[:-1][row]
    replicas = np.full((len(table), width), ABSENT, dtype=np.int32)
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
        for cells, empty in ((replicas, ABSENT), (own, np.nan), (offline, False), (in_sync, False)):
            kept = cells[p, keep].copy()
            cells[p] = empty
            cells[p, : len(keep)] = kept
    return replicas, own, offline, in_sync


def _arriving(snapshot: ClusterSnapshot, broker_arrays: BrokerArrays, size: Floats) -> Floats:
    table, index = snapshot.partitions, broker_arrays.index_of
    arriving = np.zeros(len(broker_arrays.brokers))
    for p, brokers in sorted(table.adding.items()):
        for cell in range(int(table.offsets[p]), int(table.offsets[p + 1])):
            if int(table.replicas[cell]) in brokers:
                there = max(int(table.replica_log_bytes[cell]), 0)
                arriving[index[int(table.replicas[cell])]] += max(float(np.nan_to_num(size[p])) - there, 0.0)
    return arriving


def _leaders(snapshot: ClusterSnapshot, broker_arrays: BrokerArrays, replicas: Ints) -> Ints:
    """If a running reassignment removes the leader, its first remaining replica."""
    leader = snapshot.partitions.leader
    leads = broker_arrays.indices(leader)
    for p, brokers in sorted(snapshot.partitions.removing.items()):
        if int(leader[p]) in brokers and replicas[p, 0] != ABSENT:
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
    """Left alone where another partition must move; else the plan is infeasible."""
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
    """The first replica, unless its broker is dead or leaves; else today's leader."""
    if any(broker.configs.get(AUTO_ELECTION) == "false" for broker in snapshot.brokers):
        return leader
    first = replicas[:, 0]
    is_elected = (first != ABSENT) & (leader != ABSENT) & broker_arrays.arrays.stays[first] & ~left_as_led
    return np.where(is_elected, first, leader).astype(np.int32)


def _figures(snapshot: ClusterSnapshot) -> tuple[dict[LoadKind, Floats], dict[str, Fact]]:
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
    if share > 0:
        return fact(FactCode.FIGURE_KNOWN_FOR_FEW, figure=kind.value, known_share=share, needed_share=needed)
    return fact(FactCode.FIGURE_NOT_MEASURED, figure=kind.value)


def _sources(snapshot: ClusterSnapshot, left_out: Mapping[str, Fact]) -> dict[str, str]:
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
