"""Facts about an unusual cluster and how the plan treats it."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from kafka_assignors.arrays import ABSENT, Flags, Ints, Longs
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.cluster_arrays.snapshot_arrays import BrokerArrays, PartitionArrays
from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.planner.infeasible import forced_copies, rack_cause
from kafka_rebalance.plans.params import DEFAULTS, OptionParams
from kafka_rebalance.snapshot.model import Broker, ClusterSnapshot, least_in_sync
from kafka_rebalance.snapshot.other_hands import balancers, throttled_resources


def cluster_notes(
    broker_arrays: BrokerArrays,
    partitions: PartitionArrays,
    target_rf: Ints,
    params: OptionParams = DEFAULTS.options,
) -> tuple[Fact, ...]:
    """Facts about one broker, racks, disks and empty partitions."""
    return (
        *_not_heard(broker_arrays),
        *_one_broker(broker_arrays),
        *_racks(broker_arrays, partitions, target_rf),
        *_disks(broker_arrays, params.same_disk_ratio),
        *_empty(partitions),
    )


def laggard_notes(partitions: PartitionArrays, params: OptionParams = DEFAULTS.options) -> tuple[Fact, ...]:
    waiting = partitions.waiting
    marks = partitions.placement.must_leave
    leaves = np.zeros_like(waiting) if marks is None else (partitions.laggards & marks).any(axis=1) & ~waiting
    behind = partitions.under_replicated & ~partitions.leaderless
    counted: tuple[tuple[Flags, FactCode, dict[str, str]], ...] = (
        (behind, FactCode.PARTITIONS_UNDER_REPLICATED, {}),
        (waiting, FactCode.PARTITIONS_LEFT_ALONE, {"why": "out_of_sync"}),
        (partitions.short, FactCode.PARTITIONS_LEFT_ALONE, {"why": "too_few_brokers"}),
        (leaves, FactCode.OUT_OF_SYNC_REPLICA_LEAVES, {}),
    )
    return tuple(
        fact(code, **why, partitions=int(flags.sum()), first=_first(partitions, flags, params.most_named))
        for flags, code, why in counted
        if flags.any()
    )


def _first(partitions: PartitionArrays, flags: Flags, most: int) -> tuple[str, ...]:
    return tuple(partitions.placement.name_of(row) for row in np.flatnonzero(flags)[:most].tolist())


def min_isr_notes(snapshot: ClusterSnapshot, options: PlanOptions, rows: Longs, most: int) -> tuple[Fact, ...]:
    """Whether the new factor leaves writes no replica to lose, or too few."""
    factor = options.replication_factor
    if factor is None:
        return ()
    least, notes = least_in_sync(snapshot)[rows], []
    for flags, is_below in ((least > factor, True), (least == factor, False)):
        topics = sorted({snapshot.topics[topic].name for topic in snapshot.partitions.topic[rows[flags]].tolist()})
        if topics:
            notes.append(
                fact(
                    FactCode.FACTOR_AT_MIN_ISR, replication_factor=factor, is_below=is_below, topics=len(topics),
                    first=tuple(topics[:most]),
                )
            )  # fmt: skip
    return tuple(notes)


def pattern_notes(snapshot: ClusterSnapshot, options: PlanOptions, most: int) -> tuple[Fact, ...]:
    """Matching topics of the first ``most`` patterns."""
    patterns, total = list(options.topic_patterns()), len(snapshot.topics)
    notes = []
    for option, pattern in patterns[:most]:
        count = sum(re.fullmatch(pattern, topic.name) is not None for topic in snapshot.topics)
        notes.append(fact(FactCode.PATTERN_MATCHES, option=option, pattern=pattern, matched=count, topics=total))
    rest = len(patterns) - most
    return (*notes, fact(FactCode.MORE_PATTERNS, patterns=rest)) if rest > 0 else tuple(notes)


def other_hand_notes(snapshot: ClusterSnapshot) -> tuple[Fact, ...]:
    """Balancers of this cluster, and obstacles to replicas that this plan moves."""
    notes = [
        fact(FactCode.BALANCER_MAY_INTERFERE, balancer=other.name, sign=other.signs[0]) for other in balancers(snapshot)
    ]
    if snapshot.partitions.future:
        count = sum(len(copies) for copies in snapshot.partitions.future.values())
        notes.append(fact(FactCode.COPIES_BETWEEN_DIRS, replicas=count))
    topics, brokers = throttled_resources(snapshot)
    if topics or brokers:
        notes.append(fact(FactCode.THROTTLES_SET, topics=len(topics), brokers=len(brokers)))
    notes += [
        fact(FactCode.CORDONED_GETS_NOTHING, broker=broker.id) for broker in snapshot.brokers if broker.is_cordoned
    ]
    return tuple(notes)


def partial_racks(brokers: Iterable[Broker]) -> tuple[Fact, ...]:
    brokers = tuple(brokers)
    without = tuple(broker.id for broker in brokers if broker.rack is None)
    return (fact(FactCode.BROKERS_WITHOUT_RACK, brokers=without),) if 0 < len(without) < len(brokers) else ()


def refuse_too_much_for_the_disks(problem: Problem) -> None:
    d = problem.column("disk")
    if d is None or not problem.moves_replicas:
        return
    needed = float((problem.follower_load[:, d] * problem.target_rf + problem.leader_extra[:, d]).sum())
    limits = problem.limit[problem.stays, d]
    capacity = float(limits.sum())
    if needed <= capacity * (1 + 1e-9):
        return
    forced = forced_copies(problem)
    if forced is not None and (cause := rack_cause(problem, forced)) is not None:
        raise cause.error()
    largest = float(limits.max(initial=0.0))
    raise InfeasibleError(
        fact(FactCode.DISKS_TOO_SMALL, brokers=len(limits), capacity_bytes=capacity, needed_bytes=needed),
        fact(
            FactCode.ADD_DISK,
            lacking_bytes=needed - capacity,
            like_largest=int(np.ceil((needed - capacity) / largest)) if largest > 0 else None,
        ),
    )


def _one_broker(broker_arrays: BrokerArrays) -> tuple[Fact, ...]:
    stays = np.flatnonzero(broker_arrays.arrays.stays)
    return (fact(FactCode.ONLY_BROKER, broker=broker_arrays.brokers[int(stays[0])].id),) if len(stays) == 1 else ()


def _not_heard(broker_arrays: BrokerArrays) -> tuple[Fact, ...]:
    return tuple(
        fact(FactCode.BROKER_UNRESPONSIVE, broker=broker.id, state=broker.state.value)
        for broker in broker_arrays.brokers
        if broker.state.is_unresponsive
    )


def _racks(broker_arrays: BrokerArrays, partitions: PartitionArrays, target_rf: Ints) -> tuple[Fact, ...]:
    rack, takes = broker_arrays.arrays.rack, broker_arrays.arrays.takes_replicas
    open_racks = np.unique(rack[takes])
    if len(open_racks) < 2:
        return ()
    if open_racks[0] == ABSENT:
        return partial_racks(broker_arrays.brokers[int(b)] for b in np.flatnonzero(takes))
    notes = []
    most = int(target_rf.max(initial=0))
    if most > len(open_racks):
        notes.append(
            fact(
                FactCode.MORE_REPLICAS_THAN_RACKS,
                partitions=int((target_rf > len(open_racks)).sum()),
                replication_factor=most,
                racks=len(open_racks),
                most_in_rack=-(-most // len(open_racks)),
            )
        )
    replicas = partitions.placement.replicas
    used = np.unique(rack[np.unique(replicas[replicas >= 0])])
    names = sorted({broker_arrays.brokers[int(b)].rack or "" for b in np.flatnonzero(takes & ~np.isin(rack, used))})
    if len(used):
        notes += [fact(FactCode.RACK_EMPTY, rack=name) for name in names]
    return tuple(notes)


def _disks(broker_arrays: BrokerArrays, same_disk_ratio: float) -> tuple[Fact, ...]:
    capacity = broker_arrays.arrays.capacity.get("disk")
    stays = np.flatnonzero(broker_arrays.arrays.stays)
    if capacity is None or not len(stays):
        return ()
    order = stays[np.argsort(capacity[stays], kind="stable")]
    small, large = int(order[0]), int(order[-1])
    if capacity[large] <= same_disk_ratio * capacity[small]:
        return ()
    return (
        fact(
            FactCode.DISKS_DIFFER,
            smallest_bytes=float(capacity[small]),
            smallest_broker=broker_arrays.brokers[small].id,
            largest_bytes=float(capacity[large]),
            largest_broker=broker_arrays.brokers[large].id,
        ),
    )


def _empty(partitions: PartitionArrays) -> tuple[Fact, ...]:
    disk = partitions.placement.loads.disk_bytes
    if disk is None or not len(disk) or disk.any():
        return ()
    return (fact(FactCode.ALL_PARTITIONS_EMPTY),)
