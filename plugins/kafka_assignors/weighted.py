"""Custom assignor, sticky by weight, for partitions of unequal rate or lag.

Promises, in order
1. Complete and disjoint: every subscribed partition has one reader, which subscribes to it.
2. The highest load is close to the optimum, and the answer carries a proven lower bound.
3. Few partitions move for that highest load; with equal weights and equal subscriptions exactly the minimum.

Example: weights t0 = 4, t1 = t2 = t3 = 1, A reads t0 and t1, B reads t2 and t3. Bound: max(4, 7 / 2) = 4. t1 moves from
A (5 > 4) to B: loads 4 and 3. ``roundrobin`` has 5 and 2.

``order``: rows, heaviest first. ``audience_offsets`` int64[T+1], ``audience`` int32: permitted readers by topic. Equal
weights O(owned + P); else O(P log P) and a few passes. Source: LPT, Graham 1969.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kafka_assignors.arrays import Flags, Floats, Ints, Longs
from kafka_assignors.contract import Assignment, AssignmentRequest
from kafka_assignors.errors import InvalidInputError
from kafka_assignors.kernels import inner_kernel, kernel
from kafka_assignors.owned_lists import OwnedLists, copy_run, owned_lists

_EIGHT_TAKEN = np.uint64(0x0101010101010101)


@kernel
def subscriptions_are_equal(offsets: Longs, topics: Ints) -> bool:
    length = offsets[1] - offsets[0]
    for member in range(1, len(offsets) - 1):
        if offsets[member + 1] - offsets[member] != length:
            return False
    differing = np.int32(0)
    for i in range(np.uint64(len(topics) - length)):
        differing |= topics[i] ^ topics[i + np.uint64(length)]
    return bool(differing == 0)


@kernel
def claims_hold(first_row: Longs, counts: Ints, owned: OwnedLists, quota: int, taken: Flags) -> bool:
    """Mark each member's first ``quota`` partitions in ``taken``.

    False if one does not exist or has two owners; ``taken`` is then invalid, use ``mark_kept``.
    """
    offsets, topics, partitions = owned
    claims = 0
    all_exist = True
    for member in range(len(offsets) - 1):
        start = offsets[member]
        size = min(offsets[member + 1] - start, quota)
        claims += size
        for i in range(np.uint64(start), np.uint64(start + size)):
            topic, partition = np.uint32(topics[i]), partitions[i]
            exists = (partition >= 0) & (partition < counts[topic])
            all_exist &= exists
            taken[np.uint64(first_row[topic] + partition if exists else 0)] = True
    marked = 0
    for row in range(len(taken)):
        marked += taken[row]
    return all_exist and marked == claims


@kernel
def mark_kept(first_row: Longs, counts: Ints, owned: OwnedLists, quota: int, taken: Flags, is_valid: Flags) -> Longs:
    """Number that each member keeps (at most ``quota``); marks ``taken``.

    Writes ``is_valid`` bool[W]: an existing partition and the first claim on it.
    """
    offsets, topics, partitions = owned
    members = len(offsets) - 1
    kept = np.zeros(members, dtype=np.int64)
    for member in range(members):
        held = 0
        for i in range(offsets[member], offsets[member + 1]):
            topic, partition = topics[i], partitions[i]
            if held == quota or partition < 0 or partition >= counts[topic]:
                continue
            row = first_row[topic] + partition
            if not taken[row]:
                taken[row] = True
                is_valid[i] = True
                held += 1
        kept[member] = held
    return kept


@kernel
def level_quotas(kept: Longs, orphans: int) -> Longs:
    """Orphans go to the members with least. [3, 3, 1] with 3 orphans → level 3: [3, 3, 3] and one more for the first:
    [4, 3, 3].
    """
    members = len(kept)
    histogram = np.zeros(kept.max() + 2, dtype=np.int64)
    for count in kept:
        histogram[count] += 1
    level, below, left = 0, 0, orphans
    while level < len(histogram):
        below += histogram[level]
        if left < below:
            break
        left -= below
        level += 1
    else:
        level += left // members
        left %= members
    quotas = np.empty(members, dtype=np.int64)
    for member in range(members):
        if kept[member] > level:
            quotas[member] = kept[member]
        else:
            extra = 1 if left > 0 else 0
            quotas[member] = level + extra
            left -= extra
    return quotas


@kernel
def write_lists(
    first_row: Longs, owned: OwnedLists, taken: Flags, is_valid: Flags, kept: Longs, quotas: Longs
) -> tuple[Longs, Ints, Ints]:
    """Each member's kept partitions, then orphans in topic order up to its quota.

    Empty ``is_valid``: each member keeps its first ``kept`` entries. Runs of unchanged members are copied at once.
    """
    offsets, topics, partitions = owned
    members = len(quotas)
    out_offsets = np.zeros(members + 1, dtype=np.int64)
    for member in range(members):
        out_offsets[member + 1] = out_offsets[member] + quotas[member]
    out_topics = np.empty(out_offsets[members], dtype=np.int32)
    out_partitions = np.empty(out_offsets[members], dtype=np.int32)
    topic, row, copied, at = 0, 0, 0, 0
    for member in range(members):
        start, end = offsets[member], offsets[member + 1]
        if len(is_valid):
            for i in range(start, end):
                if is_valid[i]:
                    out_topics[at] = topics[i]
                    out_partitions[at] = partitions[i]
                    at += 1
        elif kept[member] < end - start or kept[member] < quotas[member] or member == members - 1:
            length = start + kept[member] - copied
            copy_run(out_topics, at, topics, copied, length)
            copy_run(out_partitions, at, partitions, copied, length)
            at += length
            copied = end
        else:
            continue
        while at < out_offsets[member + 1]:
            row = _next_free(taken, row)
            while row >= first_row[topic + 1]:
                topic += 1
            out_topics[at] = topic
            out_partitions[at] = row - first_row[topic]
            at += 1
            row += 1
    return out_offsets, out_topics, out_partitions


@inner_kernel
def _next_free(taken: Flags, row: int) -> int:
    while row & 7 or row + 8 > len(taken):
        if not taken[row]:
            return row
        row += 1
    words = taken[: len(taken) & -8].view(np.uint64)
    word = row >> 3
    while word < len(words) and words[word] == _EIGHT_TAKEN:
        word += 1
    row = word << 3
    while taken[row]:
        row += 1
    return row


ABSENT = -1
TINY = 1e-12
ENOUGH = 5e-4  # 0.05 % above the bound


class WeighedRows(NamedTuple):
    weights: Floats
    order: Longs
    topic_of: Ints
    may_read: Flags


@kernel
def owner_of_rows(first_row: Longs, counts: Ints, owned: OwnedLists, may_read: Flags) -> Ints:
    """Present reader of each row, or ``ABSENT``; the first claim counts."""
    offsets, topics, partitions = owned
    owner = np.full(first_row[-1], ABSENT, dtype=np.int32)
    for member in range(len(offsets) - 1):
        for i in range(offsets[member], offsets[member + 1]):
            topic, partition = topics[i], partitions[i]
            if 0 <= partition < counts[topic] and may_read[member, topic]:
                row = first_row[topic] + partition
                if owner[row] == ABSENT:
                    owner[row] = member
    return owner


@kernel
def loads_of(weights: Floats, owner: Ints, members: int) -> Floats:
    loads = np.zeros(members)
    for row in range(len(owner)):
        if owner[row] != ABSENT:
            loads[owner[row]] += weights[row]
    return loads


@kernel
def release_above(weights: Floats, order: Longs, cap: float, owner: Ints, loads: Floats) -> None:
    """Take little more than the excess: the heaviest rows that fit, then the lightest row that covers the rest."""
    for row in order:
        member = owner[row]
        if member != ABSENT and TINY < weights[row] <= loads[member] - cap:
            loads[member] -= weights[row]
            owner[row] = ABSENT
    for i in range(len(order) - 1, -1, -1):
        row = order[i]
        member = owner[row]
        excess = loads[member] - cap if member != ABSENT else 0.0
        if excess > TINY * max(cap, 1.0) and weights[row] >= excess:
            loads[member] -= weights[row]
            owner[row] = ABSENT


@inner_kernel
def _sift(heap: Longs, loads: Floats, at: int) -> None:
    size = len(heap)
    while True:
        child = 2 * at + 1
        if child >= size:
            return
        right = child + 1
        if right < size and (
            loads[heap[right]] < loads[heap[child]]
            or (loads[heap[right]] == loads[heap[child]] and heap[right] < heap[child])
        ):
            child = right
        up, down = heap[at], heap[child]
        if loads[down] > loads[up] or (loads[down] == loads[up] and down > up):
            return
        heap[at], heap[child] = down, up
        at = child


@kernel
def place_on_lightest(weights: Floats, order: Longs, owner: Ints, loads: Floats) -> None:
    """LPT: each row without a reader, heaviest first, to the least loaded member (a heap)."""
    heap = np.arange(len(loads))
    for at in range(len(heap) // 2, -1, -1):
        _sift(heap, loads, at)
    for row in order:
        if owner[row] == ABSENT:
            member = heap[0]
            owner[row] = member
            loads[member] += weights[row]
            _sift(heap, loads, 0)


@kernel
def place_on_lightest_reader(
    weights: Floats, order: Longs, topic_of: Ints, audience_offsets: Longs, audience: Ints, owner: Ints, loads: Floats
) -> None:
    for row in order:
        if owner[row] != ABSENT:
            continue
        start, end = audience_offsets[topic_of[row]], audience_offsets[topic_of[row] + 1]
        best = ABSENT
        for i in range(start, end):
            if best == ABSENT or loads[audience[i]] < loads[best]:
                best = audience[i]
        if best != ABSENT:
            owner[row] = best
            loads[best] += weights[row]


@kernel
def improve(rows: WeighedRows, owner: Ints, loads: Floats, bound: float, steps: int) -> None:
    for _ in range(steps):
        hot = np.argmax(loads)
        if loads[hot] <= bound * (1 + ENOUGH):
            return
        tried = np.zeros(len(loads), dtype=np.bool_)
        tried[hot] = True
        is_improved = False
        for _attempt in range(min(3, len(loads) - 1)):
            cool = ABSENT
            for member in range(len(loads)):
                if not tried[member] and (cool == ABSENT or loads[member] < loads[cool]):
                    cool = member
            tried[cool] = True
            if _exchange(rows, owner, loads, hot, cool):
                is_improved = True
                break
        if not is_improved:
            return


@inner_kernel
def _exchange(rows: WeighedRows, owner: Ints, loads: Floats, hot: int, cool: int) -> bool:
    weights, order, topic_of, may_read = rows
    hot_rows, cool_rows = np.empty(len(order), dtype=np.int64), np.empty(len(order), dtype=np.int64)
    hots, cools = 0, 0
    for row in order:
        if owner[row] == hot and may_read[cool, topic_of[row]]:
            hot_rows[hots] = row
            hots += 1
        elif owner[row] == cool and may_read[hot, topic_of[row]]:
            cool_rows[cools] = row
            cools += 1
    give, take = _best_exchange(weights, hot_rows[:hots], cool_rows[:cools], loads[hot] - loads[cool])
    if give == ABSENT:
        return False
    shift = weights[give]
    owner[give] = cool
    if take != ABSENT:
        shift -= weights[take]
        owner[take] = hot
    loads[hot] -= shift
    loads[cool] += shift
    return True


@inner_kernel
def _best_exchange(weights: Floats, hot_rows: Longs, cool_rows: Longs, distance: float) -> tuple[int, int]:
    """Row to give (and row to take back, or ``ABSENT``) whose difference is closest to ``distance`` / 2.

    Both lists run from heavy to light; O(hot + cool). Only a difference in (0, distance) makes the pair more even.
    """
    give, take = ABSENT, ABSENT
    best = distance * (0.5 - 1e-9)
    j = 0
    for i in range(len(hot_rows)):
        weight = weights[hot_rows[i]]
        if weight > TINY and abs(weight - distance / 2) < best:
            best, give, take = abs(weight - distance / 2), hot_rows[i], ABSENT
        while j < len(cool_rows) and weight - weights[cool_rows[j]] < distance / 2:
            j += 1
        for k in (j - 1, j):
            if 0 <= k < len(cool_rows):
                shift = weight - weights[cool_rows[k]]
                if abs(shift - distance / 2) < best and shift > TINY:
                    best, give, take = abs(shift - distance / 2), hot_rows[i], cool_rows[k]
        j = max(0, j - 1)
    return give, take


@kernel
def give_back(weights: Floats, order: Longs, before: Ints, cap: float, owner: Ints, loads: Floats) -> None:
    """To their old readers with room below ``cap``, heaviest first."""
    for row in order:
        old, new = before[row], owner[row]
        if old == ABSENT or old == new:  # noqa: PLR1714, SIM109  (numba has no mixed tuples)
            continue
        if loads[old] + weights[row] <= cap:
            loads[new] -= weights[row]
            loads[old] += weights[row]
            owner[row] = old


@kernel
def lists_of(owner: Ints, topic_of: Ints, first_row: Longs, members: int) -> tuple[Longs, Ints, Ints]:
    offsets = np.zeros(members + 1, dtype=np.int64)
    for member in owner:
        if member != ABSENT:
            offsets[member + 1] += 1
    for member in range(members):
        offsets[member + 1] += offsets[member]
    at = offsets[:-1].copy()
    topics = np.empty(offsets[members], dtype=np.int32)
    partitions = np.empty(offsets[members], dtype=np.int32)
    for row in range(len(owner)):
        member = owner[row]
        if member != ABSENT:
            topics[at[member]] = topic_of[row]
            partitions[at[member]] = row - first_row[topic_of[row]]
            at[member] += 1
    return offsets, topics, partitions


MAX_AUDIENCES = 512


def heaviest_member_bound(weights: Floats, topic_of: Ints, may_read: Flags) -> float:
    """Lower bound on the highest load of any complete assignment of the readable rows. O(P log P + audiences² ·
    members). The largest of three:

    - Some member reads the heaviest row.
    - Rows that only members of an audience A may read weigh s together: some member of A reads at least s / |A|.
    - With n members, one member reads k+1 of the kn+1 heaviest rows: at least the k+1 lightest of them.

    Example: weights [4, 3, 3, 2], 2 members: 12 / 2 = 6; heaviest 4; of the 3 heaviest one member reads two: 3 + 3 = 6.
    """
    readable: Flags = np.asarray(may_read.any(axis=0), dtype=np.bool_)
    rows = weights[readable[topic_of]] if len(topic_of) else weights
    if len(rows) == 0:
        return 0.0
    readers = int(may_read.any(axis=1).sum())
    return max(float(rows.max()), _pigeonhole(rows, readers), _audience_share(weights, topic_of, may_read))


def least_skew(request: AssignmentRequest, weights: Floats) -> float | None:
    """Lower bound for any complete assignment; ``None`` if a weight is unknown, 0 if all are 0."""
    members, topics = request.members, request.topics
    if len(weights) == 0 or not len(members):
        return 0.0
    if np.isnan(weights).any():
        return None
    may_read = np.zeros((len(members), len(topics)), dtype=np.bool_)
    of_members = np.repeat(np.arange(len(members)), np.diff(members.subscription_offsets))
    may_read[of_members, members.subscription_topics] = True
    may_read[:, ~topics.has_metadata] = False
    topic_of = np.repeat(np.arange(len(topics), dtype=np.int32), np.maximum(topics.partition_counts, 0))
    readable: Flags = np.asarray(may_read.any(axis=0), dtype=np.bool_)
    total = float(weights[readable[topic_of]].sum())
    return heaviest_member_bound(weights, topic_of, may_read) * len(members) / total if total > 0 else 0.0


def _pigeonhole(rows: Floats, readers: int) -> float:
    heavy_first = np.sort(rows)[::-1]
    sums = np.concatenate((np.zeros(1), np.cumsum(heavy_first)))
    k = np.arange(1, (len(rows) - 1) // readers + 1)
    if len(k) == 0:
        return 0.0
    return float((sums[k * readers + 1] - sums[k * readers - k]).max())


def _audience_share(weights: Floats, topic_of: Ints, may_read: Flags) -> float:
    by_topic = np.bincount(topic_of, weights=weights, minlength=may_read.shape[1])
    packed = np.packbits(may_read, axis=0).T
    sum_of: dict[bytes, float] = {}
    example: dict[bytes, int] = {}
    for topic, weight in enumerate(by_topic.tolist()):
        key = packed[topic].tobytes()
        sum_of[key] = sum_of.get(key, 0.0) + weight
        example.setdefault(key, topic)
    audiences = may_read[:, list(example.values())]
    sizes = audiences.sum(axis=0)
    sums = np.where(sizes == 0, 0.0, np.array(list(sum_of.values())))
    best = float(sums.sum()) / max(int(may_read.any(axis=1).sum()), 1)
    if 1 < len(sums) <= MAX_AUDIENCES:
        inside = (~audiences).astype(np.float32).T @ audiences.astype(np.float32) == 0  # [A, S]: S is part of A
        shares = (inside @ sums)[sizes > 0] / sizes[sizes > 0]
        best = max(best, float(shares.max(initial=0.0)))
    return best


CAP_TRIES = 6
IMPROVE_WORK = 4_000_000  # rows examined; not seconds


@dataclass(frozen=True, slots=True, eq=False)
class WeightedAnswer:
    """Any assignment has a highest load of at least ``bound``.

    ``moved_partitions`` had another reader before. ``moved_weight_bound``: least weight to move for this highest load.
    """

    assignment: Assignment
    loads: Floats
    highest_load: float
    bound: float
    moved_partitions: int
    moved_weight: float
    moved_weight_bound: float


@dataclass(frozen=True, slots=True)
class WeightedAssignor:
    name: str = "weighted"
    versions: str = "Kafka Rebalance Advisor 0.1"

    def assign(self, request: AssignmentRequest) -> Assignment:
        if _is_plain(request):
            return _assign_counts(request)[0]
        return self.solve(request).assignment

    def solve(self, request: AssignmentRequest) -> WeightedAnswer:
        members = len(request.members)
        if members == 0:
            empty = np.zeros(0, dtype=np.int32)
            nothing = Assignment.of(np.zeros(1, dtype=np.int64), empty, empty)
            return WeightedAnswer(nothing, np.zeros(0), 0.0, 0.0, 0, 0.0, 0.0)
        return _answer_counts(request) if _is_plain(request) else _answer_loads(request)


def _weights(request: AssignmentRequest) -> Floats:
    total = request.topics.partition_total
    if request.weights is None:
        return np.ones(total)
    wrong = np.flatnonzero(~(request.weights >= 0) | np.isinf(request.weights))
    if len(wrong):
        raise InvalidInputError.at(
            f"weight of partition row {wrong[0]}", f"{request.weights[wrong[0]]} is no weight",
            "give finite weights ≥ 0; leave weights out where nobody measured them",
        )  # fmt: skip
    return request.weights


def _is_plain(request: AssignmentRequest) -> bool:
    """Equal weights and subscriptions: counts are enough."""
    members, topics = request.members, request.topics
    if len(members) == 0 or len(topics) == 0:
        return False
    subscribed = members.subscription_topics[: members.subscription_offsets[1]]
    if len(np.unique(subscribed)) != len(topics):
        return False
    if request.weights is not None and (len(request.weights) == 0 or np.any(_weights(request) != request.weights[0])):
        return False
    return bool(subscriptions_are_equal(members.subscription_offsets, members.subscription_topics))


def _assign_counts(request: AssignmentRequest) -> tuple[Assignment, npt.NDArray[np.int64]]:
    """Keep up to ⌈P/M⌉ owned partitions each, give orphans to members with least. Also return the kept counts."""
    topics, members = request.topics, request.members
    total = topics.partition_total
    quota = -(-total // len(members))
    taken = np.zeros(total, dtype=np.bool_)
    is_valid = np.zeros(0, dtype=np.bool_)
    owned = owned_lists(members)
    if claims_hold(topics.first_row, topics.partition_counts, owned, quota, taken):
        kept = np.minimum(np.diff(members.owned_offsets), quota)
    else:
        taken[:] = False
        is_valid = np.zeros(len(members.owned_topics), dtype=np.bool_)
        kept = mark_kept(topics.first_row, topics.partition_counts, owned, quota, taken, is_valid)
    quotas = level_quotas(kept, total - int(kept.sum()))
    lists = write_lists(topics.first_row, owned, taken, is_valid, kept, quotas)
    return Assignment.of(*lists), kept


def _answer_counts(request: AssignmentRequest) -> WeightedAnswer:
    assignment, kept = _assign_counts(request)
    total, unit = request.topics.partition_total, 1.0 if request.weights is None else float(request.weights[0])
    before = _owner(request, np.ones((len(request.members), len(request.topics)), dtype=np.bool_))
    moved = int((before != ABSENT).sum() - kept.sum())
    loads = (assignment.counts * unit).astype(np.float64)
    highest = float(loads.max())
    bound = -(-total // len(request.members)) * unit
    return WeightedAnswer(assignment, loads, highest, bound, moved, moved * unit, moved * unit)


def _owner(request: AssignmentRequest, may_read: npt.NDArray[np.bool_]) -> npt.NDArray[np.int32]:
    topics, members = request.topics, request.members
    owned = owned_lists(members)
    return np.asarray(owner_of_rows(topics.first_row, topics.partition_counts, owned, may_read))


@dataclass(frozen=True, slots=True, eq=False)
class _Case:
    weights: Floats
    order: npt.NDArray[np.int64]
    topic_of: npt.NDArray[np.int32]
    may_read: npt.NDArray[np.bool_]
    before: npt.NDArray[np.int32]
    bound: float
    everybody_reads_all: bool

    @property
    def members(self) -> int:
        return len(self.may_read)


def _case(request: AssignmentRequest) -> _Case:
    topics, members = request.topics, request.members
    may_read = np.zeros((len(members), len(topics)), dtype=np.bool_)
    may_read[np.repeat(np.arange(len(members)), np.diff(members.subscription_offsets)), members.subscription_topics] = (
        True
    )
    may_read[:, ~topics.has_metadata] = False
    topic_of = np.repeat(np.arange(len(topics), dtype=np.int32), np.maximum(topics.partition_counts, 0))
    weights = _weights(request)
    used = may_read[:, topics.partition_counts > 0]
    return _Case(
        weights=weights,
        order=np.argsort(-weights, kind="stable"),
        topic_of=topic_of,
        may_read=may_read,
        before=_owner(request, may_read),
        bound=heaviest_member_bound(weights, topic_of, may_read),
        everybody_reads_all=bool(used.all()),
    )


def _answer_loads(request: AssignmentRequest) -> WeightedAnswer:
    case = _case(request)
    owner, loads = _lowest_cap(case)
    highest = float(loads.max(initial=0.0))
    give_back(case.weights, case.order, case.before, highest, owner, loads)
    had_reader = case.before != ABSENT
    moved = had_reader & (owner != case.before)
    held = loads_of(case.weights, case.before, case.members)
    return WeightedAnswer(
        assignment=Assignment.of(*lists_of(owner, case.topic_of, request.topics.first_row, case.members)),
        loads=loads,
        highest_load=highest,
        bound=case.bound,
        moved_partitions=int(moved.sum()),
        moved_weight=float(case.weights[moved].sum()),
        moved_weight_bound=float(np.maximum(held - highest, 0.0).sum()),
    )


def _lowest_cap(case: _Case) -> tuple[npt.NDArray[np.int32], Floats]:
    """From the bound upwards. Return owners and loads of the best try."""
    best: tuple[npt.NDArray[np.int32], Floats] | None = None
    cap = case.bound
    for _ in range(CAP_TRIES):
        owner, loads = _within(case, cap)
        highest = float(loads.max(initial=0.0))
        if best is None or highest < float(best[1].max(initial=0.0)):
            best = owner, loads
        if highest <= cap * (1 + 1e-9) or (case.before == ABSENT).all():
            break
        cap = (cap + highest) / 2
    assert best is not None
    return best


def _within(case: _Case, cap: float) -> tuple[npt.NDArray[np.int32], Floats]:
    owner = case.before.copy()
    loads = loads_of(case.weights, owner, case.members)
    release_above(case.weights, case.order, cap, owner, loads)
    if case.everybody_reads_all:
        place_on_lightest(case.weights, case.order, owner, loads)
    else:
        offsets = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(case.may_read.sum(axis=0), dtype=np.int64)))
        audience = np.nonzero(case.may_read.T)[1].astype(np.int32)
        place_on_lightest_reader(case.weights, case.order, case.topic_of, offsets, audience, owner, loads)
    steps = max(4, IMPROVE_WORK // max(len(case.order), 1)) if len(case.order) else 0
    rows = WeighedRows(case.weights, case.order, case.topic_of, case.may_read)
    improve(rows, owner, loads, max(case.bound, cap), min(steps, 400))
    return owner, loads
