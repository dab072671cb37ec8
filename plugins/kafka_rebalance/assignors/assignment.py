"""What a strategy answers: for each member its partitions, in the order in which the real class lists them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import Flags, Ints, Longs


@dataclass(frozen=True, slots=True, eq=False)
class Withheld:
    """Partitions that nobody gets in this round, because their old owner must give them up first (cooperative).

    ``topics``, ``partitions``, ``members`` int32[K]: partition k goes to member ``members[k]`` in the next round,
    if nothing changes meanwhile.
    """

    topics: Ints
    partitions: Ints
    members: Ints

    @classmethod
    def nothing(cls) -> Withheld:
        """An eager strategy withholds nothing."""
        return _NOTHING

    def __len__(self) -> int:
        return len(self.topics)


_NONE = np.zeros(0, dtype=np.int32)
_NONE.setflags(write=False)
_NOTHING = Withheld(_NONE, _NONE, _NONE)


@dataclass(frozen=True, slots=True, eq=False)
class StickyNotes:
    """What a sticky strategy remembers of its run.

    ``moved_topics``, ``moved_from``, ``moved_to`` int32[K]: movements recorded while balancing (general way only).
    ``max_generation_after``: ``None`` before 3.0, which remembers nothing from call to call.
    """

    is_constrained: bool
    max_generation_after: int | None
    moved_topics: Ints
    moved_from: Ints
    moved_to: Ints

    @classmethod
    def of_way(cls, *, is_constrained: bool) -> StickyNotes:
        """Which way was gone, by a release (2.5.1 to 2.8.2) of which nothing else is known."""
        nothing = np.zeros(0, dtype=np.int32)
        return cls(is_constrained, None, nothing, nothing, nothing)

    @property
    def is_sticky(self) -> bool:
        """Kafka's own verdict: no topic moved from one member to another and also back between the same two."""
        moves = set(zip(self.moved_topics.tolist(), self.moved_from.tolist(), self.moved_to.tolist(), strict=True))
        return not any((topic, target, source) in moves for topic, source, target in moves if source != target)


@dataclass(frozen=True, slots=True, eq=False)
class Assignment:
    """M lists: member i reads ``topics[k]``-``partitions[k]`` for k in ``offsets[i]:offsets[i+1]``, in this order.

    ``offsets`` int64[M+1], ``topics`` and ``partitions`` int32[N]; members and topics as indexed in the request.
    ``has_entry`` bool[M]: members that appear in the answer at all (``None``: all of them). ``varies``: the client
    itself answers this group otherwise from run to run; this is one of its answers, and its sizes are stable.
    ``target``: what a client aims at that does more in its second step than withhold.
    """

    offsets: Longs
    topics: Ints
    partitions: Ints
    withheld: Withheld
    notes: StickyNotes | None = None
    has_entry: Flags | None = None
    varies: bool = False
    target: Assignment | None = None

    @classmethod
    def of(cls, offsets: Longs, topics: Ints, partitions: Ints) -> Assignment:
        """An eager answer in which every member appears."""
        return cls(offsets, topics, partitions, Withheld.nothing())

    @classmethod
    def of_nothing(cls, member_count: int, notes: StickyNotes | None = None) -> Assignment:
        """All members appear, and there is no partition to give."""
        return cls(np.zeros(member_count + 1, dtype=np.int64), _NONE, _NONE, Withheld.nothing(), notes)

    @property
    def counts(self) -> Longs:
        """int64[M]: partitions of each member."""
        return np.diff(self.offsets)

    def of_member(self, member: int) -> list[tuple[int, int]]:
        """(topic index, partition) of one member, in order."""
        span = slice(int(self.offsets[member]), int(self.offsets[member + 1]))
        return list(zip(self.topics[span].tolist(), self.partitions[span].tolist(), strict=True))
