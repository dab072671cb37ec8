"""Order the followers of each list, because Kafka makes the next one the leader after a loss."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kafka_assignors.arrays import ABSENT, Flags, Floats, Ints, Longs
from kafka_assignors.kernels.decorators import inner_kernel, kernel

# The order of followers: so that the leaders of any one broker spread evenly when that broker is lost.
#
# The controller makes the first replica of a list that is alive and in sync the new leader, so the second entry of a
# list is a standby. For each broker on its own: each partition that it leads chooses one of its followers as standby so
# that the greatest number that one broker takes over is the least possible (as is the sum of the squares of all
# numbers). Costs no bytes. Example: broker 0 leads four partitions with the followers 1 and 2, and two with 1 and 3: in
# the order of the lists broker 1 might take over all six; two each is even.
#
# Each partition goes to the follower that has the fewest so far, the heaviest partition first; one whose list would
# otherwise stay keeps the standby that it has. Then chains of exchanges make it exact: partition p goes from u to v, q
# from v to w, … as long as the last one has two fewer than the first (optimal semi-matchings: Harvey, Ladner, Lovász,
# Tamir 2003). Chains are the shortest there are, so few lists that would stay get a new order; where these are limited,
# the broker that is furthest from even comes first.
#
# Complexity: O(P·W) where the first choice is even, which it nearly always is, and O(P/B·W + B) for each chain.


class Lists(NamedTuple):
    """Replica lists int32[P, W] led by their first; bool[P, W] who may be standby, bool[P] free rows, and which of
    them begin with the standby that they have (int64[P]: its column); float64[P] what a leader carries.
    """

    replicas: Ints
    able: Flags
    is_free: Flags
    is_kept: Flags
    today: Longs
    weight: Floats


class Staying(NamedTuple):
    """Rows bool[P] (None: none) whose list would stay, and how many of them may get another order at most."""

    rows: Flags | None
    most: int


NOBODY_STAYS = Staying(None, 0)


class Chains(NamedTuple):
    """``by`` int64[B]: the row that reaches a broker, -1: not reached, -2: where it starts. ``head`` int64[B] and
    ``following`` (one for each row): the free rows of each standby, -1 at the end. ``queue`` int64[B]: brokers reached.
    """

    by: Longs
    head: Longs
    following: Longs
    queue: Longs


def ordered_followers(
    replicas: Ints, is_free: Flags, is_able: Flags, weight: Floats, brokers: int, stay: Staying = NOBODY_STAYS
) -> Ints:
    """``replicas`` int32[P, W], led by their first, with the followers of ``is_free`` rows in an even order.

    ``is_able`` bool[P, W]: alive, in sync and allowed to lead: only those are made standby. ``weight`` float64[P]: what
    a leader carries. Rows that are not free count with the standby that they have; of those that ``stay`` at most so
    many get another. The rest of a list keeps its order.
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
    """int64[B]: brokers by how many more than even over those that could take any the fullest standby gets today."""
    leader = lists.replicas[rows, 0].astype(np.int64)
    standby = lists.replicas[rows, lists.today[rows]]
    taken = np.bincount(leader * brokers + standby, minlength=brokers * brokers).reshape(brokers, brokers)
    at, column = np.nonzero(lists.able[rows])
    could = np.zeros((brokers, brokers), dtype=np.bool_)
    could[leader[at], lists.replicas[rows[at], column]] = True
    excess = taken.max(axis=1, initial=0) - taken.sum(axis=1) / np.maximum(could.sum(axis=1), 1)
    return np.argsort(-excess, kind="stable").astype(np.int64)


def _with_standby(replicas: Ints, column: Longs, is_free: Flags) -> Ints:
    """The chosen column second, the others in their order."""
    rank = np.repeat(np.arange(1, replicas.shape[1] + 1)[None, :] * 2, len(replicas), axis=0)
    rank[:, 0] = 0
    free = np.flatnonzero(is_free)
    rank[free, column[free]] = 1
    return np.ascontiguousarray(np.take_along_axis(replicas, np.argsort(rank, axis=1, kind="stable"), axis=1))


@kernel
def choose_standbys(lists: Lists, rows: Longs, offsets: Longs, column: Longs, order: Longs, left: Longs) -> None:
    """``column[p]`` is the standby of p; changed for rows that are free. ``rows`` by leader, the heaviest first;
    ``order`` int64[B]: whose rows are looked at first; ``left[0]``: kept rows that may still be changed.
    """
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
    """Each free row to the follower with the fewest rows, of those the one that carries least."""
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
    """Chains of exchanges until none lowers the sum of squares.

    They start at the fullest broker. What a chain in vain has reached leads nowhere else: it is closed for good.
    """
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
    """bool[B]: some free row may choose it."""
    found = np.zeros(brokers, dtype=np.bool_)
    for p in members:
        if lists.is_free[p]:
            for j in range(1, lists.replicas.shape[1]):
                if lists.able[p, j]:
                    found[lists.replicas[p, j]] = True
    return found


@inner_kernel
def _fullest(count: Longs, is_open: Flags) -> tuple[int, int]:
    """The open broker with the most rows (-1: none is open), and the fewest of one."""
    fullest, least = -1, 0
    for c in range(len(count)):
        if is_open[c]:
            least = count[c] if fullest < 0 else min(least, count[c])
            if fullest < 0 or count[c] > count[fullest]:
                fullest = c
    return fullest, least


@inner_kernel
def _list_by_standby(lists: Lists, members: Longs, column: Longs, chains: Chains) -> None:
    """The free rows of each standby as a chain: ``head`` by broker, then ``following``, -1 at the end."""
    chains.head[:] = -1
    for i in range(len(members)):
        p = members[i]
        if lists.is_free[p]:
            standby = lists.replicas[p, column[p]]
            chains.following[i] = chains.head[standby]
            chains.head[standby] = i


@inner_kernel
def _reach(lists: Lists, members: Longs, count: Longs, u: int, chains: Chains) -> int:
    """A broker with two fewer than ``u`` that a chain reaches, -1 where none; ``by``: how."""
    chains.by[:] = -1
    chains.by[u] = -2
    chains.queue[0] = u
    done, known = 0, 1
    while done < known:
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
                    chains.queue[known] = c
                    known += 1
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
    """How many more lists that would stay get another order by this chain."""
    cost, at = 0, end
    while at != u:
        p = by[at]
        if lists.is_kept[p]:
            cost += 1 if column[p] == lists.today[p] else 0
            cost -= 1 if lists.replicas[p, lists.today[p]] == at else 0
        at = lists.replicas[p, column[p]]
    return cost
