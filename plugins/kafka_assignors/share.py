"""The group coordinator's ``simple`` for share groups (KIP-932): several readers a partition.

``share-simple``: Kafka 4.2 – 4.4; ``share-simple@4.0``: Kafka 4.0, where every member reads every partition of its
topics. The preview of 4.1 is not modelled. Promises from 4.2, in priority order, with M members and T partitions: S =
⌈M/T⌉ readers for each partition where possible; about S·T/M partitions for each member; present readers stay.

Steps from 4.2 on, for one set of partitions and its readers (the whole group, or one topic's subscribers where
subscriptions differ)
1. ``wants_of``: x = S·T/M; member i wants ⌈x(i+1)⌉ − ⌈x·i⌉, in doubles as Java.
2. A member that holds more than it wants drops the first ones in the order of its HashSet.
3. A partition with more than S readers drops the first ones in the order of its HashSet.
4. Deal: partitions in the order of a HashMap filled by ``computeIfAbsent`` (held ones, then the others); each takes
   members in turn from those that want more, except its readers before the deal. A full round without a match ends
   the partition; starting again when no member wants more is Java's NoSuchElementException.
Partitions follow their topics, by name (``server.orders``). Vanished or unassignable partitions count as held and are
dealt again, as in Java. A *key* is a partition: the first T keys are the partitions to read, in Java's order; further
keys are old partitions that are not among them.

Example: 2 partitions, members a, b, c: S = 2, wants ⌈4/3⌉, ⌈8/3⌉ − 2, 4 − 3 = 2, 1, 1. O(M log M + W + S·T) (4.2),
O(M·T) (4.0), for W owned partitions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kafka_assignors.arrays import Flags, Ints, Longs
from kafka_assignors.contract import Assignment, AssignmentRequest, MapOrder, Withheld
from kafka_assignors.errors import AssignorError
from kafka_assignors.java.hash_order import COMPUTE_IF_ABSENT, DEFAULT_CAPACITY, order_after, put_order
from kafka_assignors.java.keys import topic_id_partition_hashes
from kafka_assignors.kernels import inner_kernel, kernel
from kafka_assignors.orders import member_walk
from kafka_assignors.owned_lists import OwnedLists, owned_lists
from kafka_assignors.server.orders import (
    JavaMaps,
    is_hashed,
    is_homogeneous,
    name_hashes,
    owned_walk,
    refuse_missing_topics,
    subscription_of,
    topic_hashes,
)
from kafka_assignors.server.uniform import no_entries
from kafka_assignors.server.uniform_heterogeneous import list_subscribers

_NONE = -1


class Holdings(NamedTuple):
    """Holders of each key: starts[key]..starts[key + 1] of ``holders`` (positions), ``entries``; ``stays`` by entry."""

    starts: Longs
    holders: Ints
    entries: Longs
    stays: Flags


@inner_kernel
def presized_capacity(n: int) -> np.int64:
    """``AssignorHelpers.newHashMap(n)``."""
    return np.int64(np.float32(n + 1) / np.float32(0.75) + np.float32(1))


@kernel
def integer_walk(n: int) -> Longs:
    """A presized map of the Integers 0 … n−1 (ascending up to 65,536 of them)."""
    order: Longs = put_order(np.arange(n, dtype=np.int32), presized_capacity(n))
    return order


@kernel
def wants_of(readers: int, targets: int) -> tuple[np.int64, Longs]:
    sharing = np.int64((readers + targets - 1) // targets) if targets else np.int64(0)
    precise = np.float64(sharing * targets) / np.float64(readers)
    wants = np.empty(readers, np.int64)
    for i in range(readers):
        wants[i] = np.int64(np.ceil(precise * np.float64(i + 1))) - np.int64(np.ceil(precise * np.float64(i)))
    return sharing, wants


@kernel
def share_out(
    walk: Longs, wants: Longs, sharing: int, hashes: Ints, targets: int, held_starts: Longs, held_keys: Ints
) -> tuple[Flags, Ints, Ints, bool]:
    """Held entries that stay, dealt positions and keys, and false if Java throws.

    ``walk``: positions in the order of Java's maps of Integers. ``hashes``: of all keys. ``held_keys``: keys of each
    position, in the order of its maps.
    """
    stays = np.ones(len(held_keys), np.bool_)
    sizes = _drop_above_wants(walk, wants, hashes, held_starts, held_keys, stays)
    starts, holders, entries = _by_key(walk, len(hashes), held_starts, held_keys)
    left = np.zeros(len(hashes), np.int64)
    for k in range(len(held_keys)):
        left[held_keys[k]] += stays[k]
    for key in range(len(hashes)):
        start, end = starts[key], starts[key + 1]
        if left[key] <= sharing:
            continue
        for k in put_order(holders[start:end], DEFAULT_CAPACITY):
            if stays[entries[start + k]]:
                stays[entries[start + k]] = False
                sizes[holders[start + k]] -= 1
                left[key] -= 1
                if left[key] == sharing:
                    break
    key_order = _key_order(walk, hashes, targets, held_starts, held_keys)
    held = Holdings(starts, holders, entries, stays)
    positions, keys, is_done = _deal(walk, wants, sharing, sizes, key_order, held, left)
    return stays, positions, keys, is_done


@inner_kernel
def _drop_above_wants(
    walk: Longs, wants: Longs, hashes: Ints, held_starts: Longs, held_keys: Ints, stays: Flags
) -> Longs:
    sizes = np.empty(len(walk), np.int64)
    for position in walk:
        start, end = held_starts[position], held_starts[position + 1]
        sizes[position] = end - start
        if sizes[position] > wants[position]:
            own = np.empty(end - start, np.int32)
            for k in range(start, end):
                own[k - start] = hashes[held_keys[k]]
            by_hash = put_order(own, DEFAULT_CAPACITY)
            for k in range(sizes[position] - wants[position]):
                stays[start + by_hash[k]] = False
            sizes[position] = wants[position]
    return sizes


@inner_kernel
def _by_key(walk: Longs, keys: int, held_starts: Longs, held_keys: Ints) -> tuple[Longs, Ints, Longs]:
    starts = np.zeros(keys + 1, np.int64)
    for key in held_keys:
        starts[key + 1] += 1
    for key in range(keys):
        starts[key + 1] += starts[key]
    filled = starts[:-1].copy()
    holders = np.empty(len(held_keys), np.int32)
    entries = np.empty(len(held_keys), np.int64)
    for position in walk:
        for k in range(held_starts[position], held_starts[position + 1]):
            at = filled[held_keys[k]]
            holders[at] = position
            entries[at] = k
            filled[held_keys[k]] += 1
    return starts, holders, entries


@inner_kernel
def _key_order(walk: Longs, hashes: Ints, targets: int, held_starts: Longs, held_keys: Ints) -> Longs:
    keys = np.empty(len(held_keys) + targets, np.int32)
    filled = 0
    for position in walk:
        for k in range(held_starts[position], held_starts[position + 1]):
            keys[filled] = held_keys[k]
            filled += 1
    for key in range(targets):
        keys[filled + key] = key
    steps = np.full(len(keys), COMPUTE_IF_ABSENT, np.int8)
    order: Longs = order_after(hashes, steps, keys, presized_capacity(targets))
    return order


@inner_kernel
def _deal(
    walk: Longs, wants: Longs, sharing: int, sizes: Longs, key_order: Longs, held: Holdings, left: Longs
) -> tuple[Ints, Ints, bool]:
    """Step 4: dealt positions and keys; ``following`` and ``before`` link positions that want more into a ring."""
    end = len(walk)
    following, before, waiting = _line(walk, wants, sizes)
    dealt_positions = np.empty(sharing * len(key_order), np.int32)
    dealt_keys = np.empty(sharing * len(key_order), np.int32)
    dealt = 0
    held_key = np.full(end, _NONE, np.int64)
    given_key = np.full(end, _NONE, np.int64)
    cursor = following[end]
    has_moved = False
    for key in key_order:
        if waiting == 0:
            break
        _note_holders(held_key, key, held)
        todo = sharing - left[key]
        while todo > 0:
            if cursor == end:
                if not has_moved:
                    break
                cursor, has_moved = following[end], False
                if cursor == end:
                    return dealt_positions[:dealt], dealt_keys[:dealt], False
            position = cursor
            cursor = following[position]
            if held_key[position] == key:
                continue
            todo -= 1
            has_moved = True
            # Java does not record the new reader: the same member may be dealt it twice.
            if given_key[position] != key:
                given_key[position] = key
                dealt_positions[dealt] = position
                dealt_keys[dealt] = key
                dealt += 1
                sizes[position] += 1
            if sizes[position] >= wants[position]:
                following[before[position]] = following[position]
                before[following[position]] = before[position]
                waiting -= 1
    return dealt_positions[:dealt], dealt_keys[:dealt], True


@inner_kernel
def _note_holders(held_key: Longs, key: int, held: Holdings) -> None:
    for k in range(held.starts[key], held.starts[key + 1]):
        if held.stays[held.entries[k]]:
            held_key[held.holders[k]] = key


@inner_kernel
def _line(walk: Longs, wants: Longs, sizes: Longs) -> tuple[Longs, Longs, np.int64]:
    end = len(walk)
    following = np.empty(end + 1, np.int64)
    before = np.empty(end + 1, np.int64)
    last = np.int64(end)
    waiting = np.int64(0)
    for position in walk:
        if sizes[position] < wants[position]:
            following[last] = position
            before[position] = last
            last = position
            waiting += 1
    following[last] = end
    before[end] = last
    return following, before, waiting


@kernel
def held_in_order(order: Longs, owned: OwnedLists, maps: JavaMaps) -> Longs:
    owned_offsets, owned_topics, owned_partitions = owned
    held = np.empty(len(owned_topics), np.int64)
    group_of = np.full(len(maps.uuid_hashes), _NONE, np.int32)
    filled = 0
    for member in order:
        start, end = owned_offsets[member], owned_offsets[member + 1]
        visit_order = np.arange(end - start)
        if maps.is_hashed:
            visit_order = owned_walk(owned_topics[start:end], owned_partitions[start:end], maps, group_of)
        for k in visit_order:
            held[filled] = start + k
            filled += 1
    return held


@kernel
def lists_of(
    order: Longs, owned: OwnedLists, is_kept: Flags, dealt: tuple[Ints, Ints, Ints]
) -> tuple[Longs, Ints, Ints]:
    owned_offsets, owned_topics, owned_partitions = owned
    dealt_positions, dealt_topics, dealt_partitions = dealt
    offsets = np.zeros(len(order) + 1, np.int64)
    for position in dealt_positions:
        offsets[order[position] + 1] += 1
    for member in range(len(order)):
        offsets[member + 1] += offsets[member]
        for k in range(owned_offsets[member], owned_offsets[member + 1]):
            offsets[member + 1] += is_kept[k]
    topics = np.empty(offsets[-1], np.int32)
    partitions = np.empty(offsets[-1], np.int32)
    filled = offsets[:-1].copy()
    for member in range(len(order)):
        for k in range(owned_offsets[member], owned_offsets[member + 1]):
            if is_kept[k]:
                topics[filled[member]] = owned_topics[k]
                partitions[filled[member]] = owned_partitions[k]
                filled[member] += 1
    for k in range(len(dealt_positions)):
        member = order[dealt_positions[k]]
        topics[filled[member]] = dealt_topics[k]
        partitions[filled[member]] = dealt_partitions[k]
        filled[member] += 1
    return offsets, topics, partitions


@dataclass(frozen=True, slots=True)
class ShareSimpleAssignor:
    name: str = "share-simple"
    versions: str = "Kafka 4.2 – 4.4"

    def assign(self, request: AssignmentRequest) -> Assignment:
        """Raises AssignorError (NoSuchElementException) where the real class fails over vanished partitions."""
        members = request.members
        if len(members) == 0:
            return no_entries(0)
        order, hashes = member_walk(request), topic_hashes(request)
        held = _Held.of(request, order, hashes)
        if is_homogeneous(request):
            subscribed = subscription_of(request, int(order[0]), hashes, name_hashes(request))
            if len(subscribed) == 0:
                return no_entries(len(members))
            refuse_missing_topics(request, subscribed)
            held.spread(request, subscribed, np.arange(len(order), dtype=np.int32), hashes)
        else:
            starts, positions = list_subscribers(
                order, members.subscription_offsets, members.subscription_topics, len(request.topics)
            )
            subscribed = np.flatnonzero(np.diff(starts)).astype(np.int32)
            if len(subscribed) == 0:
                return no_entries(len(members))
            refuse_missing_topics(request, subscribed)
            # Java keeps partitions of topics without subscribers.
            held.is_kept[:] = ~np.isin(members.owned_topics, subscribed)
            for topic in subscribed.tolist():
                held.spread(request, np.array([topic], np.int32), positions[starts[topic] : starts[topic + 1]], None)
        return held.lists(request, order)


@dataclass(frozen=True, slots=True, eq=False)
class _Held:
    """``positions`` (of members in map order), ``topics``, ``partitions`` and ``entries`` (positions in the request's
    owned columns) are in map order.
    """

    positions: Longs
    topics: Ints
    partitions: Ints
    entries: Longs
    is_kept: Flags
    dealt: list[tuple[Ints, Ints, Ints]]

    @classmethod
    def of(cls, request: AssignmentRequest, order: Longs, hashes: Ints) -> _Held:
        members = request.members
        maps = JavaMaps(hashes, is_hashed(request), request.order is MapOrder.LEADER)
        entries = held_in_order(order, owned_lists(members), maps)
        positions = np.repeat(np.arange(len(order)), np.diff(members.owned_offsets)[order])
        is_kept = np.zeros(len(entries), np.bool_)
        return cls(positions, members.owned_topics[entries], members.owned_partitions[entries], entries, is_kept, [])

    def spread(self, request: AssignmentRequest, topics: Ints, readers: Ints, hashes: Ints | None) -> None:
        """``readers``: positions, ascending.

        Java's keys are TopicIdPartitions with ``hashes`` of topics, Integers without (one topic).
        """
        assignable = _assignable(request, topics)
        concerned = np.flatnonzero(np.isin(self.topics, topics))
        held = _pack(self.topics[concerned], self.partitions[concerned])
        keys = np.concatenate([assignable, np.setdiff1d(held, assignable)])
        by_key = np.argsort(keys)
        held_keys = by_key[np.searchsorted(keys, held, sorter=by_key)].astype(np.int32)
        key_topics, key_partitions = _unpack(keys)
        key_hashes = key_partitions if hashes is None else topic_id_partition_hashes(hashes[key_topics], key_partitions)
        count = len(request.members)
        sharing, reader_wants = wants_of(len(readers), len(assignable))
        wants = np.zeros(count, np.int64)
        wants[readers] = reader_wants
        held_starts = np.searchsorted(self.positions[concerned], np.arange(count + 1))
        stays, dealt_positions, dealt_keys, is_done = share_out(
            integer_walk(count), wants, sharing, key_hashes, len(assignable), held_starts, held_keys
        )
        if not is_done:
            raise AssignorError("java.util.NoSuchElementException")
        self.is_kept[self.entries[concerned]] = stays
        self.dealt.append((dealt_positions, key_topics[dealt_keys], key_partitions[dealt_keys]))

    def lists(self, request: AssignmentRequest, order: Longs) -> Assignment:
        positions, topics, partitions = (np.concatenate(column) for column in zip(*self.dealt, strict=True))
        owned = owned_lists(request.members)
        return Assignment.of(*lists_of(order, owned, self.is_kept, (positions, topics, partitions)))


def _assignable(request: AssignmentRequest, topics: Ints) -> Longs:
    named, partitions = _whole_topics(topics, request.topics.partition_counts)
    if request.is_assignable is not None:
        may = request.is_assignable[request.topics.first_row[named] + partitions]
        named, partitions = named[may], partitions[may]
    return _pack(named, partitions)


def _pack(topics: Ints, partitions: Ints) -> Longs:
    return (topics.astype(np.int64) << 32) | partitions.astype(np.int64)


def _unpack(keys: Longs) -> tuple[Ints, Ints]:
    return (keys >> 32).astype(np.int32), (keys & 0xFFFFFFFF).astype(np.int32)


@dataclass(frozen=True, slots=True)
class ShareSimpleAssignorOf40:
    """Every member reads all partitions of its topics."""

    name: str = "share-simple@4.0"
    versions: str = "Kafka 4.0"

    def assign(self, request: AssignmentRequest) -> Assignment:
        members, hashes = request.members, topic_hashes(request)
        count = len(members)
        if count == 0:
            return no_entries(0)
        if is_homogeneous(request):
            # Java checks its first member alone.
            first = subscription_of(request, int(member_walk(request)[0]), hashes)
            subscriptions = [first] * count
        else:
            subscriptions = [subscription_of(request, member, hashes) for member in range(count)]
        refuse_missing_topics(request, np.concatenate(subscriptions))
        read = {id(topics): _whole_topics(topics, request.topics.partition_counts) for topics in subscriptions}
        offsets = np.zeros(count + 1, np.int64)
        np.cumsum([len(read[id(topics)][0]) for topics in subscriptions], out=offsets[1:])
        return Assignment(
            offsets,
            np.concatenate([read[id(topics)][0] for topics in subscriptions]),
            np.concatenate([read[id(topics)][1] for topics in subscriptions]),
            Withheld.nothing(),
            has_entry=np.array([len(topics) > 0 for topics in subscriptions]),
        )


def _whole_topics(topics: Ints, counts: Ints) -> tuple[Ints, Ints]:
    sizes = counts[topics]
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    partitions = np.arange(int(sizes.sum()), dtype=np.int64) - starts
    return np.repeat(topics, sizes), partitions.astype(np.int32)
