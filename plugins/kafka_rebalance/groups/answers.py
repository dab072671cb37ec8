"""Result of one strategy for one state of a group."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kafka_assignors.arrays import ABSENT, Ints, Longs
from kafka_assignors.contract import Assignment, AssignmentRequest
from kafka_assignors.errors import AssignorError
from kafka_assignors.kernels import kernel
from kafka_assignors.registry import by_name
from kafka_rebalance.facts import Fact, refusal_of
from kafka_rebalance.groups.group_input import GroupInput
from kafka_rebalance.scoring.assignment_scores import evenness
from kafka_rebalance.scoring.drain import drain, member_capacity
from kafka_rebalance.scoring.rack_traffic import RackRatios, rack_ratios
from kafka_rebalance.scoring.scores import GroupScore


def answer_of(name: str, request: AssignmentRequest, group_input: GroupInput) -> tuple[Ints | None, Fact | None]:
    """Return each partition's reader, or the refusal."""
    try:
        return reader_of(by_name(name).assign(request), group_input), None
    except AssignorError as error:
        return None, refusal_of(error)


def reader_of(assignment: Assignment, group_input: GroupInput) -> Ints:
    """Return each partition's reader; one withheld for a round counts as handed over."""
    first, withheld = group_input.first_row, assignment.withheld
    reader = _readers(first, assignment.offsets, assignment.topics, assignment.partitions)
    if len(withheld):
        reader[first[withheld.topics] + withheld.partitions] = withheld.members
    return reader


@kernel
def _readers(first: Longs, offsets: Longs, topics: Ints, partitions: Ints) -> Ints:
    reader = np.full(first[-1], ABSENT, np.int32)
    for member in range(len(offsets) - 1):
        for index in range(offsets[member], offsets[member + 1]):
            reader[first[topics[index]] + partitions[index]] = member
    return reader


def empty_score(group_input: GroupInput, assignor: str) -> GroupScore:
    return GroupScore(
        group_id=group_input.group.id,
        assignor=assignor,
        version=None,
        is_current=False,
        members=len(group_input.group.members),
        partitions=int(group_input.first_row[-1]),
    )


def score_answer(
    group_input: GroupInput, assignor: str, reader: Ints, before: Ints, capacity: float | None = None
) -> GroupScore:
    """Return the row of ``reader`` int32[P] against ``before``.

    ``capacity``: a member's read rate, else estimated from ``before``.
    """
    members, rates = len(group_input.group.members), group_input.rates
    if capacity is None:
        capacity = member_capacity(before, rates.read_messages_per_s, members)
    balance = evenness(reader, before, members, rates)
    drained = drain(reader, members, rates, capacity)
    racks = group_input.rack_codes
    in_rack = RackRatios(None, None) if racks is None else rack_ratios(reader, racks, rates.in_bytes_per_s)
    return replace(
        empty_score(group_input, assignor),
        idle_members=balance.idle_members,
        skew_count=balance.skew_count,
        skew_rate=balance.skew_rate,
        skew_lag=balance.skew_lag,
        partitions_moved=balance.partitions_moved,
        moved_rate_ratio=balance.moved_rate_ratio,
        cv_count=balance.cv_count,
        cv_rate=balance.cv_rate,
        partitions_without_reader=balance.partitions_without_reader,
        same_rack_ratio=in_rack.same_rack_ratio,
        leader_in_rack_ratio=in_rack.leader_in_rack_ratio,
        drain_seconds=drained.seconds,
        members_falling_behind=drained.members_falling_behind,
    )
