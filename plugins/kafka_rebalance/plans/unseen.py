"""Coverage gaps that matter for the verdict."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from kafka_assignors.arrays import ABSENT, Flags, Floats
from kafka_rebalance.cluster_arrays.problem import DEFAULTS as MODEL
from kafka_rebalance.cluster_arrays.problem import Problem, broker_loads
from kafka_rebalance.cluster_arrays.snapshot_arrays import unknown_figure
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.plans.draft import Draft
from kafka_rebalance.plans.params import DEFAULTS, UnseenParams
from kafka_rebalance.plans.plan import Preconditions
from kafka_rebalance.plans.request import PlanRequest
from kafka_rebalance.resources import COUNTED, LEADER_CARRIED, ROWS, TABLE
from kafka_rebalance.snapshot.coverage import Right, missing_rights
from kafka_rebalance.snapshot.model import Broker, ClusterSnapshot

# Preconditions of a plan, which ``check`` compares with a newer snapshot.


def observed_state(plan_request: PlanRequest, draft: Draft) -> Preconditions:
    snapshot = plan_request.snapshot
    table = snapshot.partitions
    counts = np.bincount(table.topic, minlength=len(snapshot.topics))
    rows = sorted({*table.adding, *table.removing})
    return Preconditions(
        broker_racks={broker.id: broker.rack for broker in plan_request.brokers.brokers},
        dead_brokers=tuple(sorted(broker.id for broker in snapshot.brokers if not broker.state.is_responsive)),
        topic_partitions={snapshot.topics[topic].name: int(counts[topic]) for topic in _moved(plan_request, draft)},
        reassigning=tuple((snapshot.topics[int(table.topic[row])].name, int(table.partition[row])) for row in rows),
    )


def topic_ids_of(plan_request: PlanRequest, draft: Draft) -> dict[str, str | None]:
    return {
        plan_request.snapshot.topics[topic].name: plan_request.snapshot.topics[topic].topic_id
        for topic in _moved(plan_request, draft)
    }


def _moved(plan_request: PlanRequest, draft: Draft) -> list[int]:
    topics = np.unique(plan_request.snapshot.partitions.topic[draft.row]).tolist()
    return sorted(topics, key=lambda topic: plan_request.snapshot.topics[topic].name)


# Reasons for ``cannot_tell``:
#
# 1. The snapshot is unusable (``nothing_usable``): no responsive broker, no partition, or none with a leader and a
#    replica on a working log dir.
# 2. Unseen parts could change "nothing to do" (``could_change``):
#    - a dead or fenced broker has partitions without a leader, so nothing can be copied off it;
#    - the right ``Describe on Cluster`` is missing: Kafka hides any number of topics silently;
#    - a load is known for too few partitions to be balanced;
#    - a broker would be outside if its unseen load were anything from 0 to ``times_mean`` times the mean: loads of
#      single partitions, topics without a description. A partition without a leader may get it on any of its brokers.
#
# A resource without any metric is reported, but no reason.


# A topic with one of these gaps has no partitions in the snapshot.
_HIDES_TOPIC = (FactCode.LACKS_DESCRIPTION, FactCode.LACKS_ALL_BUT_SIZE, FactCode.LACKS_PARTITIONS)


def nothing_usable(snapshot: ClusterSnapshot) -> tuple[Fact, ...]:
    if not snapshot.brokers:
        return (fact(FactCode.NO_BROKER_SEEN, has_groups_alone=bool(len(snapshot.partitions))),)
    reasons = [_why_unusable(broker) for broker in snapshot.brokers]
    if all(reasons):
        counted = tuple((reason, reasons.count(reason)) for reason in dict.fromkeys(reasons))
        return (fact(FactCode.NO_BROKER_ANSWERS, brokers_by_state=counted),)
    if not len(snapshot.partitions):
        return (fact(FactCode.NO_PARTITION_SEEN), *rights_missing(missing_rights(snapshot.coverage)))
    if not _is_led(snapshot).any():
        return (fact(FactCode.NO_PARTITION_USABLE, partitions=len(snapshot.partitions)),)
    return ()


def could_change(
    plan_request: PlanRequest, problem: Problem, params: UnseenParams = DEFAULTS.unseen
) -> tuple[Fact, ...]:
    """Reasons why "nothing to do" may be wrong."""
    hidden, rights = hidden_topics(plan_request.snapshot), missing_rights(plan_request.snapshot.coverage)
    blind = [fact(FactCode.TOPICS_MAY_BE_HIDDEN)] if Right.DESCRIBE_CLUSTER in rights else []
    reasons = [*blind, *_stuck_brokers(plan_request), *_known_in_part(plan_request)]
    if not plan_request.options.preferred_election:
        reasons += _outside_perhaps(plan_request, problem, hidden, params.times_mean)
    elif hidden:
        reasons.append(fact(FactCode.TOPICS_NOT_DESCRIBED, topics=len(hidden), first=hidden[0]))
    return (*reasons, *(rights_missing(rights) if reasons else ()))


def rights_missing(rights: Iterable[Right]) -> tuple[Fact, ...]:
    return tuple(fact(FactCode.RIGHT_MISSING, right=right.value) for right in rights)


def _outside_perhaps(
    plan_request: PlanRequest, problem: Problem, hidden: tuple[str, ...], times_mean: float
) -> list[Fact]:
    reasons = []
    load = broker_loads(problem, problem.replicas, problem.leader)
    for d, name in enumerate(problem.resources):
        unseen = _unseen_rows(plan_request, name)
        extra = _unseen_load(problem, d, unseen, len(hidden), times_mean)
        b = _first_outside(plan_request, problem, d, load[:, d], extra)
        if b is not None:
            reasons.append(
                fact(
                    FactCode.MAY_BE_OUTSIDE_BAND,
                    resource=name,
                    broker=int(problem.broker_ids[b]),
                    unknown_partitions=int(unseen.sum()),
                    hidden_topics=len(hidden),
                    first_hidden=hidden[0] if hidden else None,
                )
            )
    return reasons


def _why_unusable(broker: Broker) -> str:
    """Empty for a responsive broker with a working log dir or unknown ones."""
    if not broker.state.is_responsive:
        return broker.state.value
    return "without_log_dir" if broker.log_dirs and all(log_dir.error for log_dir in broker.log_dirs) else ""


def _is_led(snapshot: ClusterSnapshot) -> Flags:
    table = snapshot.partitions
    led = table.leader >= 0
    for row, brokers in table.offline.items():
        led[row] &= not set(table.replicas_of(row)) <= set(brokers)
    return np.asarray(led)


def hidden_topics(snapshot: ClusterSnapshot) -> tuple[str, ...]:
    hidden = {gap.subject for gap in snapshot.coverage if gap.subject_type == "topic" and gap.lacks(*_HIDES_TOPIC)}
    return tuple(sorted(hidden))


def _stuck_brokers(plan_request: PlanRequest) -> list[Fact]:
    partitions = plan_request.partitions
    stuck = partitions.leaderless & ~partitions.excluded & ~partitions.in_flight
    reasons = []
    for b, broker in enumerate(plan_request.brokers.brokers):
        stuck_here = int((partitions.placement.replicas[stuck] == b).any(axis=1).sum()) if broker.state.is_gone else 0
        if stuck_here:
            reasons.append(
                fact(
                    FactCode.LEADERLESS_ON_GONE_BROKER,
                    broker=broker.id,
                    state=broker.state.value,
                    partitions=stuck_here,
                )
            )
    return reasons


def _known_in_part(plan_request: PlanRequest) -> list[Fact]:
    reasons = []
    for row in TABLE:
        name, kind = row.name, row.load
        if (
            kind is not None
            and name in plan_request.balanced
            and (plan_request.options.moves_replicas or name in LEADER_CARRIED)
        ):
            values = plan_request.snapshot.load(kind)
            share = 1 - float(np.isnan(values).mean()) if len(values) else 0.0
            # Counted only with all groups known: it is no reason where the load was not requested.
            lacking = fact(FactCode.LACKS_LOAD, kind=kind.value)
            unseen = [gap.reason for gap in plan_request.snapshot.coverage if gap.what == lacking]
            if share == 0 and unseen:
                reasons.append(fact(FactCode.RESOURCE_LEFT_OUT, resource=name, gap=unseen[0]))
            if 0 < share < MODEL.least_known:
                why = unknown_figure(kind, share, MODEL.least_known)
                reasons.append(fact(FactCode.RESOURCE_LEFT_OUT, resource=name, why=why))
    return reasons


def _unseen_rows(plan_request: PlanRequest, name: str) -> Flags:
    unseen = np.zeros(len(plan_request.snapshot.partitions), dtype=np.bool_)
    for kind in ROWS[name].rests_on:
        unseen |= np.isnan(plan_request.snapshot.load(kind))
    if name in LEADER_CARRIED:
        unseen |= plan_request.partitions.leaderless
    return np.asarray(unseen[plan_request.rows])


def _unseen_load(problem: Problem, d: int, unseen: Flags, hidden: int, times_mean: float) -> Floats:
    observed, times = ~unseen, 1.0 if problem.resources[d] in COUNTED else times_mean
    extra = np.zeros(problem.broker_count)
    replicas, is_replica = problem.replicas[unseen], problem.replicas[unseen] >= 0
    mean_replica = float(problem.follower_load[observed, d].mean()) if observed.any() else 0.0
    mean_leader = float(problem.leader_extra[observed, d].mean()) if observed.any() else 0.0
    has_own_size = np.zeros(is_replica.shape, dtype=np.bool_)
    if problem.resources[d] == "disk" and problem.own_disk is not None:
        has_own_size = problem.own_disk[unseen] > 0  # a follower reported a size that the leader did not
    cells = is_replica & ~has_own_size
    extra += times * mean_replica * np.bincount(replicas[cells], minlength=problem.broker_count)
    leader = problem.leader[unseen]
    may_lead = is_replica & ((leader == ABSENT)[:, None] | (replicas == leader[:, None]))
    extra += times * mean_leader * np.bincount(replicas[may_lead], minlength=problem.broker_count)
    if hidden:
        topics = max(len(np.unique(problem.topic)), 1)
        mean_topic = float((problem.follower_load[:, d] + problem.leader_extra[:, d]).sum()) / topics
        extra += hidden * times_mean * mean_topic
    return np.where(problem.stays, extra, 0.0)


def _first_outside(plan_request: PlanRequest, problem: Problem, d: int, load: Floats, extra: Floats) -> int | None:
    """Inside by known loads, maybe outside by unseen ones; the mean moves along."""
    total = float(load[problem.stays].sum())
    if total <= 0 or not extra.any():
        return None
    options, high, low = plan_request.options, problem.band_high[:, d], problem.band_low[:, d]
    if not options.is_explicit and options.band is not None:
        share = high / (1 + options.band)
        high = np.maximum(high, share * (1 + options.dead_band))
        low = np.minimum(low, share * (1 - options.dead_band))
    slack = 1.0 if problem.resources[d] in COUNTED else 0.0
    others = extra.sum() - extra
    above = (load <= high + slack) & (load + extra > high * (1 + extra / total) + slack)
    below = (load >= low - slack) & (load < low * (1 + others / total) - slack)
    outside = np.flatnonzero(problem.stays & np.isfinite(high) & (high > 0) & (above | below))
    return int(outside[0]) if len(outside) else None
