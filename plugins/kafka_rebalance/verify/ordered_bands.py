"""Refuse a plan that left a requested band for a default one; the proof is a better placement.

From where the plan ends, single steps are made while each lowers what is outside the ordered bands: another leader, or
a replica (its leadership goes along) on a broker in the same rack or in one without another replica of the partition.
Default bands do not count. Where the steps end inside all ordered bands, nothing but defaults stood in the plan's way.
Where they do not, there is no fault. O(steps · P·W·(B + W)·D).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.verify.cluster import ClaimedMoves, ClusterArrays, Flags, Floats, Ints, cap_of
from kafka_rebalance.verify.faults import FaultList
from kafka_rebalance.verify.loads import Levels, asked_band, hard_limits, weights_of

# Larger clusters take too long, and what is gained by less is rounding.
_MOST_PAIRS, _MOST_STEPS, _LEAST = 5_000, 300, 1e-9


@dataclass(frozen=True, eq=False)
class _State:
    """A placement, and loads float64[B, D] of all resources; ``gained`` float64[B]: bytes of copies."""

    placement: Ints
    leader: Ints
    load: Floats
    gained: Floats


@dataclass(frozen=True, eq=False)
class _Rules:
    """``ordered`` bool[D]: these bands count; ``low``, ``high``, ``most`` float64[B, D]; weights float64[P, D];
    ``free_disk`` float64[B]: what fits beside today's bytes.
    """

    ordered: Flags
    low: Floats
    high: Floats
    most: Floats
    follower: Floats
    extra: Floats
    total: Floats
    size: Floats
    free_disk: Floats


def check_ordered_bands(
    document: dict[str, Any],
    levels: Levels,
    claimed: ClaimedMoves,
    cluster: ClusterArrays,
    parameters: PlanOptions,
    faults: FaultList,
) -> None:
    """A fault where an ordered band is left and steps from the plan's end lead into all of them."""
    resources = document["resources"]
    left = [one for one in resources if one["is_ordered"] and one["widened_to"] != [None, None]]
    if not left or all(one["is_ordered"] for one in resources) or not _is_judged(document, parameters):
        return
    if cluster.now.shape[0] * len(cluster.ids) > _MOST_PAIRS or faults.has_any("band", "rack", "capacity"):
        return
    rules = _rules(resources, levels, cluster, parameters)
    state = _start(rules, claimed, cluster, [one["resource"] for one in resources], levels)
    if _outside(rules, state.load) <= _LEAST:
        return
    for _ in range(_MOST_STEPS):
        step = _best_step(rules, state, cluster, parameters)
        if step is None:
            return
        state = step
        if _outside(rules, state.load) <= _LEAST:
            name = left[0]["resource"]
            words = "the band was ordered and is left, though only default bands stand in the way of one that is inside"
            faults.add("band", f"resources.{name}.widened_to", words)
            return


def _is_judged(document: dict[str, Any], parameters: PlanOptions) -> bool:
    """No other option can prevent it: a budget, hours, losses, leaders of topics."""
    others = parameters.has_budget or parameters.asks_beyond_bands
    is_new = document["verdict"] in ("rebalance", "not_fixable_by_moving") and document["continues"] is None
    return is_new and not others and not parameters.preferred_election


def _rules(resources: list[dict[str, Any]], levels: Levels, cluster: ClusterArrays, parameters: PlanOptions) -> _Rules:
    names = [one["resource"] for one in resources]
    bands = [asked_band(one, levels.before[name], levels.capacity[name], cluster, parameters)[0]
             for one, name in zip(resources, names, strict=True)]  # fmt: skip
    limits = hard_limits(cluster, levels.capacity, levels.before)
    most = np.stack([np.maximum(limits[name], levels.before[name]) for name in names], axis=1)
    for d, name in enumerate(names):
        cap = cap_of(name, levels.capacity[name], len(cluster.ids), parameters)
        if cap is not None:
            most[:, d] = np.minimum(most[:, d], cap)
    rf = (cluster.now >= 0).sum(axis=1)
    weights = [weights_of(name, rf, cluster) for name in names]
    disk = limits.get("disk", np.full(len(cluster.ids), np.inf))
    return _Rules(
        ordered=np.array([bool(one["is_ordered"]) for one in resources], dtype=np.bool_),
        low=np.stack([band.low for band in bands], axis=1),
        high=np.stack([band.high for band in bands], axis=1),
        most=most,
        follower=np.stack([follower for follower, _ in weights], axis=1),
        extra=np.stack([extra for _, extra in weights], axis=1),
        total=np.stack([np.maximum(levels.after[name].sum(), 1e-300) for name in names]),
        size=np.nan_to_num(cluster.size),
        free_disk=np.maximum(disk - levels.before.get("disk", np.zeros(len(disk))), 0.0),
    )


def _start(rules: _Rules, claimed: ClaimedMoves, cluster: ClusterArrays, names: list[str], levels: Levels) -> _State:
    """Where the plan ends."""
    gained = np.zeros(len(cluster.ids))
    line, column = np.nonzero((claimed.after >= 0) & ~_held_today(claimed.after, cluster))
    np.add.at(gained, claimed.after[line, column], rules.size[line])
    load = np.stack([levels.after[name] for name in names], axis=1)
    return _State(claimed.after, claimed.leader_after, load, gained)


def _held_today(placement: Ints, cluster: ClusterArrays) -> Flags:
    """bool[P, W']: replicas that are there today."""
    return np.asarray((placement[:, :, None] == cluster.now[:, None, :]).any(axis=2))


def _outside(rules: _Rules, load: Floats) -> float:
    """Load outside ordered bands, over or under whichever is more, over all of the resource; summed over resources."""
    over = np.maximum(load - rules.high, 0.0).sum(axis=0)
    under = np.maximum(rules.low - load, 0.0).sum(axis=0)
    return float((np.maximum(over, under) / rules.total)[rules.ordered].sum())


def _best_step(rules: _Rules, state: _State, cluster: ClusterArrays, parameters: PlanOptions) -> _State | None:
    """The state after the step that lowers most what is outside; None where none does."""
    free = ~(cluster.left_alone | cluster.unknown)
    free &= (state.leader >= 0) & ~cluster.must_leave.any(axis=1) & ((state.placement >= 0).sum(axis=1) == _rf(cluster))
    least, best = -_LEAST, None
    for j in range(state.placement.shape[1]):
        source = state.placement[:, j]
        is_led = source == state.leader
        may = free & (source >= 0) & ~is_led & cluster.takes_leaders[source]
        change, row = _gain(rules, state, may, (state.leader, source), rules.extra)
        if change < least:
            least, best = change, _led(rules, state, row, int(source[row]))
        for b in np.flatnonzero(cluster.takes_replicas).tolist() if parameters.moves_replicas else []:
            may = free & _may_go(state, cluster, j, b) & (~is_led | bool(cluster.takes_leaders[b]))
            is_new = ~(cluster.now == b).any(axis=1)
            may &= ~is_new | (state.gained[b] + rules.size <= rules.free_disk[b])
            weight = rules.follower + np.where(is_led[:, None], rules.extra, 0.0)
            change, row = _gain(rules, state, may, (source, np.full_like(source, b)), weight)
            if change < least:
                least, best = change, _moved(rules, state, cluster, row, j, b)
    return best


def _rf(cluster: ClusterArrays) -> Ints:
    return np.asarray((cluster.now >= 0).sum(axis=1), dtype=np.int32)


def _may_go(state: _State, cluster: ClusterArrays, j: int, b: int) -> Flags:
    """bool[P]: the ``j``-th replica may be on broker ``b`` in its place."""
    source, others = state.placement[:, j], np.delete(state.placement, j, axis=1)
    shares = ((others >= 0) & (cluster.rack[others] == cluster.rack[b])).any(axis=1)
    may = (source >= 0) & ~np.isnan(cluster.size) & ~(state.placement == b).any(axis=1)
    may &= ~shares | (cluster.rack[source] == cluster.rack[b])
    return np.asarray(may & cluster.may_be_on[cluster.place_rule, b])


def _gain(rules: _Rules, state: _State, may: Flags, ends: tuple[Ints, Ints], weight: Floats) -> tuple[float, int]:
    """By how much the best of the partitions that may lowers what is outside (below 0), and its row."""
    rows = np.flatnonzero(may)
    if not len(rows):
        return 0.0, -1
    moved = weight[rows]
    over = np.maximum(state.load - rules.high, 0.0).sum(axis=0)[None, :].repeat(len(rows), axis=0)
    under = np.maximum(rules.low - state.load, 0.0).sum(axis=0)[None, :].repeat(len(rows), axis=0)
    for broker, change in ((ends[0][rows], -moved), (ends[1][rows], moved)):
        now, high, low = state.load[broker], rules.high[broker], rules.low[broker]
        over += np.maximum(now + change - high, 0.0) - np.maximum(now - high, 0.0)
        under += np.maximum(low - now - change, 0.0) - np.maximum(low - now, 0.0)
    left = (np.maximum(over, under) / rules.total)[:, rules.ordered].sum(axis=1) - _outside(rules, state.load)
    target = ends[1][rows]
    left[~((state.load[target] + moved <= rules.most[target]) | (moved == 0)).all(axis=1)] = 0.0
    at = int(left.argmin())
    return float(left[at]), int(rows[at])


def _led(rules: _Rules, state: _State, row: int, broker: int) -> _State:
    load, leader = state.load.copy(), state.leader.copy()
    load[leader[row]] -= rules.extra[row]
    load[broker] += rules.extra[row]
    leader[row] = broker
    return replace(state, load=load, leader=leader)


def _moved(rules: _Rules, state: _State, cluster: ClusterArrays, row: int, j: int, broker: int) -> _State:
    source, placement, leader = int(state.placement[row, j]), state.placement.copy(), state.leader.copy()
    weight = rules.follower[row] + (rules.extra[row] if leader[row] == source else 0.0)
    load, gained = state.load.copy(), state.gained.copy()
    load[source] -= weight
    load[broker] += weight
    today = cluster.now[row]
    gained[source] -= 0.0 if (today == source).any() else rules.size[row]
    gained[broker] += 0.0 if (today == broker).any() else rules.size[row]
    placement[row, j] = broker
    leader[row] = broker if leader[row] == source else leader[row]
    return _State(placement, leader, load, gained)
