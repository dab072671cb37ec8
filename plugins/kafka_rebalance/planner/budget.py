"""Most even placement within a budget, the best of several searches.

Promises, in order: hard rules and each limit hold (free changes need no budget); at least as even as the start and as
the greedy search; no needless change.

Greedy from the forced changes, by gain and by gain per unit of budget, also for a smoother measure (load above and
below may need two steps together); and from the unlimited plan, undone until it fits. Exchanges improve the best.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from kafka_assignors.arrays import ABSENT, Flags, Floats, Ints, Longs
from kafka_assignors.kernels import ByReference, inlined_kernel, inner_kernel, kernel
from kafka_rebalance.cluster_arrays.bands import distinct_racks
from kafka_rebalance.cluster_arrays.problem import Problem, broker_loads
from kafka_rebalance.planner.params import (
    DEFAULTS,
    FRACTIONS,
    GAIN_TOLERANCE,
    HOWEVER_FAR,
    NOT_COVERABLE,
    SUM_TOLERANCE,
    BudgetSearchParams,
    SolveParams,
)
from kafka_rebalance.planner.replicas.kernels import draw, is_original, keeps_racks_even
from kafka_rebalance.planner.sorting import smallest_first

# Loads are shares of their resource's total, so ``outside`` summed is the imbalance (``plans.dead_band``).


@dataclass(frozen=True, eq=False, kw_only=True)
class BudgetState(ByReference):
    """``original`` holds -2 - broker where a replica may not return."""

    replicas: Ints
    leads: Ints  # int32[P], slot
    original: Ints  # today
    first_leader: Ints  # today
    rows: Longs  # free partitions
    moves_replicas: bool
    follower: Floats
    extra: Floats
    own: Floats  # float64[P, W]: disk beyond the leader's, by original index; or float64[0, 0]
    disk_column: int  # -1: not among the D
    load: Floats
    low: Floats
    high: Floats
    limit: Floats
    peak: Floats  # disk while both copies exist
    rack: Ints
    stays: Flags
    takes: Flags
    set_of: Ints  # row of ``in_set``
    in_set: Flags  # bool[S, B]
    leaders_here: Flags  # may receive leadership
    keeps_leaders: Flags
    size: Floats  # bytes of a copy
    outside: Floats  # float64[2, D]: above and below the bands
    smooth: Floats  # weight of the smaller side
    spent: Floats  # bytes, replica moves, leader changes
    allowed: Floats  # inf: no limit
    copied: Floats  # float64[2, B]: bytes received, and sent as today's leader
    most_copied: Floats  # limit of each; inf: none
    over_copied: Floats  # bytes beyond it
    changed: Longs  # the first ``count``
    changed_index: Longs  # in ``changed``, -1 = not
    count: Longs
    log: Longs  # int64[16, 4]: steps since ``accept``: kind, partition, slot, previous value
    logged: Longs
    scratch: Floats
    random: npt.NDArray[np.uint64]
    params: BudgetSearchParams


def make_budget_state(
    problem: Problem, replicas: Ints, leader: Ints, *, seed: int, params: BudgetSearchParams
) -> BudgetState:
    whole = broker_loads(problem, replicas, leader)
    total = whole.sum(axis=0)
    scale = np.where(total > 0, total, 1.0)
    original = problem.replicas.copy()
    if problem.must_leave is not None:
        offline = problem.must_leave & (original >= 0) & ~problem.pinned[:, None]
        original[offline] = -2 - original[offline]
    load = np.ascontiguousarray(whole / scale)
    low, high = _judged(problem.band_low / scale, problem, 0.0), _judged(problem.band_high / scale, problem, np.inf)
    disk = problem.column("disk")
    count = problem.partition_count
    state = BudgetState(
        replicas=np.ascontiguousarray(replicas.astype(np.int32)).copy(),
        leads=_slot_of(replicas, leader),
        original=np.ascontiguousarray(original),
        first_leader=np.ascontiguousarray(problem.leader),
        rows=np.flatnonzero(~problem.pinned & (leader >= 0)),
        moves_replicas=problem.moves_replicas,
        follower=np.ascontiguousarray(problem.follower_load / scale),
        extra=np.ascontiguousarray(problem.leader_extra / scale),
        own=_own(problem, disk, scale),
        disk_column=-1 if disk is None else disk,
        load=load,
        low=low,
        high=high,
        limit=np.ascontiguousarray(problem.limit / scale),
        peak=_peaks(problem, replicas, disk, scale),
        rack=distinct_racks(problem.rack).astype(np.int32),
        stays=problem.stays.copy(),
        takes=problem.takes_replicas.copy(),
        set_of=np.ascontiguousarray(problem.sets.of_partition),
        in_set=np.ascontiguousarray(problem.sets.brokers),
        leaders_here=problem.takes_leaders.copy(),
        keeps_leaders=problem.keeps_leaders.copy(),
        size=np.ascontiguousarray(problem.move_bytes),
        outside=np.stack([np.maximum(load - high, 0.0).sum(axis=0), np.maximum(low - load, 0.0).sum(axis=0)]),
        smooth=np.zeros(1),
        spent=np.zeros(3),
        allowed=_allowed(problem),
        copied=np.zeros((2, problem.broker_count)),
        most_copied=np.array([np.inf if problem.budget.max_broker_bytes is None else problem.budget.max_broker_bytes]),
        over_copied=np.zeros(1),
        changed=np.zeros(count, dtype=np.int64),
        changed_index=np.full(count, -1, dtype=np.int64),
        count=np.zeros(1, dtype=np.int64),
        log=np.zeros((16, 4), dtype=np.int64),
        logged=np.zeros(1, dtype=np.int64),
        scratch=np.zeros((3, load.shape[1])),
        random=np.array([seed * 2 + 88172645463325253], dtype=np.uint64),
        params=params,
    )
    _count_spent(problem, state)
    return state


def leaders_of(state: BudgetState) -> Ints:
    return np.asarray(state.replicas[np.arange(len(state.leads)), state.leads])


def _judged(bands: Floats, problem: Problem, elsewhere: float) -> Floats:
    return np.ascontiguousarray(np.where(problem.stays[:, None], bands, elsewhere))


def _slot_of(replicas: Ints, leader: Ints) -> Ints:
    is_leader = (replicas == leader[:, None]) & (replicas >= 0)
    return np.where(is_leader.any(axis=1), is_leader.argmax(axis=1), 0).astype(np.int32)


def _own(problem: Problem, disk: int | None, scale: Floats) -> Floats:
    if problem.own_disk is None or disk is None:
        return np.zeros((0, 0))
    beyond = (problem.own_disk - problem.follower_load[:, disk : disk + 1]) / scale[disk]
    return np.ascontiguousarray(np.where(problem.replicas >= 0, beyond, 0.0))


def _peaks(problem: Problem, replicas: Ints, disk: int | None, scale: Floats) -> Floats:
    """Kafka deletes nothing before a copy is complete."""
    if disk is None:
        return np.zeros(problem.broker_count)
    peak = broker_loads(problem, problem.replicas, problem.leader)[:, disk]
    rows, slots = np.nonzero(_is_new(problem, replicas))
    np.add.at(peak, replicas[rows, slots], problem.follower_load[rows, disk])
    return np.asarray(peak / scale[disk])


def _is_new(problem: Problem, replicas: Ints) -> Flags:
    is_new: Flags = replicas >= 0
    for j in range(problem.replicas.shape[1]):
        is_new = is_new & (replicas != problem.replicas[:, j : j + 1])
    return is_new


def _allowed(problem: Problem) -> Floats:
    budget = problem.budget
    limits = (budget.max_bytes, budget.max_replica_moves, budget.max_leader_changes)
    return np.array([np.inf if limit is None else float(limit) for limit in limits])


def _count_spent(problem: Problem, state: BudgetState) -> None:
    rows = state.rows
    is_new = _is_new(problem, state.replicas)[rows]
    copies = is_new.sum(axis=1)
    at, j = np.nonzero(is_new)
    np.add.at(state.copied[0], state.replicas[rows[at], j], state.size[rows[at]])
    leaders, sent = state.first_leader[rows], copies * state.size[rows]
    np.add.at(state.copied[1], leaders[leaders >= 0], sent[leaders >= 0])
    state.over_copied[0] = np.maximum(state.copied - state.most_copied[0], 0.0).sum()
    is_led_anew = leaders_of(state)[rows] != state.first_leader[rows]
    state.spent[:] = (
        float((copies * state.size[rows]).sum()), float(copies.sum()), float(is_led_anew.sum())
    )  # fmt: skip
    changed = rows[(copies > 0) | (is_led_anew & (state.first_leader[rows] != ABSENT))]
    state.changed[: len(changed)] = changed
    state.changed_index[changed] = np.arange(len(changed))
    state.count[0] = len(changed)


# A step may exceed a limit for a moment (a swap); ``is_lawful`` judges all since ``accept``.


_RELOCATED, _LED = range(2)


@inlined_kernel
def imbalance_of(state: BudgetState) -> float:
    """The larger of above and below, plus ``smooth`` times both, summed."""
    total = 0.0
    for d in range(state.outside.shape[1]):
        above, below = state.outside[0, d], state.outside[1, d]
        total += max(above, below) + state.smooth[0] * (above + below)
    return total


@inlined_kernel
def weight_of(state: BudgetState, p: int, broker: int, d: int) -> float:
    weight = state.follower[p, d]
    if d == state.disk_column and state.own.shape[0] > 0:
        for i in range(state.original.shape[1]):
            if state.original[p, i] == broker:
                weight += state.own[p, i]
    return float(weight)


@inlined_kernel
def may_lead(state: BudgetState, p: int, broker: int) -> bool:
    """Takes leaders, or leads today and keeps them; not from an offline dir."""
    for i in range(state.original.shape[1]):
        if state.original[p, i] == -2 - broker:
            return False
    return bool(state.leaders_here[broker] or (broker == state.first_leader[p] and state.keeps_leaders[broker]))


@inner_kernel
def may_go(state: BudgetState, p: int, j: int, target: int) -> bool:
    """Whether the rules allow it, limits and the budget aside."""
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
    now = state.load[broker, d]
    then = now + amount
    high, low = state.high[broker, d], state.low[broker, d]
    state.outside[0, d] += max(then - high, 0.0) - max(now - high, 0.0)
    state.outside[1, d] += max(low - then, 0.0) - max(low - now, 0.0)
    state.load[broker, d] = then


@inner_kernel
def _note_change(state: BudgetState, p: int) -> None:
    leader = state.replicas[p, state.leads[p]]
    is_changed = leader != state.first_leader[p]
    for j in range(state.replicas.shape[1]):
        b = state.replicas[p, j]
        if b >= 0 and not is_original(state, p, b):
            is_changed = True
    if is_changed and state.changed_index[p] < 0:
        state.changed_index[p] = state.count[0]
        state.changed[state.count[0]] = p
        state.count[0] += 1
    elif not is_changed and state.changed_index[p] >= 0:
        state.count[0] -= 1
        last = state.changed[state.count[0]]
        state.changed[state.changed_index[p]] = last
        state.changed_index[last] = state.changed_index[p]
        state.changed_index[p] = -1


@inlined_kernel
def _count_bytes(state: BudgetState, side: int, broker: int, amount: float) -> None:
    now = state.copied[side, broker]
    then = now + amount
    most = state.most_copied[0]
    state.over_copied[0] += max(then - most, 0.0) - max(now - most, 0.0)
    state.copied[side, broker] = then


@inner_kernel
def _count_copy(state: BudgetState, p: int, broker: int, sign: float) -> None:
    """Unless ``broker`` has one today."""
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
    if not may_go(state, p, j, target):
        return False
    _write_down(state, _RELOCATED, p, j, state.replicas[p, j])
    _set_broker(state, p, j, target)
    return True


@inner_kernel
def hand_over(state: BudgetState, p: int, j: int) -> bool:
    if j == state.leads[p] or state.replicas[p, j] < 0 or not may_lead(state, p, state.replicas[p, j]):
        return False
    _write_down(state, _LED, p, j, state.leads[p])
    _set_leader(state, p, j)
    return True


@inner_kernel
def accept(state: BudgetState) -> None:
    state.logged[0] = 0


@inner_kernel
def take_back(state: BudgetState) -> None:
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
    if state.over_copied[0] > SUM_TOLERANCE * state.most_copied[0]:
        return False
    return bool(
        state.spent[0] <= state.allowed[0] and state.spent[1] <= state.allowed[1] and state.spent[2] <= state.allowed[2]
    )


@inner_kernel
def is_lawful(state: BudgetState) -> bool:
    """No broker that gained since ``accept`` is above a hard limit."""
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
    for j in range(state.replicas.shape[1]):
        if state.replicas[p, j] >= 0 and state.replicas[p, j] == state.first_leader[p]:
            return hand_over(state, p, j)
    return False


@inner_kernel
def is_borne(change: float, temperature: float, drawn: int) -> bool:
    """Metropolis acceptance; ``drawn`` in [0, FRACTIONS)."""
    if change <= 0:
        return True
    if temperature <= 0:
        return False
    return bool(drawn < np.exp(-change / temperature) * FRACTIONS)


# Exchanges within the budget (Metropolis): a replica moves; another one leads; two swap; one goes home and another
# moves instead. Counted steps, seeded; O(W·D) a step.


@inner_kernel
def _drawn_row(state: BudgetState) -> int:
    return int(state.rows[draw(state, state.rows.shape[0])])


@inner_kernel
def _drawn_slot(state: BudgetState, p: int) -> int:
    count = 0
    for j in range(state.replicas.shape[1]):
        if state.replicas[p, j] >= 0:
            count = j + 1
    return draw(state, count)


@inner_kernel
def _try_step(state: BudgetState) -> bool:
    p = _drawn_row(state)
    j = _drawn_slot(state, p)
    if not state.moves_replicas or draw(state, 100) < state.params.leader_steps:
        return hand_over(state, p, j)
    return relocate(state, p, j, draw(state, state.load.shape[0]))


@inner_kernel
def _try_swap(state: BudgetState) -> bool:
    p, q = _drawn_row(state), _drawn_row(state)
    if p == q:
        return False
    j, i = _drawn_slot(state, p), _drawn_slot(state, q)
    if not state.moves_replicas:
        return hand_over(state, p, j) and hand_over(state, q, i)
    first, second = state.replicas[p, j], state.replicas[q, i]
    return first != second and relocate(state, p, j, second) and relocate(state, q, i, first)


@inner_kernel
def _try_exchange(state: BudgetState) -> bool:
    if state.count[0] == 0:
        return _try_step(state)
    p = state.changed[draw(state, state.count[0])]
    j = _drawn_slot(state, p)
    target, leads = state.replicas[p, j], state.leads[p] == j
    if draw(state, 2) == 0:
        if not lead_home(state, p):
            return False
    elif not send_home(state, p):
        return False
    if draw(state, 2) == 0:
        return _try_step(state)
    q = _drawn_row(state)
    i = _drawn_slot(state, q)
    if leads and draw(state, 2) == 0:
        return hand_over(state, q, i)
    return q != p and state.moves_replicas and relocate(state, q, i, target)


@inner_kernel
def exchange(state: BudgetState, steps: int, warm: float, cold: float) -> int:
    """Cool from ``warm`` to ``cold``, then to 0. Return changes."""
    if state.rows.shape[0] == 0:
        return 0
    made = 0
    steepness = np.log(cold / warm) if steps > 0 else 0.0
    was = imbalance_of(state)
    for step in range(steps):
        done = step / steps
        temperature = warm * np.exp(steepness * done / state.params.cooling) if done < state.params.cooling else 0.0
        kind = draw(state, 100)
        if kind < state.params.single_steps:
            is_tried = _try_step(state)
        elif kind < state.params.swaps:
            is_tried = _try_swap(state)
        else:
            is_tried = _try_exchange(state)
        if is_tried and is_within_budget(state):
            now = imbalance_of(state)
            if is_borne(now - was, temperature, draw(state, FRACTIONS)) and is_lawful(state):
                accept(state)
                was = now
                made += 1
                continue
        take_back(state)
        was = imbalance_of(state)
    return made


# Worth of a step: gain in imbalance / (share of the budget) ** ``thrift``: 0 = largest step, 1 = most per unit.


_ABOVE, _BELOW, _EXTRA = range(3)


@inner_kernel
def price_of(state: BudgetState, copied: float, copies: float, changes: float) -> float:
    """Shares of each limit, summed; -1 = too much."""
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
    """The limits of ``target`` and of the leader, which sends ``copies`` more."""
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
    """Worth and target of the best move, 0 if none helps."""
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
    """Worth and slot of the best leader change, 0 if none helps."""
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


# Greedy search with a heap of all best moves and leader changes, and the way back.
#
# Small clusters rank all again before each step, O(P·W·B·D). Large ones rank only the top again and take it while it
# stays on top (worth mostly falls), O(B·D + log P·W).


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
def _sink(heap: Longs, worth: Floats, index: int) -> None:
    count = heap.shape[0]
    item = heap[index]
    while 2 * index + 1 < count:
        child = 2 * index + 1
        if child + 1 < count and worth[heap[child + 1]] > worth[heap[child]]:
            child += 1
        if worth[heap[child]] <= worth[item]:
            break
        heap[index] = heap[child]
        index = child
    heap[index] = item


@inner_kernel
def _rank_all(state: BudgetState, worth: Floats, choice: Longs, heap: Longs, thrift: float) -> None:
    for item in range(worth.shape[0]):
        worth[item], choice[item] = _rank(state, item, thrift)
        heap[item] = item
    for back in range(heap.shape[0] // 2):
        _sink(heap, worth, heap.shape[0] // 2 - 1 - back)


@inner_kernel
def _is_still_on_top(state: BudgetState, worth: Floats, choice: Longs, heap: Longs, thrift: float) -> bool:
    top = heap[0]
    before = worth[top]
    worth[top], choice[top] = _rank(state, top, thrift)
    if worth[top] < before:
        _sink(heap, worth, 0)
    return bool(heap[0] == top and worth[top] > 0.0)


@inner_kernel
def improve(state: BudgetState, thrift: float) -> int:
    """Make steps within the budget; return how many."""
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
def _goes_back(state: BudgetState, p: int, leads_only: int) -> bool:
    return lead_home(state, p) if leads_only == 1 else send_home(state, p)


@inner_kernel
def _loss_of(state: BudgetState, p: int, leads_only: int) -> float:
    """Imbalance added for each share of the budget regained."""
    was = imbalance_of(state)
    before = _over_budget(state)
    loss = NOT_COVERABLE
    if _goes_back(state, p, leads_only) and is_lawful(state):
        won = before - _over_budget(state)
        if won > 0.0:
            loss = (imbalance_of(state) - was) / won
    take_back(state)
    return loss


@inner_kernel
def _over_budget(state: BudgetState) -> float:
    total = 0.0
    for kind in range(state.allowed.shape[0]):
        total += max(state.spent[kind] - state.allowed[kind], 0.0) / max(state.spent[kind], 1.0)
    return float(total + state.over_copied[0] / max(state.spent[0], 1.0))


@inner_kernel
def give_back(state: BudgetState) -> bool:
    while not is_within_budget(state):
        members = state.changed[: state.count[0]].copy()
        loss, leads_only = np.empty(members.shape[0]), np.empty(members.shape[0], np.int64)
        for i in range(members.shape[0]):
            loss[i], leads_only[i] = _loss_of(state, members[i], 0), 0
            alone = _loss_of(state, members[i], 1)
            if alone < loss[i]:
                loss[i], leads_only[i] = alone, 1
        order = smallest_first(loss)
        made = 0
        for rank in range(1 + members.shape[0] // state.params.given_back_at_once):
            if rank >= members.shape[0] or loss[order[rank]] >= NOT_COVERABLE or is_within_budget(state):
                break
            i = order[rank]
            if _goes_back(state, members[i], leads_only[i]) and is_lawful(state):
                accept(state)
                made += 1
            else:
                take_back(state)
        if made == 0:
            return False
    return True


@inner_kernel
def undo_needless(state: BudgetState) -> int:
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


_GIVE_BACK, _IMPROVE, _EXCHANGE, _UNDO = range(4)


@kernel
def _run_kernel(step: int, state: BudgetState, amount: int, first: float, second: float) -> int:
    if step == _GIVE_BACK:
        return int(give_back(state))
    if step == _IMPROVE:
        return int(improve(state, first))
    if step == _EXCHANGE:
        return int(exchange(state, amount, first, second))
    return int(undo_needless(state))


def run_give_back(state: BudgetState) -> bool:
    return bool(_run_kernel(_GIVE_BACK, state, 0, 0.0, 0.0))


def run_improve(state: BudgetState, thrift: float) -> int:
    """Step by gain (0) or by gain per unit of budget (1); return how many."""
    return int(_run_kernel(_IMPROVE, state, 0, thrift, 0.0))


def run_exchange(state: BudgetState, steps: int, warm: float, cold: float) -> int:
    return int(_run_kernel(_EXCHANGE, state, steps, warm, cold))


def run_undo_needless(state: BudgetState) -> int:
    return int(_run_kernel(_UNDO, state, 0, 0.0, 0.0))


@dataclass(frozen=True, slots=True, eq=False)
class Placing:
    replicas: Ints
    leader: Ints


def search_within_budget(
    problem: Problem,
    least: Placing,
    unlimited: Placing,
    *,
    seed: int = 0,
    solve_params: SolveParams = DEFAULTS,
    is_guess: bool = False,
) -> Placing:
    """``least``: forced changes only; ``unlimited``: no budget. ``is_guess``: one greedy search, no exchange."""
    params = solve_params.within_budget

    def started(start: Placing, smooth: float) -> BudgetState:
        state = make_budget_state(problem, start.replicas, start.leader, seed=seed, params=params)
        state.smooth[0] = smooth
        return state

    ways = [(params.smooth, 1.0)]
    if not is_guess:
        ways = [(smooth, thrift) for smooth in (params.smooth, params.smoother) for thrift in (0.0, 1.0)]
    candidates = [
        started(least, params.smooth),
        *(_finished(started(least, smooth), params, partial(run_improve, thrift=thrift)) for smooth, thrift in ways),
    ]
    state = started(unlimited, params.smooth)
    if run_give_back(state):
        candidates.append(_finished(state, params, partial(run_improve, thrift=1.0)))
    best = min(candidates, key=_worth)
    if is_guess:
        return Placing(best.replicas, leaders_of(best))
    again = started(Placing(best.replicas, leaders_of(best)), params.smooth)
    best = min(
        best,
        _finished(again, params, partial(_exchanged, params=params, steps=solve_params.effort.exchange_steps)),
        key=_worth,
    )
    return Placing(best.replicas, leaders_of(best))


def _finished(state: BudgetState, params: BudgetSearchParams, step: Callable[[BudgetState], int]) -> BudgetState:
    step(state)
    state.smooth[0] = params.smooth
    run_improve(state, 0.0)
    run_undo_needless(state)
    return state


def _exchanged(state: BudgetState, params: BudgetSearchParams, steps: int) -> int:
    weight = float(state.follower[state.rows].sum(axis=1).mean()) if len(state.rows) else 0.0
    if weight <= 0:
        return 0
    warm = max(params.cold, params.warm * min(1.0, steps / (params.tries_when_warm * len(state.rows))))
    return run_exchange(state, steps, warm * weight, params.cold * weight)


def _worth(state: BudgetState) -> tuple[float, float, float, float]:
    copied, copies, changes = state.spent.tolist()
    return round(float(np.maximum(state.outside[0], state.outside[1]).sum()), 9), copied, copies, changes
