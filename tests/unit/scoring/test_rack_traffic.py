from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest

from kafka_rebalance.scoring.rack_traffic import (
    BY_RACK,
    SELECTOR,
    Placed,
    PlacementChange,
    followers_elsewhere,
    rack_traffic,
)
from kafka_rebalance.snapshot.figures import LoadKind
from kafka_rebalance.snapshot.model import ClusterSnapshot, Group, GroupType, Member
from tests.sample import for_each
from tests.unit.planner.sample_clusters import brokers, cluster, random_cluster, row

RATE = LoadKind.IN_BYTES_PER_S


def read_by(group_id: str, *members: tuple[str | None, dict[str, tuple[int, ...]]]) -> Group:
    return Group(
        id=group_id,
        type=GroupType.CLASSIC,
        members=tuple(
            Member(f"m-{i}", "client", rack=rack, assigned=tuple(assigned.items()))
            for i, (rack, assigned) in enumerate(members)
        ),
    )


def test_by_hand() -> None:
    """p0: 10 bytes/s, led in rack 0, followers in 1 and 2; p1: 4 bytes/s, led in 1, its follower in rack 1, too."""
    rows = [row("t", 0, (0, 1, 2)), row("t", 1, (1, 4)), row("u", 0, (2,))]
    snapshot = cluster(rows, brokers(6, racks=3), rates={RATE: [10.0, 4.0, math.nan]})
    groups = (
        read_by("apart", ("rack-1", {"t": (0,)}), ("rack-2", {"t": (1,)})),
        read_by("at-home", ("rack-0", {"t": (0,)}), ("rack-1", {"t": (1,), "gone": (0,)})),
        read_by("nowhere", (None, {"t": (0, 1)})),
        read_by("idle", ("rack-0", {})),
        read_by("shared", ("rack-0", {"t": (0,)}), ("rack-1", {"t": (0, 7)})),
    )
    result = rack_traffic(replace(snapshot, groups=groups))
    assert result.replication == {"t": 20.0}
    assert result.reads == {"apart": 14.0, "at-home": 0.0, "shared": 5.0}
    # Rack 1 holds a replica of p0; rack 2 holds none of p1.
    assert result.reads_without_replica == {"apart": 4.0, "at-home": 0.0, "shared": 0.0}
    assert (result.unknown_partitions, result.unknown_groups) == (1, 1)


def test_a_rack_that_nobody_says_makes_it_unknown() -> None:
    assert followers_elsewhere(0, [0, 1], {0: "a", 1: "b"}) == 1.0
    assert math.isnan(followers_elsewhere(0, [0, 1], {0: "a"}))
    assert math.isnan(followers_elsewhere(None, [0, 1], {0: "a", 1: "b"}))
    without = cluster([row("t", 0, (0, 1))], brokers(2), rates={RATE: [5.0]})
    assert rack_traffic(without).unknown_partitions == 1
    assert rack_traffic(without).replication == {}


def with_readers(snapshot: ClusterSnapshot, rng: random.Random) -> ClusterSnapshot:
    groups = []
    for number in range(4):
        members: list[tuple[str | None, dict[str, tuple[int, ...]]]] = [
            (rng.choice([None, "rack-0", "rack-1", "rack-2"]), {}) for _ in range(3)
        ]
        for topic, partition in zip(
            snapshot.partitions.topic.tolist(), snapshot.partitions.partition.tolist(), strict=True
        ):
            owned = rng.choice(members)[1]
            name = snapshot.topics[topic].name
            owned[name] = (*owned.get(name, ()), partition)
        groups.append(read_by(f"g-{number}", *members))
    return replace(snapshot, groups=tuple(groups))


@for_each("seed", range(10))
def test_against_a_plain_loop(seed: int) -> None:
    snapshot = with_readers(random_cluster(seed, broker_count=6, topics=4), random.Random(seed))
    table = snapshot.partitions
    rack = {broker.id: broker.rack for broker in snapshot.brokers}
    rates = snapshot.loads.values(RATE, len(table)).tolist()
    row_of, sent, read, left = {}, {}, {}, {}
    for i in range(len(table)):
        replicas = table.replicas[table.offsets[i] : table.offsets[i + 1]].tolist()
        topic = snapshot.topics[int(table.topic[i])].name
        row_of[topic, int(table.partition[i])] = (i, replicas)
        for broker in replicas:
            if rack[broker] != rack[int(table.leader[i])]:
                sent[topic] = sent.get(topic, 0.0) + rates[i]
    for group in snapshot.groups:
        if not any(member.rack for member in group.members):
            continue
        read[group.id] = left[group.id] = 0.0
        for member in group.members:
            for topic, partitions in member.assigned:
                for partition in partitions:
                    i, replicas = row_of[topic, partition]
                    if member.rack and member.rack != rack[int(table.leader[i])]:
                        read[group.id] += rates[i]
                        left[group.id] += rates[i] * (member.rack not in {rack[b] for b in replicas})
    result = rack_traffic(snapshot)
    assert result.replication == pytest.approx(sent)
    assert result.reads == pytest.approx(read)
    assert result.reads_without_replica == pytest.approx(left)


def test_brokers_that_select_by_rack_serve_readers_there() -> None:
    """p0's reader in rack 1 is served there; rack 2 holds none of p1; a custom class does not count as selecting."""
    rows = [row("t", 0, (0, 1, 2)), row("t", 1, (1, 4))]
    group = read_by("apart", ("rack-1", {"t": (0,)}), ("rack-2", {"t": (1,)}))
    for selector, reads, is_selecting in ((BY_RACK, 4.0, True), ("com.example.Own", 14.0, False)):
        changed_brokers = [replace(broker, configs={SELECTOR: f"org.x.{selector}"}) for broker in brokers(6, racks=3)]
        result = rack_traffic(replace(cluster(rows, changed_brokers, rates={RATE: [10.0, 4.0]}), groups=(group,)))
        assert (result.reads, result.is_selecting) == ({"apart": reads}, is_selecting)
        assert (result.is_selector_told, result.read_by_known) == (True, {"apart": 14.0})


def test_a_changed_placement_is_that_of_the_changed_snapshot() -> None:
    """p0 is led by 1 and copied to a planned broker; p1 stays; with unknown rack p0 is unknown."""
    snapshot = cluster([row("t", 0, (0, 1, 2)), row("t", 1, (1, 4))], brokers(6, racks=3), rates={RATE: [10.0, 4.0]})
    for rack, sent, unknown in (("rack-1", {"t": 10.0}, 0), ("rack-2", {"t": 20.0}, 0), (None, {}, 1)):
        result = rack_traffic(snapshot, PlacementChange({0: Placed(1, (1, 0, 9))}, {9: rack}))
        assert (result.replication, result.unknown_partitions) == (sent, unknown)
    assert rack_traffic(snapshot).replication == {"t": 20.0}
