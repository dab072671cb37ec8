from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.optimize

from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.planner.bounds import lower_bounds
from kafka_rebalance.planner.linear_program import programs
from kafka_rebalance.planner.linear_program.programs import Program, cheaper_plans
from kafka_rebalance.planner.linear_program.relaxation import Arcs, arcs_of, has_capacity, is_small, relax, rounded
from kafka_rebalance.planner.params import Effort, LinearProgramParams, NeighbourhoodParams, SolveParams
from kafka_rebalance.planner.replicas.search import start_sets
from kafka_rebalance.planner.solve import solve
from kafka_rebalance.planner.state import topic_excess
from kafka_rebalance.plans.request import build_request
from tests.sample import sample
from tests.unit.planner.sample_clusters import GB, brokers, cluster, random_cluster, row, with_capacity


def _problem(seed: int, within: float = 0.1, **fields: object) -> Problem:
    return build_request(random_cluster(seed), PlanOptions(within=within, **fields)).problem(within)


def test_prices_of_the_program_prove_its_own_optimum() -> None:
    problem = _problem(3)
    arcs = arcs_of(problem)
    relaxed = relax(problem, arcs, problem.band_low, problem.band_high)
    assert relaxed is not None
    copied = float((problem.move_bytes[arcs.row] * relaxed.share * ~arcs.is_kept).sum())
    bounds = lower_bounds(problem, prices=relaxed.prices)
    # The program adds a little for each move, so its prices are slightly lower.
    assert copied * 0.9999 <= bounds.parts["linear program"] <= copied * (1 + 1e-9)


@pytest.mark.parametrize("seed", sample(range(4), (0, 3)))
def test_a_plan_with_the_program_is_never_dearer_and_never_farther_outside(seed: int) -> None:
    problem = _problem(seed)
    alone = solve(problem, params=SolveParams(effort=Effort(program_steps=0, anneal_steps=0)))
    both = solve(problem, params=SolveParams(effort=Effort(program_steps=3)))
    assert _band_violation(problem, both.after) <= _band_violation(problem, alone.after) + 1e-6
    if _band_violation(problem, alone.after) <= 1e-9:
        assert both.cost.bytes <= alone.cost.bytes
    assert both.bounds.bytes.value >= alone.bounds.bytes.value
    assert both.topic_excess[1] <= max(alone.topic_excess)


@pytest.mark.parametrize("steps", sample((1, 3), (1,)))
def test_the_same_problem_has_the_same_plan_twice(steps: int) -> None:
    problem = _problem(1, remove_brokers=frozenset({4}))
    params = SolveParams(effort=Effort(program_steps=steps))
    first, second = solve(problem, seed=7, params=params), solve(problem, seed=7, params=params)
    assert first.replicas.tobytes() == second.replicas.tobytes()
    assert first.leader.tobytes() == second.leader.tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_each_neighbourhood_makes_the_plan_cheaper_and_breaks_no_rule(seed: int) -> None:
    problem = _problem(seed, 0.05)
    alone = solve(problem, params=SolveParams(effort=Effort(program_steps=0, anneal_steps=0)))
    arcs = arcs_of(problem)
    low, high = np.minimum(problem.band_low, alone.after), np.maximum(problem.band_high, alone.after)
    relaxed = relax(problem, arcs, low, high)
    assert relaxed is not None
    allowed = max(alone.topic_excess)
    paid, result = _paid(arcs, alone.replicas), 0
    for share in cheaper_plans(
        Program(problem, arcs, relaxed, (low, high)), alone.replicas, allowed=allowed, steps=12, seed=0
    ):
        result += 1
        assert set(np.unique(share).tolist()) <= {0.0, 1.0}
        assert (np.bincount(arcs.row, weights=share) == problem.target_rf).all()
        load = arcs.fixed.copy()
        np.add.at(load, arcs.broker, arcs.weight * share[:, None])
        assert (load <= high[:, arcs.columns] * (1 + 1e-9)).all()
        assert (load >= low[:, arcs.columns] * (1 - 1e-9)).all()
        replicas = rounded(problem, start_sets(problem), arcs, share).replicas
        assert topic_excess(problem.topic, replicas, problem.stays) <= allowed
        assert arcs.cost @ relaxed.share <= arcs.cost @ share < paid
        paid = float(arcs.cost @ share)
    assert result > 0


def test_a_step_ends_within_a_gap_of_the_whole_plan_told_as_a_share_of_its_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A fifth of the program's optimum over the open part's present cost: the row that it has to undercut."""
    problem = build_request(random_cluster(4, broker_count=6, topics=4), PlanOptions(within=0.2)).problem(0.2)
    solution = solve(
        problem, params=SolveParams(effort=Effort(rounds=2, polish_rounds=0, program_steps=0, anneal_steps=0))
    )
    bands = (np.minimum(problem.band_low, solution.after), np.maximum(problem.band_high, solution.after))
    arcs = arcs_of(problem)
    relaxed = relax(problem, arcs, *bands)
    assert relaxed is not None
    asked: list[tuple[float, np.ndarray]] = []

    def milp(*arguments: Any, constraints: Any, options: Any, **named: Any) -> Any:
        asked.append((options["mip_rel_gap"], constraints[0].ub))
        return scipy.optimize.milp(*arguments, constraints=constraints, options=options, **named)

    monkeypatch.setattr(programs, "milp", milp)
    fifth = NeighbourhoodParams(least_gap=0.2, gap_share=0.0, least_saving=0.0, near=(0.0, 0.0))
    program = Program(problem, arcs, relaxed, bands, LinearProgramParams(neighbourhoods=fifth))
    list(cheaper_plans(program, solution.replicas, allowed=999, steps=3, seed=0))
    best = float(arcs.cost @ relaxed.share)
    assert asked
    assert all(np.isclose(share * tops, 0.2 * best).any() for share, tops in asked)


def test_neighbourhoods_leave_what_nobody_can_beat() -> None:
    snapshot = cluster([row("t", p, [p % 3]) for p in range(6)], brokers(3))
    problem = build_request(snapshot, PlanOptions(within=0.1)).problem(0.1)
    arcs = arcs_of(problem)
    bands = (problem.band_low, problem.band_high)
    relaxed = relax(problem, arcs, *bands)
    assert relaxed is not None
    assert not list(cheaper_plans(Program(problem, arcs, relaxed, bands), problem.replicas, allowed=0, steps=4, seed=0))


def test_a_replica_where_none_may_be_ends_the_search_in_neighbourhoods() -> None:
    problem = _problem(0, remove_brokers=frozenset({4}))
    arcs = arcs_of(problem)
    bands = (np.zeros_like(problem.band_low), np.full_like(problem.band_high, np.inf))
    relaxed = relax(problem, arcs, *bands)
    assert relaxed is not None
    assert not list(
        cheaper_plans(Program(problem, arcs, relaxed, bands), problem.replicas, allowed=99, steps=4, seed=0)
    )


def test_whole_shares_are_taken_as_they_are() -> None:
    problem = _problem(2)
    arcs = arcs_of(problem)
    today = rounded(problem, start_sets(problem), arcs, arcs.is_kept.astype(float))
    assert (np.sort(today.replicas, axis=1) == np.sort(problem.replicas, axis=1)).all()


def test_new_copies_fit_beside_what_is_there() -> None:
    rows = [row("a", number, [0], 10 * GB) for number in range(6)]
    snapshot = cluster(rows, with_capacity(cluster(rows, brokers(3)), 25.0 * GB))
    problem = build_request(snapshot, PlanOptions(within=0.2)).problem(0.2)
    assert has_capacity(problem, np.array([[0], [0], [1], [1], [2], [2]], dtype=np.int32))
    assert not has_capacity(problem, np.array([[0], [1], [1], [1], [2], [2]], dtype=np.int32))


def test_a_large_cluster_is_left_to_the_search() -> None:
    problem = _problem(0)
    assert is_small(problem)
    assert not is_small(build_request(random_cluster(0, broker_count=300, topics=40), PlanOptions()).problem(0.1))


def _paid(arcs: Arcs, replicas: np.ndarray) -> float:
    return float(arcs.cost @ (replicas[arcs.row] == arcs.broker[:, None]).any(axis=1))


def _band_violation(problem: Problem, after: np.ndarray) -> float:
    outside = np.maximum(after - problem.band_high, 0) + np.maximum(problem.band_low - after, 0)
    mean = after[problem.stays].mean(axis=0)
    return float((outside[problem.stays] / np.where(mean > 0, mean, 1.0)).sum())
