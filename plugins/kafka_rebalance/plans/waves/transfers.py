"""What moves, as arrays: E partitions that copy replicas, C copies in all. The input of waves and of slot filling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kafka_rebalance.arrays import Flags, Floats, Ints, Longs


class LeaderShifts(NamedTuple):
    """int32[E]: the broker that stops leading each partition, and the one that begins to; -1: nobody does."""

    before: Ints
    after: Ints


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Transfers:
    """``source`` int32[E] the leader that is read from; ``size`` float64[E] bytes of one copy; ``rate`` float64[E]
    what is written to it meanwhile; ``target`` int32[C] receivers, those of e are ``target[begin[e]:begin[e + 1]]``;
    ``dropped`` int32[G] with ``dropped_begin``: brokers that lose a replica afterwards, of ``dropped_size`` bytes;
    ``leaders``: whose leadership changes with them.
    """

    source: Ints
    size: Floats
    rate: Floats
    target: Ints
    begin: Longs
    dropped: Ints
    dropped_size: Floats
    dropped_begin: Longs
    leaders: LeaderShifts

    def __len__(self) -> int:
        return len(self.source)

    @property
    def copies(self) -> Longs:
        """int64[E]: new replicas of each."""
        return np.diff(self.begin)

    @property
    def of_copy(self) -> Longs:
        """int64[C]: the transfer that each copy belongs to."""
        return np.repeat(np.arange(len(self), dtype=np.int64), self.copies)

    def chosen(self, members: Longs) -> Transfers:
        """Some of them, in the given order."""
        target, begin = _cells(self.begin, members)
        dropped, dropped_begin = _cells(self.dropped_begin, members)
        return Transfers(
            source=self.source[members], size=self.size[members], rate=self.rate[members],
            target=self.target[target], begin=begin, dropped=self.dropped[dropped],
            dropped_size=self.dropped_size[dropped], dropped_begin=dropped_begin,
            leaders=LeaderShifts(self.leaders.before[members], self.leaders.after[members]),
        )  # fmt: skip


class ReplicaCells(NamedTuple):
    """``brokers`` int32[E, W] of replica lists; bool[E, W]: which of them are meant."""

    brokers: Ints
    is_meant: Flags

    @property
    def begins(self) -> Longs:
        """int64[E+1]: where the brokers meant of each row begin."""
        return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(self.is_meant.sum(axis=1), dtype=np.int64)))

    @property
    def listed(self) -> Ints:
        """The brokers meant, row by row."""
        return self.brokers[self.is_meant]


def transfers_of(
    *,
    source: Ints,
    size: Floats,
    rate: Floats,
    new: ReplicaCells,
    dropped: ReplicaCells,
    own_size: Floats,
    leaders: LeaderShifts,
) -> Transfers:
    """From rows: new copies, and what goes with ``own_size`` float64[E, W]. Unknown sizes and rates count as 0 here."""
    return Transfers(
        source=source,
        size=np.nan_to_num(size),
        rate=np.nan_to_num(rate),
        target=new.listed,
        begin=new.begins,
        dropped=dropped.listed,
        dropped_size=np.nan_to_num(own_size[dropped.is_meant]),
        dropped_begin=dropped.begins,
        leaders=leaders,
    )


def _cells(begin: Longs, members: Longs) -> tuple[Longs, Longs]:
    """Indices of the cells of ``members`` in order, and where each begins."""
    counts = np.diff(begin)[members]
    starts = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(counts)))
    cells = np.arange(starts[-1]) + np.repeat(begin[members] - starts[:-1], counts)
    return cells, starts
