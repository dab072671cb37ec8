"""What no plan can beat: for bytes the best of several prices' proofs, for copies and leader changes by counting.

Promises, in order
1. No bound is above what the cheapest lawful plan within the bands costs.
2. The bound on bytes comes with prices that prove it to anybody (``PriceCertificate``, or ``CostProof`` with covers).

Complexity: O(P·W·(racks + D)) a proof, two or three of them; see ``covering_prices.py`` and ``lagrangian.py``.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kafka_rebalance.arrays import Floats
from kafka_rebalance.cluster_arrays.broker_loads import broker_loads
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.facts import BoundProof
from kafka_rebalance.planner.bounds.counting import least_copies, least_leader_stops
from kafka_rebalance.planner.bounds.covering_prices import covering_prices, holdings_of
from kafka_rebalance.planner.bounds.dual_ascent import better_prices
from kafka_rebalance.planner.bounds.lagrangian import proven_by
from kafka_rebalance.planner.params import DEFAULTS, BoundParams, CostParams
from kafka_rebalance.planner.scales import bytes_per_move
from kafka_rebalance.planner.solution import Bounds, CostProof, Cover, LowerBound, PriceCertificate
from kafka_rebalance.resources import REPLICA_CARRIED

NOTHING = LowerBound(0.0, BoundProof.NOTHING_MOVES)
PROOFS = {
    "forced": BoundProof.FORCED_COPIES,
    "excess": BoundProof.PRICES_ABOVE_BANDS,
    "deficit": BoundProof.PRICES_BELOW_BANDS,
    "linear program": BoundProof.LINEAR_PROGRAM,
}


def lower_bounds(problem: Problem, *, prices: Floats | None = None, params: BoundParams = DEFAULTS.bounds) -> Bounds:
    """Bounds for the problem's own bands (before any widening). ``prices`` float64[B, D]: others to try as well."""
    load = broker_loads(problem, problem.replicas, problem.leader)
    changes = LowerBound(least_leader_stops(problem, load, params), BoundProof.COUNTED_LEADERS)
    if not problem.moves_replicas:
        return Bounds(NOTHING, NOTHING, changes)
    columns = [d for d, name in enumerate(problem.resources) if name in REPLICA_CARRIED]
    holdings = holdings_of(problem)
    fewest = least_copies(problem, holdings, load, columns, params)
    copies = LowerBound(fewest, BoundProof.COUNTED_REPLICAS)
    tried = {
        "forced": np.zeros_like(load),
        "excess": covering_prices(problem, holdings, load, columns, params),
        "deficit": _deficit_prices(problem, load),
    }
    if prices is not None:
        tried["linear program"] = prices
    parts = {
        name: max(0.0, proven_by(problem, tried_prices, problem.move_bytes, params))
        for name, tried_prices in tried.items()
    }
    best = max(parts, key=lambda name: (parts[name], name == "forced"))
    certificate = PriceCertificate(tried[best], parts[best])
    return Bounds(LowerBound(parts[best], PROOFS[best]), copies, changes, parts, certificate)


def raised(problem: Problem, bounds: Bounds, params: BoundParams = DEFAULTS.bounds) -> Bounds:
    """``bounds`` with a stronger one on bytes where better prices than its own are found."""
    if bounds.certificate is None:
        return bounds
    prices = better_prices(problem, bounds.certificate.prices, params.ascent)
    if prices is None:
        return bounds
    value = proven_by(problem, prices, problem.move_bytes, params)
    if value <= bounds.bytes.value:
        return bounds
    return replace(
        bounds,
        bytes=LowerBound(value, BoundProof.DUAL_ASCENT),
        parts={**bounds.parts, "ascent": value},
        certificate=PriceCertificate(prices, value),
    )


def raised_by_covers(
    problem: Problem, bounds: Bounds, prices: Floats, covers: tuple[Cover, ...], params: BoundParams = DEFAULTS.bounds
) -> Bounds:
    """``bounds`` with a stronger one on bytes where ``prices`` float64[B, D] and ``covers`` together prove one."""
    if not covers:
        return bounds
    value = proven_by(problem, prices, problem.move_bytes, params, covers=covers)
    if value <= bounds.bytes.value:
        return bounds
    nobody = np.zeros(problem.broker_count)
    return replace(
        bounds,
        bytes=LowerBound(value, BoundProof.LINEAR_PROGRAM_WITH_COVERS),
        parts={**bounds.parts, "covers": value},
        proofs={**bounds.proofs, "bytes": CostProof(prices, nobody, nobody, value, covers)},
    )


def least_price(problem: Problem, bounds: Bounds, costs: CostParams) -> float:
    """No plan costs less where moves are charged beside their bytes."""
    return bounds.bytes.value + bounds.replica_moves.value * bytes_per_move(problem, costs.worth_per_move)


def _deficit_prices(problem: Problem, load: Floats) -> Floats:
    """A byte that is missing is worth its copying."""
    prices = np.zeros_like(load)
    disk = problem.column("disk")
    if disk is not None:
        prices[:, disk] = np.where(load[:, disk] < problem.band_low[:, disk], -1.0, 0.0)
    return prices
