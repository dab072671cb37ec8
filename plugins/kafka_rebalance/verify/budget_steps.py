"""Is there one step within the budget that lowers the imbalance? A plan that does nothing for its budget says no.

Looked at: every change of leader, and every replica move (leadership goes along) to a broker in the same rack or in one
that holds no other replica of the partition. All partitions are judged at once for each pair of slots, or slot and
broker. O(P·W·(B + W)·D).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.verify.cluster.arrays import ClusterArrays, Flags, Floats, Ints
from kafka_rebalance.verify.cluster.broker_loads import hard_limits
from kafka_rebalance.verify.cluster.outcomes import Levels
from kafka_rebalance.verify.cluster.resource_bands import Band
from kafka_rebalance.verify.cluster.resource_weights import weights_of

# What is gained by less is rounding.
_LEAST = 1e-6


@dataclass(frozen=True, eq=False)
class _Table:
    """Of the resources ``names``: loads and bands float64[B, D], weights float64[P, D], and what is outside."""

    names: list[str]
    load: Floats
    low: Floats
    high: Floats
    limit: Floats
    follower: Floats
    extra: Floats
    outside: Floats  # float64[2, D]: above and below
    total: Floats


def step_within_budget(
    bands: dict[str, Band], levels: Levels, cluster: ClusterArrays, parameters: PlanOptions
) -> str | None:
    """The words for one that is found; None where there is none."""
    names = [name for name, band in bands.items() if float(levels.before[name].sum()) > 0]
    if not names or not len(cluster.now):
        return None
    table = _table(names, bands, levels, cluster)
    free = ~(cluster.left_alone | cluster.unknown)
    free &= (cluster.leader >= 0) & ~cluster.must_leave.any(axis=1)
    if parameters.max_leader_changes != 0:
        for j in range(cluster.now.shape[1]):
            target = np.where(cluster.now[:, j] != cluster.leader, cluster.now[:, j], -1)
            may = free & (target >= 0) & cluster.takes_leaders[target]
            found = _first(table, may, (cluster.leader, target), (table.extra, table.extra))
            if found is not None:
                return f"another leader of partition row {found}"
    return _moved(table, cluster, parameters, free) if parameters.moves_replicas else None


def _table(names: list[str], bands: dict[str, Band], levels: Levels, cluster: ClusterArrays) -> _Table:
    rf = (cluster.now >= 0).sum(axis=1)
    weights = [weights_of(name, rf, cluster) for name in names]
    limits = hard_limits(cluster, levels.capacity, levels.before)
    load = np.stack([levels.before[name] for name in names], axis=1)
    stays = cluster.stays[:, None]
    low = np.where(stays, np.stack([bands[name].low for name in names], axis=1), -np.inf)
    high = np.where(stays, np.stack([bands[name].high for name in names], axis=1), np.inf)
    return _Table(
        names=names,
        load=load,
        low=low,
        high=high,
        limit=np.stack([limits[name] for name in names], axis=1),
        follower=np.stack([follower for follower, _ in weights], axis=1),
        extra=np.stack([extra for _, extra in weights], axis=1),
        outside=np.stack([np.maximum(load - high, 0.0).sum(axis=0), np.maximum(low - load, 0.0).sum(axis=0)]),
        total=load.sum(axis=0),
    )


def _moved(table: _Table, cluster: ClusterArrays, parameters: PlanOptions, free: Flags) -> str | None:
    if parameters.max_moves == 0:
        return None
    fits = free & ~np.isnan(cluster.size)
    if parameters.max_move_bytes is not None:
        fits &= np.nan_to_num(cluster.size) <= parameters.max_move_bytes
    if parameters.max_hours is not None:
        fits &= np.nan_to_num(cluster.size) <= 3600 * parameters.max_hours * parameters.throttle_bytes_per_s
    for j in range(cluster.now.shape[1]):
        source = cluster.now[:, j]
        is_led = source == cluster.leader
        arriving = table.follower + np.where(is_led[:, None], table.extra, 0.0)
        leaving = _with_own_size(table, cluster, arriving, j)
        for b in np.flatnonzero(cluster.takes_replicas).tolist():
            others = np.delete(cluster.now, j, axis=1)
            shares = ((others >= 0) & (cluster.rack[others] == cluster.rack[b])).any(axis=1)
            may = fits & (source >= 0) & ~(cluster.now == b).any(axis=1)
            may &= ~shares | (cluster.rack[source] == cluster.rack[b])
            may &= cluster.may_be_on[cluster.place_rule, b]
            may &= ~is_led | (bool(cluster.takes_leaders[b]) & (parameters.max_leader_changes != 0))
            target = np.full(len(source), b, dtype=np.int32)
            found = _first(table, may, (source, target), (leaving, arriving))
            if found is not None:
                return f"a replica of partition row {found} on broker {int(cluster.ids[b])}"
    return None


def _with_own_size(table: _Table, cluster: ClusterArrays, weight: Floats, j: int) -> Floats:
    """``weight`` float64[P, D] where today's replicas ``j`` have sizes of their own."""
    if "disk" not in table.names:
        return weight
    d, own = table.names.index("disk"), cluster.own_bytes[:, j]
    result = weight.copy()
    result[:, d] = np.where(np.isnan(own), weight[:, d], own)
    return result


def _first(table: _Table, may: Flags, ends: tuple[Ints, Ints], weights: tuple[Floats, Floats]) -> int | None:
    """The first partition of those that may whose load is better on another broker, within hard limits; ``ends`` and
    ``weights``: where it leaves and what, and where it arrives.
    """
    rows = np.flatnonzero(may)
    if not len(rows):
        return None
    target, weight = ends[1][rows], weights[1][rows]
    outside = table.outside[:, None, :].repeat(len(rows), axis=1)
    for broker, change in ((ends[0][rows], -weights[0][rows]), (target, weight)):
        now, high, low = table.load[broker], table.high[broker], table.low[broker]
        then = now + change
        outside[0] += np.maximum(then - high, 0.0) - np.maximum(now - high, 0.0)
        outside[1] += np.maximum(low - then, 0.0) - np.maximum(low - now, 0.0)
    left = (outside.max(axis=0) / table.total).sum(axis=1)
    was = float((table.outside.max(axis=0) / table.total).sum())
    fits = (table.load[target] + weight <= table.limit[target]).all(axis=1)
    better = np.flatnonzero(fits & (left < was - _LEAST))
    return int(rows[better[0]]) if len(better) else None
