"""A plan's own bounds, and those that ``verify`` recomputes, held against the exact optimum for the same bands."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.verify import verify_plan
from kafka_rebalance.verify.cluster import cluster_arrays, read_moves
from kafka_rebalance.verify.document import read_parameters
from kafka_rebalance.verify.faults import FaultList
from kafka_rebalance.verify.loads import band_of, recompute
from tests.properties.exact_plans import COSTS, ExactPlans

SLACK = 1e-6


def printed_bounds(snapshot: ClusterSnapshot, document: dict[str, Any], problem: Problem) -> list[str]:
    """The plan's bounds and verify's own, against the optimum for the bands that verify reads from the plan."""
    reported = verify_plan(document, snapshot)
    faults = [f"verify: {fault}" for fault in reported.wrong]
    if document["verdict"] == "infeasible":
        return faults
    exact = ExactPlans(as_verify_reads(snapshot, document, problem))
    stated = {claim["cost"]: claim["value"] for claim in document["lower_bound"]}
    for cost in COSTS:
        best = exact.least(cost)
        faults += above(f"plan's {cost}", stated.get(cost, 0.0), best)
        faults += above(f"verify's {cost}", reported.bounds.get(cost, 0.0), best)
        if document["verdict"] in ("rebalance", "nothing_to_do"):
            faults += above(f"optimum of the plan's own bands, by {cost},", best or 0.0, document["cost"][cost])
    return faults


def as_verify_reads(snapshot: ClusterSnapshot, document: dict[str, Any], problem: Problem) -> Problem:
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


def above(what: str, bound: float, cost: float | None) -> list[str]:
    """A fault where the first is above the second; nothing is above what cannot be had."""
    if cost is None or bound <= cost + SLACK * max(cost, 1.0):
        return []
    return [f"{what} {bound:.9g} is above {cost:.9g}"]
