"""What no plan can beat: for bytes the best of several prices' proofs, for copies and leader changes by counting.

Promises, in order
1. No bound is above what the cheapest lawful plan within the bands costs.
2. The bound on bytes comes with prices that prove it to anybody (``PriceCertificate``).

Complexity: O(P·W·(racks + D)) a proof, two or three of them; see ``covering_prices.py`` and ``lagrangian.py``.
"""

from __future__ import annotations

import numpy as np

from kafka_rebalance.arrays import Floats
from kafka_rebalance.cluster_arrays.broker_loads import broker_loads
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.bounds.counting import least_copies, least_leader_stops
from kafka_rebalance.planner.bounds.covering_prices import covering_prices, holdings_of
from kafka_rebalance.planner.bounds.lagrangian import proven_by
from kafka_rebalance.planner.params import DEFAULTS, BoundParams
from kafka_rebalance.planner.solution import Bounds, LowerBound, PriceCertificate
from kafka_rebalance.resources import REPLICA_CARRIED

NOTHING = LowerBound(0.0, "nothing has to move")
WORDS = {
    "forced": "what has to be copied whatever the balance: brokers that leave, racks, replication factor",
    "excess": "what is above the bands, at prices that cover it in all resources (weak duality)",
    "deficit": "what is missing below the bands on disk (weak duality)",
    "linear program": "the dual of the linear program of all moves (weak duality)",
}


def lower_bounds(problem: Problem, *, prices: Floats | None = None, params: BoundParams = DEFAULTS.bounds) -> Bounds:
    """Bounds for the problem's own bands (before any widening). ``prices`` float64[B, D]: others to try as well."""
    load = broker_loads(problem, problem.replicas, problem.leader)
    changes = LowerBound(
        least_leader_stops(problem, load, params), "leaders outside the bands, counted broker by broker"
    )
    if not problem.moves_replicas:
        return Bounds(NOTHING, NOTHING, changes)
    columns = [d for d, name in enumerate(problem.resources) if name in REPLICA_CARRIED]
    holdings = holdings_of(problem)
    fewest = least_copies(problem, holdings, load, columns, params)
    copies = LowerBound(fewest, "the fewest replicas that cover what must go")
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
    return Bounds(LowerBound(parts[best], WORDS[best]), copies, changes, parts, certificate)


def _deficit_prices(problem: Problem, load: Floats) -> Floats:
    """A byte that is missing is worth its copying."""
    prices = np.zeros_like(load)
    disk = problem.column("disk")
    if disk is not None:
        prices[:, disk] = np.where(load[:, disk] < problem.band_low[:, disk], -1.0, 0.0)
    return prices
