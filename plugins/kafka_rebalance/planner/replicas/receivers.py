"""Who takes a replica: a broker that lacks just this mixture of loads, else one with free capacity."""

from __future__ import annotations

import numpy as np

from kafka_rebalance.arrays import Floats, Ints
from kafka_rebalance.kernels.decorators import inlined_kernel, inner_kernel
from kafka_rebalance.planner.replicas.moving import (
    band_improvement,
    below,
    draw,
    fewest_in_rack,
    fits_limit,
    keeps_racks_even,
    may_hold,
    rack_share,
)
from kafka_rebalance.planner.state import State
from kafka_rebalance.planner.tolerances import BAND_TOLERANCE, FORBIDDEN, GAIN_TOLERANCE
from kafka_rebalance.planner.topic_spread import excess_change


@inlined_kernel
def alignment(weight: Floats, need: Floats) -> float:
    """Cosine of the angle between a replica's weights and what is needed: 1 = serves all resources in proportion."""
    dot, square, needed = 0.0, 1e-300, 1e-300
    for d in range(weight.shape[0]):
        dot += weight[d] * need[d]
        square += weight[d] * weight[d]
        needed += need[d] * need[d]
    return float(dot / np.sqrt(square * needed))


@inlined_kernel
def useful_part(weight: Floats, need: Floats) -> float:
    """Of what a replica brings of the resources that are lacking, the part that is needed."""
    used, brought = 0.0, 1e-300
    for d in range(weight.shape[0]):
        if need[d] > 0:
            used += min(weight[d], need[d])
            brought += weight[d]
    return float(used / brought)


@inlined_kernel
def _filled(weight: Floats, need: Floats) -> float:
    """What a replica fills of what is lacking."""
    filled = 1e-300
    for d in range(weight.shape[0]):
        filled += min(weight[d], need[d])
    return float(filled)


@inlined_kernel
def need_of(state: State, broker: int, need: Floats) -> None:
    """How far each resource of a broker is below its band."""
    for d in range(need.shape[0]):
        need[d] = max(state.low[broker, d] - state.load[broker, d], 0.0)


@inlined_kernel
def service(state: State, broker: int, weight: Floats, need: Floats) -> float:
    """How well a replica serves a broker below its bands: 1 = all that it lacks, in proportion; <= 0 = not at all.

    Alignment, less where it brings more than is lacking (elsewhere those bytes would be of use), less where it takes
    the broker above a band. Fills ``need``.
    """
    helped = band_improvement(state, broker, weight, 1.0)
    if helped <= GAIN_TOLERANCE:
        return 0.0
    need_of(state, broker, need)
    return float(alignment(weight, need) * useful_part(weight, need) * helped / _filled(weight, need))


@inner_kernel
def brokers_lacking(state: State, receivers: Ints) -> Ints:
    """Takers below one of their bands."""
    chosen = np.empty(receivers.shape[0], np.int32)
    found = 0
    for b in receivers:
        if below(state, b) > BAND_TOLERANCE:
            chosen[found] = b
            found += 1
    return chosen[:found]


@inlined_kernel
def _rack_allows(state: State, p: int, j: int, source: int, target: int, fewest: int) -> bool:
    """A replica that must leave goes to a rack with the fewest others; any other may not unbalance racks."""
    if fewest >= 0:
        return rack_share(state, p, j, state.rack[target]) <= fewest
    return source != target and keeps_racks_even(state, p, j, target)


@inner_kernel
def rack_limit(state: State, p: int, j: int, source: int) -> int:
    """``fewest`` for ``_rack_allows``: -1 for a replica that may stay."""
    return fewest_in_rack(state, p, j) if state.leaves[source] else -1


@inner_kernel
def lacking_receiver(state: State, p: int, j: int, weight: Floats, lacking: Ints, need: Floats, least: float) -> int:
    """Of sampled brokers below their bands, the one that best needs this mixture; -1 = none does by ``least``."""
    source = state.replicas[p, j]
    fewest = rack_limit(state, p, j, source)
    best, best_score = -1, least
    first = draw(state, max(1, lacking.shape[0]))
    numbers = state.params.receivers
    is_many = state.position.shape[0] >= numbers.many_replicas
    tries = numbers.lacking_tried_by_many if is_many else numbers.lacking_tried
    topic_weight = numbers.topic_weight
    for i in range(min(tries, lacking.shape[0])):
        target = lacking[(first + i) % lacking.shape[0]]
        if not _rack_allows(state, p, j, source, target, fewest):
            continue
        score = service(state, target, weight, need)
        if score <= 0 or score + topic_weight <= best_score or not may_hold(state, p, j, target):
            continue
        score -= topic_weight * excess_change(state.topics, state.replicas, p, source, target)
        if score > best_score and fits_limit(state, p, target, weight):
            best, best_score = target, score
    return best


@inner_kernel
def capacity_score(state: State, p: int, j: int, target: int, weight: Floats, worst: float, best: float) -> float:
    """Preference for a receiver: deficit filled, room left, topic spread; -1e300 = it may not take the replica.

    ``worst`` is the farthest that the target may be taken from its bands (0 = not at all). Who cannot beat ``best``
    whatever the topic is not looked at further (-1e300 too): in a large cluster each look at a topic is far in memory.
    """
    filled = band_improvement(state, target, weight, 1.0)
    if filled < -worst - GAIN_TOLERANCE:
        return FORBIDDEN
    score, total = 0.0, 1e-300
    for d in range(weight.shape[0]):
        total += weight[d]
        score += 1.0 - state.load[target, d] / max(state.high[target, d], GAIN_TOLERANCE)
    score = score / weight.shape[0] + filled / total
    topic_weight = state.params.receivers.topic_weight
    if score + topic_weight <= best or not may_hold(state, p, j, target) or not fits_limit(state, p, target, weight):
        return FORBIDDEN
    return float(score - topic_weight * excess_change(state.topics, state.replicas, p, state.replicas[p, j], target))


@inner_kernel
def roomy_receiver(state: State, p: int, j: int, weight: Floats, receivers: Ints, worst: float, tries: int) -> int:
    """The best of ``tries`` brokers evenly picked from ``receivers``; -1 if none may take the replica."""
    source = state.replicas[p, j]
    fewest = rack_limit(state, p, j, source)
    best, best_score = -1, 0.1 * FORBIDDEN
    first = draw(state, max(1, receivers.shape[0]))
    stride = max(1, receivers.shape[0] // tries)
    for i in range(min(tries, receivers.shape[0])):
        target = receivers[(first + i * stride) % receivers.shape[0]]
        if _rack_allows(state, p, j, source, target, fewest):
            score = capacity_score(state, p, j, target, weight, worst, best_score)
            if score > best_score:
                best, best_score = target, score
    return best
