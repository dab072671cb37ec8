from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_rebalance.scoring.snapshot_scores import score_cluster
from kafka_rebalance.snapshot.figures import LoadKind
from kafka_rebalance.snapshot.model import BrokerState, Capacity, ClusterSnapshot
from tests.unit.planner.sample_clusters import GB, brokers, cluster, row
from tests.unit.plans.hand_plans import ROWS, SNAPSHOT

RATES = {
    LoadKind.IN_BYTES_PER_S: [10.0, 20.0, 30.0],
    LoadKind.OUT_BYTES_PER_S: [0.0, 0.0, 0.0],
    LoadKind.CPU_PERCENT: [1.0, 2.0, 3.0],
}


def test_a_broker_is_told_over_the_mean_and_a_rack_is_its_brokers_that_stay() -> None:
    """15, 10 and 5 GB of a mean of 10: 1.5, 1 and 0.5 of it; brokers 0 and 2 are one rack with 20 GB, 10 each."""
    scores = score_cluster(cluster(ROWS, brokers(3, racks=2)))
    assert [score.over_mean for score in scores.of_resource("disk")] == [1.5, 1.0, 0.5]
    racks = {score.rack: score for score in scores.racks if score.resource == "disk"}
    assert (racks["rack-0"].load, racks["rack-0"].brokers, racks["rack-0"].capacity) == (20 * GB, 2, None)
    assert (racks["rack-0"].level, racks["rack-0"].over_mean, racks["rack-1"].over_mean) == (10 * GB, 1.0, 1.0)
    disk = scores.resource("disk")
    assert disk is not None
    assert (disk.total, disk.plain_mean, disk.skew, disk.worst_broker, disk.known_share) == (30e9, 10e9, 1.5, 0, 1.0)
    assert scores.resource("cpu") is None


def test_the_share_of_partitions_that_were_measured_is_told() -> None:
    """One rate in twenty is unknown."""
    rates = {LoadKind.IN_BYTES_PER_S: [float("nan"), *[10.0] * 19]}
    scores = score_cluster(cluster([row("t", p, (p % 3,)) for p in range(20)], brokers(3), rates=rates))
    reported = {name: scores.resource(name) for name in ("in", "disk")}
    assert {name: score and score.known_share for name, score in reported.items()} == {"in": 0.95, "disk": 1.0}


def test_levels_are_loads_over_capacities() -> None:
    sized = tuple(replace(b, capacity=Capacity(disk_bytes=(10.0 + 10 * b.id) * GB)) for b in SNAPSHOT.brokers)
    scores = score_cluster(replace(SNAPSHOT, brokers=sized))
    assert [score.level for score in scores.of_resource("disk")] == pytest.approx([1.5, 0.5, 5 / 30])
    assert [score.over_mean for score in scores.of_resource("disk")] == pytest.approx([3.0, 1.0, 1 / 3])
    assert [score.capacity for score in scores.of_resource("disk")] == [10e9, 20e9, 30e9]
    assert [score.capacity for score in scores.of_resource("leaders")] == [None] * 3


def test_where_nothing_is_carried_nobody_is_over_the_mean() -> None:
    scores = score_cluster(cluster([row("t", 0, (0, 1), 0)], brokers(3, racks=2)))
    assert {score.over_mean for score in scores.of_resource("disk")} == {0.0}
    assert {score.over_mean for score in scores.racks if score.resource == "disk"} == {0.0}
    disk = scores.resource("disk")
    assert disk is not None
    assert (disk.skew, disk.plain_mean) == (0.0, 0.0)


def test_where_nobody_is_there_nothing_is_scored() -> None:
    nobody = ClusterSnapshot("c", (), (), cluster([], []).partitions)
    scores = score_cluster(nobody)
    assert (scores.brokers, scores.racks, scores.resources) == ((), (), ())
    assert set(scores.left_out) > {"disk"}
    gone = score_cluster(cluster(ROWS, brokers(3, b0=BrokerState.DEAD, b1=BrokerState.DEAD, b2=BrokerState.DEAD)))
    disk = gone.resource("disk")
    assert disk is None or (disk.worst_broker, disk.skew, disk.total) == (None, 0.0, 0.0)
    empty = score_cluster(ClusterSnapshot("c", tuple(brokers(2)), (), cluster([], brokers(2)).partitions))
    assert {score.load for score in empty.brokers} == {0.0}
    assert {score.known_share for score in empty.resources} == {None}


def test_who_may_not_lead_has_no_share_of_what_leaders_carry_nor_of_cpu() -> None:
    measured = cluster(ROWS, brokers(3, b2=BrokerState.DEMOTED), rates=RATES)
    scores = score_cluster(measured)
    share = {name: [score.fair_share for score in scores.of_resource(name)]
             for name in ("leaders", "cpu", "disk", "out")}  # fmt: skip
    assert share["leaders"] == pytest.approx([1.5, 1.5, None])
    assert share["cpu"] == [None, None, None]
    assert share["disk"] == pytest.approx([10e9] * 3)
    assert share["out"][2] is None
    everybody = score_cluster(cluster(ROWS, brokers(3), rates=RATES))  # a follower has 1.5 of 8.5 of its leader's
    assert [score.fair_share for score in everybody.of_resource("cpu")] == pytest.approx([6 * (1 + 1.5 / 8.5) / 3] * 3)
    leaving = score_cluster(cluster(ROWS, brokers(3, b2=BrokerState.DRAINING), rates=RATES))
    assert [score.fair_share for score in leaving.of_resource("disk")] == pytest.approx([15e9, 15e9, None])
    assert [score.fair_share is None for score in leaving.of_resource("cpu")] == [False, False, True]
