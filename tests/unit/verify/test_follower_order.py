from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import to_document
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.verify.cluster import cluster_arrays
from kafka_rebalance.verify.document import read_parameters
from kafka_rebalance.verify.faults import FaultList
from kafka_rebalance.verify.moves import unevenness
from kafka_rebalance.verify.verification import verify_plan
from tests.unit.planner.sample_clusters import brokers, cluster, row
from tests.unit.verify.sample_plans import as_if_made_from


def uneven(count: int = 6) -> ClusterSnapshot:
    """Loads are even; each broker's leaders have one standby."""
    rows = [row("t", 3 * p + b, (b, (b + 1) % 3, (b + 2) % 3)) for p in range(count) for b in range(3)]
    return cluster(tuple(rows), brokers(3))


def test_takeovers_are_counted_by_who_led_and_who_is_next() -> None:
    """Broker 0 leads three: 1 takes two, 2 takes one; broker 1 leads one: 4 + 1 + 1, without second-place leaders."""
    snapshot = uneven()
    parameters = read_parameters(
        to_document(make_plan(snapshot, PlanOptions(with_frontier=False)))["parameters"], FaultList()
    )
    assert parameters is not None
    lists = np.array([[0, 1, 2], [0, 1, 2], [0, 2, 1], [1, 2, 0], [2, 1, 0]], dtype=np.int32)
    leader = np.array([0, 0, 0, 1, 1], dtype=np.int32)
    assert unevenness(cluster_arrays(snapshot, parameters), lists, leader) == 6


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda document: document["parameters"].update(max_reorders=8), "follower_order"),
        (lambda document: document["moves"][0].update(kind="leader"), "move_idle"),
        (lambda document: [move["to"].reverse() for move in document["moves"]], "leader_not_first"),
    ],
)
def test_what_a_plan_of_orders_claims_falsely_is_refused(change: Callable[[dict[str, Any]], None], code: str) -> None:
    document = to_document(make_plan(uneven(), PlanOptions(with_frontier=False, max_reorders=100)))
    change(document)
    assert code in verify_plan(document, uneven()).counts


def test_new_orders_that_spread_nothing_are_refused() -> None:
    """All lists of broker 0 are turned, one half of which was turned already."""
    document = to_document(make_plan(uneven(), PlanOptions(with_frontier=False, max_reorders=100)))
    rows = [row("t", 3 * p + b, (b, (b + 2) % 3, (b + 1) % 3)) for p in range(3) for b in range(3)]
    rows += [row("t", 3 * p + b, (b, (b + 1) % 3, (b + 2) % 3)) for p in range(3, 6) for b in range(3)]
    even = cluster(tuple(rows), brokers(3))
    moves = {(move["topic"], move["partition"]): move for move in document["moves"]}
    for number, partition in enumerate(even.each_partition()):
        if (move := moves.get((partition.topic, partition.partition))) is not None:
            move["from"], move["to"] = list(partition.replicas), [partition.replicas[at] for at in (0, 2, 1)]
        assert number < len(rows)
    assert "follower_order" in verify_plan(as_if_made_from(even, document), even).counts
