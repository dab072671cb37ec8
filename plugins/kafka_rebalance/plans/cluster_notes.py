"""What is unusual about a cluster and how the plan treats it, one sentence each; and disks that cannot hold it all."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from kafka_rebalance.amounts import bytes_in_words
from kafka_rebalance.arrays import NOBODY, Flags, Ints, Longs
from kafka_rebalance.cluster_arrays.broker_arrays import BrokerArrays
from kafka_rebalance.cluster_arrays.partition_arrays import PartitionArrays
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.planner.infeasible.counted_causes import rack_cause
from kafka_rebalance.planner.infeasible.forced_copies import forced_copies
from kafka_rebalance.plans.params import DEFAULTS, OptionParams
from kafka_rebalance.snapshot.in_sync import KEY, least_in_sync
from kafka_rebalance.snapshot.model import Broker, ClusterSnapshot
from kafka_rebalance.snapshot.other_hands import balancers, throttled
from kafka_rebalance.visible_text import excerpt


def cluster_notes(
    broker_arrays: BrokerArrays,
    partitions: PartitionArrays,
    target_rf: Ints,
    params: OptionParams = DEFAULTS.options,
) -> tuple[str, ...]:
    """Sentences about one broker, racks, disks and empty partitions. ``target_rf`` int32[P']. O(P·W)."""
    return (
        *_not_heard(broker_arrays),
        *_one_broker(broker_arrays),
        *_racks(broker_arrays, partitions, target_rf),
        *_disks(broker_arrays, params.same_disk_ratio),
        *_empty(partitions),
    )


def laggard_notes(partitions: PartitionArrays, params: OptionParams = DEFAULTS.options) -> tuple[str, ...]:
    """What is under-replicated, which partitions wait for a replica to catch up, and which replicas leave instead."""
    waiting = partitions.waiting
    marks = partitions.placement.must_leave
    leaves = np.zeros_like(waiting) if marks is None else (partitions.laggards & marks).any(axis=1) & ~waiting
    behind = partitions.under_replicated & ~partitions.leaderless
    counted = (
        (behind, "under-replicated"),
        (waiting, "left as they are until a replica out of sync has caught up (no reassignment ends before)"),
        (
            partitions.short,
            "left on brokers that are gone, for too few others may hold a replica (add brokers, or lower the factor)",
        ),
        (leaves, "out of sync on a broker that stays, so that this replica may not lead nor be in a list that changes"),
    )
    return tuple(
        f"{words}: {int(flags.sum()):,} of the partitions: {_named(partitions, flags, params.most_named)}"
        for flags, words in counted
        if flags.any()
    )


def _named(partitions: PartitionArrays, flags: Flags, most: int) -> str:
    rows = np.flatnonzero(flags).tolist()
    names = ", ".join(partitions.placement.name_of(row) for row in rows[:most])
    return f"{names} and {len(rows) - most:,} more" if len(rows) > most else names


def min_isr_notes(snapshot: ClusterSnapshot, options: PlanOptions, rows: Longs, most: int) -> tuple[str, ...]:
    """A warning where the factor that ``rows`` int64[M] get leaves writes no replica to lose, or too few to begin."""
    factor = options.replication_factor
    if factor is None:
        return ()
    least, notes = least_in_sync(snapshot)[rows], []
    for flags, what, harm in (
        (least > factor, "below", "producers with acks=all fail there once it is done"),
        (least == factor, "not above", "one failure stops writes with acks=all there"),
    ):
        topics = sorted({snapshot.topics[topic].name for topic in snapshot.partitions.topic[rows[flags]].tolist()})
        if topics:
            names = ", ".join(topics[:most]) + (f" and {len(topics) - most:,} more" if len(topics) > most else "")
            notes.append(f"warning: replication factor {factor} is {what} {KEY} of {names}: {harm}")
    return tuple(notes)


def pattern_notes(snapshot: ClusterSnapshot, options: PlanOptions, most: int) -> tuple[str, ...]:
    """How many topics each pattern matches; of many patterns the first ``most``. O(patterns · topics)."""
    patterns, total = list(options.topic_patterns()), len(snapshot.topics)
    notes = []
    for option, pattern in patterns[:most]:
        count = sum(re.fullmatch(pattern, topic.name) is not None for topic in snapshot.topics)
        notes.append(f"{option} {excerpt(pattern)} matches {f'{count:,}' if count else 'none'} of {total:,} topics")
    rest = len(patterns) - most
    return (*notes, f"{rest:,} more patterns of topics were given") if rest > 0 else tuple(notes)


def other_hand_notes(snapshot: ClusterSnapshot) -> tuple[str, ...]:
    """Who else may move this cluster's replicas, and what stands in the way of those that this plan moves. O(P)."""
    notes = [
        f"{other.name} may work against this plan (seen: {other.signs[0]}): {other.pause} before it is executed"
        for other in balancers(snapshot)
    ]
    if snapshot.partitions.future:
        count = sum(len(copies) for copies in snapshot.partitions.future.values())
        notes.append(f"{count:,} replicas are being moved between log dirs: until that ends both copies take disk")
    topics, brokers = throttled(snapshot)
    if topics or brokers:
        where = [f"{len(topics):,} topics"] if topics else []
        where += [f"{len(brokers):,} brokers"] if brokers else []
        notes.append(f"replication throttles stand on {' and '.join(where)} already: they slow this plan down, too")
    notes += [
        f"broker {broker.id} is cordoned: it gets no replica" for broker in snapshot.brokers if broker.is_cordoned
    ]
    return tuple(notes)


def partial_racks(brokers: Iterable[Broker]) -> tuple[str, ...]:
    """A sentence on brokers without a rack beside others that have one."""
    brokers = tuple(brokers)
    without = [str(broker.id) for broker in brokers if broker.rack is None]
    if not 0 < len(without) < len(brokers):
        return ()
    words = "has no rack: it counts" if len(without) == 1 else "have no rack: each counts"
    return (f"broker{'' if len(without) == 1 else 's'} {', '.join(without)} {words} as a rack of its own",)


def refuse_too_much_for_the_disks(problem: Problem) -> None:
    """Raises InfeasibleError where all disks together are smaller than what they are to hold; names one rack's disks
    where these are too small already.
    """
    d = problem.column("disk")
    if d is None or not problem.moves_replicas:
        return
    wanted = float((problem.follower_load[:, d] * problem.target_rf + problem.leader_extra[:, d]).sum())
    limits = problem.limit[problem.stays, d]
    capacity = float(limits.sum())
    if wanted <= capacity * (1 + 1e-9):
        return
    forced = forced_copies(problem)
    if forced is not None and (cause := rack_cause(problem, forced)) is not None:
        raise cause.error()
    largest = float(limits.max(initial=0.0))
    count = int(np.ceil((wanted - capacity) / largest)) if largest > 0 else 0
    missing = f" ({count} broker{'s' if count > 1 else ''} like the largest)" if count else ""
    raise InfeasibleError(
        f"the disks of the {len(limits)} brokers that stay offer {bytes_in_words(capacity)}, "
        f"all replicas take {bytes_in_words(wanted)}",
        f"add {bytes_in_words(wanted - capacity)} of disk{missing}, "
        "or keep less: shorter retention, a lower replication factor",
    )


def _one_broker(broker_arrays: BrokerArrays) -> tuple[str, ...]:
    stays = np.flatnonzero(broker_arrays.arrays.stays)
    if len(stays) != 1:
        return ()
    only = broker_arrays.brokers[int(stays[0])].id
    return (f"broker {only} is the only one: no replica or leader has anywhere else to go",)


def _not_heard(broker_arrays: BrokerArrays) -> tuple[str, ...]:
    return tuple(
        f"broker {broker.id} is {broker.state.value}: it gets no replica and no leader until a reading hears it"
        for broker in broker_arrays.brokers
        if broker.state.is_unheard
    )


def _racks(broker_arrays: BrokerArrays, partitions: PartitionArrays, target_rf: Ints) -> tuple[str, ...]:
    rack, takes = broker_arrays.arrays.rack, broker_arrays.arrays.takes_replicas
    open_racks = np.unique(rack[takes])
    if len(open_racks) < 2:
        return ()
    if open_racks[0] == NOBODY:
        return partial_racks(broker_arrays.brokers[int(b)] for b in np.flatnonzero(takes))
    notes = []
    most = int(target_rf.max(initial=0))
    if most > len(open_racks):
        count, share = int((target_rf > len(open_racks)).sum()), -(-most // len(open_racks))
        notes.append(
            f"{count:,} partitions have more replicas than there are racks ({most} over {len(open_racks)}): "
            f"they are spread evenly, at most {share} in a rack"
        )
    replicas = partitions.placement.replicas
    used = np.unique(rack[np.unique(replicas[replicas >= 0])])
    names = sorted({broker_arrays.brokers[int(b)].rack or "" for b in np.flatnonzero(takes & ~np.isin(rack, used))})
    if len(used):
        notes += [f"rack {name} holds no replica yet: its brokers take their share" for name in names]
    return tuple(notes)


def _disks(broker_arrays: BrokerArrays, same_disk_ratio: float) -> tuple[str, ...]:
    capacity = broker_arrays.arrays.capacity.get("disk")
    stays = np.flatnonzero(broker_arrays.arrays.stays)
    if capacity is None or not len(stays):
        return ()
    order = stays[np.argsort(capacity[stays], kind="stable")]
    small, large = int(order[0]), int(order[-1])
    if capacity[large] <= same_disk_ratio * capacity[small]:
        return ()
    least = f"{bytes_in_words(float(capacity[small]))} (broker {broker_arrays.brokers[small].id})"
    most = f"{bytes_in_words(float(capacity[large]))} (broker {broker_arrays.brokers[large].id})"
    return (f"disks differ, from {least} to {most}: shares of disk follow them",)


def _empty(partitions: PartitionArrays) -> tuple[str, ...]:
    disk = partitions.placement.loads.disk_bytes
    if disk is None or not len(disk) or disk.any():
        return ()
    return ("every partition is empty: moving them costs no bytes, and only counts and rates are balanced",)
