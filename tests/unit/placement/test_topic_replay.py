from __future__ import annotations

import json

import numpy as np

from kafka_rebalance.facts import FactCode
from kafka_rebalance.placement.placers import PlacementBroker
from kafka_rebalance.placement.topic_replay import (
    placement_brokers,
    placement_ground,
    replay_topic,
    topic_placements,
)
from kafka_rebalance.scoring.placement_scores import TopicPlacement
from rebalance_advisor.dumps import read_input

BROKERS = tuple(PlacementBroker(number, f"r{number % 3}") for number in range(6))


def topic(replicas, sizes=None):
    replicas = np.array(replicas, dtype=np.int32)
    return TopicPlacement("t", replicas, replicas[:, 0].copy(), np.array(sizes or [10.0] * len(replicas)))


def test_there_is_todays_row_and_one_for_each_seed():
    replay = replay_topic(topic([[0, 1, 2]] * 6), placement_ground(BROKERS))
    assert [(score.placer, score.seed) for score in replay.scores] == [
        ("current", 0), *(("striped", seed) for seed in range(20)),
    ]  # fmt: skip


def replay_with(today, seeds=range(20)):
    return replay_topic(today, placement_ground(BROKERS), seeds)


def test_piled_up_replicas_would_be_even_if_the_topic_were_created_today():
    replay = replay_with(topic([[0, 1, 2]] * 6, sizes=[5.0] * 6))
    assert replay.current.replica_skew == 6 / (18 / 6)
    assert {score.replica_skew for score in replay.placed} == {1.0}
    assert {score.leader_skew for score in replay.placed} == {1.0}
    assert replay.median_replica_skew == 1.0
    assert all(score.bytes_to_move == 5 * score.replica_moves for score in replay.placed)
    assert all(score.rack_violations == 0 for score in replay.placed)


def test_a_partition_on_every_broker_moves_nothing():
    everywhere = tuple(PlacementBroker(number) for number in range(3))
    replay = replay_topic(topic([[0, 1, 2]]), placement_ground(everywhere))
    assert {score.replica_moves for score in replay.placed} == {0}
    assert {score.leader_changes for score in replay.placed} == {0, 1}


def test_a_refusal_of_the_placer_is_an_answer():
    replay = replay_topic(topic([[0, 1, 2, 7]]), placement_ground(BROKERS[:3]))
    assert "InvalidReplicationFactor" in replay.error.args["error"]
    assert replay.placed == ()
    assert replay.median_replica_skew is None


def test_without_a_broker_alive_there_is_only_today():
    replay = replay_topic(topic([[0]]), placement_ground(()))
    assert replay.error.code is FactCode.NO_BROKER_TO_PLACE_ON
    assert replay.placed == ()


def test_a_snapshot_gives_its_topics_and_the_brokers_that_kafka_would_offer(tmp_path):
    states = ("alive", "drain", "dead", "new", "demoted")
    model = {
        "brokers": [{"id": number, "rack": "r", "state": state} for number, state in enumerate(states)],
        "partitions": [
            {"topic": "b", "partition": 0, "replicas": [3, 0]}, {"topic": "a", "partition": 0, "replicas": [1]},
            {"topic": "b", "partition": 1, "replicas": [0], "load": {"disk": 1}},
        ],
    }  # fmt: skip
    (tmp_path / "model.json").write_text(json.dumps(model))
    snapshot = read_input(tmp_path / "model.json")
    assert [broker.id for broker in placement_brokers(snapshot)] == [0, 3, 4]
    first, second = topic_placements(snapshot)
    assert (first.topic, second.topic) == ("a", "b")
    assert second.replicas.tolist() == [[3, 0], [0, -1]]
    assert np.isnan(second.log_bytes[0])
    assert second.log_bytes[1] == 2**20


def test_the_same_seeds_draw_the_same_placements():
    assert replay_with(topic([[0, 1, 2]] * 4)).scores == replay_with(topic([[0, 1, 2]] * 4)).scores
