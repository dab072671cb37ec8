"""Steps that lower the imbalance most, one after the other, as far as the budget goes; and the way back.

Every replica's best step and every partition's best change of leader stand in a heap. While the work allows it, all
are ranked anew before each step: then it is the greedy search to the letter. On large clusters only the one on top is
ranked anew, and taken while it is still worth more than the next one (what a step is worth mostly falls); all are
ranked anew when none is left.

Complexity: O(P·W·B·D) for ranking all, O(B·D + log P·W) for one step where only the top is ranked.
"""

from __future__ import annotations

import numpy as np

from kafka_rebalance.arrays import Floats, Longs
from kafka_rebalance.kernels.decorators import inner_kernel
from kafka_rebalance.planner.budget.budget_state import BudgetState
from kafka_rebalance.planner.budget.changes import (
    accept,
    hand_over,
    imbalance_of,
    is_lawful,
    is_within_budget,
    relocate,
    send_home,
    take_back,
)
from kafka_rebalance.planner.budget.ranking import best_leader, best_target
from kafka_rebalance.planner.sorting import smallest_first
from kafka_rebalance.planner.tolerances import GAIN_TOLERANCE, NOT_COVERABLE


@inner_kernel
def _rank(state: BudgetState, item: int, thrift: float) -> tuple[float, int]:
    """Item p·(W+1)+j: slot ``j`` of row ``p`` of ``rows``, or its leadership for j = W."""
    width = state.replicas.shape[1]
    p, j = state.rows[item // (width + 1)], item % (width + 1)
    if j == width:
        return best_leader(state, p, thrift)
    return best_target(state, p, j, thrift)


@inner_kernel
def _take(state: BudgetState, item: int, choice: int) -> bool:
    width = state.replicas.shape[1]
    p, j = state.rows[item // (width + 1)], item % (width + 1)
    is_taken = hand_over(state, p, choice) if j == width else relocate(state, p, j, choice)
    if is_taken and is_lawful(state) and is_within_budget(state):
        accept(state)
        return True
    take_back(state)
    return False


@inner_kernel
def _sink(heap: Longs, worth: Floats, place: int) -> None:
    """Restore the order of a heap with the largest on top, from ``place`` down."""
    count = heap.shape[0]
    item = heap[place]
    while 2 * place + 1 < count:
        child = 2 * place + 1
        if child + 1 < count and worth[heap[child + 1]] > worth[heap[child]]:
            child += 1
        if worth[heap[child]] <= worth[item]:
            break
        heap[place] = heap[child]
        place = child
    heap[place] = item


@inner_kernel
def _rank_all(state: BudgetState, worth: Floats, choice: Longs, heap: Longs, thrift: float) -> None:
    for item in range(worth.shape[0]):
        worth[item], choice[item] = _rank(state, item, thrift)
        heap[item] = item
    for back in range(heap.shape[0] // 2):
        _sink(heap, worth, heap.shape[0] // 2 - 1 - back)


@inner_kernel
def _is_still_on_top(state: BudgetState, worth: Floats, choice: Longs, heap: Longs, thrift: float) -> bool:
    """Rank the one on top anew; if it is worth less than the next one, it sinks."""
    top = heap[0]
    before = worth[top]
    worth[top], choice[top] = _rank(state, top, thrift)
    if worth[top] < before:
        _sink(heap, worth, 0)
    return bool(heap[0] == top and worth[top] > 0.0)


@inner_kernel
def improve(state: BudgetState, thrift: float) -> int:
    """Steps until none helps that the budget allows. Returns how many."""
    count = state.rows.shape[0] * (state.replicas.shape[1] + 1)
    if count == 0:
        return 0
    worth, choice, heap = np.empty(count), np.empty(count, np.int64), np.empty(count, np.int64)
    exact = max(state.params.least_rankings, state.params.ranked_exactly // (count * state.load.shape[0]))
    made, rankings, is_fresh = 0, 0, False
    while True:
        if not is_fresh and (rankings < exact or worth[heap[0]] <= 0.0):
            if rankings >= exact + state.params.most_rankings:
                return made
            _rank_all(state, worth, choice, heap, thrift)
            rankings += 1
            is_fresh = True
        top = heap[0]
        if worth[top] <= 0.0:
            return made
        if not is_fresh and not _is_still_on_top(state, worth, choice, heap, thrift):
            continue
        if _take(state, top, choice[top]):
            made += 1
            is_fresh = False
        else:
            worth[top] = 0.0
            _sink(heap, worth, 0)


@inner_kernel
def _loss_of(state: BudgetState, p: int) -> float:
    """What the imbalance grows by for each share of the budget won back when ``p`` goes home, if any is."""
    was = imbalance_of(state)
    before = _over_budget(state)
    loss = NOT_COVERABLE
    if send_home(state, p) and is_lawful(state):
        won = before - _over_budget(state)
        if won > 0.0:
            loss = (imbalance_of(state) - was) / won
    take_back(state)
    return loss


@inner_kernel
def _over_budget(state: BudgetState) -> float:
    """What is spent beyond the limits, as shares of what is spent on each."""
    total = 0.0
    for kind in range(state.allowed.shape[0]):
        total += max(state.spent[kind] - state.allowed[kind], 0.0) / max(state.spent[kind], 1.0)
    return float(total + state.over_copied[0] / max(state.spent[0], 1.0))


@inner_kernel
def give_back(state: BudgetState) -> bool:
    """Take back what costs the least balance until the rest is within the budget. Returns whether it is."""
    while not is_within_budget(state):
        members = state.changed[: state.count[0]].copy()
        loss = np.empty(members.shape[0])
        for i in range(members.shape[0]):
            loss[i] = _loss_of(state, members[i])
        order = smallest_first(loss)
        made = 0
        for rank in range(1 + members.shape[0] // state.params.given_back_at_once):
            if rank >= members.shape[0] or loss[order[rank]] >= NOT_COVERABLE or is_within_budget(state):
                break
            i = order[rank]
            if send_home(state, members[i]) and is_lawful(state):
                accept(state)
                made += 1
            else:
                take_back(state)
        if made == 0:
            return False
    return True


@inner_kernel
def undo_needless(state: BudgetState) -> int:
    """Take back every change without which the imbalance is no greater. Returns how many."""
    undone = 0
    members = state.changed[: state.count[0]].copy()
    for i in range(members.shape[0]):
        was = imbalance_of(state)
        is_tried = send_home(state, members[i]) and is_lawful(state) and is_within_budget(state)
        if is_tried and imbalance_of(state) <= was + GAIN_TOLERANCE:
            accept(state)
            undone += 1
        else:
            take_back(state)
    return undone
