"""Options checked against the cluster: contradictions are refused."""

from __future__ import annotations

import re

import numpy as np

from kafka_rebalance.cluster_arrays.snapshot_arrays import require_brokers_known
from kafka_rebalance.errors import InfeasibleError, UsageError
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.draft import Draft
from kafka_rebalance.plans.params import DEFAULTS, OptionParams
from kafka_rebalance.plans.request import PlanRequest
from kafka_rebalance.snapshot.model import ClusterSnapshot, Topic, least_in_sync

_NOT_BALANCED: dict[FactCode | None, str] = {
    FactCode.FIGURE_KNOWN_FOR_FEW: "INPUT tells it for too few partitions",
    FactCode.REPLICAS_STAY: "only leaders change, so it stays where it is",
}


def require_brokers_fit(
    snapshot: ClusterSnapshot, options: PlanOptions, params: OptionParams = DEFAULTS.options
) -> None:
    """Raises UsageError for an unknown broker, an added one that is gone or on another rack, and a replication factor
    that leaves an internal topic no replica to lose. Raises InfeasibleError for a factor above the number of brokers.
    """
    require_brokers_known(snapshot, options)
    by_id = {broker.id: broker for broker in snapshot.brokers}
    for broker_id in sorted(options.add_brokers.keys() & by_id.keys()):
        broker, rack = by_id[broker_id], options.add_brokers[broker_id]
        option = f"--add-broker {broker_id}" + (f":{rack}" if rack is not None else "")
        if rack is not None and rack != broker.rack:
            stands = "without a rack" if broker.rack is None else f"on rack {broker.rack}"
            raise UsageError.at(option, f"broker {broker_id} is in the cluster already, {stands}", "leave it out")
        if not broker.state.stays or broker.state.is_unresponsive:
            hint = "one that comes back gets its replicas from Kafka; --remove-broker gives them to others"
            raise UsageError.at(option, f"broker {broker_id} is in the cluster, and {broker.state.value}", hint)
    _require_topic_brokers_known(snapshot, options)
    _require_internal_topics_above_min_isr(snapshot, options)
    factor, brokers = options.replication_factor, len(by_id.keys() | options.add_brokers.keys())
    if factor is not None and factor > max(brokers, params.most_replication_factor):
        cause = fact(FactCode.FACTOR_ABOVE_BROKERS, replication_factor=factor, brokers=brokers)
        raise InfeasibleError(cause, fact(FactCode.LOWER_FACTOR, replication_factor=brokers))


def _require_internal_topics_above_min_isr(snapshot: ClusterSnapshot, options: PlanOptions) -> None:
    """Raises UsageError where all groups' offsets or transactions would stop with one broker, unless
    ``--include-topic`` matches internal topics alone, or names the topic.
    """
    factor = options.replication_factor
    if factor is None or not options.moves_replicas:
        return
    table, least = snapshot.partitions, least_in_sync(snapshot)
    ordinary = [topic.name for topic in snapshot.topics if not _is_internal(topic)]
    for number, topic in enumerate(snapshot.topics):
        if not _is_internal(topic) or not options.is_topic_allowed(topic.name):
            continue
        changes = (table.topic == number) & (table.replica_counts != factor)
        most = int(least[changes].max(initial=0))
        is_ordered = any(
            re.fullmatch(pattern, topic.name)
            and (topic.name in pattern or not any(re.fullmatch(pattern, name) for name in ordinary))
            for pattern in options.include_topics
        )
        if factor <= most and not is_ordered:
            stops = "all its writes fail" if factor < most else "one failure stops its writes"
            raise UsageError.at(
                f"--replication-factor {factor}",
                f"internal topic {topic.name} has min.insync.replicas {most}: with {factor} replicas {stops}",
                f"--exclude-topic {topic.name} leaves it as it is, --include-topic {topic.name} orders it",
            )


def _is_internal(topic: Topic) -> bool:
    return topic.is_internal or topic.name.startswith("__")


def _require_topic_brokers_known(snapshot: ClusterSnapshot, options: PlanOptions) -> None:
    ids = {broker.id for broker in snapshot.brokers} | options.add_brokers.keys()
    racks = {broker.rack for broker in snapshot.brokers} | set(options.add_brokers.values())
    for rule in options.topic_brokers:
        option = f"--topic-brokers {rule.pattern}"
        for broker in sorted(rule.brokers - ids):
            raise UsageError.at(option, f"broker {broker} is not in the cluster")
        for rack in sorted(rule.racks - racks):
            raise UsageError.at(option, f"rack {rack!r} is not in the cluster")


def require_measured(plan_request: PlanRequest) -> None:
    """Raises UsageError for a target, cap, headroom or further band of a resource with unknown loads."""
    options, capacity = plan_request.options, plan_request.brokers.arrays.capacity
    named = {"target": options.targets, "cap": options.caps, "headroom": options.headroom}
    for option, resources in (*named.items(), ("also-balance", options.also_balance)):
        for resource in sorted(resources):
            if resource not in plan_request.resources:
                why = plan_request.left_out.get(resource)
                problem = _NOT_BALANCED.get(why.code if why else None, "INPUT does not tell it")
                raise UsageError.at(f"--{option} {resource}", problem, f"leave the {option} out")
    for resource in sorted(options.headroom.keys() - capacity.keys()):
        raise UsageError.at(
            f"--headroom {resource}", "not every broker's capacity is known", "give them with --capacity"
        )


def require_countable_bytes(plan_request: PlanRequest, draft: Draft) -> None:
    """Raises InfeasibleError for a limit on bytes or hours with uncountable moves. Sizes known for too few partitions
    do not enter the search, so even a plan of known sizes may exceed it.
    """
    limit = plan_request.options.max_move_bytes
    unknown = int(((draft.copies > 0) & np.isnan(draft.size)).sum())
    hours = {"--max-hours": plan_request.options.max_hours, "--night-hours": plan_request.options.night_hours}
    for option, given in hours.items():
        if given is not None and unknown:
            raise _sizes_unknown(option, unknown)
    if limit is None:
        return
    if not unknown and sum(copied or 0 for copied in draft.bytes_forward()) > limit:
        unknown = int(np.isnan(plan_request.partitions.size).sum())
    if unknown:
        raise _sizes_unknown("--max-move-bytes", unknown)


def _sizes_unknown(option: str, partitions: int) -> InfeasibleError:
    cause = fact(FactCode.SIZES_UNKNOWN, option=option, partitions=partitions)
    return InfeasibleError(cause, fact(FactCode.LIMIT_MOVES_OR_GIVE_SIZES))
