"""The reader of a topic that has the least, ties by id: a heap whose members may change while it stands."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

Ints = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]


class LeastLoaded(NamedTuple):
    """``heap[:state[0]]`` members, least first; ``place`` int32[M]: where each stands, −1 if it does not."""

    heap: Ints
    place: Ints
    state: Ints


@njit(cache=True)
def new_heap(member_count: int) -> LeastLoaded:
    """An empty heap for M members."""
    return LeastLoaded(np.empty(member_count, np.int32), np.full(member_count, -1, np.int32), np.zeros(1, np.int32))


@njit(cache=True)
def fill(least: LeastLoaded, readers: Ints, may_take: Flags, sizes: Ints, id_rank: Ints) -> None:
    """Replace what is there by those of ``readers`` that may take something; neighbours that are equal count once."""
    for i in range(least.state[0]):
        least.place[least.heap[i]] = -1
    size = 0
    for member in readers:
        if may_take[member] and least.place[member] < 0:
            least.heap[size] = member
            least.place[member] = size
            size += 1
    least.state[0] = size
    for at in range(size // 2 - 1, -1, -1):
        _sink(least, at, sizes, id_rank)


@njit(cache=True)
def moved(least: LeastLoaded, member: int, sizes: Ints, id_rank: Ints) -> None:
    """The member's size has changed: find its new place, if it stands here at all."""
    at = least.place[member]
    if at < 0:
        return
    while at > 0 and _is_less(member, least.heap[(at - 1) // 2], sizes, id_rank):
        parent = (at - 1) // 2
        least.heap[at] = least.heap[parent]
        least.place[least.heap[at]] = at
        at = parent
    least.heap[at] = member
    least.place[member] = at
    _sink(least, at, sizes, id_rank)


@njit(cache=True)
def _sink(least: LeastLoaded, at: int, sizes: Ints, id_rank: Ints) -> None:
    size, member = least.state[0], least.heap[at]
    while True:
        child = 2 * at + 1
        if child + 1 < size and _is_less(least.heap[child + 1], least.heap[child], sizes, id_rank):
            child += 1
        if child >= size or not _is_less(least.heap[child], member, sizes, id_rank):
            break
        least.heap[at] = least.heap[child]
        least.place[least.heap[at]] = at
        at = child
    least.heap[at] = member
    least.place[member] = at


@njit(cache=True)
def _is_less(one: int, other: int, sizes: Ints, id_rank: Ints) -> bool:
    """TreeSet order of ``SubscriptionComparator``: fewer partitions first, then the id."""
    if sizes[one] != sizes[other]:
        return bool(sizes[one] < sizes[other])
    return bool(id_rank[one] < id_rank[other])
