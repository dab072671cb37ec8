from __future__ import annotations

import random

from kafka_rebalance.scoring.snapshot_scores import FailureScore, score_failures
from kafka_rebalance.snapshot.model import (
    Broker,
    BrokerState,
    ClusterSnapshot,
    Partition,
    Topic,
    partition_table,
)


def cluster(rows: list[Partition], brokers: tuple[Broker, ...]) -> ClusterSnapshot:
    return ClusterSnapshot("c", brokers, (Topic("t"),), partition_table(rows, {"t": 0}))


def test_four_leaders_of_which_one_has_nobody_in_sync() -> None:
    """Broker 4 leads 0–2 listed [4, 5, 6] and 3 listed [4, 6], 6 out of sync: 5 takes three, where two are even."""
    rows = [Partition("t", p, (4, 5, 6), 4, isr=(4, 5, 6)) for p in range(3)]
    rows.append(Partition("t", 3, (4, 6), 4, isr=(4,)))
    first, *others = score_failures(cluster(rows, (Broker(4, "a"), Broker(5, "b"), Broker(6, "b"))))
    assert first == FailureScore("broker", "4", 4, 1, 5, 3, 2)
    assert [(score.lost_type, score.lost, score.leaders) for score in others] == [
        ("broker", "5", 0), ("broker", "6", 0), ("rack", "a", 4), ("rack", "b", 0),
    ]  # fmt: skip


def test_an_isr_that_nobody_read_and_a_dead_broker_tell_nothing() -> None:
    brokers = (Broker(1), Broker(2), Broker(3, state=BrokerState.DEAD))
    assert score_failures(cluster([Partition("t", 0, (1, 2), 1)], brokers)) == ()
    scores = score_failures(cluster([Partition("t", 0, (1, 3), 1, isr=(1, 3))], brokers))
    assert [(score.lost, score.leaderless) for score in scores] == [("1", 1), ("2", 0)], "a dead one takes nothing"


def test_counts_are_those_of_kafkas_rule_on_random_clusters() -> None:
    draw = random.Random(5)
    for _ in range(40):
        brokers = tuple(Broker(10 + b, f"r{b % 3}") for b in range(7))
        rows = []
        for p in range(25):
            replicas = tuple(draw.sample([broker.id for broker in brokers], 3))
            isr = tuple(broker for broker in replicas if draw.random() < 0.7) or replicas[:1]
            rows.append(Partition("t", p, replicas, draw.choice(isr), isr=isr))
        for score in score_failures(cluster(rows, brokers)):
            name = {"broker": lambda broker: str(broker.id), "rack": lambda broker: broker.rack}[score.lost_type]
            lost = {broker.id for broker in brokers if name(broker) == score.lost}
            heirs = [
                next((broker for broker in row.replicas if broker in (row.isr or ()) and broker not in lost), None)
                for row in rows
                if row.leader in lost
            ]
            assert (score.leaders, score.leaderless) == (len(heirs), heirs.count(None))
            taken = [heirs.count(broker.id) for broker in brokers]
            assert score.most_taken == max(taken)
            if score.taken_by is not None:
                assert heirs.count(score.taken_by) == score.most_taken >= score.even_taken
