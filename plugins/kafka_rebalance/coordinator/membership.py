"""Who is in a classic group, who leads it, and which strategy it will use: the coordinator's own state.

- The first that joins leads. A leader that is gone is followed by the first of the rest in the order of the
  coordinator's map; one that has not rejoined when the join phase ends by the first in that order that has. If nobody
  has, nothing changes and the phase goes on. Never at random.
- A static member that is back under a new id is taken out and put in again: a new place in the map, its wait is
  cancelled, and it leads if it led.
- The map is Java's HashMap from Kafka 4.0 on, Scala's mutable one before; both remember how many members there were.
  JoinGroup's answer lists the members in this order, and the leader's client fills its own map in it.

Example (4.x): "b" joins and leads, then "a": the map's order is a, b (97 & 15 = 1, 98 & 15 = 2). "a" alone has
rejoined when the phase ends: "a" leads.

Sources: ``GroupMetadata`` (2.8 – 3.9), ``ClassicGroup`` (4.0 – 4.3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from kafka_rebalance.coordinator.release import NEWEST, Coordinator
from kafka_rebalance.coordinator.vote import Vote, elect_strategy
from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.java.growing_map import JavaHashMap
from kafka_rebalance.scala.mutable_map import ScalaMutableMap


class KeyMap(Protocol):
    """A hash map's keys, as a value."""

    def with_key(self, key: str) -> KeyMap: ...
    def without_key(self, key: str) -> KeyMap: ...
    def order(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True)
class GroupMember:
    """``strategies``: in its order of preference; ``is_waiting``: its JoinGroup is not answered yet."""

    id: str
    strategies: tuple[str, ...]
    is_waiting: bool = True
    instance_id: str | None = None


@dataclass(frozen=True, slots=True)
class Membership:
    """A classic group as its coordinator sees it; every step gives a new one."""

    coordinator: Coordinator
    places: KeyMap
    members: Mapping[str, GroupMember] = field(default_factory=dict)
    leader: str | None = None

    @classmethod
    def empty(cls, coordinator: Coordinator = NEWEST) -> Membership:
        """A group that nobody has joined."""
        return cls(coordinator, ScalaMutableMap() if coordinator is Coordinator.SCALA else JavaHashMap())

    def joined(self, member: GroupMember) -> Membership:
        """A new member; the first one leads."""
        if member.id in self.members:
            raise InvalidInputError.at(f"member {member.id}", "joins, but is in the group", "it rejoins")
        return replace(
            self, places=self.places.with_key(member.id), members={**self.members, member.id: member},
            leader=self.leader or member.id,
        )  # fmt: skip

    def rejoined(self, member_id: str, strategies: Sequence[str]) -> Membership:
        """A member of the group asks again, with this list; it keeps its place."""
        again = replace(self._member(member_id), strategies=tuple(strategies), is_waiting=True)
        return replace(self, members={**self.members, member_id: again})

    def left(self, member_id: str) -> Membership:
        """Left, or its session is over."""
        self._member(member_id)
        rest = {name: member for name, member in self.members.items() if name != member_id}
        places = self.places.without_key(member_id)
        leader = next(iter(places.order()), None) if self.leader == member_id else self.leader
        return replace(self, places=places, members=rest, leader=leader)

    def replaced(self, old: str, new: str) -> Membership:
        """The static member ``old`` is back under the id ``new``."""
        again = replace(self._member(old), id=new, is_waiting=False)
        rest = {name: member for name, member in self.members.items() if name != old}
        if new in rest:
            raise InvalidInputError.at(f"member {new}", f"comes back for {old}, but is in the group")
        return replace(
            self, places=self.places.without_key(old).with_key(new), members={**rest, new: again},
            leader=new if self.leader == old else self.leader,
        )  # fmt: skip

    def elected(self) -> tuple[Membership, bool]:
        """The join phase ends: the group with a leader that has joined; False where nobody has, and it is prolonged."""
        if self.leader is None:
            return self, False
        if self.members[self.leader].is_waiting:
            return self, True
        waiting = next((name for name in self.places.order() if self.members[name].is_waiting), None)
        return (self, False) if waiting is None else (replace(self, leader=waiting), True)

    def completed(self) -> Membership:
        """All JoinGroups are answered: nobody waits."""
        return replace(self, members={name: replace(member, is_waiting=False) for name, member in self.members.items()})

    def order(self) -> tuple[str, ...]:
        """Members as the coordinator walks them, and as JoinGroup's answer lists them."""
        return self.places.order()

    def vote(self) -> Vote:
        """What the group would use if the join phase ended now."""
        return elect_strategy({name: self.members[name].strategies for name in self.order()}, self.coordinator)

    def _member(self, member_id: str) -> GroupMember:
        if member_id not in self.members:
            raise InvalidInputError.at(f"member {member_id}", "is not in the group")
        return self.members[member_id]
