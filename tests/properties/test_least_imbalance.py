"""No plan within a budget is more even than what prices prove, whatever they are; ``verify`` recomputes the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest

from kafka_assignors.errors import AdvisorError
from kafka_rebalance.cluster_arrays.problem import Budget, Problem
from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.planner.linear_program.proofs import all_load, least_imbalance, proof_of
from kafka_rebalance.planner.params import DEFAULTS, SolveParams
from kafka_rebalance.planner.solve import solve
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import to_document
from kafka_rebalance.plans.request import build_request
from kafka_rebalance.verify import verify_plan
from tests.properties.exact_evenness import ExactEvenness
from tests.properties.small_clusters import small_cluster
from tests.properties.test_within_budget import SHORT
from tests.unit.planner.sample_clusters import GB, random_cluster

SLACK = 1e-7


def budgets_of(problem: Problem) -> Iterator[Budget]:
    """Of each kind a part of what the plan without a budget costs, and all kinds together."""
    cost = solve(problem, params=SHORT).cost
    yield Budget(max_bytes=cost.bytes * 0.4)
    yield Budget(max_replica_moves=cost.replica_moves // 2)
    yield Budget(max_leader_changes=cost.leader_changes // 2)
    yield Budget(cost.bytes * 0.6, cost.replica_moves // 2, cost.leader_changes // 2)


def _hold(seeds: Sequence[int], params: SolveParams = DEFAULTS) -> tuple[int, list[float]]:
    """How many budgets were solved exactly; bound over optimum where there is something outside."""
    solved, ratios = 0, []
    for seed in seeds:
        snapshot, options = small_cluster(seed)
        problem = build_request(snapshot, options).problem(options.band)
        problem = replace(problem, limit=np.full_like(problem.limit, np.inf))
        if not problem.partition_count or (problem.leader < 0).any() or options.preferred_election:
            continue
        draw = np.random.default_rng(seed)
        try:
            asked = [replace(problem, budget=budget) for budget in budgets_of(problem)]
        except InfeasibleError:
            continue
        for limited in asked:
            proof, optimum = least_imbalance(limited, params), ExactEvenness(limited).least_imbalance()
            if proof is None or optimum is None:
                continue
            solved += 1
            assert proof.value <= optimum + SLACK, (seed, limited.budget)
            charges = Budget(proof.per_byte, proof.per_move, proof.per_leader_change)
            for _ in range(3):
                shaken = proof.prices * draw.uniform(0.3, 1.3, proof.prices.shape)
                span = np.maximum(shaken, 0).max(axis=0) + np.maximum(-shaken, 0).max(axis=0)
                shaken /= np.maximum(1.0, span * all_load(limited))
                other = proof_of(limited, shaken, _shaken(charges, limited.budget, draw))
                assert other.value <= optimum + SLACK, (seed, limited.budget)
            if optimum > 1e-9:
                ratios.append(proof.value / optimum)
    return solved, ratios


def _shaken(charges: Budget, limits: Budget, draw: np.random.Generator) -> Budget:
    """Other charges, for what has a limit."""
    return Budget(
        *(
            None if getattr(limits, name) is None else (getattr(charges, name) or 0.0) * float(draw.uniform(0.0, 3.0))
            for name in ("max_bytes", "max_replica_moves", "max_leader_changes")
        )
    )


def test_no_proof_is_above_the_least_imbalance_possible() -> None:
    solved, ratios = _hold(range(5))
    assert solved >= 10
    assert np.mean(ratios) > 0.3


def test_no_prices_that_climb_prove_more_than_the_least_imbalance_possible() -> None:
    programs = replace(DEFAULTS.linear_program, proofs=replace(DEFAULTS.linear_program.proofs, most_arcs=0))
    solved, ratios = _hold(range(5), replace(DEFAULTS, linear_program=programs))
    assert solved >= 10
    assert np.mean(ratios) > 0.3


@pytest.mark.matrix
def test_no_proof_is_above_the_least_imbalance_of_three_hundred_budgets() -> None:
    solved, ratios = _hold(range(10, 170))
    print(f"\n{solved} budgets, bound / optimum where something stays outside: {np.mean(ratios):.3f} in the mean")
    assert solved >= 300


def _verified_claims(seeds: Sequence[int]) -> int:
    claims = 0
    for seed in seeds:
        draw = np.random.default_rng(seed)
        racks = int(draw.choice([1, 3]))
        snapshot = random_cluster(seed, broker_count=int(draw.integers(4, 8)), racks=racks, topics=3)
        limits = {"max_moves": 2, "max_leader_changes": 2, "max_move_bytes": 3 * GB, "max_hours": 0.02}
        some = draw.choice(sorted(limits), int(draw.integers(1, 4)), replace=False).tolist()
        asked = PlanOptions(within=0.1, with_frontier=False, leaders_only=bool(draw.random() < 0.2))
        try:
            plan = make_plan(snapshot, replace(asked, **{name: limits[name] for name in some}))
        except AdvisorError:
            continue
        assert [str(fault) for fault in verify_plan(to_document(plan), snapshot).wrong] == [], (seed, some)
        claim = plan.within_budget
        if claim is not None:
            claims += 1
            assert (claim.least_imbalance or 0.0) <= claim.imbalance_after + SLACK
            assert claim.imbalance_after < claim.imbalance_before + SLACK
    return claims


@pytest.mark.planned
def test_verify_recomputes_what_plans_claim() -> None:
    assert _verified_claims(range(4)) >= 3


@pytest.mark.matrix
def test_verify_recomputes_what_two_hundred_plans_claim() -> None:
    result = _verified_claims(range(20, 220))
    print(f"\n{result} plans claim something")
    assert result >= 100
