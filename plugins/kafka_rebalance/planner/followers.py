"""Order the followers of each list: after a loss Kafka makes the next one the leader."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kafka_assignors.arrays import ABSENT, Flags, Floats, Ints, Longs
from kafka_assignors.kernels import inner_kernel, kernel

# The controller makes the first live, in-sync replica of a list the new leader, so the second entry is the standby. For
# each broker, the largest number of its leaderships that one other takes over is minimal, as is the sum of squares.
# Example: broker 0 leads four lists with followers 1 and 2, and two with 1 and 3: two each, not six.
#
# Greedy, heaviest first, then exact by the shortest chains: partition p goes from u to v, q from v to w, … while the
# last has at least two fewer than the first (optimal semi-matchings: Harvey, Ladner, Lovász, Tamir 2003). O(P/B·W + B)
# a chain.


class Lists(NamedTuple):
    """Leader first; ``is_kept``: starts with ``today``'s standby; ``weight`` of the leader."""

    replicas: Ints
    able: Flags
    is_free: Flags
    is_kept: Flags
    today: Longs
    weight: Floats


class Staying(NamedTuple):
    """Rows (None: none) whose list would stay, and how many may change."""

    rows: Flags | None
    most: int


NOBODY_STAYS = Staying(None, 0)


class Chains(NamedTuple):
    """``by``: row that reaches a broker, -1: not reached, -2: start. ``head``, ``following``: linked lists of free rows
    by standby, -1 at the end.
    """

    by: Longs
    head: Longs
    following: Longs
    queue: Longs


def ordered_followers(
    replicas: Ints, is_free: Flags, is_able: Flags, weight: Floats, brokers: int, stay: Staying = NOBODY_STAYS
) -> Ints:
    """``replicas`` with the followers of ``is_free`` rows in an even order, other rows counted. Only ``is_able``
    replicas (alive, in sync, may lead) become standby.
    """
    able = is_able & (replicas != ABSENT)
    able[:, 0] = False
    choices = able.sum(axis=1)
    rows = np.flatnonzero((choices > 0) & (replicas[:, 0] != ABSENT))
    rows = rows[np.lexsort((rows, -weight[rows], replicas[rows, 0]))].astype(np.int64)
    offsets = np.searchsorted(replicas[rows, 0], np.arange(brokers + 1)).astype(np.int64)
    column = np.ascontiguousarray(able.argmax(axis=1).astype(np.int64))
    is_kept = np.zeros(len(replicas), dtype=np.bool_) if stay.rows is None else stay.rows & ~is_free & (choices > 1)
    is_changed = (is_free & (choices > 1)) | is_kept
    lists = Lists(
        np.ascontiguousarray(replicas, dtype=np.int32),
        np.ascontiguousarray(able),
        np.ascontiguousarray(is_changed),
        np.ascontiguousarray(is_kept),
        column.copy(),
        np.ascontiguousarray(weight, dtype=np.float64),
    )
    choose_standbys(lists, rows, offsets, column, _worst_first(lists, rows, brokers), np.array([stay.most]))
    return _with_standby(replicas, column, is_changed & ~(is_kept & (column == lists.today)))


def _worst_first(lists: Lists, rows: Longs, brokers: int) -> Longs:
    leader = lists.replicas[rows, 0].astype(np.int64)
    standby = lists.replicas[rows, lists.today[rows]]
    takeovers = np.bincount(leader * brokers + standby, minlength=brokers * brokers).reshape(brokers, brokers)
    at, column = np.nonzero(lists.able[rows])
    could = np.zeros((brokers, brokers), dtype=np.bool_)
    could[leader[at], lists.replicas[rows[at], column]] = True
    excess = takeovers.max(axis=1, initial=0) - takeovers.sum(axis=1) / np.maximum(could.sum(axis=1), 1)
    return np.argsort(-excess, kind="stable").astype(np.int64)


def _with_standby(replicas: Ints, column: Longs, is_free: Flags) -> Ints:
    rank = np.repeat(np.arange(1, replicas.shape[1] + 1)[None, :] * 2, len(replicas), axis=0)
    rank[:, 0] = 0
    free = np.flatnonzero(is_free)
    rank[free, column[free]] = 1
    return np.ascontiguousarray(np.take_along_axis(replicas, np.argsort(rank, axis=1, kind="stable"), axis=1))


@kernel
def choose_standbys(lists: Lists, rows: Longs, offsets: Longs, column: Longs, order: Longs, left: Longs) -> None:
    """Set ``column``, the standby, of free rows. ``left[0]``: kept rows that may change."""
    brokers = len(offsets) - 1
    count = np.zeros(brokers, dtype=np.int64)
    load = np.zeros(brokers)
    for b in order:
        members = rows[offsets[b] : offsets[b + 1]]
        count[:] = 0
        load[:] = 0.0
        has_free = False
        for p in members:
            if lists.is_free[p]:
                has_free = True
            if lists.is_kept[p] or not lists.is_free[p]:
                count[lists.replicas[p, column[p]]] += 1
                load[lists.replicas[p, column[p]]] += lists.weight[p]
        if has_free:
            _choose_least(lists, members, column, count, load)
            _exchange(lists, members, column, count, left)


@inner_kernel
def _choose_least(lists: Lists, members: Longs, column: Longs, count: Longs, load: Floats) -> None:
    """Fewest rows, ties to the least load."""
    for p in members:
        if not lists.is_free[p] or lists.is_kept[p]:
            continue
        best = -1
        for j in range(1, lists.replicas.shape[1]):
            if not lists.able[p, j]:
                continue
            if best < 0:
                best = j
                continue
            c, d = lists.replicas[p, j], lists.replicas[p, best]
            if count[c] < count[d] or (count[c] == count[d] and load[c] < load[d]):
                best = j
        column[p] = best
        count[lists.replicas[p, best]] += 1
        load[lists.replicas[p, best]] += lists.weight[p]


@inner_kernel
def _exchange(lists: Lists, members: Longs, column: Longs, count: Longs, left: Longs) -> None:
    """Brokers reached by a failed chain are closed for good."""
    brokers = len(count)
    is_open = _ever_standby(lists, members, brokers)
    chains = Chains(
        np.empty(brokers, np.int64), np.empty(brokers, np.int64), np.empty(len(members), np.int64),
        np.empty(brokers, np.int64),
    )  # fmt: skip
    while True:
        u, least = _fullest(count, is_open)
        if u < 0 or count[u] < least + 2:
            return
        _list_by_standby(lists, members, column, chains)
        end = _reach(lists, members, count, u, chains)
        if end >= 0:
            cost = _kept_lists_changed(lists, column, u, end, chains.by)
            if cost > left[0]:
                return
            left[0] -= cost
            _walk_back(lists.replicas, column, count, u, end, chains.by)
        else:
            for c in range(brokers):
                if chains.by[c] != -1:
                    is_open[c] = False


@inner_kernel
def _ever_standby(lists: Lists, members: Longs, brokers: int) -> Flags:
    is_standby = np.zeros(brokers, dtype=np.bool_)
    for p in members:
        if lists.is_free[p]:
            for j in range(1, lists.replicas.shape[1]):
                if lists.able[p, j]:
                    is_standby[lists.replicas[p, j]] = True
    return is_standby


@inner_kernel
def _fullest(count: Longs, is_open: Flags) -> tuple[int, int]:
    """Open broker with the most rows, -1: none; and the fewest rows."""
    fullest, least = -1, 0
    for c in range(len(count)):
        if is_open[c]:
            least = count[c] if fullest < 0 else min(least, count[c])
            if fullest < 0 or count[c] > count[fullest]:
                fullest = c
    return fullest, least


@inner_kernel
def _list_by_standby(lists: Lists, members: Longs, column: Longs, chains: Chains) -> None:
    chains.head[:] = -1
    for i in range(len(members)):
        p = members[i]
        if lists.is_free[p]:
            standby = lists.replicas[p, column[p]]
            chains.following[i] = chains.head[standby]
            chains.head[standby] = i


@inner_kernel
def _reach(lists: Lists, members: Longs, count: Longs, u: int, chains: Chains) -> int:
    """Broker with two fewer than ``u``, -1 if none. Fills ``by``."""
    chains.by[:] = -1
    chains.by[u] = -2
    chains.queue[0] = u
    done, queued = 0, 1
    while done < queued:
        i = chains.head[chains.queue[done]]
        done += 1
        while i >= 0:
            p = members[i]
            for j in range(1, lists.replicas.shape[1]):
                c = lists.replicas[p, j]
                if lists.able[p, j] and chains.by[c] == -1:
                    chains.by[c] = p
                    if count[c] <= count[u] - 2:
                        return int(c)
                    chains.queue[queued] = c
                    queued += 1
            i = chains.following[i]
    return -1


@inner_kernel
def _walk_back(replicas: Ints, column: Longs, count: Longs, u: int, end: int, by: Longs) -> None:
    count[u] -= 1
    count[end] += 1
    at = end
    while at != u:
        p = by[at]
        before = replicas[p, column[p]]
        for j in range(1, replicas.shape[1]):
            if replicas[p, j] == at:
                column[p] = j
        at = before


@inner_kernel
def _kept_lists_changed(lists: Lists, column: Longs, u: int, end: int, by: Longs) -> int:
    cost, at = 0, end
    while at != u:
        p = by[at]
        if lists.is_kept[p]:
            cost += 1 if column[p] == lists.today[p] else 0
            cost -= 1 if lists.replicas[p, lists.today[p]] == at else 0
        at = lists.replicas[p, column[p]]
    return cost
