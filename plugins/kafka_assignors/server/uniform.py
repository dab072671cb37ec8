"""The group coordinator's ``uniform`` (KIP-848), Kafka 4.0.1 – 4.4 and 4.0.0: even counts, then as sticky as they
allow.

Promises, in priority order: every partition of a subscribed topic has one owner; with equal subscriptions, counts
differ by one at most (else nearly so: balancing is capped); members keep their partitions as far as possible. The order
of Java's maps breaks ties. Racks do not count since 3.8. ``uniform_preview``: 3.8 – 3.9; ``uniform_heterogeneous``:
different subscriptions.

Equal subscriptions (``spread_evenly``), members in the coordinator's map order: with N partitions and k members each
may hold ⌊N/k⌋, and N mod k of them one more. A member over its quota releases the last ones in its maps. Members under
it get consecutive partitions, one member after the other: first unowned ones (topics in HashSet order), then released
ones. Vanished partitions count as held and stay, as in Java.

The one more goes, up to 4.0.0, to the first N mod k members in map order; from 4.0.1 (KAFKA-18688) to those that hold
it already, then to the last in map order. Example: 7 partitions, a holds 0–3 and b holds 4–6 in map order b, a. To
4.0.0 b is first and takes partition 3 from a; from 4.0.1 nothing moves. O(M + W + N) for W owned partitions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_assignors.arrays import Flags, Ints, Longs
from kafka_assignors.contract import Assignment, AssignmentRequest, Withheld
from kafka_assignors.errors import AssignorError
from kafka_assignors.java.keys import uuid_hash_codes
from kafka_assignors.kernels import inner_kernel, kernel
from kafka_assignors.owned_lists import OwnedLists, TopicRows, copy_run, owned_columns
from kafka_assignors.server.orders import (
    BEYOND_LAST,
    CONTRADICTORY,
    LEFT_OVER,
    MISSING_TOPIC,
    NO_TOPICS,
    PARTITION_ASSIGNOR_EXCEPTION,
    SPREAD,
    JavaMaps,
    Walk,
    first_missing,
    in_set_order,
    is_homogeneous,
    map_walk,
    name_hashes,
    owned_walk,
    refuse_missing_topic,
    walk_columns,
)
from kafka_assignors.server.uniform_heterogeneous import spread_by_topic


@kernel
def spread_evenly(
    walk: Walk,
    subscriptions: tuple[Longs, Ints],
    topic_columns: tuple[Ints, Longs, Longs, Longs, Ints],
    owned_columns: tuple[Longs, Ints, Ints],
    assigned: tuple[Flags, bool],
    is_extra_given_back: bool,  # noqa: FBT001
) -> tuple[int, np.int64, Longs, Ints, Ints]:
    """Result code, the missing topic, and offsets, topics and partitions of each member.

    ``topic_columns``: partition counts, first rows, both halves of ids, ``name_hashes``. ``assigned``: bool[P], and
    whether the coordinator sent it; else it follows from the claims. One kernel, because calls cost more than the work
    of small groups.
    """
    counts, first_row, high, low, names = topic_columns
    data, id_offsets, fed, capacity, is_hashed = walk
    order = map_walk(data, id_offsets, fed, capacity, is_hashed)
    bounds, listed = subscriptions
    hashes = uuid_hash_codes(high, low)
    topics = in_set_order(listed[bounds[order[0]] : bounds[order[0] + 1]], names, hashes, is_hashed, True)
    owned = OwnedLists(owned_columns[0], owned_columns[1], owned_columns[2])
    missing = first_missing(topics, counts)
    if len(topics) == 0 or missing >= 0:
        status = NO_TOPICS if len(topics) == 0 else MISSING_TOPIC
        return status, missing, owned.offsets[:0], owned.topics[:0], owned.partitions[:0]
    is_assigned, has_assignment = assigned
    is_contradictory = True
    if not has_assignment:
        is_assigned, is_contradictory = _owned_rows(owned, first_row, counts)
    maps = JavaMaps(hashes, is_hashed, len(names) > 0)
    lists = _spread(order, topics, TopicRows(counts, first_row), owned, is_assigned, maps, is_extra_given_back)
    offsets, out_topics, partitions, is_complete = lists
    if not is_complete:
        return LEFT_OVER, missing, offsets, out_topics, partitions
    return CONTRADICTORY if is_contradictory else SPREAD, missing, offsets, out_topics, partitions


@inner_kernel
def _owned_rows(owned: OwnedLists, first_row: Longs, counts: Ints) -> tuple[Flags, bool]:
    """bool[P]: owned partitions; whether one is owned twice or does not exist."""
    # The last row is for vanished partitions.
    is_owned = np.zeros(first_row[-1] + 1, np.bool_)
    for k in range(len(owned.topics)):
        topic, partition = np.uint32(owned.topics[k]), owned.partitions[k]
        exists = (partition >= 0) & (partition < counts[topic])
        is_owned[np.uint64(first_row[topic] + partition if exists else first_row[-1])] = True
    rows = is_owned[:-1]
    held = 0
    for flag in rows:
        held += flag
    return rows, held < len(owned.topics)


@inner_kernel
def _spread(
    order: Longs,
    topics: Ints,
    rows: TopicRows,
    owned: OwnedLists,
    is_assigned: Flags,
    maps: JavaMaps,
    is_extra_given_back: bool,  # noqa: FBT001
) -> tuple[Longs, Ints, Ints, bool]:
    counts = rows.counts
    is_subscribed = np.zeros(len(counts), np.bool_)
    total = 0
    for topic in topics:
        is_subscribed[topic] = True
        total += counts[topic]
    is_released = np.zeros(len(owned.topics), np.bool_)
    kept, dealt_counts, released = _quotas(order, is_subscribed, total, owned, is_released, maps, is_extra_given_back)
    free = _unassigned(topics, rows, is_assigned, owned, released)
    free_count = len(free[0])
    # In map order; the last members may get none.
    chunk = np.empty(len(order), np.int64)
    dealt = 0
    for member in order:
        chunk[member] = dealt
        dealt_counts[member] = min(dealt_counts[member], free_count - dealt)
        dealt += dealt_counts[member]
    lists = _write_lists(kept, dealt_counts, chunk, free, owned, is_subscribed, is_released)
    return (*lists, dealt == free_count)


@inner_kernel
def _write_lists(
    kept: Longs,
    dealt_counts: Longs,
    chunk: Longs,
    free: tuple[Ints, Ints],
    owned: OwnedLists,
    is_subscribed: Flags,
    is_released: Flags,
) -> tuple[Longs, Ints, Ints]:
    """Kept partitions in each member's own order, then its chunk. Members that keep all are copied together."""
    free_topics, free_partitions = free
    owned_offsets, owned_topics, owned_partitions = owned
    offsets = np.zeros(len(kept) + 1, np.int64)
    for member in range(len(kept)):
        offsets[member + 1] = offsets[member] + kept[member] + dealt_counts[member]
    topics = np.empty(offsets[-1], np.int32)
    partitions = np.empty(offsets[-1], np.int32)
    copied, out_index = 0, 0
    for member in range(len(kept)):
        start, end = owned_offsets[member], owned_offsets[member + 1]
        keeps_all = kept[member] == end - start
        if keeps_all and dealt_counts[member] == 0 and member < len(kept) - 1:
            continue
        upto = end if keeps_all else start
        length = upto - copied
        copy_run(topics, out_index, owned_topics, copied, length)
        copy_run(partitions, out_index, owned_partitions, copied, length)
        out_index += length
        copied = end
        for k in range(upto, end):
            if is_subscribed[owned_topics[k]] and not is_released[k]:
                topics[out_index] = owned_topics[k]
                partitions[out_index] = owned_partitions[k]
                out_index += 1
        for k in range(chunk[member], chunk[member] + dealt_counts[member]):
            topics[out_index] = free_topics[k]
            partitions[out_index] = free_partitions[k]
            out_index += 1
    return offsets, topics, partitions


@inner_kernel
def _quotas(
    order: Longs,
    is_subscribed: Flags,
    total: int,
    owned: OwnedLists,
    is_released: Flags,
    maps: JavaMaps,
    is_extra_given_back: bool,  # noqa: FBT001
) -> tuple[Longs, Longs, Longs]:
    """Kept count and further room of each member, and released partitions in Java's order (also marked)."""
    owned_offsets, owned_topics, owned_partitions = owned
    members = len(order)
    quota_all, extras = total // members, total % members
    kept = np.zeros(members, np.int64)
    dealt_counts = np.zeros(members, np.int64)
    released = np.empty(len(owned_topics), np.int64)
    given_up = 0
    group_of = np.full(len(is_subscribed), -1, np.int32)
    all_subscribed = _all_set(is_subscribed)
    for index in range(members):
        member = order[index]
        start, end = owned_offsets[member], owned_offsets[member + 1]
        held = end - start
        if not all_subscribed:
            held = 0
            for k in range(start, end):
                held += is_subscribed[owned_topics[k]]
        has_extra = extras > 0
        quota = quota_all + has_extra
        if held > quota:
            visit_order = np.arange(start, end)
            if maps.is_hashed:
                visit_order = owned_walk(owned_topics[start:end], owned_partitions[start:end], maps, group_of)
                for k in range(len(visit_order)):
                    visit_order[k] += start
            given_up = _release(visit_order, quota, is_subscribed, owned_topics, is_released, released, given_up)
        kept[member] = min(held, quota)
        left = quota - kept[member]
        if is_extra_given_back and left > 0 and has_extra and members - index > extras:
            left -= 1
            has_extra = False
        dealt_counts[member] = left
        extras -= has_extra
    return kept, dealt_counts, released[:given_up]


@inner_kernel
def _all_set(flags: Flags) -> bool:
    for flag in flags:  # noqa: SIM110 (numba knows no generators)
        if not flag:
            return False
    return True


@inner_kernel
def _release(
    visit_order: Longs,
    quota: int,
    is_subscribed: Flags,
    owned_topics: Ints,
    is_released: Flags,
    released: Longs,
    given_up: int,
) -> int:
    left = quota
    for k in visit_order:
        if not is_subscribed[owned_topics[k]]:
            continue
        if left > 0:
            left -= 1
            continue
        is_released[k] = True
        released[given_up] = k
        given_up += 1
    return given_up


@inner_kernel
def _unassigned(
    topics: Ints, rows: TopicRows, is_assigned: Flags, owned: OwnedLists, released: Longs
) -> tuple[Ints, Ints]:
    counts, first_row = rows
    never_of = np.zeros(len(topics), np.int64)
    for i in range(len(topics)):
        row = first_row[topics[i]]
        assigned = 0
        for flag in is_assigned[row : row + counts[topics[i]]]:
            assigned += flag
        never_of[i] = counts[topics[i]] - assigned
    never = never_of.sum()
    free_topics = np.empty(never + len(released), np.int32)
    free_partitions = np.empty(never + len(released), np.int32)
    filled = 0
    for i in range(len(topics)):
        topic, end = topics[i], filled + never_of[i]
        partition = 0
        while filled < end:
            if not is_assigned[first_row[topic] + partition]:
                free_topics[filled] = topic
                free_partitions[filled] = partition
                filled += 1
            partition += 1
    for k in released:
        free_topics[filled] = owned.topics[k]
        free_partitions[filled] = owned.partitions[k]
        filled += 1
    return free_topics, free_partitions


_NOTHING_TOLD = np.zeros(0, np.bool_)
_NOTHING_TOLD.setflags(write=False)


@dataclass(frozen=True, slots=True)
class ServerUniformAssignor:
    name: str = "server-uniform"
    versions: str = "Kafka 4.0.1 – 4.4"
    # KAFKA-18688.
    is_extra_given_back: bool = True

    def assign(self, request: AssignmentRequest) -> Assignment:
        if len(request.members) == 0:
            return no_entries(0)
        return self._homogeneous(request) if is_homogeneous(request) else _heterogeneous(request)

    def _homogeneous(self, request: AssignmentRequest) -> Assignment:
        topics, members, is_assigned = request.topics, request.members, request.is_assigned
        status, missing, offsets, out_topics, partitions = spread_evenly(
            walk_columns(request),
            (members.subscription_offsets, members.subscription_topics),
            (topics.partition_counts, topics.first_row, topics.uuid_msb, topics.uuid_lsb, name_hashes(request)),
            owned_columns(members),
            (_NOTHING_TOLD if is_assigned is None else is_assigned, is_assigned is not None),
            self.is_extra_given_back,
        )
        refuse_missing_topic(request, int(missing))
        if status == NO_TOPICS:
            return no_entries(len(members))
        if status == LEFT_OVER:
            raise AssignorError(PARTITION_ASSIGNOR_EXCEPTION, "Partitions were left unassigned")
        lists = (offsets, out_topics, partitions)
        return Assignment.of(*(_as_sets(*lists) if status == CONTRADICTORY else lists))


def as_of_4_0_0() -> ServerUniformAssignor:
    return ServerUniformAssignor("server-uniform@4.0.0", "Kafka 4.0.0", is_extra_given_back=False)


def _heterogeneous(request: AssignmentRequest) -> Assignment:
    topics, members = request.topics, request.members
    status, at, offsets, out_topics, partitions = spread_by_topic(
        walk_columns(request),
        (members.subscription_offsets, members.subscription_topics),
        (topics.partition_counts, topics.first_row, topics.uuid_msb, topics.uuid_lsb),
        owned_columns(members),
    )
    if status == NO_TOPICS:
        return no_entries(len(members))
    if status == MISSING_TOPIC:
        refuse_missing_topic(request, int(at))
    if status == BEYOND_LAST:
        count = topics.partition_counts[members.owned_topics[at]]
        raise AssignorError(
            "java.lang.ArrayIndexOutOfBoundsException",
            f"Index {members.owned_partitions[at]} out of bounds for length {count}",
        )
    return Assignment.of(offsets, out_topics, partitions)


def no_entries(members: int) -> Assignment:
    nothing = np.zeros(0, np.int32)
    entries = np.zeros(members, np.bool_)
    return Assignment(np.zeros(members + 1, np.int64), nothing, nothing, Withheld.nothing(), has_entry=entries)


def _as_sets(offsets: Longs, topics: Ints, partitions: Ints) -> tuple[Longs, Ints, Ints]:
    """Each partition once a member: Java has sets, and quotas count insertions. A partition may come again if it has
    two owners, or is reported free while held.
    """
    members = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    _, first = np.unique(np.stack([members, topics, partitions]), axis=1, return_index=True)
    kept = np.sort(first)
    counts = np.bincount(members[kept], minlength=len(offsets) - 1)
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]), topics[kept], partitions[kept]
