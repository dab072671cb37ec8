from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple, replace
from itertools import combinations, product

import numpy as np
import pytest

from kafka_rebalance.cluster_arrays.problem import Problem, broker_loads
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

# Broker 0 holds eight replicas of 10, half led by broker 1 and half by broker 2; broker 3 is empty.
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
    """Three copies sent by broker 1; open are two of those and all that broker 2 leads."""
    start, part = moved(0, 1, 2), Part(np.array([1, 2, 4, 5]), np.array([7]), np.ones(4, dtype=np.bool_))
    result = decided_anew(
        eight(), start, part, Goal(CostTotals(bytes=0.001, busiest=1.0), ANY), SteeringParams(gap=0.0)
    )
    assert result is not None
    assert is_lawful(eight(), result)
    costs = costs_of(eight(), result)
    assert (costs.bytes, costs.busiest) == (20, 20)  # broker 3 must get two, whoever sends them
    assert result.replicas[0].tolist() == [1, 3]
    assert result.replicas[[3, 6, 7]].tolist() == [[1, 0], [2, 0], [2, 0]]


def test_a_part_whose_limits_nothing_meets_is_none() -> None:
    part = Part(np.arange(8), np.array([], dtype=np.int64), np.ones(4, dtype=np.bool_))
    goal = Goal(CostTotals(busiest=1.0), CostTotals(bytes=10.0, moves=np.inf, busiest=np.inf, leaders=np.inf))
    assert decided_anew(eight(), moved(0, 1), part, goal, SteeringParams()) is None  # broker 3 lacks 20


def placements(problem: Problem, start: Placing, rows: list[int]) -> Iterator[Placing]:
    """Lawful placements that differ from ``start`` in ``rows`` alone, within all bands and limits."""
    brokers = range(problem.broker_count)
    own, today = problem.replicas.tolist(), broker_loads(problem, problem.replicas, problem.leader)
    leaves = np.zeros(problem.replicas.shape, dtype=np.bool_) if problem.must_leave is None else problem.must_leave

    def may_be_on(p: int, broker: int) -> bool:
        if broker in own[p]:
            return bool(problem.stays[broker] and not leaves[p, own[p].index(broker)])
        return bool(problem.takes_replicas[broker])

    def lists_of(p: int) -> Iterator[tuple[list[int], int]]:
        for held in combinations(brokers, int(problem.target_rf[p])):
            if all(may_be_on(p, b) for b in held):
                ordered = [b for b in own[p] if b in held] + [b for b in held if b not in own[p]]
                for leader in held:
                    goes_on = leader == problem.leader[p] and problem.keeps_leaders[leader]
                    if problem.takes_leaders[leader] or goes_on or leader == start.leader[p]:
                        yield ordered, leader

    for chosen in product(*(list(lists_of(p)) for p in rows)):
        replicas, leader = start.replicas.copy(), start.leader.copy()
        for p, (held, leads) in zip(rows, chosen, strict=True):
            replicas[p], leader[p] = held, leads
        after, received = broker_loads(problem, replicas, leader), flows_of(problem, Placing(replicas, leader)).received
        inside = (after >= problem.band_low) & (after <= problem.band_high) & (after <= problem.limit)
        fits = (received == 0) | (today[:, 0] + received <= problem.limit[:, 0])
        if inside[problem.stays].all() and fits.all():
            yield Placing(replicas, leader)


def test_a_small_part_is_decided_as_well_as_trying_all_placements_does() -> None:
    """Optimum of random weights within random limits; None where nothing is lawful."""
    draw, result, none = np.random.default_rng(8), 0, 0
    for case in range(30):
        rows = [((*draw.permutation(4)[:2].tolist(),), float(draw.integers(2, 9))) for _ in range(6)]
        limit = draw.choice([25.0, 40.0, 1e9], 4) if draw.random() < 0.7 else None
        closed = draw.permutation(4)[: draw.integers(0, 2)].tolist()
        problem = hand_problem(rows, 4, within=float(draw.choice([0.4, 0.8])), no_receivers=closed, disk_limit=limit)
        problem = replace(problem, takes_leaders=draw.random(4) < 0.8, topic=np.arange(6, dtype=np.int32))
        must_leave = draw.random((6, 2)) < 0.2
        open_rows = draw.permutation(6)[:3].tolist()
        must_leave[[p for p in range(6) if p not in open_rows]] = False
        own = problem.move_bytes[:, None] + draw.integers(-1, 2, (6, 2)) if case % 2 else None
        problem = replace(problem, must_leave=must_leave if must_leave.any() else None, own_disk=own)
        start = Placing(problem.replicas.copy(), problem.leader.copy())
        weight = CostTotals(*draw.choice([0.0, 0.1, 1.0], 4).tolist())
        most = CostTotals(*(float(draw.choice([limit, np.inf])) for limit in (9.0, 2.0, 6.0, 1.0)))
        part = Part(np.array(sorted(open_rows)), np.array([], dtype=np.int64), np.ones(4, dtype=np.bool_))
        decided = decided_anew(problem, start, part, Goal(weight, most), SteeringParams(gap=0.0, nodes=10_000))

        def worth(placing: Placing, problem: Problem = problem, weight: CostTotals = weight) -> float:
            costs = astuple(costs_of(problem, placing))
            return sum(item * cost for item, cost in zip(astuple(weight), costs, strict=True))

        lawful = [
            placing
            for placing in placements(problem, start, open_rows)
            if all(
                cost <= limit + 1e-9
                for cost, limit in zip(astuple(costs_of(problem, placing)), astuple(most), strict=True)
            )
        ]
        if not lawful:
            assert decided is None, case
            none += 1
            continue
        assert decided is not None, case
        assert worth(decided) == pytest.approx(min(map(worth, lawful)), abs=1e-4), case
        assert any(
            (item.replicas == decided.replicas).all() and (item.leader == decided.leader).all() for item in lawful
        )
        result += 1
    assert result >= 10
    assert none >= 3
    nothing = Part(np.array([], dtype=np.int64), np.array([], dtype=np.int64), np.ones(4, dtype=np.bool_))
    assert decided_anew(eight(), moved(0), nothing, Goal(CostTotals(bytes=1.0), ANY), SteeringParams()) is None


def test_the_first_cost_is_lowered_until_it_is_within_its_slack_then_the_next() -> None:
    least, params = CostTotals(bytes=100, busiest=10), SteeringParams()
    first = goal_of(CostTotals(bytes=150, busiest=12), least, ORDER, 0.1, params)
    assert first is not None
    share = params.others / 2  # of the costs that are not lowered now
    assert first.weight == CostTotals(bytes=share / 100, moves=0, busiest=1 / 10, leaders=0)
    assert first.most == ANY
    then = goal_of(CostTotals(bytes=150, busiest=11), least, ORDER, 0.1, params)
    assert then is not None
    assert then.weight == CostTotals(bytes=1 / 100, moves=0, busiest=share / 10, leaders=0)
    assert then.most.busiest == pytest.approx(11)
    assert goal_of(CostTotals(bytes=110, busiest=11), least, ORDER, 0.1, params) is None
    alone = goal_of(CostTotals(8, 8, 8, 8), CostTotals(4, 4, 4, 4), ("moves",), 0.1, params)
    assert alone is not None
    assert alone.weight == CostTotals(bytes=0, moves=1 / 4, busiest=0, leaders=0)


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
    assert (preferences(problem, 9.0) == 1).all()  # no broker may be so little busy
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
    result = steered(eight(), moved(0, 1, 2, 3), CostTotals(bytes=20, moves=2, busiest=20), ORDER, 0.05, seed=0)
    costs = costs_of(eight(), result)
    assert (costs.bytes, costs.busiest) == (20, 20)
    assert is_lawful(eight(), result)
    assert (
        steered(eight(), result, CostTotals(bytes=20, busiest=20), ORDER, 0.05, seed=0) is result
    )  # nothing is left to do
