"""Which strategy a classic group uses: the broker's own count.

Sources: ``GroupMetadata.selectProtocol`` (Scala, up to 3.9), ``ClassicGroup.selectProtocol`` (Java, from 4.0).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kafka_rebalance.coordinator.release import NEWEST, Coordinator
from kafka_rebalance.java.growing_map import JavaHashMap
from kafka_rebalance.scala.immutable_map import immutable_order


@dataclass(frozen=True, slots=True)
class Ballot:
    """One member's vote: the first of its own list that everybody supports."""

    member: str
    choice: str


@dataclass(frozen=True, slots=True)
class Vote:
    """``winner`` is ``None`` where no strategy is supported by all: such a member is refused with
    INCONSISTENT_GROUP_PROTOCOL when it joins, and the group goes on without it.
    """

    candidates: tuple[str, ...]
    ballots: tuple[Ballot, ...]
    votes: Mapping[str, int]
    winner: str | None
    is_tie: bool


def elect_strategy(supported: Mapping[str, Sequence[str]], coordinator: Coordinator = NEWEST) -> Vote:
    """The group's strategy from each member's list, in that member's order of preference.

    1. Candidates are the strategies that every member supports (the intersection).
    2. Each member votes for the first candidate of its own list.
    3. The most named wins; of equals, the first in the map of the names voted for: Java's HashMap, filled in the order
       of ``supported`` (of the coordinator's map of members: ``Membership``), or Scala's immutable HashMap.

    Example: A [range, sticky], B [sticky, range] → a tie, which goes to sticky from 4.0 on, to range before.
    O(members × strategies).
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
