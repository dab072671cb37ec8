"""What each broker carries once a draft is done and something is lost, as the planner's state of losses.

Only partitions that nothing pins and all of whose replicas are in sync may be changed for it: of others it is not known
who would take over. Where nothing is known of losses at all, the option is refused.
"""

from __future__ import annotations

import numpy as np

from kafka_rebalance.arrays import NOBODY, Flags
from kafka_rebalance.cluster_arrays.fair_share import distinct_racks
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.cluster_arrays.resource_columns import columns_of
from kafka_rebalance.errors import UsageError
from kafka_rebalance.planner.scales import resource_scale
from kafka_rebalance.planner.survive import LossArrays, LossState
from kafka_rebalance.plans.draft import Draft, empty_draft, placement_after
from kafka_rebalance.plans.failures import LOADED, Loss, in_service, losses_of, standing
from kafka_rebalance.plans.outcome import outcome_of
from kafka_rebalance.plans.request import PlanRequest
from kafka_rebalance.resources import in_a_sentence
from kafka_rebalance.scoring.after_failure import moved_loads, successors


def loss_of(plan_request: PlanRequest) -> Loss:
    """What may be lost, by the option."""
    losses = losses_of(plan_request, in_service(plan_request))
    return losses[plan_request.options.survive or "broker"]


def loss_state_of(plan_request: PlanRequest, problem: Problem, draft: Draft) -> LossState:
    """The placement that ``draft`` leads to, in snapshot rows, under all losses. O(P·W)."""
    serves, loss = in_service(plan_request), loss_of(plan_request)
    outcome = outcome_of(plan_request, draft)
    placed = standing(plan_request, draft, outcome.after_by_resource, serves)
    whole, brokers = plan_request.partitions.placement, plan_request.brokers.arrays
    width = placed.replicas.shape[1]
    today = np.full((len(whole.replicas), width), NOBODY, dtype=np.int32)
    today[:, : whole.replicas.shape[1]] = whole.replicas
    rf = (placed.replicas >= 0).sum(axis=1).astype(np.int32)
    columns = columns_of(whole.loads, rf, plan_request.resources)
    guarded = [columns.resources.index(name) for name in placed.base]
    capacity = np.stack([brokers.capacity[name] for name in placed.base], axis=1)
    arrays = LossArrays(
        group=loss.group,
        groups=len(loss.names),
        serves=serves,
        rack=distinct_racks(brokers.rack),
        guarded=np.array(guarded, dtype=np.int64),
        capacity=np.where(capacity > 0, capacity, np.inf),
        follower=np.nan_to_num(columns.follower_load),
        extra=np.nan_to_num(columns.leader_extra),
        low=problem.band_low,
        high=problem.band_high,
        limit=problem.limit,
        scale=resource_scale(problem),
        stays=brokers.stays,
        takes_replicas=brokers.takes_replicas,
        takes_leaders=brokers.takes_leaders,
        keeps_leaders=brokers.keeps_leaders,
        today=today,
        today_leader=whole.leader,
        may_change=_may_change(plan_request, draft),
        sets=whole.broker_sets,
        size=np.nan_to_num(plan_request.partitions.size),
    )
    heirs = successors(placed.replicas, placed.able, placed.leader, loss.group)
    taken = [moved_loads(placed.leader, heirs, loss.group, placed.extra[name], len(loss.names)) for name in placed.base]
    return LossState.of(arrays, (placed.replicas, placed.leader), outcome.after, np.stack(taken, axis=2))


def _may_change(plan_request: PlanRequest, draft: Draft) -> Flags:
    """bool[P]."""
    partitions, brokers = plan_request.partitions, plan_request.brokers.arrays
    replicas, leader, _ = placement_after(plan_request, draft)
    may = np.zeros(len(replicas), dtype=np.bool_)
    may[plan_request.rows] = ~plan_request.pinned
    on_leaving = ((replicas >= 0) & ~brokers.stays[replicas]).any(axis=1)
    if partitions.placement.must_leave is not None:
        may &= ~partitions.placement.must_leave.any(axis=1)
    return np.asarray(may & ~partitions.under_replicated & ~partitions.immovable & ~on_leaving & (leader != NOBODY))


def untouched(plan_request: PlanRequest, problem: Problem) -> LossState:
    """Today's placement under all losses."""
    return loss_state_of(plan_request, problem, empty_draft(plan_request))


def require_losses_known(plan_request: PlanRequest) -> None:
    """Raises UsageError where nothing that may be lost is known, or no capacity that a loss takes of."""
    kind = plan_request.options.survive
    if kind is None:
        return
    if kind not in losses_of(plan_request, in_service(plan_request)):
        raise UsageError.at(f"--survive {kind}", "all brokers in service are on one rack", "give --survive broker")
    capacity = plan_request.brokers.arrays.capacity
    if not any(name in capacity and name in plan_request.resources for name in LOADED):
        problem = f"of {in_a_sentence(LOADED)} no load is known with every broker's capacity of it"
        raise UsageError.at(f"--survive {kind}", problem, "give capacities with --capacity")
