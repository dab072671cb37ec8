"""What has changed in the cluster since the plan saw it: identity, time, brokers, racks, topics, other moves."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import numpy as np

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.facts import FactCode
from kafka_rebalance.plans.check.planned import PlannedState
from kafka_rebalance.plans.check.reasons import Reason, ReasonCode, reason
from kafka_rebalance.plans.unseen import hidden_topics
from kafka_rebalance.snapshot.in_sync import least_in_sync
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.snapshot.rights import Right, missing_rights
from kafka_rebalance.snapshot.times import time_text


def why_not_comparable(planned: PlannedState, snapshot: ClusterSnapshot) -> tuple[Reason, ...]:
    """Why this snapshot cannot tell what has become of the plan: it is older, or of another cluster.

    Raises InvalidInputError where both tell an id and they differ.
    """
    ids = {planned.cluster_id, snapshot.cluster_id} - {None}
    if len(ids) > 1:
        problem = f"the plan is of cluster {planned.cluster_id}, the snapshot of {snapshot.cluster_id}"
        raise InvalidInputError.at("check", problem, "give its own snapshot")
    reasons = []
    then, now = planned.captured_at, snapshot.captured_at
    if then is not None and now is not None and now < then:
        times = {"snapshot_at": time_text(now), "plan_at": time_text(then)}
        reasons.append(reason(ReasonCode.SNAPSHOT_OLDER, FactCode.SNAPSHOT_BEFORE_PLAN, **times))
    if planned.cluster_id is None or snapshot.cluster_id is None:
        reasons += _another_cluster(planned, snapshot)
    return tuple(reasons)


def expired(planned: PlannedState, snapshot: ClusterSnapshot, now: datetime | None) -> Iterator[Reason]:
    """The plan's time is over: at the moment of the snapshot, or by the clock of whoever asks, where they have one."""
    moments = [moment for moment in (snapshot.captured_at, now) if moment is not None]
    if planned.expires_at is not None and moments and max(moments) > planned.expires_at:
        yield reason(ReasonCode.EXPIRED, FactCode.PLAN_EXPIRED, expires_at=time_text(planned.expires_at))


def changes_since(planned: PlannedState, snapshot: ClusterSnapshot) -> Iterator[Reason]:
    """Everything but the moved partitions themselves."""
    yield from _brokers(planned, snapshot)
    yield from _racks(planned, snapshot)
    yield from _topics(planned, snapshot)
    yield from _reassignments(planned, snapshot)
    yield from _under_min_isr(planned, snapshot)


def recreated_topics(planned: PlannedState, snapshot: ClusterSnapshot) -> frozenset[str]:
    """Topics that move and are others by now. An id that one side does not tell is unknown, not another one."""
    today = {topic.name: topic.topic_id for topic in snapshot.topics}
    return frozenset(
        name
        for name, was in planned.topic_ids.items()
        if was is not None and today.get(name) is not None and today[name] != was
    )


def _another_cluster(planned: PlannedState, snapshot: ClusterSnapshot) -> Iterator[Reason]:
    """Without an id in both, what the plan saw must be there: most partitions in their places, most brokers."""
    row_of, table = snapshot.row_of, snapshot.partitions
    found = 0
    for move in planned.moves:
        row = row_of.get((move.topic, move.partition))
        if row is not None:
            today = set(table.replicas[table.offsets[row] : table.offsets[row + 1]].tolist())
            found += today >= set(move.start) or today >= set(move.target)
    if 2 * found < len(planned.moves):
        yield _looks_like_another(planned, "partitions", found, len(planned.moves))
        return
    known = planned.broker_racks
    there = known.keys() & {broker.id for broker in snapshot.brokers}
    if 2 * len(there) < len(known):
        yield _looks_like_another(planned, "brokers", len(there), len(known))


def _looks_like_another(planned: PlannedState, what: str, found: int, known: int) -> Reason:
    counts = {"what": what, "found": found, "known": known}
    return reason(ReasonCode.ANOTHER_CLUSTER, FactCode.LOOKS_LIKE_ANOTHER_CLUSTER, cluster=planned.cluster, **counts)


def _brokers(planned: PlannedState, snapshot: ClusterSnapshot) -> Iterator[Reason]:
    options = planned.options
    today = {broker.id: broker for broker in snapshot.brokers}
    for broker in sorted(today.keys() - planned.broker_racks.keys()):
        yield reason(ReasonCode.BROKER_ADDED, FactCode.BROKER_HAS_JOINED, broker=broker)
    removed = {broker for broker, rack in planned.broker_racks.items() if options.is_removed(broker, rack)}
    expected = planned.broker_racks.keys() - planned.dead_brokers - removed
    for broker in sorted(expected):
        if broker not in today and broker not in options.add_brokers:
            yield reason(ReasonCode.BROKER_LOST, FactCode.BROKER_HAS_LEFT, broker=broker)
        elif broker in today and not today[broker].state.is_heard:
            state = today[broker].state.value
            yield reason(ReasonCode.BROKER_LOST, FactCode.BROKER_NOW_IN_STATE, broker=broker, state=state)
    for broker in sorted(planned.dead_brokers & today.keys()):
        if today[broker].state.is_heard:
            state = today[broker].state.value
            yield reason(ReasonCode.BROKER_BACK, FactCode.BROKER_HAS_RETURNED, broker=broker, state=state)


def _racks(planned: PlannedState, snapshot: ClusterSnapshot) -> Iterator[Reason]:
    was = planned.broker_racks
    # A dead broker is known by its id alone: that nobody tells its rack is no news.
    today = {broker.id: broker.rack for broker in snapshot.brokers if broker.state.is_heard and broker.id in was}
    if today and any(was[broker] for broker in today) and not any(today.values()):
        yield reason(ReasonCode.RACKS_GONE, FactCode.NOW_NO_RACKS)
        return
    for broker, rack in sorted(today.items()):
        if rack != was[broker] and broker not in planned.dead_brokers:
            racks = {"now": rack, "then": was[broker]}
            yield reason(ReasonCode.RACK_CHANGED, FactCode.NOW_OTHER_RACK, broker=broker, **racks)


def _topics(planned: PlannedState, snapshot: ClusterSnapshot) -> Iterator[Reason]:
    today = {topic.name: index for index, topic in enumerate(snapshot.topics)}
    moved = {move.topic for move in planned.moves}
    hidden, may_hide = hidden_topics(snapshot), Right.DESCRIBE_CLUSTER in missing_rights(snapshot.coverage)
    for name in sorted(moved - today.keys()):
        if name in hidden or may_hide:
            yield reason(ReasonCode.NOT_SEEN, FactCode.TOPIC_NOT_SHOWN, topic=name)
        else:
            yield reason(ReasonCode.TOPIC_DELETED, FactCode.TOPIC_HAS_LEFT, topic=name)
    for name in sorted(recreated_topics(planned, snapshot)):
        yield reason(ReasonCode.TOPIC_RECREATED, FactCode.TOPIC_MADE_ANEW, topic=name)
    column = snapshot.partitions.topic
    for name in sorted(planned.topic_partitions.keys() & moved & today.keys()):
        count = int((column == today[name]).sum())
        if count > planned.topic_partitions[name]:
            counts = {"now": count, "then": planned.topic_partitions[name]}
            yield reason(ReasonCode.PARTITIONS_ADDED, FactCode.NOW_MORE_PARTITIONS, topic=name, **counts)


def still_reassigning(planned: PlannedState, snapshot: ClusterSnapshot) -> Iterator[Reason]:
    """Reassignments of others that ran when the plan was made, and still do: its commands start beside them."""
    for name in _foreign(planned, snapshot, were_running=True):
        yield reason(ReasonCode.STILL_REASSIGNING, FactCode.STILL_REASSIGNED_BY_OTHERS, partition=name)


def _reassignments(planned: PlannedState, snapshot: ClusterSnapshot) -> Iterator[Reason]:
    """Others than the plan's own moves (those are judged one by one) that have begun since the plan was made: where
    none ran then, ``kafka-reassign-partitions.sh --execute`` refuses to start beside them.
    """
    for name in _foreign(planned, snapshot, were_running=False):
        yield reason(ReasonCode.FOREIGN_REASSIGNMENT, FactCode.NOW_REASSIGNED_BY_OTHERS, partition=name)


def _foreign(planned: PlannedState, snapshot: ClusterSnapshot, *, were_running: bool) -> Iterator[str]:
    table = snapshot.partitions
    own = {(move.topic, move.partition) for move in planned.moves}
    for row in sorted({*table.adding, *table.removing}):
        key = (snapshot.topics[int(table.topic[row])].name, int(table.partition[row]))
        if key not in own and (key in planned.reassigning) == were_running:
            yield snapshot.name_of(row)


def _under_min_isr(planned: PlannedState, snapshot: ClusterSnapshot) -> Iterator[Reason]:
    """Partitions that refuse writes. Not those of which the plan knew (their missing replicas lie on brokers that were
    dead when it was made), and not those that it takes from their missing replicas: the plan is then the cure.
    """
    table = snapshot.partitions
    if table.in_sync is None:
        return
    in_sync = np.bincount(table.row_of_replica, weights=table.in_sync, minlength=len(table)).astype(np.int64)
    least = np.minimum(least_in_sync(snapshot), table.replica_counts)  # as brokers count it: not above the replicas
    moves = {(move.topic, move.partition): move for move in planned.moves}
    for row in np.flatnonzero(in_sync < least).tolist():
        cells = slice(int(table.offsets[row]), int(table.offsets[row + 1]))
        missing = set(table.replicas[cells][~table.in_sync[cells]].tolist())
        move = moves.get((snapshot.topics[int(table.topic[row])].name, int(table.partition[row])))
        if missing <= planned.dead_brokers or (move is not None and not missing & set(move.target)):
            continue
        counts = {"in_sync": int(in_sync[row]), "least": int(least[row])}
        yield reason(ReasonCode.UNDER_MIN_ISR, FactCode.TOO_FEW_IN_SYNC, partition=snapshot.name_of(row), **counts)
