"""librdkafka's cooperative-sticky; it has no eager one.

Java's one way as of 2.4 (``before_3_0``) for all subscriptions, with maps that give the newest key back first, racks as
Java's unequal way from 3.5 on, and another rule for claims: a partition that two claim in one generation nobody keeps,
else the highest generation has it; but whom it believes to be the holder is the *last* member in JoinGroup order that
claims it. With equal subscriptions partitions are always taken up in turn from the fullest member downwards, the lowest
of each list first, then what nobody has, topics and partitions backwards; by name where nobody has anything.

Then its own step: what another member claims (the last one) is withheld, and owned partitions that nobody was given,
because they exist no longer, are handed back to their owner.

A move is turned back with the oldest one recorded, but through a pointer that shows the next one by then
(``balance``): it moves that, or, where there is none, reads freed memory and may crash. That is an AssignorError.
Source: ``rdkafka_sticky_assignor.c`` and ``rdkafka_assignor.c``, 2.15. Complexity: as ``one_way``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kafka_rebalance.arrays import NOBODY, Flags, Ints
from kafka_rebalance.assignors.assignment import Assignment
from kafka_rebalance.assignors.other_clients.sticky.kafka_python import last_claimants, without_claimed
from kafka_rebalance.assignors.other_clients.sticky.shared_input import failing_as, input_in_join_order, topic_lists
from kafka_rebalance.assignors.request import AssignmentRequest
from kafka_rebalance.assignors.sticky.before_3_0.one_way import unfilled_state
from kafka_rebalance.assignors.sticky.general import (
    choose_who_takes_part,
    evened,
    give_out,
    give_out_in_racks,
    keep_readable,
    rows_of,
    shared_rows,
)
from kafka_rebalance.assignors.sticky.legacy import in_turn
from kafka_rebalance.assignors.sticky.state import DIALECT, LIBRDKAFKA, State, flattened
from kafka_rebalance.assignors.sticky.sticky_input import StickyInput, sticky_input_of


@dataclass(frozen=True, slots=True)
class LibrdkafkaCooperative:
    """``assign`` answers what is given out in this round; ``target`` is what it works towards."""

    name: str = "cooperative-sticky"
    versions: str = ""

    def assign(self, request: AssignmentRequest) -> Assignment:
        """Raises EndlessReassignmentError where the client never returns, AssignorError where it reads a null."""
        members = request.members
        generations = np.where(members.generations >= 0, members.generations, members.data_generations)
        inputs = _input(request)
        claims = _settled(inputs, np.diff(members.owned_offsets), generations)
        state = unfilled_state(request, inputs)
        state.marks[DIALECT] = LIBRDKAFKA
        order = _taken_up(request, inputs, claims)
        is_taken, must_revoke = keep_readable(
            state, inputs.owned_order, members.owned_offsets, inputs.rows, claims.is_kept
        )
        is_believed_wrongly = _believe(state, claims)
        is_initial = not state.members["row_count"].any()
        free = order[~is_taken[order]]
        give_out(state, give_out_in_racks(state, free) if inputs.racks.is_active else free)
        state.rows["previous"] = claims.had_before
        choose_who_takes_part(state)
        walks = [] if must_revoke or len(free) == 0 else [shared_rows(state, free)]
        walks.append(shared_rows(state, order))
        with failing_as("null pointer", "the leader asks for a member that is left out of balancing, and crashes"):
            state = evened(state, walks, is_initial=is_initial, is_literal=is_believed_wrongly)
        return _second_step(request, inputs, state)


@dataclass(frozen=True, slots=True, eq=False)
class _Settled:
    """``is_kept`` bool[W]; ``had_before``, ``last`` int32[R]: who had a row before, who claims it as the last."""

    is_kept: Flags
    had_before: Ints
    last: Ints


def _input(request: AssignmentRequest) -> StickyInput:
    """Owned partitions of topics that nobody reads are as good as gone; the map of members walks backwards."""
    inputs = input_in_join_order(request)
    is_read = np.zeros(len(request.topics), dtype=np.bool_)
    is_read[request.members.subscription_topics] = True
    counts = np.where(is_read, inputs.counts, np.int32(-1))
    gone = (inputs.rows >= 0) & ~(
        (counts[request.members.owned_topics] > request.members.owned_partitions)
        & (request.members.owned_partitions >= 0)
    )
    return replace(
        inputs,
        owned_order=np.arange(len(request.members))[::-1].copy(),
        topics=inputs.topics[is_read[inputs.topics]],
        counts=counts,
        rows=np.where(gone, np.int32(NOBODY), inputs.rows),
        racks=sticky_input_of(request, request.members.data_generations).racks,
    )


def _settled(inputs: StickyInput, sizes: Ints, generations: Ints) -> _Settled:
    is_kept = np.zeros(len(inputs.rows), dtype=np.bool_)
    had_before = np.full(len(inputs.row_topic), NOBODY, dtype=np.int32)
    last = had_before.copy()
    claims: dict[int, list[tuple[int, int, int]]] = {}
    owners = np.repeat(np.arange(len(sizes)), sizes).tolist()
    for at, (row, member) in enumerate(zip(inputs.rows.tolist(), owners, strict=True)):
        if row >= 0:
            claims.setdefault(row, []).append((int(generations[member]), member, at))
    for row, listed in claims.items():
        if len({generation for generation, _, _ in listed}) < len(listed):
            continue
        last[row] = listed[-1][1]
        listed.sort()
        is_kept[listed[-1][2]] = True
        if len(listed) > 1:
            had_before[row] = listed[-2][1]
    return _Settled(is_kept, had_before, last)


def _believe(state: State, claims: _Settled) -> bool:
    """The last claimant counts as holder, whoever has the partition; whether it is another one anywhere."""
    is_claimed = claims.last != NOBODY
    holder = state.rows["owner"].copy()
    state.rows["owner"][is_claimed] = claims.last[is_claimed]
    return bool(((holder != NOBODY) & is_claimed & (holder != claims.last)).any())


def _taken_up(request: AssignmentRequest, inputs: StickyInput, claims: _Settled) -> Ints:
    topics, members = request.topics, request.members
    lists = topic_lists(request, inputs)
    if any(sorted(listed) != sorted(lists[0]) for listed in lists):
        readers = np.bincount(members.subscription_topics, minlength=len(topics))[inputs.topics]
        sorted_rows: Ints = rows_of(inputs.topics[np.argsort(readers, kind="stable")], topics.first_row)
        return sorted_rows
    sizes = np.diff(members.owned_offsets)
    owners = np.repeat(np.arange(len(members)), sizes)
    held = np.flatnonzero(claims.is_kept)
    if len(held) == 0:
        by_name: Ints = rows_of(inputs.topics, topics.first_row)
        return by_name
    name_rank = np.zeros(len(topics), dtype=np.int64)
    name_rank[inputs.topics] = np.arange(len(inputs.topics))
    rows = inputs.rows[held]
    keys = (inputs.row_partition[rows], name_rank[inputs.row_topic[rows]], claims.had_before[rows] == NOBODY)
    order = np.lexsort((*keys, owners[held]))
    offsets = np.zeros(len(members) + 1, dtype=np.int64)
    np.cumsum(np.bincount(owners[held], minlength=len(members)), out=offsets[1:])
    backwards = rows_of(np.sort(inputs.topics), topics.first_row)[::-1].copy()
    turned: Ints = in_turn(inputs.by_id, offsets, rows[order], backwards, topics.partition_total)
    return turned


def _second_step(request: AssignmentRequest, inputs: StickyInput, state: State) -> Assignment:
    offsets, rows = flattened(state)
    target = Assignment.of(offsets, inputs.row_topic[rows], inputs.row_partition[rows])
    given = without_claimed(inputs, offsets, rows, last_claimants(request, inputs))
    return replace(_handed_back(request, inputs, given), target=target)


def _handed_back(request: AssignmentRequest, inputs: StickyInput, given: Assignment) -> Assignment:
    """What no longer exists goes back to the last one who claims it."""
    members = request.members
    owners = np.repeat(np.arange(len(members), dtype=np.int32), np.diff(members.owned_offsets))
    gone = np.flatnonzero(inputs.rows < 0)
    if len(gone) == 0:
        return given
    back = {
        (topic, partition): owner
        for topic, partition, owner in zip(
            members.owned_topics[gone].tolist(),
            members.owned_partitions[gone].tolist(),
            owners[gone].tolist(),
            strict=True,
        )
    }
    receivers = np.concatenate((np.repeat(np.arange(len(members)), given.counts), list(back.values())))
    by_member = np.argsort(receivers, kind="stable")
    offsets = np.zeros(len(members) + 1, dtype=np.int64)
    np.cumsum(np.bincount(receivers, minlength=len(members)), out=offsets[1:])
    topics = np.concatenate((given.topics, [topic for topic, _ in back])).astype(np.int32)
    partitions = np.concatenate((given.partitions, [partition for _, partition in back])).astype(np.int32)
    return replace(given, offsets=offsets, topics=topics[by_member], partitions=partitions[by_member])
