"""The state of the general sticky way, as four tables: partitions, their places in lists, members, topics.

Records keep what belongs together side by side, and a kernel takes one ``State`` instead of forty columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kafka_rebalance.arrays import Ints, Longs
from kafka_rebalance.assignors.request import AssignmentRequest
from kafka_rebalance.assignors.sticky.sticky_input import StickyInput
from kafka_rebalance.assignors.subscribers import same_readers, subscribers_by_topic
from kafka_rebalance.java.hash_order import spread
from kafka_rebalance.java.keys import topic_partition_hash
from kafka_rebalance.java.strings import hash_codes
from kafka_rebalance.kernels.by_reference import ByReference
from kafka_rebalance.kernels.decorators import inner_kernel, kernel

Words = npt.NDArray[np.uint64]
Records = npt.NDArray[Any]

NONE = -1
# Places in State.marks.
SPARE, UNUSED, HEAP, LEAST, MOST, WITNESS, WITNESS_ROW, WITNESS_TOPIC, SLACK, LITERAL, DIALECT = range(11)
# State.marks[DIALECT]: whose rules for turning movements back (``balance.really_moved``) are followed.
JAVA, KAFKA_PYTHON_3, LIBRDKAFKA = range(3)


def _record_type(fields: list[tuple[str, type[np.integer[Any]]]]) -> np.dtype[Any]:
    """Fields laid out as C does. ``np.record``: they are attributes too where kernels run as plain Python."""
    return np.dtype((np.record, np.dtype(fields, align=True)))


# A partition (or stale row): its topic; who is believed to have it (``owner``), its oldest place in a list (``first``),
# who had it in an older generation (``previous``); and its movement (``balance.record``): from whom, to whom, in a
# set of how many bins, its neighbours among the topic's moved ones, its spread hash code.
ROW = _record_type(
    [
        ("topic", np.int32), ("owner", np.int32), ("first", np.int32), ("previous", np.int32), ("source", np.int32),
        ("target", np.int32), ("table", np.int32), ("earlier", np.int32), ("later", np.int32), ("spread", np.int64),
    ],
)  # fmt: skip
# A row in a member's list, its neighbours there, and the next place that holds the same row.
PLACE = _record_type(
    [("row", np.int32), ("member", np.int32), ("before", np.int32), ("following", np.int32), ("beside", np.int32)],
)
# A member: its list and how long that is; how its id sorts; where it stands in the heap; its rack where racks matter;
# its place in Java's map; whether it takes part in balancing; how many partitions it could have at most.
MEMBER = _record_type(
    [
        ("head", np.int32), ("tail", np.int32), ("row_count", np.int32), ("id_rank", np.int32),
        ("heap_place", np.int32), ("rack", np.int32), ("map_place", np.int32), ("takes_part", np.int32),
        ("possible", np.int64),
    ],
)  # fmt: skip
# A topic: its rows, its readers, the first topic with the same readers, the first and last of its rows that have moved.
TOPIC = _record_type(
    [
        ("first_row", np.int64), ("partitions", np.int32), ("first_reader", np.int64), ("readers", np.int32),
        ("alike", np.int32), ("moved_first", np.int32), ("moved_last", np.int32),
    ],
)  # fmt: skip


@dataclass(frozen=True, eq=False, kw_only=True)
class State(ByReference):
    """R rows, M members, T topics. ``readers`` int32: topic by topic, as the subscription map is walked, doubles kept.

    ``shared`` int64: topics with two readers or more. ``heap`` int32[M]: see ``balance.fill``. ``with_size`` int32: how
    many members that take part have each size. ``marks`` int64[11]: counters and flags, by the names above.
    ``offsets``, ``topics_of``: subscriptions. ``sets`` uint64[P, words]: racks of partitions, where racks matter.
    """

    rows: Records
    places: Records
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
    """Nobody has anything yet. ``possible`` int64[M]: partitions that each could have at most."""
    members, topics = request.members, request.topics
    subscriptions = (members.subscription_offsets, members.subscription_topics)
    starts, readers = subscribers_by_topic(inputs.subscription_order, *subscriptions, len(topics), False)
    reader_counts = np.diff(starts)
    row_count = len(inputs.row_topic)
    # Everybody's own, every row once, and once more where Kafka gives it out though it is taken.
    place_count = len(inputs.rows) + 2 * row_count
    state = State(
        rows=np.empty(row_count, ROW),
        places=np.empty(place_count, PLACE),
        members=np.zeros(len(members), MEMBER),
        topics=np.zeros(len(topics), TOPIC),
        readers=np.ascontiguousarray(readers),
        shared=inputs.topics[reader_counts[inputs.topics] >= 2],
        heap=np.empty(len(members), np.int32),
        with_size=np.zeros(place_count + 2, np.int32),
        marks=np.array([NONE, 0, 0, 0, 0, NONE, NONE, 0, slack, 0, JAVA], np.int64),
        offsets=np.ascontiguousarray(members.subscription_offsets),
        topics_of=np.ascontiguousarray(members.subscription_topics),
        sets=np.ascontiguousarray(inputs.racks.sets),
    )
    hashes = hash_codes(topics.names.data, topics.names.offsets)
    clear_rows(state.rows, state.places, inputs.row_topic, topics.first_row, hashes)
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
def clear_rows(rows: Records, places: Records, row_topic: Ints, first_row: Longs, topic_hashes: Ints) -> None:
    """Rows that nobody has and that have not moved; places that nobody uses."""
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
    for place in range(len(places)):
        places[place].member = NONE
        places[place].beside = NONE


# Lists of rows, one a member, in which a row can be taken out and put at the end in constant time.
#
# Normally a row stands in one list, that of its owner. Where Kafka lets a partition be assigned twice it stands in more
# (``beside`` leads from place to place, oldest first), and its owner is the member that Kafka believes it to be.


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
    members[member].row_count += 1
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
    members[member].row_count -= 1
    places[place].member = NONE
    places[place].beside = state.marks[SPARE]
    state.marks[SPARE] = place


@kernel
def flattened(state: State) -> tuple[Longs, Ints]:
    """Offsets int64[M+1] and rows, in list order."""
    member_count = len(state.members)
    offsets = np.zeros(member_count + 1, np.int64)
    for member in range(member_count):
        offsets[member + 1] = offsets[member] + state.members[member].row_count
    rows = np.empty(offsets[-1], np.int32)
    for member in range(member_count):
        place, at = state.members[member].head, offsets[member]
        while place != NONE:
            rows[at] = state.places[place].row
            at += 1
            place = state.places[place].following
    return offsets, rows
