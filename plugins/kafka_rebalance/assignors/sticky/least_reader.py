"""The reader of a topic that has the least, ties by id: a heap whose members may change size while it stands.

``state.heap[: state.marks[HEAP]]`` holds the members, least first; ``heap_place`` of a member is NONE if it is not in.
"""

from __future__ import annotations

from kafka_rebalance.assignors.sticky.state import HEAP, NONE, State
from kafka_rebalance.kernels.decorators import inner_kernel, kernel


@inner_kernel
def fill(state: State, topic: int, only_who_takes_part: bool) -> None:  # noqa: FBT001
    """Replace what is there by the topic's readers, each once."""
    heap, members, topics = state.heap, state.members, state.topics
    for i in range(state.marks[HEAP]):
        members[heap[i]].heap_place = NONE
    size = 0
    first = topics[topic].first_reader
    for at in range(first, first + topics[topic].readers):
        member = state.readers[at]
        if members[member].heap_place == NONE and (members[member].takes_part or not only_who_takes_part):
            heap[size] = member
            members[member].heap_place = size
            size += 1
    state.marks[HEAP] = size
    for at in range(size // 2 - 1, -1, -1):
        _sink(state, at)


@kernel
def moved(state: State, member: int) -> None:
    """The member's size has changed: find its new place, if it stands here at all."""
    heap, members = state.heap, state.members
    at = members[member].heap_place
    if at == NONE:
        return
    while at > 0 and _is_less(state, member, heap[(at - 1) // 2]):
        parent = (at - 1) // 2
        heap[at] = heap[parent]
        members[heap[at]].heap_place = at
        at = parent
    heap[at] = member
    members[member].heap_place = at
    _sink(state, at)


@inner_kernel
def _sink(state: State, at: int) -> None:
    heap, members, size = state.heap, state.members, state.marks[HEAP]
    member = heap[at]
    while True:
        child = 2 * at + 1
        if child + 1 < size and _is_less(state, heap[child + 1], heap[child]):
            child += 1
        if child >= size or not _is_less(state, heap[child], member):
            break
        heap[at] = heap[child]
        members[heap[at]].heap_place = at
        at = child
    heap[at] = member
    members[member].heap_place = at


@inner_kernel
def _is_less(state: State, one: int, other: int) -> bool:
    """TreeSet order of ``SubscriptionComparator``: fewer partitions first, then the id."""
    members = state.members
    if members[one].row_count != members[other].row_count:
        return bool(members[one].row_count < members[other].row_count)
    return bool(members[one].id_rank < members[other].id_rank)
