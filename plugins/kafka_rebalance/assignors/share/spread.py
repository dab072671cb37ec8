"""How a share group's partitions are spread over its members since Kafka 4.2, hash orders included.

For one set of partitions and its readers (the whole group, or one topic's subscribers where subscriptions differ):

1. ``wants``: S = ⌈M/T⌉ readers a partition, x = S·T/M; member i wants ⌈x(i+1)⌉ − ⌈x·i⌉, in doubles as Java.
2. Who holds more than it wants drops the first ones in the order of its HashSet.
3. A partition with more than S readers drops the first ones in the order of its HashSet.
4. Deal: partitions in the order of a HashMap filled by ``computeIfAbsent`` (held ones, then the others); each takes
   members in turn from those that want more, passing over who held it before the deal. Going round for nothing ends
   the partition; starting again when no member wants anything is Java's NoSuchElementException.

Partitions that vanished or may not be assigned count as held and are dealt on, as Java does. A *key* is a partition:
the first T keys are those to be read, in Java's order, further ones are old ones that are not among them.

Complexity: O(M + keys + held + dealt).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kafka_rebalance.arrays import Flags, Ints, Longs
from kafka_rebalance.assignors.owned_lists import OwnedLists
from kafka_rebalance.assignors.server.orders import JavaMaps, owned_walk
from kafka_rebalance.java.hash_order import COMPUTE_IF_ABSENT, DEFAULT_CAPACITY, order_after, put_order
from kafka_rebalance.kernels.decorators import inner_kernel, kernel

_NONE = -1


class Holdings(NamedTuple):
    """Who holds each key: starts[key]..starts[key + 1] of ``holders`` (places) and ``entries``; ``stays`` by entry."""

    starts: Longs
    holders: Ints
    entries: Longs
    stays: Flags


@inner_kernel
def presized(n: int) -> np.int64:
    """Capacity that Kafka's ``AssignorHelpers.newHashMap(n)`` asks for."""
    return np.int64(np.float32(n + 1) / np.float32(0.75) + np.float32(1))


@kernel
def integer_walk(n: int) -> Longs:
    """Iteration order of a presized map of the Integers 0 … n−1 (ascending up to 65,536 of them)."""
    order: Longs = put_order(np.arange(n, dtype=np.int32), presized(n))
    return order


@kernel
def wants_of(readers: int, targets: int) -> tuple[np.int64, Longs]:
    """S, and how many partitions each of the readers should have."""
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
    """Which held entries stay, what is dealt (places, keys), and whether Java gets through.

    ``walk``: places in the order of Java's maps of Integers. ``hashes`` of all keys. ``held_starts``, ``held_keys``:
    what each place holds, in the order of its maps.
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
    places, keys, is_done = _deal(walk, wants, sharing, sizes, key_order, held, left)
    return stays, places, keys, is_done


@inner_kernel
def _drop_above_wants(
    walk: Longs, wants: Longs, hashes: Ints, held_starts: Longs, held_keys: Ints, stays: Flags
) -> Longs:
    """Step 2: what each place holds afterwards."""
    sizes = np.empty(len(walk), np.int64)
    for place in walk:
        start, end = held_starts[place], held_starts[place + 1]
        sizes[place] = end - start
        if sizes[place] > wants[place]:
            own = np.empty(end - start, np.int32)
            for k in range(start, end):
                own[k - start] = hashes[held_keys[k]]
            by_hash = put_order(own, DEFAULT_CAPACITY)
            for k in range(sizes[place] - wants[place]):
                stays[start + by_hash[k]] = False
            sizes[place] = wants[place]
    return sizes


@inner_kernel
def _by_key(walk: Longs, keys: int, held_starts: Longs, held_keys: Ints) -> tuple[Longs, Ints, Longs]:
    """Who holds each key, in the order in which they were added: starts, places, positions of the held entries."""
    starts = np.zeros(keys + 1, np.int64)
    for key in held_keys:
        starts[key + 1] += 1
    for key in range(keys):
        starts[key + 1] += starts[key]
    filled = starts[:-1].copy()
    holders = np.empty(len(held_keys), np.int32)
    entries = np.empty(len(held_keys), np.int64)
    for place in walk:
        for k in range(held_starts[place], held_starts[place + 1]):
            at = filled[held_keys[k]]
            holders[at] = place
            entries[at] = k
            filled[held_keys[k]] += 1
    return starts, holders, entries


@inner_kernel
def _key_order(walk: Longs, hashes: Ints, targets: int, held_starts: Longs, held_keys: Ints) -> Longs:
    """Iteration order of the map of partitions: held ones are added first, then all that are to be read."""
    keys = np.empty(len(held_keys) + targets, np.int32)
    filled = 0
    for place in walk:
        for k in range(held_starts[place], held_starts[place + 1]):
            keys[filled] = held_keys[k]
            filled += 1
    for key in range(targets):
        keys[filled + key] = key
    steps = np.full(len(keys), COMPUTE_IF_ABSENT, np.int8)
    order: Longs = order_after(hashes, steps, keys, presized(targets))
    return order


@inner_kernel
def _deal(
    walk: Longs, wants: Longs, sharing: int, sizes: Longs, key_order: Longs, held: Holdings, left: Longs
) -> tuple[Ints, Ints, bool]:
    """Step 4: places and keys that are dealt. Who wants more stands in a ring: ``following`` and ``before``."""
    end = len(walk)
    following, before, waiting = _line(walk, wants, sizes)
    dealt_places = np.empty(sharing * len(key_order), np.int32)
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
                    return dealt_places[:dealt], dealt_keys[:dealt], False
            place = cursor
            cursor = following[place]
            if held_key[place] == key:
                continue
            todo -= 1
            has_moved = True
            # Java does not note whom it has just given the partition: the same member may be dealt it twice.
            if given_key[place] != key:
                given_key[place] = key
                dealt_places[dealt] = place
                dealt_keys[dealt] = key
                dealt += 1
                sizes[place] += 1
            if sizes[place] >= wants[place]:
                following[before[place]] = following[place]
                before[following[place]] = before[place]
                waiting -= 1
    return dealt_places[:dealt], dealt_keys[:dealt], True


@inner_kernel
def _note_holders(held_key: Longs, key: int, held: Holdings) -> None:
    """Who still holds the key when its turn comes."""
    for k in range(held.starts[key], held.starts[key + 1]):
        if held.stays[held.entries[k]]:
            held_key[held.holders[k]] = key


@inner_kernel
def _line(walk: Longs, wants: Longs, sizes: Longs) -> tuple[Longs, Longs, np.int64]:
    """Who wants more, as a doubly linked ring through ``len(walk)``, and how many they are."""
    end = len(walk)
    following = np.empty(end + 1, np.int64)
    before = np.empty(end + 1, np.int64)
    last = np.int64(end)
    waiting = np.int64(0)
    for place in walk:
        if sizes[place] < wants[place]:
            following[last] = place
            before[place] = last
            last = place
            waiting += 1
    following[last] = end
    before[end] = last
    return following, before, waiting


@kernel
def held_in_order(order: Longs, owned: OwnedLists, maps: JavaMaps) -> Longs:
    """Positions of all owned entries, members as ``order`` has them, what one holds in the order of its maps."""
    owned_offsets, owned_topics, owned_partitions = owned
    held = np.empty(len(owned_topics), np.int64)
    group_of = np.full(len(maps.uuid_hashes), _NONE, np.int32)
    filled = 0
    for member in order:
        start, end = owned_offsets[member], owned_offsets[member + 1]
        visit_order = np.arange(end - start)
        if maps.is_hashed:
            visit_order = owned_walk(owned_topics[start:end], owned_partitions[start:end], maps.uuid_hashes, group_of)
        for k in visit_order:
            held[filled] = start + k
            filled += 1
    return held


@kernel
def lists_of(
    order: Longs, owned: OwnedLists, is_kept: Flags, dealt: tuple[Ints, Ints, Ints]
) -> tuple[Longs, Ints, Ints]:
    """Each member's list: what it keeps, then what it is dealt."""
    owned_offsets, owned_topics, owned_partitions = owned
    dealt_places, dealt_topics, dealt_partitions = dealt
    offsets = np.zeros(len(order) + 1, np.int64)
    for place in dealt_places:
        offsets[order[place] + 1] += 1
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
    for k in range(len(dealt_places)):
        member = order[dealt_places[k]]
        topics[filled[member]] = dealt_topics[k]
        partitions[filled[member]] = dealt_partitions[k]
        filled[member] += 1
    return offsets, topics, partitions
