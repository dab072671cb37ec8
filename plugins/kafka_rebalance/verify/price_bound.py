"""A bound from prices that the planner names and nobody has to believe (weak duality).

For prices π (bytes per unit of load: positive where a broker is above its band, negative where it is below), every
placement that meets the bands costs at least

    Σ over partitions of min over placements (bytes copied + Σ π · load placed) − Σ π⁺ · high + Σ π⁻ · low

whatever the prices are: bad ones only make the bound weak. The inner minimum is exact but for the leader, who is
chosen apart: replicas on distinct racks where racks suffice, on distinct brokers else.

Complexity: O(P · B · D) in matrix products, a slice of partitions at a time.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kafka_rebalance.verify.cluster_arrays import ClusterArrays, Flags, Floats, Ints
from kafka_rebalance.verify.resource_bands import Band, Longs, wanted_rf, weights_of
from kafka_rebalance.verify.wishes import Wishes

_SLICE = 2048


def price_bound(
    cluster: ClusterArrays, wishes: Wishes, bands: Mapping[str, Band], prices: Mapping[str, Floats]
) -> float:
    """The bound on bytes that ``prices`` (float64[B] by resource) prove."""
    names = [name for name in prices if name in bands and np.any(prices[name])]
    free = ~(cluster.excluded | cluster.in_flight | cluster.leaderless)
    rf = wanted_rf(cluster, wishes)
    size = np.nan_to_num(cluster.size)
    own_bytes = np.where(np.isnan(cluster.own_bytes), size[:, None], cluster.own_bytes)
    per_replica, per_leader = np.zeros((len(rf), len(names))), np.zeros((len(rf), len(names)))
    price = np.zeros((len(cluster.ids), len(names)))
    total = 0.0
    for d, name in enumerate(names):
        price[:, d] = prices[name]
        per_replica[:, d], per_leader[:, d] = weights_of(name, rf, cluster)
        total -= _limits_at(prices[name], bands[name])
        cells = own_bytes if name == "disk" else np.repeat(per_replica[:, d : d + 1], cluster.now.shape[1], axis=1)
        total += float((_left_alone(cells, per_leader[:, d], cluster, free) * prices[name]).sum())
    disk_price = prices["disk"] if "disk" in names else np.zeros(len(cluster.ids))
    for rows in _slices(np.flatnonzero(free)):
        new = size[rows, None] + per_replica[rows] @ price.T
        kept = (per_replica[rows] @ price.T)[np.arange(len(rows))[:, None], np.maximum(cluster.now[rows], 0)]
        kept += disk_price[cluster.now[rows]] * (own_bytes[rows] - size[rows, None])
        total += _cheapest_placements(cluster, rows, rf[rows], new, kept)
    may_lead = cluster.keeps_leaders | cluster.takes_leaders
    return total + _cheapest_leaders(per_leader[free], price[may_lead])


def _slices(rows: Longs) -> list[Longs]:
    return [rows[begin : begin + _SLICE] for begin in range(0, len(rows), _SLICE)]


def _limits_at(price: Floats, band: Band) -> float:
    above, below = price > 0, price < 0
    return float((price[above] * band.high[above]).sum() + (price[below] * band.low[below]).sum())


def _left_alone(cells: Floats, per_leader: Floats, cluster: ClusterArrays, free: Flags) -> Floats:
    """float64[B]: what partitions that nobody may touch put on each broker."""
    there = (cluster.now >= 0) & ~free[:, None]
    load = np.bincount(cluster.now[there], weights=cells[there], minlength=len(cluster.ids)).astype(np.float64)
    led = (cluster.leader >= 0) & ~free
    load += np.bincount(cluster.leader[led], weights=per_leader[led], minlength=len(cluster.ids))
    return load


def _cheapest_placements(cluster: ClusterArrays, rows: Longs, rf: Longs, new: Floats, kept: Floats) -> float:
    """Σ over ``rows`` of the cheapest allowed replica set, at ``new`` float64[M, B] for a copy on a broker and ``kept``
    float64[M, W] for a replica that stays where it is.
    """
    now = cluster.now[rows]
    cost = np.where(cluster.takes_replicas[None, :], new, np.inf)
    row, column = np.nonzero(now >= 0)
    broker = now[row, column]
    stays = cluster.stays[broker] & ~cluster.must_leave[rows[row], column]
    cost[row, broker] = np.where(stays, kept[row, column], np.inf)
    total = 0.0
    racks_open = len(np.unique(cluster.rack[cluster.takes_replicas]))
    for by_rack in (True, False):
        chosen = (rf <= racks_open) == by_rack
        if chosen.any():
            options = _best_of_rack(cost[chosen], cluster.rack) if by_rack else cost[chosen]
            total += _smallest(options, rf[chosen])
    return total


def _best_of_rack(cost: Floats, rack: Ints) -> Floats:
    order = np.argsort(rack, kind="stable")
    begins = np.flatnonzero(np.diff(rack[order], prepend=-1))
    return np.asarray(np.minimum.reduceat(cost[:, order], begins, axis=1))


def _smallest(options: Floats, count: Longs) -> float:
    """Σ over rows of the ``count`` smallest options; what is not possible at all counts nothing."""
    most = min(int(count.max()), options.shape[1])
    least = np.sort(np.partition(options, most - 1, axis=1)[:, :most], axis=1)
    wanted = (np.arange(most)[None, :] < count[:, None]) & np.isfinite(least)
    return float(least[wanted].sum())


def _cheapest_leaders(per_leader: Floats, price: Floats) -> float:
    """Σ over partitions of the cheapest leader among all that may lead."""
    if per_leader.shape[1] == 0 or not np.any(price):
        return 0.0
    carried = per_leader[np.any(per_leader > 0, axis=1)]
    return sum(float((carried[rows] @ price.T).min(axis=1).sum()) for rows in _slices(np.arange(len(carried))))
