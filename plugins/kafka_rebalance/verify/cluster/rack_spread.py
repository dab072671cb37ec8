"""Are a partition's replicas spread over racks as evenly as the racks allow?"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kafka_rebalance.verify.cluster.arrays import ClusterArrays, Flags, Ints

Longs = npt.NDArray[np.int64]

_MANY = 2**31


def distinct_racks(cluster: ClusterArrays, placement: Ints) -> Longs:
    """int64[M]: racks that a placement int32[M, W] uses; -1 is padding."""
    racks = np.where(placement >= 0, cluster.rack[placement], -1)
    racks.sort(axis=1)
    is_new = np.ones(racks.shape, dtype=np.bool_)
    is_new[:, 1:] = racks[:, 1:] != racks[:, :-1]
    return np.asarray((is_new & (racks >= 0)).sum(axis=1))


def is_spread_evenly(cluster: ClusterArrays, row: Longs, placement: Ints) -> Flags:
    """bool[M]: every replica on a rack of its own, or none could go to a rack that holds two fewer.

    ``placement`` int32[M, W] of the partitions ``row`` int64[M]: what must leave a broker cannot come back to it.
    """
    even = distinct_racks(cluster, placement) == (placement >= 0).sum(axis=1)
    rest = np.flatnonzero(~even)
    if len(rest):
        even[rest] = _evens_out(cluster, row[rest], placement[rest])
    return np.asarray(even)


def _evens_out(cluster: ClusterArrays, row: Longs, placement: Ints) -> Flags:
    """The long way, for the few that share a rack: counts per rack against racks that could still take one."""
    rack_count = int(cluster.rack.max(initial=0)) + 1
    held = _count_by_rack(cluster.rack, placement, placement >= 0, rack_count)
    closed = (placement >= 0) & cluster.takes_replicas[placement] & ~cluster.is_outside(row, placement)
    occupied = _count_by_rack(cluster.rack, placement, closed, rack_count)
    now = cluster.now[row]
    is_here = (now[:, :, None] == placement[:, None, :]).any(axis=2)
    barred = cluster.must_leave[row] & (now >= 0) & cluster.takes_replicas[now] & ~is_here
    occupied += _count_by_rack(cluster.rack, now, barred & ~cluster.is_outside(row, now), rack_count)
    open_in = np.stack(
        [
            np.bincount(cluster.rack, weights=cluster.takes_replicas & may, minlength=rack_count)
            for may in cluster.may_be_on
        ]
    )[cluster.place_rule[row]]
    emptiest = np.where(occupied < open_in, held, _MANY).min(axis=1)
    return np.asarray(held.max(axis=1) <= emptiest + 1)


def _count_by_rack(rack: Ints, placement: Ints, is_counted: Flags, rack_count: int) -> Longs:
    """int64[M, racks]: cells of ``placement`` that are counted, by their broker's rack."""
    counts = np.zeros((len(placement), rack_count), dtype=np.int64)
    line = np.repeat(np.arange(len(placement)), is_counted.sum(axis=1))
    np.add.at(counts, (line, rack[placement[is_counted]]), 1)
    return counts
