"""Build the planner's ``Problem`` from snapshot and options.

Pinned partitions wholly on lost brokers have no row; of those partly there only the other replicas count. Otherwise one
lost partition would make every plan infeasible.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from kafka_assignors.arrays import ABSENT, Flags, Floats, Ints, Longs
from kafka_rebalance.cluster_arrays.bands import BAND_ROUNDING, distinct_racks
from kafka_rebalance.cluster_arrays.problem import BrokerSets, Budget, Problem, columns_of
from kafka_rebalance.cluster_arrays.snapshot_arrays import (
    BrokerArrays,
    Brokers,
    PartitionArrays,
    Placement,
    Wanted,
    assemble,
    broker_caps,
    build_broker_arrays,
    build_partition_arrays,
)
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.options.values import Target
from kafka_rebalance.plans.cluster_notes import (
    cluster_notes,
    laggard_notes,
    min_isr_notes,
    other_hand_notes,
    pattern_notes,
)
from kafka_rebalance.plans.params import DEFAULTS, OptionParams
from kafka_rebalance.plans.plan import Watched
from kafka_rebalance.resources import BALANCED, LEADER_CARRIED, RATES, RESOURCES, THROTTLED
from kafka_rebalance.snapshot.model import BrokerState, ClusterSnapshot
from kafka_rebalance.snapshot.other_hands import MOST_CANCELLED, cancel_json


@dataclass(frozen=True, slots=True)
class NearlyFull:
    """Of one resource, in shares of capacity: ``brokers`` are above ``full_share``, the highest is ``broker``.

    mean_share   None where some capacities are unknown
    relieved_to  where the band ends for brokers of known capacity; None: too little room elsewhere, moves do not help
    """

    brokers: int
    broker: int
    share: float
    mean_share: float | None
    relieved_to: float | None


@dataclass(frozen=True, slots=True, eq=False)
class PlanRequest:
    """``rows`` int64[P']: the snapshot row of each problem row. ``hard``: reasons to move regardless of balance.
    ``unmet``: moves that must be made but cannot yet (a replica is out of sync, a reassignment runs). ``watched``:
    rates that are not evened out, because no broker is near capacity. ``nearly_full``: resources with a broker above
    ``full_share`` of capacity.
    """

    snapshot: ClusterSnapshot
    options: PlanOptions
    brokers: BrokerArrays
    partitions: PartitionArrays
    rows: Longs
    pinned: Flags
    target_rf: Ints
    disk_limit: Floats
    hard: tuple[Fact, ...]
    unmet: tuple[Fact, ...]
    notes: tuple[Fact, ...]
    watched: Mapping[str, Watched] = field(default_factory=dict)
    nearly_full: Mapping[str, NearlyFull] = field(default_factory=dict)
    params: OptionParams = DEFAULTS.options

    @property
    def resources(self) -> tuple[str, ...]:
        """Known resources that can change: leaders alone move neither disk nor incoming bytes."""
        measured = tuple(name for name in self.in_play if name in self.partitions.sources)
        return measured if self.options.moves_replicas else tuple(name for name in measured if name in LEADER_CARRIED)

    @property
    def in_play(self) -> tuple[str, ...]:
        """Resources balanced by default, and those of a target, cap, headroom or ``also_balance``."""
        requested = (
            self.options.targets.keys() | self.options.caps.keys() | self.options.headroom.keys() | self.balanced
        )
        return tuple(name for name in RESOURCES if name in BALANCED or name in requested)

    @property
    def balanced(self) -> frozenset[str]:
        return BALANCED | self.options.also_balance

    @property
    def caps(self) -> dict[str, Floats]:
        return broker_caps(self.options, self.brokers)

    @property
    def ordered(self) -> frozenset[str]:
        return frozenset(self.options.targets) | (
            frozenset() if self.options.within is None or self.options.band is None else self.balanced
        )

    @property
    def band_ranks(self) -> dict[str, int]:
        """Given bands outrank defaults. Where disks are known and differ, disk outranks resources without any known
        capacity (equal shares are assumed).
        """
        capacity = self.brokers.arrays.capacity
        has_unequal_disks = self._has_unequal_disks() and "disk" in self.resources
        return {
            name: 2 * (name not in self.ordered) + (has_unequal_disks and name not in capacity)
            for name in self.resources
        }

    def _has_unequal_disks(self) -> bool:
        disks = self.brokers.arrays.capacity.get("disk")
        if disks is None or not self.brokers.arrays.stays.any():
            return False
        staying = disks[self.brokers.arrays.stays]
        return bool(staying.max() > DEFAULTS.options.same_disk_ratio * staying.min())

    @property
    def left_out(self) -> dict[str, Fact]:
        stays = fact(FactCode.REPLICAS_STAY)
        unchangeable = {name: stays for name in self.partitions.sources if name not in self.resources}
        return {name: why for name, why in (self.partitions.left_out | unchangeable).items() if name in self.in_play}

    @property
    def relieved_to(self) -> dict[str, float]:
        return {name: full.relieved_to for name, full in self.nearly_full.items() if full.relieved_to is not None}

    def problem(
        self,
        within: float | None,
        targets: Mapping[str, Target] | None = None,
        *,
        evens_out_rates: bool = False,
        relieves: bool = True,
    ) -> Problem:
        """``within`` None: only targets. ``evens_out_rates``: watched rates get their band, too. ``relieves``: bands of
        the options end at ``relieved_to``.
        """
        watched = {} if evens_out_rates else self.watched
        requirements = Wanted(
            within=within,
            targets=self.options.targets if targets is None else targets,
            caps=self.caps,
            ranks=self.band_ranks,
            resources=self.resources,
            highest={name: self.busy_level(name) for name in watched},
            relieved_to={name: share * self.brokers.arrays.limit[name] for name, share in self.relieved_to.items()}
            if relieves and targets is None
            else {},
            balanced=(self.balanced | self.options.targets.keys()) - watched.keys(),
            target_rf=self.target_rf,
            pinned=self.pinned,
            budget=Budget(self.options.max_move_bytes, self.options.max_moves, self.options.max_leader_changes),
            moves_replicas=self.options.moves_replicas,
            elects_preferred=self.options.preferred_election,
        )
        problem = assemble(self._brokers(), self._placement(), requirements)
        if problem.column("disk") is None:
            problem = replace(problem, move_bytes=np.ones(problem.partition_count))
        return problem

    def busy_level(self, name: str) -> float:
        rate = self.watched[name]
        return self.params.busy_share * (rate.capacity if rate.is_assumed else 1.0)

    def _brokers(self) -> Brokers:
        arrays = self.brokers.arrays
        limit = {**arrays.limit, "disk": self.disk_limit}
        for name, cap in self.caps.items():
            if name != "disk":  # a disk holds both copies for a while
                limit[name] = np.minimum(limit.get(name, np.inf), cap * (1 + BAND_ROUNDING))
        return replace(arrays, limit=limit)

    def _placement(self) -> Placement:
        whole, rows = self.partitions.placement, self.rows
        replicas, order = _without_gone(whole.replicas[rows], self._gone(rows))
        return Placement(
            replicas=replicas,
            leader=np.where((replicas == whole.leader[rows, None]).any(axis=1), whole.leader[rows], ABSENT),
            topic=whole.topic[rows],
            preferred=self._preferred(replicas),
            loads=whole.loads.taken(rows),
            own_disk=None if whole.own_disk is None else np.take_along_axis(whole.own_disk[rows], order, axis=1),
            must_leave=None if whole.must_leave is None else np.take_along_axis(whole.must_leave[rows], order, axis=1),
            broker_sets=None if whole.broker_sets is None else whole.broker_sets.taken(rows),
            name_of=lambda row: whole.name_of(int(rows[row])),
        )

    def _preferred(self, replicas: Ints) -> Ints | None:
        whole, rows = self.partitions.placement, self.rows
        if whole.preferred is None:
            return None
        elected = (replicas == whole.preferred[rows, None]).any(axis=1)
        leads = (replicas == whole.leader[rows, None]).any(axis=1)
        return np.where(elected, whole.preferred[rows], np.where(leads, whole.leader[rows], ABSENT)).astype(np.int32)

    def _gone(self, rows: Longs) -> Flags:
        return _lost_cells(self.partitions, self.brokers)[rows]


def build_request(
    snapshot: ClusterSnapshot, options: PlanOptions, params: OptionParams = DEFAULTS.options
) -> PlanRequest:
    """Parts that do not depend on the band. O(P·W)."""
    brokers = build_broker_arrays(snapshot, options)
    partitions = build_partition_arrays(snapshot, brokers, options)
    replicas = partitions.placement.replicas
    is_replica = replicas >= 0
    lost = _lost_cells(partitions, brokers)
    rows = np.flatnonzero((is_replica & ~lost).any(axis=1))
    replica_count = (is_replica & ~lost).sum(axis=1)[rows].astype(np.int32)
    free = ~partitions.immovable[rows]
    target = replica_count if options.replication_factor is None or not options.moves_replicas else np.where(
        free, options.replication_factor, replica_count
    )  # fmt: skip
    target = np.asarray(target, dtype=np.int32)
    must_go = _must_go(partitions, brokers, target, rows)
    watched = _watched(partitions, brokers, options, params.busy_share)
    return PlanRequest(
        snapshot=snapshot,
        options=options,
        brokers=brokers,
        partitions=partitions,
        rows=rows,
        pinned=~free | (partitions.unknown[rows] & ~must_go),
        target_rf=target,
        disk_limit=_disk_limit(partitions, brokers),
        hard=_hard_reasons(partitions, brokers, target, rows, free, options),
        watched=watched,
        nearly_full=_nearly_full(partitions, brokers, rows, target, options, params),
        params=params,
        unmet=(
            *_unmet_reasons(partitions, brokers, options),
            *_still_filled(snapshot, partitions, brokers, options, params.most_named),
        ),
        notes=(
            *brokers.notes,
            *partitions.notes,
            *cluster_notes(brokers, partitions, target, params),
            *laggard_notes(partitions, params),
            *min_isr_notes(snapshot, options, rows[free & (replica_count != target)], params.most_named),
            *pattern_notes(snapshot, options, params.most_named),
            *other_hand_notes(snapshot),
            *(
                fact(
                    FactCode.RATE_IS_WATCHED,
                    resource=name,
                    broker=rate.broker,
                    load=rate.load,
                    capacity_share=rate.load / rate.capacity,
                    is_assumed=rate.is_assumed,
                )
                for name, rate in watched.items()
            ),
        ),
    )


def _watched(
    partitions: PartitionArrays, brokers: BrokerArrays, options: PlanOptions, busy_share: float
) -> dict[str, Watched]:
    """Rates without a given band, where every broker carries less than ``busy_share`` of its capacity, also after a
    preferred election.

    An unknown capacity is the fullest broker's load plus the throttle; none is assumed for CPU.
    """
    arrays = brokers.arrays
    if options.band is None or options.is_within_ordered or not arrays.stays.any():
        return {}
    names = tuple(name for name in RATES if name in partitions.sources and name not in _requested_resources(options))
    result = {}
    for name, (today, elected) in _loads(partitions, brokers, names).items():
        given_capacity = arrays.capacity.get(name)
        load = np.where(arrays.stays, np.maximum(today, elected), 0.0)
        is_busy = bool((load >= busy_share * arrays.limit[name]).any())
        if given_capacity is None and (name not in THROTTLED or is_busy):
            continue
        # A plan's copies come on top.
        capacity = (
            np.full(len(load), load.max() + options.throttle_bytes_per_s) if given_capacity is None else given_capacity
        )
        fullest = int((load / capacity).argmax())
        if 0 < load[fullest] < busy_share * capacity[fullest]:
            rate = Watched(
                int(arrays.ids[fullest]), float(load[fullest]), float(capacity[fullest]), given_capacity is None
            )
            result[name] = rate
    return result


def _requested_resources(options: PlanOptions) -> frozenset[str]:
    return frozenset(options.targets.keys() | options.caps.keys() | options.headroom.keys())


def _nearly_full(
    partitions: PartitionArrays,
    brokers: BrokerArrays,
    rows: Longs,
    target: Ints,
    options: PlanOptions,
    params: OptionParams,
) -> dict[str, NearlyFull]:
    """Resources without an order of their own. The band ends a little below ``full_share``: a disk that a plan took to
    the edge would be full again with the next write. Brokers of unknown capacity take what their band allows.
    """
    arrays = brokers.arrays
    if options.band is None or options.is_within_ordered or not arrays.stays.any():
        return {}
    names = tuple(
        name
        for name, limit in arrays.limit.items()
        if np.isfinite(limit[arrays.stays]).any()
        if name in BALANCED and name in partitions.sources and name not in _requested_resources(options)
        if options.moves_replicas or name in LEADER_CARRIED
    )
    columns = columns_of(partitions.placement.loads.taken(rows), target, names)
    total = (columns.follower_load * target[:, None] + columns.leader_extra).sum(axis=0)
    loads = _loads(partitions, brokers, names)
    result = {}
    for d, name in enumerate(columns.resources):
        capacity = arrays.limit[name]
        share = np.where(arrays.stays, loads[name][0] / capacity, 0.0)
        known = arrays.stays & np.isfinite(capacity)
        unknown = float((arrays.stays & ~known).sum())
        elsewhere = unknown * (1 + options.band) / arrays.stays.sum()
        mean = float(total[d] * (1 - elsewhere) / capacity[known].sum())
        edge = max(params.relieved_share, params.least_above_mean * mean)
        full = share > params.full_share * (1 + BAND_ROUNDING)
        if not full.any():
            continue
        helps = share.max() > params.least_above_mean * edge * (1 + BAND_ROUNDING)
        at = int((share >= share.max() * (1 - BAND_ROUNDING)).argmax())
        result[name] = NearlyFull(
            brokers=int(full.sum()),
            broker=int(arrays.ids[at]),
            share=float(share[at]),
            mean_share=None if unknown else mean,
            relieved_to=edge if helps else None,
        )
    return result


def _loads(
    partitions: PartitionArrays, brokers: BrokerArrays, names: tuple[str, ...]
) -> dict[str, tuple[Floats, Floats]]:
    """float64[B] of each resource: today, and after a preferred election."""
    placement, count = partitions.placement, len(brokers.arrays.ids)
    is_replica = placement.replicas >= 0
    columns = columns_of(placement.loads, is_replica.sum(axis=1).astype(np.int32), names)
    preferred = placement.leader if placement.preferred is None else placement.preferred
    result = {}
    for d, name in enumerate(columns.resources):
        weight = np.broadcast_to(columns.follower_load[:, d, None], is_replica.shape)
        if name == "disk":
            weight = np.where(np.isnan(partitions.own_size), weight, partitions.own_size)
        follower_load = np.bincount(placement.replicas[is_replica], weights=weight[is_replica], minlength=count)
        extra = columns.leader_extra[:, d]
        result[name] = (
            follower_load + _leader_loads(placement.leader, extra, count),
            follower_load + _leader_loads(preferred, extra, count),
        )
    return result


def _leader_loads(leader: Ints, weight: Floats, broker_count: int) -> Floats:
    leads = leader >= 0
    return np.bincount(leader[leads], weights=weight[leads], minlength=broker_count).astype(np.float64)


def _lost_cells(partitions: PartitionArrays, broker_arrays: BrokerArrays) -> Flags:
    """Not of excluded topics on a removed broker: there two options contradict each other."""
    replicas = partitions.placement.replicas
    is_replica = replicas >= 0
    leaves = is_replica & ~broker_arrays.arrays.stays[replicas]
    gone = np.array([broker.state.is_gone for broker in broker_arrays.brokers], dtype=np.bool_)
    contradicts = partitions.excluded & ~partitions.in_flight & ~partitions.leaderless
    return np.asarray(leaves & partitions.immovable[:, None] & ~(contradicts[:, None] & ~gone[replicas]))


def _without_gone(replicas: Ints, gone: Flags) -> tuple[Ints, Longs]:
    cleared = np.where(gone, ABSENT, replicas)
    order = np.argsort(cleared == ABSENT, axis=1, kind="stable")
    return np.take_along_axis(cleared, order, axis=1), order


def _must_go(partitions: PartitionArrays, broker_arrays: BrokerArrays, target: Ints, rows: Longs) -> Flags:
    replicas = partitions.placement.replicas[rows]
    is_replica = replicas >= 0
    result = (is_replica & ~broker_arrays.arrays.stays[replicas]).any(axis=1) | (is_replica.sum(axis=1) != target)
    if partitions.placement.must_leave is not None:
        result |= partitions.placement.must_leave[rows].any(axis=1)
    leader = partitions.placement.leader[rows]
    keeps = broker_arrays.arrays.keeps_leaders
    result |= (leader != ABSENT) & ~keeps[leader]  # demoted: another broker must lead, also after an election
    if partitions.placement.preferred is not None:
        preferred = partitions.placement.preferred[rows]
        result |= (preferred != ABSENT) & ~keeps[preferred]
    return np.asarray(result | lacks_racks(replicas, broker_arrays.arrays, target, _sets_of(partitions, rows)))


def _sets_of(partitions: PartitionArrays, rows: Longs) -> BrokerSets | None:
    sets = partitions.placement.broker_sets
    return None if sets is None else sets.taken(rows)


def lacks_racks(replicas: Ints, arrays: Brokers | Problem, target: Ints, sets: BrokerSets | None = None) -> Flags:
    """On fewer racks than possible for the factor. A broker without a rack counts as one."""
    rack = distinct_racks(arrays.rack)
    used = np.sort(np.where(replicas >= 0, rack[replicas], -1), axis=1)
    distinct = (used[:, :1] >= 0).sum(axis=1) + ((used[:, 1:] != used[:, :-1]) & (used[:, 1:] >= 0)).sum(axis=1)
    if sets is None:
        return np.asarray(distinct < np.minimum(target, len(np.unique(rack[arrays.takes_replicas]))))
    return np.asarray(distinct < np.minimum(target, sets.racks_open(rack, arrays.takes_replicas)))


def _disk_limit(partitions: PartitionArrays, broker_arrays: BrokerArrays) -> Floats:
    """Room for replicas: capacity without stray logs and copies between dirs, and at most Kafka's bytes plus the free
    space of its volumes. Bytes that a reassignment has not copied yet do not count as Kafka's.
    """
    capacity = broker_arrays.arrays.limit.get("disk", np.full(len(broker_arrays.brokers), np.inf))
    capacity = np.maximum(capacity - broker_arrays.unplaced_bytes, 0.0)
    disk = partitions.placement.loads.disk_bytes
    if disk is None:
        return np.asarray(capacity)
    replicas = partitions.placement.replicas
    sizes = np.where(np.isnan(partitions.own_size), disk[:, None], partitions.own_size)
    is_replica = replicas >= 0
    used = np.bincount(replicas[is_replica], weights=sizes[is_replica], minlength=len(broker_arrays.brokers))
    return np.minimum(capacity, used - partitions.arriving_bytes + broker_arrays.usable_bytes)


def _hard_reasons(
    partitions: PartitionArrays,
    broker_arrays: BrokerArrays,
    target: Ints,
    rows: Longs,
    free: Flags,
    options: PlanOptions,
) -> tuple[Fact, ...]:
    if not options.moves_replicas:
        return ()
    replicas = partitions.placement.replicas[rows]
    is_movable = (replicas >= 0) & free[:, None]
    reasons = _leaving_facts(broker_arrays, replicas, is_movable)
    if partitions.placement.must_leave is not None:
        sets = _sets_of(partitions, rows)
        outside = np.zeros_like(is_movable) if sets is None else sets.outside(replicas) & is_movable
        laggards = partitions.laggards[rows]
        offline = int((partitions.placement.must_leave[rows] & is_movable & ~outside & ~laggards).sum())
        reasons += [fact(FactCode.REPLICAS_ON_OFFLINE_DIRS, replicas=offline)] if offline else []
        confined = int(outside.sum())
        reasons += [fact(FactCode.REPLICAS_OUTSIDE_TOPIC_BROKERS, replicas=confined)] if confined else []
    wrong_rf = free & ((replicas >= 0).sum(axis=1) != target)
    shared = free & lacks_racks(replicas, broker_arrays.arrays, target, _sets_of(partitions, rows))
    reasons += _wrong_factor_or_racks(wrong_rf, shared)
    return (*reasons, *_demoted_reasons(partitions, broker_arrays, rows, free))


def _leaving_facts(broker_arrays: BrokerArrays, replicas: Ints, counted: Flags) -> list[Fact]:
    facts = []
    for b, broker in enumerate(broker_arrays.brokers):
        count = 0 if broker.state.stays else int((counted & (replicas == b)).sum())
        if count:
            facts.append(
                fact(FactCode.REPLICAS_MUST_LEAVE_BROKER, broker=broker.id, state=broker.state.value, replicas=count)
            )
    return facts


def _wrong_factor_or_racks(wrong_rf: Flags, shared: Flags) -> list[Fact]:
    counted = ((FactCode.REPLICATION_FACTOR_DIFFERS, wrong_rf), (FactCode.RACKS_UNUSED, shared))
    return [fact(code, partitions=int(flags.sum())) for code, flags in counted if flags.any()]


def _unmet_reasons(partitions: PartitionArrays, broker_arrays: BrokerArrays, options: PlanOptions) -> tuple[Fact, ...]:
    if not options.moves_replicas or not partitions.waiting.any():
        return ()
    waiting = partitions.waiting
    replicas = partitions.placement.replicas
    reasons = _leaving_facts(broker_arrays, replicas, (replicas >= 0) & waiting[:, None])
    count = np.asarray((replicas >= 0).sum(axis=1), dtype=np.int32)
    target = count if options.replication_factor is None else np.full_like(count, options.replication_factor)
    shared = waiting & lacks_racks(replicas, broker_arrays.arrays, target, partitions.placement.broker_sets)
    reasons += _wrong_factor_or_racks(waiting & (count != target), shared)
    return tuple(fact(FactCode.WAITS_FOR_SYNC, reason=reason) for reason in reasons)


def _still_filled(
    snapshot: ClusterSnapshot, partitions: PartitionArrays, broker_arrays: BrokerArrays, options: PlanOptions, most: int
) -> tuple[Fact, ...]:
    if not options.moves_replicas:
        return ()
    replicas, reasons = partitions.placement.replicas, []
    for b, broker in enumerate(broker_arrays.brokers):
        rows = np.flatnonzero(((replicas == b) & partitions.in_flight[:, None]).any(axis=1)).tolist()
        if broker.state.stays or not rows:
            continue
        reasons.append(
            fact(
                FactCode.REASSIGNMENT_FILLS_BROKER,
                broker=broker.id,
                state=broker.state.value,
                is_gone=broker.state.is_gone,
                partitions=len(rows),
                first=tuple(partitions.placement.name_of(row) for row in rows[:most]),
                cancel_json=cancel_json(snapshot, rows) if len(rows) <= MOST_CANCELLED else None,
            )
        )
    return tuple(reasons)


def _demoted_reasons(
    partitions: PartitionArrays, broker_arrays: BrokerArrays, rows: Longs, free: Flags
) -> tuple[Fact, ...]:
    leader, preferred = partitions.placement.leader[rows], partitions.placement.preferred
    reasons = []
    for b, broker in enumerate(broker_arrays.brokers):
        if broker.state is BrokerState.DEMOTED:
            led = int((free & (leader == b)).sum())
            first = 0 if preferred is None else int((free & (preferred[rows] == b) & (leader != b)).sum())
            counted = ((FactCode.DEMOTED_BROKER_LEADS, led), (FactCode.DEMOTED_BROKER_IS_PREFERRED, first))
            reasons += [fact(code, broker=broker.id, partitions=count) for code, count in counted if count]
    return tuple(reasons)
