"""Tables of the general sticky way.

A heap gives a topic's reader with the least, ties by id; ``heap_place`` of a member outside is NONE.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kafka_assignors.arrays import Ints, Longs
from kafka_assignors.contract import AssignmentRequest
from kafka_assignors.java.hash_order import spread
from kafka_assignors.java.keys import topic_partition_hash
from kafka_assignors.java.strings import hash_codes
from kafka_assignors.kernels import ByReference, inner_kernel, kernel
from kafka_assignors.sticky.sticky_input import StickyInput
from kafka_assignors.subscribers import same_readers, subscribers_by_topic

Words = npt.NDArray[np.uint64]
Records = npt.NDArray[Any]

NONE = -1
SPARE, UNUSED, HEAP, LEAST, MOST, WITNESS, WITNESS_ROW, WITNESS_TOPIC, SLACK, LITERAL, DIALECT = range(11)
# State.marks[DIALECT]: rules for reversed movements (``general.really_moved``).
JAVA, KAFKA_PYTHON_3, LIBRDKAFKA = range(3)


def _record_type(fields: list[tuple[str, type[np.integer[Any]]]]) -> np.dtype[Any]:
    return np.dtype((np.record, np.dtype(fields, align=True)))


# Partition (or stale row): topic; recorded holder (``owner``), its oldest holding (``first``), holder in an older
# generation (``previous``); movement (``general.record``): source, target, bins of the set, neighbours among the
# topic's moved rows, spread hash code.
ROW = _record_type(
    [
        ("topic", np.int32), ("owner", np.int32), ("first", np.int32), ("previous", np.int32), ("source", np.int32),
        ("target", np.int32), ("table", np.int32), ("earlier", np.int32), ("later", np.int32), ("spread", np.int64),
    ],
)  # fmt: skip
# A row in a member's list, its neighbours there, and the next holding of the same row.
HOLDING = _record_type(
    [("row", np.int32), ("member", np.int32), ("before", np.int32), ("following", np.int32), ("beside", np.int32)],
)
# List and its length; rank of the id; place in the heap; rack where racks matter; place in Java's map; whether it takes
# part in balancing; maximum of partitions.
MEMBER = _record_type(
    [
        ("head", np.int32), ("tail", np.int32), ("row_count", np.int32), ("id_rank", np.int32),
        ("heap_place", np.int32), ("rack", np.int32), ("map_place", np.int32), ("takes_part", np.int32),
        ("possible", np.int64),
    ],
)  # fmt: skip
# The first topic with the same readers, first and last of its moved rows.
TOPIC = _record_type(
    [
        ("first_row", np.int64), ("partitions", np.int32), ("first_reader", np.int64), ("readers", np.int32),
        ("alike", np.int32), ("moved_first", np.int32), ("moved_last", np.int32),
    ],
)  # fmt: skip


@dataclass(frozen=True, eq=False, kw_only=True)
class State(ByReference):
    """``readers`` int32: topic by topic, in the order of the subscription map.

    ``shared`` int64: topics with two readers or more. ``heap`` int32[M]: see ``fill``. ``with_size`` int32: members of
    each size that take part. ``marks`` int64[11]: by the names above. ``sets`` uint64[P, words]: racks of partitions,
    where racks matter.
    """

    rows: Records
    holdings: Records
    members: Records
    topics: Records
    readers: Ints
    shared: Longs
    heap: Ints
    with_size: Ints
    marks: Longs
    offsets: Longs
    topics_of: Ints
    sets: Words


def new_state(request: AssignmentRequest, inputs: StickyInput, possible: Longs, *, slack: int) -> State:
    members, topics = request.members, request.topics
    subscriptions = (members.subscription_offsets, members.subscription_topics)
    starts, readers = subscribers_by_topic(inputs.subscription_order, *subscriptions, len(topics), False)
    reader_counts = np.diff(starts)
    row_count = len(inputs.row_topic)
    # The claims, every row once, and once more where Kafka assigns a row that is taken.
    holding_count = len(inputs.rows) + 2 * row_count
    state = State(
        rows=np.empty(row_count, ROW),
        holdings=np.empty(holding_count, HOLDING),
        members=np.zeros(len(members), MEMBER),
        topics=np.zeros(len(topics), TOPIC),
        readers=np.ascontiguousarray(readers),
        shared=inputs.topics[reader_counts[inputs.topics] >= 2],
        heap=np.empty(len(members), np.int32),
        with_size=np.zeros(holding_count + 2, np.int32),
        marks=np.array([NONE, 0, 0, 0, 0, NONE, NONE, 0, slack, 0, JAVA], np.int64),
        offsets=np.ascontiguousarray(members.subscription_offsets),
        topics_of=np.ascontiguousarray(members.subscription_topics),
        sets=np.ascontiguousarray(inputs.racks.sets),
    )
    hashes = hash_codes(topics.names.data, topics.names.offsets)
    clear_rows(state.rows, state.holdings, inputs.row_topic, topics.first_row, hashes)
    table = state.members
    table["head"] = table["tail"] = table["heap_place"] = NONE
    table["id_rank"], table["rack"], table["possible"] = inputs.id_rank, inputs.racks.member_racks, possible
    table["map_place"][inputs.owned_order] = np.arange(len(members))
    table = state.topics
    table["first_row"], table["partitions"] = topics.first_row[:-1], np.maximum(inputs.counts, 0)
    table["first_reader"], table["readers"] = starts[:-1], reader_counts
    table["alike"] = same_readers(starts, readers)
    table["moved_first"] = table["moved_last"] = NONE
    return state


@kernel
def clear_rows(rows: Records, holdings: Records, row_topic: Ints, first_row: Longs, topic_hashes: Ints) -> None:
    for row in range(len(rows)):
        topic = row_topic[row]
        rows[row].topic = topic
        rows[row].owner = NONE
        rows[row].first = NONE
        rows[row].previous = NONE
        rows[row].source = NONE
        rows[row].target = NONE
        rows[row].table = 0
        rows[row].earlier = NONE
        rows[row].later = NONE
        rows[row].spread = spread(topic_partition_hash(topic_hashes[topic], row - first_row[topic]))
    for holding in range(len(holdings)):
        holdings[holding].member = NONE
        holdings[holding].beside = NONE


# Lists of rows, one a member. A row is in one list, its owner's. Where Kafka lets a partition be assigned twice it is
# in more (``beside`` links its holdings, oldest first), and its owner is the member that Kafka records.


@inner_kernel
def give(state: State, row: int, member: int) -> None:
    rows, holdings, members, marks = state.rows, state.holdings, state.members, state.marks
    holding = marks[SPARE]
    if holding == NONE:
        holding = marks[UNUSED]
        marks[UNUSED] += 1
    else:
        marks[SPARE] = holdings[holding].beside
    last = members[member].tail
    holdings[holding].row = row
    holdings[holding].member = member
    holdings[holding].before = last
    holdings[holding].following = NONE
    holdings[holding].beside = NONE
    if last == NONE:
        members[member].head = holding
    else:
        holdings[last].following = holding
    members[member].tail = holding
    members[member].row_count += 1
    rows[row].owner = member
    other = rows[row].first
    if other == NONE:
        rows[row].first = holding
        return
    while holdings[other].beside != NONE:
        other = holdings[other].beside
    holdings[other].beside = holding


@inner_kernel
def take(state: State, row: int, member: int) -> None:
    rows, holdings, members = state.rows, state.holdings, state.members
    older, holding = NONE, rows[row].first
    while holding != NONE and holdings[holding].member != member:
        older, holding = holding, holdings[holding].beside
    if holding == NONE:
        return
    if older == NONE:
        rows[row].first = holdings[holding].beside
    else:
        holdings[older].beside = holdings[holding].beside
    before, following = holdings[holding].before, holdings[holding].following
    if before == NONE:
        members[member].head = following
    else:
        holdings[before].following = following
    if following == NONE:
        members[member].tail = before
    else:
        holdings[following].before = before
    members[member].row_count -= 1
    holdings[holding].member = NONE
    holdings[holding].beside = state.marks[SPARE]
    state.marks[SPARE] = holding


@kernel
def flatten(state: State) -> tuple[Longs, Ints]:
    member_count = len(state.members)
    offsets = np.zeros(member_count + 1, np.int64)
    for member in range(member_count):
        offsets[member + 1] = offsets[member] + state.members[member].row_count
    rows = np.empty(offsets[-1], np.int32)
    for member in range(member_count):
        holding, at = state.members[member].head, offsets[member]
        while holding != NONE:
            rows[at] = state.holdings[holding].row
            at += 1
            holding = state.holdings[holding].following
    return offsets, rows


@inner_kernel
def fill(state: State, topic: int, only_who_takes_part: bool) -> None:  # noqa: FBT001
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
def sift(state: State, member: int) -> None:
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
def _is_less(state: State, member: int, other: int) -> bool:
    """``SubscriptionComparator``: fewer partitions first, then the id."""
    members = state.members
    if members[member].row_count != members[other].row_count:
        return bool(members[member].row_count < members[other].row_count)
    return bool(members[member].id_rank < members[other].id_rank)


_RUN = 16


@inner_kernel
def sort_pairs(keys: Longs, values: Ints, start: int, end: int) -> None:
    """Merge sort of ``keys[start:end]`` in place, stable, ``values`` along; fast on nearly sorted keys."""
    for low in range(start, end, _RUN):
        for i in range(low + 1, min(low + _RUN, end)):
            key, value = keys[i], values[i]
            j = i - 1
            while j >= low and keys[j] > key:
                keys[j + 1] = keys[j]
                values[j + 1] = values[j]
                j -= 1
            keys[j + 1] = key
            values[j + 1] = value
    width = _RUN
    while width < end - start:
        for low in range(start, end - width, 2 * width):
            if keys[low + width - 1] > keys[low + width]:
                _merge(keys, values, low, low + width, min(low + 2 * width, end))
        width *= 2


@inner_kernel
def _merge(keys: Longs, values: Ints, low: int, middle: int, high: int) -> None:
    left_keys, left_values = keys[low:middle].copy(), values[low:middle].copy()
    i, j = 0, middle
    for at in range(low, high):
        if i == len(left_keys):
            break
        if j < high and keys[j] < left_keys[i]:
            keys[at] = keys[j]
            values[at] = values[j]
            j += 1
        else:
            keys[at] = left_keys[i]
            values[at] = left_values[i]
            i += 1
