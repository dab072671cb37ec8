from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kafka_rebalance.planner.bounds import (
    Choices,
    Chosen,
    better_prices,
    cheapest_placements,
    lower_bounds,
    proven_by,
    raised,
)
from kafka_rebalance.planner.params import AscentParams, BoundParams
from kafka_rebalance.plans.request import build_request
from tests.properties.small_clusters import small_cluster
from tests.unit.planner.hand_problems import hand_problem

ONE_COPY = [((0,), 4.0), ((0,), 2.0), ((0,), 2.0), ((1,), 1.0)]
RATES = [3.0, 1.0, 1.0, 1.0]


def test_an_only_replica_must_come_along_for_its_leader_to_leave() -> None:
    """Broker 0 sends 5 of at most 3.3. At price 2: min(4, 2 · 3) + 2 + 2 + 0 - 2 · 3.3 = 1.4; 0 with free leaders."""
    problem = hand_problem(ONE_COPY, 2, resources=("out",), rates=RATES)
    price = np.array([[2.0], [0.0]])
    assert proven_by(problem, price, problem.move_bytes) == pytest.approx(1.4)


def test_a_pass_tells_what_the_cheapest_placements_carry() -> None:
    """One replica of 2 on broker 0, leader 1 more, copy 4: at price 1 staying costs 3; at 2 moving (4) beats 6."""
    choices = Choices(
        follower=np.array([[2.0]]), extra=np.array([[1.0]]), cost=np.array([4.0]),
        size=np.array([3.0]), receiving=np.zeros(2),
        kept=np.array([[0]], dtype=np.int32), beyond=np.zeros((1, 1)), disk=0,
        leader=np.array([0], dtype=np.int32), closed=np.zeros(2), shut=np.zeros(2),
        begin=np.array([0, 1, 2]), factor=np.array([1]),
    )  # fmt: skip
    result = Chosen.of(np.zeros((1, 2)), 1)
    assert cheapest_placements(choices, np.array([[1.0, 0.0]]), result) == 3.0
    assert (result.load.tolist(), result.copies.tolist(), result.leader.tolist()) == ([[3.0, 0.0]], [0.0], [0])
    assert cheapest_placements(choices, np.array([[2.0, 0.0]]), result) == 4.0
    assert (result.load.tolist(), result.copies.tolist(), result.leader.tolist()) == ([[0.0, 3.0]], [1.0], [1])
    assert result.received.tolist() == [0.0, 3.0]
    # Each of the three bytes costs 0.5 more on broker 1: moving there costs 5.5.
    assert cheapest_placements(choices._replace(receiving=np.array([0.0, 0.5])), np.array([[2.0, 0.0]]), result) == 5.5
    # No new leaders on broker 1: present leaders stay.
    shut = choices._replace(shut=np.array([np.inf, np.inf]))
    assert cheapest_placements(shut, np.array([[2.0, 0.0]]), result) == 6.0


def test_the_copy_goes_to_the_leader_of_a_rack_not_to_its_cheapest_broker() -> None:
    """Brokers 0 and 1 share a rack. Broker 0 is the cheapest and may not lead, so broker 1 is copied to."""
    choices = Choices(
        follower=np.array([[1.0]]), extra=np.array([[0.0]]), cost=np.array([4.0]),
        size=np.array([3.0]), receiving=np.zeros(3),
        kept=np.array([[-1]], dtype=np.int32), beyond=np.zeros((1, 1)), disk=-1,
        leader=np.array([-1], dtype=np.int32), closed=np.zeros(3), shut=np.array([np.inf, 0.0, 0.0]),
        begin=np.array([0, 2, 3]), factor=np.array([1]),
    )  # fmt: skip
    result = Chosen.of(np.zeros((1, 3)), 1)
    assert cheapest_placements(choices, np.array([[1.0, 2.0, 9.0]]), result) == 6.0
    assert (result.load.tolist(), result.leader.tolist()) == ([[0.0, 1.0, 0.0]], [1])
    assert (result.copies.tolist(), result.received.tolist()) == ([1.0], [0.0, 3.0, 0.0])


def test_better_prices_prove_more_and_never_less() -> None:
    better = 0
    for seed in range(40):
        snapshot, options = small_cluster(seed)
        problem = build_request(snapshot, options).problem(options.band)
        bounds = lower_bounds(problem)
        above = raised(problem, bounds)
        assert above.bytes.value >= bounds.bytes.value
        better += above.bytes.value > bounds.bytes.value * 1.001
        if above.certificate is not None:
            assert above.certificate.value == above.bytes.value
            assert not above.certificate.prices[~problem.stays].any()
    assert better >= 3


def test_steps_as_small_as_usual_costs_prove_more_and_never_less() -> None:
    """``few_pairs`` 0: small clusters climb as large ones do."""
    params, better, other = BoundParams(ascent=AscentParams(few_pairs=0)), 0, 0
    for seed in range(40):
        snapshot, options = small_cluster(seed)
        problem = build_request(snapshot, options).problem(options.band)
        bounds = lower_bounds(problem)
        above = raised(problem, bounds, params).bytes.value
        assert above >= bounds.bytes.value
        better += above > bounds.bytes.value * 1.001
        other += above != raised(problem, bounds).bytes.value
    assert better >= 3
    assert other >= 1


def test_a_cluster_too_large_for_the_work_allowed_keeps_its_prices() -> None:
    problem = hand_problem(ONE_COPY, 2, resources=("out",), rates=RATES)
    start = np.zeros((2, 1))
    assert better_prices(problem, start, AscentParams()) is not None
    assert better_prices(problem, start, AscentParams(work=8 * 39)) is None  # 39 passes of 4 · 2 pairs
    assert better_prices(replace(problem, moves_replicas=False), start, AscentParams()) is None
    bounds = lower_bounds(problem)
    assert raised(problem, bounds, BoundParams(ascent=AscentParams(work=0))) is bounds
    assert bounds.bytes.value < raised(problem, bounds).bytes.value <= 4.0  # the two that weigh 2 do it
