"""Why a move is made that nobody would survive without: who it keeps within its capacity, and after which loss.

Each move is left out of the whole plan by itself. Where some broker is above its capacity then, that is its reason,
unless it has to be made anyway.

Complexity: one evaluation of all moves, in parts that bound the memory.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_rebalance.amounts import amount_in_words
from kafka_rebalance.arrays import NOBODY
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.params import SurviveParams
from kafka_rebalance.planner.survive import Change, LossState
from kafka_rebalance.plans.draft import Draft
from kafka_rebalance.plans.request import PlanRequest
from kafka_rebalance.plans.survival.losses import loss_of, loss_state_of
from kafka_rebalance.plans.survival.overload import worst_of
from kafka_rebalance.resources import UNITS


@dataclass(frozen=True, slots=True)
class SurvivalText:
    """Of the move with this number: what it is made for, and what would be without it."""

    move: int
    reason: str
    worse_without: str


def with_survival_texts(
    plan_request: PlanRequest, problem: Problem, draft: Draft, texts: tuple[list[str], list[str]], params: SurviveParams
) -> None:
    """Overwrite the reasons and consequences of those moves that surviving rests on."""
    reasons, worse_without = texts
    for text in survival_texts(plan_request, problem, draft, params):
        reasons[text.move], worse_without[text.move] = text.reason, text.worse_without


def survival_texts(
    plan_request: PlanRequest, problem: Problem, draft: Draft, params: SurviveParams
) -> list[SurvivalText]:
    """Of those moves that surviving rests on, where that was asked for."""
    if plan_request.options.survive is None or not len(draft):
        return []
    state = loss_state_of(plan_request, problem, draft)
    if state.total:
        return []
    width = state.lists.shape[1]
    back = np.full((len(draft), width), NOBODY, dtype=np.int32)
    back[:, : draft.start.shape[1]] = draft.start[:, :width]
    needed: list[int] = []
    at_once = params.changes_at_once(state.arrays.groups * len(state.arrays.guarded))
    for start in range(0, len(draft), at_once):
        at = np.arange(start, min(start + at_once, len(draft)))
        change = Change(draft.row[at], back[at], draft.leader_from[at])
        needed += at[state.effect(change).excess > 0].tolist()
    return [_text(plan_request, state, draft, back, move) for move in needed]


def _text(plan_request: PlanRequest, state: LossState, draft: Draft, back: np.ndarray, move: int) -> SurvivalText:
    without = state.copy()
    without.apply(Change(draft.row[move : move + 1], back[move : move + 1], draft.leader_from[move : move + 1]))
    broker = int((without.excess - state.excess).argmax())
    load, capacity, resource, lost = worst_of(plan_request, without, broker)
    name, kind = int(plan_request.brokers.arrays.ids[broker]), plan_request.options.survive
    group = loss_of(plan_request).names[lost]
    own = set(draft.start[move].tolist()) | set(draft.end[move].tolist())
    # A move is told by brokers that it touches: another one, whose leaders come here as well, is no part of it.
    is_touched = kind != "broker" or lost in own
    cause = f"{kind} {group} is lost" if is_touched else "another one is lost"
    unit = UNITS[resource]
    would, can = amount_in_words(load, unit), amount_in_words(capacity, unit)
    return SurvivalText(
        move,
        f"keeps broker {name} within what it can carry of {resource} if {cause}",
        f"broker {name} would carry {would} of {resource} if {cause}, {can} at most can be carried",
    )
