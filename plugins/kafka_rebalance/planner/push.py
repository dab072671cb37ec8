"""Search, first half: brokers above their bands, or leaving, hand over replicas.

Promises, in order
1. A replica that must leave (drained broker, void) goes, wherever hard rules let it.
2. Nobody is pushed out of its band as long as there is another way; hard limits never.
3. Most relief per byte first, and to where it also fills a deficit.

A visit to one broker: rank its replicas by relief / cost, look for the best receiver of the best ones, apply them best
first while each still relieves nearly as much as when it was ranked. O(n log n) per visit for n replicas.
"""

from __future__ import annotations

import numpy as np

from kafka_rebalance.planner.compiled import kernel
from kafka_rebalance.planner.moving import (
    INSIDE,
    TINY,
    above,
    below,
    copies_needed,
    draw,
    fewest_in_rack,
    fits_limit,
    is_home,
    keeps_racks_even,
    may_hold,
    move,
    outside,
    rack_share,
    relief,
    weigh,
)
from kafka_rebalance.planner.problem import Floats, Ints
from kafka_rebalance.planner.state import Longs, State
from kafka_rebalance.planner.topic_spread import excess_change

# Receivers looked at for one replica: some of those that lack load, some of all.
LACKING_TRIED = 12
OTHERS_TRIED = 20
# How much a roomier receiver, and one that spreads the topic better, is preferred.
ROOM_WEIGHT = 0.1
TOPIC_WEIGHT = 0.3
# A ranked replica is applied while it is still worth this share of its rank.
STILL_WORTH = 0.8


@kernel
def room_of(state: State, broker: int) -> float:
    """How far below the middle of its bands a broker is, averaged over resources."""
    total = 0.0
    for d in range(state.load.shape[1]):
        total += 1.0 - state.load[broker, d] / max(state.high[broker, d], TINY)
    return float(total / state.load.shape[1])


@kernel
def receiver_score(state: State, p: int, j: int, source: int, target: int, weight: Floats, worst: float) -> float:
    """Worth of sending slot ``j`` of ``p`` to ``target``: deficit filled, then room and topic spread; -1e300 = no.

    ``worst`` is the farthest that the target may be taken from its bands (0 = not at all).
    """
    filled = relief(state, target, weight, 1.0)
    if filled < -worst - TINY or not may_hold(state, p, j, target) or not fits_limit(state, p, target, weight):
        return -1e300
    total = TINY
    for d in range(weight.shape[0]):
        total += weight[d]
    score = filled / total + ROOM_WEIGHT * room_of(state, target)
    return float(score - TOPIC_WEIGHT * excess_change(state.topics, state.replicas, p, source, target))


@kernel
def best_receiver(
    state: State, p: int, j: int, source: int, weight: Floats, takers: Ints, lacking: Ints, worst: float
) -> tuple[int, float]:
    """The best of some sampled receivers, and its score; -1 where none may take it."""
    must = state.leaves[source]
    fewest = fewest_in_rack(state, p, j) if must else 0
    best, best_score = -1, -1e299
    tried_lacking = min(LACKING_TRIED, lacking.shape[0])
    tried = tried_lacking + min(OTHERS_TRIED, takers.shape[0])
    first = draw(state, takers.shape[0])
    first_lacking = draw(state, max(1, lacking.shape[0]))
    stride = max(1, takers.shape[0] // OTHERS_TRIED)
    for i in range(tried):
        if i < tried_lacking:
            target = lacking[(first_lacking + i) % lacking.shape[0]]
        else:
            target = takers[(first + (i - tried_lacking) * stride) % takers.shape[0]]
        if target == source:
            continue
        if must:
            if rack_share(state, p, j, state.rack[target]) > fewest:
                continue
        elif not keeps_racks_even(state, p, j, target):
            continue
        score = receiver_score(state, p, j, source, target, weight, worst)
        if score > best_score:
            best, best_score = target, score
    return best, best_score


@kernel
def _rank_leavers(state: State, source: int, slots: Ints, worth: Floats, weight: Floats) -> int:
    """Replicas whose leaving relieves ``source``, and their relief per cost; returns how many."""
    width = state.replicas.shape[1]
    found = 0
    for place in range(state.start[source], state.start[source] + state.filled[source]):
        slot = state.items[place]
        p = slot // width
        weigh(state, p, slot - p * width, source, weight)
        gain = relief(state, source, weight, -1.0)
        if gain > TINY:
            slots[found] = slot
            worth[found] = gain / (state.cost[p] if is_home(state, p, source) else 0.05 * state.cost[p])
            found += 1
    return found


@kernel
def _joint_worth(state: State, p: int, source: int, target: int, weight: Floats) -> float:
    """Relief on both sides per cost of the move."""
    gain = relief(state, source, weight, -1.0) + relief(state, target, weight, 1.0)
    return float(gain / max(copies_needed(state, p, source, target), 0.05 * state.cost[p]))


@kernel
def push_from(state: State, source: int, takers: Ints, lacking: Ints, worst: float, share: float) -> int:
    """One visit to a broker above its bands; applies at most about ``share`` of what it must give. Returns moves."""
    width = state.replicas.shape[1]
    weight = np.empty(state.load.shape[1])
    slots = np.empty(state.filled[source], np.int32)
    worth = np.empty(state.filled[source])
    found = _rank_leavers(state, source, slots, worth, weight)
    ranked = np.argsort(-worth[:found])
    most = min(found, 48 + int(found * share))
    targets = np.empty(most, np.int32)
    joint = np.empty(most)
    for i in range(most):
        slot = slots[ranked[i]]
        p = slot // width
        weigh(state, p, slot - p * width, source, weight)
        target, _ = best_receiver(state, p, slot - p * width, source, weight, takers, lacking, worst)
        targets[i] = target
        joint[i] = -1.0
        if target >= 0:
            joint[i] = _joint_worth(state, p, source, target, weight)
    moves = 0
    quota = 12 + most // 4
    for i in np.argsort(-joint):
        if joint[i] <= 0 or moves >= quota or above(state, source) <= INSIDE:
            break
        slot = slots[ranked[i]]
        p = slot // width
        j = slot - p * width
        weigh(state, p, j, source, weight)
        if moves > 0 and _joint_worth(state, p, source, targets[i], weight) < STILL_WORTH * joint[i]:
            continue
        if receiver_score(state, p, j, source, targets[i], weight, worst) > -1e299:
            move(state, p, j, targets[i], weight)
            moves += 1
    return moves


@kernel
def brokers_lacking(state: State, takers: Ints) -> Ints:
    """Takers below one of their bands."""
    chosen = np.empty(takers.shape[0], np.int32)
    found = 0
    for b in takers:
        if below(state, b) > INSIDE:
            chosen[found] = b
            found += 1
    return chosen[:found]


@kernel
def worst_first(state: State) -> Longs:
    """Brokers outside their bands, farthest first."""
    far = np.empty(state.load.shape[0])
    for b in range(far.shape[0]):
        far[b] = -outside(state, b)
    order = np.argsort(far)
    found = 0
    while found < order.shape[0] and far[order[found]] < -INSIDE:
        found += 1
    return order[:found]


@kernel
def push_round(state: State, takers: Ints, worst: float, share: float) -> int:
    """Visit every broker above its bands once, farthest out first. Returns moves."""
    moves = 0
    for b in worst_first(state):
        if above(state, b) > INSIDE:
            moves += push_from(state, b, takers, brokers_lacking(state, takers), worst, share)
    return moves


@kernel
def _any_receiver(state: State, p: int, j: int, source: int, weight: Floats, takers: Ints) -> int:
    """The best of all brokers that hard rules allow, however full; -1 if there is none."""
    fewest = fewest_in_rack(state, p, j)
    best, best_score = -1, -1e299
    for target in takers:
        if target != source and rack_share(state, p, j, state.rack[target]) <= fewest:
            score = receiver_score(state, p, j, source, target, weight, 1e300)
            if score > best_score:
                best, best_score = target, score
    return best


@kernel
def evacuate(state: State, takers: Ints) -> int:
    """Empty drained brokers and the void, heaviest replicas first. Returns the replicas that found no place."""
    width = state.replicas.shape[1]
    weight = np.empty(state.load.shape[1])
    stranded = 0
    for source in range(state.load.shape[0]):
        if not state.leaves[source] or state.filled[source] == 0:
            continue
        slots = state.items[state.start[source] : state.start[source] + state.filled[source]].copy()
        size = np.empty(slots.shape[0])
        for i in range(slots.shape[0]):
            size[i] = -state.follower[slots[i] // width].max()
        for i in np.argsort(size):
            p = slots[i] // width
            j = slots[i] - p * width
            weigh(state, p, j, source, weight)
            target, _ = best_receiver(state, p, j, source, weight, takers, brokers_lacking(state, takers), 0.0)
            if target < 0:
                target = _any_receiver(state, p, j, source, weight, takers)
            if target < 0:
                stranded += 1
            else:
                move(state, p, j, target, weight)
    return stranded
