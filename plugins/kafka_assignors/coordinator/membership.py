"""Membership of a group at its coordinator.

Classic groups (``Membership``)
- The first member that joins leads. If the leader leaves, or has not rejoined when the join phase ends, the first
  remaining (rejoined) member in the order of the coordinator's map leads. If none has rejoined, the phase continues.
- A static member that returns under a new id is removed and put again; it leads if it led.
- The map is Java's HashMap from Kafka 4.0 on, Scala's mutable one before; both keep the table of their largest size.
  JoinGroup's answer lists members in this order, and the leader's client fills its own map in it.
- Example (4.x): "b" joins and leads, then "a": the order is a, b (97 & 15 = 1, 98 & 15 = 2).
- Sources: ``GroupMetadata`` in Scala (2.8 – 3.9), ``ClassicGroup`` in Java (4.0 – 4.4, and 3.7 – 3.9 with the new
  coordinator switched on).

Coordinating partition (``group_partitions``): ``abs(groupId.hashCode) % partitions`` of ``__consumer_offsets`` (the
real number, not the broker's setting); abs of the least int is 0 (KAFKA-1988), as for "polygenelubricants".

KIP-848 groups (``TimelineMap``): a key is in slot ``hashCode · -7046029254386353131 >>> (64 - b)`` of 2^b slots
(Fibonacci hashing), the newest first. The table starts with 2 slots, doubles while (keys + 1) · ¾ exceeds it before a
``put`` (even of a present key), and never shrinks. A member is put again at every change, so n members soon have the
slots for n + 1. The target assignment walks a ``HashMap`` filled in this order, then with the heartbeat's member.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Protocol

import numpy as np

from kafka_assignors.arrays import Ints
from kafka_assignors.errors import InvalidInputError
from kafka_assignors.java.hash_order import JavaHashMap
from kafka_assignors.java.scala_maps import ScalaMutableMap, immutable_order
from kafka_assignors.java.strings import hash_codes
from kafka_assignors.releases import Release, Releases
from kafka_assignors.string_column import StringColumn


class Coordinator(StrEnum):
    SCALA = "scala"  # GroupMetadata
    JAVA = "java"  # ClassicGroup


COORDINATORS = (
    (Coordinator.JAVA, Releases("Kafka", "4.0", "4.4")),
    (Coordinator.SCALA, Releases("Kafka", "2.8", "3.9")),
)
NEWEST = COORDINATORS[0][0]


def coordinator_of(release: Release) -> Coordinator | None:
    """Class in ``release`` ((3, 9, 2), (4,)), the newest one for later ones; None before 2.8."""
    if COORDINATORS[0][1].ends_before(release):
        return NEWEST
    return next((coordinator for coordinator, releases in COORDINATORS if releases.touches(release)), None)


@dataclass(frozen=True, slots=True)
class Ballot:
    member: str
    choice: str


@dataclass(frozen=True, slots=True)
class Vote:
    """``winner`` None: no strategy is supported by all."""

    candidates: tuple[str, ...]
    ballots: tuple[Ballot, ...]
    votes: Mapping[str, int]
    winner: str | None
    is_tie: bool


def elect_strategy(supported: Mapping[str, Sequence[str]], coordinator: Coordinator = NEWEST) -> Vote:
    """Elect from lists in order of preference. O(members × strategies).

    1. Candidates are the strategies that every member supports.
    2. Each member votes for the first candidate of its own list.
    3. Most votes win; ties: the first in the map of voted names: Java's HashMap, filled in the order of ``supported``
       (that of the coordinator's members), or Scala's immutable HashMap.

    Example: A [range, sticky], B [sticky, range] → a tie: sticky from 4.0 on, range before.
    """
    lists = list(supported.values())
    everywhere = set(lists[0]).intersection(*lists[1:]) if lists else set()
    candidates = tuple(name for name in dict.fromkeys(lists[0]) if name in everywhere) if lists else ()
    ballots = tuple(
        Ballot(member, next(name for name in names if name in everywhere))
        for member, names in supported.items()
        if everywhere
    )
    votes: dict[str, int] = {}
    for ballot in ballots:
        votes[ballot.choice] = votes.get(ballot.choice, 0) + 1
    best = max(votes.values(), default=0)
    winners = [name for name in _counting_order(list(votes), coordinator) if votes[name] == best]
    return Vote(candidates, ballots, votes, winners[0] if winners else None, len(winners) > 1)


def _counting_order(names: Sequence[str], coordinator: Coordinator) -> tuple[str, ...]:
    if coordinator is Coordinator.SCALA:
        return immutable_order(names)
    counted = JavaHashMap()
    for name in names:
        counted = counted.with_key(name)
    return counted.order()


class KeyMap(Protocol):
    def with_key(self, key: str) -> KeyMap: ...
    def without_key(self, key: str) -> KeyMap: ...
    def order(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True)
class GroupMember:
    id: str
    strategies: tuple[str, ...]
    is_waiting: bool = True
    instance_id: str | None = None


@dataclass(frozen=True, slots=True)
class Membership:
    """Classic group; every step returns a new one."""

    coordinator: Coordinator
    key_map: KeyMap
    members: Mapping[str, GroupMember] = field(default_factory=dict)
    leader: str | None = None

    @classmethod
    def empty(cls, coordinator: Coordinator = NEWEST) -> Membership:
        return cls(coordinator, ScalaMutableMap() if coordinator is Coordinator.SCALA else JavaHashMap())

    def joined(self, member: GroupMember) -> Membership:
        if member.id in self.members:
            raise InvalidInputError.at(f"member {member.id}", "joins, but is in the group", "it rejoins")
        return replace(
            self, key_map=self.key_map.with_key(member.id), members={**self.members, member.id: member},
            leader=self.leader or member.id,
        )  # fmt: skip

    def rejoined(self, member_id: str, strategies: Sequence[str]) -> Membership:
        again = replace(self._member(member_id), strategies=tuple(strategies), is_waiting=True)
        return replace(self, members={**self.members, member_id: again})

    def without(self, member_id: str) -> Membership:
        self._member(member_id)
        rest = {name: member for name, member in self.members.items() if name != member_id}
        key_map = self.key_map.without_key(member_id)
        leader = next(iter(key_map.order()), None) if self.leader == member_id else self.leader
        return replace(self, key_map=key_map, members=rest, leader=leader)

    def replaced(self, old: str, new: str) -> Membership:
        again = replace(self._member(old), id=new, is_waiting=False)
        rest = {name: member for name, member in self.members.items() if name != old}
        if new in rest:
            raise InvalidInputError.at(f"member {new}", f"comes back for {old}, but is in the group")
        return replace(
            self, key_map=self.key_map.without_key(old).with_key(new), members={**rest, new: again},
            leader=new if self.leader == old else self.leader,
        )  # fmt: skip

    def elected(self) -> tuple[Membership, bool]:
        """End of the join phase: a leader that has joined; False if none has and the phase continues."""
        if self.leader is None:
            return self, False
        if self.members[self.leader].is_waiting:
            return self, True
        waiting = next((name for name in self.key_map.order() if self.members[name].is_waiting), None)
        return (self, False) if waiting is None else (replace(self, leader=waiting), True)

    def completed(self) -> Membership:
        return replace(self, members={name: replace(member, is_waiting=False) for name, member in self.members.items()})

    def order(self) -> tuple[str, ...]:
        return self.key_map.order()

    def vote(self) -> Vote:
        return elect_strategy({name: self.members[name].strategies for name in self.order()}, self.coordinator)

    def _member(self, member_id: str) -> GroupMember:
        if member_id not in self.members:
            raise InvalidInputError.at(f"member {member_id}", "is not in the group")
        return self.members[member_id]


def group_hash_codes(groups: StringColumn) -> Ints:
    codes: Ints = hash_codes(groups.data, groups.offsets)
    return codes


def group_partitions(groups: StringColumn, partitions: int) -> Ints:
    codes = group_hash_codes(groups).astype(np.int64)
    return (np.where(codes == -(2**31), 0, np.abs(codes)) % partitions).astype(np.int32)


_FIRST_SLOTS = 2
_MULTIPLIER = -7046029254386353131
_MASK = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class TimelineMap:
    """``keys`` in insertion order; ``slots``: a power of two."""

    keys: tuple[str, ...] = ()
    slots: int = _FIRST_SLOTS

    @classmethod
    def settled(cls, keys: Iterable[str]) -> TimelineMap:
        added = tuple(keys)
        slots = _FIRST_SLOTS
        while _is_too_full(len(added), slots):
            slots *= 2
        return cls(added, slots)

    def with_key(self, key: str) -> TimelineMap:
        slots = self.slots * 2 if _is_too_full(len(self.keys), self.slots) else self.slots
        return TimelineMap(self.keys if key in self.keys else (*self.keys, key), slots)

    def without_key(self, key: str) -> TimelineMap:
        return TimelineMap(tuple(kept for kept in self.keys if kept != key), self.slots)

    def order(self) -> tuple[str, ...]:
        column = StringColumn.of(self.keys)
        shift = 65 - self.slots.bit_length()
        slot = [(code * _MULTIPLIER & _MASK) >> shift for code in hash_codes(column.data, column.offsets).tolist()]
        return tuple(self.keys[index] for index in sorted(range(len(slot)), key=lambda index: (slot[index], -index)))


def _is_too_full(keys: int, slots: int) -> bool:
    return (keys + 1) * 3 > slots * 4
