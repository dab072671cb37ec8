"""Shares where a broker holds one replica of a partition at most: brokers, not racks, rise like water.

A piece is the load of one replica of all partitions of one replication factor. A set of brokers can hold, of each
piece, one a broker up to what racks hold anyway, and one more in as many of its racks as there are odd replicas. All
rise together until some set is over-full; its brokers stop, the rest rises on. Which set is over-full is seen rack by
rack, for the odd replicas of a piece are either all held or held by each rack: both are tried, for every piece.

Example: one rack, disks of 10, 1 and 1, RF 2, a piece of 30: at level 3 the large one holds its 30 and stops, the
others rise to 15.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain, combinations

import numpy as np
import numpy.typing as npt

from kafka_rebalance.verify.cluster.arrays import Flags, Floats
from kafka_rebalance.verify.cluster.rack_counts import rack_counts

_STEPS = 80
_TIGHT = 1e-9
Longs = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """``weight`` of one replica; ``everywhere`` int64[K] held by each rack anyway, ``odd`` ones in one rack each."""

    weight: float
    everywhere: Longs
    odd: int


def pieces_of(rack: Longs, weight_of: Mapping[int, float]) -> list[Piece]:
    """Of the brokers' racks int64[B] (from 0), and the load of one replica by replication factor."""
    brokers_in = np.bincount(rack).astype(np.int64)
    return [Piece(weight, *rack_counts(rf, brokers_in)) for rf, weight in weight_of.items() if weight > 0]


def filled(share: Floats, capacity: Floats, rack: Longs, pieces: list[Piece]) -> Floats:
    """``share`` float64[B] where it can be held, else the most even one: per ``capacity`` float64[B] above 0."""
    total = float(share.sum())
    if _overfull(share, rack, pieces)[0] <= _TIGHT * total:
        return share
    risen = np.zeros(len(share))
    stopped = np.zeros(len(share), dtype=np.bool_)
    while not stopped.all():
        low, high = 0.0, total / float(capacity[~stopped].min())
        for _ in range(_STEPS):
            middle = (low + high) / 2
            over, _ = _overfull(np.where(stopped, risen, middle * capacity), rack, pieces)
            low, high = (middle, high) if over <= _TIGHT * 1e-3 * total else (low, middle)
        _, members = _overfull(np.where(stopped, risen, (high + _TIGHT * high) * capacity), rack, pieces)
        stops = members & ~stopped
        if not stops.any():
            stops = ~stopped
        left = _can_hold(members | stops, rack, pieces) - float(risen[stopped & members].sum())
        risen[stops] = left / float(capacity[stops].sum()) * capacity[stops]
        stopped |= stops
    return risen


def _overfull(held: Floats, rack: Longs, pieces: list[Piece]) -> tuple[float, Flags]:
    """By how much some set holds more than it can, at most, and that set: bool[B]."""
    order = np.lexsort((-held, rack))
    inverse = np.empty(len(order), dtype=np.int64)
    inverse[order] = np.arange(len(order))
    racks, held = rack[order], held[order]
    depth = _depth(racks)
    begins = np.flatnonzero(depth == 0)
    worst, found = 0.0, np.zeros(len(held), dtype=np.bool_)
    for whole in _choices(pieces):
        adds, fixed = _adds(racks, depth, pieces, whole)
        sums = np.cumsum(held - adds)
        sums -= (sums - (held - adds))[begins][racks]
        most = np.maximum.reduceat(sums, begins)
        over = float(np.maximum(most, 0.0).sum()) - fixed
        if over > worst:
            last = np.minimum.reduceat(np.where((sums == most[racks]) & (sums > 0), depth, len(held)), begins)
            worst, found = over, (depth <= np.where(most > 0, last, -1)[racks])[inverse]
    return worst, found


def _can_hold(members: Flags, rack: Longs, pieces: list[Piece]) -> float:
    inside = np.sort(rack[members])
    depth = _depth(inside)
    sums = (_adds(inside, depth, pieces, whole) for whole in _choices(pieces))
    return min(float(adds.sum()) + fixed for adds, fixed in sums)


def _depth(rack: Longs) -> Longs:
    """int64[B]: how many brokers of the same rack come before, ``rack`` ascending."""
    return np.asarray(np.arange(len(rack)) - np.searchsorted(rack, rack))


def _choices(pieces: list[Piece]) -> list[tuple[int, ...]]:
    """Every choice of pieces whose odd replicas are taken to be all held."""
    some = [at for at, piece in enumerate(pieces) if piece.odd]
    return list(chain.from_iterable(combinations(some, count) for count in range(len(some) + 1)))


def _adds(rack: Longs, depth: Longs, pieces: list[Piece], whole: tuple[int, ...]) -> tuple[Floats, float]:
    """float64[B]: what each broker adds to those before it in its rack; and what is taken to be held whoever it is."""
    adds, fixed = np.zeros(len(rack)), 0.0
    for at, piece in enumerate(pieces):
        if at in whole:
            fixed += piece.weight * piece.odd
        limit = piece.everywhere[rack] + (1 if piece.odd and at not in whole else 0)
        adds += piece.weight * (depth < limit)
    return adds, fixed
