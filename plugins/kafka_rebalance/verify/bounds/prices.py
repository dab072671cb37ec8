"""A bound from prices that the planner states and that need no trust (weak duality).

For prices π (bytes per unit of load: positive where a broker is above its band, negative where it is below), every
placement that meets the bands costs at least

    Σ over partitions of min over placements (bytes copied + Σ π · load placed) − Σ π⁺ · high + Σ π⁻ · low

whatever the prices are: bad ones only make the bound weak. The inner minimum is exact: replicas on distinct racks where
racks suffice, on distinct brokers else and where a topic may be on some brokers alone, one of them the leader. A
leader's rack takes the place of the replica chosen in that rack, else of the dearest one chosen. Covers (``covers.py``)
make single replicas dearer where they are; then no broker undercuts another.

What float64 may have added up wrongly is taken off: however large prices are, rounding proves nothing.

Complexity: O(P · N · D) for the N brokers that none of their rack undercuts, a slice of partitions at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.verify.bounds.counting import touchable
from kafka_rebalance.verify.bounds.covers import Surcharge
from kafka_rebalance.verify.cluster.arrays import ClusterArrays, Flags, Floats, Ints
from kafka_rebalance.verify.cluster.resource_bands import Band, wanted_rf
from kafka_rebalance.verify.cluster.resource_weights import Longs, weights_of

_SLICE = 8192
# Of all that is added up, sums of a million products are right to this share.
_ROUNDING = 1e-12
Sides = tuple[Floats, Floats]


@dataclass(frozen=True, slots=True, eq=False)
class Charges:
    """What is counted: each new copy ``copy`` float64[P], and each of its bytes ``receiving`` float64[B] where it goes.

    Bytes: a copy counts its size. Moves: 1. Time: its size times what its sender counts, and ``receiving``. Another
    leader than today's counts ``leader_change``.
    """

    copy: Floats
    receiving: Floats
    leader_change: float = 0.0


def price_bound(
    cluster: ClusterArrays,
    parameters: PlanOptions,
    bands: Mapping[str, Band],
    prices: Mapping[str, Floats],
    charges: Charges | None = None,
    dearer: Sequence[Surcharge] = (),
) -> float:
    """The bound that ``prices`` (float64[B] by resource), and what covers make ``dearer``, prove of what ``charges``
    count, bytes where None; without prices, what any balance must copy.
    """
    # What is lost on a broker that is gone stays there: at a price it would prove anything.
    prices = {name: np.where(cluster.stays, by_broker, 0.0) for name, by_broker in prices.items()}
    names = [name for name in prices if name in bands and np.any(prices[name])]
    rf = wanted_rf(cluster, parameters)
    free = touchable(cluster, rf)
    size = np.nan_to_num(cluster.size)
    if charges is None:
        charges = Charges(size, np.zeros(len(cluster.ids)))
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
    may_lead = cluster.keeps_leaders | cluster.takes_leaders
    targets = np.flatnonzero(cluster.takes_replicas)
    if not dearer:
        asked = np.column_stack([price, charges.receiving])
        targets = _cheapest_of_racks(cluster, asked, may_lead, int(rf.max(initial=1)))
    total += sum(charge.constant for charge in dearer)
    disk_price = prices["disk"] if "disk" in names else np.zeros(len(cluster.ids))
    # Of resources that have a price somewhere, or where changes count.
    has_leaders = bool(np.any(per_leader[free])) or charges.leader_change > 0
    for rows in _slices(np.flatnonzero(free)):
        now = cluster.now[rows]
        new = charges.copy[rows, None] + per_replica[rows] @ price[targets].T
        new += size[rows, None] * charges.receiving[targets]
        new[~cluster.may_be_on[cluster.place_rule[rows]][:, targets]] = np.inf
        kept = np.zeros(now.shape)
        for d in range(len(names)):
            kept += price[now, d] * per_replica[rows, d][:, None]
        kept += disk_price[now] * (own_bytes[rows] - size[rows, None])
        for charge in dearer:
            _add(charge, rows, now, targets, (new, kept))
        leading = None
        if has_leaders:
            beside = per_leader[rows] @ price.T
            new_leads = np.where(may_lead[targets], new + beside[:, targets] + charges.leader_change, np.inf)
            is_today = now == cluster.leader[rows, None]
            stays_led = kept + np.take_along_axis(beside, np.maximum(now, 0), 1)
            stays_led += np.where(is_today, 0.0, charges.leader_change)
            leading = (new_leads, np.where(may_lead[now] | is_today, stays_led, np.inf))
        total += _cheapest_placements(cluster, rows, rf[rows], targets, (new, kept), leading)
    return total - _rounding(prices, names, per_replica, per_leader, rf, bands, dearer)


def _add(charge: Surcharge, rows: Longs, now: Ints, targets: Longs, sides: Sides) -> None:
    """To copies on the cover's broker, float64[M, targets], and to replicas that stay there, float64[M, W]."""
    new, kept = sides
    place, amount = charge.of_slice(rows)
    for column in np.flatnonzero(targets == charge.broker).tolist():
        new[place, column] += amount
    at, j = np.nonzero(now[place] == charge.broker)
    kept[place[at], j] += amount[at]


def _rounding(
    prices: Mapping[str, Floats],
    names: Sequence[str],
    per_replica: Floats,
    per_leader: Floats,
    rf: Longs,
    bands: Mapping[str, Band],
    dearer: Sequence[Surcharge],
) -> float:
    """More than what sums of products at these prices may be wrong by: a share of all that is added up."""
    carried = per_replica * rf[:, None] + per_leader
    added = sum(float(np.abs(charge.amount).sum()) + abs(charge.constant) for charge in dearer)
    for d, name in enumerate(names):
        added += float(np.abs(prices[name]).max(initial=0.0) * carried[:, d].sum())
        added += abs(_limits_at(np.abs(prices[name]), bands[name]))
    return _ROUNDING * added


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


def _cheapest_of_racks(cluster: ClusterArrays, price: Floats, may_lead: Flags, most_replicas: int) -> Longs:
    """Receivers worth asking: without those that another of their rack undercuts in every resource. Whoever may lead is
    undercut only by such as may.

    All of them where some partition needs a second broker of a rack, or may be on some brokers alone.
    """
    receivers = np.flatnonzero(cluster.takes_replicas)
    if most_replicas > len(np.unique(cluster.rack[receivers])) or len(cluster.may_be_on) > 1:
        return receivers
    chosen = np.ones(len(receivers), dtype=np.bool_)
    asked = np.column_stack([price, ~may_lead])
    for rack in np.unique(cluster.rack[receivers]):
        inside = np.flatnonzero(cluster.rack[receivers] == rack)
        mine = np.unique(asked[receivers[inside]], axis=0, return_index=True)
        for values, first in zip(mine[0], mine[1], strict=True):
            below = (mine[0] <= values).all(axis=1)
            chosen[inside[first]] = below.sum() == 1
        chosen[np.setdiff1d(inside, inside[mine[1]])] = False
    return receivers[chosen]


def _cheapest_placements(
    cluster: ClusterArrays, rows: Longs, rf: Longs, targets: Longs, replica: Sides, leading: Sides | None
) -> float:
    """Σ over ``rows`` of the cheapest allowed replica set, led by one of it.

    ``replica`` and ``leading``: what a copy on each of ``targets`` costs, float64[M, targets], and a replica that stays
    where it is, float64[M, W].
    """
    now = cluster.now[rows]
    stays = (now >= 0) & cluster.stays[now] & ~cluster.must_leave[rows]
    total = 0.0
    racks_open = len(np.unique(cluster.rack[cluster.takes_replicas]))
    brokers = np.arange(len(cluster.ids), dtype=np.int32)
    for by_rack in (True, False):
        chosen = np.flatnonzero(((rf <= racks_open) & (cluster.place_rule[rows] == 0)) == by_rack)
        if len(chosen):
            group = cluster.rack if by_rack else brokers
            tables = []
            for new, kept in (replica,) if leading is None else (replica, leading):
                options = np.full((len(chosen), int(group.max()) + 1), np.inf)
                for column, broker in enumerate(targets.tolist()):
                    place = options[:, group[broker]]
                    np.minimum(place, new[chosen, column], out=place)
                for j in range(now.shape[1]):
                    at = (np.arange(len(chosen)), group[now[chosen, j]])
                    options[at] = np.minimum(options[at], np.where(stays, kept, np.inf)[chosen, j])
                tables.append(options)
            total += _smallest(tables[0], None if leading is None else tables[1], rf[chosen])
    return total


def _smallest(options: Floats, leads: Floats | None, count: Longs) -> float:
    """Σ over rows of the ``count`` smallest options, one of them given up for what leading costs there or elsewhere.

    What is not possible at all counts nothing.
    """
    most = min(int(count.max()), options.shape[1])
    least = np.sort(np.partition(options, most - 1, axis=1)[:, :most], axis=1)
    wanted = (np.arange(most)[None, :] < count[:, None]) & np.isfinite(least)
    total = float(least[wanted].sum())
    if leads is not None:
        last = np.take_along_axis(least, (np.minimum(count, most) - 1)[:, None], 1)
        lawful = np.isfinite(last[:, 0]) & np.isfinite(leads).any(axis=1)
        given_up = np.minimum(options, last)[lawful]
        total += float((leads[lawful] - given_up).min(axis=1).sum())
    return total
