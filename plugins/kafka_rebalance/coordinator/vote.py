"""Which strategy a classic group uses, and who leads it: the broker's own rules.

Source: ``GroupMetadata``/``ClassicGroup`` of Kafka (selectProtocol, candidateProtocols, maybeElectNewJoinedLeader).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kafka_rebalance.java.hash_order import put_order
from kafka_rebalance.java.strings import hash_code

_DEFAULT_CAPACITY = 16  # of Java's HashMap


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


def elect_strategy(supported: Mapping[str, Sequence[str]]) -> Vote:
    """The group's strategy from each member's list, in that member's order of preference.

    1. Candidates are the strategies that every member supports (the intersection).
    2. Each member votes for the first candidate of its own list.
    3. The most named wins; of equals, the first in the iteration order of Java's HashMap of names.

    Example: A [range, sticky], B [sticky, range], C [sticky, range] → candidates {range, sticky}; range 1, sticky 2.
    O(members × strategies).
    """
    lists = list(supported.values())
    candidates = [name for name in dict.fromkeys(lists[0])] if lists else []  # noqa: C416
    candidates = [name for name in candidates if all(name in names for names in lists)]
    ballots = tuple(
        Ballot(member, next(name for name in names if name in candidates))
        for member, names in supported.items()
        if candidates
    )
    votes: dict[str, int] = {}
    for ballot in ballots:
        votes[ballot.choice] = votes.get(ballot.choice, 0) + 1
    order = _hash_map_order(list(votes))
    best = max(votes.values(), default=0)
    winners = [name for name in order if votes[name] == best]
    return Vote(tuple(candidates), ballots, votes, winners[0] if winners else None, len(winners) > 1)


def elect_leader(joined: Sequence[str], *, leader: str | None, rejoined: Sequence[str] | None = None) -> str | None:
    """Who computes the assignment of a classic group.

    ``joined``: member ids in the order in which the broker added them; ``leader``: the one so far, ``None`` for a new
    group. The first member added leads. A leader that left is followed by the first key of Java's HashMap of members;
    one that missed the rebalance (not in ``rejoined``) by the first of those that did join. It is never random.
    """
    if not joined:
        return None
    if leader is None:
        return joined[0]
    if leader not in joined:
        return _hash_map_order(list(joined))[0]
    if rejoined is not None and leader not in rejoined:
        return rejoined[0] if rejoined else None
    return leader


def _hash_map_order(names: Sequence[str]) -> list[str]:
    """Keys as a HashMap that was filled in this order gives them back."""
    hashes = np.array([hash_code(name) for name in names], dtype=np.int32)
    return [names[i] for i in put_order(hashes, _DEFAULT_CAPACITY).tolist()] if len(names) else []
