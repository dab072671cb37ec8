"""The fewest leader changes that bring every broker's count of leaders into its band: a min-cost flow, exact.

Promises, in order
1. Every count ends within low..high where replicas allow it; where not, the counts outside are as few as can be.
2. No solution has fewer leader changes (or, with ``pull``: with a smaller sum of squared counts, and then with
   fewer changes).

How: leaderships flow between brokers. An arc a → b is a partition that a leads and b holds; it costs 1 where a leads
it today, -1 where b does, else 0. One more node, the hub (index B), takes what each broker leads, low..high of it.
Brokers above their band send along cheapest paths, several at a time (primal-dual: distances, then blocking flows in
the arcs that lie on cheapest paths), until all are inside or no path is left.
Example: a leads 4, b 2, c 0, each may lead 2; a's partitions lie on a and b, b's on b and c: a hands two to b and b
two to c, 4 changes.

Complexity: O(arcs) for each of few phases; one phase for each distance that occurs, distances are small integers.
Sources: Edmonds & Karp 1972 (cheapest augmenting paths), Dinic 1970 (blocking flows), Harvey et al. 2003 (squares).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import Longs
from kafka_rebalance.kernels.by_reference import ByReference
from kafka_rebalance.kernels.decorators import inner_kernel, kernel
from kafka_rebalance.planner.leaders.leader_state import LeaderState, hand_over, switch_cost
from kafka_rebalance.planner.tolerances import HUB_ARC, UNREACHED


@dataclass(frozen=True, eq=False, kw_only=True)
class CountFlow(ByReference):
    """Working arrays; B brokers, node B is the hub."""

    low: Longs  # int64[B]
    high: Longs  # int64[B]
    through: Longs  # int64[B]: what each broker passes to the hub, low..high
    excess: Longs  # int64[B+1]: what a node has too much (of), sums to 0
    pull: int  # price of one more pair of leaders on the same broker; 0: any count in the band is as good
    far: Longs  # int64[B+1]: cheapest way from any node with too much
    level: Longs  # int64[B+1]: arcs on that way, -1: not on any
    next_arc: Longs  # int64[B+1]: first arc that has not been found useless
    path: Longs  # int64[B+2]: nodes of the path at hand
    arc: Longs  # int64[B+2]: partition · W + slot, or HUB_ARC


def count_flow(state: LeaderState, low: Longs, high: Longs, pull: int) -> CountFlow:
    """The start: counts as they are, each broker passing on what its band allows."""
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
    """Reach ``node`` over this way if it is shorter than any other."""
    if distance >= flow.far[node]:
        return False
    flow.far[node] = distance
    is_waiting[node] = 1
    return True


@inner_kernel
def _spread_from(state: LeaderState, flow: CountFlow, a: int, is_waiting: Longs) -> bool:
    """Offer the ways over ``a`` to its neighbours."""
    hub, width, found = flow.low.shape[0], state.replicas.shape[1], False
    if a == hub:
        for b in range(hub):
            if flow.through[b] > flow.low[b]:
                found |= _offer(flow, b, flow.far[hub] - flow.pull * (2 * flow.through[b] - 1), is_waiting)
        return found
    if flow.through[a] < flow.high[a]:
        found |= _offer(flow, hub, flow.far[a] + flow.pull * (2 * flow.through[a] + 1), is_waiting)
    for i in range(state.start[a], state.start[a] + state.filled[a]):
        p = state.items[i]
        for replica_index in range(width):
            if replica_index != state.replica_index[p] and state.may_lead[p, replica_index]:
                distance = flow.far[a] + switch_cost(state, p, replica_index)
                found |= _offer(flow, state.replicas[p, replica_index], distance, is_waiting)
    return found


@kernel
def set_distances(state: LeaderState, flow: CountFlow, from_all: bool) -> bool:  # noqa: FBT001
    """Fill ``far`` from the nodes with too much, or from all. True if a node that lacks something is reached."""
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
    """The next node on a cheapest way over ``a`` whose level is ``level``, and the arc there; -1 where there is none.

    Arcs that lead nowhere are not looked at again.
    """
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
    """Breadth first over the arcs on cheapest ways; a node not seen yet has level -2 while looked for."""
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
    """One leadership along the path at hand."""
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
    """Depth first from ``source`` to a node that lacks something; dead ends are closed."""
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
    """Send until nobody has too much or no way is left. Returns how much is left outside the bands."""
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
