from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.cluster_arrays.snapshot_arrays import Wanted, assemble
from kafka_rebalance.planner.linear_program.programs import annealed_again, annealing
from kafka_rebalance.planner.linear_program.relaxation import Task, has_capacity, spread_allowed
from kafka_rebalance.planner.params import (
    ArcParams,
    BoldAnnealParams,
    LargeAnnealParams,
    LinearProgramParams,
    RestrictedParams,
    SolveParams,
)
from kafka_rebalance.planner.placed import Placed, place
from kafka_rebalance.planner.replicas.search import search_replicas, start_sets
from kafka_rebalance.planner.solve import solve
from kafka_rebalance.planner.state import ReplicaSets, working_bands
from tests.benchmarks.generated import generated


def cluster(seed: int = 0, within: float = 0.05) -> Problem:
    """Ten brokers on five racks, 300 partitions of three replicas."""
    flags, placement = generated(10, 300, 5, seed=seed)
    return assemble(flags, placement, Wanted(within=within, resources=("disk", "in", "replicas")))


def searched(problem: Problem, params: SolveParams) -> tuple[Task, Placed]:
    """Plan of the search, and the task to make it cheaper."""
    sets, bands = start_sets(problem), working_bands(problem, problem.band_low, problem.band_high)
    result = place(problem, search_replicas(problem, sets, bands, seed=0, params=params).replicas, bands, params)
    return Task(problem, sets, bands, spread_allowed(problem, result, 0.0), 0, params), result


def test_annealing_is_as_long_in_wide_bands_and_bolder_than_elsewhere() -> None:
    params = SolveParams()
    longer = annealing(params, 3)
    assert longer.effort.anneal_steps == 3 * params.effort.anneal_steps
    assert longer.replicas.kernels.anneal == params.linear_program.bold.anneal
    assert longer.replicas.kernels.anneal.outside_price < params.replicas.kernels.anneal.outside_price
    assert longer.replicas.narrow_band >= 1.0, "no band is wider than a mean load"
    assert replace(longer, effort=params.effort, replicas=params.replicas) == params, "all else is as it was"


def test_low_prices_of_what_is_outside_find_cheaper_plans() -> None:
    """Six clusters, equal steps: never dearer than the plan, cheaper on average than at prohibitive prices."""
    saved = []
    for seed in range(6):
        params = SolveParams()
        task, result = searched(cluster(seed), params)
        start, bold = ReplicaSets(result.replicas, task.sets.original), annealing(params, 1)
        usual = task.annealed(result, start, replace(bold, replicas=replace(params.replicas, narrow_band=1.0)))
        other = task.annealed(result, start, bold)
        assert other.worth <= result.worth
        assert has_capacity(task.problem, other.replicas)
        if max(result.band_violation, usual.band_violation, other.band_violation) <= 0:
            saved.append(1 - other.cost.bytes / usual.cost.bytes)
    assert len(saved) >= 3
    assert np.mean(saved) > 0


def test_each_seed_begins_where_the_last_one_ended_and_none_makes_it_worse() -> None:
    """Four clusters; at least one becomes cheaper at the second seed or later."""
    later = 0
    for seed in range(4):
        task, result = searched(cluster(seed), SolveParams())
        first = annealed_again(task, result, 1, 1, least=0.0, near=0.0)
        four = annealed_again(task, result, 4, 1, least=0.0, near=0.0)
        assert four.worth <= first.worth <= result.worth
        assert has_capacity(task.problem, four.replicas)
        assert four.statistics.annealed >= first.statistics.annealed
        later += four.worth < first.worth
    assert later


def test_it_ends_when_the_plan_is_near_enough_and_does_nothing_without_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    task, result = searched(cluster(), SolveParams())
    seeds: list[int] = []

    def counted(self: Task, best: Placed, start: ReplicaSets, params: SolveParams, number: int = 0) -> Placed:
        seeds.append(number)
        return best

    monkeypatch.setattr(Task, "annealed", counted)
    assert result.band_violation <= 0
    assert annealed_again(task, result, 3, 1, least=result.cost.bytes, near=0.001) is result
    assert seeds == [], "no dearer than its bound"
    annealed_again(task, result, 3, 1, least=result.cost.bytes / 2, near=0.001)
    assert seeds == [1, 2, 3]
    still = replace(task.params, effort=replace(task.params.effort, anneal_steps=0))
    assert annealed_again(replace(task, params=still), result, 3, 1, least=0.0, near=0.0) is result
    assert seeds == [1, 2, 3]


@pytest.mark.usefixtures("whole_search")
def test_plans_of_small_clusters_are_cheaper_for_it() -> None:
    """Four clusters at 3 %, with fewer parts decided anew than usual: the sum of their bytes is lower."""
    tries, total = (0, 4), [0.0, 0.0]
    for seed in range(4):
        problem = cluster(seed, within=0.03)
        for i, number in enumerate(tries):
            programs = LinearProgramParams(bold=BoldAnnealParams(tries=number))
            params = SolveParams(linear_program=programs)
            solution = solve(problem, params=replace(params, effort=replace(params.effort, program_steps=2)))
            assert solution.bounds.bytes.value <= solution.cost.bytes
            total[i] += solution.cost.bytes
    assert total[1] < total[0]


def test_what_is_too_large_for_programs_is_annealed_once_more() -> None:
    """Four clusters at 3 %, taken for large ones: no plan is dearer, some are cheaper, and all keep what they must."""
    total = [0.0, 0.0]
    for seed in range(4):
        problem = cluster(seed, within=0.03)
        for i, times in enumerate((0, 1)):
            programs = LinearProgramParams(
                arcs=ArcParams(most_arcs=0),
                restricted=RestrictedParams(most_pairs=0),
                large=LargeAnnealParams(times=times),
            )
            solution = solve(problem, params=SolveParams(linear_program=programs))
            assert has_capacity(problem, solution.replicas)
            assert solution.bounds.bytes.value <= solution.cost.bytes
            total[i] += solution.cost.bytes
    assert total[1] < total[0]


def test_it_ends_after_so_many_seeds_in_a_row_that_found_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seeds 1, 2 and 4 improve; after six more it stops, though far from the bound."""
    task, result = searched(cluster(), SolveParams())
    seeds: list[int] = []

    def counted(self: Task, best: Placed, start: ReplicaSets, params: SolveParams, number: int = 0) -> Placed:
        seeds.append(number)
        cheaper = replace(best.cost, bytes=best.cost.bytes - 1) if number in (1, 2, 4) else best.cost
        return replace(best, cost=cheaper)

    monkeypatch.setattr(Task, "annealed", counted)
    annealed_again(task, result, 20, 1, least=0.0, near=0.0)
    assert task.params.linear_program.bold.patience == 6
    assert seeds == list(range(1, 4 + 6 + 1))


def test_one_pass_polishes_where_replicas_are_many() -> None:
    """A second pass saves more here. Above ``many_replicas`` there is only one: a pass takes a second there."""
    problem = cluster()
    sets, bands = start_sets(problem), working_bands(problem, problem.band_low, problem.band_high)

    def polished(rounds: int, **limits: int) -> list[list[int]]:
        params = SolveParams()
        effort = replace(params.effort, anneal_steps=0, program_steps=0, polish_rounds=rounds)
        replicas = replace(params.replicas, least_pass_saving=0.0, **limits)  # type: ignore[arg-type]
        params = replace(params, effort=effort, replicas=replicas)
        return search_replicas(problem, sets, bands, seed=0, params=params).replicas.tolist()  # type: ignore[no-any-return]

    assert polished(2, many_replicas=1) == polished(1) != polished(2)
