"""States of a group in a scenario, and the events that lead from one settled state to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from kafka_rebalance.arrays import NOBODY, Ints, Longs
from kafka_rebalance.assignors.weighted.bound import least_skew
from kafka_rebalance.coordinator.timeline import Trigger
from kafka_rebalance.groups.group_input import GroupInput
from kafka_rebalance.groups.request_frame import RequestFrame, Subscriptions, frame_of
from kafka_rebalance.kernels.decorators import kernel
from kafka_rebalance.snapshot.model import Member


@dataclass(frozen=True, eq=False)  # no slots: cached_property keeps its values in __dict__
class GroupState:
    """Members, topics and partitions of a group at one moment, whoever reads them.

    The members' own ``assigned`` and ``user_data`` are those of the reading and count no more.
    """

    group_input: GroupInput
    subscriptions: Subscriptions

    @property
    def members(self) -> tuple[Member, ...]:
        """In the order of their numbers."""
        return self.group_input.group.members

    @cached_property
    def of_client(self) -> RequestFrame:
        """What the group's leader hands to a client's strategy."""
        return frame_of(self.group_input, self.subscriptions)

    @cached_property
    def of_server(self) -> RequestFrame:
        """What the coordinator hands to one of its own."""
        return frame_of(self.group_input, self.subscriptions, is_server=True)

    def frame(self, *, is_server: bool) -> RequestFrame:
        """One of the two."""
        return self.of_server if is_server else self.of_client

    @cached_property
    def least_skews(self) -> tuple[float | None, float | None]:
        """By count and by rate: no assignment of these partitions to these members has a smaller skew."""
        request, rates = self.of_client.empty, self.group_input.rates.in_bytes_per_s
        is_read = np.repeat(request.topics.has_metadata, np.maximum(self.group_input.partition_counts, 0))
        return least_skew(request, np.ones(int(is_read.sum()))), least_skew(request, rates[is_read])

    def with_members(self, members: Sequence[Member], subscriptions: Subscriptions) -> GroupState:
        """The same topics with other members."""
        group = replace(self.group_input.group, members=tuple(members))
        return GroupState(replace(self.group_input, group=group), subscriptions)


@dataclass(frozen=True, eq=False, slots=True)
class Event:
    """Something that happens to a settled group; ``after`` is the state that it settles in.

    ``member_before`` int32[M after]: each member's number before, NOBODY for a new one. ``row_before`` int64[P after]:
    each partition's row before, -1 for a new one; ``None``: as it was. ``subject``: the number of the member that
    restarts in its place; else newcomers and those that are missing tell whose event it is.
    """

    trigger: Trigger
    after: GroupState
    member_before: Ints
    row_before: Longs | None = None
    is_static: bool = False
    subject: int = NOBODY

    def carried(self, reader: Ints) -> tuple[Ints, Ints]:
        """Who reads each partition still, and who read it before, both int32[P after] by the members' new numbers.

        Those that are gone are one member more, behind all others, in the second.
        """
        members = len(self.member_before)
        rows = np.arange(len(reader), dtype=np.int64) if self.row_before is None else self.row_before
        return _carried(reader, rows, self.member_before, members)


@kernel
def changed_readers(before: Ints, after: Ints) -> int:
    """How many partitions had a reader and have another one now, or none."""
    count = 0
    for row in range(len(before)):
        if before[row] != NOBODY and before[row] != after[row]:
            count += 1
    return count


@kernel
def _carried(reader: Ints, row_before: Longs, member_before: Ints, members: int) -> tuple[Ints, Ints]:
    most = NOBODY
    for member in range(members):
        most = max(most, member_before[member])
    for row in range(len(reader)):
        most = max(most, reader[row])
    number = np.full(most + 2, members, np.int32)  # one more: index NOBODY is the last
    for member in range(members):
        if member_before[member] != NOBODY:
            number[member_before[member]] = member
    stays, was = np.empty(len(row_before), np.int32), np.empty(len(row_before), np.int32)
    for row in range(len(row_before)):
        old = reader[row_before[row]] if row_before[row] >= 0 else NOBODY
        was[row] = number[old] if old != NOBODY else NOBODY
        stays[row] = was[row] if was[row] < members else NOBODY
    return stays, was
