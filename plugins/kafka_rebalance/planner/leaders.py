"""Choose leaders: the fewest leader changes for even counts and rates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_assignors.arrays import Flags, Floats, Ints, Longs
from kafka_assignors.errors import InvalidInputError
from kafka_assignors.kernels import ByReference, inner_kernel, kernel
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.params import (
    BAND_TOLERANCE,
    DEFAULTS,
    GAIN_TOLERANCE,
    HOWEVER_FAR,
    HUB_ARC,
    SUM_TOLERANCE,
    UNREACHED,
    LeaderParams,
    SolveParams,
)
from kafka_rebalance.planner.scales import candidates, resource_scale
from kafka_rebalance.planner.solution import NOTHING_DONE, SearchStatistics
from kafka_rebalance.planner.sorting import grouped_order, in_place, largest_first, smallest_first
from kafka_rebalance.planner.state import WorkingBands
from kafka_rebalance.resources import LEADER_CARRIED


def first_leaders(problem: Problem, replicas: Ints, may_lead: Flags) -> Ints:
    """Slots: today's leader if it may lead, else the first that may; where none may, today's leader, else the first."""
    is_today = (replicas >= 0) & (replicas == problem.leader[:, None])
    preferred = may_lead if problem.elects_preferred else is_today & may_lead
    otherwise = np.where(may_lead.any(axis=1), may_lead.argmax(axis=1), is_today.argmax(axis=1))
    return np.asarray(np.where(preferred.any(axis=1), preferred.argmax(axis=1), otherwise), dtype=np.int32)


def count_band(low: Floats, high: Floats, tolerance: float = DEFAULTS.bounds.count_tolerance) -> tuple[Longs, Longs]:
    top = np.minimum(np.where(np.isfinite(high), high, 1e15), 1e15)
    return np.ceil(low - tolerance).astype(np.int64), np.floor(top + tolerance).astype(np.int64)


@dataclass(frozen=True, eq=False, kw_only=True)
class LeaderState(ByReference):
    """D leader-carried resources. Loads include followers."""

    replicas: Ints  # int32[P, W]
    replica_index: Ints  # slot, int32[P]
    original: Ints  # int32[P]; free of cost
    may_lead: Flags  # bool[P, W]
    extra: Floats  # float64[P, D]
    load: Floats  # float64[B, D]
    low: Floats
    high: Floats
    limit: Floats
    items: Ints  # by leader
    start: Longs  # int64[B+1]
    filled: Longs  # int64[B]
    position: Ints  # int32[P]
    held: Ints  # slots p·W + j by broker
    held_start: Longs  # int64[B+1]
    pairs_left: Longs  # chains still to examine
    params: LeaderParams


@dataclass(frozen=True, slots=True, eq=False)
class LeaderLoads:
    """In means; ``limit`` is hard."""

    load: Floats
    low: Floats
    high: Floats
    limit: Floats


def make_leader_state(
    replicas: Ints,
    replica_index: Ints,
    original: Ints,
    may_lead: Flags,
    extra: Floats,
    loads: LeaderLoads,
    params: LeaderParams = DEFAULTS.leaders,
) -> LeaderState:
    brokers = loads.load.shape[0]
    flat = replicas.ravel()
    is_there = flat >= 0
    held_start = np.zeros(brokers + 1, dtype=np.int64)
    np.cumsum(np.bincount(flat[is_there], minlength=brokers), out=held_start[1:])
    held = grouped_order(flat + 1, brokers + 1).astype(np.int32)[int((~is_there).sum()) :]
    leader = replicas[np.arange(len(replicas)), replica_index]
    items = np.zeros(len(held) + 1, dtype=np.int32)
    position = np.zeros(len(replicas), dtype=np.int32)
    count = np.zeros(brokers, dtype=np.int64)
    _index_leaders(leader, held_start, items, position, count)
    return LeaderState(
        replicas=np.ascontiguousarray(replicas),
        replica_index=replica_index,
        original=np.ascontiguousarray(original),
        may_lead=np.ascontiguousarray(may_lead),
        extra=extra,
        load=loads.load,
        low=loads.low,
        high=loads.high,
        limit=loads.limit,
        items=items,
        start=held_start,
        filled=count,
        position=position,
        held=held,
        held_start=held_start,
        pairs_left=np.array([max(params.least_chains, params.chains_per_replica * len(held))], dtype=np.int64),
        params=params,
    )


@kernel
def _index_leaders(leader: Ints, start: Longs, items: Ints, position: Ints, count: Longs) -> None:
    for p in range(leader.shape[0]):
        b = leader[p]
        index = start[b] + count[b]
        items[index] = p
        position[p] = index
        count[b] += 1


@inner_kernel
def hand_over(state: LeaderState, p: int, replica_index: int) -> None:
    source, target = state.replicas[p, state.replica_index[p]], state.replicas[p, replica_index]
    state.filled[source] -= 1
    last = state.items[state.start[source] + state.filled[source]]
    state.items[state.position[p]] = last
    state.position[last] = state.position[p]
    index = state.start[target] + state.filled[target]
    state.items[index] = p
    state.position[p] = index
    state.filled[target] += 1
    state.replica_index[p] = replica_index
    for d in range(state.load.shape[1]):
        state.load[source, d] -= state.extra[p, d]
        state.load[target, d] += state.extra[p, d]


@inner_kernel
def switch_cost(state: LeaderState, p: int, replica_index: int) -> int:
    """Change in leader changes: -1, 0 or 1."""
    now, then = state.replicas[p, state.replica_index[p]], state.replicas[p, replica_index]
    return int(then != state.original[p]) - int(now != state.original[p])


@inner_kernel
def is_free(state: LeaderState, p: int, replica_index: int) -> bool:
    """Whether ``replica_index`` could lead, within hard limits."""
    if replica_index == state.replica_index[p] or not state.may_lead[p, replica_index]:
        return False
    target = state.replicas[p, replica_index]
    for d in range(state.load.shape[1]):  # noqa: SIM110  # all() over a generator does not compile
        if state.load[target, d] + state.extra[p, d] > state.limit[target, d]:
            return False
    return True


@inner_kernel
def band_violation(state: LeaderState, broker: int, d: int, change: float) -> float:
    load = state.load[broker, d] + change
    return float(max(load - state.high[broker, d], 0.0) + max(state.low[broker, d] - load, 0.0))


@inner_kernel
def leader_band_improvement(state: LeaderState, broker: int, p: int, sign: float) -> float:
    """Gain if ``broker`` gains (+1) or loses (-1) the leadership of ``p``."""
    total = 0.0
    for d in range(state.load.shape[1]):
        total += band_violation(state, broker, d, 0.0) - band_violation(state, broker, d, sign * state.extra[p, d])
    return total


@inner_kernel
def leader_outside(state: LeaderState, broker: int, sign: int) -> float:
    total = 0.0
    for d in range(state.load.shape[1]):
        if sign >= 0:
            total += max(state.load[broker, d] - state.high[broker, d], 0.0)
        if sign <= 0:
            total += max(state.low[broker, d] - state.load[broker, d], 0.0)
    return total


# Fewest leader changes that bring all leader counts into their bands: an exact min-cost flow.
#
# Promises, in order: counts end within low..high, or the total outside is minimal; no solution has fewer leader changes
# (with ``pull``: a smaller sum of squared counts, then fewer changes).
#
# An arc a → b is a partition that a leads and b holds; it costs 1 where a leads it today, -1 where b does, else 0. The
# hub (node B) takes low..high of each broker. Flow follows cheapest paths (primal-dual). Example: a leads 4, b 2, c 0,
# each may lead 2: a gives two to b, b two to c, 4 changes.
#
# O(arcs) a phase. Sources: Edmonds & Karp 1972, Dinic 1970, Harvey et al. 2003.


@dataclass(frozen=True, eq=False, kw_only=True)
class CountFlow(ByReference):
    low: Longs  # int64[B]
    high: Longs  # int64[B]
    through: Longs  # flow to the hub
    excess: Longs  # int64[B+1], sums to 0
    pull: int  # price of one more pair of leaders on a broker
    far: Longs  # distance from any excess
    level: Longs  # arcs on that path, -1: none
    next_arc: Longs
    path: Longs  # nodes
    arc: Longs  # partition · W + slot, or HUB_ARC


def count_flow(state: LeaderState, low: Longs, high: Longs, pull: int) -> CountFlow:
    brokers = len(low)
    low, high = (np.ascontiguousarray(limits, dtype=np.int64) for limits in (low, high))
    middle = state.filled if pull == 0 else np.full(brokers, len(state.replica_index) // max(1, brokers))
    through = np.clip(middle, low, high).astype(np.int64)
    excess = np.append(state.filled - through, through.sum() - len(state.replica_index)).astype(np.int64)
    nodes = [np.zeros(brokers + 2, dtype=np.int64) for _ in range(5)]
    return CountFlow(
        low=low, high=high, through=through, excess=excess, pull=pull, far=nodes[0][1:].copy(),
        level=nodes[1][1:].copy(), next_arc=nodes[2][1:].copy(), path=nodes[3], arc=nodes[4],
    )  # fmt: skip


@inner_kernel
def _offer(flow: CountFlow, node: int, distance: int, is_waiting: Longs) -> bool:
    if distance >= flow.far[node]:
        return False
    flow.far[node] = distance
    is_waiting[node] = 1
    return True


@inner_kernel
def _spread_from(state: LeaderState, flow: CountFlow, a: int, is_waiting: Longs) -> bool:
    hub, width, has_offered = flow.low.shape[0], state.replicas.shape[1], False
    if a == hub:
        for b in range(hub):
            if flow.through[b] > flow.low[b]:
                has_offered |= _offer(flow, b, flow.far[hub] - flow.pull * (2 * flow.through[b] - 1), is_waiting)
        return has_offered
    if flow.through[a] < flow.high[a]:
        has_offered |= _offer(flow, hub, flow.far[a] + flow.pull * (2 * flow.through[a] + 1), is_waiting)
    for i in range(state.start[a], state.start[a] + state.filled[a]):
        p = state.items[i]
        for replica_index in range(width):
            if replica_index != state.replica_index[p] and state.may_lead[p, replica_index]:
                distance = flow.far[a] + switch_cost(state, p, replica_index)
                has_offered |= _offer(flow, state.replicas[p, replica_index], distance, is_waiting)
    return has_offered


@kernel
def set_distances(state: LeaderState, flow: CountFlow, from_all: bool) -> bool:  # noqa: FBT001
    """Start from the excesses, or all nodes. True if a deficit is reached."""
    is_waiting = np.zeros(flow.far.shape[0], np.int64)
    for node in range(flow.far.shape[0]):
        is_source = from_all or flow.excess[node] > 0
        flow.far[node] = 0 if is_source else UNREACHED
        is_waiting[node] = 1 if is_source else 0
    goes_on = True
    while goes_on:
        goes_on = False
        for node in range(flow.far.shape[0]):
            if is_waiting[node]:
                is_waiting[node] = 0
                goes_on |= _spread_from(state, flow, node, is_waiting)
    for node in range(flow.far.shape[0]):  # noqa: SIM110  # any() over a generator does not compile
        if flow.excess[node] < 0 and flow.far[node] < UNREACHED:
            return True
    return False


@inner_kernel
def _next_on(state: LeaderState, flow: CountFlow, a: int, level: int) -> tuple[int, int]:
    """-1 if none."""
    hub, width = flow.low.shape[0], state.replicas.shape[1]
    if a == hub:
        while flow.next_arc[a] < hub:
            b = flow.next_arc[a]
            cost = -flow.pull * (2 * flow.through[b] - 1)
            if flow.level[b] == level and flow.through[b] > flow.low[b] and flow.far[a] + cost == flow.far[b]:
                return b, HUB_ARC
            flow.next_arc[a] += 1
        return -1, HUB_ARC
    cost = flow.pull * (2 * flow.through[a] + 1)
    if flow.level[hub] == level and flow.through[a] < flow.high[a] and flow.far[a] + cost == flow.far[hub]:
        return hub, HUB_ARC
    while flow.next_arc[a] < state.filled[a]:
        p = state.items[state.start[a] + flow.next_arc[a]]
        for replica_index in range(width):
            if replica_index != state.replica_index[p] and state.may_lead[p, replica_index]:
                b = state.replicas[p, replica_index]
                if flow.level[b] == level and flow.far[a] + switch_cost(state, p, replica_index) == flow.far[b]:
                    return b, p * width + replica_index
        flow.next_arc[a] += 1
    return -1, HUB_ARC


@inner_kernel
def _set_levels(state: LeaderState, flow: CountFlow) -> None:
    """-2 = not visited."""
    queue = np.empty(flow.far.shape[0], np.int64)
    ends = 0
    for node in range(flow.far.shape[0]):
        flow.next_arc[node] = 0
        flow.level[node] = -2
        if flow.excess[node] > 0:
            flow.level[node] = 0
            queue[ends] = node
            ends += 1
    begins = 0
    while begins < ends:
        a = queue[begins]
        begins += 1
        b, _ = _next_on(state, flow, a, -2)
        while b >= 0:
            flow.level[b] = flow.level[a] + 1
            queue[ends] = b
            ends += 1
            b, _ = _next_on(state, flow, a, -2)
    for node in range(flow.far.shape[0]):
        flow.next_arc[node] = 0


@inner_kernel
def _send(state: LeaderState, flow: CountFlow, depth: int) -> None:
    hub, width = flow.low.shape[0], state.replicas.shape[1]
    flow.excess[flow.path[0]] -= 1
    flow.excess[flow.path[depth]] += 1
    for step in range(depth):
        if flow.path[step] == hub:
            flow.through[flow.path[step + 1]] -= 1
        elif flow.path[step + 1] == hub:
            flow.through[flow.path[step]] += 1
        else:
            p = flow.arc[step] // width
            hand_over(state, p, flow.arc[step] - p * width)


@inner_kernel
def _send_from(state: LeaderState, flow: CountFlow, source: int) -> bool:
    depth = 0
    flow.path[0] = source
    while depth >= 0:
        a = flow.path[depth]
        if flow.excess[a] < 0:
            _send(state, flow, depth)
            return True
        b, arc = _next_on(state, flow, a, flow.level[a] + 1)
        if b >= 0:
            flow.arc[depth] = arc
            depth += 1
            flow.path[depth] = b
        else:
            flow.level[a] = -1
            depth -= 1
    return False


@kernel
def even_out(state: LeaderState, flow: CountFlow) -> int:
    """Send until no path is left; return the excess."""
    while set_distances(state, flow, False):
        sent = 1
        while sent > 0:
            sent = 0
            _set_levels(state, flow)
            for node in range(flow.far.shape[0]):
                while flow.excess[node] > 0 and flow.level[node] == 0 and _send_from(state, flow, node):
                    sent += 1
    left = 0
    for node in range(flow.far.shape[0]):
        left += max(flow.excess[node], 0)
    return left


# The flow's dual prices prove the fewest changes: Σ over partitions of the least of (1 if the leader changes + price of
# the new leader's broker), less price · high of every broker (price · low if negative).


@dataclass(frozen=True, slots=True, eq=False)
class EvenLeaders:
    """``changes``: the fewest for these counts, proved by ``prices`` (without ``pull``); ``left``: leaderships outside
    the bands; ``stuck``: brokers that cause it.
    """

    leader: Ints
    changes: int
    left: int
    stuck: Flags
    prices: Longs


def even_leaders(
    replicas: Ints, leader: Ints, low: Longs, high: Longs, *, may_lead: Flags | None = None, squares: bool = False
) -> EvenLeaders:
    """Leaders within the counts; ``leader`` is today's, -1: none; ``may_lead``: None = all. ``squares``: least sum of
    squared counts first, then fewest changes. Raises InvalidInputError for an empty band.
    """
    wrong = np.flatnonzero((low > high) | (high < 0))
    if len(wrong):
        b = int(wrong[0])
        raise InvalidInputError.at(f"band of broker index {b}", f"{low[b]}..{high[b]} holds no count")
    allowed = replicas >= 0 if may_lead is None else may_lead & (replicas >= 0)
    is_today = (replicas == leader[:, None]) & allowed
    replica_index = np.where(is_today.any(axis=1), is_today.argmax(axis=1), allowed.argmax(axis=1)).astype(np.int32)
    return _evened(_bare_state(replicas, replica_index, leader, allowed, len(low)), low, high, squares=squares)


def even_out_counts(state: LeaderState, low: Longs, high: Longs) -> int:
    """Change ``state``, which must start from today's leaders; return the excess left."""
    return int(even_out(state, count_flow(state, low, high, 0)))


def _evened(state: LeaderState, low: Longs, high: Longs, *, squares: bool) -> EvenLeaders:
    flow = count_flow(state, low, high, len(state.replica_index) + 1 if squares else 0)
    left = int(even_out(state, flow))
    stuck = flow.far[:-1] < UNREACHED if left else np.zeros(len(low), dtype=np.bool_)
    set_distances(state, flow, True)
    chosen = state.replicas[np.arange(len(state.replica_index)), state.replica_index]
    return EvenLeaders(chosen, int((chosen != state.original).sum()), left, stuck, flow.far[-1] - flow.far[:-1])


def _bare_state(replicas: Ints, replica_index: Ints, original: Ints, may_lead: Flags, brokers: int) -> LeaderState:
    nothing, empty = np.zeros((len(replicas), 0)), np.zeros((brokers, 0))
    rows, today = (np.ascontiguousarray(matrix, dtype=np.int32) for matrix in (replicas, original))
    return make_leader_state(
        rows, replica_index, today, np.ascontiguousarray(may_lead), nothing, LeaderLoads(empty, empty, empty, empty)
    )


# Leaders for several resources.
#
# Promises, in order: hard rules hold; no broker leaves its band while another change helps; best relief per change
# first; needless changes are undone. If no single change helps, two do: a hand-over passed on, or a swap.


@inner_kernel
def _worth(state: LeaderState, p: int, replica_index: int, worst: float) -> float:
    """Relief per leader change; -1 if none, or if the receiver leaves its bands."""
    source, target = state.replicas[p, state.replica_index[p]], state.replicas[p, replica_index]
    arrives = leader_band_improvement(state, target, p, 1.0)
    gain = arrives + leader_band_improvement(state, source, p, -1.0)
    if arrives < -worst - GAIN_TOLERANCE or gain <= GAIN_TOLERANCE:
        return -1.0
    roomy = 1.0 - state.params.load_discount * (state.load[target, 0] - state.load[source, 0])
    return float(
        gain * roomy * (1.0 if switch_cost(state, p, replica_index) > 0 else state.params.worth_of_free_change)
    )


@inner_kernel
def _best_index(state: LeaderState, p: int, worst: float) -> tuple[int, float]:
    best, best_worth = -1, 0.0
    for replica_index in range(state.replicas.shape[1]):
        if is_free(state, p, replica_index):
            worth = _worth(state, p, replica_index, worst)
            if worth > best_worth:
                best, best_worth = replica_index, worth
    return best, best_worth


@inner_kernel
def _give_from(state: LeaderState, broker: int, worst: float) -> int:
    led = state.items[state.start[broker] : state.start[broker] + state.filled[broker]].copy()
    worth = np.empty(led.shape[0])
    replica_indexes = np.empty(led.shape[0], np.int32)
    for i in range(led.shape[0]):
        replica_indexes[i], worth[i] = _best_index(state, led[i], worst)
    made = 0
    ranking = largest_first(worth)
    for rank in range(led.shape[0]):
        i = in_place(ranking, rank)
        if replica_indexes[i] < 0 or leader_outside(state, broker, 1) <= BAND_TOLERANCE:
            break
        if (
            is_free(state, led[i], replica_indexes[i])
            and _worth(state, led[i], replica_indexes[i], worst) >= state.params.least_of_rank * worth[i]
        ):
            hand_over(state, led[i], replica_indexes[i])
            made += 1
    return made


@inner_kernel
def _fetch_to(state: LeaderState, broker: int, worst: float) -> int:
    width = state.replicas.shape[1]
    indexes = state.held[state.held_start[broker] : state.held_start[broker + 1]]
    worth = np.empty(indexes.shape[0])
    for i in range(indexes.shape[0]):
        p = indexes[i] // width
        worth[i] = _fetch_worth(state, p, indexes[i] - p * width, worst)
    made = 0
    ranking = largest_first(worth)
    for rank in range(indexes.shape[0]):
        i = in_place(ranking, rank)
        if worth[i] <= 0 or leader_outside(state, broker, -1) <= BAND_TOLERANCE:
            break
        p = indexes[i] // width
        if _fetch_worth(state, p, indexes[i] - p * width, worst) >= state.params.least_of_rank * worth[i]:
            hand_over(state, p, indexes[i] - p * width)
            made += 1
    return made


@inner_kernel
def _fetch_worth(state: LeaderState, p: int, replica_index: int, worst: float) -> float:
    if not is_free(state, p, replica_index):
        return -1.0
    if leader_band_improvement(state, state.replicas[p, state.replica_index[p]], p, -1.0) < -worst - GAIN_TOLERANCE:
        return -1.0
    return _worth(state, p, replica_index, HOWEVER_FAR)


@inner_kernel
def _swap_gain(state: LeaderState, p: int, middle: int, q: int) -> float:
    """``middle`` takes ``p`` from its leader and gives it ``q``."""
    source = state.replicas[p, state.replica_index[p]]
    gain = 0.0
    for d in range(state.load.shape[1]):
        change = state.extra[p, d] - state.extra[q, d]
        gain += band_violation(state, middle, d, 0.0) - band_violation(state, middle, d, change)
        gain += band_violation(state, source, d, 0.0) - band_violation(state, source, d, -change)
    return gain


@inner_kernel
def _exchange_gain(state: LeaderState, p: int, middle: int, q: int) -> float:
    gain = 0.0
    for d in range(state.load.shape[1]):
        change = state.extra[p, d] - state.extra[q, d]
        gain += band_violation(state, middle, d, 0.0) - band_violation(state, middle, d, change)
    return gain


@inner_kernel
def best_passed_on(state: LeaderState, p: int, middle: int, lacks: Floats) -> tuple[int, int]:
    """Leadership that ``middle`` passes on if it takes ``p``, and to which replica."""
    source = state.replicas[p, state.replica_index[p]]
    given = leader_band_improvement(state, source, p, -1.0)
    best, best_index, best_gain = -1, -1, BAND_TOLERANCE
    for i in range(state.start[middle], state.start[middle] + state.filled[middle]):
        q = state.items[i]
        kept = _exchange_gain(state, p, middle, q)
        for replica_index in range(state.replicas.shape[1]):
            if replica_index == state.replica_index[q] or not state.may_lead[q, replica_index]:
                continue
            target = state.replicas[q, replica_index]
            if target == source:
                gain = _swap_gain(state, p, middle, q)
            elif kept + given + lacks[target] <= best_gain - SUM_TOLERANCE:
                continue
            else:
                gain = kept + (given + leader_band_improvement(state, target, q, 1.0))
            if gain > best_gain and is_free(state, q, replica_index):
                best, best_index, best_gain = q, replica_index, gain
    return best, best_index


@inner_kernel
def _pass_on(state: LeaderState, p: int, first: int, lacks: Floats) -> bool:
    middle = state.replicas[p, first]
    state.pairs_left[0] -= state.filled[middle] * state.replicas.shape[1]
    best, best_index = best_passed_on(state, p, middle, lacks)
    if best < 0:
        return False
    back = state.replica_index[best]
    hand_over(state, best, best_index)
    if not is_free(state, p, first):
        hand_over(state, best, back)
        return False
    hand_over(state, p, first)
    return True


@inner_kernel
def _chain_from(state: LeaderState, broker: int) -> bool:
    lacks = np.empty(state.load.shape[0])
    for b in range(lacks.shape[0]):
        lacks[b] = leader_outside(state, b, -1)
    for i in range(state.start[broker], state.start[broker] + state.filled[broker]):
        p = state.items[i]
        if state.pairs_left[0] <= 0:
            return False
        for replica_index in range(state.replicas.shape[1]):
            if (
                replica_index != state.replica_index[p]
                and state.may_lead[p, replica_index]
                and _pass_on(state, p, replica_index, lacks)
            ):
                return True
    return False


@inner_kernel
def _farthest_first(state: LeaderState) -> Longs:
    far = np.empty(state.load.shape[0])
    for b in range(far.shape[0]):
        far[b] = -leader_outside(state, b, 0)
    order = smallest_first(far)
    count = 0
    while count < order.shape[0] and far[order[count]] < -BAND_TOLERANCE:
        count += 1
    return order[:count]


@kernel
def search_leaders(state: LeaderState, max_rounds: int) -> tuple[int, int]:
    """Hand-overs made and undone."""
    return _search(state, max_rounds), _undo_needless(state)


@inner_kernel
def _search(state: LeaderState, max_rounds: int) -> int:
    made = 0
    for _ in range(max_rounds):
        before = made
        outside = _farthest_first(state)
        for b in outside:
            made += _give_from(state, b, 0.0)
            made += _fetch_to(state, b, 0.0)
        if made - before > outside.shape[0] // state.params.brokers_per_change:
            continue
        for b in _farthest_first(state):
            helped = _give_from(state, b, HOWEVER_FAR) + _fetch_to(state, b, HOWEVER_FAR)
            if helped == 0 and leader_outside(state, b, 0) > BAND_TOLERANCE and _chain_from(state, b):
                helped = 2
            made += helped
        if made == before:
            break
    return made


@inner_kernel
def _undo_needless(state: LeaderState) -> int:
    undone = 0
    for p in range(state.replica_index.shape[0]):
        if state.replicas[p, state.replica_index[p]] == state.original[p]:
            continue
        for replica_index in range(state.replicas.shape[1]):
            if state.replicas[p, replica_index] == state.original[p] and is_free(state, p, replica_index):
                source, target = state.replicas[p, state.replica_index[p]], state.original[p]
                if (
                    leader_band_improvement(state, source, p, -1.0) + leader_band_improvement(state, target, p, 1.0)
                    >= -GAIN_TOLERANCE
                ):
                    hand_over(state, p, replica_index)
                    undone += 1
                break
    return undone


def leader_columns(problem: Problem) -> list[int]:
    return [d for d, resource in enumerate(problem.resources) if resource in LEADER_CARRIED]


@dataclass(frozen=True, slots=True, eq=False)
class ChosenLeaders:
    replica_index: Ints
    statistics: SearchStatistics = NOTHING_DONE


def choose_leaders(
    problem: Problem, replicas: Ints, bands: WorkingBands, params: SolveParams = DEFAULTS
) -> ChosenLeaders:
    """Leaders-only plans: exact counts, then a search for rates, or the plain search if it ends nearer to the bands."""
    may_lead = candidates(problem, replicas)
    replica_index = first_leaders(problem, replicas, may_lead)
    columns = leader_columns(problem)
    if problem.elects_preferred or not columns:
        return ChosenLeaders(replica_index)
    state = leader_state_of(problem, replicas, replica_index, may_lead, bands, params.leaders)
    if problem.moves_replicas or not _even_out(problem, state, bands, params.bounds.count_tolerance):
        return ChosenLeaders(state.replica_index, _search_by_worst(state))
    if _band_violation(state) <= BAND_TOLERANCE:
        return ChosenLeaders(state.replica_index)
    done = _search_by_worst(state)
    other = leader_state_of(problem, replicas, replica_index, may_lead, bands, params.leaders)
    done += _search_by_worst(other)
    return ChosenLeaders(min(state, other, key=_evenness).replica_index, done)


def go_on_leading(
    problem: Problem, replicas: Ints, leader: Ints, bands: WorkingBands, params: SolveParams = DEFAULTS
) -> ChosenLeaders:
    may_lead = candidates(problem, replicas)
    replica_index = first_leaders(problem, replicas, may_lead)
    goes_on = may_lead & (replicas == leader[:, None])
    replica_index = np.where(goes_on.any(axis=1), goes_on.argmax(axis=1), replica_index).astype(np.int32)
    if problem.elects_preferred or not leader_columns(problem):
        return ChosenLeaders(replica_index)
    state = leader_state_of(problem, replicas, replica_index, may_lead, bands, params.leaders)
    return ChosenLeaders(state.replica_index, _search_by_worst(state))


def _search_by_worst(state: LeaderState) -> SearchStatistics:
    made, undone = search_leaders(state, state.params.rounds)
    return SearchStatistics(leaders_changed=made, leaders_undone=undone)


def _even_out(problem: Problem, state: LeaderState, bands: WorkingBands, tolerance: float) -> bool:
    d = problem.column("leaders")
    if d is None or np.isfinite(problem.limit[:, leader_columns(problem)]).any():
        return False
    low, high = count_band(bands.low[:, d], bands.high[:, d], tolerance)
    if (low > high).any():
        return False
    even_out_counts(state, low, high)
    return True


def _band_violation(state: LeaderState) -> float:
    return float(np.maximum(np.maximum(state.load - state.high, state.low - state.load), 0.0).sum())


def _evenness(state: LeaderState) -> tuple[float, int]:
    leader = state.replicas[np.arange(len(state.replica_index)), state.replica_index]
    return round(_band_violation(state), 6), int((leader != state.original).sum())


def leader_state_of(
    problem: Problem, replicas: Ints, replica_index: Ints, may_lead: Flags, bands: WorkingBands, params: LeaderParams
) -> LeaderState:
    columns = leader_columns(problem)
    scale = resource_scale(problem)[columns]
    extra = np.ascontiguousarray(problem.leader_extra[:, columns] / scale)
    load = _loads(replicas, replica_index, problem.follower_load[:, columns] / scale, extra, problem.broker_count)
    return make_leader_state(
        replicas,
        replica_index.copy(),
        problem.leader,
        may_lead,
        extra,
        LeaderLoads(
            load,
            np.ascontiguousarray(bands.low[:, columns] / scale),
            np.ascontiguousarray(bands.high[:, columns] / scale),
            np.ascontiguousarray(problem.limit[:, columns] / scale),
        ),
        params,
    )


def _loads(replicas: Ints, replica_index: Ints, follower: Floats, extra: Floats, brokers: int) -> Floats:
    load = np.zeros((brokers, follower.shape[1]))
    leader = replicas[np.arange(len(replicas)), replica_index]
    for d in range(follower.shape[1]):
        load[:, d] = np.bincount(leader, weights=extra[:, d], minlength=brokers)
        for j in range(replicas.shape[1]):
            is_replica = replicas[:, j] >= 0
            load[:, d] += np.bincount(replicas[is_replica, j], weights=follower[is_replica, d], minlength=brokers)
    return load


def least_leader_changes(problem: Problem) -> EvenLeaders | None:
    """Lower bound of a leaders-only plan; None if replicas may move or no choice meets all bands."""
    d = problem.column("leaders")
    if problem.moves_replicas or problem.elects_preferred or d is None or not problem.partition_count:
        return None
    low, high = count_band(problem.band_low[:, d], problem.band_high[:, d])
    if (low > high).any():
        return None
    allowed = candidates(problem, problem.replicas)
    led = np.flatnonzero(allowed.any(axis=1))
    if len(led) < problem.partition_count:
        return None
    leaders = even_leaders(problem.replicas, problem.leader, low, high, may_lead=allowed)
    return None if leaders.left else leaders
