"""Lower bounds by counting alone, each with a proof of one line. No search, no prices.

1. A broker must give up what it holds above its band; the cheapest way is to drop replicas in the order of bytes per
   unit of load, the last one in part (fractional knapsack). What leaves one broker is copied to another, so the sums
   over brokers add up. Where the replication factor shrinks, dropping is free; where it grows, the new copies come on
   top.
2. A broker must receive what its disk lacks below its band.
3. Everything on a broker that leaves is copied; of a partition whose replicas share racks, all but one a rack move.
4. Copies that nobody avoids (a broker leaves, the replication factor grows) are read from today's leader.
5. A broker that leads too many partitions must stop leading some, one change each.

Example: a broker holds replicas of 6, 3 and 1 GB and may hold 8 GB: at least 2 GB leave it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.verify.cluster.arrays import ClusterArrays, Flags, Floats, Ints
from kafka_rebalance.verify.cluster.rack_spread import distinct_racks
from kafka_rebalance.verify.cluster.resource_bands import Band, wanted_rf
from kafka_rebalance.verify.cluster.resource_weights import OF_REPLICAS, Longs, weights_of

_SLACK = 1e-9


def least_copied(
    cluster: ClusterArrays,
    parameters: PlanOptions,
    bands: Mapping[str, Band],
    before: Mapping[str, Floats],
    cost: Floats,
) -> float:
    """What copying takes at least, where one new copy of partition p costs ``cost[p]`` (bytes, or 1 to count moves)."""
    rf, now = wanted_rf(cluster, parameters), (cluster.now >= 0).sum(axis=1)
    free = touchable(cluster, rf)
    grown = float((cost * np.maximum(rf - now, 0))[free].sum())
    drop_cost = np.where(rf < now, 0.0, cost)
    there = cluster.now >= 0
    row, column = np.nonzero(there & free[:, None])
    broker = cluster.now[row, column]
    order = np.argsort(broker, kind="stable")
    begin = np.searchsorted(broker[order], np.arange(len(cluster.ids) + 1))
    counts = bool((cost == 1.0).all())
    out = _must_leave(cluster, row, column, broker, drop_cost)
    for name in OF_REPLICAS:
        if name in before:
            weight = _weight_of(name, rf, cluster)
            held = before[name]
            if name == "potential_out":  # it follows the replication factor asked for, also where nothing is copied
                held = np.bincount(cluster.now[there], weight[there], len(cluster.ids)).astype(np.float64)
            weight = weight[row, column]
            excess = held - bands[name].high
            over = np.flatnonzero(excess > _SLACK * np.maximum(held, 1.0))
            for b in over.tolist():
                mine = order[begin[b] : begin[b + 1]]
                least = _cheapest(float(excess[b]), weight[mine], drop_cost[row[mine]])
                out[b] = max(out[b], np.ceil(least - 1e-6) if counts else least)
    lacking = _lacking(bands, before, cost)
    return max(grown + float(out.sum()), lacking, grown + _sharing_racks(cluster, free, rf, now, drop_cost))


def touchable(cluster: ClusterArrays, rf: Longs) -> Flags:
    """bool[P]: partitions that may be moved. What carries something unknown is left alone unless it has to go."""
    there = cluster.now >= 0
    has_to = ((there & ~cluster.stays[cluster.now]) | cluster.must_leave).any(axis=1) | (rf != there.sum(axis=1))
    has_to |= distinct_racks(cluster, cluster.now) < np.minimum(rf, racks_open(cluster))
    has_to |= (cluster.leader >= 0) & ~cluster.keeps_leaders[cluster.leader]
    left_alone = cluster.left_alone | (cluster.unknown & ~has_to)
    return np.asarray(~left_alone)


def racks_open(cluster: ClusterArrays) -> Longs:
    """int64[P]: racks with a broker that takes replicas and that the partition's topic may be on."""
    counts = [len(np.unique(cluster.rack[cluster.takes_replicas & may])) for may in cluster.may_be_on]
    return np.asarray(np.array(counts, dtype=np.int64)[cluster.place_rule])


def least_leader_changes(
    cluster: ClusterArrays, parameters: PlanOptions, bands: Mapping[str, Band], before: Mapping[str, Floats]
) -> float:
    """Leader changes that nobody can avoid: by count above or below the band, by out-rate, off who may not lead."""
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
        sent = weights_of("out", wanted_rf(cluster, parameters), cluster)[1][rows]
        excess = sends - bands["out"].high
        for b in np.flatnonzero(excess > _SLACK * np.maximum(sends, 1.0)).tolist():
            mine = leader == b
            stop[b] = max(stop[b], np.ceil(_cheapest(float(excess[b]), sent[mine], np.ones(mine.sum())) - 1e-6))
    stop = np.minimum(stop, np.bincount(leader, minlength=len(cluster.ids)))
    start = np.ceil(bands["leaders"].low - before["leaders"] - 1e-6)
    return float(max(np.maximum(stop, 0.0).sum(), np.maximum(start, 0.0).sum()))


def _sent_if_none_changed(cluster: ClusterArrays, parameters: PlanOptions) -> Floats:
    """float64[B]: out-rates with today's leaders and the replication factor asked for, which they send to."""
    led = np.flatnonzero(cluster.leader >= 0)
    sent = weights_of("out", wanted_rf(cluster, parameters), cluster)[1][led]
    return np.bincount(cluster.leader[led], weights=sent, minlength=len(cluster.ids)).astype(np.float64)


def least_seconds(
    cluster: ClusterArrays, bands: Mapping[str, Band], before: Mapping[str, Floats], bytes_bound: float, throttle: float
) -> float:
    """All bytes arrive at brokers that may receive, and each broker receives what its disk lacks."""
    receivers = max(int(cluster.takes_replicas.sum()), 1)
    lacking = 0.0
    if "disk" in before and "disk" in bands:
        lacking = float(np.maximum(bands["disk"].low - before["disk"], 0.0).max(initial=0.0))
    return max(bytes_bound / receivers, lacking) / throttle


def most_sent(cluster: ClusterArrays, parameters: PlanOptions) -> float:
    """Bytes that the busiest broker sends at least: where replicas may not stay, leaders send copies in their place."""
    if not parameters.moves_replicas:
        return 0.0
    rf = wanted_rf(cluster, parameters)
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
    """Least cost of dropping items of ``needed`` weight together, the last one in part."""
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
    """Σ of what brokers lack: in bytes by disk, in moves by count."""
    name = "replicas" if bool((cost == 1.0).all()) else "disk"
    if name not in before:
        return 0.0
    lack = np.maximum(bands[name].low - before[name], 0.0)
    return float(np.ceil(lack - 1e-6).clip(0).sum()) if name == "replicas" else float(lack.sum())


def _sharing_racks(cluster: ClusterArrays, free: Flags, rf: Longs, now: Longs, drop_cost: Floats) -> float:
    """A partition on fewer racks than it could use moves one replica for each rack that it lacks."""
    open_racks = len(np.unique(cluster.rack[cluster.takes_replicas]))
    used = distinct_racks(cluster, cluster.now)
    lacking = np.maximum(np.minimum(rf, open_racks) - used - np.maximum(rf - now, 0), 0)
    return float((lacking * drop_cost)[free & (cluster.place_rule == 0)].sum())


def _has_other(cluster: ClusterArrays, rows: Longs) -> Flags:
    now = cluster.now[rows]
    return np.asarray(((now >= 0) & cluster.takes_leaders[now] & ~cluster.must_leave[rows]).any(axis=1))
