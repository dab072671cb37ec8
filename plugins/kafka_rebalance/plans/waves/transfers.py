"""What moves, as arrays: E partitions that copy replicas, C copies in all. The input of waves and of slot filling."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import Flags, Floats, Ints, Longs


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Transfers:
    """``source`` int32[E] the leader that is read from; ``size`` float64[E] bytes of one copy; ``rate`` float64[E]
    what is written to it meanwhile; ``target`` int32[C] receivers, those of e are ``target[begin[e]:begin[e + 1]]``;
    ``dropped`` int32[G] with ``dropped_begin``: brokers that lose a replica afterwards, of ``dropped_size`` bytes.
    """

    source: Ints
    size: Floats
    rate: Floats
    target: Ints
    begin: Longs
    dropped: Ints
    dropped_size: Floats
    dropped_begin: Longs

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
        )  # fmt: skip


def transfers_of(
    *, source: Ints, size: Floats, rate: Floats, targets: Ints, is_new: Flags, sources: Ints, is_dropped: Flags,
    own_size: Floats,
) -> Transfers:  # fmt: skip
    """From rows: ``targets`` int32[E, W] with flags of new copies, ``sources`` int32[E, W] with flags of what goes and
    ``own_size`` float64[E, W]. Unknown sizes and rates count as 0 here.
    """
    return Transfers(
        source=source,
        size=np.nan_to_num(size),
        rate=np.nan_to_num(rate),
        target=targets[is_new],
        begin=_begins(is_new),
        dropped=sources[is_dropped],
        dropped_size=np.nan_to_num(own_size[is_dropped]),
        dropped_begin=_begins(is_dropped),
    )


def _begins(flags: Flags) -> Longs:
    return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(flags.sum(axis=1), dtype=np.int64)))


def _cells(begin: Longs, members: Longs) -> tuple[Longs, Longs]:
    """Indices of the cells of ``members`` in order, and where each begins."""
    counts = np.diff(begin)[members]
    starts = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(counts)))
    cells = np.arange(starts[-1]) + np.repeat(begin[members] - starts[:-1], counts)
    return cells, starts
