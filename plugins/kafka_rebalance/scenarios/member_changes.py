"""Members that come and go, by themselves or with their rack."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.scenarios.fitting import groups_with_members, require_known, require_pattern
from kafka_rebalance.scenarios.newcomers import Newcomers, lots_of
from kafka_rebalance.snapshot.model import ClusterSnapshot, Group

MOST_NEWCOMERS = 100_000


@dataclass(frozen=True, slots=True)
class Members:
    """Members of each group whose whole name matches: so many, so many times as many, so many more, or some less.

    One of the four is given. Who leaves is drawn, but for those of ``leave``; newcomers are like members that are
    drawn. ``times`` is rounded to the nearest member, half a member up, and never to none.
    """

    groups: str
    count: int | None = None
    times: float | None = None
    join: int | None = None
    leave: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require_pattern("members, groups", self.groups)
        given = [value for value in (self.count, self.times, self.join) if value is not None]
        if len(given) + bool(self.leave) != 1:
            raise InvalidInputError.at("members", "expected one of count, times, join, leave")

    def applied(self, snapshot: ClusterSnapshot, seed: int) -> ClusterSnapshot:
        """Raises InvalidInputError where no group with members has such a name, or none has a member that leaves."""
        names = groups_with_members(snapshot, self.groups)
        if self.leave:
            there = {member.id for group in snapshot.groups if group.id in names for member in group.members}
            require_known("member", self.leave, there)
        return _with_groups(snapshot, names, lambda group: self._changed(group, seed))

    def _changed(self, group: Group, seed: int) -> Group:
        if self.leave:
            members = tuple(member for member in group.members if member.id not in self.leave)
            if not members:
                raise InvalidInputError.at(f"group {group.id}", "no member would be left", "let fewer leave")
            return replace(group, members=members)
        wanted, lots = self._wanted(group), lots_of(group.id, "members", seed)
        if wanted - len(group.members) > MOST_NEWCOMERS:
            raise InvalidInputError.at(f"group {group.id}", f"{wanted:,} members are too many")
        if wanted >= len(group.members):
            newcomers = Newcomers(group.members, lots).drawn(wanted - len(group.members))
            return replace(group, members=(*group.members, *(member for _, member in newcomers)))
        stays = sorted(lots.permutation(len(group.members))[:wanted].tolist())
        return replace(group, members=tuple(group.members[number] for number in stays))

    def _wanted(self, group: Group) -> int:
        count = len(group.members)
        if self.times is not None:
            return max(1, int(count * self.times + 0.5))
        return count + self.join if self.join is not None else self.count or 0


@dataclass(frozen=True, slots=True)
class MembersLost:
    """Members of a rack die, of each group whose whole name matches; its brokers live on."""

    groups: str
    rack: str

    def __post_init__(self) -> None:
        require_pattern("members_lost, groups", self.groups)

    def applied(self, snapshot: ClusterSnapshot, seed: int) -> ClusterSnapshot:
        """Raises InvalidInputError where no group with members has such a name, or no member is in the rack."""
        del seed  # nothing is drawn
        names = groups_with_members(snapshot, self.groups)
        racks = {member.rack for group in snapshot.groups if group.id in names for member in group.members}
        require_known("rack", (self.rack,), {rack for rack in racks if rack is not None})
        return _with_groups(snapshot, names, self._left)

    def _left(self, group: Group) -> Group:
        return replace(group, members=tuple(member for member in group.members if member.rack != self.rack))


def _with_groups(snapshot: ClusterSnapshot, names: frozenset[str], change: Callable[[Group], Group]) -> ClusterSnapshot:
    return replace(snapshot, groups=tuple(change(group) if group.id in names else group for group in snapshot.groups))
