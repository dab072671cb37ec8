from __future__ import annotations

import json
import random

import pytest

from kafka_rebalance.scoring.snapshot_scores import score_cluster
from rebalance_advisor.dumps import read_input
from tests.sample import for_each
from tests.unit.scoring.plain_scorer import summary


def snapshot_of(folder, model):
    path = folder / "model.json"
    path.write_text(json.dumps(model))
    return read_input(path)


def load(cpu, written, read, disk):
    return {"cpu": cpu, "nw_in": written / 1024, "nw_out": read / 1024, "disk": disk / 1048576}


BY_HAND = {
    "brokers": [
        {"id": 1, "rack": "a", "state": "alive", "capacity": {"disk": 1000 / 1048576}},
        {"id": 2, "rack": "b", "state": "alive", "capacity": {"disk": 1000 / 1048576}},
        {"id": 3, "rack": "b", "state": "alive", "capacity": {"disk": 2000 / 1048576}},
        {"id": 4, "rack": "c", "state": "drain", "capacity": {"disk": 1000 / 1048576}},
    ],
    "partitions": [
        {"topic": "t", "partition": 0, "replicas": [1, 2], "load": load(10, 100, 50, 400)},
        {"topic": "t", "partition": 1, "replicas": [1, 3], "load": load(20, 0, 30, 200)},
        {"topic": "t", "partition": 2, "replicas": [3], "load": load(5, 40, 0, 100)},
        {"topic": "t", "partition": 3, "replicas": [4, 3], "load": load(8, 20, 20, 300)},
    ],
}


@pytest.fixture
def by_hand(tmp_path):
    return score_cluster(snapshot_of(tmp_path, BY_HAND))


def loads(scores, resource):
    return {score.broker: score.load for score in scores.of_resource(resource)}


def test_loads_worked_out_by_hand(by_hand):
    assert loads(by_hand, "disk") == {1: 600, 2: 400, 3: 600, 4: 300}
    assert loads(by_hand, "in") == {1: 100, 2: 100, 3: 60, 4: 20}
    # Leaders send what consumers fetch and one copy to each follower: 50 + 100, 30 + 0, 0, 20 + 20.
    assert loads(by_hand, "out") == {1: 180, 2: 0, 3: 0, 4: 40}
    assert loads(by_hand, "replicas") == {1: 2, 2: 1, 3: 3, 4: 1}
    assert loads(by_hand, "leaders") == {1: 2, 2: 0, 3: 1, 4: 1}


def test_a_followers_cpu_worked_out_by_hand(by_hand):
    # t-0: 10 * 0.15 * 100 / (0.7 * 100 + 0.15 * 150); t-1 is not written; t-3: 8 * 0.15 * 20 / (0.7 * 20 + 0.15 * 40)
    expected = {1: 30, 2: 150 / 92.5, 3: 5 + 24 / 20, 4: 8}
    assert loads(by_hand, "cpu") == pytest.approx(expected, rel=1e-12)


def test_levels_means_and_skews_worked_out_by_hand(by_hand):
    disk = by_hand.resource("disk")
    assert disk.total == 1600, "what lies on the drained broker is not carried by those that stay"
    assert disk.plain_mean == pytest.approx(1600 / 4000)
    assert disk.skew == pytest.approx(0.6 / 0.4)
    assert disk.worst_broker == 1
    levels = {score.broker: score.level for score in by_hand.of_resource("disk")}
    assert levels == pytest.approx({1: 0.6, 2: 0.4, 3: 0.3, 4: 0.3})
    assert [score.stays for score in by_hand.of_resource("disk")] == [True, True, True, False]
    leaders = by_hand.resource("leaders")
    assert (leaders.plain_mean, leaders.skew) == (1.0, 2.0)


def test_racks_are_the_sum_of_their_brokers_that_stay(by_hand):
    racks = {score.rack: score for score in by_hand.racks if score.resource == "disk"}
    assert sorted(racks) == ["a", "b"]
    assert (racks["b"].brokers, racks["b"].load, racks["b"].capacity) == (2, 1000, pytest.approx(3000))
    assert racks["b"].level == pytest.approx(1000 / 3000)
    assert racks["b"].over_mean == pytest.approx((1000 / 3000) / 0.4)


def random_model(seed):
    rng = random.Random(seed)
    racks = [f"r{number}" for number in range(rng.choice((1, 3, 4)))]
    brokers = [
        {
            "id": 3 * number + 1,
            "rack": rng.choice(racks),
            "state": rng.choice(("alive",) * 6 + ("new", "drain", "demoted", "dead")),
            "capacity": {
                "cpu": 100,
                "nw_in": rng.choice((1000, 2000)),
                "nw_out": rng.uniform(1e3, 1e4),
                "disk": rng.choice((500, 1000.5)),
            },
        }
        for number in range(rng.randrange(5, 14))
    ]
    brokers[0]["state"] = "alive"
    ids = [broker["id"] for broker in brokers]
    partitions = []
    for topic in range(rng.randrange(1, 8)):
        for number in range(rng.randrange(1, 30)):
            row = {"topic": f"t{topic}", "partition": number, "replicas": rng.sample(ids, rng.randrange(1, 5))}
            idle = rng.random() < 0.1
            row["load"] = {
                "cpu": rng.uniform(0, 3),
                "nw_in": 0 if idle else rng.lognormvariate(3, 1.5),
                "nw_out": 0 if idle else rng.lognormvariate(3, 1.5),
                "disk": rng.lognormvariate(5, 2),
            }
            partitions.append(row)
    rng.shuffle(partitions)
    return {"brokers": brokers, "partitions": partitions}


@for_each("seed", range(12))
def test_scores_equal_a_plain_scorer_on_random_models(tmp_path, seed):
    model = random_model(seed)
    scores = score_cluster(snapshot_of(tmp_path, model))
    assert {score.resource for score in scores.resources} == set(summary(model))
    for resource, (mean, skew, levels) in summary(model).items():
        result = scores.resource(resource)
        assert result.plain_mean == pytest.approx(mean, rel=1e-9)
        assert result.skew == pytest.approx(skew, rel=1e-9)
        staying = {score.broker: score.level for score in scores.of_resource(resource) if score.stays}
        assert staying == pytest.approx(levels, rel=1e-9, abs=1e-9 * mean)


def test_a_resource_that_nobody_measured_has_no_score_and_is_said(tmp_path):
    model = {**BY_HAND, "partitions": [{**row, "load": {"disk": 1}} for row in BY_HAND["partitions"]]}
    scores = score_cluster(snapshot_of(tmp_path, model))
    assert {score.resource for score in scores.resources} == {"disk", "replicas", "leaders"}
    assert set(scores.left_out) == {"in", "out", "cpu", "leader_in", "potential_out"}


def test_fair_shares_are_what_racks_allow(tmp_path):
    # Two racks, RF 2: each rack holds one replica of everything, so the broker alone in its rack holds all.
    brokers = [{"id": 1, "rack": "a"}, {"id": 2, "rack": "b"}, {"id": 3, "rack": "b"}]
    rows = [{"topic": "t", "partition": number, "replicas": [1, 2 + number % 2]} for number in range(4)]
    scores = score_cluster(snapshot_of(tmp_path, {"brokers": brokers, "partitions": rows}))
    fair = {score.broker: score.fair_share for score in scores.of_resource("replicas")}
    assert fair == {1: 4, 2: 2, 3: 2}
    assert scores.resource("replicas").skew == 4 / (8 / 3)
