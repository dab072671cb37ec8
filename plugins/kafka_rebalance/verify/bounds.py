"""Checks of a plan's lower bounds: present, not above the cost, provable, at least simple counting.

**Counting** (``counting_bounds``)
1. A broker above its band loses load, cheapest by dropping replicas in the order of bytes per unit of load, the last
   one in part (fractional knapsack). Each is copied to another broker, so sums add up. A smaller replication factor
   drops replicas free; a larger one adds copies.
2. A broker below its disk band receives the deficit.
3. Everything on a removed broker is copied; of a partition's replicas on one rack, all but one move.
4. Unavoidable copies (removed broker, larger replication factor) are read from today's leader.
5. A broker with too many leaders changes one for each above its band.
Example: a broker holds replicas of 6, 3 and 1 GB and may hold 8 GB: at least 2 GB leave it.

**Prices** (``price_bound``) need no trust (weak duality). For prices π (bytes per unit of load: positive where a broker
is above its band, negative below), every placement inside the bands costs at least

    Σ over partitions of min over placements (bytes copied + Σ π · load placed) − Σ π⁺ · high + Σ π⁻ · low

The inner minimum is exact: one replica for each rack where racks suffice, else distinct brokers, also for topics with
allowed brokers; one replica leads, and its rack replaces the replica chosen there, else the dearest one. A rounding
error is subtracted.
Complexity: O(P · N · D) for N brokers not dominated within their rack; all brokers with covers.

**Covers** (``check_covers``) are sets S of replicas that do not fit on one broker together, with a ``surplus`` of
weight beyond its band's room:

    Σ over S of min(weight, surplus) · (1 - is there)  >=  surplus

Proof: an absent replica as heavy as the surplus is enough. Else the absent ones weigh at least the surplus, because the
rest must fit. At any price >= 0 the inequality may join the Lagrangian. S holds today's replicas that may stay, of
unpinned partitions, without ``gone``; and copies of ``come``. Leader loads do not count. A removed broker has no
covers.

**Moves and time** (``proved_costs``): every copy counts 1, and the bound is rounded up. Time: each byte counts a share
for its receiver and one for its sender, today's leader. The shares sum to 1, so the busiest broker, in or out, is at
least their mean.

**Evenness within a budget** (``check_within_budget``). Imbalance: load above or below the bands, the larger one, over
all load of the resource; summed over resources. Take prices π whose highest and lowest of a resource differ by at most
1 / (all load), and charges >= 0 for bytes, moves and leader changes. No plan within the budget is more even than

    Σ over partitions of min over placements (Σ π · load placed + charges)
    - Σ π⁺ · high + Σ π⁻ · low - Σ charge · budget

Prices farther apart are scaled. A time limit counts as the bytes that all receivers can get at the throttle. Example:
half of all load is above, one move may remove a quarter: 0.25 can be proved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kafka_rebalance.facts import BoundProof
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.verify.cluster import ClusterArrays, Flags, Floats, Ints, distinct_racks
from kafka_rebalance.verify.faults import FaultList
from kafka_rebalance.verify.loads import (
    OF_REPLICAS,
    Band,
    Levels,
    Longs,
    band_of,
    requested_band,
    target_factors,
    weights_of,
)
from kafka_rebalance.verify.verdict_rules import imbalance

_SLACK = 1e-9


def least_copied(
    cluster: ClusterArrays,
    parameters: PlanOptions,
    bands: Mapping[str, Band],
    before: Mapping[str, Floats],
    cost: Floats,
) -> float:
    """Return the least cost of copies; one new copy of partition p costs ``cost[p]`` (bytes, or 1 for moves)."""
    rf, now = target_factors(cluster, parameters), (cluster.now >= 0).sum(axis=1)
    free = touchable(cluster, rf)
    grown = float((cost * np.maximum(rf - now, 0))[free].sum())
    drop_cost = np.where(rf < now, 0.0, cost)
    is_replica = cluster.now >= 0
    row, column = np.nonzero(is_replica & free[:, None])
    broker = cluster.now[row, column]
    order = np.argsort(broker, kind="stable")
    begin = np.searchsorted(broker[order], np.arange(len(cluster.ids) + 1))
    counts = bool((cost == 1.0).all())
    out = _must_leave(cluster, row, column, broker, drop_cost)
    for name in OF_REPLICAS:
        if name in before:
            weight = _weight_of(name, rf, cluster)
            load = before[name]
            if name == "potential_out":  # changes with the replication factor, also without copies
                load = np.bincount(cluster.now[is_replica], weight[is_replica], len(cluster.ids)).astype(np.float64)
            weight = weight[row, column]
            excess = load - bands[name].high
            over = np.flatnonzero(excess > _SLACK * np.maximum(load, 1.0))
            for b in over.tolist():
                mine = order[begin[b] : begin[b + 1]]
                least = _cheapest(float(excess[b]), weight[mine], drop_cost[row[mine]])
                out[b] = max(out[b], np.ceil(least - 1e-6) if counts else least)
    lacking = _lacking(bands, before, cost)
    return max(grown + float(out.sum()), lacking, grown + _sharing_racks(cluster, free, rf, now, drop_cost))


def touchable(cluster: ClusterArrays, rf: Longs) -> Flags:
    """bool[P]: may move. One with an unknown load moves only if it must."""
    is_replica = cluster.now >= 0
    has_to = ((is_replica & ~cluster.stays[cluster.now]) | cluster.must_leave).any(axis=1) | (
        rf != is_replica.sum(axis=1)
    )
    has_to |= distinct_racks(cluster, cluster.now) < np.minimum(rf, racks_open(cluster))
    has_to |= (cluster.leader >= 0) & ~cluster.keeps_leaders[cluster.leader]
    left_alone = cluster.left_alone | (cluster.unknown & ~has_to)
    return np.asarray(~left_alone)


def racks_open(cluster: ClusterArrays) -> Longs:
    counts = [len(np.unique(cluster.rack[cluster.takes_replicas & may])) for may in cluster.may_be_on]
    return np.asarray(np.array(counts, dtype=np.int64)[cluster.place_rule])


def least_leader_changes(
    cluster: ClusterArrays, parameters: PlanOptions, bands: Mapping[str, Band], before: Mapping[str, Floats]
) -> float:
    """Return unavoidable leader changes: by count outside the band, by out-rate, off brokers that may not lead."""
    free = ~cluster.left_alone
    rows = np.flatnonzero(free)
    leader = cluster.leader[rows]
    must_stop = ~cluster.keeps_leaders[leader] & _has_other(cluster, rows)
    stop = np.bincount(leader[must_stop], minlength=len(cluster.ids)).astype(np.float64)
    if parameters.preferred_election:
        return float(stop.sum())
    stop = np.maximum(stop, np.ceil(before["leaders"] - bands["leaders"].high - 1e-6))
    if "out" in before:
        sends = _sent_if_none_changed(cluster, parameters)
        sent = weights_of("out", target_factors(cluster, parameters), cluster)[1][rows]
        excess = sends - bands["out"].high
        for b in np.flatnonzero(excess > _SLACK * np.maximum(sends, 1.0)).tolist():
            mine = leader == b
            stop[b] = max(stop[b], np.ceil(_cheapest(float(excess[b]), sent[mine], np.ones(mine.sum())) - 1e-6))
    stop = np.minimum(stop, np.bincount(leader, minlength=len(cluster.ids)))
    start = np.ceil(bands["leaders"].low - before["leaders"] - 1e-6)
    return float(max(np.maximum(stop, 0.0).sum(), np.maximum(start, 0.0).sum()))


def _sent_if_none_changed(cluster: ClusterArrays, parameters: PlanOptions) -> Floats:
    led = np.flatnonzero(cluster.leader >= 0)
    sent = weights_of("out", target_factors(cluster, parameters), cluster)[1][led]
    return np.bincount(cluster.leader[led], weights=sent, minlength=len(cluster.ids)).astype(np.float64)


def least_seconds(
    cluster: ClusterArrays, bands: Mapping[str, Band], before: Mapping[str, Floats], bytes_bound: float, throttle: float
) -> float:
    """All bytes arrive at receivers, and each broker receives its disk deficit."""
    receivers = max(int(cluster.takes_replicas.sum()), 1)
    lacking = 0.0
    if "disk" in before and "disk" in bands:
        lacking = float(np.maximum(bands["disk"].low - before["disk"], 0.0).max(initial=0.0))
    return max(bytes_bound / receivers, lacking) / throttle


def most_sent(cluster: ClusterArrays, parameters: PlanOptions) -> float:
    """Return the least bytes of the busiest sender: leaders replace replicas that may not stay."""
    if not parameters.moves_replicas:
        return 0.0
    rf = target_factors(cluster, parameters)
    may_stay = (cluster.now >= 0) & cluster.stays[cluster.now] & ~cluster.must_leave
    copies = np.maximum(rf - may_stay.sum(axis=1), 0)
    rows = np.flatnonzero(touchable(cluster, rf) & (cluster.leader >= 0))
    sent = (copies * np.nan_to_num(cluster.size))[rows]
    return float(np.bincount(cluster.leader[rows], weights=sent, minlength=1).max())


def _must_leave(cluster: ClusterArrays, row: Longs, column: Longs, broker: Ints, cost: Floats) -> Floats:
    forced = ~cluster.stays[broker] | cluster.must_leave[row, column]
    return np.bincount(broker[forced], weights=cost[row[forced]], minlength=len(cluster.ids)).astype(np.float64)


def _weight_of(name: str, rf: Longs, cluster: ClusterArrays) -> Floats:
    per_replica = weights_of(name, rf, cluster)[0][:, None]
    if name != "disk":
        return np.repeat(per_replica, cluster.now.shape[1], axis=1)
    return np.where(np.isnan(cluster.own_bytes), per_replica, cluster.own_bytes)


def _cheapest(needed: float, weight: Floats, cost: Floats) -> float:
    useful = weight > 0
    weight, cost = weight[useful], cost[useful]
    order = np.argsort(cost / weight, kind="stable")
    weight, cost = weight[order], cost[order]
    reached = np.cumsum(weight)
    last = int(np.searchsorted(reached, needed))
    if last >= len(weight):
        return float(cost.sum())
    before = float(reached[last] - weight[last])
    return float(cost[:last].sum() + cost[last] * (needed - before) / weight[last])


def _lacking(bands: Mapping[str, Band], before: Mapping[str, Floats], cost: Floats) -> float:
    name = "replicas" if bool((cost == 1.0).all()) else "disk"
    if name not in before:
        return 0.0
    lack = np.maximum(bands[name].low - before[name], 0.0)
    return float(np.ceil(lack - 1e-6).clip(0).sum()) if name == "replicas" else float(lack.sum())


def _sharing_racks(cluster: ClusterArrays, free: Flags, rf: Longs, now: Longs, drop_cost: Floats) -> float:
    open_racks = len(np.unique(cluster.rack[cluster.takes_replicas]))
    used = distinct_racks(cluster, cluster.now)
    lacking = np.maximum(np.minimum(rf, open_racks) - used - np.maximum(rf - now, 0), 0)
    return float((lacking * drop_cost)[free & (cluster.place_rule == 0)].sum())


def _has_other(cluster: ClusterArrays, rows: Longs) -> Flags:
    now = cluster.now[rows]
    return np.asarray(((now >= 0) & cluster.takes_leaders[now] & ~cluster.must_leave[rows]).any(axis=1))


# Rounding: this share of a set's weight is no surplus.
_COVER_ROUNDING = 1e-8
_GREATEST = 1e300


Cover = Mapping[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Surcharge:
    """One cover: ``amount`` float64[n] for a replica of ``row`` int64[n] (sorted) on ``broker``, and
    ``constant`` once.
    """

    broker: int
    row: Longs
    amount: Floats
    constant: float

    def of_slice(self, rows: Longs) -> tuple[Longs, Floats]:
        position = np.minimum(np.searchsorted(rows, self.row), len(rows) - 1)
        is_in_rows = rows[position] == self.row
        return position[is_in_rows], self.amount[is_in_rows]


def surcharges_of(
    covers: Sequence[Cover], bands: Mapping[str, Band], cluster: ClusterArrays, parameters: PlanOptions
) -> list[Surcharge]:
    """Return covers with a surplus; ``check_covers`` reports unknown ids."""
    charges = []
    for cover in covers:
        name, broker = cover["resource"], cluster.index_of.get(cover["broker"])
        if name in bands and broker is not None and cluster.stays[broker] and cover["price"] > 0:
            highest = float(bands[name].high[broker])
            charge = _surcharge(cover, broker, highest, cluster, parameters)
            charges += [] if charge is None else [charge]
    return charges


def check_covers(
    covers: Sequence[Cover], location: str, resources: Sequence[str], cluster: ClusterArrays, faults: FaultList
) -> None:
    """The bound holds for any set; its ids must exist, once, at a price."""
    for number, cover in enumerate(covers):
        if cover["broker"] not in cluster.index_of or cover["resource"] not in resources or not cover["price"] > 0:
            faults.add("certificate", f"{location}[{number}]", "is of no broker or balanced resource, or has no price")
        gone, come = rows_named(cover["gone"], cluster), rows_named(cover["come"], cluster)
        named = sum(map(len, [*cover["gone"].values(), *cover["come"].values()]))
        if len(np.union1d(gone, come)) < named:
            faults.add("certificate", f"{location}[{number}]", "names a partition that is not there, or one twice")


def rows_named(named: Mapping[str, Sequence[int]], cluster: ClusterArrays) -> Longs:
    parts = [np.zeros(0, dtype=np.int64)]
    for topic, numbers in named.items():
        if topic in cluster.topic_names:
            rows = np.flatnonzero(cluster.topic == cluster.topic_names.index(topic))
            parts.append(rows[np.isin(cluster.partition[rows], numbers)])
    return np.sort(np.concatenate(parts))


def _surcharge(
    cover: Cover, broker: int, highest: float, cluster: ClusterArrays, parameters: PlanOptions
) -> Surcharge | None:
    name, rf = cover["resource"], target_factors(cluster, parameters)
    free = touchable(cluster, rf)
    per_replica, per_leader = weights_of(name, rf, cluster)
    weight, own = per_replica.copy(), _own(name, per_replica, cluster)
    is_on_broker = cluster.now == broker
    stays = (is_on_broker & ~cluster.must_leave).any(axis=1) & cluster.stays[broker] & free
    weight[stays] = own[stays][is_on_broker[stays]]
    is_in = stays.copy()
    is_in[rows_named(cover["gone"], cluster)] = False
    is_in[rows_named(cover["come"], cluster)] = True
    row = np.flatnonzero(is_in & free & (weight > 0))
    surplus = (
        float(weight[row].sum()) * (1 - _COVER_ROUNDING) + _left_there(own, per_leader, broker, free, cluster) - highest
    )
    if not 0 < surplus < np.inf:
        return None
    counted = np.minimum(weight[row], surplus)
    price, total = float(cover["price"]), float(counted.sum())
    if price * total > _GREATEST:
        return None
    return Surcharge(broker, row, price * counted, price * (surplus - total))


def _own(name: str, per_replica: Floats, cluster: ClusterArrays) -> Floats:
    weight = np.repeat(per_replica[:, None], cluster.now.shape[1], axis=1)
    return np.where(np.isnan(cluster.own_bytes), weight, cluster.own_bytes) if name == "disk" else weight


def _left_there(own: Floats, per_leader: Floats, broker: int, free: Flags, cluster: ClusterArrays) -> float:
    is_fixed_there = (cluster.now == broker) & ~free[:, None]
    return float(own[is_fixed_there].sum() + per_leader[(cluster.leader == broker) & ~free].sum())


_SLICE = 8192
# Relative error of a sum of a million products.
_PRICE_ROUNDING = 1e-12
Sides = tuple[Floats, Floats]


@dataclass(frozen=True, slots=True, eq=False)
class Charges:
    """Cost of each new copy ``copy`` float64[P], and of each byte ``receiving`` float64[B] at its target.

    Bytes: a copy's size. Moves: 1. Time: its size times the sender's share, and ``receiving``. A new leader:
    ``leader_change``.
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
    """Return the bound on ``charges`` (None: bytes) by ``prices`` (float64[B] by resource) and covers (``dearer``).

    Without prices: the copies of any balance.
    """
    # Load on a lost broker stays there: its price would prove anything.
    prices = {name: np.where(cluster.stays, by_broker, 0.0) for name, by_broker in prices.items()}
    names = [name for name in prices if name in bands and np.any(prices[name])]
    rf = target_factors(cluster, parameters)
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
        costs = np.column_stack([price, charges.receiving])
        targets = _cheapest_of_racks(cluster, costs, may_lead, int(rf.max(initial=1)))
    total += sum(charge.constant for charge in dearer)
    disk_price = prices["disk"] if "disk" in names else np.zeros(len(cluster.ids))
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
    new, kept = sides
    position, amount = charge.of_slice(rows)
    for column in np.flatnonzero(targets == charge.broker).tolist():
        new[position, column] += amount
    at, j = np.nonzero(now[position] == charge.broker)
    kept[position[at], j] += amount[at]


def _rounding(
    prices: Mapping[str, Floats],
    names: Sequence[str],
    per_replica: Floats,
    per_leader: Floats,
    rf: Longs,
    bands: Mapping[str, Band],
    dearer: Sequence[Surcharge],
) -> float:
    carried = per_replica * rf[:, None] + per_leader
    added = sum(float(np.abs(charge.amount).sum()) + abs(charge.constant) for charge in dearer)
    for d, name in enumerate(names):
        added += float(np.abs(prices[name]).max(initial=0.0) * carried[:, d].sum())
        added += abs(_limits_at(np.abs(prices[name]), bands[name]))
    return _PRICE_ROUNDING * added


def _slices(rows: Longs) -> list[Longs]:
    return [rows[begin : begin + _SLICE] for begin in range(0, len(rows), _SLICE)]


def _limits_at(price: Floats, band: Band) -> float:
    above, below = price > 0, price < 0
    return float((price[above] * band.high[above]).sum() + (price[below] * band.low[below]).sum())


def _left_alone(cells: Floats, per_leader: Floats, cluster: ClusterArrays, free: Flags) -> Floats:
    is_fixed = (cluster.now >= 0) & ~free[:, None]
    load = np.bincount(cluster.now[is_fixed], weights=cells[is_fixed], minlength=len(cluster.ids)).astype(np.float64)
    led = (cluster.leader >= 0) & ~free
    load += np.bincount(cluster.leader[led], weights=per_leader[led], minlength=len(cluster.ids))
    return load


def _cheapest_of_racks(cluster: ClusterArrays, price: Floats, may_lead: Flags, most_replicas: int) -> Longs:
    """Return receivers that no other of their rack dominates in every resource (a possible leader only by such). All of
    them where a partition needs a second broker of a rack, or may be on some brokers alone.
    """
    receivers = np.flatnonzero(cluster.takes_replicas)
    if most_replicas > len(np.unique(cluster.rack[receivers])) or len(cluster.may_be_on) > 1:
        return receivers
    chosen = np.ones(len(receivers), dtype=np.bool_)
    prices_and_leads = np.column_stack([price, ~may_lead])
    for rack in np.unique(cluster.rack[receivers]):
        inside = np.flatnonzero(cluster.rack[receivers] == rack)
        mine = np.unique(prices_and_leads[receivers[inside]], axis=0, return_index=True)
        for values, first in zip(mine[0], mine[1], strict=True):
            below = (mine[0] <= values).all(axis=1)
            chosen[inside[first]] = below.sum() == 1
        chosen[np.setdiff1d(inside, inside[mine[1]])] = False
    return receivers[chosen]


def _cheapest_placements(
    cluster: ClusterArrays, rows: Longs, rf: Longs, targets: Longs, replica: Sides, leading: Sides | None
) -> float:
    """``replica``, ``leading``: costs of a copy float64[M, targets], and of a replica that stays float64[M, W]."""
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
                    option = options[:, group[broker]]
                    np.minimum(option, new[chosen, column], out=option)
                for j in range(now.shape[1]):
                    at = (np.arange(len(chosen)), group[now[chosen, j]])
                    options[at] = np.minimum(options[at], np.where(stays, kept, np.inf)[chosen, j])
                tables.append(options)
            total += _smallest(tables[0], None if leading is None else tables[1], rf[chosen])
    return total


def _smallest(options: Floats, leads: Floats | None, count: Longs) -> float:
    """Σ over rows of the ``count`` smallest options, one replaced by a leader there or elsewhere.

    An impossible row counts 0.
    """
    most = min(int(count.max()), options.shape[1])
    least = np.sort(np.partition(options, most - 1, axis=1)[:, :most], axis=1)
    is_needed = (np.arange(most)[None, :] < count[:, None]) & np.isfinite(least)
    total = float(least[is_needed].sum())
    if leads is not None:
        last = np.take_along_axis(least, (np.minimum(count, most) - 1)[:, None], 1)
        lawful = np.isfinite(last[:, 0]) & np.isfinite(leads).any(axis=1)
        given_up = np.minimum(options, last)[lawful]
        total += float((leads[lawful] - given_up).min(axis=1).sum())
    return total


# A number of moves this close to a whole one is not rounded up.
_WHOLE = 1e-6
_PROVED_COSTS = ("bytes", "replica_moves", "seconds")


def proved_costs(
    proofs: Mapping[str, Any], bands: Mapping[str, Band], cluster: ClusterArrays, parameters: PlanOptions
) -> dict[str, float]:
    """Return bytes, moves, and for ``seconds`` the busiest broker's bytes. Other costs prove nothing."""
    proved = {}
    for cost in _PROVED_COSTS:
        if cost not in proofs:
            continue
        claimed = proofs[cost]
        prices = {name: _along(by_broker, cluster) for name, by_broker in claimed["prices"].items() if name in bands}
        if cost == "bytes":
            dearer = surcharges_of(claimed["covers"], bands, cluster, parameters)
            proved[cost] = max(0.0, price_bound(cluster, parameters, bands, prices, dearer=dearer))
            continue
        if cost == "replica_moves":
            charges = Charges(np.ones(len(cluster.size)), np.zeros(len(cluster.ids)))
            value = price_bound(cluster, parameters, bands, prices, charges)
            proved[cost] = max(0.0, float(np.ceil(value - _WHOLE * max(value, 1.0))))
            continue
        # A negative share would raise the others: it counts 0.
        receiving = np.maximum(_along(claimed["receiving"], cluster), 0.0)
        sending = np.maximum(_along(claimed["sending"], cluster), 0.0)
        sent = np.where(cluster.leader >= 0, sending[np.maximum(cluster.leader, 0)], 0.0)
        value = price_bound(cluster, parameters, bands, prices, Charges(np.nan_to_num(cluster.size) * sent, receiving))
        shares = float(receiving.sum() + sending.sum())
        proved[cost] = max(0.0, value / shares) if shares > 0 else 0.0
    return proved


def check_proofs(document: Mapping[str, Any], cluster: ClusterArrays, faults: FaultList) -> None:
    resources = [outcome["resource"] for outcome in document["resources"]]
    brokers = set(map(str, cluster.ids.tolist()))
    for cost, claimed in document["proofs"].items():
        location = f"plan.proofs.{cost[:20]}"
        if cost not in _PROVED_COSTS or not document["moves"]:
            faults.add("certificate", location, "is of no cost that prices prove, or nothing moves")
        for name, by_broker in claimed["prices"].items():
            if name not in resources or by_broker.keys() - brokers or 0 in by_broker.values():
                faults.add("certificate", f"{location}.{name[:20]}", "is of no balanced resource or broker, or nothing")
        for direction in ("receiving", "sending"):
            shares = claimed[direction]
            if shares.keys() - brokers or any(share <= 0 for share in shares.values()):
                faults.add("certificate", f"{location}.{direction}", "is of no broker, or no share of anything")
        if bool(claimed["receiving"] or claimed["sending"]) != (cost == "seconds"):
            faults.add("certificate", location, "shares of brokers count for time, and for nothing else")
        if bool(claimed["covers"]) != (cost == "bytes"):
            faults.add("certificate", location, "covers are of bytes, which prices alone prove in the certificate")
        check_covers(claimed["covers"], f"{location}.covers", resources, cluster, faults)


def _along(by_broker: Mapping[str, float], cluster: ClusterArrays) -> Floats:
    return np.array([float(by_broker.get(str(broker), 0.0)) for broker in cluster.ids.tolist()])


COSTS = ("bytes", "replica_moves", "leader_changes", "seconds")
ROUNDING = 1e-7
SLACK_WHERE_NONE_IS_GIVEN = 0.05
PROOFS = frozenset(proof.value for proof in BoundProof)


def recomputed_bounds(
    document: Mapping[str, Any], levels: Levels, cluster: ClusterArrays, parameters: PlanOptions
) -> dict[str, float]:
    bands = {
        outcome["resource"]: band_of(
            outcome, levels.before[outcome["resource"]], levels.capacity[outcome["resource"]], cluster, parameters
        )
        for outcome in document["resources"]
    }
    bounds = counting_bounds(document, bands, levels, cluster, parameters)
    of_costs: dict[str, float] = {}
    if parameters.moves_replicas:
        of_costs = proved_costs(document["proofs"], bands, cluster, parameters)
        bounds["replica_moves"] = max(bounds["replica_moves"], of_costs.get("replica_moves", 0.0))
    if "bytes" in bounds and parameters.moves_replicas:
        prices = {
            name: _by_index(by_broker, cluster) for name, by_broker in document["certificate"].items() if name in bands
        }
        proved = (price_bound(cluster, parameters, bands, prices), of_costs.get("bytes", 0.0))
        bounds["bytes"] = max(bounds["bytes"], *proved)
    throttle = max([1, *(wave["throttle_bytes_per_s"] for wave in document["waves"])])
    if "bytes" in bounds:
        arrives = least_seconds(cluster, bands, levels.before, bounds["bytes"], throttle)
        busiest = max(most_sent(cluster, parameters), of_costs.get("seconds", 0.0))
        bounds["seconds"] = max(arrives, busiest / throttle)
    return bounds


def counting_bounds(
    document: Mapping[str, Any],
    bands: Mapping[str, Band],
    levels: Levels,
    cluster: ClusterArrays,
    parameters: PlanOptions,
) -> dict[str, float]:
    before = {name: levels.before[name] for name in bands}
    bounds = {"leader_changes": least_leader_changes(cluster, parameters, bands, before), "replica_moves": 0.0}
    if document["cost"]["bytes"] is not None:
        bounds["bytes"] = 0.0
    if parameters.moves_replicas:
        bounds["replica_moves"] = least_copied(cluster, parameters, bands, before, np.ones(len(cluster.size)))
        if "bytes" in bounds:
            bounds["bytes"] = least_copied(cluster, parameters, bands, before, np.nan_to_num(cluster.size))
    return bounds


def check_bounds(
    document: dict[str, Any], levels: Levels, cluster: ClusterArrays, parameters: PlanOptions, faults: FaultList
) -> dict[str, float]:
    """Return the recomputed bounds; rules ``bound_*`` and ``gap``."""
    _check_certificate(document, cluster, faults)
    check_proofs(document, cluster, faults)
    has_plan = document["verdict"] not in ("infeasible", "cannot_tell")
    recomputed = recomputed_bounds(document, levels, cluster, parameters) if has_plan else {}
    stated = {claim["cost"]: claim for claim in document["lower_bound"]}
    cost = document["cost"]
    costs = [name for name in COSTS if cost[name] is not None]
    if sorted(stated) != sorted(costs) or len(stated) != len(document["lower_bound"]):
        faults.add("bound_missing", "plan.lower_bound", f"holds {sorted(stated)}, costs are {sorted(costs)}")
        return recomputed
    for name, bound in stated.items():
        _check_bound(name, bound, float(cost[name]), recomputed.get(name, 0.0), faults)
    _check_slack(stated, document["parameters"], faults)
    return recomputed


def _check_certificate(document: dict[str, Any], cluster: ClusterArrays, faults: FaultList) -> None:
    """The bound holds for any prices; their ids must exist."""
    prices, resources = document["certificate"], [outcome["resource"] for outcome in document["resources"]]
    brokers = set(map(str, cluster.ids.tolist()))
    if prices and not document["moves"]:
        faults.add("certificate", "plan.certificate", "nothing moves, yet prices are told")
    for name, by_broker in prices.items():
        if name not in resources or by_broker.keys() - brokers or 0 in by_broker.values():
            faults.add("certificate", f"certificate.{name[:20]}", "is of no balanced resource or broker, or nothing")


def _check_bound(name: str, bound: dict[str, Any], cost: float, recomputed: float, faults: FaultList) -> None:
    location = f"lower_bound.{name}"
    value, slack = bound["value"], ROUNDING * max(cost, 1.0)
    if value < 0 or value > cost + slack:
        faults.add("bound_above_cost", location, f"{value:g} against a cost of {cost:g}")
    if value > recomputed + slack:
        faults.add("bound_not_proved", location, f"says {value:g}, {recomputed:g} can be proved")
    if value < min(recomputed, cost) - slack:
        faults.add("bound_weak", location, f"says {value:g}, {recomputed:g} can be proved")
    if bound["proof"] not in PROOFS:
        faults.add("bound_missing", location, f"{bound['proof'][:40]!r} is no proof that we know")
    gap = None if value <= 0 < cost else 0.0 if value <= 0 else (cost - value) / value
    faults.require_close("gap", f"{location}.gap", bound["gap"], gap, 1.0)


def _check_slack(stated: Mapping[str, dict[str, Any]], parameters: Mapping[str, Any], faults: FaultList) -> None:
    slack = parameters["slack"]
    weighs_costs = slack is not None or parameters["prefer"] != "bytes"
    most = SLACK_WHERE_NONE_IS_GIVEN if slack is None else slack
    for name, bound in stated.items():
        is_within = (bound["gap"] is not None and bound["gap"] <= most) if weighs_costs else None
        faults.require_equal("gap", f"lower_bound.{name}.is_within_slack", bound["is_within_slack"], is_within)


def _by_index(prices: Mapping[str, float], cluster: ClusterArrays) -> Floats:
    index = cluster.index_of
    values = np.zeros(len(cluster.ids))
    for broker, price in prices.items():
        if int(broker) in index:
            values[index[int(broker)]] = price
    return values


_BUDGET_COSTS = ("bytes", "replica_moves", "leader_changes")
_SHARE_ROUNDING = 1e-7


def check_within_budget(
    document: Mapping[str, Any], levels: Levels, cluster: ClusterArrays, parameters: PlanOptions, faults: FaultList
) -> None:
    claimed, location = document["within_budget"], "plan.within_budget"
    if claimed is None:
        return
    if not parameters.has_budget or document["verdict"] != "rebalance":
        faults.add("within_budget", location, "is claimed without a budget, or nothing moves")
        return
    outcomes = {outcome["resource"]: outcome for outcome in document["resources"]}
    bands = {
        name: requested_band(outcome, levels.before[name], levels.capacity[name], cluster, parameters)[0]
        for name, outcome in outcomes.items()
    }
    was, left = imbalance(bands, levels.before, cluster), imbalance(bands, levels.after, cluster)
    for name, recomputed in (("imbalance_before", was), ("imbalance_after", left)):
        if abs(claimed[name] - recomputed) > _SHARE_ROUNDING * max(recomputed, 1.0):
            faults.add("within_budget", f"{location}.{name}", f"says {claimed[name]:.6g}, found {recomputed:.6g}")
    limits = _limits(cluster, parameters)
    _check_budget_prices(claimed, location, bands, limits, cluster, faults)
    least = claimed["least_imbalance"]
    if least is None:
        if claimed["prices"] or claimed["charges"]:
            faults.add("within_budget", location, "prices that prove nothing")
        return
    proved = max(0.0, _proved(claimed, limits, bands, cluster, parameters))
    if least < 0 or least > left + _SHARE_ROUNDING * max(left, 1.0):
        faults.add(
            "within_budget", f"{location}.least_imbalance", f"says {least:.6g}, and the plan comes to {left:.6g}"
        )
    if abs(least - proved) > _SHARE_ROUNDING * max(proved, 1.0):
        faults.add("within_budget", f"{location}.least_imbalance", f"says {least:.6g}, {proved:.6g} can be proved")


def _check_budget_prices(
    claimed: Mapping[str, Any],
    location: str,
    bands: Mapping[str, Band],
    limits: Mapping[str, float | None],
    cluster: ClusterArrays,
    faults: FaultList,
) -> None:
    brokers = set(map(str, cluster.ids.tolist()))
    for name, by_broker in claimed["prices"].items():
        if name not in bands or by_broker.keys() - brokers or 0 in by_broker.values():
            faults.add(
                "within_budget", f"{location}.prices.{name[:20]}", "is of no balanced resource or broker, or nothing"
            )
    for cost, charge in claimed["charges"].items():
        if limits.get(cost) is None or not charge > 0:
            faults.add("within_budget", f"{location}.charges.{cost[:20]}", "is of no cost with a limit, or nothing")


def _limits(cluster: ClusterArrays, parameters: PlanOptions) -> dict[str, float | None]:
    copied: list[float] = [] if parameters.max_move_bytes is None else [float(parameters.max_move_bytes)]
    if parameters.max_hours is not None:
        receivers = max(int(cluster.takes_replicas.sum()), 1)
        copied.append(3600 * parameters.max_hours * parameters.throttle_bytes_per_s * receivers)
    return {
        "bytes": min(copied, default=None),
        "replica_moves": parameters.max_moves if parameters.moves_replicas else 0,
        "leader_changes": parameters.max_leader_changes,
    }


def _proved(
    claimed: Mapping[str, Any],
    limits: Mapping[str, float | None],
    bands: Mapping[str, Band],
    cluster: ClusterArrays,
    parameters: PlanOptions,
) -> float:
    charge = {cost: max(0.0, float(claimed["charges"].get(cost, 0.0))) for cost in _BUDGET_COSTS}
    charge = {cost: 0.0 if limits[cost] is None else charge[cost] for cost in _BUDGET_COSTS}
    prices = {
        name: _near_enough(name, _along(by_broker, cluster), cluster, parameters)
        for name, by_broker in claimed["prices"].items()
        if name in bands
    }
    charges = Charges(
        copy=np.nan_to_num(cluster.size) * charge["bytes"] + charge["replica_moves"],
        receiving=np.zeros(len(cluster.ids)),
        leader_change=charge["leader_changes"],
    )
    value = price_bound(cluster, parameters, bands, prices, charges)
    return value - sum(charge[cost] * float(limits[cost] or 0.0) for cost in _BUDGET_COSTS)


def _near_enough(name: str, prices: Floats, cluster: ClusterArrays, parameters: PlanOptions) -> Floats:
    """Scale to a distance of 1 / (the most that all brokers could carry)."""
    prices = np.where(cluster.stays, prices, 0.0)
    rf = target_factors(cluster, parameters)
    per_replica, per_leader = weights_of(name, rf, cluster)
    is_replica = cluster.now >= 0
    total = float((per_replica * np.maximum(rf, is_replica.sum(axis=1))).sum() + per_leader.sum())
    if name == "disk":
        beyond = np.where(is_replica & ~np.isnan(cluster.own_bytes), cluster.own_bytes - per_replica[:, None], 0.0)
        total += float(np.maximum(beyond, 0.0).sum())
    span = float(np.maximum(prices, 0.0).max(initial=0.0) + np.maximum(-prices, 0.0).max(initial=0.0))
    return np.asarray(prices / max(1.0, span * total))
