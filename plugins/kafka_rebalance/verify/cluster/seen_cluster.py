"""What the plan says that it saw of its cluster: topic ids, racks, partition counts, running reassignments."""

from __future__ import annotations

from collections import Counter
from typing import Any

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.verify.faults import FaultList


def check_seen(document: dict[str, Any], snapshot: ClusterSnapshot, parameters: PlanOptions, faults: FaultList) -> None:
    """``topic_ids`` and ``seen`` are what the snapshot tells: ``check`` compares a newer one with them."""
    moved = {move["topic"] for move in document["moves"]}
    ids = {topic.name: topic.topic_id for topic in snapshot.topics if topic.name in moved}
    faults.require_equal("identity", "plan.topic_ids", document["topic_ids"], ids)
    seen, table = document["seen"], snapshot.partitions
    racks = dict(parameters.add_brokers) | {broker.id: broker.rack for broker in snapshot.brokers}
    reported = {int(broker): rack for broker, rack in seen["broker_racks"].items()}
    faults.require_equal("identity", "plan.seen.broker_racks", reported, racks)
    dead = [broker.id for broker in snapshot.brokers if not broker.state.is_heard]
    faults.require_equal("identity", "plan.seen.dead_brokers", sorted(seen["dead_brokers"]), sorted(dead))
    count = Counter(table.topic.tolist())
    counts = {topic.name: count[index] for index, topic in enumerate(snapshot.topics) if topic.name in moved}
    faults.require_equal("identity", "plan.seen.topic_partitions", seen["topic_partitions"], counts)
    rows = sorted({*table.adding, *table.removing})
    running = [[snapshot.topics[int(table.topic[row])].name, int(table.partition[row])] for row in rows]
    faults.require_equal(
        "identity", "plan.seen.reassigning", sorted(seen["reassigning"], key=repr), sorted(running, key=repr)
    )
