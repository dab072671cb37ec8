"""Are a partition's replicas spread over racks as evenly as the racks allow?"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kafka_rebalance.verify.cluster_arrays import ClusterArrays, Flags, Ints

_MANY = 2**31


def distinct_racks(cluster: ClusterArrays, placement: Ints) -> npt.NDArray[np.int64]:
    """int64[M]: racks that a placement int32[M, W] uses; -1 is padding."""
    racks = np.where(placement >= 0, cluster.rack[placement], -1)
    racks.sort(axis=1)
    is_new = np.ones(racks.shape, dtype=np.bool_)
    is_new[:, 1:] = racks[:, 1:] != racks[:, :-1]
    return np.asarray((is_new & (racks >= 0)).sum(axis=1))


def is_spread_evenly(cluster: ClusterArrays, placement: Ints) -> Flags:
    """bool[M]: every replica on a rack of its own, or none could go to a rack that holds two fewer."""
    even = distinct_racks(cluster, placement) == (placement >= 0).sum(axis=1)
    rest = np.flatnonzero(~even)
    if len(rest):
        even[rest] = _evens_out(cluster, placement[rest])
    return np.asarray(even)


def _evens_out(cluster: ClusterArrays, placement: Ints) -> Flags:
    """The long way, for the few that share a rack: counts per rack against racks that could still take one."""
    there = placement >= 0
    rack_count = int(cluster.rack.max(initial=0)) + 1
    row = np.repeat(np.arange(len(placement)), there.sum(axis=1))
    held = np.zeros((len(placement), rack_count), dtype=np.int64)
    taken = np.zeros_like(held)
    np.add.at(held, (row, cluster.rack[placement[there]]), 1)
    np.add.at(taken, (row, cluster.rack[placement[there]]), cluster.takes_replicas[placement[there]])
    open_in = np.bincount(cluster.rack, weights=cluster.takes_replicas, minlength=rack_count)
    emptiest = np.where(taken < open_in[None, :], held, _MANY).min(axis=1)
    return np.asarray(held.max(axis=1) <= emptiest + 1)
