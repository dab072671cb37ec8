"""Programs on three brokers with 15, 10 and 5 GB in 6, 4 and 5: 4 GB from 0 to 2 is the least for 8..12."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kafka_rebalance.cluster_arrays.problem import broker_loads
from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.planner.bounds import lower_bounds
from kafka_rebalance.planner.linear_program import programs, relaxation
from kafka_rebalance.planner.linear_program.programs import improve_with_lp
from kafka_rebalance.planner.linear_program.relaxation import (
    Decision,
    arcs_of,
    decided_by,
    has_capacity,
    is_small,
    is_tiny,
    program_starts,
    relax,
    whole_plan,
)
from kafka_rebalance.planner.params import ArcParams, Effort, LinearProgramParams, SolveParams, WholePlanParams
from kafka_rebalance.planner.placed import Placed, better, in_kafka_order, place, plan_cost
from kafka_rebalance.planner.replicas.search import search_replicas, start_sets
from kafka_rebalance.planner.solution import PlanCost, SearchStatistics
from kafka_rebalance.planner.solve import solve
from kafka_rebalance.planner.state import WorkingBands, working_bands
from tests.unit.planner.hand_problems import THREE, hand_problem
from tests.unit.planner.pinned_problems import tiny_problem

PROBLEM = hand_problem(THREE, 3, within=0.2)
BANDS = working_bands(PROBLEM, PROBLEM.band_low, PROBLEM.band_high)


def test_the_whole_program_finds_the_cheapest_plan() -> None:
    whole = whole_plan(PROBLEM, BANDS)
    assert whole is not None
    assert [sorted(row) for row in whole.replicas.tolist()] == [[0, 1], [1, 2], [0, 2]]
    assert whole.replicas[np.arange(3), whole.replica_index][[0, 2]].tolist() == [
        0,
        0,
    ]  # leaders stay where nothing moved


def test_no_plan_ends_within_a_hundredth() -> None:
    """10 is 6 + 4 on two brokers, but not 5 + 5 on the third: a broker holds one replica of a partition."""
    narrow = hand_problem(THREE, 3, within=0.01)
    assert whole_plan(narrow, working_bands(narrow, narrow.band_low, narrow.band_high)) is None


def test_what_is_tiny() -> None:
    assert is_tiny(PROBLEM)
    assert not is_tiny(replace(PROBLEM, elects_preferred=True))
    assert not is_tiny(hand_problem([((0,), 1.0)] * (WholePlanParams().most_pairs // 3 + 1), 3))


def test_programs_make_the_plan_that_keeps_the_bands() -> None:
    today = place(PROBLEM, PROBLEM.replicas, BANDS)
    assert today.band_violation == pytest.approx(0.6)  # 3 above 12 and 3 below 8, in means of 10
    result, bounds = improve_with_lp(
        PROBLEM, start_sets(PROBLEM), BANDS, today, lower_bounds(PROBLEM), seed=0, params=SolveParams()
    )
    assert (result.band_violation, result.cost.bytes, result.cost.replica_moves) == (0.0, 4.0, 1)
    assert bounds.bytes.value == pytest.approx(3.0, rel=1e-3)


def test_one_program_is_solved_where_leaders_alone_are_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """One partition sends out 90 of 100 a second: no leader is within the bands. The bands of disk are met."""
    solved = []

    def counted(*arguments: Any) -> Any:
        solved.append(arguments)
        return relax(*arguments)

    problem = hand_problem(THREE, 3, within=0.2, resources=("disk", "out"), rates=[90.0, 5.0, 5.0])
    no_whole_plan = replace(SolveParams().linear_program, whole_plan=WholePlanParams(most_pairs=0))
    params = replace(SolveParams(), linear_program=no_whole_plan)
    monkeypatch.setattr(programs, "relax", counted)
    solution = solve(problem, params=params)
    # Once for the requested bands, once for the reached ones.
    assert (solution.after[:, 0].tolist(), len(solved)) == ([11.0, 10.0, 9.0], 2)
    # With disk outside as well, the requested bands have nothing to price: only the reached ones count.
    narrow = hand_problem(THREE, 3, within=0.01, resources=("disk", "out"), rates=[90.0, 5.0, 5.0])
    solve(narrow, params=params)
    assert len(solved) == 3


def test_a_start_that_ends_stranded_is_passed_over_and_what_it_did_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first start strands a replica after seven moves; the second finds the plan."""
    searches = []

    def first_stranded(*arguments: Any, **named: Any) -> Any:
        searches.append(search_replicas(*arguments, **named))
        is_first = len(searches) == 1
        return replace(searches[-1], stranded=1, statistics=SearchStatistics(pushed=7)) if is_first else searches[-1]

    monkeypatch.setattr(relaxation, "search_replicas", first_stranded)
    params = replace(SolveParams(), linear_program=LinearProgramParams(whole_plan=WholePlanParams(most_pairs=0)))
    today = place(PROBLEM, PROBLEM.replicas, BANDS)
    result, _ = improve_with_lp(
        PROBLEM, start_sets(PROBLEM), BANDS, today, lower_bounds(PROBLEM), seed=0, params=params
    )
    assert (result.band_violation, result.cost.bytes, len(searches)) == (0.0, 4.0, 2)
    assert result.statistics.pushed == 7 + searches[1].statistics.pushed


def test_the_partition_that_cannot_leave_its_broker_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = hand_problem([((0,), 1.0), ((1,), 1.0)], 3, leaving=[1])

    def stranded(*arguments: Any, **named: Any) -> Any:
        return replace(search_replicas(*arguments, **named), stranded=1, replicas=problem.replicas)

    module = sys.modules[solve.__module__]
    monkeypatch.setattr(module, "search_replicas", stranded)
    monkeypatch.setattr(module, "smallest_cause", lambda *_: None)
    monkeypatch.setattr(module, "decided", lambda *_: Decision(None))
    with pytest.raises(InfeasibleError) as error:
        solve(problem)
    assert error.value.cause == fact(FactCode.NO_ROOM_FOR_REPLICA, partition=problem.name_of(1), is_proved=False)


@pytest.mark.parametrize("seed", [76, 541, 793])
def test_where_no_plan_meets_the_bands_none_that_comes_as_near_is_cheaper(seed: int) -> None:
    """Bands are widened equally for remaining brokers until the plan is inside."""
    problem = tiny_problem(seed)
    params = SolveParams(effort=Effort(rounds=1, last_rounds=0, polish_rounds=0, anneal_steps=0, program_steps=4))
    solution, bands = solve(problem, params=params), working_bands(problem, problem.band_low, problem.band_high)
    assert whole_plan(problem, bands) is None
    low, high = bands.low.copy(), bands.high.copy()
    for d in range(low.shape[1]):
        staying = [b for b in range(problem.broker_count) if problem.stays[b]]
        ratios = [(solution.after[b, d] / high[b, d] if high[b, d] > 0 else 1.0) for b in staying]
        high[:, d] *= max(1.0, *ratios)
        ratios = [(solution.after[b, d] / low[b, d] if low[b, d] > 0 else 1.0) for b in staying]
        low[:, d] *= min(1.0, *ratios)
    whole = whole_plan(problem, WorkingBands(low, high))
    if whole is not None:
        least = place(problem, whole.replicas, bands, replica_index=whole.replica_index).cost.bytes
        assert solution.cost.bytes == pytest.approx(least)


def test_a_start_for_bands_that_hold_today_is_today() -> None:
    arcs, reached = arcs_of(PROBLEM), broker_loads(PROBLEM, PROBLEM.replicas, PROBLEM.leader)
    narrow = working_bands(PROBLEM, PROBLEM.band_low + 1.9, PROBLEM.band_high - 1.9)
    first = next(program_starts(PROBLEM, start_sets(PROBLEM), arcs, None, narrow, reached))
    assert first.replicas.tolist() == PROBLEM.replicas.tolist()


def test_starts_are_lawful_sets_of_the_wanted_size() -> None:
    arcs = arcs_of(PROBLEM)
    relaxed = relax(PROBLEM, arcs, BANDS.low, BANDS.high)
    starts = list(program_starts(PROBLEM, start_sets(PROBLEM), arcs, relaxed, BANDS, np.zeros((3, 1))))
    assert len(starts) > 1  # the program itself, a dive, and narrower bands
    for start in starts:
        assert all(len(set(row)) == 2 and set(row) <= {0, 1, 2} for row in start.replicas.tolist())


def test_what_is_decided_first_is_the_heavier_half_of_what_is_split() -> None:
    """Of 6, 4 and 5 all are split: 6 and 5 are decided as rounded, 4 stays open. ``unused_share`` 0.25 is no split."""
    arcs = arcs_of(PROBLEM)
    share, nothing = np.full(len(arcs.row), 0.5), np.full(len(arcs.row), np.nan)
    params = ArcParams(unused_share=0.1)
    result = decided_by(PROBLEM, arcs, share, PROBLEM.replicas, nothing, params)
    assert [np.isnan(result[arcs.row == row]).all() for row in range(3)] == [False, True, False]
    assert result[arcs.row == 0].tolist() == [1.0, 1.0, 0.0]
    assert result[arcs.row == 2].tolist() == [1.0, 0.0, 1.0]
    for whole in (0.1, 1 - 0.1):
        assert np.isnan(
            decided_by(PROBLEM, arcs, np.full(len(arcs.row), whole), PROBLEM.replicas, nothing, params)
        ).all()


def test_tiny_is_a_number_of_pairs_and_small_another() -> None:
    """Three partitions on three brokers are nine pairs."""
    assert [is_tiny(PROBLEM, WholePlanParams(most_pairs=pairs)) for pairs in (8, 9)] == [False, True]
    assert [is_small(PROBLEM, ArcParams(most_arcs=pairs)) for pairs in (8, 9)] == [False, True]
    assert not is_tiny(replace(PROBLEM, elects_preferred=True))


def test_a_copy_beside_enough_of_its_topic_costs_a_little_more() -> None:
    """Four partitions of one topic, three on broker 0: with one remaining broker its share is four, with two, two."""
    rows = [((0,), 4.0), ((0,), 4.0), ((0,), 4.0), ((1,), 4.0)]
    for leaving, crowd in (([1], 0.0), ([], 2.0)):
        problem = hand_problem(rows, 2, leaving=leaving)
        plain, crowded = (arcs_of(problem, ArcParams(cost_of_crowding=cost)).cost for cost in (0.0, 0.25))
        arcs = arcs_of(problem)
        fourth = (arcs.row == 3) & (arcs.broker == 0)
        assert crowded[fourth] - plain[fourth] == pytest.approx(0.25 * crowd * plain[fourth])


def test_capacity_is_asked_of_who_gains_and_while_both_copies_exist() -> None:
    """Broker 2 holds 5: 4 more fill a disk of 9; 8.9 is too small, even if the 5 leave for broker 1."""
    moved, swapped = PROBLEM.replicas.copy(), PROBLEM.replicas.copy()
    moved[1] = (2, 1)
    swapped[1:] = ((2, 1), (0, 1))
    for limit, fits in ((9.0, True), (8.9, False)):
        problem = hand_problem(THREE, 3, within=0.2, disk_limit=[14.0, 99.0, limit])  # broker 0 is above its own
        assert has_capacity(problem, PROBLEM.replicas)
        assert has_capacity(problem, moved) == fits
        assert has_capacity(problem, swapped) == fits


def test_a_plans_cost_counts_copies_bytes_and_leaders() -> None:
    moved = np.array([[0, 1], [1, 2], [0, 2]], dtype=np.int32)
    assert plan_cost(PROBLEM, moved, np.array([0, 1, 2])) == PlanCost(4.0, 1, 2)
    assert plan_cost(PROBLEM, PROBLEM.replicas, PROBLEM.leader) == PlanCost(0.0, 0, 0)


def test_rows_are_leader_first_then_who_stays_then_who_is_new() -> None:
    problem = hand_problem([((0, 1, 2), 1.0), ((0, 1, 2), 1.0), ((1, 0, 2), 1.0)], 5)
    result = np.array([[3, 2, 0], [2, 1, 0], [2, 0, 1]], dtype=np.int32)
    ordered, leader = in_kafka_order(problem, result, np.array([1, 2, 2], dtype=np.int32))
    assert leader.tolist() == [2, 0, 1]
    assert ordered.tolist() == [[2, 0, 3], [0, 1, 2], [1, 0, 2]]  # the last two sets and leaders are today's


def placed(band_violation: float, size: float, topic_excess: int = 0) -> Placed:
    nothing = np.zeros((0, 0), dtype=np.int32)
    return Placed(nothing, nothing, PlanCost(size, 1, 0), np.zeros((0, 0)), band_violation, topic_excess)


def test_inside_comes_before_bytes_and_a_worse_spread_is_no_improvement() -> None:
    outside, inside, dear = placed(0.5, 1.0), placed(0.0, 9.0), placed(0.0, 10.0)
    assert better(outside, dear, 0) is dear
    assert better(dear, inside, 0) is inside
    assert better(inside, dear, 0) is inside
    assert better(dear, placed(0.0, 5.0, topic_excess=1), 0) is dear
    assert better(inside, placed(0.0, 9.0), 0) is inside  # equal is no reason for another plan
    crowded = placed(0.0, 5.0, topic_excess=1)
    assert better(outside, crowded, 0) is crowded  # nothing inside was found: spread is not considered


def test_near_is_inside_and_within_a_share_of_the_bound() -> None:
    assert placed(0.0, 100.1).is_near(100.0)
    assert not placed(0.0, 100.3).is_near(100.0)
    assert not placed(0.1, 100.0).is_near(100.0)
    assert placed(0.0, 101.0).is_near(100.0, 0.01)
