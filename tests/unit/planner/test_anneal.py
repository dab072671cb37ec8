from __future__ import annotations

import numpy as np

from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.cluster_arrays.snapshot_arrays import Wanted, assemble
from kafka_rebalance.planner.params import Effort, SolveParams
from kafka_rebalance.planner.solution import Solution
from kafka_rebalance.planner.solve import solve
from tests.benchmarks.generated import generated
from tests.unit.planner.hand_problems import THREE, hand_problem

SHORT = SolveParams(effort=Effort(anneal_steps=30_000))


def _drained() -> Problem:
    """40 brokers on 4 racks, one leaves: above 100,000 pairs, so no linear program helps."""
    flags, placement = generated(40, 4_000, 4, variant="drain")
    return assemble(flags, placement, Wanted(within=0.03, resources=("disk", "in", "replicas")))


def test_bands_of_no_width_are_annealed_as_narrow_ones() -> None:
    """A band of 0 % has no inside: of broker 0's 15, 4 to broker 2 end at 11, 10 and 9, the nearest to 10."""
    problem = hand_problem(THREE, 3, within=0.0)
    solution = solve(problem, params=SolveParams(effort=Effort(anneal_steps=200, program_steps=0)))
    assert solution.cost.bytes == 4.0
    assert solution.after[:, 0].tolist() == [11.0, 10.0, 9.0]


def _band_violation(problem: Problem, solution: Solution) -> float:
    above = np.maximum(solution.after - problem.band_high, 0.0) / problem.band_high.max(axis=0)
    below = np.maximum(problem.band_low - solution.after, 0.0) / problem.band_high.max(axis=0)
    return float((above + below)[problem.stays].sum())


def test_an_annealed_plan_is_cheaper_or_nearer_to_its_bands_and_lawful() -> None:
    problem = _drained()
    plain = solve(problem, params=SolveParams(effort=Effort(anneal_steps=0)))
    annealed = solve(problem, params=SHORT)
    assert annealed.statistics.annealed > 0
    assert (round(_band_violation(problem, annealed), 2), annealed.cost.bytes) <= (
        round(_band_violation(problem, plain), 2),
        plain.cost.bytes,
    )
    assert annealed.cost.bytes >= annealed.bounds.bytes.value
    assert problem.stays[annealed.replicas].all()
    racks = np.sort(problem.rack[annealed.replicas], axis=1)
    assert (racks[:, 1:] != racks[:, :-1]).all()


def test_annealing_is_deterministic() -> None:
    problem = _drained()
    first, second = solve(problem, params=SHORT), solve(problem, params=SHORT)
    assert (first.replicas == second.replicas).all()
    assert first.cost == second.cost
