"""Kernels of the search for replica sets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kafka_assignors.arrays import Floats, Ints, Longs
from kafka_assignors.kernels import inlined_kernel, inner_kernel, kernel
from kafka_rebalance.planner.params import BAND_TOLERANCE, FORBIDDEN, GAIN_TOLERANCE, HOWEVER_FAR, NOT_COVERABLE
from kafka_rebalance.planner.sorting import in_place, largest_first, ranking_of, smallest_first
from kafka_rebalance.planner.state import State, TopicSpread, excess_change

# Least cost to bring one broker below its bands: a covering problem, one row a resource, by its dual.
#
#     minimise  Σ s_i·x_i   subject to  Σ w_id·x_i ≥ e_d for every resource d,  0 ≤ x_i ≤ 1
#
# s = cost of moving replica i, w = its load, e = excess. Any prices λ ≥ 0 prove λ·e - Σ max(0, λ·w_i - s_i) (weak
# duality); replicas worth more than their cost leave. Coordinate ascent with an exact line search (weighted quantile),
# O(D·n) expected a sweep. Example: e = 5, two replicas of weight 3 and cost 3: price 1 proves 5.


@inner_kernel
def weighted_quantile(value: Floats, weight: Floats, count: int, need: float) -> float:
    """Smallest x such that values <= x weigh ``need``."""
    low, high, below = 0, count, 0.0
    enough = NOT_COVERABLE
    while high - low > 0:
        left, middle, right = value[low], value[(low + high) // 2], value[high - 1]
        pivot = max(min(left, middle), min(max(left, middle), right))
        first, last, less, equal = _partition(value, weight, low, high, pivot)
        if below + less >= need:
            high = first
            enough = pivot
        elif below + less + equal >= need:
            return float(pivot)
        else:
            below += less + equal
            low = last
    return enough


@inner_kernel
def _partition(value: Floats, weight: Floats, low: int, high: int, pivot: float) -> tuple[int, int, float, float]:
    first, i, last = low, low, high
    less, equal = 0.0, 0.0
    while i < last:
        x = value[i]
        if x < pivot:
            less += weight[i]
            value[i], value[first] = value[first], x
            weight[i], weight[first] = weight[first], weight[i]
            first += 1
            i += 1
        elif x > pivot:
            last -= 1
            value[i], value[last] = value[last], x
            weight[i], weight[last] = weight[last], weight[i]
        else:
            equal += weight[i]
            i += 1
    return first, last, less, equal


@inner_kernel
def _best_price(cost: Floats, weight: Floats, excess: Floats, prices: Floats, d: int, scratch: Floats) -> float:
    count, covered = 0, 0.0
    for i in range(cost.shape[0]):
        if weight[i, d] <= 0:
            continue
        short = cost[i]
        for k in range(prices.shape[0]):
            if k != d:
                short -= prices[k] * weight[i, k]
        if short <= 0:
            covered += weight[i, d]
        else:
            scratch[0, count] = short / weight[i, d]
            scratch[1, count] = weight[i, d]
            count += 1
    if covered >= excess[d]:
        return 0.0
    return weighted_quantile(scratch[0], scratch[1], count, excess[d] - covered)


@inner_kernel
def proven(cost: Floats, weight: Floats, excess: Floats, prices: Floats) -> float:
    total = 0.0
    for d in range(prices.shape[0]):
        total += prices[d] * excess[d]
    for i in range(cost.shape[0]):
        worth = -cost[i]
        for d in range(prices.shape[0]):
            worth += prices[d] * weight[i, d]
        if worth > 0:
            total -= worth
    return total


@inner_kernel
def ascend(cost: Floats, weight: Floats, excess: Floats, prices: Floats, scratch: Floats, sweeps: int) -> float:
    """Improve ``prices`` in place; return the bound (NOT_COVERABLE if all replicas do not cover).

    cost float64[n], weight float64[n, D], excess float64[D] (<= 0: none), scratch float64[2, n].
    """
    best = 0.0
    for _ in range(sweeps):
        for d in range(prices.shape[0]):
            prices[d] = 0.0 if excess[d] <= 0 else _best_price(cost, weight, excess, prices, d, scratch)
            if prices[d] >= NOT_COVERABLE:
                return NOT_COVERABLE
        value = proven(cost, weight, excess, prices)
        if value <= best * (1 + 1e-9):
            break
        best = value
    return best


@inner_kernel
def best_prices(cost: Floats, weight: Floats, excess: Floats, prices: Floats, scratch: Floats, sweeps: int) -> float:
    """Best bound from two starts, all prices 1 and all 0."""
    dims = prices.shape[0]
    best = -1.0
    trial = np.empty(dims)
    in_excess = 0
    for d in range(dims):
        in_excess += excess[d] > 0
    # With one resource in excess all starts give the same.
    for start in range(2 if in_excess > 1 else 1):
        for d in range(dims):
            trial[d] = 1.0 if excess[d] > 0 and start == 0 else 0.0
        value = ascend(cost, weight, excess, trial, scratch, sweeps)
        if value > best:
            best = value
            for d in range(dims):
                prices[d] = trial[d]
        if value >= NOT_COVERABLE:
            break
    return best


@kernel
def cover(cost: Floats, weight: Floats, excess: Floats, prices: Floats, scratch: Floats, sweeps: int) -> float:
    return best_prices(cost, weight, excess, prices, scratch, sweeps)


@inner_kernel
def draw(state: State, bound: int) -> int:
    """Pseudo-random integer in [0, bound): xorshift64, the same on every machine."""
    x = state.random[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state.random[0] = x
    return int(np.int64((x >> np.uint64(33)) % np.uint64(bound)))


@inlined_kernel
def is_original(state: State, p: int, broker: int) -> bool:
    for j in range(state.original.shape[1]):  # noqa: SIM110  # any() over a generator does not compile
        if state.original[p, j] == broker:
            return True
    return False


@inlined_kernel
def copies_needed(state: State, p: int, source: int, target: int) -> float:
    change = 0.0
    if not is_original(state, p, target):
        change += state.cost[p]
    if not is_original(state, p, source):
        change -= state.cost[p]
    return change


@inlined_kernel
def replica_load(state: State, p: int, j: int, broker: int, weight: Floats) -> None:
    for d in range(weight.shape[0]):
        weight[d] = state.follower[p, d]
    if state.has_leaders and state.leader_index[p] == j:
        for d in range(weight.shape[0]):
            weight[d] += state.extra[p, d]
    if state.own.shape[0] > 0:
        for i in range(state.original.shape[1]):
            if state.original[p, i] == broker:
                weight[state.disk_column] += state.own[p, i]


@inlined_kernel
def weigh_on(state: State, p: int, j: int, broker: int, weight: Floats) -> None:
    """Set the size: today's replica has its own, a new copy the leader's."""
    if state.own.shape[0] > 0:
        replica_load(state, p, j, broker, weight)


@inlined_kernel
def size_change(state: State, p: int, source: int, target: int) -> float:
    change = 0.0
    for i in range(state.own.shape[1]):
        if state.original[p, i] == target:
            change += state.own[p, i]
        if state.original[p, i] == source:
            change -= state.own[p, i]
    return change


@inner_kernel
def outside(state: State, broker: int) -> float:
    total = 0.0
    for d in range(state.load.shape[1]):
        total += max(state.load[broker, d] - state.high[broker, d], 0.0)
        total += max(state.low[broker, d] - state.load[broker, d], 0.0)
    return total


@inner_kernel
def above(state: State, broker: int) -> float:
    total = 0.0
    for d in range(state.load.shape[1]):
        total += max(state.load[broker, d] - state.high[broker, d], 0.0)
    return total


@inner_kernel
def below(state: State, broker: int) -> float:
    total = 0.0
    for d in range(state.load.shape[1]):
        total += max(state.low[broker, d] - state.load[broker, d], 0.0)
    return total


@inner_kernel
def band_improvement(state: State, broker: int, weight: Floats, sign: float) -> float:
    """Gain (negative: loss) by a load change of sign · weight."""
    total = 0.0
    for d in range(weight.shape[0]):
        now = state.load[broker, d]
        then = now + sign * weight[d]
        top = state.high[broker, d]
        bottom = state.low[broker, d]
        if now > top:
            total += now - top
        elif now < bottom:
            total += bottom - now
        if then > top:
            total -= then - top
        elif then < bottom:
            total -= bottom - then
    return total


@inner_kernel
def fits_limit(state: State, p: int, target: int, weight: Floats) -> bool:
    """Hard capacity, also while both copies exist; a broker above it may not gain."""
    if not state.has_limit:
        return True
    for d in range(weight.shape[0]):
        if weight[d] > 0 and state.load[target, d] + weight[d] > state.limit[target, d]:
            return False
    d = state.disk_column
    if d < 0 or is_original(state, p, target):
        return True
    return bool(state.peak[target] + state.follower[p, d] <= state.limit[target, d])


@inner_kernel
def another_may_lead(state: State, p: int, j: int) -> bool:
    for i in range(state.replicas.shape[1]):
        if i != j and state.replicas[p, i] >= 0 and state.leads[state.replicas[p, i]]:
            return True
    return False


@inner_kernel
def may_hold(state: State, p: int, j: int, target: int) -> bool:
    """``target`` takes replicas (and leads, if no other replica may), is in the set of ``p``, has no other replica of
    it, is not barred, and has list space.
    """
    if not state.takes[target] or state.start[target] + state.filled[target] >= state.start[target + 1]:
        return False
    if state.has_sets and not state.in_set[state.set_of[p], target]:
        return False
    if not state.leads[target] and not another_may_lead(state, p, j):
        return False
    for i in range(state.replicas.shape[1]):
        if (i != j and state.replicas[p, i] == target) or state.original[p, i] == -2 - target:
            return False
    return True


@inner_kernel
def keeps_racks_even(state: State, p: int, j: int, target: int) -> bool:
    """The sum of squared counts per rack does not rise."""
    to = state.rack[target]
    source = state.rack[state.replicas[p, j]]
    if to == source:
        return True
    in_target_rack, in_source_rack = 0, 0
    for i in range(state.replicas.shape[1]):
        b = state.replicas[p, i]
        if b >= 0:
            in_target_rack += state.rack[b] == to
            in_source_rack += state.rack[b] == source
    return in_target_rack + 1 <= in_source_rack


@inner_kernel
def rack_share(state: State, p: int, j: int, rack: int) -> int:
    count = 0
    for i in range(state.replicas.shape[1]):
        b = state.replicas[p, i]
        if i != j and b >= 0 and state.rack[b] == rack and not state.leaves[b]:
            count += 1
    return count


@inner_kernel
def fewest_in_rack(state: State, p: int, j: int) -> int:
    fewest = 1 << 30
    chosen = state.set_of[p] if state.has_sets else 0
    for k in range(state.receivers_in_rack.shape[1]):
        open_brokers = state.receivers_in_rack[chosen, k]
        if open_brokers == 0:
            continue
        for i in range(state.replicas.shape[1]):
            b, barred = state.replicas[p, i], -2 - state.original[p, i]
            if i != j and b >= 0 and state.rack[b] == k and state.takes[b] and state.in_set[chosen, b]:
                open_brokers -= 1
            # A barred original broker closes one more, if it takes replicas.
            is_open = barred >= 0 and state.takes[barred] and state.in_set[chosen, barred]
            if is_open and state.rack[barred] == k:
                open_brokers -= 1
        if open_brokers > 0:
            fewest = min(fewest, rack_share(state, p, j, k))
    return fewest


@inner_kernel
def _recount_topic(spread: TopicSpread, p: int, source: int, target: int) -> None:
    row = spread.row[spread.topic[p]]
    if row >= 0:
        spread.table[row, source] -= 1
        spread.table[row, target] += 1


@inner_kernel
def move(state: State, p: int, j: int, target: int, weight: Floats) -> None:
    width = state.replicas.shape[1]
    source = state.replicas[p, j]
    replica_index = p * width + j
    last_index = state.start[source] + state.filled[source] - 1
    last = state.items[last_index]
    index = state.position[replica_index]
    state.items[index] = last
    state.position[last] = index
    state.filled[source] -= 1
    index = state.start[target] + state.filled[target]
    state.items[index] = replica_index
    state.position[replica_index] = index
    state.filled[target] += 1
    replica_load(state, p, j, source, weight)
    for d in range(weight.shape[0]):
        state.load[source, d] -= weight[d]
    replica_load(state, p, j, target, weight)
    for d in range(weight.shape[0]):
        state.load[target, d] += weight[d]
    if state.has_limit and state.disk_column >= 0:
        size = state.follower[p, state.disk_column]
        if not is_original(state, p, target):
            state.peak[target] += size
        if not is_original(state, p, source):
            state.peak[source] -= size
    _recount_topic(state.topics, p, source, target)
    state.replicas[p, j] = target


@inlined_kernel
def alignment(weight: Floats, need: Floats) -> float:
    dot, square, needed = 0.0, 1e-300, 1e-300
    for d in range(weight.shape[0]):
        dot += weight[d] * need[d]
        square += weight[d] * weight[d]
        needed += need[d] * need[d]
    return float(dot / np.sqrt(square * needed))


@inlined_kernel
def useful_part(weight: Floats, need: Floats) -> float:
    used, brought = 0.0, 1e-300
    for d in range(weight.shape[0]):
        if need[d] > 0:
            used += min(weight[d], need[d])
            brought += weight[d]
    return float(used / brought)


@inlined_kernel
def _filled(weight: Floats, need: Floats) -> float:
    filled = 1e-300
    for d in range(weight.shape[0]):
        filled += min(weight[d], need[d])
    return float(filled)


@inlined_kernel
def need_of(state: State, broker: int, need: Floats) -> None:
    for d in range(need.shape[0]):
        need[d] = max(state.low[broker, d] - state.load[broker, d], 0.0)


@inlined_kernel
def service(state: State, broker: int, weight: Floats, need: Floats) -> float:
    """Fit of a replica: 1 = all that the broker lacks, in proportion; <= 0 = no gain. Fills ``need``."""
    helped = band_improvement(state, broker, weight, 1.0)
    if helped <= GAIN_TOLERANCE:
        return 0.0
    need_of(state, broker, need)
    return float(alignment(weight, need) * useful_part(weight, need) * helped / _filled(weight, need))


@inner_kernel
def brokers_lacking(state: State, receivers: Ints) -> Ints:
    chosen = np.empty(receivers.shape[0], np.int32)
    count = 0
    for b in receivers:
        if below(state, b) > BAND_TOLERANCE:
            chosen[count] = b
            count += 1
    return chosen[:count]


@inlined_kernel
def _rack_allows(state: State, p: int, j: int, source: int, target: int, fewest: int) -> bool:
    """A replica that must leave goes to a rack with the fewest others; another may not unbalance racks."""
    if fewest >= 0:
        return rack_share(state, p, j, state.rack[target]) <= fewest
    return source != target and keeps_racks_even(state, p, j, target)


@inner_kernel
def rack_limit(state: State, p: int, j: int, source: int) -> int:
    return fewest_in_rack(state, p, j) if state.leaves[source] else -1


@inner_kernel
def lacking_receiver(state: State, p: int, j: int, weight: Floats, lacking: Ints, need: Floats, least: float) -> int:
    """Best fit among sampled brokers below their bands, -1 = none above ``least``; changes ``weight``."""
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
        weigh_on(state, p, j, target, weight)
        score = service(state, target, weight, need)
        if score <= 0 or score + topic_weight <= best_score or not may_hold(state, p, j, target):
            continue
        score -= topic_weight * excess_change(state.topics, state.replicas, p, source, target)
        if score > best_score and fits_limit(state, p, target, weight):
            best, best_score = target, score
    return best


@inner_kernel
def capacity_score(state: State, p: int, j: int, target: int, weight: Floats, worst: float, best: float) -> float:
    """Preference: deficit filled, room left, topic spread; FORBIDDEN if the target may not take the replica, or cannot
    beat ``best`` whatever the topic. ``worst``: how far the target may leave its bands.
    """
    weigh_on(state, p, j, target, weight)
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
    """Best of ``tries`` receivers at even steps, -1 if none may."""
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


# Push: brokers above their bands evict replicas whose mixture of loads fits both sides. Fewest bytes move when all
# excesses run out together; best relief per byte would fill the receivers with tiny replicas first.


@inner_kernel
def worst_first(state: State) -> Longs:
    far = np.empty(state.load.shape[0])
    for b in range(far.shape[0]):
        far[b] = -outside(state, b)
    order = smallest_first(far)
    count = 0
    while count < order.shape[0] and far[order[count]] < -BAND_TOLERANCE:
        count += 1
    return order[:count]


@inner_kernel
def overshoots(state: State, source: int, weight: Floats) -> bool:
    """The move takes more than an excess, or leaves another resource below its band."""
    for d in range(weight.shape[0]):
        now = state.load[source, d]
        then = now - weight[d]
        if (now > state.high[source, d] and then < state.high[source, d]) or then < state.low[source, d]:
            return True
    return False


@inner_kernel
def _rank(state: State, source: int, replica_indexes: Ints, fit: Floats, weight: Floats) -> None:
    width = state.replicas.shape[1]
    excess = np.empty(weight.shape[0])
    for d in range(excess.shape[0]):
        excess[d] = max(state.load[source, d] - state.high[source, d], 0.0)
    for i in range(replica_indexes.shape[0]):
        p = replica_indexes[i] // width
        replica_load(state, p, replica_indexes[i] - p * width, source, weight)
        fit[i] = -alignment(weight, excess)


@inner_kernel
def push_from(state: State, source: int, lacking: Ints, receivers: Ints, part: float, least: float) -> int:
    """Evict ``part`` of the excess; return moves. Both sides align by ``least`` or more; brokers with room need not."""
    width = state.replicas.shape[1]
    weight, need = np.empty(state.load.shape[1]), np.empty(state.load.shape[1])
    replica_indexes = state.items[state.start[source] : state.start[source] + state.filled[source]].copy()
    fit = np.empty(replica_indexes.shape[0])
    _rank(state, source, replica_indexes, fit, weight)
    stop = above(state, source) * (1.0 - part) + BAND_TOLERANCE
    moves, misses = 0, 0
    ranking = ranking_of(fit)
    for rank in range(fit.shape[0]):
        i = in_place(ranking, rank)
        if fit[i] > -least or misses > state.params.hand_over.misses_borne or above(state, source) <= stop:
            break
        p = replica_indexes[i] // width
        j = replica_indexes[i] - p * width
        replica_load(state, p, j, source, weight)
        target = -1
        if not overshoots(state, source, weight):
            target = lacking_receiver(state, p, j, weight, lacking, need, least)
            if target < 0 and receivers.shape[0] > 0:
                target = roomy_receiver(state, p, j, weight, receivers, 0.0, state.params.receivers.others_tried)
        if target < 0:
            misses += 1
            continue
        move(state, p, j, target, weight)
        moves += 1
    return moves


@inner_kernel
def push_round(state: State, takers: Ints, receivers: Ints, part: float, least: float) -> int:
    moves = 0
    for b in worst_first(state):
        if above(state, b) > BAND_TOLERANCE:
            moves += push_from(state, b, brokers_lacking(state, takers), receivers, part, least)
    return moves


@inner_kernel
def _may_fetch(state: State, replica_index: int, target: int, weight: Floats) -> bool:
    width = state.replicas.shape[1]
    p = replica_index // width
    j = replica_index - p * width
    if not (may_hold(state, p, j, target) and keeps_racks_even(state, p, j, target)):
        return False
    replica_load(state, p, j, target, weight)
    return fits_limit(state, p, target, weight)


@inner_kernel
def _sample(state: State, target: int, receivers: Ints, replica_indexes: Ints, weight: Floats) -> int:
    count = 0
    for _ in range(replica_indexes.shape[0]):
        source = receivers[draw(state, receivers.shape[0])]
        if source != target and state.filled[source] > 0:
            replica_index = state.items[state.start[source] + draw(state, state.filled[source])]
            if _may_fetch(state, replica_index, target, weight):
                replica_indexes[count] = replica_index
                count += 1
    return count


@inner_kernel
def pull_to(state: State, target: int, receivers: Ints, worst: float, least: float) -> int:
    """Fetch the mixture that ``target`` lacks, from a sample; return moves."""
    weight, need = np.empty(state.load.shape[1]), np.empty(state.load.shape[1])
    width = state.replicas.shape[1]
    replica_indexes = np.empty(state.params.fetch.sampled, np.int32)
    replica_indexes = replica_indexes[: _sample(state, target, receivers, replica_indexes, weight)]
    fit = np.empty(replica_indexes.shape[0])
    bonus = state.params.fetch.away_bonus
    for i in range(replica_indexes.shape[0]):
        p = replica_indexes[i] // width
        source = state.replicas[p, replica_indexes[i] - p * width]
        replica_load(state, p, replica_indexes[i] - p * width, target, weight)
        fit[i] = -service(state, target, weight, need) - (0.0 if is_original(state, p, source) else bonus)
    moves = 0
    ranking = ranking_of(fit)
    for rank in range(fit.shape[0]):
        i = in_place(ranking, rank)
        if fit[i] > -least or below(state, target) <= BAND_TOLERANCE:
            break
        if _helps(state, replica_indexes[i], target, weight, worst) and _may_fetch(
            state, replica_indexes[i], target, weight
        ):
            move(state, replica_indexes[i] // width, replica_indexes[i] % width, target, weight)
            moves += 1
    return moves


@inner_kernel
def _helps(state: State, replica_index: int, target: int, weight: Floats, worst: float) -> bool:
    width = state.replicas.shape[1]
    p = replica_index // width
    source = state.replicas[p, replica_index - p * width]
    if source == target:
        return False
    replica_load(state, p, replica_index - p * width, source, weight)
    given = band_improvement(state, source, weight, -1.0)
    if given < -worst - GAIN_TOLERANCE:
        return False
    weigh_on(state, p, replica_index - p * width, target, weight)
    gain = band_improvement(state, target, weight, 1.0)
    return gain > GAIN_TOLERANCE and gain + given > GAIN_TOLERANCE


@inner_kernel
def pull_round(state: State, receivers: Ints, worst: float, least: float) -> int:
    moves = 0
    for b in worst_first(state):
        if state.takes[b] and below(state, b) > BAND_TOLERANCE:
            moves += pull_to(state, b, receivers, worst, least)
    return moves


@inner_kernel
def swap_gain(state: State, left_index: int, right_index: int, going: Floats, coming: Floats) -> float:
    """Relief of both brokers; each replica has its size on each. Fills ``going``, ``coming``."""
    width = state.replicas.shape[1]
    p, q = left_index // width, right_index // width
    i, j = left_index - p * width, right_index - q * width
    left, right = state.replicas[p, i], state.replicas[q, j]
    replica_load(state, p, i, left, going)
    replica_load(state, q, j, right, coming)
    total = 0.0
    for d in range(going.shape[0]):
        change = coming[d] - going[d]
        right_change = -change
        if d == state.disk_column:
            change += size_change(state, q, right, left)
            right_change += size_change(state, p, left, right)
        total += _nearer(state, left, d, change) + _nearer(state, right, d, right_change)
    return total


@inner_kernel
def _nearer(state: State, broker: int, d: int, change: float) -> float:
    now = state.load[broker, d]
    top, bottom = state.high[broker, d], state.low[broker, d]
    before = max(now - top, 0.0) + max(bottom - now, 0.0)
    return float(before - max(now + change - top, 0.0) - max(bottom - now - change, 0.0))


@inner_kernel
def may_swap(state: State, left_index: int, right_index: int) -> bool:
    width = state.replicas.shape[1]
    p, q = left_index // width, right_index // width
    i, j = left_index - p * width, right_index - q * width
    left, right = state.replicas[p, i], state.replicas[q, j]
    if not (may_hold(state, p, i, right) and may_hold(state, q, j, left)):
        return False
    if not (keeps_racks_even(state, p, i, right) and keeps_racks_even(state, q, j, left)):
        return False
    weight = np.empty(state.load.shape[1])
    replica_load(state, p, i, right, weight)
    if not fits_limit(state, p, right, weight):
        return False
    replica_load(state, q, j, left, weight)
    return fits_limit(state, q, left, weight)


@inner_kernel
def swap_at(state: State, left: int, receivers: Ints, tries: int) -> int:
    """Make the best of ``tries`` sampled exchanges. Returns 1 if made."""
    width = state.replicas.shape[1]
    going, coming = np.empty(state.load.shape[1]), np.empty(state.load.shape[1])
    best, best_left, best_right = 0.0, -1, -1
    for _ in range(tries):
        right = receivers[draw(state, receivers.shape[0])]
        if right == left or state.filled[right] == 0 or state.filled[left] == 0:
            continue
        left_index = state.items[state.start[left] + draw(state, state.filled[left])]
        right_index = state.items[state.start[right] + draw(state, state.filled[right])]
        p, q = left_index // width, right_index // width
        gain = swap_gain(state, left_index, right_index, going, coming)
        if p == q or gain <= GAIN_TOLERANCE:
            continue
        cost = copies_needed(state, p, left, right) + copies_needed(state, q, right, left)
        gain /= max(cost, state.params.fetch.least_cost * (state.cost[p] + state.cost[q]))
        if gain > best and may_swap(state, left_index, right_index):
            best, best_left, best_right = gain, left_index, right_index
    if best_left < 0:
        return 0
    right = state.replicas[best_right // width, best_right % width]
    move(state, best_left // width, best_left % width, right, going)
    move(state, best_right // width, best_right % width, left, going)
    return 1


@inner_kernel
def swap_round(state: State, receivers: Ints, tries: int) -> int:
    swaps = 0
    for b in worst_first(state):
        if state.takes[b] and outside(state, b) > BAND_TOLERANCE:
            swaps += swap_at(state, b, receivers, tries)
    return swaps


# Finish: evict by relief per cost; prices of the covering problem choose the cheapest cover.


@inner_kernel
def leaving_cost(state: State, p: int, source: int) -> float:
    return float(
        state.cost[p] if is_original(state, p, source) else state.params.hand_over.cost_of_moving_on * state.cost[p]
    )


@inner_kernel
def prices_of(state: State, source: int, prices: Floats) -> None:
    width = state.replicas.shape[1]
    count = state.filled[source]
    cost, weight = np.empty(count), np.empty((count, prices.shape[0]))
    excess = np.empty(prices.shape[0])
    for d in range(excess.shape[0]):
        excess[d] = max(state.load[source, d] - state.high[source, d], 0.0)  # no minus infinity without a top
    for i in range(count):
        replica_index = state.items[state.start[source] + i]
        p = replica_index // width
        cost[i] = leaving_cost(state, p, source)
        replica_load(state, p, replica_index - p * width, source, weight[i])
    scratch = np.empty((2, count))
    if best_prices(cost, weight, excess, prices, scratch, state.params.hand_over.covering_sweeps) >= NOT_COVERABLE:
        for d in range(prices.shape[0]):
            prices[d] = 1.0 if excess[d] > 0 else 0.0


@inner_kernel
def _priced_improvement(state: State, source: int, weight: Floats, prices: Floats) -> float:
    total = 0.0
    for d in range(weight.shape[0]):
        now = state.load[source, d]
        if now > state.high[source, d]:
            total += prices[d] * min(weight[d], now - state.high[source, d])
        low = state.low[source, d]
        if now - weight[d] < low:
            total -= min(low - now + weight[d], weight[d])
    return total


@inner_kernel
def _rank_leavers(
    state: State, source: int, prices: Floats, replica_indexes: Ints, worth: Floats, weight: Floats
) -> int:
    width = state.replicas.shape[1]
    count = 0
    for index in range(state.start[source], state.start[source] + state.filled[source]):
        replica_index = state.items[index]
        p = replica_index // width
        replica_load(state, p, replica_index - p * width, source, weight)
        gain = _priced_improvement(state, source, weight, prices)
        if gain > GAIN_TOLERANCE:
            replica_indexes[count] = replica_index
            worth[count] = gain / leaving_cost(state, p, source)
            count += 1
    return count


@inner_kernel
def _relief(state: State, p: int, j: int, target: int, weight: Floats) -> float:
    source = state.replicas[p, j]
    replica_load(state, p, j, source, weight)
    given = band_improvement(state, source, weight, -1.0)
    weigh_on(state, p, j, target, weight)
    return given + band_improvement(state, target, weight, 1.0)


@inner_kernel
def finish_from(state: State, source: int, receivers: Ints, lacking: Ints, worst: float) -> int:
    width = state.replicas.shape[1]
    weight, need = np.empty(state.load.shape[1]), np.empty(state.load.shape[1])
    prices = np.empty(state.load.shape[1])
    prices_of(state, source, prices)
    replica_indexes = np.empty(state.filled[source], np.int32)
    worth = np.empty(state.filled[source])
    count = _rank_leavers(state, source, prices, replica_indexes, worth, weight)
    moves, misses = 0, 0
    ranking = largest_first(worth[:count])
    for rank in range(count):
        i = in_place(ranking, rank)
        if misses > state.params.hand_over.misses_borne or above(state, source) <= BAND_TOLERANCE:
            break
        p = replica_indexes[i] // width
        j = replica_indexes[i] - p * width
        replica_load(state, p, j, source, weight)
        target = -1
        gain = _priced_improvement(state, source, weight, prices)
        if gain >= state.params.hand_over.least_of_rank * worth[i] * leaving_cost(state, p, source):
            target = lacking_receiver(state, p, j, weight, lacking, need, 0.0)
            if target < 0:
                target = roomy_receiver(state, p, j, weight, receivers, worst, state.params.receivers.others_tried)
        if target < 0 or _relief(state, p, j, target, weight) <= GAIN_TOLERANCE:
            misses += 1
            continue
        move(state, p, j, target, weight)
        moves += 1
    return moves


@inner_kernel
def finish_round(state: State, takers: Ints, receivers: Ints, worst: float) -> int:
    moves = 0
    for b in worst_first(state):
        if above(state, b) > BAND_TOLERANCE:
            moves += finish_from(state, b, receivers, brokers_lacking(state, takers), worst)
    return moves


# Drained and unplaced replicas. ``release`` comes first, so that large replicas find a place while there is capacity.


@inner_kernel
def _release_from(state: State, source: int, weight: Floats) -> int:
    width = state.replicas.shape[1]
    unplaced = state.load.shape[0] - 1
    prices = np.empty(state.load.shape[1])
    prices_of(state, source, prices)
    replica_indexes = state.items[state.start[source] : state.start[source] + state.filled[source]].copy()
    made = 0
    for replica_index in replica_indexes:
        p = replica_index // width
        replica_load(state, p, replica_index - p * width, source, weight)
        worth = 0.0
        for d in range(weight.shape[0]):
            worth += prices[d] * weight[d]
        is_sure = worth > state.params.hand_over.surely_leaves * leaving_cost(state, p, source)
        if is_sure and state.start[unplaced] + state.filled[unplaced] + 1 < state.start[unplaced + 1]:
            move(state, p, replica_index - p * width, unplaced, weight)
            made += 1
    return made


@inner_kernel
def release(state: State) -> int:
    """Unplace what leaves its broker in any cheap plan; return how many."""
    weight = np.empty(state.load.shape[1])
    made = 0
    for b in range(state.load.shape[0] - 1):
        if not state.leaves[b] and above(state, b) > BAND_TOLERANCE:
            made += _release_from(state, b, weight)
    return made


@inner_kernel
def _back_to_original(state: State, p: int, j: int, weight: Floats) -> int:
    """Even if it takes nothing new; -1 = none."""
    fewest = fewest_in_rack(state, p, j)
    for i in range(state.original.shape[1]):
        b = state.original[p, i]
        if b < 0 or state.leaves[b] or rack_share(state, p, j, state.rack[b]) > fewest:
            continue
        if not state.leads[b] and not another_may_lead(state, p, j):
            continue
        has_place = state.start[b] + state.filled[b] < state.start[b + 1]
        weigh_on(state, p, j, b, weight)
        if has_place and not _holds(state, p, b) and fits_limit(state, p, b, weight):
            return int(b)
    return -1


@inner_kernel
def _holds(state: State, p: int, broker: int) -> bool:
    for i in range(state.replicas.shape[1]):  # noqa: SIM110  # any() over a generator does not compile
        if state.replicas[p, i] == broker:
            return True
    return False


@inner_kernel
def _place(state: State, p: int, j: int, weight: Floats, need: Floats, takers: Ints) -> int:
    """Receiver in need, with room, the original broker, or any; -1 = none."""
    least = state.params.hand_over.least_service
    target = lacking_receiver(state, p, j, weight, brokers_lacking(state, takers), need, least)
    if target < 0:
        target = roomy_receiver(state, p, j, weight, takers, 0.0, state.params.receivers.others_tried)
    if target < 0:
        target = roomy_receiver(state, p, j, weight, takers, 0.0, takers.shape[0])
    if target < 0:
        target = _back_to_original(state, p, j, weight)
    if target < 0:
        target = roomy_receiver(state, p, j, weight, takers, HOWEVER_FAR, takers.shape[0])
    return target


@inner_kernel
def _leavers(state: State) -> Longs:
    count = 0
    for b in range(state.load.shape[0]):
        if state.leaves[b]:
            count += state.filled[b]
    replica_indexes, size = np.empty(count, np.int64), np.empty(count)
    listed = 0
    for b in range(state.load.shape[0]):
        if not state.leaves[b]:
            continue
        for i in range(state.start[b], state.start[b] + state.filled[b]):
            replica_indexes[listed] = state.items[i]
            p = replica_indexes[listed] // state.replicas.shape[1]
            heaviest = state.follower[p, 0]
            for d in range(1, state.follower.shape[1]):
                heaviest = max(heaviest, state.follower[p, d])
            size[listed] = -heaviest
            listed += 1
    order = smallest_first(size)
    for i in range(count):
        order[i] = replica_indexes[order[i]]
    return order


@inner_kernel
def evacuate(state: State, takers: Ints) -> int:
    """Place all that must leave; return how many found no place. O(leaving · brokers)."""
    width = state.replicas.shape[1]
    weight, need = np.empty(state.load.shape[1]), np.empty(state.load.shape[1])
    stranded = 0
    for replica_index in _leavers(state):
        p = replica_index // width
        j = replica_index - p * width
        replica_load(state, p, j, state.replicas[p, j], weight)
        target = _place(state, p, j, weight, need, takers)
        if target < 0:
            stranded += 1
        else:
            move(state, p, j, target, weight)
    return stranded


# Polish: every moved replica, dearest first, returns if its broker's bands do not suffer; if displaced replicas repair
# the bands at no cost; or if a cheaper one leaves instead. O(moved · tries · W) a pass.


class Displaced(NamedTuple):
    replica_indexes: Ints
    start: Longs


class Journal(NamedTuple):
    replica_indexes: Ints
    sources: Ints
    length: Longs


@inner_kernel
def displaced_replicas(state: State) -> Displaced:
    width = state.replicas.shape[1]
    brokers = state.load.shape[0]
    start = np.zeros(brokers + 1, np.int64)
    for replica_index in range(state.position.shape[0]):
        b = state.replicas[replica_index // width, replica_index % width]
        if state.position[replica_index] >= 0 and not is_original(state, replica_index // width, b):
            start[b + 1] += 1
    for b in range(brokers):
        start[b + 1] += start[b]
    replica_indexes = np.empty(start[brokers], np.int32)
    filled = start[:-1].copy()
    for replica_index in range(state.position.shape[0]):
        b = state.replicas[replica_index // width, replica_index % width]
        if state.position[replica_index] >= 0 and not is_original(state, replica_index // width, b):
            replica_indexes[filled[b]] = replica_index
            filled[b] += 1
    return Displaced(replica_indexes, start)


@inner_kernel
def _dearest_first(state: State, displaced: Displaced) -> Longs:
    cost = np.empty(displaced.replica_indexes.shape[0])
    for i in range(cost.shape[0]):
        cost[i] = -state.cost[displaced.replica_indexes[i] // state.replicas.shape[1]]
    return smallest_first(cost)


@inner_kernel
def _free_original(state: State, p: int, j: int) -> int:
    for i in range(state.original.shape[1]):
        b = state.original[p, i]
        if b >= 0 and may_hold(state, p, j, b) and keeps_racks_even(state, p, j, b):
            return int(b)
    return -1


@inner_kernel
def _may_go(state: State, replica_index: int, target: int, weight: Floats) -> bool:
    width = state.replicas.shape[1]
    p = replica_index // width
    j = replica_index - p * width
    if not (may_hold(state, p, j, target) and keeps_racks_even(state, p, j, target)):
        return False
    return fits_limit(state, p, target, weight)


@inner_kernel
def _best_fill(state: State, broker: int, weight: Floats, displaced: Displaced, tries: int) -> int:
    width = state.replicas.shape[1]
    best, best_score = -1, GAIN_TOLERANCE
    need = np.empty(weight.shape[0])
    need_of(state, broker, need)
    for _ in range(tries):
        replica_index = displaced.replica_indexes[draw(state, displaced.replica_indexes.shape[0])]
        p = replica_index // width
        source = state.replicas[p, replica_index - p * width]
        if source == broker:
            continue
        replica_load(state, p, replica_index - p * width, broker, weight)
        gain = band_improvement(state, broker, weight, 1.0)
        score = gain * useful_part(weight, need) if gain > GAIN_TOLERANCE else 0.0
        if score <= best_score or is_original(state, p, source):
            continue
        weigh_on(state, p, replica_index - p * width, source, weight)
        if band_improvement(state, source, weight, -1.0) < -GAIN_TOLERANCE:
            continue
        weigh_on(state, p, replica_index - p * width, broker, weight)
        if _may_go(state, replica_index, broker, weight):
            best, best_score = replica_index, score
    return best


@inner_kernel
def _best_shed(
    state: State, broker: int, weight: Floats, displaced: Displaced, receivers: Ints, tries: int
) -> tuple[int, int]:
    width = state.replicas.shape[1]
    first, count = displaced.start[broker], displaced.start[broker + 1] - displaced.start[broker]
    best, best_target, best_gain = -1, -1, GAIN_TOLERANCE
    for _ in range(tries if count > 0 else 0):
        replica_index = displaced.replica_indexes[first + draw(state, count)]
        p = replica_index // width
        if state.replicas[p, replica_index - p * width] != broker or is_original(state, p, broker):
            continue
        replica_load(state, p, replica_index - p * width, broker, weight)
        gain = band_improvement(state, broker, weight, -1.0)
        target = receivers[draw(state, receivers.shape[0])]
        if gain <= best_gain or target == broker:
            continue
        weigh_on(state, p, replica_index - p * width, target, weight)
        if band_improvement(state, target, weight, 1.0) < -GAIN_TOLERANCE:
            continue
        if _may_go(state, replica_index, target, weight):
            best, best_target, best_gain = replica_index, target, gain
    return best, best_target


@inner_kernel
def _mend(state: State, broker: int, displaced: Displaced, receivers: Ints, journal: Journal, tries: int) -> bool:
    width = state.replicas.shape[1]
    weight = np.empty(state.load.shape[1])
    for _ in range(state.params.polish.mending_steps):
        if outside(state, broker) <= BAND_TOLERANCE:
            return True
        if below(state, broker) > BAND_TOLERANCE:
            replica_index = _best_fill(state, broker, weight, displaced, tries)
            target = broker
        else:
            replica_index, target = _best_shed(state, broker, weight, displaced, receivers, tries)
        if replica_index < 0 or journal.length[0] >= journal.replica_indexes.shape[0]:
            return False
        p = replica_index // width
        journal.replica_indexes[journal.length[0]] = replica_index
        journal.sources[journal.length[0]] = state.replicas[p, replica_index - p * width]
        journal.length[0] += 1
        move(state, p, replica_index - p * width, target, weight)
    return outside(state, broker) <= BAND_TOLERANCE


@inner_kernel
def _return_to_original(
    state: State, replica_index: int, original: int, displaced: Displaced, receivers: Ints, journal: Journal, tries: int
) -> bool:
    """Undone unless displaced replicas repaired the bands."""
    width = state.replicas.shape[1]
    p = replica_index // width
    j = replica_index - p * width
    left = state.replicas[p, j]
    weight = np.empty(state.load.shape[1])
    replica_load(state, p, j, original, weight)
    if not fits_limit(state, p, original, weight):
        return False
    breaks_original = band_improvement(state, original, weight, 1.0) < -GAIN_TOLERANCE
    replica_load(state, p, j, left, weight)
    breaks_left = band_improvement(state, left, weight, -1.0) < -GAIN_TOLERANCE
    move(state, p, j, original, weight)
    journal.length[0] = 0
    is_fine = not breaks_left or _mend(state, left, displaced, receivers, journal, tries)
    if is_fine and (not breaks_original or _mend(state, original, displaced, receivers, journal, tries)):
        return True
    for i in range(journal.length[0] - 1, -1, -1):
        undone = journal.replica_indexes[i]
        move(state, undone // width, undone % width, journal.sources[i], weight)
    move(state, p, j, left, weight)
    return False


@inner_kernel
def _send_cheaper(state: State, p: int, j: int, original: int, tries: int) -> float:
    width = state.replicas.shape[1]
    left = state.replicas[p, j]
    back, out = np.empty(state.load.shape[1]), np.empty(state.load.shape[1])
    best, best_saved = -1, state.params.polish.least_saving * state.cost[p]
    for _ in range(min(tries, state.filled[original])):
        replica_index = state.items[state.start[original] + draw(state, state.filled[original])]
        q = replica_index // width
        if q == p or state.cost[q] >= state.cost[p]:
            continue
        if swap_gain(state, p * width + j, replica_index, back, out) < -GAIN_TOLERANCE:
            continue
        saved = state.cost[p] - copies_needed(state, q, original, left)
        if saved > best_saved and may_swap(state, p * width + j, replica_index):
            best, best_saved = replica_index, saved
    if best < 0:
        return 0.0
    move(state, p, j, original, back)
    move(state, best // width, best % width, left, back)
    return float(best_saved)


@inner_kernel
def polish_round(state: State, receivers: Ints, tries: int) -> float:
    width = state.replicas.shape[1]
    displaced = displaced_replicas(state)
    capacity = 2 * state.params.polish.mending_steps
    journal = Journal(np.empty(capacity, np.int32), np.empty(capacity, np.int32), np.zeros(1, np.int64))
    saved = 0.0
    for i in _dearest_first(state, displaced):
        replica_index = displaced.replica_indexes[i]
        p = replica_index // width
        j = replica_index - p * width
        if is_original(state, p, state.replicas[p, j]):
            continue
        original = _free_original(state, p, j)
        if original < 0:
            continue
        if _return_to_original(state, replica_index, original, displaced, receivers, journal, tries):
            saved += state.cost[p]
        else:
            saved += _send_cheaper(state, p, j, original, tries)
    return saved
