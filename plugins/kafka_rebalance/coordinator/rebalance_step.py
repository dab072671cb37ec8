"""A trigger that meets a settled group, in numbers: what ``Change`` is for a replay, as arrays for compiled code.

Members are numbers, 0 to ``member_count`` - 1, of all that take part before or after; partitions are the places of the
arrays. Example: a group of members 0 and 1 with four partitions, which member 2 joins::

    Step(Trigger.MEMBER_JOINS, subject=2, before=[0, 0, 1, 1], after=[0, 2, 1, 1], member_count=3)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import NOBODY, Flags, Ints
from kafka_rebalance.coordinator.timeline import Trigger
from kafka_rebalance.errors import InvalidInputError

_ABOUT_NO_MEMBER = (Trigger.PARTITION_COUNT_CHANGES, Trigger.COORDINATOR_MOVES)


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One trigger on a settled group: who reads each partition ``before`` and ``after`` it, ``NOBODY`` for no one.

    The partitions are those that exist after it; a new one has nobody before. ``subject``: the member that it is about
    (not looked at where it is about none). ``leader`` watches the metadata of a classic group. ``meanwhile``: who reads
    what while a static member is away for longer than its session. ``dropped``: partitions that the subject subscribes
    to no longer; under cooperative it gives them up before it rejoins. ``is_static``: the subject has an instance id.
    """

    trigger: Trigger
    subject: int
    before: Ints
    after: Ints
    member_count: int
    is_static: bool = False
    leader: int = 0
    meanwhile: Ints | None = None
    dropped: Flags | None = None

    def __post_init__(self) -> None:
        """All arrays become read-only, so that one variant of each kernel serves them."""
        columns = {"before": self.before, "after": self.after, "meanwhile": self.meanwhile}
        for name, values in columns.items():
            if values is not None:
                object.__setattr__(self, name, _read_only(values, np.int32))
        if self.dropped is not None:
            object.__setattr__(self, "dropped", _read_only(self.dropped, np.bool_))
        if any(values is not None and len(values) != len(self.before) for values in (*columns.values(), self.dropped)):
            raise InvalidInputError.at(f"{self.trigger}", "the columns of partitions are not equally long")
        is_about_member = self.trigger not in _ABOUT_NO_MEMBER
        if is_about_member and not 0 <= self.subject < self.member_count:
            raise InvalidInputError.at(f"{self.trigger}", f"no member {self.subject} among {self.member_count}")
        if self.trigger is Trigger.PARTITION_COUNT_CHANGES and not 0 <= self.leader < self.member_count:
            raise InvalidInputError.at(f"{self.trigger}", f"no leader {self.leader} among {self.member_count} members")

    @property
    def is_empty_before(self) -> bool:
        """The group has no member until this one joins."""
        return self.trigger is Trigger.MEMBER_JOINS and self.member_count == 1


def _read_only(values: Ints | Flags, kind: type[np.generic]) -> Ints | Flags:
    column = np.ascontiguousarray(values, kind).view()
    column.flags.writeable = False
    return column


def holdings(column: Ints) -> dict[int, list[int]]:
    """Member → its partitions in ``column``, of those members that read any."""
    held: dict[int, list[int]] = {}
    for partition, member in enumerate(column.tolist()):
        if member != NOBODY:
            held.setdefault(member, []).append(partition)
    return held
