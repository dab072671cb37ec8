from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kafka_assignors.java.seeded_random import java_random
from kafka_rebalance.errors import InfeasibleError, UsageError
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.placement.new_topics import NewTopic, place_new_topics
from kafka_rebalance.placement.placers import place_striped
from kafka_rebalance.placement.topic_replay import placement_brokers
from kafka_rebalance.snapshot.model import BrokerState, Capacity, ClusterSnapshot
from kafka_rebalance.verify.new_topics import check_new_topics
from tests.sample import for_each
from tests.unit.planner.sample_clusters import GB, brokers, cluster, random_cluster, row


def two_full_one_empty() -> ClusterSnapshot:
    """Brokers 0 and 1 with ten partitions each, broker 2 with none."""
    return cluster([row("t", number, (number % 2,), GB) for number in range(20)], brokers(3))


def assignment(document: dict[str, Any], at: int = 0) -> list[list[int]]:
    places: list[list[int]] = document["topics"][at]["assignment"]
    return places


def test_the_empty_broker_gets_most_but_not_all() -> None:
    # Even would be one each; broker 2 gets twice that, then it is full for this topic, and the third goes to 0.
    document = place_new_topics(two_full_one_empty(), [NewTopic("x", 3, 1)])
    assert sorted(assignment(document)) == [[0], [2], [2]]
    assert document["before"]["leaders"] == {"0": 10, "1": 10, "2": 0}
    assert document["after"]["leaders"] == {"0": 11, "1": 10, "2": 2}


def test_expected_loads_are_those_of_the_new_topic() -> None:
    # 2 partitions of 3 replicas on 3 brokers; each is written at 5 and holds 2 GB: the leader sends 2 × 5 more.
    document = place_new_topics(two_full_one_empty(), [NewTopic("x", 2, 3, 10, 4 * GB)])
    assert "in" not in document["after"]  # write rates of the others are unknown
    assert document["after"]["disk"] == {"0": 14 * GB, "1": 14 * GB, "2": 4 * GB}
    assert document["after"]["replicas"] == {"0": 12, "1": 12, "2": 2}
    assert [replicas[0] for replicas in assignment(document)] == [2, 0]  # twice the even share of 2/3 is one leader


def topics_of(draw: np.random.Generator) -> list[NewTopic]:
    return [
        NewTopic(
            f"new-{number}", int(draw.integers(1, 20)), int(draw.integers(1, 4)),
            int(draw.integers(1, 50)) * 10**6 if draw.random() < 0.7 else None,
            int(draw.integers(1, 50)) * GB if draw.random() < 0.7 else None,
        )
        for number in range(int(draw.integers(1, 4)))
    ]  # fmt: skip


@for_each("seed", range(60))
def test_random_topics_are_placed_by_the_rules_and_the_verifier_agrees(seed: int) -> None:
    draw = np.random.default_rng(seed)
    snapshot = random_cluster(seed, broker_count=int(draw.integers(3, 10)), racks=int(draw.integers(1, 4)), topics=4)
    states = {int(b): [BrokerState.DRAINING, BrokerState.DEMOTED, BrokerState.FENCED][int(draw.integers(3))]
              for b in draw.permutation(len(snapshot.brokers))[: int(draw.random() < 0.3)]}  # fmt: skip
    known = (replace(broker, state=states.get(broker.id, broker.state)) for broker in snapshot.brokers)
    snapshot = replace(snapshot, brokers=tuple(known))
    topics = topics_of(draw)
    able = [broker.id for broker in snapshot.brokers if broker.state in (BrokerState.ALIVE, BrokerState.DEMOTED)]
    excluded = frozenset(able[:1]) if draw.random() < 0.3 else frozenset[int]()
    options = PlanOptions(exclude_brokers=excluded)
    if max(topic.replication_factor for topic in topics) > len(set(able) - excluded):
        with pytest.raises(InfeasibleError, match="factor_above_brokers"):
            place_new_topics(snapshot, topics, options)
        return
    document = place_new_topics(snapshot, topics, options)
    assert check_new_topics(document, snapshot) == []
    used = {broker for at in range(len(topics)) for replicas in assignment(document, at) for broker in replicas}
    assert used <= set(able) - excluded
    assert place_new_topics(snapshot, topics, options) == document


def test_it_is_more_even_than_kafkas_own_placement() -> None:
    """Highest leader and replica count after 24 partitions of RF 2, over 20 lopsided clusters."""
    ours, kafkas = 0.0, 0.0
    for seed in range(20):
        snapshot = random_cluster(seed, broker_count=8, racks=2, topics=6)
        document = place_new_topics(snapshot, [NewTopic("x", 24, 2)])
        placed = place_striped(placement_brokers(snapshot), 24, 2, java_random(seed))
        led = Counter(int(replicas[0]) for replicas in placed)
        before = document["before"]["leaders"]
        ours += max(document["after"]["leaders"].values())
        kafkas += max(before[str(broker)] + led[broker] for broker in range(8))
    assert ours < kafkas


def test_what_cannot_be_is_refused() -> None:
    snapshot = two_full_one_empty()
    for topics, text in (
        ([NewTopic("t", 1, 1)], "--new-topic t: is in the cluster"),
        ([NewTopic("x", 1, 1), NewTopic("x", 1, 1)], "--new-topic x: is in the cluster, or was given before"),
    ):
        with pytest.raises(UsageError, match=text):
            place_new_topics(snapshot, topics)
    for fields in (("a b", 1, 1), ("x", 0, 1), ("x", 1, 0), ("x", 10**6, 1)):
        with pytest.raises(UsageError, match="--new-topic"):
            NewTopic(*fields)
    with pytest.raises(InfeasibleError, match=r"factor_above_brokers\(replication_factor=1, brokers=0, topic='x'"):
        place_new_topics(replace(cluster([], []), cluster="c"), [NewTopic("x", 1, 1)])
    small = replace(
        snapshot, brokers=tuple(replace(broker, capacity=Capacity(disk_bytes=11.0 * GB)) for broker in snapshot.brokers)
    )
    with pytest.raises(InfeasibleError, match=r"no_room_for_replica\(topic='x', replica=1, replica_bytes=2"):
        place_new_topics(small, [NewTopic("x", 1, 1, None, 20 * GB)])


def _moved(document: dict[str, Any]) -> None:
    assignment(document)[0][0], assignment(document)[0][1] = assignment(document)[0][1], assignment(document)[0][0]


SMALL = {"disk_bytes": 1e9, "in_bytes_per_s": None, "out_bytes_per_s": None, "cpu_percent": None}
FORGERIES: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "another reading": (lambda document: document.update(snapshot_id="0" * 64), "of another reading"),
    "a partition without a place": (lambda document: assignment(document).pop(), "not every partition"),
    "a broker twice": (lambda document: assignment(document)[0].__setitem__(slice(None), [1, 1]), "brokers of"),
    "a stranger": (lambda document: assignment(document)[0].__setitem__(1, 99), "brokers of the cluster"),
    "one rack": (lambda document: assignment(document)[0].__setitem__(slice(None), [0, 2]), "on 1 racks"),
    "another leader": (_moved, "after.leaders"),
    "a load of today": (lambda document: document["before"]["disk"].update({"1": 5}), "before.disk: broker 1"),
    "a load afterwards": (lambda document: document["after"]["replicas"].update({"0": 7}), "after.replicas: broker 0"),
    "a load left out": (lambda document: document["after"]["disk"].pop("2"), "it says None"),
    "a closed broker": (lambda document: document.update(exclude_brokers=[0, 1, 2]), "takes no replicas"),
    "a topic that is there": (lambda document: document["topics"][0].update(topic="t"), "is in the cluster"),
    "a full disk": (lambda document: document.update(capacities={str(b): SMALL for b in range(4)}), "can hold"),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGERIES)
def test_the_verifier_finds_a_changed_document(name: str) -> None:
    snapshot = cluster([row("t", number, (number % 4,), GB) for number in range(6)], brokers(4, racks=2))
    document = place_new_topics(snapshot, [NewTopic("x", 4, 2, None, 4 * GB)])
    assert check_new_topics(document, snapshot) == []
    spoiled, (spoil, text) = copy.deepcopy(document), FORGERIES[name]
    spoil(spoiled)
    assert any(text in fault for fault in check_new_topics(spoiled, snapshot)), check_new_topics(spoiled, snapshot)
