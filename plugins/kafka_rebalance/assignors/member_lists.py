"""Lists of rows, one a member, in which a row can be taken out and put at the end in constant time.

A row stands in the list of its holder. Where Kafka assigns a partition twice (see ``sticky_frame.free_rows``) the older
place is kept as the row's *shadow*: nobody moves it any more, but it counts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]

NOBODY = -1


class MemberLists(NamedTuple):
    """R rows: node r is row r, node R + r its shadow. ``holder``, ``following``, ``before`` int32[2R].

    ``heads``, ``tails``, ``sizes`` int32[M].
    """

    holder: Ints
    following: Ints
    before: Ints
    heads: Ints
    tails: Ints
    sizes: Ints


@njit(cache=True)
def empty_lists(row_count: int, member_count: int) -> MemberLists:
    """Nobody has anything."""
    return MemberLists(
        np.full(2 * row_count, NOBODY, np.int32), np.full(2 * row_count, -1, np.int32),
        np.full(2 * row_count, -1, np.int32), np.full(member_count, -1, np.int32),
        np.full(member_count, -1, np.int32), np.zeros(member_count, np.int32),
    )  # fmt: skip


@njit(cache=True)
def copied(lists: MemberLists) -> MemberLists:
    """The same lists, apart."""
    return MemberLists(
        lists.holder.copy(), lists.following.copy(), lists.before.copy(), lists.heads.copy(), lists.tails.copy(),
        lists.sizes.copy(),
    )  # fmt: skip


@njit(cache=True)
def give(lists: MemberLists, row: int, member: int) -> None:
    """Put ``row`` at the end of the member's list; if somebody holds it already, that place becomes its shadow."""
    if lists.holder[row] != NOBODY:
        _become_shadow(lists, row)
    last = lists.tails[member]
    lists.before[row] = last
    lists.following[row] = -1
    if last >= 0:
        lists.following[last] = row
    else:
        lists.heads[member] = row
    lists.tails[member] = row
    lists.holder[row] = member
    lists.sizes[member] += 1


@njit(cache=True)
def take(lists: MemberLists, row: int) -> None:
    """Take ``row`` from its holder; the first of its places there, which is the shadow if that stands there too."""
    member, shadow = lists.holder[row], row + len(lists.holder) // 2
    if lists.holder[shadow] == member:
        _unlink(lists, shadow)
        _become_shadow(lists, row)
    else:
        _unlink(lists, row)
        lists.holder[row] = NOBODY
    lists.sizes[member] -= 1


@njit(cache=True)
def _unlink(lists: MemberLists, node: int) -> None:
    member, last, following = lists.holder[node], lists.before[node], lists.following[node]
    if last >= 0:
        lists.following[last] = following
    else:
        lists.heads[member] = following
    if following >= 0:
        lists.before[following] = last
    else:
        lists.tails[member] = last


@njit(cache=True)
def _become_shadow(lists: MemberLists, row: int) -> None:
    """The node of the row's shadow takes the row's place in the list."""
    shadow = row + len(lists.holder) // 2
    member, last, following = lists.holder[row], lists.before[row], lists.following[row]
    lists.holder[shadow] = member
    lists.before[shadow] = last
    lists.following[shadow] = following
    if last >= 0:
        lists.following[last] = shadow
    else:
        lists.heads[member] = shadow
    if following >= 0:
        lists.before[following] = shadow
    else:
        lists.tails[member] = shadow
    lists.holder[row] = NOBODY


@njit(cache=True)
def flattened(lists: MemberLists) -> tuple[Longs, Ints]:
    """Offsets int64[M+1] and rows, in list order."""
    row_count, member_count = len(lists.holder) // 2, len(lists.heads)
    offsets = np.zeros(member_count + 1, np.int64)
    for member in range(member_count):
        offsets[member + 1] = offsets[member] + lists.sizes[member]
    rows = np.empty(offsets[-1], np.int32)
    for member in range(member_count):
        node, at = lists.heads[member], offsets[member]
        while node >= 0:
            rows[at] = node % row_count
            at += 1
            node = lists.following[node]
    return offsets, rows
