"""The stage ``survive`` (``--survive broker`` or ``rack``): no broker is above its capacity after any loss.

Promises, in order: a draft that comes back survives every loss, by the same simulation that plan.json tells of; it
keeps every budget and cap; where the plan for balance survives already it stays as it is; where that plan cannot be
brought to survive, today's placement is. What neither search brings about is an InfeasibleError with who is lost, who
is above and by how much.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.planner.survive import Allowance, survive
from kafka_rebalance.plans.dead_band import gained
from kafka_rebalance.plans.draft import Draft, draft_of, empty_draft
from kafka_rebalance.plans.explain.caps import over_caps
from kafka_rebalance.plans.failures import with_follower_order
from kafka_rebalance.plans.hours import keeps_hours
from kafka_rebalance.plans.outcome import bands_of, outcome_of
from kafka_rebalance.plans.params import PlanParams
from kafka_rebalance.plans.request import PlanRequest
from kafka_rebalance.plans.state import PlanState
from kafka_rebalance.plans.survival.losses import loss_state_of
from kafka_rebalance.plans.survival.overload import (
    Overload,
    Proof,
    cannot_survive,
    counted_overload,
    refuse_a_partition_above_all,
    worst_overload,
)


@dataclass(frozen=True, slots=True, eq=False)
class Survival:
    """``draft`` survives; ``reason``: what that took."""

    draft: Draft
    reason: Fact


class SurviveLosses:
    """No broker is above its capacity after the loss of any broker, or of any rack."""

    name = "survive"

    def applies(self, state: PlanState) -> bool:
        """The options want survival, and nothing forbids a plan."""
        return state.is_possible and state.options.survive is not None

    def run(self, state: PlanState) -> PlanState:
        """Return the state with what it takes to survive. Raises InfeasibleError where nothing was found."""
        state.progress("losing every broker" if state.options.survive == "broker" else "losing every rack")
        kept = surviving(state.request, state.problem, state.draft, state.params)
        return state.changed_by_rule(kept.draft, (kept.reason,))


def is_survived(plan_request: PlanRequest, problem: Problem, draft: Draft) -> bool:
    """Nobody is above its capacity after any loss; also where nothing of the kind was asked for."""
    return plan_request.options.survive is None or not loss_state_of(plan_request, problem, draft).total


def surviving(plan_request: PlanRequest, problem: Problem, draft: Draft, params: PlanParams) -> Survival:
    """``draft``, or what it takes to survive. Raises InfeasibleError where nothing was found."""
    state = loss_state_of(plan_request, problem, draft)
    if not state.total:
        return Survival(draft, _kept(plan_request, worst_overload(plan_request, state)))
    refuse_a_partition_above_all(plan_request, state)
    if (counted := counted_overload(plan_request, state)) is not None:
        raise cannot_survive(plan_request, counted, Proof.COUNTED)
    nearest, is_proved = state, False
    for start in (draft, empty_draft(plan_request)):
        if start is not draft and (not len(draft) or plan_request.hard):
            continue
        begun = loss_state_of(plan_request, problem, start)
        survived = survive(begun, _allowance(plan_request), params.solve.survive)
        found, is_proved = survived.state, is_proved or survived.is_proved
        nearest = found if found.total < nearest.total else nearest
        other = draft_of(plan_request, found.lists[plan_request.rows], found.leader[plan_request.rows])
        other = _with_needed_orders(plan_request, problem, other)
        if not found.total and _is_lawful(plan_request, problem, other, params):
            return Survival(other, _changed(plan_request, worst_overload(plan_request, state), other))
    overload = worst_overload(plan_request, nearest if nearest.total else state)
    assert overload is not None
    raise cannot_survive(plan_request, overload, Proof.ALL_TRIED if is_proved else Proof.NONE)


def _with_needed_orders(plan_request: PlanRequest, problem: Problem, draft: Draft) -> Draft:
    """Without new orders of lists that stay where all of them together prove needless: then those that were asked for
    anyway, if these survive.
    """
    orders = np.flatnonzero(draft.is_reorder)
    if not len(orders) or not is_survived(plan_request, problem, bare := draft.without(orders)):
        return draft
    again = with_follower_order(plan_request, bare)
    return again if is_survived(plan_request, problem, again) else bare


def _allowance(plan_request: PlanRequest) -> Allowance:
    options = plan_request.options
    return Allowance(options.max_moves, options.max_move_bytes, options.max_leader_changes, options.moves_replicas)


def _is_lawful(plan_request: PlanRequest, problem: Problem, draft: Draft, params: PlanParams) -> bool:
    """Within hours and caps, survives as plan.json tells it, and is worth something: balance, or surviving itself."""
    outcome = outcome_of(plan_request, draft)
    if over_caps(plan_request, outcome.after_by_resource) or not keeps_hours(plan_request, draft, params):
        return False
    if not is_survived(plan_request, problem, draft):
        return False
    if plan_request.hard or not is_survived(plan_request, problem, empty_draft(plan_request)) or not len(draft):
        return True
    bands, stays = bands_of(problem), plan_request.brokers.arrays.stays
    return gained(bands, outcome.states_before, outcome.states_after, stays)[1] > 0


def _kept(plan_request: PlanRequest, worst: Overload | None) -> Fact:
    highest = None if worst is None else worst.load / worst.capacity
    resource = None if worst is None else worst.resource
    kind = str(plan_request.options.survive)
    return fact(FactCode.LOSSES_SURVIVED, kind=kind, highest_times_capacity=highest, resource=resource)


def _changed(plan_request: PlanRequest, was: Overload | None, draft: Draft) -> Fact:
    assert was is not None
    kind = str(plan_request.options.survive)
    return fact(
        FactCode.CHANGED_TO_SURVIVE,
        kind=kind,
        replica_moves=int(draft.copies.sum()),
        leader_changes=int(draft.changes_leader.sum()),
        new_orders=int(draft.is_reorder.sum()),
        otherwise=was.fact(kind),
    )


def cannot_be_carried_out(plan_request: PlanRequest, problem: Problem, draft: Draft) -> InfeasibleError:
    """What is above after a loss once moves were left out for which no order of waves has room."""
    overload = worst_overload(plan_request, loss_state_of(plan_request, problem, draft))
    assert overload is not None
    return cannot_survive(plan_request, overload, Proof.NONE)
