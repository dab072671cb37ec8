"""``sticky`` and ``cooperative-sticky`` of Kafka's Java client 2.3 to 2.8.2, line by line.

===============  ===================  ==========================================================
releases         equal subscriptions  all others
===============  ===================  ==========================================================
2.3              one way              one way; one walk, not two
2.4 – 2.5.0      one way              one way
2.5.1 – 2.8.0    swap                 one way; members before the first different subscription
                                      lose their claims
2.8.1 – 2.8.2    swap; a partition with two claims belongs to neither; others as before
===============  ===================  ==========================================================

The loss: to compare subscriptions Kafka reads each member's user data to its end, in map order, until one differs; the
unequal way then finds empty buffers. ``sticky`` has its claims in there, ``cooperative-sticky`` 2.8.1 to 2.8.2 only the
generation. Fixed in 3.0.

**Claims** (``prepopulateCurrentAssignments``, 2.3 to 2.5.0 and, for unequal subscriptions, to 2.8.2): the highest
generation has a partition, the next one had it before. Example: A claims t0-0 in generation 4, B in 5, C in 5: B has
it, A had it before. A missing generation counts as −1; there the last claim wins.

**One way** (``assign_one_way``): promises as ``general``. Up to 2.5.0, with equal subscriptions and a claim, partitions
are taken from the fullest member downwards, one each in turn (first those with an earlier owner), then unowned ones in
the order of Java's map. ``isBalanced`` allows a difference of one (``slack`` 0). With more than eight partitions in a
bin, Java's order depends on memory addresses.

**Swap** (``assign_swap``): counts differ by one at most; partitions within the quota stay. A member with too few takes
the first partition of one with the most. Any number of members may keep the most, so more partitions move than needed
(fixed in 3.0). Example: t of 4 partitions; A owns 0 and 1, B owns 2 and 3, C joins: C takes A's *first*, t-0. With
fewer partitions than members, a new group deals in the order of Java's map of member ids. Cooperative: withholds all
taken partitions, and all assigned ones that any member was cut of, even the receiver.

Source: ``StickyAssignor`` 2.3.1, ``AbstractStickyAssignor`` 2.4.1 to 2.8.2. One way as ``general``, swap O(partitions +
owned).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from kafka_assignors.arrays import Flags, Ints, Longs
from kafka_assignors.contract import NO_GENERATION, Assignment, AssignmentRequest, StickyNotes, Withheld
from kafka_assignors.errors import AssignorError
from kafka_assignors.java.hash_order import DEFAULT_CAPACITY, put_order
from kafka_assignors.java.keys import topic_partition_hashes
from kafka_assignors.java.strings import hash_codes
from kafka_assignors.kernels import inner_kernel, kernel
from kafka_assignors.orders import topic_walk
from kafka_assignors.sticky.general import (
    choose_who_takes_part,
    even_out,
    give_out,
    most_possible,
    rows_of,
    shared_rows,
    waits_for_owners,
)
from kafka_assignors.sticky.legacy import drop_once, hashed_rows, hold, in_turn
from kafka_assignors.sticky.state import State, flatten, new_state
from kafka_assignors.sticky.sticky_input import StickyInput, no_racks, sticky_input_of
from kafka_assignors.subscribers import same_readers, subscribers_by_topic

ABSENT = -1
MapOrder = Callable[[Ints], Longs]  # of hash codes in insertion order
Generations = tuple[Ints, Flags]  # generations; whether a second claim in one replaces the first


def in_java_map(hashes: Ints) -> Longs:
    order: Longs = put_order(hashes, DEFAULT_CAPACITY)
    return order


@dataclass(frozen=True, slots=True, eq=False)
class Claims:
    """Existing partitions that member m holds: ``rows[offsets[m] : offsets[m + 1]]``.

    ``had_before`` int32[P]: holder in the generation before, or ABSENT; ``moved_rows``: rows with such a holder, in
    Java's map order. ``is_empty``: no claims at all, existing or not.
    """

    offsets: Longs
    rows: Ints
    had_before: Ints
    moved_rows: Ints
    is_empty: bool


def claims_of(
    request: AssignmentRequest,
    inputs: StickyInput,
    walk: Longs,
    generations: Generations,
    map_order: MapOrder = in_java_map,
) -> Claims:
    members, topics = request.members, request.topics
    ids, id_count = _identify(request, inputs)
    first, owner, before = settle_by_generation(walk, members.owned_offsets, ids, id_count, *generations)
    names = topics.names
    hashes = topic_partition_hashes(
        hash_codes(names.data, names.offsets)[members.owned_topics[first]], members.owned_partitions[first]
    )
    claimed = ids[first][map_order(hashes)]
    offsets, rows = lists_of_owners(claimed, owner, topics.partition_total, len(members))
    moved = claimed[before[claimed] != ABSENT]
    if len(moved):
        index_of = np.empty(id_count, dtype=np.int64)
        index_of[ids[first]] = np.arange(len(first))
        moved = moved[map_order(hashes[index_of[moved]])]
    return Claims(
        offsets, rows, before[: topics.partition_total].copy(), moved[moved < topics.partition_total], len(first) == 0
    )


def _identify(request: AssignmentRequest, inputs: StickyInput) -> tuple[Ints, int]:
    members, ids = request.members, inputs.rows
    id_count = len(inputs.row_topic)
    lost = np.flatnonzero(ids < 0)
    if len(lost):
        keys = members.owned_topics[lost].astype(np.int64) << 32 | (members.owned_partitions[lost] + np.int64(2**31))
        unique, inverse = np.unique(keys, return_inverse=True)
        ids = ids.copy()
        ids[lost] = id_count + inverse
        id_count += len(unique)
    return ids, id_count


@kernel
def settle_by_generation(
    walk: Longs, offsets: Longs, ids: Ints, id_count: int, generations: Ints, overwrites: Flags
) -> tuple[Longs, Ints, Ints]:
    """Entries that were the first to name their partition, in order; holder and earlier holder of each partition."""
    first = np.empty(min(len(ids), id_count), np.int64)
    count = 0
    owner = np.full(id_count, ABSENT, np.int32)
    before = np.full(id_count, ABSENT, np.int32)
    newest = np.empty(id_count, np.int32)
    older = np.empty(id_count, np.int32)
    for member in walk:
        mine = generations[member]
        for at in range(offsets[member], offsets[member + 1]):
            row = ids[at]
            if owner[row] == ABSENT:
                first[count] = at
                count += 1
                owner[row] = member
                newest[row] = mine
            elif mine > newest[row]:
                before[row], older[row] = owner[row], newest[row]
                owner[row], newest[row] = member, mine
            elif mine == newest[row]:
                if overwrites[member]:
                    owner[row] = member
            elif before[row] == ABSENT or mine > older[row] or (overwrites[member] and mine == older[row]):
                before[row], older[row] = member, mine
    return first[:count], owner, before


@kernel
def lists_of_owners(walk: Ints, owner: Ints, row_count: int, member_count: int) -> tuple[Longs, Ints]:
    """Rows in the order of ``walk``, without those that do not exist."""
    offsets = np.zeros(member_count + 1, np.int64)
    for row in walk:
        if row < row_count:
            offsets[owner[row] + 1] += 1
    for member in range(member_count):
        offsets[member + 1] += offsets[member]
    fill = offsets[:-1].copy()
    rows = np.empty(offsets[-1], np.int32)
    for row in walk:
        if row < row_count:
            rows[fill[owner[row]]] = row
            fill[owner[row]] += 1
    return offsets, rows


_SLACK = 0
_PLAIN_BIN = 8  # a larger bin becomes a tree, except in tables below 64
_LEAST_TREE_TABLE = 64
_NO_MAP_SIZE = -1


@dataclass(frozen=True, slots=True)
class OneWay:
    """``takes_in_turn`` up to 2.5.0, ``walks_given_first`` from 2.4 on."""

    takes_in_turn: bool
    walks_given_first: bool
    is_cooperative: bool = False


def assign_one_way(request: AssignmentRequest, inputs: StickyInput, claims: Claims, way: OneWay) -> Assignment:
    if len(request.members) == 0:
        raise AssignorError("java.util.NoSuchElementException", "the group has no members")
    if len(inputs.row_topic) == 0:
        return Assignment.of_nothing(len(request.members), _notes(way))
    state = unfilled_state(request, inputs)
    is_in_turn = way.takes_in_turn and not claims.is_empty and _all_read_the_same(request, inputs)
    order = _in_turn(request, inputs, claims, state) if is_in_turn else _fewest_readers_first(request, inputs, state)
    state = fill_and_even_out(state, inputs, claims, order, walks_given_first=way.walks_given_first)
    answer = _answer(request, inputs, state, way)
    return replace(answer, varies=True) if is_in_turn and _has_tree_bins(request, inputs) else answer


def unfilled_state(request: AssignmentRequest, inputs: StickyInput) -> State:
    members = request.members
    possible = most_possible(
        members.subscription_offsets, members.subscription_topics, inputs.counts, _NO_MAP_SIZE, inputs.total
    )
    return new_state(request, inputs, possible, slack=_SLACK)


def fill_and_even_out(
    state: State, inputs: StickyInput, claims: Claims, order: Ints, *, walks_given_first: bool
) -> State:
    held, _ = hold(state, inputs.owned_order, claims.offsets, claims.rows)
    state.rows["previous"][: len(claims.had_before)] = claims.had_before
    is_initial = not state.members["row_count"].any()
    free = drop_once(order, held)
    give_out(state, free)
    choose_who_takes_part(state)
    must_revoke = bool((held[claims.rows] == 0).any())
    walks = [shared_rows(state, free)] if walks_given_first and not must_revoke else []
    walks.append(shared_rows(state, order))
    return even_out(state, walks, is_initial=is_initial, is_literal=False)


def _answer(request: AssignmentRequest, inputs: StickyInput, state: State, way: OneWay) -> Assignment:
    offsets, rows = flatten(state)
    withheld = Withheld.nothing()
    members = request.members
    if way.is_cooperative:
        waits = waits_for_owners(offsets, rows, members.owned_offsets, inputs.rows, len(inputs.row_topic))
        receivers = np.repeat(np.arange(len(members), dtype=np.int32), np.diff(offsets))
        held = rows[waits]
        withheld = Withheld(inputs.row_topic[held], inputs.row_partition[held], receivers[waits])
        offsets = offsets - np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(waits, dtype=np.int64)))[offsets]
        rows = rows[~waits]
    return Assignment(offsets, inputs.row_topic[rows], inputs.row_partition[rows], withheld, _notes(way))


def _notes(way: OneWay) -> StickyNotes | None:
    return None if way.takes_in_turn else StickyNotes.of_way(is_constrained=False)


def _in_turn(request: AssignmentRequest, inputs: StickyInput, claims: Claims, state: State) -> Ints:
    topics, names = request.topics, request.topics.names
    hashed = hashed_rows(
        topic_walk(request, inputs.subscription_order), topics.first_row, hash_codes(names.data, names.offsets)
    )
    rows = put_moved_first(claims.offsets, claims.rows, claims.moved_rows, state.rows["owner"].copy())
    turned: Ints = in_turn(inputs.by_id, claims.offsets, rows, hashed, topics.partition_total)
    return turned


def _fewest_readers_first(request: AssignmentRequest, inputs: StickyInput, state: State) -> Ints:
    order = inputs.topics[np.argsort(state.topics["readers"][inputs.topics], kind="stable")]
    rows: Ints = rows_of(order, request.topics.first_row)
    return rows


def _has_tree_bins(request: AssignmentRequest, inputs: StickyInput) -> bool:
    """More than eight partitions share a bin: Java's order then depends on memory addresses. Ten topics of ten
    partitions are enough: t10-8, t20-7, … t90-0 have one hash code.
    """
    names = request.topics.names
    existing = inputs.counts[inputs.row_topic] > inputs.row_partition
    of_topics = hash_codes(names.data, names.offsets)[inputs.row_topic[existing]]
    hashes = topic_partition_hashes(of_topics, inputs.row_partition[existing]).view(np.uint32)
    table = _LEAST_TREE_TABLE
    while len(hashes) > table * 3 // 4:
        table *= 2
    bins = (hashes ^ (hashes >> np.uint32(16))) & np.uint32(table - 1)
    return len(bins) > 0 and int(np.bincount(bins).max()) > _PLAIN_BIN


def _all_read_the_same(request: AssignmentRequest, inputs: StickyInput) -> bool:
    members, topics = request.members, request.topics
    columns = (members.subscription_offsets, members.subscription_topics)
    starts, readers = subscribers_by_topic(inputs.subscription_order, *columns, len(topics), True)
    filled = inputs.topics[inputs.counts[inputs.topics] > 0]
    counts = np.diff(starts)[filled]
    return bool(
        ((counts == len(members)) | (counts == 0)).all() and len(np.unique(same_readers(starts, readers)[filled])) <= 1
    )


@kernel
def put_moved_first(offsets: Longs, rows: Ints, moved_rows: Ints, owner: Ints) -> Ints:
    """Each member's rows, those in ``moved_rows`` first, in that order; ``owner`` is scratch."""
    ordered = rows.copy()
    if len(moved_rows) == 0:
        return ordered
    for member in range(len(offsets) - 1):
        for at in range(offsets[member], offsets[member + 1]):
            owner[rows[at]] = member
    fill = offsets[:-1].copy()
    for row in moved_rows:
        member = owner[row]
        ordered[fill[member]] = row
        fill[member] += 1
        owner[row] = -1
    for member in range(len(offsets) - 1):
        for at in range(offsets[member], offsets[member + 1]):
            if owner[rows[at]] == member:
                ordered[fill[member]] = rows[at]
                fill[member] += 1
    return ordered


_REFUSAL = "Some partitions are unassigned but all consumers are at maximum capacity"
_NOBODY = -1


def assign_swap(
    request: AssignmentRequest, inputs: StickyInput, generations: Ints, *, voids_doubles: bool, is_cooperative: bool
) -> Assignment:
    """``voids_doubles``: a partition with two claims belongs to neither (2.8.1 on), else to both."""
    members = request.members
    starts, listed, must_move = newest_claims(
        members.owned_offsets, inputs.rows, len(inputs.row_topic), generations, voids_doubles
    )
    least, over = divmod(inputs.total, len(members)) if len(members) else (0, 0)
    quotas = (least, least + (over > 0))
    in_order = rows_of(inputs.topics, request.topics.first_row)
    is_dealt, heads, counts, lists, receiver = swap(
        inputs.owned_order, inputs.by_id, (starts, listed), in_order, quotas, must_move
    )
    if not is_dealt:
        raise AssignorError("java.lang.IllegalStateException", _REFUSAL)
    if not is_cooperative:
        receiver = receiver[:0]
    offsets, rows, held = without_withheld(heads, counts, lists, receiver)
    return Assignment(
        offsets,
        inputs.row_topic[rows],
        inputs.row_partition[rows],
        Withheld(inputs.row_topic[held], inputs.row_partition[held], receiver[held]),
        StickyNotes.of_way(is_constrained=True),
    )


@kernel
def newest_claims(
    offsets: Longs,
    rows: Ints,
    row_count: int,
    generations: Ints,
    voids_doubles: bool,  # noqa: FBT001
) -> tuple[Longs, Ints, Flags]:
    """Starts int64[M+1] and rows that members of the newest generation own, in their own order; rows claimed twice.

    Members without a generation count while no member has one.
    """
    newest = np.int32(-1)
    for generation in generations:
        newest = max(newest, generation)
    claims = _claims_in(newest, offsets, rows, row_count, generations)
    is_contested = np.zeros(row_count, np.bool_)
    if voids_doubles:
        for row in range(row_count):
            is_contested[row] = claims[row] > 1
    starts = np.zeros(len(offsets), np.int64)
    listed = np.empty(len(rows), np.int32)
    count = 0
    for member in range(len(generations)):
        if generations[member] == newest:
            for at in range(offsets[member], offsets[member + 1]):
                if rows[at] >= 0 and not is_contested[rows[at]]:
                    listed[count] = rows[at]
                    count += 1
        starts[member + 1] = count
    return starts, listed[:count], is_contested


@inner_kernel
def _claims_in(newest: int, offsets: Longs, rows: Ints, row_count: int, generations: Ints) -> Ints:
    claims = np.zeros(row_count, np.int32)
    for member in range(len(generations)):
        if generations[member] == newest:
            for at in range(offsets[member], offsets[member + 1]):
                if rows[at] >= 0:
                    claims[rows[at]] += 1
    return claims


class _Dealing(NamedTuple):
    """Member m's list: ``lists[heads[m] : heads[m] + counts[m]]``. Queues of members at least and at most, with bounds
    in ``ends``; ``receiver``: who may have to wait for a row, or ABSENT; free rows.
    """

    heads: Longs
    counts: Longs
    lists: Ints
    at_least: Ints
    at_most: Ints
    ends: Longs
    receiver: Ints
    is_taken: Flags


_LEAST_HEAD, _LEAST_TAIL, _MOST_HEAD, _MOST_TAIL, _FREE = range(5)


@kernel
def swap(
    owned_order: Longs,
    by_id: Longs,
    owned: tuple[Longs, Ints],
    in_order: Ints,
    quotas: tuple[int, int],
    must_move: Flags,
) -> tuple[bool, Longs, Longs, Ints, Ints]:
    """True if everything was dealt; heads, counts and all lists; receivers that may have to wait for a row.

    ``owned``: starts and rows of each member. ``in_order``: all rows in dealing order. ``must_move`` bool[R]: rows that
    count as moved whoever gets them; rows cut from a member are added.
    """
    least, most = quotas
    dealing = _nothing_dealt(len(owned_order), most, len(must_move))
    ends = dealing.ends
    for member in owned_order:
        _keep(member, owned, most, dealing, must_move)
        if dealing.counts[member] == least:
            _join_at_least(member, dealing)
        if dealing.counts[member] == most:
            dealing.at_most[ends[_MOST_TAIL]] = member
            ends[_MOST_TAIL] += 1
    under, under_count = _fill_up(by_id, in_order, least, dealing, must_move)
    for member in under[:under_count]:
        # All partitions are in lists: excesses over ``least`` equal what the others miss.
        while dealing.counts[member] < least:
            loser = dealing.at_most[ends[_MOST_HEAD]]
            ends[_MOST_HEAD] += 1
            row = dealing.lists[dealing.heads[loser]]
            dealing.heads[loser] += 1
            dealing.counts[loser] -= 1
            _give(row, member, dealing)
            dealing.receiver[row] = member
        _join_at_least(member, dealing)
    while _find_free(in_order, dealing):
        if ends[_LEAST_HEAD] == ends[_LEAST_TAIL]:
            return False, dealing.heads, dealing.counts, dealing.lists, dealing.receiver
        member = dealing.at_least[ends[_LEAST_HEAD]]
        ends[_LEAST_HEAD] += 1
        _give_free(in_order, member, dealing, must_move)
    return True, dealing.heads, dealing.counts, dealing.lists, dealing.receiver


@inner_kernel
def _nothing_dealt(member_count: int, most: int, row_count: int) -> _Dealing:
    # One beyond the most (vanished partitions count), and one taken away in front.
    stride = most + 2
    return _Dealing(
        np.arange(member_count) * stride,
        np.zeros(member_count, np.int64),
        np.empty(member_count * stride, np.int32),
        np.empty(2 * member_count, np.int32),
        np.empty(member_count, np.int32),
        np.zeros(5, np.int64),
        np.full(row_count, _NOBODY, np.int32),
        np.zeros(row_count, np.bool_),
    )


@inner_kernel
def _fill_up(by_id: Longs, in_order: Ints, least: int, dealing: _Dealing, must_move: Flags) -> tuple[Ints, int]:
    under = np.empty(len(by_id), np.int32)
    count = 0
    for member in by_id:
        if dealing.counts[member] < least:
            under[count] = member
            count += 1
    while count > 0 and _find_free(in_order, dealing):
        kept = 0
        for i in range(count):
            member = under[i]
            if _find_free(in_order, dealing):
                _give_free(in_order, member, dealing, must_move)
                if dealing.counts[member] == least:
                    _join_at_least(member, dealing)
                    continue
            under[kept] = member
            kept += 1
        count = kept
    return under, count


@inner_kernel
def _keep(member: int, owned: tuple[Longs, Ints], most: int, dealing: _Dealing, must_move: Flags) -> None:
    starts, listed = owned
    for at in range(starts[member], starts[member + 1]):
        row = listed[at]
        if at - starts[member] < most:
            _give(row, member, dealing)
        else:
            must_move[row] = True


@inner_kernel
def _find_free(in_order: Ints, dealing: _Dealing) -> bool:
    at = dealing.ends[_FREE]
    while at < len(in_order) and dealing.is_taken[in_order[at]]:
        at += 1
    dealing.ends[_FREE] = at
    return bool(at < len(in_order))


@inner_kernel
def _give_free(in_order: Ints, member: int, dealing: _Dealing, must_move: Flags) -> None:
    row = in_order[dealing.ends[_FREE]]
    _give(row, member, dealing)
    if must_move[row]:
        dealing.receiver[row] = member


@inner_kernel
def _give(row: int, member: int, dealing: _Dealing) -> None:
    dealing.lists[dealing.heads[member] + dealing.counts[member]] = row
    dealing.counts[member] += 1
    dealing.is_taken[row] = True


@inner_kernel
def _join_at_least(member: int, dealing: _Dealing) -> None:
    dealing.at_least[dealing.ends[_LEAST_TAIL]] = member
    dealing.ends[_LEAST_TAIL] += 1


@kernel
def without_withheld(heads: Longs, counts: Longs, lists: Ints, receiver: Ints) -> tuple[Longs, Ints, Ints]:
    """The last: withheld rows, the first place of a row that its member waits for."""
    offsets = np.zeros(len(heads) + 1, np.int64)
    rows = np.empty(counts.sum(), np.int32)
    held = np.empty(len(rows), np.int32)
    is_held = np.zeros(len(receiver), np.bool_)
    count, held_count = 0, 0
    for member in range(len(heads)):
        for at in range(heads[member], heads[member] + counts[member]):
            row = lists[at]
            if len(receiver) and receiver[row] == member and not is_held[row]:
                is_held[row] = True
                held[held_count] = row
                held_count += 1
            else:
                rows[count] = row
                count += 1
        offsets[member + 1] = count
    return offsets, rows[:count], held[:held_count]


@dataclass(frozen=True, slots=True)
class StickyOf23:
    """Kafka 2.3, the first with generations."""

    name: str = "sticky@2.3"
    versions: str = "Kafka 2.3"

    def assign(self, request: AssignmentRequest) -> Assignment:
        return _one_way(request, OneWay(takes_in_turn=True, walks_given_first=False))


@dataclass(frozen=True, slots=True)
class StickyOf24:
    name: str = "sticky@2.4"
    versions: str = "Kafka 2.4 – 2.5.0"

    def assign(self, request: AssignmentRequest) -> Assignment:
        return _one_way(request, OneWay(takes_in_turn=True, walks_given_first=True))


@dataclass(frozen=True, slots=True)
class CooperativeOf24:
    """Kafka 2.4 to 2.5.0."""

    name: str = "cooperative-sticky@2.4"
    versions: str = "Kafka 2.4 – 2.5.0"

    def assign(self, request: AssignmentRequest) -> Assignment:
        way = OneWay(takes_in_turn=True, walks_given_first=True, is_cooperative=True)
        return _one_way(request, way)


@dataclass(frozen=True, slots=True)
class StickyOf251:
    name: str = "sticky@2.5.1"
    versions: str = "Kafka 2.5.1 – 2.8.0"

    def assign(self, request: AssignmentRequest) -> Assignment:
        return _two_ways(request, *_member_generations(request), voids_doubles=False, is_cooperative=False)


@dataclass(frozen=True, slots=True)
class CooperativeOf251:
    """Kafka 2.5.1 to 2.8.0: members send no generation."""

    name: str = "cooperative-sticky@2.5.1"
    versions: str = "Kafka 2.5.1 – 2.8.0"

    def assign(self, request: AssignmentRequest) -> Assignment:
        return _two_ways(request, *_no_generations(request), voids_doubles=False, is_cooperative=True)


@dataclass(frozen=True, slots=True)
class StickyOf281:
    name: str = "sticky@2.8.1"
    versions: str = "Kafka 2.8.1 – 2.8.2"

    def assign(self, request: AssignmentRequest) -> Assignment:
        return _two_ways(request, *_member_generations(request), voids_doubles=True, is_cooperative=False)


@dataclass(frozen=True, slots=True)
class CooperativeOf281:
    """Kafka 2.8.1 to 2.8.2: the generation is in the user data."""

    name: str = "cooperative-sticky@2.8.1"
    versions: str = "Kafka 2.8.1 – 2.8.2"

    def assign(self, request: AssignmentRequest) -> Assignment:
        return _two_ways(request, *_member_generations(request), voids_doubles=True, is_cooperative=True)


def _one_way(request: AssignmentRequest, way: OneWay) -> Assignment:
    inputs = _input(request)
    generations = _no_generations(request) if way.is_cooperative else _member_generations(request)
    return assign_one_way(request, inputs, claims_of(request, inputs, inputs.subscription_order, generations), way)


def _two_ways(
    request: AssignmentRequest, generations: Ints, overwrites: Flags, *, voids_doubles: bool, is_cooperative: bool
) -> Assignment:
    members, inputs = request.members, _input(request)
    if inputs.is_equal:
        return assign_swap(request, inputs, generations, voids_doubles=voids_doubles, is_cooperative=is_cooperative)
    walk = inputs.subscription_order
    read = first_that_differs(walk, members.subscription_offsets, members.subscription_topics, len(request.topics))
    if is_cooperative:
        generations = generations.copy()
        generations[walk[:read]] = NO_GENERATION
        generations.setflags(write=False)
    else:
        walk = walk[read:]
    claims = claims_of(request, inputs, walk, (generations, overwrites))
    way = OneWay(takes_in_turn=False, walks_given_first=True, is_cooperative=is_cooperative)
    return assign_one_way(request, inputs, claims, way)


def _input(request: AssignmentRequest) -> StickyInput:
    inputs = sticky_input_of(request, request.members.data_generations)
    return replace(inputs, racks=no_racks(len(request.members))) if inputs.racks.is_active else inputs


def _member_generations(request: AssignmentRequest) -> tuple[Ints, Flags]:
    members = request.members
    overwrites = ~members.has_data_generation
    overwrites.setflags(write=False)
    return members.data_generations, overwrites


def _no_generations(request: AssignmentRequest) -> tuple[Ints, Flags]:
    generations = np.full(len(request.members), NO_GENERATION, dtype=np.int32)
    overwrites = np.ones(len(request.members), dtype=np.bool_)
    generations.setflags(write=False)
    overwrites.setflags(write=False)
    return generations, overwrites


@kernel
def first_that_differs(walk: Longs, offsets: Longs, topics: Ints, topic_count: int) -> int:
    """Compare as ``all_equal`` does."""
    is_expected = np.zeros(topic_count, np.bool_)
    expected = 0
    for position in range(len(walk)):
        start, end = offsets[walk[position]], offsets[walk[position] + 1]
        is_first = expected == 0
        differs = not is_first and end - start != expected
        for at in range(start, end):
            if is_first:
                expected += not is_expected[topics[at]]
                is_expected[topics[at]] = True
            elif not is_expected[topics[at]]:
                differs = True
        if differs:
            return position
    return len(walk)
