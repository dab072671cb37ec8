"""Lists of rows, one a member, in which a row can be taken out and put at the end in constant time.

Normally a row stands in one list, that of its owner. Where Kafka lets a partition be assigned twice it stands in more
(``beside`` leads from place to place, oldest first), and its owner is the member that Kafka believes it to be.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]

NOBODY = -1
_NONE = -1


class MemberLists(NamedTuple):
    """``owner``, ``first`` int32[R]: who is believed to have a row, and its oldest place.

    Places: ``row``, ``member``, ``following``, ``before`` (in the member's list), ``beside`` int32[places].
    Members: ``heads``, ``tails``, ``sizes`` int32[M]. ``spare``: the last place given back, and the first never used.
    """

    owner: Ints
    first: Ints
    row: Ints
    member: Ints
    following: Ints
    before: Ints
    beside: Ints
    heads: Ints
    tails: Ints
    sizes: Ints
    spare: Ints


@njit(cache=True)
def empty_lists(row_count: int, member_count: int, places: int) -> MemberLists:
    """Nobody has anything; never more than ``places`` entries at a time."""
    return MemberLists(
        np.full(row_count, NOBODY, np.int32), np.full(row_count, _NONE, np.int32), np.empty(places, np.int32),
        np.full(places, NOBODY, np.int32), np.empty(places, np.int32), np.empty(places, np.int32),
        np.full(places, _NONE, np.int32), np.full(member_count, _NONE, np.int32),
        np.full(member_count, _NONE, np.int32), np.zeros(member_count, np.int32), np.array([_NONE, 0], np.int32),
    )  # fmt: skip


@njit(cache=True)
def copied(lists: MemberLists) -> MemberLists:
    """The same lists, apart."""
    return MemberLists(
        lists.owner.copy(), lists.first.copy(), lists.row.copy(), lists.member.copy(), lists.following.copy(),
        lists.before.copy(), lists.beside.copy(), lists.heads.copy(), lists.tails.copy(), lists.sizes.copy(),
        lists.spare.copy(),
    )  # fmt: skip


@njit(cache=True)
def give(lists: MemberLists, row: int, member: int) -> None:
    """Put ``row`` at the end of the member's list, and make the member its owner."""
    place = lists.spare[0]
    if place == _NONE:
        place = lists.spare[1]
        lists.spare[1] += 1
    else:
        lists.spare[0] = lists.beside[place]
    lists.row[place] = row
    lists.member[place] = member
    lists.beside[place] = _NONE
    if lists.first[row] == _NONE:
        lists.first[row] = place
    else:
        other = lists.first[row]
        while lists.beside[other] != _NONE:
            other = lists.beside[other]
        lists.beside[other] = place
    last = lists.tails[member]
    lists.before[place] = last
    lists.following[place] = _NONE
    if last == _NONE:
        lists.heads[member] = place
    else:
        lists.following[last] = place
    lists.tails[member] = place
    lists.sizes[member] += 1
    lists.owner[row] = member


@njit(cache=True)
def take(lists: MemberLists, row: int, member: int) -> None:
    """Take ``row`` out of the member's list, its oldest place there; nothing if it does not stand there."""
    before, place = _NONE, lists.first[row]
    while place != _NONE and lists.member[place] != member:
        before, place = place, lists.beside[place]
    if place == _NONE:
        return
    if before == _NONE:
        lists.first[row] = lists.beside[place]
    else:
        lists.beside[before] = lists.beside[place]
    last, following = lists.before[place], lists.following[place]
    if last == _NONE:
        lists.heads[member] = following
    else:
        lists.following[last] = following
    if following == _NONE:
        lists.tails[member] = last
    else:
        lists.before[following] = last
    lists.sizes[member] -= 1
    lists.member[place] = NOBODY
    lists.beside[place] = lists.spare[0]
    lists.spare[0] = place


@njit(cache=True)
def flattened(lists: MemberLists) -> tuple[Longs, Ints]:
    """Offsets int64[M+1] and rows, in list order."""
    member_count = len(lists.heads)
    offsets = np.zeros(member_count + 1, np.int64)
    for member in range(member_count):
        offsets[member + 1] = offsets[member] + lists.sizes[member]
    rows = np.empty(offsets[-1], np.int32)
    for member in range(member_count):
        place, at = lists.heads[member], offsets[member]
        while place != _NONE:
            rows[at] = lists.row[place]
            at += 1
            place = lists.following[place]
    return offsets, rows
