"""The smallest changes of the search within a budget, each of which can be taken back, and what they come to.

A change may go beyond a limit or the budget for a moment (two replicas that change places); ``is_lawful`` judges all
since the last ``accept``.
"""

from __future__ import annotations

import numpy as np

from kafka_rebalance.kernels.decorators import inlined_kernel, inner_kernel
from kafka_rebalance.planner.budget.budget_state import BudgetState
from kafka_rebalance.planner.replicas.moving import is_original, keeps_racks_even
from kafka_rebalance.planner.tolerances import FRACTIONS, SUM_TOLERANCE

# Kinds of changes in the log.
_RELOCATED, _LED = range(2)


@inlined_kernel
def imbalance_of(state: BudgetState) -> float:
    """The greater of what is above and below, and ``smooth`` times both, over all resources."""
    total = 0.0
    for d in range(state.outside.shape[1]):
        above, below = state.outside[0, d], state.outside[1, d]
        total += max(above, below) + state.smooth[0] * (above + below)
    return total


@inlined_kernel
def weight_of(state: BudgetState, p: int, broker: int, d: int) -> float:
    """What a replica of ``p`` that does not lead weighs on ``broker``."""
    weight = state.follower[p, d]
    if d == state.disk_column and state.own.shape[0] > 0:
        for i in range(state.original.shape[1]):
            if state.original[p, i] == broker:
                weight += state.own[p, i]
    return float(weight)


@inlined_kernel
def may_lead(state: BudgetState, p: int, broker: int) -> bool:
    """``broker`` may lead ``p``: it takes leaders, or leads it today and keeps it; not from an offline dir."""
    for i in range(state.original.shape[1]):
        if state.original[p, i] == -2 - broker:
            return False
    return bool(state.leaders_here[broker] or (broker == state.first_leader[p] and state.keeps_leaders[broker]))


@inner_kernel
def may_go(state: BudgetState, p: int, j: int, target: int) -> bool:
    """Slot ``j`` of ``p`` may be on ``target``: limits and the budget aside."""
    if not state.takes[target] and not (state.stays[target] and is_original(state, p, target)):
        return False
    if not state.in_set[state.set_of[p], target]:
        return False
    for i in range(state.replicas.shape[1]):
        if state.replicas[p, i] == target or state.original[p, i] == -2 - target:
            return False
    if state.leads[p] == j and not may_lead(state, p, target):
        return False
    return keeps_racks_even(state, p, j, target)


@inlined_kernel
def shift(state: BudgetState, broker: int, d: int, amount: float) -> None:
    """``broker`` carries ``amount`` more."""
    now = state.load[broker, d]
    then = now + amount
    high, low = state.high[broker, d], state.low[broker, d]
    state.outside[0, d] += max(then - high, 0.0) - max(now - high, 0.0)
    state.outside[1, d] += max(low - then, 0.0) - max(low - now, 0.0)
    state.load[broker, d] = then


@inner_kernel
def _note_change(state: BudgetState, p: int) -> None:
    """Keep the list of partitions that are not as they were."""
    leader = state.replicas[p, state.leads[p]]
    is_changed = leader != state.first_leader[p]
    for j in range(state.replicas.shape[1]):
        b = state.replicas[p, j]
        if b >= 0 and not is_original(state, p, b):
            is_changed = True
    if is_changed and state.place[p] < 0:
        state.place[p] = state.count[0]
        state.changed[state.count[0]] = p
        state.count[0] += 1
    elif not is_changed and state.place[p] >= 0:
        state.count[0] -= 1
        last = state.changed[state.count[0]]
        state.changed[state.place[p]] = last
        state.place[last] = state.place[p]
        state.place[p] = -1


@inlined_kernel
def _count_bytes(state: BudgetState, side: int, broker: int, amount: float) -> None:
    """``broker`` receives (0) or sends (1) ``amount`` more."""
    now = state.copied[side, broker]
    then = now + amount
    most = state.most_copied[0]
    state.over_copied[0] += max(then - most, 0.0) - max(now - most, 0.0)
    state.copied[side, broker] = then


@inner_kernel
def _count_copy(state: BudgetState, p: int, broker: int, sign: float) -> None:
    """One copy of ``p`` more (1) or less (-1) on ``broker``, unless it has one today."""
    if not is_original(state, p, broker):
        state.spent[0] += sign * state.size[p]
        state.spent[1] += sign
        _count_bytes(state, 0, broker, sign * state.size[p])
        if state.first_leader[p] >= 0:
            _count_bytes(state, 1, state.first_leader[p], sign * state.size[p])
        if state.disk_column >= 0:
            state.peak[broker] += sign * state.follower[p, state.disk_column]


@inner_kernel
def _set_broker(state: BudgetState, p: int, j: int, target: int) -> None:
    source = state.replicas[p, j]
    is_led = state.leads[p] == j
    for d in range(state.load.shape[1]):
        extra = state.extra[p, d] if is_led else 0.0
        shift(state, source, d, -(weight_of(state, p, source, d) + extra))
        shift(state, target, d, weight_of(state, p, target, d) + extra)
    _count_copy(state, p, source, -1.0)
    _count_copy(state, p, target, 1.0)
    if is_led:
        state.spent[2] += (1.0 if target != state.first_leader[p] else 0.0) - (
            1.0 if source != state.first_leader[p] else 0.0
        )
    state.replicas[p, j] = target
    _note_change(state, p)


@inner_kernel
def _set_leader(state: BudgetState, p: int, j: int) -> None:
    source, target = state.replicas[p, state.leads[p]], state.replicas[p, j]
    for d in range(state.load.shape[1]):
        shift(state, source, d, -state.extra[p, d])
        shift(state, target, d, state.extra[p, d])
    state.spent[2] += (1.0 if target != state.first_leader[p] else 0.0) - (
        1.0 if source != state.first_leader[p] else 0.0
    )
    state.leads[p] = j
    _note_change(state, p)


@inner_kernel
def _write_down(state: BudgetState, kind: int, p: int, j: int, before: int) -> None:
    entry = state.logged[0]
    state.log[entry, 0], state.log[entry, 1] = kind, p
    state.log[entry, 2], state.log[entry, 3] = j, before
    state.logged[0] += 1


@inner_kernel
def relocate(state: BudgetState, p: int, j: int, target: int) -> bool:
    """Take slot ``j`` of ``p`` to ``target`` if it may go there."""
    if not may_go(state, p, j, target):
        return False
    _write_down(state, _RELOCATED, p, j, state.replicas[p, j])
    _set_broker(state, p, j, target)
    return True


@inner_kernel
def hand_over(state: BudgetState, p: int, j: int) -> bool:
    """Slot ``j`` leads ``p`` if it may."""
    if j == state.leads[p] or state.replicas[p, j] < 0 or not may_lead(state, p, state.replicas[p, j]):
        return False
    _write_down(state, _LED, p, j, state.leads[p])
    _set_leader(state, p, j)
    return True


@inner_kernel
def accept(state: BudgetState) -> None:
    """What was changed stays."""
    state.logged[0] = 0


@inner_kernel
def take_back(state: BudgetState) -> None:
    """As it was at the last ``accept``."""
    while state.logged[0] > 0:
        state.logged[0] -= 1
        entry = state.logged[0]
        p, before = state.log[entry, 1], state.log[entry, 3]
        if state.log[entry, 0] == _RELOCATED:
            _set_broker(state, p, state.log[entry, 2], before)
        else:
            _set_leader(state, p, before)


@inner_kernel
def is_within_budget(state: BudgetState) -> bool:
    """Nothing is spent beyond what is allowed."""
    if state.over_copied[0] > SUM_TOLERANCE * state.most_copied[0]:
        return False
    return bool(
        state.spent[0] <= state.allowed[0] and state.spent[1] <= state.allowed[1] and state.spent[2] <= state.allowed[2]
    )


@inner_kernel
def is_lawful(state: BudgetState) -> bool:
    """Nobody who got something since the last ``accept`` is above a hard limit."""
    for entry in range(state.logged[0]):
        p, j = state.log[entry, 1], state.log[entry, 2]
        broker = state.replicas[p, j]
        is_copied = state.log[entry, 0] == _RELOCATED
        for d in range(state.load.shape[1]):
            gained = state.extra[p, d] + (state.follower[p, d] if is_copied else 0.0)
            if gained > 0 and state.load[broker, d] > state.limit[broker, d]:
                return False
        d = state.disk_column
        if d >= 0 and is_copied and not is_original(state, p, broker) and state.peak[broker] > state.limit[broker, d]:
            return False
    return True


@inner_kernel
def send_home(state: BudgetState, p: int) -> bool:
    """One replica of ``p`` goes back to a broker that holds it today, and so does leadership where it can."""
    before = state.logged[0]
    for j in range(state.replicas.shape[1]):
        if state.replicas[p, j] >= 0 and not is_original(state, p, state.replicas[p, j]):
            for i in range(state.original.shape[1]):
                if state.original[p, i] >= 0 and relocate(state, p, j, state.original[p, i]):
                    lead_home(state, p)
                    return True
    lead_home(state, p)
    return bool(state.logged[0] > before)


@inner_kernel
def lead_home(state: BudgetState, p: int) -> bool:
    """Today's leader leads again, if it holds a replica."""
    for j in range(state.replicas.shape[1]):
        if state.replicas[p, j] >= 0 and state.replicas[p, j] == state.first_leader[p]:
            return hand_over(state, p, j)
    return False


@inner_kernel
def is_borne(change: float, temperature: float, drawn: int) -> bool:
    """A change for the worse is borne by chance, the less the worse (Metropolis); ``drawn`` in [0, FRACTIONS)."""
    if change <= 0:
        return True
    if temperature <= 0:
        return False
    return bool(drawn < np.exp(-change / temperature) * FRACTIONS)
