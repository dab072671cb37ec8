"""Weights of replicas and leaders by the verifier's formulas: written at 10, read at 1, two replicas each."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kafka_rebalance.resources import RESOURCES
from kafka_rebalance.verify import loads
from kafka_rebalance.verify.cluster import ClusterArrays
from tests.unit.verify.hand_claims import arrays, parameters

RF = np.array([2, 3, 0], dtype=np.int64)  # the last has no replica, so it weighs nothing


def measured() -> ClusterArrays:
    three = np.ones(3)
    return replace(arrays(), figures={"disk": 7 * three, "in": 10 * three, "out": three, "cpu": 50 * three})


@pytest.mark.parametrize(
    ("name", "each_replica", "on_top"),
    [
        ("disk", [7, 7, 0], [0, 0, 0]), ("in", [10, 10, 0], [0, 0, 0]), ("replicas", [1, 1, 0], [0, 0, 0]),
        ("leaders", [0, 0, 0], [1, 1, 0]), ("leader_in", [0, 0, 0], [10, 10, 0]),
    ],
)  # fmt: skip
def test_what_needs_no_copies_sent(name: str, each_replica: list[float], on_top: list[float]) -> None:
    follower, leader = loads.weights_of(name, RF, measured())
    assert (follower.tolist(), leader.tolist()) == (each_replica, on_top)


def test_a_leader_sends_what_is_read_and_a_copy_to_each_follower() -> None:
    follower, leader = loads.weights_of("out", RF[:2], two := _first_two(measured()))
    assert (follower.tolist(), leader.tolist()) == ([0, 0], [11, 21])
    follower, leader = loads.weights_of("potential_out", RF[:2], two)
    assert (follower.tolist(), leader.tolist()) == ([11, 21], [0, 0])


def test_cpu_is_split_by_what_replicating_costs() -> None:
    """Sent 11: a follower has 1.5 of 7 + 1.65, and with its leader's part on top that is the leader's 50."""
    follower, leader = loads.weights_of("cpu", RF[:1], _first_two(measured(), 1))
    assert follower == pytest.approx([50 * 1.5 / 8.65])
    assert follower + leader == pytest.approx([50.0])


def test_what_is_known_and_what_a_plan_is_about() -> None:
    disk_alone, everything = arrays(), measured()
    assert loads.known_resources(disk_alone) == ("disk", "replicas", "leaders")
    assert set(loads.known_resources(everything)) == set(RESOURCES)
    plain, capped = parameters(), parameters(caps={"leader_in": 60.0})
    assert "leader_in" not in loads.resources_in_play(everything, plain)
    assert set(loads.resources_in_play(everything, capped)) == set(RESOURCES) - {"potential_out"}
    assert "leader_in" not in loads.resources_in_play(disk_alone, capped)


def _first_two(cluster: ClusterArrays, count: int = 2) -> ClusterArrays:
    return replace(cluster, figures={name: values[:count] for name, values in cluster.figures.items()})
