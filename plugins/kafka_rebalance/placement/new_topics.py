"""Place the partitions of new topics so that brokers become as even as possible; existing replicas stay.

Kafka's rules hold, and no broker gets more than twice its even share of a topic. Within that each replica minimises the
sum, over brokers and resources, of (level / mean level)⁴ × its share of the capacity; then partitions are placed again
while the sum falls.

Example: brokers 0 and 1 with 10 leaders each, 2 with none; 3 partitions, RF 1: two on broker 2, one on 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from kafka_assignors.arrays import Flags, Floats, Longs
from kafka_rebalance.cluster_arrays.bands import distinct_racks
from kafka_rebalance.cluster_arrays.problem import MeasuredLoads, columns_of
from kafka_rebalance.cluster_arrays.snapshot_arrays import BrokerArrays, build_broker_arrays
from kafka_rebalance.errors import InfeasibleError, UsageError
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.resources import TABLE
from kafka_rebalance.scoring.snapshot_scores import score_cluster
from kafka_rebalance.snapshot.codec import snapshot_id
from kafka_rebalance.snapshot.figures import topic_name_fault
from kafka_rebalance.snapshot.model import ClusterSnapshot

FORMAT, FORMAT_VERSION = "kafka-rebalance-new-topics", 1
MOST_PARTITIONS = 100_000
# of a topic's even share, if racks allow
_MOST_OF_EVEN = 2
_PASSES = 3
# weighs the highest levels most
_POWER = 4


@dataclass(frozen=True, slots=True)
class NewTopic:
    """``in_bytes_per_s`` and ``log_bytes`` (of one copy) of all partitions."""

    topic: str
    partitions: int
    replication_factor: int
    in_bytes_per_s: int | None = None
    log_bytes: int | None = None

    def __post_init__(self) -> None:
        flag = f"--new-topic {self.topic[:60]}"
        if fault := topic_name_fault(self.topic):
            raise UsageError.at(flag, fault)
        if not 1 <= self.partitions <= MOST_PARTITIONS:
            raise UsageError.at(flag, f"{self.partitions:,} partitions", f"give 1 to {MOST_PARTITIONS:,}")
        if self.replication_factor < 1:
            raise UsageError.at(flag, f"replication factor {self.replication_factor}", "give 1 or more")

    def weights(self, resource: str) -> tuple[float, float]:
        """Load of every replica, and extra load of the leader."""
        loads = MeasuredLoads(
            disk_bytes=np.array([(self.log_bytes or 0) / self.partitions]),
            in_bytes_per_s=np.array([(self.in_bytes_per_s or 0) / self.partitions]),
            out_bytes_per_s=np.zeros(1),  # no readers yet
        )
        columns = columns_of(loads, np.array([self.replication_factor], dtype=np.int32), (resource,))
        if resource not in columns.resources:
            return 0.0, 0.0  # CPU is unknown
        return float(columns.follower_load[0, 0]), float(columns.leader_extra[0, 0])


@dataclass(frozen=True, slots=True, eq=False)
class _Receivers:
    """``load`` float64[B, D] and ``free`` float64[B] bytes change with each replica."""

    brokers: BrokerArrays
    resources: tuple[str, ...]
    load: Floats
    factor: Floats
    free: Floats
    rack: Longs
    takes: Flags
    leads: Flags

    def added(self, weight: Floats) -> Floats:
        return np.asarray((((self.load + weight) ** _POWER - self.load**_POWER) * self.factor).sum(axis=1))

    def total(self) -> float:
        return float((self.load**_POWER * self.factor).sum())


def place_new_topics(
    snapshot: ClusterSnapshot, topics: Sequence[NewTopic], options: PlanOptions | None = None
) -> dict[str, Any]:
    """Return each topic's ``assignment`` by partition, leader first, and loads before and after.

    Uses ``exclude_brokers`` and ``capacities`` of ``options``. Raises UsageError for an existing topic, InfeasibleError
    where replicas find no place.
    """
    _require_new(snapshot, topics)
    if not snapshot.brokers:
        raise _too_few(topics[0], 0)
    options = PlanOptions() if options is None else options
    receivers = _receivers(snapshot, topics, options)
    document = options.document()
    before = receivers.load.copy()
    placed = [_place(receivers, topic) for topic in topics]
    ids = receivers.brokers.arrays.ids.tolist()
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "cluster": snapshot.cluster,
        "snapshot_id": snapshot_id(snapshot),
        "exclude_brokers": document["exclude_brokers"],
        "capacities": document["capacities"],
        "topics": [
            {
                "topic": topic.topic, "partitions": topic.partitions, "replication_factor": topic.replication_factor,
                "in_bytes_per_s": topic.in_bytes_per_s, "log_bytes": topic.log_bytes,
                "assignment": [[ids[b] for b in replicas] for replicas in assignment],
            }
            for topic, assignment in zip(topics, placed, strict=True)
        ],
        "before": _by_broker(receivers, before),
        "after": _by_broker(receivers, receivers.load),
    }  # fmt: skip


def _require_new(snapshot: ClusterSnapshot, topics: Sequence[NewTopic]) -> None:
    topic_names = {topic.name for topic in snapshot.topics}
    for topic in topics:
        if topic.topic in topic_names:
            raise UsageError.at(f"--new-topic {topic.topic}", "is in the cluster, or was given before")
        topic_names.add(topic.topic)


def _receivers(snapshot: ClusterSnapshot, topics: Sequence[NewTopic], options: PlanOptions) -> _Receivers:
    brokers = build_broker_arrays(snapshot, options)
    arrays, scores = brokers.arrays, score_cluster(snapshot)
    resources = [
        row.name for row in TABLE if row.is_balanced and (row.is_counted or scores.resource(row.name) is not None)
    ]
    names = tuple(name for name in resources if any(any(topic.weights(name)) for topic in topics))
    count = len(brokers.brokers)
    load = np.zeros((count, len(names)))
    for d, name in enumerate(names):
        held = {score.broker: score.load for score in scores.of_resource(name)}
        load[:, d] = [held.get(broker.id, 0.0) for broker in brokers.brokers]
    capacity = np.stack([arrays.capacity.get(name, np.ones(count)) for name in names], axis=1)
    coming = np.zeros(len(names))
    for topic in topics:
        follower, extra = _weights(topic, names)
        coming += topic.partitions * (topic.replication_factor * follower + extra)
    mean = (load[arrays.stays].sum(axis=0) + coming) / np.maximum(capacity[arrays.stays].sum(axis=0), 1e-300)
    free = brokers.usable_bytes
    if "disk" in names:
        room = np.maximum(arrays.limit.get("disk", np.full(count, np.inf)) - brokers.unplaced_bytes, 0.0)
        free = np.minimum(free, room - load[:, names.index("disk")])
    takes = arrays.takes_replicas & np.array([broker.state.is_responsive for broker in brokers.brokers], dtype=np.bool_)
    rack = distinct_racks(arrays.rack).astype(np.int64)
    factor = capacity / capacity.mean(axis=0) / (capacity * mean) ** _POWER  # all resources weigh alike
    return _Receivers(brokers, names, load, factor, free.copy(), rack, takes, takes & arrays.takes_leaders)


@lru_cache(maxsize=64)
def _weights(topic: NewTopic, resources: tuple[str, ...]) -> tuple[Floats, Floats]:
    weights = np.array([topic.weights(name) for name in resources])
    return weights[:, 0], weights[:, 1]


def _too_few(topic: NewTopic, able: int) -> InfeasibleError:
    factor = topic.replication_factor
    cause = fact(FactCode.FACTOR_ABOVE_BROKERS, replication_factor=factor, brokers=able, topic=topic.topic)
    return InfeasibleError(cause, fact(FactCode.LOWER_FACTOR, replication_factor=able) if able else None)


def _place(receivers: _Receivers, topic: NewTopic) -> list[list[int]]:
    able = int(receivers.takes.sum())
    if topic.replication_factor > able or not receivers.leads.any():
        raise _too_few(topic, able)
    held, led = np.zeros(len(receivers.load), dtype=np.int64), np.zeros(len(receivers.load), dtype=np.int64)
    rows = [_place_one(receivers, topic, held, led) for _ in range(topic.partitions)]
    for _ in range(_PASSES):
        was = receivers.total()
        for p, old in enumerate(rows):
            here = receivers.total()
            _put(receivers, topic, old, (held, led), -1)
            new = _place_one(receivers, topic, held, led)
            if receivers.total() >= here * (1 - 1e-12):
                _put(receivers, topic, new, (held, led), -1)
                _put(receivers, topic, old, (held, led), 1)
            else:
                rows[p] = new
        if receivers.total() >= was * (1 - 1e-9):
            break
    return rows


def _place_one(receivers: _Receivers, topic: NewTopic, held: Longs, led: Longs) -> list[int]:
    follower, extra = _weights(topic, receivers.resources)
    size, able = topic.weights("disk")[0], int(receivers.takes.sum())
    most_held = max(math.floor(_MOST_OF_EVEN * topic.partitions * topic.replication_factor / able), 1)
    most_led = max(math.floor(_MOST_OF_EVEN * topic.partitions / int(receivers.leads.sum())), 1)
    in_rack = np.zeros(int(receivers.rack.max()) + 1, dtype=np.int64)
    chosen: list[int] = []
    for position in range(topic.replication_factor):
        open_to = (receivers.leads if position == 0 else receivers.takes) & (receivers.free >= size)
        open_to[chosen] = False
        if not open_to.any():
            raise InfeasibleError(
                fact(FactCode.NO_ROOM_FOR_REPLICA, topic=topic.topic, replica=position + 1, replica_bytes=size),
                fact(FactCode.ADD_BROKER_OR_DISK),
            )
        # Brokers at their limit come last.
        over = (led >= most_led) if position == 0 else (held >= most_held)
        cost = receivers.added(follower + extra if position == 0 else follower)
        order = np.lexsort((cost, over, in_rack[receivers.rack], ~open_to))
        broker = int(order[0])
        chosen.append(broker)
        in_rack[receivers.rack[broker]] += 1
    _put(receivers, topic, chosen, (held, led), 1)
    return chosen


def _put(receivers: _Receivers, topic: NewTopic, replicas: list[int], counts: tuple[Longs, Longs], sign: int) -> None:
    held, led = counts
    follower, extra = _weights(topic, receivers.resources)
    receivers.load[replicas] += sign * follower
    receivers.load[replicas[0]] += sign * extra
    receivers.free[replicas] -= sign * topic.weights("disk")[0]
    held[replicas] += sign
    led[replicas[0]] += sign


def _by_broker(receivers: _Receivers, load: Floats) -> dict[str, dict[str, float]]:
    ids = receivers.brokers.arrays.ids.tolist()
    return {
        name: {str(broker): round(float(load[b, d]), 6) for b, broker in enumerate(ids)}
        for d, name in enumerate(receivers.resources)
    }
