from __future__ import annotations

from dataclasses import fields, replace

import numpy as np

from kafka_rebalance.planner.params import Effort, GapParams, SolveParams
from kafka_rebalance.planner.placed import better, place
from kafka_rebalance.planner.solution import NOTHING_DONE, SearchStatistics
from kafka_rebalance.planner.solve import solve
from kafka_rebalance.planner.state import working_bands
from kafka_rebalance.plans.params import DEFAULTS
from tests.unit.planner.hand_problems import THREE, hand_problem

# Broker 0 holds 20, 1 and 2 hold 10 and 0: one partition of 10 has to go from 0 to 2.
ONE_MOVE = [((0,), 10.0), ((0,), 10.0), ((1,), 10.0)]


def test_they_add_up_field_by_field() -> None:
    first = SearchStatistics(**{field.name: i for i, field in enumerate(fields(SearchStatistics))})
    two = SearchStatistics(pushed=10, leaders_changed=20)
    assert first + two == replace(first, pushed=first.pushed + 10, leaders_changed=first.leaders_changed + 20)
    assert (first + two).total == first.total + 30
    assert NOTHING_DONE + first == first
    assert NOTHING_DONE.total == 0


def test_the_move_that_is_needed_is_counted_once() -> None:
    solution = solve(hand_problem(ONE_MOVE, 3), params=SolveParams(effort=Effort(anneal_steps=0, program_steps=0)))
    done = solution.statistics
    assert solution.cost.replica_moves == 1
    assert done.released + done.pushed + done.finished + done.pulled == 1
    assert (done.annealed, done.neighbourhoods) == (0, 0)


def test_where_nothing_is_to_do_nothing_is_counted() -> None:
    assert solve(hand_problem([((0,), 1.0), ((1,), 1.0)], 2)).statistics == NOTHING_DONE


def test_of_two_placements_the_chosen_one_tells_what_both_took() -> None:
    problem = hand_problem(THREE, 3)
    bands = working_bands(problem, problem.band_low, problem.band_high)
    today = place(problem, problem.replicas, bands, done=SearchStatistics(pushed=2))
    moved = problem.replicas.copy()
    moved[0] = (1, 2)
    other = place(problem, moved, bands, done=SearchStatistics(pulled=3))
    for chosen in (better(today, other, 100), better(other, today, 100)):
        assert (chosen.statistics.pushed, chosen.statistics.pulled) == (2, 3)


def test_parameters_decide_whether_a_plan_is_annealed() -> None:
    problem = hand_problem(ONE_MOVE, 3)
    near = SolveParams(effort=Effort(program_steps=0, anneal_steps=50))
    never = replace(near, gaps=GapParams(far=1e9))
    plans = [solve(problem, params=params) for params in (near, never, DEFAULTS.budget.solve)]
    assert all(plan.cost.bytes == 10.0 for plan in plans)
    assert never.gaps.far > near.gaps.far
    assert np.array_equal(plans[0].replicas, plans[1].replicas)
    assert plans[1].statistics.annealed == 0
