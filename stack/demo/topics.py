"""Topics of the demo cluster: realistic names, placement, sizes and rates, and planted troubles.

Rates are lognormal per topic (few topics carry most), with some spread over its partitions. A partition's size is its
retention, unless the topic is younger. All is drawn from one seeded generator.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

RACKS = ("rack-a", "rack-b", "rack-c")
BROKERS = tuple(range(12))
CAPACITY_BYTES = 4_000_000_000_000
WINDOW_S = 3600
HOUR_S, DAY_S = 3600, 86_400

# Planted troubles by name, for the findings.
FULL_BROKER = 9
PILED_UP_BROKER = 3
RESTARTED_BROKERS = (7, 11)
HOT_PARTITION = ("clickstream.raw", 17)
RACK_VIOLATING_TOPIC = "legacy.orders"
HAND_PLACED_TOPIC = "warehouse.export"
THROTTLED_TOPIC = "catalog.snapshots"
CDC_TOPICS = tuple(f"cdc.table-{number:02d}" for number in range(24))

_DOMAINS = (
    "orders", "payments", "inventory", "shipping", "customers", "ads", "search", "catalog", "pricing", "support", "iot",
    "billing", "notifications", "sessions", "reviews",
)  # fmt: skip
_EVENTS = ("created", "updated", "deleted", "events", "snapshots", "audit", "dlq", "enriched")
_PARTITION_COUNTS = (1, 3, 6, 12, 12, 24, 36, 48, 64)
_IN_BYTES_PER_S = 60e6
_MEAN_DISK_RATIO, _FULL_DISK_RATIO = 0.55, 0.93
_LARGEST_SHARE = 0.04  # of a mean broker; the hot partition is drawn separately
_HOT_SHARE = 0.40


@dataclass(frozen=True, slots=True)
class DemoPartition:
    """One partition at two moments, an hour apart. ``sizes`` follow ``replicas``; the leader's is exact."""

    topic: str
    number: int
    replicas: tuple[int, ...]
    leader: int
    message_bytes: int
    starts: tuple[int, int]
    ends: tuple[int, int]
    lacks: tuple[float, ...]  # missing share of a replica against the leader: segments roll at other moments

    def sizes(self, moment: int) -> tuple[int, ...]:
        leader = (self.ends[moment] - self.starts[moment]) * self.message_bytes
        return tuple(
            leader if broker == self.leader else round(leader * (1 - lack))
            for broker, lack in zip(self.replicas, self.lacks, strict=True)
        )

    @property
    def messages_per_s(self) -> float:
        return (self.ends[1] - self.ends[0]) / WINDOW_S


@dataclass(frozen=True, slots=True)
class DemoTopic:
    name: str
    configs: dict[str, str]
    partitions: tuple[DemoPartition, ...]


@dataclass(slots=True)
class _Draft:
    name: str
    count: int
    retained_s: float
    is_young: bool
    message_bytes: int
    rates: np.ndarray
    configs: dict[str, str]


def rack_of(broker: int) -> str:
    return RACKS[broker % len(RACKS)]


def draw_topics(rng: np.random.Generator) -> list[DemoTopic]:
    drafts = _draft_topics(rng)
    _scale_rates(drafts)
    _scale_retention(drafts)
    topics = [_place(draft, rng) for draft in drafts]
    return sorted((after_restart(topic) for topic in topics), key=lambda topic: topic.name)


def _draft_topics(rng: np.random.Generator) -> list[_Draft]:
    drafts = [
        _draft(f"{domain}.{event}", int(rng.choice(_PARTITION_COUNTS)), rng) for domain in _DOMAINS for event in _EVENTS
    ]
    for draft in drafts:
        if draft.name.endswith(".snapshots"):
            draft.configs["cleanup.policy"] = "compact"
        if draft.name.endswith(".dlq"):
            draft.rates *= 0.01
    fixed = {
        "clickstream.raw": 48, "payments.ledger": 48, "telemetry.readings": 18, "invoices.issued": 6,
        "parcels.scanned": 24, "parcels.delivered": 12, RACK_VIOLATING_TOPIC: 12, HAND_PLACED_TOPIC: 24,
        "__consumer_offsets": 50,
    }  # fmt: skip
    drafts += [_draft(name, count, rng) for name, count in fixed.items()]
    drafts += [_draft(name, 1, rng) for name in CDC_TOPICS]
    by_name = {draft.name: draft for draft in drafts}
    by_name["__consumer_offsets"].rates *= 0.05
    by_name["__consumer_offsets"].configs = {"cleanup.policy": "compact", "segment.bytes": "104857600"}
    by_name[THROTTLED_TOPIC].configs |= {
        "leader.replication.throttled.replicas": "0:0,0:1",
        "follower.replication.throttled.replicas": "0:5",
    }
    for name in CDC_TOPICS:  # their load must not hide the number of partitions a member
        by_name[name].rates[:] = np.median([draft.rates.mean() for draft in drafts])
    return drafts


def _draft(name: str, count: int, rng: np.random.Generator) -> _Draft:
    retained_s = float(rng.choice((6 * HOUR_S, DAY_S, 3 * DAY_S, 7 * DAY_S)))
    rate = rng.lognormal(0, 1.4)
    return _Draft(
        name=name,
        count=count,
        retained_s=retained_s,
        is_young=bool(rng.random() < 0.3),
        message_bytes=int(np.clip(rng.lognormal(6.3, 0.9), 80, 20_000)),
        rates=rate * rng.lognormal(0, 0.25, count),
        configs={"retention.ms": str(int(retained_s) * 1000)},
    )


def _scale_rates(drafts: list[_Draft]) -> None:
    """Scale to the given total, cap each partition, and make one key hot."""
    mean_broker = _IN_BYTES_PER_S * 3 / len(BROKERS)
    for _ in range(3):
        total = sum(draft.rates.sum() for draft in drafts)
        for draft in drafts:
            draft.rates = np.minimum(draft.rates * (_IN_BYTES_PER_S / total), mean_broker * _LARGEST_SHARE)
    hot = next(draft for draft in drafts if draft.name == HOT_PARTITION[0])
    hot.rates[HOT_PARTITION[1]] = mean_broker * _HOT_SHARE
    hot.retained_s, hot.is_young = 2.0 * HOUR_S, False
    hot.configs["retention.ms"] = str(2 * HOUR_S * 1000)


def _scale_retention(drafts: list[_Draft]) -> None:
    """Scale to the given disk usage; the topic placed by hand fills its broker."""
    by_hand = next(draft for draft in drafts if draft.name == HAND_PLACED_TOPIC)
    others = [draft for draft in drafts if draft is not by_hand]
    # Its rack holds as much as any other: the other three brokers have less by this broker's excess.
    excess = CAPACITY_BYTES * (_FULL_DISK_RATIO - _MEAN_DISK_RATIO) * 4 / 3
    by_hand.is_young = False
    by_hand.retained_s = excess / by_hand.rates.sum()
    target_bytes = CAPACITY_BYTES * _MEAN_DISK_RATIO * len(BROKERS) - excess * 3
    largest = CAPACITY_BYTES * _MEAN_DISK_RATIO * _LARGEST_SHARE
    for _ in range(5):
        kept = sum(draft.rates.sum() * draft.retained_s for draft in others) * 3
        for draft in others:
            draft.retained_s = min(draft.retained_s * target_bytes / kept, largest / draft.rates.max())


def _place(draft: _Draft, rng: np.random.Generator) -> DemoTopic:
    first, shift = rng.integers(0, 4, 3), int(rng.integers(0, 3))
    partitions = []
    for number in range(draft.count):
        replicas = striped_replicas(draft.name, number, first, shift)
        per_window = max(int(draft.rates[number] * WINDOW_S / draft.message_bytes), 0)
        kept = int(draft.rates[number] * draft.retained_s / draft.message_bytes)
        begun = 0 if draft.is_young else int(rng.integers(1, 50)) * (kept + 1)
        moved = 0 if draft.is_young or "compact" in draft.configs.get("cleanup.policy", "") else per_window
        partitions.append(
            DemoPartition(
                topic=draft.name,
                number=number,
                replicas=replicas,
                leader=replicas[0],
                message_bytes=draft.message_bytes,
                starts=(begun, begun + moved),
                ends=(begun + kept, begun + kept + per_window),
                lacks=tuple(float(share) for share in rng.uniform(0, 2e-4, 3)),
            )
        )
    return DemoTopic(draft.name, draft.configs, tuple(partitions))


def striped_replicas(topic: str, number: int, first: np.ndarray, shift: int) -> tuple[int, ...]:
    racks = [(shift + number + step) % 3 for step in range(3)]
    brokers = [int((first[rack] + number + number // 12 * rack) % 4) * 3 + rack for rack in racks]
    if topic == HAND_PLACED_TOPIC:
        brokers = [FULL_BROKER if broker % 3 == FULL_BROKER % 3 else broker for broker in brokers]
    if topic == RACK_VIOLATING_TOPIC and number % 3 == 0:
        brokers[2] = (brokers[1] + 3) % 12
    return tuple(brokers)


def after_restart(topic: DemoTopic) -> DemoTopic:
    partitions = []
    for partition in topic.partitions:
        leader = partition.leader
        if leader in RESTARTED_BROKERS:
            others = [broker for broker in partition.replicas if broker not in RESTARTED_BROKERS]
            leader = PILED_UP_BROKER if PILED_UP_BROKER in others else others[partition.number % len(others)]
        partitions.append(replace(partition, leader=leader))
    return replace(topic, partitions=tuple(partitions))
