"""``uniform`` where subscriptions differ (Kafka 4.0+): revoke, deal, balance topic by topic.

1. Members keep what they own of the topics they subscribe to.
2. Topics by partitions per subscriber (descending), subscribers, topic id; each free partition goes to the subscriber
   that holds least (ties: map order).
3. At most 16 rounds over the topics with two or more subscribers: the highest partition of a most loaded one goes to
   a least loaded one, until the two differ by one. With overlapping subscriptions the cap may stop it short of even.

As in Java, a partition owned twice counts and stays with both, unless it is moved. Example: a and b read t (4
partitions), b and c read u (4). If u's id is less it is dealt first: b 2, c 2; then t: a 3, b 1.

Step 3 works on a row of members sorted once by size (ties: map order). The *least* end starts at the left: each member
in it gets one partition, then the level rises by one and the end takes in members at that level. The *most* end mirrors
it from the right; members with nothing to give are set aside behind it. ``row``, ``sizes`` and ``ends`` int64[7] are
index by index as in ``UniformHeterogeneousAssignmentBuilder.MemberAssignmentBalancer``, on which the answer depends.
O(rounds · sum over topics of (subscribers + partitions) + moves), two rounds as a rule.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kafka_assignors.arrays import Ints, Longs
from kafka_assignors.kernels import inner_kernel, kernel
from kafka_assignors.server.orders import BEYOND_LAST, MISSING_TOPIC, NO_TOPICS, SPREAD, Walk, map_walk

ENDS = 7
_LEAST_END, _LEAST_LEVEL, _LEAST_NEXT, _MOST_START, _MOST_END, _MOST_LEVEL, _MOST_NEXT = range(ENDS)


@inner_kernel
def line_up(members: Ints, row: Ints, sizes: Ints, ends: Longs) -> np.int64:
    """Sort ``members`` (ascending) into ``row`` by size and open both ends. Return largest minus least size."""
    n = len(members)
    sort_by_size(members, row, sizes)
    ends[_LEAST_END] = 0
    ends[_LEAST_LEVEL] = sizes[row[0]] - 1
    ends[_LEAST_NEXT] = 0
    ends[_MOST_START] = n
    ends[_MOST_END] = n
    ends[_MOST_LEVEL] = sizes[row[n - 1]] + 1
    ends[_MOST_NEXT] = n - 1
    return np.int64(sizes[row[n - 1]] - sizes[row[0]])


@inner_kernel
def sort_by_size(members: Ints, row: Ints, sizes: Ints) -> None:
    n = len(members)
    least = most = before = sizes[members[0]]
    is_sorted = True
    for i in range(n):
        size = sizes[members[i]]
        row[i] = members[i]
        is_sorted &= before <= size
        before = size
        least = min(least, size)
        most = max(most, size)
    if is_sorted:
        return
    # As many bytes as the range of sizes has.
    spare = np.empty(n, np.int32)
    counts = np.empty(257, np.int64)
    shift = 0
    while (most - least) >> shift:
        counts[:] = 0
        for i in range(n):
            counts[((sizes[row[i]] - least) >> shift & 0xFF) + 1] += 1
        for level in range(256):
            counts[level + 1] += counts[level]
        for i in range(n):
            level = (sizes[row[i]] - least) >> shift & 0xFF
            spare[counts[level]] = row[i]
            counts[level] += 1
        for i in range(n):
            row[i] = spare[i]
        shift += 8


@inner_kernel
def next_least(row: Ints, sizes: Ints, ends: Longs) -> np.int32:
    if ends[_LEAST_NEXT] >= ends[_LEAST_END]:
        ends[_LEAST_LEVEL] += 1
        while ends[_LEAST_END] < len(row) and sizes[row[ends[_LEAST_END]]] == ends[_LEAST_LEVEL]:
            ends[_LEAST_END] += 1
        ends[_LEAST_NEXT] = 0
    ends[_LEAST_NEXT] += 1
    return np.int32(row[ends[_LEAST_NEXT] - 1])


@inner_kernel
def next_most(row: Ints, sizes: Ints, ends: Longs) -> np.int32:
    if ends[_MOST_NEXT] < ends[_MOST_START]:
        if ends[_MOST_END] <= ends[_MOST_START] and ends[_MOST_START] > 0:
            ends[_MOST_LEVEL] = sizes[row[ends[_MOST_START] - 1]]
        else:
            ends[_MOST_LEVEL] -= 1
        while ends[_MOST_START] > 0 and sizes[row[ends[_MOST_START] - 1]] == ends[_MOST_LEVEL]:
            ends[_MOST_START] -= 1
        ends[_MOST_NEXT] = ends[_MOST_END] - 1
    if ends[_MOST_NEXT] < 0:
        return np.int32(-1)
    ends[_MOST_NEXT] -= 1
    return np.int32(row[ends[_MOST_NEXT] + 1])


@inner_kernel
def set_aside(row: Ints, ends: Longs) -> None:
    first, last = ends[_MOST_NEXT] + 1, ends[_MOST_END] - 1
    row[first], row[last] = row[last], row[first]
    ends[_MOST_END] -= 1


@inner_kernel
def is_even(ends: Longs) -> bool:
    return bool(ends[_MOST_LEVEL] - ends[_LEAST_LEVEL] <= 1)


_ROUNDS = 16
_NOBODY = -1


class Held(NamedTuple):
    """``owners`` int32[P]: positions; sizes of positions int32[M]."""

    owners: Ints
    sizes: Ints


class Shadows(NamedTuple):
    """Earlier owners of partitions that are owned twice, and their rows."""

    positions: Ints
    rows: Longs


class Line(NamedTuple):
    row: Ints
    ends: Longs


class Groups(NamedTuple):
    """Rows of one topic by owner: rows[start]..rows[end] of a position."""

    rows: Longs
    start: Longs
    end: Longs


@kernel
def list_subscribers(order: Longs, bounds: Longs, subscribed: Ints, topic_count: int) -> tuple[Longs, Ints]:
    starts = np.zeros(topic_count + 1, np.int64)
    last = np.full(topic_count, _NOBODY, np.int32)
    for member in range(len(order)):
        for k in range(bounds[member], bounds[member + 1]):
            topic = subscribed[k]
            if last[topic] != member:
                last[topic] = member
                starts[topic + 1] += 1
    for topic in range(topic_count):
        starts[topic + 1] += starts[topic]
    positions = np.empty(starts[topic_count], np.int32)
    filled = starts[:-1].copy()
    last[:] = _NOBODY
    for position in range(len(order)):
        member = order[position]
        for k in range(bounds[member], bounds[member + 1]):
            topic = subscribed[k]
            if last[topic] != position:
                last[topic] = position
                positions[filled[topic]] = position
                filled[topic] += 1
    return starts, positions


@kernel
def topic_priority(counts: Ints, starts: Longs, high: Longs, low: Longs) -> Longs:
    """Most partitions per subscriber first, then fewest subscribers, then by topic id."""
    topics = np.flatnonzero(starts[1:] > starts[:-1])
    spare = np.empty_like(topics)
    width = 1
    while width < len(topics):
        for left in range(0, len(topics), 2 * width):
            middle, end = min(left + width, len(topics)), min(left + 2 * width, len(topics))
            i, j = left, middle
            for at in range(left, end):
                if i == middle or (j < end and _comes_before(topics[j], topics[i], counts, starts, high, low)):
                    spare[at] = topics[j]
                    j += 1
                else:
                    spare[at] = topics[i]
                    i += 1
        topics, spare = spare, topics
        width *= 2
    return topics


@inner_kernel
def _comes_before(topic: int, other: int, counts: Ints, starts: Longs, high: Longs, low: Longs) -> bool:
    readers, others = starts[topic + 1] - starts[topic], starts[other + 1] - starts[other]
    share, other_share = counts[topic] / readers, counts[other] / others
    if share != other_share:
        return bool(share > other_share)
    if readers != others:
        return bool(readers < others)
    if high[topic] != high[other]:
        return bool(high[topic] < high[other])
    return bool(low[topic] < low[other])


@inner_kernel
def keep_subscribed(
    order: Longs,
    bounds: Longs,
    subscribed: Ints,
    rows: tuple[Ints, Longs],
    owned: tuple[Longs, Ints, Ints],
) -> tuple[tuple[Ints, Ints], tuple[Ints, Longs], np.int64]:
    """Owner (a position in ``order``) of each partition and size of each position, after revoking.

    Of two owners the later position counts; the earlier ones are shadows. Last: index of an owned partition that does
    not exist, or -1.
    """
    counts, first_row = rows
    owned_offsets, owned_topics, owned_partitions = owned
    owners = np.full(first_row[-1], _NOBODY, np.int32)
    sizes = np.zeros(len(order), np.int32)
    shadow_positions = np.empty(len(owned_topics), np.int32)
    shadow_rows = np.empty(len(owned_topics), np.int64)
    shadows = 0
    reader = np.full(len(counts), _NOBODY, np.int32)
    for position in range(len(order)):
        member = order[position]
        if owned_offsets[member] == owned_offsets[member + 1]:
            continue
        for k in range(bounds[member], bounds[member + 1]):
            reader[subscribed[k]] = position
        for k in range(owned_offsets[member], owned_offsets[member + 1]):
            topic, partition = owned_topics[k], owned_partitions[k]
            if reader[topic] != position:
                continue
            if partition < 0 or partition >= counts[topic]:
                return (owners, sizes), (shadow_positions[:0], shadow_rows[:0]), np.int64(k)
            row = first_row[topic] + partition
            if owners[row] == position:
                continue
            if owners[row] != _NOBODY:
                shadow_positions[shadows] = owners[row]
                shadow_rows[shadows] = row
                shadows += 1
            owners[row] = position
            sizes[position] += 1
    return (owners, sizes), (shadow_positions[:shadows], shadow_rows[:shadows]), np.int64(-1)


@kernel
def spread_by_topic(
    walk: Walk,
    subscriptions: tuple[Longs, Ints],
    topic_columns: tuple[Ints, Longs, Longs, Longs],
    owned: tuple[Longs, Ints, Ints],
) -> tuple[int, np.int64, Longs, Ints, Ints]:
    """Result code, its topic or owned entry, and offsets, topics and partitions of each member.

    ``topic_columns``: partition counts, first rows, both halves of ids.
    """
    counts, first_row, high, low = topic_columns
    data, id_offsets, fed, capacity, is_hashed = walk
    order = map_walk(data, id_offsets, fed, capacity, is_hashed)
    bounds, subscribed = subscriptions
    readers = list_subscribers(order, bounds, subscribed, len(counts))
    starts = readers[0]
    if starts[-1] == 0:
        return NO_TOPICS, np.int64(-1), owned[0][:0], owned[1][:0], owned[2][:0]
    for topic in range(len(counts)):
        if counts[topic] < 0 and starts[topic + 1] > starts[topic]:
            return MISSING_TOPIC, np.int64(topic), owned[0][:0], owned[1][:0], owned[2][:0]
    rows = (counts, first_row)
    held, shadows, beyond = keep_subscribed(order, bounds, subscribed, rows, owned)
    if beyond >= 0:
        return BEYOND_LAST, beyond, owned[0][:0], owned[1][:0], owned[2][:0]
    priority = topic_priority(counts, starts, high, low)
    row = np.empty(len(order), np.int32)
    _deal(priority, rows, readers, held, row)
    _even_out_all(priority, rows, readers, held, shadows, row)
    offsets, topics, partitions = lists_of(order, rows, held[0], shadows)
    return SPREAD, np.int64(-1), offsets, topics, partitions


@inner_kernel
def _deal(
    priority: Longs,
    rows: tuple[Ints, Longs],
    readers: tuple[Longs, Ints],
    held: tuple[Ints, Ints],
    row: Ints,
) -> None:
    """Step 2, in place. ``row`` int32[M] is scratch."""
    counts, first_row = rows
    starts, positions = readers
    owners, sizes = held
    for topic in priority:
        first, last = first_row[topic], first_row[topic] + counts[topic]
        while first < last and owners[first] != _NOBODY:
            first += 1
        if first == last:
            continue
        count = starts[topic + 1] - starts[topic]
        sort_by_size(positions[starts[topic] : starts[topic + 1]], row, sizes)
        level, end, following = sizes[row[0]] - 1, 0, 0
        for at in range(first, last):
            if owners[at] != _NOBODY:
                continue
            if following >= end:
                level += 1
                following = 0
                while end < count and sizes[row[end]] == level:
                    end += 1
            position = row[following]
            following += 1
            owners[at] = position
            sizes[position] += 1


@inner_kernel
def _even_out_all(
    priority: Longs,
    rows: tuple[Ints, Longs],
    readers: tuple[Longs, Ints],
    held: tuple[Ints, Ints],
    shadows: tuple[Ints, Longs],
    row: Ints,
) -> None:
    """Step 3, in place; shadows that are moved away become -1."""
    counts, first_row = rows
    starts, positions = readers
    owners, sizes = held
    by_place, earlier = Held(owners, sizes), Shadows(shadows[0], shadows[1])
    line = Line(row, np.empty(ENDS, np.int64))
    groups = Groups(np.empty(first_row[-1], np.int64), np.zeros(len(sizes), np.int64), np.zeros(len(sizes), np.int64))
    last_moved = -1
    for _ in range(_ROUNDS):
        index = -1
        for topic in priority:
            if starts[topic + 1] - starts[topic] < 2:
                continue
            index += 1
            if index == last_moved:
                return
            mine, first = positions[starts[topic] : starts[topic + 1]], first_row[topic]
            moves = _even_out(mine, first, first + counts[topic], by_place, line, groups, earlier)
            # Java records the first topic even if nothing of it moved.
            if moves or last_moved == -1:
                last_moved = index


@inner_kernel
def _even_out(
    readers: Ints, first: int, last: int, held: Held, lined: Line, groups: Groups, shadows: Shadows
) -> np.int64:
    owners, sizes = held
    row, ends = lined
    group_start, group_end = groups.start, groups.end
    moves = np.int64(0)
    if line_up(readers, row, sizes, ends) <= 1:
        return moves
    line = row[: len(readers)]
    _group_by_owner(readers, first, last, owners, groups)
    while not is_even(ends):
        giver = next_most(line, sizes, ends)
        while giver != _NOBODY and group_end[giver] == group_start[giver]:
            set_aside(line, ends)
            giver = next_most(line, sizes, ends)
        if giver == _NOBODY:
            break
        group_end[giver] -= 1
        at = groups.rows[group_end[giver]]
        receiver = next_least(line, sizes, ends)
        if is_even(ends):
            break
        for k in range(len(shadows.rows)):
            if shadows.rows[k] == at and shadows.positions[k] == giver:
                shadows.positions[k] = _NOBODY
        sizes[giver] -= 1
        owners[at] = receiver
        sizes[receiver] += 1
        moves += 1
    return moves


@inner_kernel
def _group_by_owner(readers: Ints, first: int, last: int, owners: Ints, groups: Groups) -> None:
    grouped, group_start, group_end = groups
    for reader in readers:
        group_end[reader] = 0
    for at in range(first, last):
        group_end[owners[at]] += 1
    filled = 0
    for reader in readers:
        group_start[reader] = filled
        filled += group_end[reader]
        group_end[reader] = group_start[reader]
    for at in range(first, last):
        grouped[group_end[owners[at]]] = at
        group_end[owners[at]] += 1


@inner_kernel
def lists_of(
    order: Longs, rows: tuple[Ints, Longs], owners: Ints, shadows: tuple[Ints, Longs]
) -> tuple[Longs, Ints, Ints]:
    """By topic and partition: offsets, topics, partitions; remaining shadows come last."""
    counts, first_row = rows
    shadow_positions, shadow_rows = shadows
    stays = _staying(owners, shadow_positions, shadow_rows)
    offsets = np.zeros(len(order) + 1, np.int64)
    for owner in owners:
        if owner != _NOBODY:
            offsets[order[owner] + 1] += 1
    for k in stays:
        offsets[order[shadow_positions[k]] + 1] += 1
    for member in range(len(order)):
        offsets[member + 1] += offsets[member]
    topics = np.empty(offsets[-1], np.int32)
    partitions = np.empty(offsets[-1], np.int32)
    filled = offsets[:-1].copy()
    for topic in range(len(counts)):
        for partition in range(counts[topic]):
            owner = owners[first_row[topic] + partition]
            if owner != _NOBODY:
                out_index = filled[order[owner]]
                topics[out_index] = topic
                partitions[out_index] = partition
                filled[order[owner]] += 1
    for k in stays:
        out_index = filled[order[shadow_positions[k]]]
        topics[out_index] = np.searchsorted(first_row, shadow_rows[k], side="right") - 1
        partitions[out_index] = shadow_rows[k] - first_row[topics[out_index]]
        filled[order[shadow_positions[k]]] += 1
    return offsets, topics, partitions


@inner_kernel
def _staying(owners: Ints, shadow_positions: Ints, shadow_rows: Longs) -> Longs:
    stays = np.empty(len(shadow_rows), np.int64)
    count = 0
    for k in range(len(shadow_rows)):
        is_moved = shadow_positions[k] == _NOBODY
        if not is_moved and shadow_positions[k] != owners[shadow_rows[k]]:
            stays[count] = k
            count += 1
    return stays[:count]
