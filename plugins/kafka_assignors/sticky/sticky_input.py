"""Input of both ways of the sticky assignors.

Partition p of topic t is row ``first_row[t] + p``. An owned partition that the topic no longer has is *stale*: it gets
its own row behind the P real ones.

Claims (``AbstractStickyAssignor.allSubscriptionsEqual``), members in map order: two claims in the same generation lose
the partition; else the higher generation has it. Like Kafka, this compares the generation in the later member's *user
data* with that in the earlier one's *Subscription*.

A ``Line`` is all releases with equal answers, from 3.0 on. Source: ``AbstractStickyAssignor`` of kafka-clients 3.0.2,
3.3.2, 3.4.1, 3.5.0, 3.7.0, 3.7.1 and 4.3.1, run side by side.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

import numpy as np
import numpy.typing as npt

from kafka_assignors.arrays import Flags, Ints, Longs
from kafka_assignors.contract import NO_GENERATION, NO_RACK, AssignmentRequest
from kafka_assignors.java.hash_order import DEFAULT_CAPACITY, put_order
from kafka_assignors.java.strings import Bytes, hash_codes, sorted_order
from kafka_assignors.kernels import kernel
from kafka_assignors.orders import by_member_id, member_walk, ranks_of, topic_walk
from kafka_assignors.racks import partition_racks, use_racks, word_count


class Claims(Enum):
    BY_GENERATION = "the highest generation; of equal ones nobody"
    BY_LAST_CLAIM = "as BY_GENERATION, but compared with whoever claimed it last, though that claim was lost"
    OF_NEWEST = "members of the newest generation ever seen, all others own nothing; of two nobody"


@dataclass(frozen=True, slots=True)
class Line:
    """All differences of a line; the defaults are the newest line's.

    ``keeps_lowest``: of too many partitions a member keeps the lowest, else the first of its list.
    ``withholds_from_other_racks``: a partition that a cooperative member loses for its rack is withheld from the next
    one, else assigned at once. ``counts_in_racks``: members that get one over the least while racks are matched count
    against the number of those that may. ``slack``: a larger difference between members that could exchange needs
    another walk.
    """

    claims: Claims = Claims.BY_GENERATION
    keeps_lowest: bool = True
    withholds_from_other_racks: bool = True
    counts_in_racks: bool = True
    uses_racks: bool = True
    slack: int = 1
    reads_subscription_generation: bool = True  # of cooperative members; else the user data's


NEWEST = Line()
OF_3_5_2 = Line(keeps_lowest=False, withholds_from_other_racks=False, counts_in_racks=False)
OF_3_5_0 = replace(OF_3_5_2, claims=Claims.BY_LAST_CLAIM, slack=0)
OF_3_4_1 = replace(OF_3_5_0, uses_racks=False)
OF_3_4_0 = replace(OF_3_4_1, claims=Claims.OF_NEWEST)
OF_3_0_0 = replace(OF_3_4_0, reads_subscription_generation=False)


Words = npt.NDArray[np.uint64]

_LOST = -1  # owned, topic not in the metadata
_STALE = -2
_NO_SETS: Words = np.zeros((0, 1), dtype=np.uint64)
_NO_READERS: Longs = np.zeros(0, dtype=np.int64)
NONE_DOUBLED: Flags = np.zeros(0, dtype=np.bool_)


@dataclass(frozen=True, slots=True, eq=False)
class RackInput:
    """Where racks matter: ``member_racks`` int32[M], ``sets`` uint64[P, words]; ``readers`` int32[P]: members in the
    racks of a partition.
    """

    is_active: bool
    member_racks: Ints
    sets: Words
    readers: Longs


@dataclass(frozen=True, slots=True, eq=False)
class StickyInput:
    """T topics, M members, W owned entries, P partitions, R = P + stale rows.

    ``subscription_order``, ``owned_order``: members in the order of these maps; ``by_id``. ``topics``: of the metadata
    map, by name; ``counts`` int32[T]: their partitions, −1 for all others. ``rows`` int32[W]; ``is_kept`` bool[W];
    ``is_contested`` bool[R].
    """

    subscription_order: Longs
    owned_order: Longs
    by_id: Longs
    topics: Longs
    counts: Ints
    total: int
    row_topic: Ints
    row_partition: Ints
    rows: Ints
    is_kept: Flags
    is_contested: Flags
    generations: Ints
    max_generation: int
    is_equal: bool
    racks: RackInput

    @property
    def id_rank(self) -> Ints:
        return ranks_of(self.by_id)

    @property
    def has_owners(self) -> bool:
        return len(self.rows) > 0


def sticky_input_of(request: AssignmentRequest, generations: Ints, line: Line = NEWEST) -> StickyInput:
    members, topics = request.members, request.topics
    subscription_order = member_walk(request)
    in_map = topic_walk(request, subscription_order)
    names = sorted_order(topics.names.data, topics.names.offsets)
    counts, by_name, total = topics_in_map(in_map, names, topics.partition_counts)
    by_id = by_member_id(members)
    rows, row_topic, row_partition = _rows(request, counts)
    newest = max(request.max_generation_before, int(generations.max()) if len(generations) else NO_GENERATION)
    claimed, mine, theirs = rows, generations, members.generations
    if line.claims is Claims.OF_NEWEST and len(rows) > 0:
        # All valid claims have the newest generation: two on one partition cancel out.
        claimed = np.where(np.repeat(generations == newest, np.diff(members.owned_offsets)), rows, np.int32(_LOST))
        theirs = generations
    is_kept, is_contested = settle_claims(
        subscription_order, members.owned_offsets, claimed, len(row_topic), mine, theirs,
        line.claims is Claims.BY_LAST_CLAIM,
    )  # fmt: skip
    return StickyInput(
        subscription_order=subscription_order,
        owned_order=order_of_owners(members.ids.data, members.ids.offsets, subscription_order),
        by_id=by_id,
        topics=by_name,
        counts=counts,
        total=total,
        row_topic=row_topic,
        row_partition=row_partition,
        rows=rows,
        is_kept=is_kept,
        is_contested=is_contested,
        generations=generations,
        max_generation=newest,
        is_equal=all_equal(subscription_order, members.subscription_offsets, members.subscription_topics, len(topics)),
        racks=_racks(request, counts) if line.uses_racks else no_racks(len(members)),
    )


@kernel
def topics_in_map(in_map: Longs, by_name: Longs, partition_counts: Ints) -> tuple[Ints, Longs, int]:
    """Partitions int32[T] (−1: not in the metadata map), those topics by name, all partitions."""
    counts = np.full(len(by_name), -1, np.int32)
    total = 0
    for topic in in_map:
        counts[topic] = partition_counts[topic]
        total += partition_counts[topic]
    kept = np.empty(len(in_map), np.int64)
    count = 0
    for topic in by_name:
        if counts[topic] >= 0:
            kept[count] = topic
            count += 1
    return counts, kept, total


@kernel
def order_of_owners(data: Bytes, offsets: Longs, subscription_order: Longs) -> Longs:
    hashes = hash_codes(data, offsets)
    return subscription_order[put_order(hashes[subscription_order], DEFAULT_CAPACITY)]


def _rows(request: AssignmentRequest, counts: Ints) -> tuple[Ints, Ints, Ints]:
    members, topics = request.members, request.topics
    rows, stale_count = owned_rows(members.owned_topics, members.owned_partitions, topics.first_row, counts)
    row_topic, row_partition = real_rows(topics.first_row)
    if stale_count == 0:
        return rows, row_topic, row_partition
    stale_rows = np.flatnonzero(rows == _STALE)
    keys = members.owned_topics[stale_rows].astype(np.int64) << 32 | (
        members.owned_partitions[stale_rows] + np.int64(2**31)
    )
    unique, inverse = np.unique(keys, return_inverse=True)
    rows[stale_rows] = topics.partition_total + inverse
    return (
        rows,
        np.concatenate((row_topic, (unique >> 32).astype(np.int32))),
        np.concatenate((row_partition, ((unique & 0xFFFFFFFF) - 2**31).astype(np.int32))),
    )


@kernel
def owned_rows(owned_topics: Ints, owned_partitions: Ints, first_row: Longs, counts: Ints) -> tuple[Ints, int]:
    """Row of each entry (−1: topic not in the metadata, −2: stale), and the number of stale ones."""
    rows = np.empty(len(owned_topics), np.int32)
    stale_rows = 0
    for i in range(len(rows)):
        topic, partition = owned_topics[i], owned_partitions[i]
        if 0 <= partition < counts[topic]:
            rows[i] = first_row[topic] + partition
        elif counts[topic] < 0:
            rows[i] = _LOST
        else:
            rows[i] = _STALE
            stale_rows += 1
    return rows, stale_rows


@kernel
def real_rows(first_row: Longs) -> tuple[Ints, Ints]:
    topics = np.empty(first_row[-1], np.int32)
    partitions = np.empty(first_row[-1], np.int32)
    for topic in range(len(first_row) - 1):
        start = first_row[topic]
        for row in range(start, first_row[topic + 1]):
            topics[row] = topic
            partitions[row] = row - start
    return topics, partitions


@kernel
def settle_claims(
    subscription_order: Longs,
    offsets: Longs,
    rows: Ints,
    row_count: int,
    generations: Ints,
    subscription_generations: Ints,
    losers_count: bool,  # noqa: FBT001
) -> tuple[Flags, Flags]:
    """bool[W]: entries that their members keep; bool[R]: rows with two claims in one generation.

    ``losers_count``: the next claim is compared with a lost one, too; then two members may keep a row.
    """
    is_kept = np.zeros(len(rows), np.bool_)
    is_contested = np.zeros(row_count, np.bool_)
    claimant = np.full(row_count, -1, np.int32)
    entry = np.full(row_count, -1, np.int32)  # entry that keeps the row; −1 if lost again
    for member in subscription_order:
        mine = generations[member]
        for at in range(offsets[member], offsets[member + 1]):
            row = rows[at]
            if row < 0:
                continue
            other = claimant[row]
            theirs = max(subscription_generations[other], -1) if other >= 0 else -1
            if other >= 0 and mine < theirs:
                if losers_count:
                    claimant[row] = member
                    entry[row] = -1
                continue
            if other >= 0 and entry[row] >= 0:
                is_kept[entry[row]] = False
            claimant[row] = member
            if other >= 0 and mine == theirs:
                is_contested[row] = True
                entry[row] = -1
            else:
                is_kept[at] = True
                entry[row] = at
    return is_kept, is_contested


@kernel
def all_equal(subscription_order: Longs, offsets: Longs, topics: Ints, topic_count: int) -> bool:
    """Whether Kafka sees equal subscriptions: each list after the first non-empty one has that set's size and topics.

    Members with an empty list *before* it are not compared; a topic listed twice makes a difference.
    """
    is_expected = np.zeros(topic_count, np.bool_)
    expected = 0
    for member in subscription_order:
        start, end = offsets[member], offsets[member + 1]
        if expected == 0:
            for at in range(start, end):
                expected += not is_expected[topics[at]]
                is_expected[topics[at]] = True
            continue
        if end - start != expected:
            return False
        missing = False
        for at in range(start, end):
            missing |= not is_expected[topics[at]]
        if missing:
            return False
    return True


def no_racks(member_count: int) -> RackInput:
    return RackInput(False, np.full(member_count, NO_RACK, dtype=np.int32), _NO_SETS, _NO_READERS)


def _racks(request: AssignmentRequest, counts: Ints) -> RackInput:
    members, topics = request.members, request.topics
    if not (members.racks >= 0).any():
        return no_racks(len(members))
    words = word_count(request)
    sets = partition_racks(topics.rack_offsets, topics.racks, words)
    in_rack = np.bincount(members.racks[members.racks >= 0], minlength=64 * words)
    readers = np.packbits(in_rack > 0, bitorder="little").view(np.uint64)
    considered = sets if (counts >= 0).all() else sets[np.repeat(counts >= 0, np.diff(topics.first_row))]
    if not use_racks(readers, considered, 0, len(considered), request.prefer_rack_aware):
        return no_racks(len(members))
    return RackInput(True, members.racks, sets, readers_in_racks(sets, in_rack))


@kernel
def readers_in_racks(sets: Words, in_rack: Longs) -> Longs:
    readers = np.zeros(len(sets), np.int64)
    for row in range(len(sets)):
        for rack in range(len(in_rack)):
            if (sets[row, rack >> 6] >> np.uint64(rack & 63)) & np.uint64(1):
                readers[row] += in_rack[rack]
    return readers


@kernel
def free_rows(
    order: Longs, first_row: Longs, is_taken: Flags, row_topic: Ints, row_partition: Ints, is_doubled: Flags
) -> Ints:
    """Free rows, topics in ``order``, partitions ascending, as Kafka's two pointers find them.

    The pointer into the taken partitions stops for good at the first stale row and at a row of two members
    (``is_doubled`` bool[R], or empty): behind it every partition counts as free, taken or not.
    """
    position = np.full(len(first_row), -1, np.int64)
    for i in range(len(order)):
        position[order[i]] = i
    real = first_row[-1]
    stuck = np.int64(2**62)
    for stale_row in range(real, len(is_taken)):
        if is_taken[stale_row]:
            stuck = min(stuck, (position[row_topic[stale_row]] << 32) + row_partition[stale_row])
    for row in range(len(is_doubled)):
        if is_doubled[row]:
            stuck = min(stuck, (position[row_topic[row]] << 32) + row_partition[row])
    rows = np.empty(real, np.int32)
    count = 0
    for topic in order:
        for row in range(first_row[topic], first_row[topic + 1]):
            if not is_taken[row] or (position[topic] << 32) + row - first_row[topic] > stuck:
                rows[count] = row
                count += 1
    return rows[:count]
