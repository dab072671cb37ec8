"""What a plan within a budget says of itself: how even it is, and how even none within the budget can be beyond."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kafka_rebalance.arrays import Floats
from kafka_rebalance.cluster_arrays.problem import Budget, Problem
from kafka_rebalance.cluster_arrays.resource_columns import columns_of
from kafka_rebalance.planner.linear_program.least_imbalance import least_imbalance
from kafka_rebalance.planner.params import SolveParams
from kafka_rebalance.planner.solution import EvennessProof
from kafka_rebalance.plans.dead_band import imbalance
from kafka_rebalance.plans.outcome import Bands, Outcome
from kafka_rebalance.plans.plan import BudgetClaim
from kafka_rebalance.plans.request import PlanRequest


def budget_claim_of(
    plan_request: PlanRequest, problem: Problem, bands: Bands, outcome: Outcome, params: SolveParams
) -> BudgetClaim:
    """For the bands asked for; without a bound where the program for it would be too large."""
    stays = plan_request.brokers.arrays.stays
    before, after = imbalance(bands, outcome.before, stays), imbalance(bands, outcome.after, stays)
    in_force = replace(problem, budget=_budget_in_force(plan_request, problem))
    proof = least_imbalance(in_force, params, beside=_beside(plan_request, problem))
    if proof is None:
        return BudgetClaim(before, after, None)
    return BudgetClaim(before, after, proof.value, _prices(plan_request, problem, proof), _charges(proof))


def _beside(plan_request: PlanRequest, problem: Problem) -> Floats:
    """float64[D]: the most load of replicas that cannot move and so are no part of the problem."""
    placement = plan_request.partitions.placement
    factor = np.asarray((placement.replicas >= 0).sum(axis=1), dtype=np.int32)
    columns = columns_of(placement.loads, factor, problem.resources)
    whole = (columns.follower_load * factor[:, None] + columns.leader_extra).sum(axis=0)
    held = (problem.replicas >= 0).sum(axis=1)
    here = (problem.follower_load * held[:, None] + problem.leader_extra).sum(axis=0)
    return np.asarray(np.maximum(whole - here, 0.0))


def _budget_in_force(plan_request: PlanRequest, problem: Problem) -> Budget:
    """Hours as the bytes that all who may receive can be sent in them at the throttle."""
    options, budget = plan_request.options, problem.budget
    if options.max_hours is None:
        return budget
    sent = 3600 * options.max_hours * options.throttle_bytes_per_s * max(int(problem.takes_replicas.sum()), 1)
    return replace(budget, max_bytes=sent if budget.max_bytes is None else min(sent, budget.max_bytes))


def _prices(plan_request: PlanRequest, problem: Problem, proof: EvennessProof) -> dict[str, dict[int, float]]:
    """By resource and broker, zeros left out."""
    ids = plan_request.brokers.arrays.ids.tolist()
    by_name = {
        name: {ids[b]: float(proof.prices[b, d]) for b in np.flatnonzero(proof.prices[:, d]).tolist()}
        for d, name in enumerate(problem.resources)
    }
    return {name: by_broker for name, by_broker in by_name.items() if by_broker}


def _charges(proof: EvennessProof) -> dict[str, float]:
    """By cost, zeros left out."""
    charges = (
        ("bytes", proof.per_byte),
        ("replica_moves", proof.per_move),
        ("leader_changes", proof.per_leader_change),
    )
    return {cost: charge for cost, charge in charges if charge > 0}
