"""Groups with one planted trouble each (``stack.demo.cluster``), on small topics of their own, with hand-made
numbers.

Every rate is a whole number of messages of 1,000 bytes a second, so shares can be checked by hand.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from stack.demo.groups import DemoGroup, DemoMember, TopicPartition
from stack.demo.topics import WINDOW_S, DemoPartition, DemoTopic, after_restart, striped_replicas

UNEVEN_BY_RATE_GROUP, UNFIXABLE_GROUP = "rides-pricing", "tenants-billing"
SERVER_RANGE_GROUP, SHARE_GROUP = "badge-sync", "courier-dispatch"
MIXED_CLIENTS_GROUP, HALF_DONE_GROUP = "alerts-fanout", "search-indexer"
# Without advice: a sink of Kafka Connect, a Kafka Streams application, a console consumer.
CONNECT_GROUP, STREAMS_GROUP, CONSOLE_GROUP = "connect-warehouse-sink", "order-totals", "console-consumer-31415"

_BADGES = tuple(f"badges.site-{number}" for number in range(1, 9))
# Messages a second of each partition.
PLANTED_RATES: dict[str, tuple[int, ...]] = {
    "alerts.raised": (2,) * 8,
    **dict.fromkeys(_BADGES, (1,)),
    "couriers.jobs": (4,) * 3,
    "rides.requested": (9, 1, 1, 1) * 4,  # round robin gives all busy ones to the first of four members
    "search.updates": (2,) * 12,
    "tenants.usage": (1,) * 5 + (33,) + (1,) * 6,  # one tenant is larger than all others together
}
_MESSAGE_BYTES = 1000
_KEPT_S, _BEHIND_S = 10 * WINDOW_S, 2 * WINDOW_S
_FIRST_OFFSET = 5_000
_SEED = 16


def planted_topics() -> list[DemoTopic]:
    rng = np.random.default_rng(_SEED)
    return [_topic(name, rates, rng) for name, rates in sorted(PLANTED_RATES.items())]


def planted_groups(topics: Sequence[DemoTopic]) -> list[DemoGroup]:
    rng = np.random.default_rng(_SEED)
    of = {topic.name: topic.partitions for topic in topics}
    badges = [of[name][0] for name in _BADGES]
    alerts, updates = of["alerts.raised"], of["search.updates"]
    return sorted(
        (
            _group(UNEVEN_BY_RATE_GROUP, "roundrobin", _dealt(of["rides.requested"], 4), rng),
            _group(UNFIXABLE_GROUP, "range", _blocks(of["tenants.usage"], 4), rng),
            replace(_group(SERVER_RANGE_GROUP, "range", [badges, [], [], []], rng), epoch=17),
            _share_group(of["couriers.jobs"], rng),
            _group(MIXED_CLIENTS_GROUP, "cooperative-sticky", _dealt(alerts, 4), rng, clients=("rdkafka",) * 2),
            replace(_group(HALF_DONE_GROUP, "uniform", _dealt(updates, 6), rng, upgraded=4), epoch=31),
            _group(
                CONNECT_GROUP, "range", _blocks(alerts, 2), rng, clients=_names("connector-consumer-warehouse-sink-")
            ),
            _group(STREAMS_GROUP, "stream", _blocks(alerts, 2), rng, clients=_threads(rng)),
            _group(CONSOLE_GROUP, "range", _blocks(alerts, 1), rng, clients=("console-consumer",)),
        ),
        key=lambda group: group.id,
    )


def _topic(name: str, rates: Sequence[int], rng: np.random.Generator) -> DemoTopic:
    first, shift = rng.integers(0, 4, 3), int(rng.integers(0, 3))
    partitions = []
    for number, rate in enumerate(rates):
        replicas = striped_replicas(name, number, first, shift)
        end = _FIRST_OFFSET + rate * _KEPT_S
        partitions.append(
            DemoPartition(
                topic=name,
                number=number,
                replicas=replicas,
                leader=replicas[0],
                message_bytes=_MESSAGE_BYTES,
                starts=(_FIRST_OFFSET, _FIRST_OFFSET + rate * WINDOW_S),
                ends=(end, end + rate * WINDOW_S),
                lacks=(0.0,) * len(replicas),
            )
        )
    return after_restart(DemoTopic(name, {"retention.ms": str(_KEPT_S * 1000)}, tuple(partitions)))


def _group(
    name: str, strategy: str, shares: Sequence[Sequence[DemoPartition]], rng: np.random.Generator,
    clients: Sequence[str] = (), upgraded: int | None = None,
) -> DemoGroup:  # fmt: skip
    """``clients``: ids of the first members, the others are Java's; ``upgraded``: number with the new protocol."""
    members = []
    for number, partitions in enumerate(shares):
        client = clients[number] if number < len(clients) else f"consumer-{name}-{number + 1}"
        held: tuple[TopicPartition, ...] = tuple((partition.topic, partition.number) for partition in partitions)
        member_id = f"{client}-{uuid.UUID(bytes=rng.bytes(16), version=4)}"
        is_upgraded = None if upgraded is None else number < upgraded
        members.append(DemoMember(member_id, "", client, f"/203.0.113.{10 + number}", held, is_upgraded))
    committed = _read_until([partition for partitions in shares for partition in partitions], behind_s=0)
    return DemoGroup(name, strategy, "Stable", tuple(sorted(members, key=lambda member: member.id)), committed)


def _share_group(partitions: Sequence[DemoPartition], rng: np.random.Generator) -> DemoGroup:
    drawn = _group(SHARE_GROUP, "", [[partitions[member % len(partitions)]] for member in range(5)], rng)
    return replace(drawn, epoch=9, is_share=True, committed=_read_until(partitions, _BEHIND_S))


def _read_until(partitions: Sequence[DemoPartition], behind_s: int) -> dict[TopicPartition, tuple[int, int]]:
    behind = {partition: round(partition.messages_per_s * behind_s) for partition in partitions}
    return {
        (partition.topic, partition.number): (partition.ends[0] - messages, partition.ends[1] - messages)
        for partition, messages in behind.items()
    }


def _dealt(partitions: Sequence[DemoPartition], count: int) -> list[Sequence[DemoPartition]]:
    return [partitions[member::count] for member in range(count)]


def _blocks(partitions: Sequence[DemoPartition], count: int) -> list[Sequence[DemoPartition]]:
    share = len(partitions) // count
    return [partitions[member * share : (member + 1) * share] for member in range(count)]


def _names(prefix: str) -> tuple[str, ...]:
    return tuple(f"{prefix}{number}" for number in range(2))


def _threads(rng: np.random.Generator) -> tuple[str, ...]:
    process = uuid.UUID(bytes=rng.bytes(16), version=4)
    return tuple(f"{STREAMS_GROUP}-{process}-StreamThread-{number}-consumer" for number in (1, 2))
