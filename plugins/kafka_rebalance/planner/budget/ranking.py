"""What one step is worth: the best place for one replica, the best leader for one partition, within what is left.

Worth of a step = by how much it lowers the imbalance, divided by what it takes of the budget to the power ``thrift``:
0 asks for the greatest step, 1 for the most of each unit. Nothing is changed here.
"""

from __future__ import annotations

from kafka_rebalance.kernels.decorators import inlined_kernel, inner_kernel
from kafka_rebalance.planner.budget.budget_state import BudgetState
from kafka_rebalance.planner.budget.changes import imbalance_of, may_go, may_lead, weight_of
from kafka_rebalance.planner.replicas.moving import is_original
from kafka_rebalance.planner.tolerances import GAIN_TOLERANCE, HOWEVER_FAR

# Rows of ``BudgetState.scratch``.
_ABOVE, _BELOW, _EXTRA = range(3)


@inner_kernel
def price_of(state: BudgetState, copied: float, copies: float, changes: float) -> float:
    """What a step takes of the budget, as a share of each limit, added up; -1 = more than is left."""
    price = 0.0
    for kind in range(state.allowed.shape[0]):
        amount = copied if kind == 0 else copies if kind == 1 else changes
        if state.allowed[kind] < HOWEVER_FAR:
            if amount > 0 and state.spent[kind] + amount > state.allowed[kind]:
                return -1.0
            price += amount / max(state.allowed[kind], state.params.least_price)
    return max(price, state.params.least_price)


@inner_kernel
def _price_of_copies(state: BudgetState, p: int, target: int, copies: float) -> float:
    """The same of what ``target`` receives, a copy of ``p``, and its leader sends, ``copies`` more; -1 = too much."""
    most, size = state.most_copied[0], state.size[p]
    if most >= HOWEVER_FAR:
        return 0.0
    is_home, leader = is_original(state, p, target), state.first_leader[p]
    if not is_home and state.copied[0, target] + size > most:
        return -1.0
    if copies > 0 and leader >= 0 and state.copied[1, leader] + copies * size > most:
        return -1.0
    return float(max(copies, 0.0) * size / max(most, state.params.least_price))


@inlined_kernel
def _is_led_anew(state: BudgetState, p: int, broker: int) -> float:
    return 1.0 if broker != state.first_leader[p] else 0.0


@inlined_kernel
def _rated(gain: float, price: float, thrift: float) -> float:
    return float(gain / price) if thrift > 0 else float(gain)


@inner_kernel
def _take_off(state: BudgetState, p: int, j: int) -> None:
    """Fill ``scratch`` with what would be outside without slot ``j`` of ``p``, and what leadership weighs there."""
    source = state.replicas[p, j]
    for d in range(state.load.shape[1]):
        extra = state.extra[p, d] if state.leads[p] == j else 0.0
        now = state.load[source, d]
        then = now - weight_of(state, p, source, d) - extra
        high, low = state.high[source, d], state.low[source, d]
        state.scratch[_ABOVE, d] = state.outside[0, d] + max(then - high, 0.0) - max(now - high, 0.0)
        state.scratch[_BELOW, d] = state.outside[1, d] + max(low - then, 0.0) - max(low - now, 0.0)
        state.scratch[_EXTRA, d] = extra


@inlined_kernel
def _with(state: BudgetState, p: int, target: int) -> float:
    """Imbalance when what was taken off is on ``target``; ``HOWEVER_FAR`` where that is above a hard limit."""
    total = 0.0
    is_home = is_original(state, p, target)
    for d in range(state.load.shape[1]):
        now = state.load[target, d]
        then = now + state.scratch[_EXTRA, d] + (weight_of(state, p, target, d) if is_home else state.follower[p, d])
        high, low = state.high[target, d], state.low[target, d]
        above = state.scratch[_ABOVE, d] + max(then - high, 0.0) - max(now - high, 0.0)
        below = state.scratch[_BELOW, d] + max(low - then, 0.0) - max(low - now, 0.0)
        total += max(above, below) + state.smooth[0] * (above + below)
        if then > now and then > state.limit[target, d]:
            return HOWEVER_FAR
    d = state.disk_column
    if d >= 0 and not is_home and state.peak[target] + state.follower[p, d] > state.limit[target, d]:
        return HOWEVER_FAR
    return total


@inner_kernel
def best_target(state: BudgetState, p: int, j: int, thrift: float) -> tuple[float, int]:
    """Worth of the best step for slot ``j`` of ``p``, and where it leads; 0 where none helps."""
    source = state.replicas[p, j]
    best, chosen = 0.0, -1
    if source < 0 or not state.moves_replicas:
        return best, chosen
    _take_off(state, p, j)
    was = imbalance_of(state)
    frees = 0.0 if is_original(state, p, source) else 1.0
    for target in range(state.load.shape[0]):
        now = _with(state, p, target)
        if was - now <= GAIN_TOLERANCE or not may_go(state, p, j, target):
            continue
        copies = (0.0 if is_original(state, p, target) else 1.0) - frees
        changes = _is_led_anew(state, p, target) - _is_led_anew(state, p, source) if state.leads[p] == j else 0.0
        price, beside = (
            price_of(state, copies * state.size[p], copies, changes),
            _price_of_copies(state, p, target, copies),
        )
        if beside < 0:
            continue
        price = price + beside if price > 0 else price
        if price > 0 and _rated(was - now, price, thrift) > best:
            best, chosen = _rated(was - now, price, thrift), target
    return best, chosen


@inner_kernel
def best_leader(state: BudgetState, p: int, thrift: float) -> tuple[float, int]:
    """Worth of the best change of leader of ``p``, and the slot that leads then; 0 where none helps."""
    source = state.replicas[p, state.leads[p]]
    best, chosen = 0.0, -1
    was = imbalance_of(state)
    for j in range(state.replicas.shape[1]):
        target = state.replicas[p, j]
        if target < 0 or j == state.leads[p] or not may_lead(state, p, target):
            continue
        price = price_of(state, 0.0, 0.0, _is_led_anew(state, p, target) - _is_led_anew(state, p, source))
        gain = was - _led_by(state, p, source, target)
        if price > 0 and gain > GAIN_TOLERANCE and _rated(gain, price, thrift) > best:
            best, chosen = _rated(gain, price, thrift), j
    return best, chosen


@inlined_kernel
def _led_by(state: BudgetState, p: int, source: int, target: int) -> float:
    """Imbalance when leadership has gone to ``target``; ``HOWEVER_FAR`` where that is above a hard limit."""
    total = 0.0
    for d in range(state.load.shape[1]):
        above, below = state.outside[0, d], state.outside[1, d]
        now = state.load[source, d]
        then = now - state.extra[p, d]
        above += max(then - state.high[source, d], 0.0) - max(now - state.high[source, d], 0.0)
        below += max(state.low[source, d] - then, 0.0) - max(state.low[source, d] - now, 0.0)
        now = state.load[target, d]
        then = now + state.extra[p, d]
        above += max(then - state.high[target, d], 0.0) - max(now - state.high[target, d], 0.0)
        below += max(state.low[target, d] - then, 0.0) - max(state.low[target, d] - now, 0.0)
        if then > now and then > state.limit[target, d]:
            return HOWEVER_FAR
        total += max(above, below) + state.smooth[0] * (above + below)
    return total
