"""Why a move is made that survival rests on: which broker it keeps within its capacity, and after which loss.

Each move is left out of the whole plan by itself. Where some broker is above its capacity then, that is its reason,
unless it has to be made anyway.

Complexity: one evaluation of all moves, in parts that bound the memory.
"""

from __future__ import annotations

import numpy as np

from kafka_rebalance.arrays import NOBODY
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.planner.params import SurviveParams
from kafka_rebalance.planner.survive import Change, LossState
from kafka_rebalance.plans.draft import Draft
from kafka_rebalance.plans.explain.moves import MoveFacts
from kafka_rebalance.plans.request import PlanRequest
from kafka_rebalance.plans.survival.losses import loss_of, loss_state_of
from kafka_rebalance.plans.survival.overload import worst_of


def explain_survival(
    plan_request: PlanRequest, problem: Problem, draft: Draft, why: MoveFacts, params: SurviveParams
) -> None:
    """Overwrite the facts of the moves that survival rests on, where the options want it."""
    if plan_request.options.survive is None or not len(draft):
        return
    state = loss_state_of(plan_request, problem, draft)
    if state.total:
        return
    width = state.lists.shape[1]
    back = np.full((len(draft), width), NOBODY, dtype=np.int32)
    back[:, : draft.start.shape[1]] = draft.start[:, :width]
    at_once = params.changes_at_once(state.arrays.groups * len(state.arrays.guarded))
    for start in range(0, len(draft), at_once):
        at = np.arange(start, min(start + at_once, len(draft)))
        change = Change(draft.row[at], back[at], draft.leader_from[at])
        for move in at[state.effect(change).excess > 0].tolist():
            why.reasons[move], why.worse_without[move] = _facts(plan_request, state, draft, back, move)


def _facts(plan_request: PlanRequest, state: LossState, draft: Draft, back: np.ndarray, move: int) -> tuple[Fact, Fact]:
    without = state.copy()
    without.apply(Change(draft.row[move : move + 1], back[move : move + 1], draft.leader_from[move : move + 1]))
    broker = int((without.excess - state.excess).argmax())
    load, capacity, resource, lost = worst_of(plan_request, without, broker)
    kind, own = str(plan_request.options.survive), set(draft.start[move].tolist()) | set(draft.end[move].tolist())
    # A move names brokers that it touches: another one, whose leaders come here as well, is no part of it.
    is_touched = kind != "broker" or lost in own
    of = {
        "broker": int(plan_request.brokers.arrays.ids[broker]),
        "resource": resource,
        "lost_kind": kind,
        "lost": str(loss_of(plan_request).names[lost]) if is_touched else None,
    }
    reason = fact(FactCode.KEEPS_WITHIN_CAPACITY, **of)
    return reason, fact(FactCode.ABOVE_CAPACITY, **of, load=float(load), capacity=float(capacity))
