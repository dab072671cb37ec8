"""A plan made quicker part by part: what is counted, what a part decides, what is lawful."""

from __future__ import annotations

import numpy as np
import pytest

from kafka_rebalance.planner.params import SteeringParams
from kafka_rebalance.planner.steering import (
    ANY,
    CostTotals,
    Goal,
    Part,
    Placing,
    costs_of,
    decided_anew,
    flows_of,
    goal_of,
    is_lawful,
    part_of,
    preferences,
    steered,
    worth_of,
)
from tests.unit.planner.hand_problems import hand_problem

# Broker 0 holds eight replicas of 10, half of which broker 1 leads and half broker 2; broker 3 is empty.
EIGHT = [((1, 0), 10.0)] * 4 + [((2, 0), 10.0)] * 4
ORDER = ("busiest", "bytes")


def eight():
    """160 in all, between 16 and 64 each: two or more leave broker 0, two or more come to broker 3."""
    return hand_problem(EIGHT, 4, within=0.6)


def moved(*rows: int) -> Placing:
    """Today's placement with the followers of ``rows`` moved from broker 0 to broker 3."""
    problem = eight()
    replicas = problem.replicas.copy()
    for row in rows:
        replicas[row, 1] = 3
    return Placing(replicas, problem.leader.copy())


def test_a_copy_is_sent_by_todays_leader_and_received_where_it_goes() -> None:
    flows = flows_of(eight(), moved(0, 1, 4))
    assert flows.sent.tolist() == [0, 20, 10, 0]
    assert flows.received.tolist() == [0, 0, 0, 30]
    assert costs_of(eight(), moved(0, 1, 4)) == CostTotals(bytes=30, moves=3, busiest=30, leaders=0)
    led_by_2 = moved(0)
    led_by_2.leader[0] = 3
    assert costs_of(eight(), led_by_2) == CostTotals(bytes=10, moves=1, busiest=10, leaders=1)


def test_a_part_decides_who_sends_and_keeps_the_rest() -> None:
    """Three copies that broker 1 sends; open are two of those and all that broker 2 leads."""
    start, part = moved(0, 1, 2), Part(np.array([1, 2, 4, 5]), np.array([7]), np.ones(4, dtype=np.bool_))
    found = decided_anew(eight(), start, part, Goal(CostTotals(bytes=0.001, busiest=1.0), ANY), SteeringParams(gap=0.0))
    assert found is not None
    assert is_lawful(eight(), found)
    costs = costs_of(eight(), found)
    assert (costs.bytes, costs.busiest) == (20, 20)  # broker 3 must get two, whoever sends them
    assert found.replicas[0].tolist() == [1, 3]
    assert found.replicas[[3, 6, 7]].tolist() == [[1, 0], [2, 0], [2, 0]]


def test_a_part_whose_limits_nothing_meets_is_none() -> None:
    part = Part(np.arange(8), np.array([], dtype=np.int64), np.ones(4, dtype=np.bool_))
    goal = Goal(CostTotals(busiest=1.0), CostTotals(bytes=10.0, moves=np.inf, busiest=np.inf, leaders=np.inf))
    assert decided_anew(eight(), moved(0, 1), part, goal, SteeringParams()) is None  # broker 3 lacks 20


def test_the_first_cost_is_lowered_until_it_is_within_its_slack_then_the_next() -> None:
    least, params = CostTotals(bytes=100, busiest=10), SteeringParams()
    first = goal_of(CostTotals(bytes=150, busiest=12), least, ORDER, 0.1, params)
    assert first is not None
    assert first.weight.busiest == pytest.approx(1 / 10)
    assert first.most == ANY
    then = goal_of(CostTotals(bytes=150, busiest=11), least, ORDER, 0.1, params)
    assert then is not None
    assert then.weight.bytes == pytest.approx(1 / 100)
    assert then.most.busiest == pytest.approx(11)
    assert goal_of(CostTotals(bytes=110, busiest=11), least, ORDER, 0.1, params) is None


def test_worth_counts_a_cost_only_beyond_its_slack() -> None:
    least = CostTotals(bytes=100, busiest=10)
    within, cheaper, slower = CostTotals(105, 0, 11, 0), CostTotals(101, 0, 11, 0), CostTotals(100, 0, 11.5, 0)
    ranked = sorted((within, cheaper, slower), key=lambda costs: worth_of(costs, least, ORDER, 0.1))
    assert ranked == [cheaper, within, slower]


def test_what_moves_and_what_the_program_moves_is_open_first() -> None:
    problem, rng = eight(), np.random.default_rng(1)
    preference = preferences(problem, 21.0)
    assert preference.shape == (8,)
    assert (preference >= 1).sum() >= 2  # broker 3 gets 20 at least
    part = part_of(problem, moved(3), preference, rng, SteeringParams(partitions=3, led=2))
    assert len(part.rows) == 3
    assert 3 in part.rows
    assert len(part.led) == 2
    assert not set(part.led) & set(part.rows)
    assert part.brokers.all()
    few = part_of(problem, moved(3), preference, rng, SteeringParams(most_brokers=2))
    assert few.brokers.sum() == 2


def test_one_sender_becomes_two() -> None:
    """Four copies, all sent by broker 1: 40. Two are needed, and half by each of two senders is the least."""
    found = steered(eight(), moved(0, 1, 2, 3), CostTotals(bytes=20, moves=2, busiest=20), ORDER, 0.05, seed=0)
    costs = costs_of(eight(), found)
    assert (costs.bytes, costs.busiest) == (20, 20)
    assert is_lawful(eight(), found)
    assert (
        steered(eight(), found, CostTotals(bytes=20, busiest=20), ORDER, 0.05, seed=0) is found
    )  # nothing is left to do
