"""A bound from prices that the planner states and that need no trust (weak duality).

For prices π (bytes per unit of load: positive where a broker is above its band, negative where it is below), every
placement that meets the bands costs at least

    Σ over partitions of min over placements (bytes copied + Σ π · load placed) − Σ π⁺ · high + Σ π⁻ · low

whatever the prices are: bad ones only make the bound weak. The inner minimum is exact but for the leader, who is
chosen apart: replicas on distinct racks where racks suffice, on distinct brokers else.

Complexity: O(P · N · D) for the N brokers that none of their rack undercuts, a slice of partitions at a time.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kafka_rebalance.verify.bounds.counting import touchable
from kafka_rebalance.verify.cluster.arrays import ClusterArrays, Flags, Floats
from kafka_rebalance.verify.cluster.resource_bands import Band, wanted_rf
from kafka_rebalance.verify.cluster.resource_weights import Longs, weights_of
from kafka_rebalance.verify.document.parameters import PlanParameters

_SLICE = 8192


def price_bound(
    cluster: ClusterArrays, parameters: PlanParameters, bands: Mapping[str, Band], prices: Mapping[str, Floats]
) -> float:
    """The bound on bytes that ``prices`` (float64[B] by resource) prove; with none, what any balance must copy."""
    names = [name for name in prices if name in bands and np.any(prices[name])]
    rf = wanted_rf(cluster, parameters)
    free = touchable(cluster, rf)
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
    targets = _cheapest_of_racks(cluster, price, int(rf.max(initial=1)))
    disk_price = prices["disk"] if "disk" in names else np.zeros(len(cluster.ids))
    for rows in _slices(np.flatnonzero(free)):
        new = size[rows, None] + per_replica[rows] @ price[targets].T
        kept = np.zeros(cluster.now[rows].shape)
        for d in range(len(names)):
            kept += price[cluster.now[rows], d] * per_replica[rows, d][:, None]
        kept += disk_price[cluster.now[rows]] * (own_bytes[rows] - size[rows, None])
        total += _cheapest_placements(cluster, rows, rf[rows], targets, new, kept)
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


def _cheapest_of_racks(cluster: ClusterArrays, price: Floats, most_replicas: int) -> Longs:
    """Receivers worth asking: without those that another of their rack undercuts in every resource.

    All of them where some partition needs a second broker of a rack.
    """
    receivers = np.flatnonzero(cluster.takes_replicas)
    if most_replicas > len(np.unique(cluster.rack[receivers])):
        return receivers
    chosen = np.ones(len(receivers), dtype=np.bool_)
    for rack in np.unique(cluster.rack[receivers]):
        inside = np.flatnonzero(cluster.rack[receivers] == rack)
        mine = np.unique(price[receivers[inside]], axis=0, return_index=True)
        for values, first in zip(mine[0], mine[1], strict=True):
            below = (mine[0] <= values).all(axis=1)
            chosen[inside[first]] = below.sum() == 1
        chosen[np.setdiff1d(inside, inside[mine[1]])] = False
    return receivers[chosen]


def _cheapest_placements(
    cluster: ClusterArrays, rows: Longs, rf: Longs, targets: Longs, new: Floats, kept: Floats
) -> float:
    """Σ over ``rows`` of the cheapest allowed replica set, at ``new`` float64[M, targets] for a copy on a broker and
    ``kept`` float64[M, W] for a replica that stays where it is.
    """
    now = cluster.now[rows]
    kept = np.where((now >= 0) & cluster.stays[now] & ~cluster.must_leave[rows], kept, np.inf)
    total = 0.0
    racks_open = len(np.unique(cluster.rack[cluster.takes_replicas]))
    brokers = np.arange(len(cluster.ids), dtype=np.int32)
    for by_rack in (True, False):
        chosen = np.flatnonzero((rf <= racks_open) == by_rack)
        if len(chosen):
            group = cluster.rack if by_rack else brokers
            options = np.full((len(chosen), int(group.max()) + 1), np.inf)
            for column, broker in enumerate(targets.tolist()):
                place = options[:, group[broker]]
                np.minimum(place, new[chosen, column], out=place)
            for j in range(now.shape[1]):
                at = (np.arange(len(chosen)), group[now[chosen, j]])
                options[at] = np.minimum(options[at], kept[chosen, j])
            total += _smallest(options, rf[chosen])
    return total


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
