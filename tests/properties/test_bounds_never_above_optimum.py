"""The worst fault that a planner with proofs can have: a bound above what the best plan costs.

Small clusters are solved exactly; every bound that the planner states, that the plan prints, and that ``verify``
recomputes from the plan alone is held against the optimum. ``pytest -s`` prints how far plans are from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.errors import AdvisorError, InfeasibleError
from kafka_rebalance.planner.bounds.lower_bounds import lower_bounds
from kafka_rebalance.planner.solution import Solution
from kafka_rebalance.planner.solve import solve
from kafka_rebalance.plans.builder import make_plan
from kafka_rebalance.plans.plan import to_document
from kafka_rebalance.plans.request import build_request
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.verify import verify_plan
from kafka_rebalance.verify.cluster.arrays import cluster_arrays
from kafka_rebalance.verify.cluster.claimed_moves import read_moves
from kafka_rebalance.verify.cluster.outcomes import recompute
from kafka_rebalance.verify.cluster.resource_bands import band_of
from kafka_rebalance.verify.document.parameters import read_parameters
from kafka_rebalance.verify.faults import FaultList
from tests.properties.exact_plans import COSTS, ExactPlans
from tests.properties.small_clusters import small_cluster

# Besides the first ones: clusters in which a fault was found once.
FAST, ALL = (*range(12), 10018, 10089), range(12, 340)
SLACK = 1e-6


@dataclass(frozen=True)
class Held:
    """One cluster: what was wrong, and the plan's bytes over the optimum where the plan is inside its bands."""

    faults: tuple[str, ...]
    is_feasible: bool
    ratio: float | None = None


@pytest.mark.usefixtures("whole_search")
def test_no_bound_is_above_the_optimum_of_a_small_cluster() -> None:
    _hold_all(FAST)


@pytest.mark.slow
def test_no_bound_is_above_the_optimum_of_three_hundred_small_clusters() -> None:
    _hold_all(ALL)


def _hold_all(seeds: Sequence[int]) -> None:
    held = {seed: _hold(seed) for seed in seeds}
    wrong = [f"seed {seed}: {fault}" for seed, result in held.items() for fault in result.faults]
    ratios = np.array([result.ratio for result in held.values() if result.ratio is not None])
    feasible = sum(result.is_feasible for result in held.values())
    print(
        f"\n{len(held)} clusters, bands as asked can be met in {feasible}; plan / optimum of {len(ratios)} plans: "
        + ", ".join(f"{q:.0%} <= {np.quantile(ratios, q):.4f}" for q in (0.5, 0.75, 0.9, 0.95, 1.0))
        + f"; exactly optimal {np.mean(ratios <= 1 + SLACK):.0%}"
    )
    assert wrong == []
    assert len(ratios) == feasible >= len(held) // 5
    assert np.median(ratios) <= 1 + SLACK


def _hold(seed: int) -> Held:
    snapshot, options = small_cluster(seed)
    problem = build_request(snapshot, options).problem(options.band)
    try:
        bounds = lower_bounds(problem)
    except AdvisorError as error:
        return Held((f"no bounds: {error}",), is_feasible=False)
    exact = ExactPlans(problem)
    best = {cost: exact.least(cost) for cost in COSTS}
    faults = [fault for cost in COSTS for fault in _above(f"planner's {cost}", getattr(bounds, cost).value, best[cost])]
    faults += _printed_bounds(snapshot, to_document(make_plan(snapshot, options)), problem)
    if best["bytes"] is None:
        return Held(tuple(faults), is_feasible=False)
    try:
        solution = solve(problem)
    except InfeasibleError as error:
        return Held((*faults, f"a plan exists, and yet: {error}"), is_feasible=True)
    if not _is_inside(solution, problem):
        return Held(tuple(faults), is_feasible=True)
    for cost in COSTS:
        faults += _above(f"optimum, by {cost},", best[cost] or 0.0, getattr(solution.cost, cost))
    return Held(tuple(faults), is_feasible=True, ratio=_ratio(solution.cost.bytes, best["bytes"]))


def _printed_bounds(snapshot: ClusterSnapshot, document: dict[str, Any], problem: Problem) -> list[str]:
    """The plan's bounds and verify's own, against the optimum for the bands that verify reads from the plan."""
    told = verify_plan(document, snapshot)
    faults = [f"verify: {fault}" for fault in told.wrong]
    if document["verdict"] == "infeasible":
        return faults
    exact = ExactPlans(_as_verify_reads(snapshot, document, problem))
    stated = {claim["cost"]: claim["value"] for claim in document["lower_bound"]}
    for cost in COSTS:
        best = exact.least(cost)
        faults += _above(f"plan's {cost}", stated.get(cost, 0.0), best)
        faults += _above(f"verify's {cost}", told.bounds.get(cost, 0.0), best)
        if document["verdict"] in ("rebalance", "nothing_to_do"):
            faults += _above(f"optimum of the plan's own bands, by {cost},", best or 0.0, document["cost"][cost])
    return faults


def _as_verify_reads(snapshot: ClusterSnapshot, document: dict[str, Any], problem: Problem) -> Problem:
    """The problem with the bands that verify builds from the document."""
    parameters = read_parameters(document["parameters"], FaultList())
    assert parameters is not None
    arrays = cluster_arrays(snapshot, parameters)
    claimed = read_moves(document["moves"], snapshot, arrays, FaultList())
    assert claimed is not None
    assert arrays.ids.tolist() == problem.broker_ids.tolist()
    levels = recompute(claimed, arrays, parameters)
    low, high = problem.band_low.copy(), problem.band_high.copy()
    for outcome in document["resources"]:
        name = outcome["resource"]
        band = band_of(outcome, levels.before[name], levels.capacity[name], arrays, parameters)
        low[:, problem.resources.index(name)] = band.low
        high[:, problem.resources.index(name)] = band.high
    return replace(problem, band_low=low, band_high=high)


def _above(what: str, bound: float, cost: float | None) -> list[str]:
    if cost is None or bound <= cost + SLACK * max(cost, 1.0):
        return []
    return [f"{what} {bound:.9g} is above {cost:.9g}"]


def _is_inside(solution: Solution, problem: Problem) -> bool:
    low, high = problem.band_low * (1 - 1e-9), problem.band_high * (1 + 1e-9)
    return bool(((solution.after >= low) & (solution.after <= high))[problem.stays].all())


def _ratio(cost: float, best: float) -> float:
    return 1.0 if cost <= best else np.inf if best <= 0 else cost / best
