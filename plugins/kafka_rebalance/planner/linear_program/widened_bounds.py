"""Bounds for bands that had to be widened, as strong as those for the requested bands.

Prices prove something for any bands, so those found for the requested bands are tried as well. On a small cluster whose
replicas' bands were widened, the linear program of all moves is solved anew: the one for the requested bands had no
solution, or prices of bands that no longer bind.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kafka_rebalance.arrays import Floats
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.bounds.lower_bounds import lower_bounds, raised, raised_by_covers
from kafka_rebalance.planner.linear_program.arcs import arcs_of, is_small
from kafka_rebalance.planner.linear_program.covered import with_covers
from kafka_rebalance.planner.linear_program.relaxation import relax
from kafka_rebalance.planner.params import DEFAULTS, SolveParams
from kafka_rebalance.planner.replicas.replica_search import replica_columns
from kafka_rebalance.planner.solution import Bounds
from kafka_rebalance.planner.working_bands import WorkingBands


def widened_bounds(
    problem: Problem,
    found: Bounds | None,
    low: Floats,
    high: Floats,
    plan_bytes: float,
    params: SolveParams = DEFAULTS,
) -> Bounds:
    """Bounds for ``problem`` within ``low``..``high`` float64[B, D]; ``found``: those for its own bands."""
    wider = replace(problem, band_low=low, band_high=high)
    prices = None if found is None or found.certificate is None else found.certificate.prices
    bounds = lower_bounds(wider, prices=prices, params=params.bounds)
    proof = None if found is None else found.proofs.get("bytes")
    if proof is not None:
        bounds = raised_by_covers(wider, bounds, proof.prices, proof.covers, params.bounds)
    if not problem.moves_replicas or plan_bytes <= bounds.bytes.value * (1 + params.gaps.near):  # strong enough
        return bounds
    bounds = raised(wider, bounds, params.bounds)
    if not is_small(problem, params.linear_program.arcs):
        return bounds
    columns = replica_columns(problem)
    if np.array_equal(low[:, columns], problem.band_low[:, columns]) and np.array_equal(
        high[:, columns], problem.band_high[:, columns]
    ):
        return bounds
    arcs = arcs_of(wider, params.linear_program.arcs)
    relaxed = relax(wider, arcs, low, high)
    if relaxed is None:
        return bounds
    stronger = lower_bounds(wider, prices=relaxed.prices, params=params.bounds)
    if plan_bytes > stronger.bytes.value * (1 + params.gaps.near):
        relaxed = with_covers(wider, arcs, relaxed, WorkingBands(low, high), params.linear_program.covers)
        stronger = raised_by_covers(wider, stronger, relaxed.prices, relaxed.covers, params.bounds)
    return max(bounds, stronger, key=lambda proved: proved.bytes.value)
