"""Lists of rows, one a member, in which a row can be taken out and put at the end in constant time.

Normally a row stands in one list, that of its owner. Where Kafka lets a partition be assigned twice it stands in more
(``beside`` leads from place to place, oldest first), and its owner is the member that Kafka believes it to be.
"""

from __future__ import annotations

import numpy as np

from kafka_rebalance.arrays import Ints, Longs
from kafka_rebalance.assignors.sticky.state import NONE, SPARE, UNUSED, State
from kafka_rebalance.kernels.decorators import inner_kernel, kernel


@inner_kernel
def give(state: State, row: int, member: int) -> None:
    """Put ``row`` at the end of the member's list, and make the member its owner."""
    rows, places, members, marks = state.rows, state.places, state.members, state.marks
    place = marks[SPARE]
    if place == NONE:
        place = marks[UNUSED]
        marks[UNUSED] += 1
    else:
        marks[SPARE] = places[place].beside
    last = members[member].tail
    places[place].row = row
    places[place].member = member
    places[place].before = last
    places[place].following = NONE
    places[place].beside = NONE
    if last == NONE:
        members[member].head = place
    else:
        places[last].following = place
    members[member].tail = place
    members[member].size += 1
    rows[row].owner = member
    other = rows[row].first
    if other == NONE:
        rows[row].first = place
        return
    while places[other].beside != NONE:
        other = places[other].beside
    places[other].beside = place


@inner_kernel
def take(state: State, row: int, member: int) -> None:
    """Take ``row`` out of the member's list, its oldest place there; nothing if it does not stand there."""
    rows, places, members = state.rows, state.places, state.members
    older, place = NONE, rows[row].first
    while place != NONE and places[place].member != member:
        older, place = place, places[place].beside
    if place == NONE:
        return
    if older == NONE:
        rows[row].first = places[place].beside
    else:
        places[older].beside = places[place].beside
    before, following = places[place].before, places[place].following
    if before == NONE:
        members[member].head = following
    else:
        places[before].following = following
    if following == NONE:
        members[member].tail = before
    else:
        places[following].before = before
    members[member].size -= 1
    places[place].member = NONE
    places[place].beside = state.marks[SPARE]
    state.marks[SPARE] = place


@kernel
def flattened(state: State) -> tuple[Longs, Ints]:
    """Offsets int64[M+1] and rows, in list order."""
    member_count = len(state.members)
    offsets = np.zeros(member_count + 1, np.int64)
    for member in range(member_count):
        offsets[member + 1] = offsets[member] + state.members[member].size
    rows = np.empty(offsets[-1], np.int32)
    for member in range(member_count):
        place, at = state.members[member].head, offsets[member]
        while place != NONE:
            rows[at] = state.places[place].row
            at += 1
            place = state.places[place].following
    return offsets, rows
