"""Bounds on moves and on time as strong as those on bytes: prices that prove them to anybody (``CostProof``).

Promises, in order
1. No value is above what the best lawful plan within the bands costs: weak duality, whatever the program answers.
2. On small clusters the values are those of linear programs: fewest copies; least bytes of the busiest broker, in or
   out. On larger ones moves are proved by what brokers hold too much of, and time is not looked for.

Example: broker 0 holds four replicas of 10 GB, two others none, and nobody may hold more than 16.7 GB: 23.3 GB leave,
2.33 replicas, so 3 moves; and broker 0 sends it all, whoever receives.

Complexity: two linear programs of P · B arcs (10 brokers × 1,000 partitions: 1 CPU second), and a pass for each proof.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kafka_rebalance.arrays import Floats
from kafka_rebalance.cluster_arrays.broker_loads import broker_loads
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.facts import BoundProof
from kafka_rebalance.planner.bounds.covering_prices import covering_prices, holdings_of
from kafka_rebalance.planner.bounds.lagrangian import proven_by
from kafka_rebalance.planner.linear_program.arcs import Arcs, arcs_of, is_small
from kafka_rebalance.planner.linear_program.flow_program import relax_flows
from kafka_rebalance.planner.linear_program.relaxation import relax
from kafka_rebalance.planner.params import DEFAULTS, SolveParams
from kafka_rebalance.planner.replicas.replica_search import replica_columns
from kafka_rebalance.planner.scales import mean_bytes
from kafka_rebalance.planner.solution import Bounds, CostProof, LowerBound

MOVES, SECONDS = "replica_moves", "seconds"


def with_cost_proofs(problem: Problem, bounds: Bounds, params: SolveParams = DEFAULTS) -> Bounds:
    """``bounds`` of the problem's own bands, with a proof of time, and of moves where it is above what is counted."""
    if not problem.moves_replicas or problem.pinned.all():
        return bounds
    arcs = arcs_of(problem, params.linear_program.arcs) if is_small(problem, params.linear_program.arcs) else None
    moves = fewest_moves(problem, arcs, params)
    least = float(np.ceil(moves.value - params.bounds.count_tolerance * max(moves.value, 1.0)))
    proofs = dict(bounds.proofs)
    time = None if arcs is None else least_busy(problem, arcs, params)
    if time is not None:
        proofs[SECONDS] = time
    if least > bounds.replica_moves.value:
        bounds = replace(bounds, replica_moves=LowerBound(least, BoundProof.PRICES_OF_MOVES))
        proofs[MOVES] = moves
    return replace(bounds, proofs=proofs)


def fewest_moves(problem: Problem, arcs: Arcs | None, params: SolveParams = DEFAULTS) -> CostProof:
    """The better of the prices of what is held too much of, and of the linear program where there are ``arcs``."""
    one = np.ones(problem.partition_count)
    load = broker_loads(problem, problem.replicas, problem.leader)
    tried = [
        np.zeros_like(load),
        covering_prices(
            replace(problem, move_bytes=one), holdings_of(problem), load, replica_columns(problem), params.bounds
        ),
    ]
    if arcs is not None:
        counted = replace(arcs, cost=np.where(arcs.is_kept, 0.0, 1.0))
        relaxed = relax(problem, counted, problem.band_low, problem.band_high)
        if relaxed is not None:
            tried.append(relaxed.prices / max(mean_bytes(problem), 1e-300))
    nobody = np.zeros(problem.broker_count)
    proofs = [
        CostProof(prices, nobody, nobody, max(0.0, proven_by(problem, prices, one, params.bounds))) for prices in tried
    ]
    return max(proofs, key=lambda proof: proof.value)


def least_busy(problem: Problem, arcs: Arcs, params: SolveParams = DEFAULTS) -> CostProof | None:
    """What the busiest broker receives or sends at least, in bytes; None where no shares meet the bands, or nobody has
    to send a byte. The duals of the two rows of each broker are what a byte costs there; they sum up to 1.
    """
    flowing = relax_flows(problem, arcs, np.zeros(len(arcs.row)), weight=1.0)
    if flowing is None:
        return None
    total = float(flowing.receiving.sum() + flowing.sending.sum())
    if total <= 0:
        return None
    return time_proof(problem, flowing.prices / total, flowing.receiving / total, flowing.sending / total, params)


def time_proof(
    problem: Problem, prices: Floats, receiving: Floats, sending: Floats, params: SolveParams = DEFAULTS
) -> CostProof:
    """What the prices prove; ``receiving`` and ``sending`` float64[B], together 1."""
    sent = np.where(problem.leader >= 0, sending[np.maximum(problem.leader, 0)], 0.0)
    value = proven_by(problem, prices, problem.move_bytes * sent, params.bounds, receiving=receiving)
    return CostProof(prices, receiving, sending, max(0.0, value))
