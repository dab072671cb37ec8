"""Checks of the frontier, and of ordered bands that gave way to defaults.

Points go from no moves to the most even, in order of cost.

Ordered bands: from the plan's end, single steps are made while each lowers the load outside ordered bands: a leader
change, or a replica (with its leadership) to a broker in the same rack or in one without another replica. If they reach
all ordered bands, only defaults were in the way, and the plan is refused. O(steps · P·W·(B + W)·D).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kafka_rebalance.options.plan_options import STEPS, PlanOptions
from kafka_rebalance.verify.cluster import ClaimedMoves, ClusterArrays, Flags, Floats, Ints, cap_of
from kafka_rebalance.verify.document import stops_at_step
from kafka_rebalance.verify.faults import FaultList
from kafka_rebalance.verify.loads import Levels, hard_limits, requested_band, weights_of

LEAST_POINTS = 4
NAMES = ["cheap", "knee", "even"]
COSTS = ("bytes", "replica_moves", "leader_changes")
ROUNDING = 1e-7


def check_frontier(document: dict[str, Any], faults: FaultList) -> None:
    points = document["frontier"]
    if not points:
        return
    if len(points) < LEAST_POINTS:
        faults.add("frontier", "plan.frontier", f"{len(points)} points, {LEAST_POINTS} are the least")
    if document["verdict"] == "infeasible":
        faults.add("frontier", "plan.frontier", "nothing can be planned, yet points are told")
    for number, point in enumerate(points):
        _check_point(f"frontier[{number}]", point, points[number - 1] if number else None, document, faults)
    names = [point["name"] for point in points if point["name"] is not None]
    if names != NAMES:
        faults.add("frontier", "plan.frontier", f"named points are {names}, {NAMES} are wanted in that order")
    if points[-1]["name"] != "even":
        faults.add("frontier", f"frontier[{len(points) - 1}]", "the last point is the most even one, and not named so")
    _check_recommended(document, faults)
    _check_gains(document, faults)


def _check_point(
    location: str, point: dict[str, Any], previous: dict[str, Any] | None, document: dict[str, Any], faults: FaultList
) -> None:
    bound, amount = point["lower_bound_bytes"], point["bytes"]
    if (bound is None) is not (amount is None):
        faults.add("frontier", location, "bytes and their bound are known together or not at all")
    elif amount is None and point["replica_moves"] == 0:
        faults.add("frontier", location, "copies nothing, and yet its bytes are unknown")
    elif bound is not None and not 0 <= bound <= amount * (1 + ROUNDING) + 1:
        faults.add("frontier", location, f"{amount} bytes are below their bound {bound:g}")
    _check_price(location, point, previous, document, faults)
    _check_skew(location, point, document, faults)
    if point["name"] is not None and not point["reasons"]:
        faults.add("frontier", location, "is named without a reason")


def _check_gains(document: dict[str, Any], faults: FaultList) -> None:
    points = document["frontier"]
    is_known = all(point["bytes"] is not None for point in points)
    costs = COSTS if is_known else COSTS[1:]
    for number, point in enumerate(points):
        for other in points if not point["is_recommended"] else ():
            is_dearer = any(point[name] > other[name] for name in costs)
            is_dearer &= all(point[name] >= other[name] for name in costs)
            skews = [(skew, other["skew"].get(name, math.inf)) for name, skew in point["skew"].items()]
            if is_dearer and all(its <= skew * (1 + ROUNDING) for skew, its in skews):
                faults.add("frontier", f"frontier[{number}]", "costs more than another point, and is more even nowhere")
                break


def _price(point: dict[str, Any], document: dict[str, Any]) -> float:
    is_known = all(other["bytes"] is not None for other in document["frontier"])
    return float(point["bytes"] if is_known else point["replica_moves"])


def _check_skew(location: str, point: dict[str, Any], document: dict[str, Any], faults: FaultList) -> None:
    resources = {outcome["resource"]: outcome for outcome in document["resources"]}
    if set(point["skew"]) != set(resources) or min(point["skew"].values(), default=0) < 0:
        faults.add("frontier", location, f"tells the skew of {sorted(point['skew'])}")
    elif any(0 < skew < 1 - ROUNDING for skew in point["skew"].values()):
        faults.add("frontier", location, "a skew is below 1: no highest level is below the mean")
    elif not any(point[name] for name in COSTS) and not _drops_for_nothing(document["parameters"]):
        for name, outcome in resources.items():
            faults.require_close("frontier", f"{location}.skew.{name}", point["skew"][name], outcome["skew_before"])


def _check_price(
    location: str,
    point: dict[str, Any],
    previous: dict[str, Any] | None,
    document: dict[str, Any],
    faults: FaultList,
) -> None:
    amount, tolerance = point["bytes"] or 0, point["tolerance"] or 0
    if previous is not None and _price(previous, document) > _price(point, document):
        faults.add("frontier", location, "costs less than the point before it")
    if amount > 0 and point["replica_moves"] == 0:
        faults.add("frontier", location, f"copies {amount} bytes without a replica that moves")
    if min(point["replica_moves"], point["leader_changes"], amount, tolerance) < 0:
        faults.add("frontier", location, "a cost or a band is negative")


def _drops_for_nothing(parameters: Mapping[str, Any]) -> bool:
    """Whether a lower replication factor changes loads at no cost."""
    return parameters.get("replication_factor") is not None


def _check_recommended(document: dict[str, Any], faults: FaultList) -> None:
    chosen = [(i, point) for i, point in enumerate(document["frontier"]) if point["is_recommended"]]
    if len(chosen) != 1 or not chosen[0][1]["reasons"]:
        faults.add("frontier", "plan.frontier", f"{len(chosen)} points are recommended, one with a reason is needed")
        return
    number, point = chosen[0]
    location = f"frontier[{number}]"
    parameters = document["parameters"]
    has_band = bool(document["moves"]) and not parameters["targets"]
    tolerance = parameters["balance_within"] if has_band else None
    faults.require_close("frontier", f"{location}.tolerance", point["tolerance"], tolerance)
    for name in (*COSTS, "seconds"):
        faults.require_equal("frontier", f"{location}.{name}", point[name], document["cost"][name])
    for outcome in document["resources"]:
        reported = point["skew"].get(outcome["resource"])
        faults.require_close("frontier", f"{location}.skew.{outcome['resource']}", reported, outcome["skew_after"])
    stated = next((claim["value"] for claim in document["lower_bound"] if claim["cost"] == "bytes"), None)
    faults.require_close("frontier", f"{location}.lower_bound_bytes", point["lower_bound_bytes"], stated)


_MOST_PAIRS, _MOST_STEPS, _LEAST = 5_000, 300, 1e-9


@dataclass(frozen=True, eq=False)
class _State:
    """A placement and its loads; ``gained`` float64[B]: bytes of copies."""

    placement: Ints
    leader: Ints
    load: Floats
    gained: Floats


@dataclass(frozen=True, eq=False)
class _Rules:
    """``ordered`` bool[D]; ``low``, ``high``, ``most`` float64[B, D]; weights float64[P, D]."""

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
    """Add a fault where steps from the plan's end reach all unmet ordered bands."""
    resources = document["resources"]
    left = [outcome for outcome in resources if outcome["is_ordered"] and outcome["widened_to"] != [None, None]]
    if not left or all(outcome["is_ordered"] for outcome in resources) or not _is_judged(document, parameters):
        return
    if cluster.now.shape[0] * len(cluster.ids) > _MOST_PAIRS or faults.has_any("band", "rack", "capacity"):
        return
    rules = _rules(resources, levels, cluster, parameters)
    state = _start(rules, claimed, cluster, [outcome["resource"] for outcome in resources], levels)
    if _outside(rules, state.load) <= _LEAST:
        return
    for _ in range(_MOST_STEPS):
        step = _best_step(rules, state, cluster, parameters)
        if step is None:
            return
        state = step
        if _outside(rules, state.load) <= _LEAST:
            name = left[0]["resource"]
            message = (
                "the band was ordered and is left, though only default bands stand in the way of one that is inside"
            )
            faults.add("band", f"resources.{name}.widened_to", message)
            return


def _is_judged(document: dict[str, Any], parameters: PlanOptions) -> bool:
    others = parameters.has_budget or parameters.asks_beyond_bands or parameters.at in STEPS
    others = others or stops_at_step(document) is not None
    is_new = document["verdict"] in ("rebalance", "not_fixable_by_moving") and document["continues"] is None
    return is_new and not others and not parameters.preferred_election


def _rules(resources: list[dict[str, Any]], levels: Levels, cluster: ClusterArrays, parameters: PlanOptions) -> _Rules:
    names = [outcome["resource"] for outcome in resources]
    bands = [requested_band(outcome, levels.before[name], levels.capacity[name], cluster, parameters)[0]
             for outcome, name in zip(resources, names, strict=True)]  # fmt: skip
    limits = hard_limits(cluster, levels.limit, levels.before)
    most = np.stack([np.maximum(limits[name], levels.before[name]) for name in names], axis=1)
    for d, name in enumerate(names):
        cap = cap_of(name, levels.capacity[name], len(cluster.ids), parameters)
        if cap is not None:
            most[:, d] = np.minimum(most[:, d], cap)
    rf = (cluster.now >= 0).sum(axis=1)
    weights = [weights_of(name, rf, cluster) for name in names]
    disk = limits.get("disk", np.full(len(cluster.ids), np.inf))
    return _Rules(
        ordered=np.array([bool(outcome["is_ordered"]) for outcome in resources], dtype=np.bool_),
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
    gained = np.zeros(len(cluster.ids))
    line, column = np.nonzero((claimed.after >= 0) & ~_is_on_today(claimed.after, cluster))
    np.add.at(gained, claimed.after[line, column], rules.size[line])
    load = np.stack([levels.after[name] for name in names], axis=1)
    return _State(claimed.after, claimed.leader_after, load, gained)


def _is_on_today(placement: Ints, cluster: ClusterArrays) -> Flags:
    return np.asarray((placement[:, :, None] == cluster.now[:, None, :]).any(axis=2))


def _outside(rules: _Rules, load: Floats) -> float:
    """Load above or below ordered bands, the larger, as a share; summed over resources."""
    over = np.maximum(load - rules.high, 0.0).sum(axis=0)
    under = np.maximum(rules.low - load, 0.0).sum(axis=0)
    return float((np.maximum(over, under) / rules.total)[rules.ordered].sum())


def _best_step(rules: _Rules, state: _State, cluster: ClusterArrays, parameters: PlanOptions) -> _State | None:
    free = ~(cluster.left_alone | cluster.unknown)
    free &= (state.leader >= 0) & ~cluster.must_leave.any(axis=1) & ((state.placement >= 0).sum(axis=1) == _rf(cluster))
    least, best = -_LEAST, None
    for j in range(state.placement.shape[1]):
        source = state.placement[:, j]
        is_led = source == state.leader
        may = free & (source >= 0) & ~is_led & cluster.takes_leaders[source]
        change, row = _gain(rules, state, may, (state.leader, source), rules.extra)
        if change < least:
            least, best = change, _with_leader(rules, state, row, int(source[row]))
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
    source, others = state.placement[:, j], np.delete(state.placement, j, axis=1)
    shares = ((others >= 0) & (cluster.rack[others] == cluster.rack[b])).any(axis=1)
    may = (source >= 0) & ~np.isnan(cluster.size) & ~(state.placement == b).any(axis=1)
    may &= ~shares | (cluster.rack[source] == cluster.rack[b])
    return np.asarray(may & cluster.may_be_on[cluster.place_rule, b])


def _gain(rules: _Rules, state: _State, may: Flags, ends: tuple[Ints, Ints], weight: Floats) -> tuple[float, int]:
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


def _with_leader(rules: _Rules, state: _State, row: int, broker: int) -> _State:
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
