"""Consumer groups of the demo cluster: members, assignment, offsets, and planted troubles."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace

import numpy as np

from stack.demo.topics import CDC_TOPICS, WINDOW_S, DemoPartition, DemoTopic

TopicPartition = tuple[str, int]

IDLE_GROUP = "invoice-mailer"
UNEVEN_GROUP = "cdc-sync"
STATIC_GROUP, DEAD_INSTANCE = "telemetry-archiver", "archiver-4"
SLOW_GROUP = "fraud-scoring"
TWO_DEPLOYMENTS_GROUP = "parcel-tracker"  # two services under one group id, with a topic each
EMPTY_GROUPS = ("nightly-report", "quarterly-backfill")
GROUP_COUNT = 40
TWO_DEPLOYMENTS_TOPICS = ("parcels.delivered", "parcels.scanned")

_TEAMS = ("ledger", "stock", "parcel", "crm", "bidder", "ranking", "margin", "helpdesk", "fleet", "dunning", "push")
_JOBS = ("loader", "indexer", "mirror", "alerts", "features")
_STRATEGIES = ("range", "range", "range", "roundrobin", "roundrobin", "sticky", "cooperative-sticky", "uniform")
_SLOW_RATIO = 0.6
_LAG_S = (0.05, 2.0)  # lag of healthy members


@dataclass(frozen=True, slots=True)
class DemoMember:
    id: str
    instance_id: str
    client_id: str
    host: str
    assigned: tuple[TopicPartition, ...]
    is_upgraded: bool | None = None


@dataclass(frozen=True, slots=True)
class DemoGroup:
    """Group; ``committed`` at both moments, ``epoch`` for KIP-848 and share groups only."""

    id: str
    strategy: str
    state: str
    members: tuple[DemoMember, ...]
    committed: dict[TopicPartition, tuple[int, int]]
    epoch: int | None = None
    is_share: bool = False


def java_hash(text: str) -> int:
    value = 0
    for unit in text.encode("ascii"):
        value = (31 * value + unit) & 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value


def coordinator_of(group: str, topics: dict[str, DemoTopic]) -> int:
    partitions = topics["__consumer_offsets"].partitions
    return partitions[abs(java_hash(group)) % len(partitions)].leader


def draw_groups(topics: list[DemoTopic], rng: np.random.Generator) -> list[DemoGroup]:
    """Forty groups, sorted by name; without those of ``planted_groups``."""
    by_name = {topic.name: topic for topic in topics}
    groups = [
        _group(IDLE_GROUP, "range", 8, ["invoices.issued"], by_name, rng),
        _group(UNEVEN_GROUP, "range", 6, list(CDC_TOPICS), by_name, rng),
        _group(STATIC_GROUP, "range", 6, ["telemetry.readings"], by_name, rng),
        _group(SLOW_GROUP, "cooperative-sticky", 12, ["payments.ledger"], by_name, rng),
        _group("clickstream-enricher", "uniform", 16, ["clickstream.raw"], by_name, rng),
        _two_deployments(by_name, rng),
        *(_group(name, "range", 0, ["orders.events"], by_name, rng) for name in EMPTY_GROUPS),
    ]
    taken = {*TWO_DEPLOYMENTS_TOPICS, "telemetry.readings", "payments.ledger", "invoices.issued", *CDC_TOPICS}
    plain = [topic.name for topic in topics if topic.name not in taken and not topic.name.startswith("__")]
    names = [f"{team}-{job}" for team in _TEAMS for job in _JOBS]
    for name in sorted(rng.choice(names, GROUP_COUNT - len(groups), replace=False).tolist()):
        subscribed = rng.choice(plain, int(rng.choice((1, 1, 1, 2, 3, 5))), replace=False).tolist()
        partition_count = sum(len(by_name[topic].partitions) for topic in subscribed)
        member_count = max(1, min(int(rng.choice((2, 3, 4, 6, 8, 12))), partition_count))
        strategy = str(rng.choice(_STRATEGIES))
        if strategy == "range":  # an ordinary group has work for every member
            member_count = min(member_count, max(len(by_name[topic].partitions) for topic in subscribed))
        groups.append(_group(name, strategy, member_count, subscribed, by_name, rng))
    return sorted(groups, key=lambda group: group.id)


def _group(
    name: str, strategy: str, member_count: int, subscribed: list[str], topics: dict[str, DemoTopic],
    rng: np.random.Generator,
) -> DemoGroup:  # fmt: skip
    identities = sorted(
        (_identity(name, number, rng) for number in range(member_count)),
        key=lambda identity: identity[1] or identity[0],
    )
    partitions = [partition for topic in sorted(subscribed) for partition in topics[topic].partitions]
    owners = _assign(strategy, len(identities), partitions)
    host = int(rng.integers(1, 200))
    members = tuple(
        DemoMember(member_id, instance, client, f"/198.51.100.{(host + number) % 250 + 1}", tuple(owners[number]))
        for number, (member_id, instance, client) in enumerate(identities)
    )
    reader = {partition: member for member in members for partition in member.assigned}
    committed = {
        (partition.topic, partition.number): _committed(name, partition, reader, rng) for partition in partitions
    }
    state = "Stable" if members else "Empty"
    epoch = int(rng.integers(3, 90)) if strategy == "uniform" else None
    return DemoGroup(name, strategy, state, members, committed, epoch)


def _two_deployments(topics: dict[str, DemoTopic], rng: np.random.Generator) -> DemoGroup:
    halves = [_group(TWO_DEPLOYMENTS_GROUP, "range", 3, [topic], topics, rng) for topic in TWO_DEPLOYMENTS_TOPICS]
    members = tuple(sorted((member for half in halves for member in half.members), key=lambda member: member.id))
    return replace(halves[0], members=members, committed=halves[0].committed | halves[1].committed)


def _identity(group: str, number: int, rng: np.random.Generator) -> tuple[str, str, str]:
    """(member id, instance id, client id) as made by Java's client and the coordinator."""
    random = uuid.UUID(bytes=rng.bytes(16), version=4)
    if group == STATIC_GROUP:
        instance = f"archiver-{number}"
        return f"{instance}-{random}", instance, f"consumer-{group}-{instance}"
    client = f"consumer-{group}-{number + 1}"
    return f"{client}-{random}", "", client


def _assign(strategy: str, member_count: int, partitions: list[DemoPartition]) -> list[list[TopicPartition]]:
    owners: list[list[TopicPartition]] = [[] for _ in range(member_count)]
    if not member_count:
        return owners
    if strategy == "range":
        topics: dict[str, list[int]] = {}
        for partition in partitions:
            topics.setdefault(partition.topic, []).append(partition.number)
        for topic, numbers in topics.items():
            share, more = divmod(len(numbers), member_count)
            at = 0
            for member in range(member_count):
                until = at + share + (member < more)
                owners[member] += [(topic, number) for number in numbers[at:until]]
                at = until
        return owners
    for turn, partition in enumerate(partitions):
        owners[turn % member_count].append((partition.topic, partition.number))
    return owners


def _committed(
    group: str, partition: DemoPartition, reader: dict[TopicPartition, DemoMember], rng: np.random.Generator
) -> tuple[int, int]:
    """Offsets at both moments: a little behind, slower than the writers, or constant."""
    lag = int(partition.messages_per_s * rng.uniform(*_LAG_S))
    member = reader.get((partition.topic, partition.number))
    before = max(partition.ends[0] - lag, partition.starts[0])
    if member is None or member.instance_id == DEAD_INSTANCE:  # unread for long
        stood = max(partition.ends[0] - int(partition.messages_per_s * 5 * WINDOW_S), partition.starts[1])
        return min(stood, before), min(stood, before)
    if group == SLOW_GROUP:
        before = max(partition.ends[0] - int(partition.messages_per_s * 3 * WINDOW_S), partition.starts[1])
        return before, before + int(_SLOW_RATIO * (partition.ends[1] - partition.ends[0]))
    return before, max(partition.ends[1] - lag, before)
