from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from kafka_rebalance.cluster_arrays.problem import Budget, Problem, broker_loads
from kafka_rebalance.planner.params import TopicLeaderParams
from kafka_rebalance.planner.scales import resource_scale
from kafka_rebalance.planner.topic_leaders import (
    Choices,
    LeaderDemand,
    LedPlacement,
    all_choices,
    assigned,
    decide,
    other_leaders,
    other_replicas,
    with_least_leaders,
)
from tests.sample import for_each
from tests.unit.planner.hand_problems import hand_problem

PARAMS = TopicLeaderParams()
STEP_BY_STEP = replace(PARAMS, few_choices=0, all_choices=0)


def one_each(problem: Problem) -> LeaderDemand:
    """One leader on each broker, one topic."""
    return LeaderDemand(np.ones((1, problem.broker_count), np.int64), np.zeros(problem.partition_count, np.int32))


def placed(problem: Problem) -> LedPlacement:
    return LedPlacement(problem, problem.replicas, problem.leader, 0.01)


def ways(choices: Choices) -> set[tuple[int, tuple[int, ...], int]]:
    """Partition, brokers, leader."""
    lists = (tuple(sorted(b for b in row if b >= 0)) for row in choices.lists.tolist())
    return set(zip(choices.rows.tolist(), lists, choices.leaders.tolist(), strict=True))


def test_what_is_lacking_is_counted_by_topic_and_broker() -> None:
    demand = LeaderDemand(np.array([[2, 1, 0], [0, 0, 3]]), np.array([0, 0, 1, -1], np.int32))
    leader = np.array([0, 1, 2, 2], np.int32)
    assert demand.led(leader).tolist() == [[1, 1, 0], [0, 0, 1]]
    assert demand.lacking(leader).tolist() == [[1, 0, 0], [0, 0, 2]]
    assert demand.lacking_of(0, np.array([1, -1], np.int32)).tolist() == [2, 0, 0]
    assert [rows.tolist() for rows in demand.rows_by_topic()] == [[0, 1], [2]]


def test_other_leaders_are_the_other_replicas_that_may_lead() -> None:
    problem = hand_problem([((0, 1, 2), 1.0), ((2,), 1.0)], 3)
    rows = np.arange(2)
    assert ways(other_leaders(problem, rows, problem.replicas, problem.leader)) == {
        (0, (0, 1, 2), 1), (0, (0, 1, 2), 2),
    }  # fmt: skip
    demoted = replace(problem, takes_leaders=np.array([True, False, True]))
    assert ways(other_leaders(demoted, rows, problem.replicas, problem.leader)) == {(0, (0, 1, 2), 2)}


def test_another_replica_keeps_racks_and_goes_only_where_it_may() -> None:
    """Racks 0, 1, 0, 1: broker 2 replaces broker 0 and 3 replaces 1, or both replicas share a rack."""
    problem = hand_problem([((0, 1), 1.0)], 4, racks=[0, 1, 0, 1], no_receivers=[3])
    rows = np.arange(1)
    assert ways(other_replicas(problem, rows, problem.replicas, problem.leader, 2)) == {(0, (1, 2), 2)}
    assert ways(other_replicas(problem, rows, problem.replicas, problem.leader, 3)) == set()
    assert ways(other_replicas(problem, rows, problem.replicas, problem.leader, 1)) == set()


def test_all_choices_are_all_lists_and_leaders_but_the_placement_itself() -> None:
    problem = hand_problem([((0, 1), 1.0)], 3)
    every = all_choices(problem, np.arange(1), problem.replicas, problem.leader, 100)
    assert every is not None
    assert ways(every) == {(0, pair, b) for pair in ((0, 1), (0, 2), (1, 2)) for b in pair} - {(0, (0, 1), 0)}
    assert all_choices(problem, np.arange(1), problem.replicas, problem.leader, 5) is None
    still = replace(problem, moves_replicas=False)
    every = all_choices(still, np.arange(1), problem.replicas, problem.leader, 100)
    assert every is not None
    assert ways(every) == {(0, (0, 1), 1)}


def test_an_offline_replica_neither_leads_nor_comes_back() -> None:
    problem = hand_problem([((0, 1), 1.0)], 3)
    offline = replace(problem, must_leave=np.array([[False, True]]))
    moved = np.array([[0, 2]], np.int32)
    every = all_choices(offline, np.arange(1), moved, problem.leader, 100)
    assert every is not None
    assert ways(every) == {(0, (0, 2), 2)}


@for_each("seed", range(20))
def test_loads_and_costs_of_choices_are_those_of_the_placement_that_they_make(seed: int) -> None:
    """Random choices: the sum of their effects equals a new count."""
    draw = np.random.default_rng(seed)
    rows = [(tuple(map(int, draw.permutation(4)[: draw.integers(1, 4)])), float(draw.integers(1, 9))) for _ in range(5)]
    problem = hand_problem(rows, 4, resources=("disk", "in", "leaders"), rates=draw.uniform(1, 9, 5).tolist())
    own = np.where(
        problem.replicas >= 0, problem.move_bytes[:, None] * draw.uniform(0.5, 1.0, problem.replicas.shape), 0
    )
    placement = placed(replace(problem, own_disk=own, budget=Budget(max_bytes=100.0)))
    every = all_choices(problem, np.arange(5), placement.lists, placement.leader, 1000)
    assert every is not None
    for row in draw.permutation(5).tolist():
        mine = every.take(every.rows == row)
        if not len(mine):
            continue
        picked = mine.take(draw.integers(0, len(mine), 1))
        costs, spent, outside = placement.costs(picked), placement.spent(), placement.outside()
        harm, _ = placement.effect(picked)
        placement.apply(picked)
        after = np.array(placement.spent()) - spent
        assert after == pytest.approx([costs.copies[0], costs.copied_bytes[0], costs.leader_changes[0]])
        assert placement.outside() - outside == pytest.approx(harm[0], abs=1e-9)
    again = broker_loads(placement.problem, placement.lists, placement.leader) / resource_scale(problem)
    assert placement.load == pytest.approx(again)


def test_limits_and_budgets_forbid_a_choice() -> None:
    problem = hand_problem([((0, 1), 5.0), ((2,), 5.0)], 3, disk_limit=[100.0, 100.0, 9.0])
    to_two = other_replicas(problem, np.arange(1), problem.replicas, problem.leader, 2)
    assert not placed(problem).effect(to_two)[1].any()
    roomy = replace(problem, limit=np.full_like(problem.limit, 100.0))
    assert placed(roomy).effect(to_two)[1].all()
    for budget in (Budget(max_bytes=4.0), Budget(max_replica_moves=0), Budget(max_leader_changes=0)):
        assert not placed(replace(roomy, budget=budget)).effect(to_two)[1].any()


def test_the_program_takes_the_way_that_leaves_less_outside_bands() -> None:
    """Of partitions of 1 and 6 that 0 leads, 1 gets the light one: both stay inside."""
    problem = hand_problem([((0, 1), 6.0), ((0, 1), 1.0), ((1, 0), 5.0)], 2, resources=("in",), rates=[6.0, 1.0, 5.0])
    demand = LeaderDemand(np.array([[1, 2]]), np.zeros(3, np.int32))
    placement = placed(problem)
    choices = other_leaders(problem, np.arange(3), placement.lists, placement.leader)
    chosen = decide(placement, demand, choices, PARAMS)
    assert chosen is not None
    assert (len(chosen.made), chosen.least_lacking) == (1, 0)


def test_the_program_proves_what_cannot_be() -> None:
    """Broker 2 holds nothing, and nothing may be copied."""
    problem = replace(hand_problem([((0, 1), 1.0)] * 3, 3), moves_replicas=False)
    led = with_least_leaders(problem, one_each(problem), problem.replicas, problem.leader, PARAMS)
    assert (led.lacking, led.is_proved) == (1, True)
    stepwise = with_least_leaders(problem, one_each(problem), problem.replicas, problem.leader, STEP_BY_STEP)
    assert (stepwise.lacking, stepwise.is_proved) == (1, False)


def test_nothing_is_changed_where_nothing_lacks() -> None:
    problem = hand_problem([((0, 1), 1.0), ((1, 2), 1.0), ((2, 0), 1.0)], 3)
    led = with_least_leaders(problem, one_each(problem), problem.replicas, problem.leader)
    assert np.array_equal(led.lists, problem.replicas)
    assert np.array_equal(led.leader, problem.leader)


def test_steps_come_by_way_of_a_third_broker() -> None:
    """0 has two, 1 one, 2 none; 2 holds only 1's partitions, 1 holds 0's: two changes, no copy."""
    problem = replace(hand_problem([((0, 1), 1.0), ((0,), 1.0), ((1, 2), 1.0)], 3), moves_replicas=False)
    led = with_least_leaders(problem, one_each(problem), problem.replicas, problem.leader, STEP_BY_STEP)
    assert led.leader.tolist() == [1, 0, 2]


def test_an_assignment_copies_no_more_than_the_lists_ask_for() -> None:
    """Only 0 and 1 hold anything: 2 and 3 need a copy each, and 1 leads what it holds."""
    problem = hand_problem([((0, 1), 1.0)] * 5, 4)
    placement = placed(problem)
    choices = assigned(placement, np.ones(4, np.int64), np.arange(5), PARAMS)
    assert sorted(choices.leaders.tolist()) == [1, 2, 3]
    assert sorted(placement.costs(choices).copies.tolist()) == [0, 1, 1]
    assert len(set(choices.rows.tolist())) == 3
    still = placed(replace(problem, moves_replicas=False))
    assert assigned(still, np.ones(4, np.int64), np.arange(5), PARAMS).leaders.tolist() == [1]


def test_an_assignment_takes_what_harms_bands_least() -> None:
    """Of 6 and 1 the light one goes, wherever it is; a broker with enough gets nothing."""
    rows = [((0, 1), 6.0), ((0, 1), 1.0), ((1,), 5.0)]
    for order in itertools.permutations(range(3)):
        turned = [rows[at] for at in order]
        problem = hand_problem(turned, 2, resources=("out",), rates=[rate for _, rate in turned])
        choices = assigned(placed(problem), np.array([1, 2]), np.arange(3), PARAMS)
        assert ways(choices) == {(order.index(1), (0, 1), 1)}
    problem = hand_problem(rows[:2], 2, resources=("out",), rates=[6.0, 1.0])
    assert not len(assigned(placed(problem), np.array([1, 0]), np.arange(2), PARAMS))


def test_more_than_there_are_partitions_leaves_some_lacking() -> None:
    problem = hand_problem([((0, 1, 2), 1.0)] * 2, 3)
    led = with_least_leaders(problem, one_each(problem), problem.replicas, problem.leader, STEP_BY_STEP)
    assert led.lacking == 1
    assert sorted(led.leader.tolist()) in ([0, 1], [0, 2], [1, 2])


def test_other_leaders_mend_what_the_leaders_of_a_topic_left_outside_bands() -> None:
    """1 must lead the heavy one of t; of the other topics of 0 and 1 two leaders change back in rounds."""
    rows = [((0, 1), 4.0), *[((0, 1), 1.0)] * 2, *[((1, 0), 1.0)] * 6]
    problem = hand_problem(rows, 2, within=0.2, resources=("out",), rates=[size for _, size in rows])
    demand = LeaderDemand(np.array([[0, 1]]), np.array([0, *[-1] * 8], np.int32))
    rounds = replace(STEP_BY_STEP, topic_choices=0)
    led = with_least_leaders(problem, demand, problem.replicas, problem.leader, rounds)
    assert (led.lacking, int(led.leader[0])) == (0, 1)
    out = broker_loads(problem, led.lists, led.leader)[:, 0]
    assert (np.abs(out / out.mean() - 1) <= 0.2 + 1e-9).all()
    unmended = replace(rounds, mend_rounds=0)
    led = with_least_leaders(problem, demand, problem.replicas, problem.leader, unmended)
    assert broker_loads(problem, led.lists, led.leader)[:, 0].tolist() == [4.0, 20.0]


def test_step_by_step_finds_what_all_at_once_does() -> None:
    """On random small problems both ways lack nothing, or equally much."""
    for seed in range(15):
        draw = np.random.default_rng(seed)
        rows = [(tuple(map(int, draw.permutation(4)[:2])), float(draw.integers(1, 5))) for _ in range(6)]
        problem = hand_problem(rows, 4, within=0.9)
        results = [
            with_least_leaders(problem, one_each(problem), problem.replicas, problem.leader, params)
            for params in (PARAMS, STEP_BY_STEP)
        ]
        assert [led.lacking for led in results] == [0, 0], seed


def test_a_budget_makes_as_many_of_the_changes_as_it_allows() -> None:
    """0 leads all five: of three that lack a leader each leader change gives one, in any order."""
    problem = replace(hand_problem([((0, 1, 2, 3), 1.0)] * 5, 4), moves_replicas=False)
    for allowed in range(5):
        limited = replace(problem, budget=Budget(max_leader_changes=allowed))
        for params in (STEP_BY_STEP, replace(STEP_BY_STEP, topic_choices=0), PARAMS):
            led = with_least_leaders(limited, one_each(limited), limited.replicas, limited.leader, params)
            assert (led.lacking, int((led.leader != 0).sum())) == (max(3 - allowed, 0), min(allowed, 3))


def test_without_choices_all_that_lacks_goes_on_lacking() -> None:
    problem = hand_problem([((0, 1), 1.0)] * 2, 3)
    none = other_leaders(problem, np.zeros(0, np.int64), problem.replicas, problem.leader)
    result = decide(placed(problem), one_each(problem), none, PARAMS)
    assert result is not None
    assert (len(result.made), result.least_lacking) == (0, 2)
