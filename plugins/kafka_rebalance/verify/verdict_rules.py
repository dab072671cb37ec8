"""Checks that the verdict follows from the loads. The state after the next preferred election counts like today's.

- ``rebalance``: the moves repair a hard rule or lower the imbalance.
- ``nothing_to_do``: every broker is inside its band. If no band is given, within the dead band, or a plan does not
  pay. Or no single step within the budget helps.
- ``not_fixable_by_moving``: no moves, and a broker is outside its band, or a needed move waits for a replica or a
  running reassignment.
- ``infeasible``: no moves, and today's placement breaks a hard rule.

``step_within_budget`` searches one step that lowers the imbalance: a leader change, or a replica move (with its
leadership) to a broker in the same rack or in one without another replica. O(P·W·(B + W)·D).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kafka_rebalance.options.plan_options import STEPS, PlanOptions
from kafka_rebalance.verify.cluster import ClusterArrays, Flags, Floats, Ints
from kafka_rebalance.verify.document import reason_args, stops_at_step
from kafka_rebalance.verify.faults import FaultList
from kafka_rebalance.verify.loads import (
    COUNTS,
    SLACK,
    Band,
    Levels,
    breaks_a_hard_rule,
    hard_limits,
    is_above_a_cap,
    is_ordered,
    must_change,
    nearly_full,
    relieved_most,
    requested_band,
    waits_for_reassignment,
    waits_for_sync,
    weights_of,
)

# Smaller gains are rounding.
_LEAST = 1e-6


@dataclass(frozen=True, eq=False)
class _Table:
    names: list[str]
    load: Floats
    low: Floats
    high: Floats
    limit: Floats
    follower: Floats
    extra: Floats
    outside: Floats
    total: Floats


def step_within_budget(
    bands: dict[str, Band], levels: Levels, cluster: ClusterArrays, parameters: PlanOptions
) -> str | None:
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
            row = _first(table, may, (cluster.leader, target), (table.extra, table.extra))
            if row is not None:
                return f"another leader of partition row {row}"
    return _moved(table, cluster, parameters, free) if parameters.moves_replicas else None


def _table(names: list[str], bands: dict[str, Band], levels: Levels, cluster: ClusterArrays) -> _Table:
    rf = (cluster.now >= 0).sum(axis=1)
    weights = [weights_of(name, rf, cluster) for name in names]
    limits = hard_limits(cluster, levels.limit, levels.before)
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
            row = _first(table, may, (source, target), (leaving, arriving))
            if row is not None:
                return f"a replica of partition row {row} on broker {int(cluster.ids[b])}"
    return None


def _with_own_size(table: _Table, cluster: ClusterArrays, weight: Floats, j: int) -> Floats:
    if "disk" not in table.names:
        return weight
    d, own = table.names.index("disk"), cluster.own_bytes[:, j]
    result = weight.copy()
    result[:, d] = np.where(np.isnan(own), weight[:, d], own)
    return result


def _first(table: _Table, may: Flags, ends: tuple[Ints, Ints], weights: tuple[Floats, Floats]) -> int | None:
    """Return the first allowed partition whose load is better on another broker within hard limits."""
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


# Widens the dead band of a plan without moves.
_EDGE = 0.1
_SAME_DISKS = 1.01
_LIMITS = ("max_move_bytes", "max_moves", "max_leader_changes", "max_hours")
_IDLE = ("nothing_to_do", "infeasible", "not_fixable_by_moving", "cannot_tell")


def check_verdict(
    document: dict[str, Any],
    levels: Levels,
    cluster: ClusterArrays,
    parameters: PlanOptions,
    faults: FaultList,
    *,
    keeps_today: bool = True,
    is_lasting: bool = True,
) -> None:
    """``keeps_today``: ``--survive`` and ``--min-topic-leaders`` hold today; ``is_lasting``: also after an election."""
    verdict, moves = document["verdict"], document["moves"]
    if verdict == "rebalance" and not moves:
        faults.add("verdict", "plan.verdict", "rebalance without moves")
    if verdict in _IDLE and moves:
        faults.add("verdict", "plan.verdict", f"{verdict} with {len(moves)} moves")
    if not document["reasons"]:
        faults.add("verdict", "plan.reasons", "no reason is given")
    if faults.has_any("verdict", "resource", "before", "band"):
        return
    if verdict == "infeasible" and keeps_today and not breaks_a_hard_rule(cluster, parameters, levels):
        faults.add("verdict", "plan.verdict", "today's placement breaks no hard rule: it may stay")
    if verdict not in ("infeasible", "cannot_tell") and (is_lasting or verdict != "rebalance"):
        _check_against_bands(document, levels, cluster, parameters, faults)


def _check_against_bands(
    document: dict[str, Any], levels: Levels, cluster: ClusterArrays, parameters: PlanOptions, faults: FaultList
) -> None:
    verdict = document["verdict"]
    bands = _bands(document, levels, cluster, parameters)
    full = _check_nearly_full(document, levels, cluster, parameters, faults)
    if verdict == "rebalance":
        _check_stop(document, levels, cluster, parameters, faults)
        _check_effect(document, bands, levels, cluster, parameters, faults)
    elif verdict == "nothing_to_do":
        if parameters.at in STEPS and stops_at_step(document) is not None:
            _check_stops_before_all(parameters, cluster, faults)
            return
        if waits_for_sync(cluster, parameters):
            faults.add("verdict", "plan.verdict", "what must move waits for a replica that is out of sync")
        if waits_for_reassignment(cluster, parameters):
            faults.add("verdict", "plan.verdict", "a running reassignment fills a broker that is to be empty")
        if full and not parameters.has_budget and parameters.at not in STEPS:
            faults.add("verdict", "plan.verdict", f"a broker is nearly full: {full[0]}")
        was = max(imbalance(bands, load, cluster) for load in (levels.before, levels.elected_before))
        _check_within_dead_band(document, bands, was, levels, cluster, parameters, faults)
    elif verdict == "not_fixable_by_moving" and not (
        full
        or _outside(bands, levels.before, cluster)
        or _outside(bands, levels.elected_before, cluster)
        or waits_for_sync(cluster, parameters)
        or waits_for_reassignment(cluster, parameters)
    ):
        faults.add("verdict", "plan.verdict", "every broker is inside its band")


def _bands(
    document: dict[str, Any],
    levels: Levels,
    cluster: ClusterArrays,
    parameters: PlanOptions,
    *,
    relieves: bool = True,
) -> dict[str, Band]:
    return {
        (name := outcome["resource"]): requested_band(
            outcome, levels.before[name], levels.capacity[name], cluster, parameters, relieves=relieves
        )[0]
        for outcome in document["resources"]
    }


def _check_nearly_full(
    document: dict[str, Any], levels: Levels, cluster: ClusterArrays, parameters: PlanOptions, faults: FaultList
) -> list[str]:
    """Return resources with a broker that is nearly full, after a check of the reasons that name them."""
    nearly_full_of = {}
    for outcome in document["resources"]:
        name = outcome["resource"]
        load, capacity = levels.before[name], levels.capacity[name]
        plain = requested_band(outcome, load, capacity, cluster, parameters)[1]
        full = nearly_full(name, load, plain, cluster, parameters)
        if full is not None:
            at = int((full.share >= full.share.max() * (1 - SLACK)).argmax())
            nearly_full_of[name] = {
                "brokers": int(full.brokers.sum()), "broker": int(cluster.ids[at]),
                "capacity_share": float(full.share[at]), "mean_share": full.mean_share,
                "relieved_to": full.relieved_to,
            }  # fmt: skip
    for reason in document["reasons"]:
        if reason["code"] == "brokers_nearly_full":
            claimed = dict(reason["args"])
            expected = nearly_full_of.get(claimed.pop("resource", None))
            if expected is None or not is_same(claimed, expected):
                faults.add("verdict", "plan.reasons", f"says {reason['args']} of nearly full brokers, found {expected}")
    return list(nearly_full_of)


def is_same(claimed: Mapping[str, Any], recomputed: Mapping[str, Any]) -> bool:
    """Whether the arguments of a fact are these, floats within rounding."""
    return claimed.keys() == recomputed.keys() and all(
        claimed[name] == value
        or (isinstance(claimed[name], int | float) and value is not None and math.isclose(claimed[name], value))
        for name, value in recomputed.items()
    )


def _check_stop(
    document: dict[str, Any], levels: Levels, cluster: ClusterArrays, parameters: PlanOptions, faults: FaultList
) -> None:
    """A plan ends before its last step where it was asked to, or after relief inside the dead band."""
    stops = stops_at_step(document)
    if stops is None:
        return
    is_requested = parameters.at in STEPS
    last = parameters.at if is_requested else "relieve"
    if (stops.get("step"), stops.get("is_asked")) != (last, is_requested):
        faults.add("verdict", "plan.reasons", f"the plan ends after {stops.get('step')!r}, it may after {last!r}")
    if is_requested:
        return
    if parameters.is_explicit or not document["steps"] or document["steps"][-1]["kind"] != last:
        faults.add(
            "verdict", "plan.reasons", "only a plan that relieves ends before all brokers are inside their bands"
        )
    for name, most in relieved_most(document, levels, cluster, parameters).items():
        if (cluster.stays & (levels.after[name] > most * (1 + SLACK) + SLACK)).any():
            faults.add("verdict", "plan.reasons", f"{name}: the plan ends with a broker above where relief ends")
    bands = _bands(document, levels, cluster, parameters, relieves=False)
    for states in ((levels.before, levels.elected_before), (levels.after, levels.elected_after)):
        off = max(worst_deviation_from_share(bands, load, cluster, parameters) for load in states)
        if off > parameters.dead_band * (1 + _EDGE) + SLACK:
            faults.add("verdict", "plan.reasons", f"some broker is {off:.0%} from its share, outside the dead band")


def _check_stops_before_all(parameters: PlanOptions, cluster: ClusterArrays, faults: FaultList) -> None:
    if parameters.at != "elect" and must_change(cluster, parameters):
        faults.add("verdict", "plan.verdict", "something must change, and the step that was asked for repairs it")


def _check_effect(
    document: dict[str, Any],
    bands: dict[str, Band],
    levels: Levels,
    cluster: ClusterArrays,
    parameters: PlanOptions,
    faults: FaultList,
) -> None:
    # A confirmed plan was approved: its gain was judged then.
    if must_change(cluster, parameters) or parameters.preferred_election or document["continues"] is not None:
        return
    if is_above_a_cap(cluster, parameters, levels):  # the plan must keep it at any cost
        return
    if any(step["kind"] == "relieve" for step in document["steps"]):  # judged in verify/steps.py
        return
    if all(move["kind"] == "order" for move in document["moves"]):  # judged by moves.follower_order
        return
    was, left = _first_change(bands, levels, cluster, parameters)
    if left >= was and parameters.has_budget:  # a plan cut by a budget counts all bands alike
        was, left = _worse_state(bands, levels, cluster)
    if not left < was + SLACK or was <= SLACK:
        faults.add("verdict", "plan.verdict", f"rebalance takes nothing off the imbalance: {was:.3g}, then {left:.3g}")


def _first_change(
    bands: dict[str, Band], levels: Levels, cluster: ClusterArrays, parameters: PlanOptions
) -> tuple[float, float]:
    """Imbalance before and after, of the first rank of bands that changes, else of all."""
    ranks = {name: _rank(name, levels, cluster, parameters) for name in bands}
    was = left = 0.0
    for step in sorted(set(ranks.values())):
        some = {name: band for name, band in bands.items() if ranks[name] <= step}
        was, left = _worse_state(some, levels, cluster)
        if abs(was - left) > SLACK:
            break
    return was, left


def _worse_state(bands: dict[str, Band], levels: Levels, cluster: ClusterArrays) -> tuple[float, float]:
    """Imbalance before and after, each the worse of now and after a preferred election."""
    was = max(imbalance(bands, load, cluster) for load in (levels.before, levels.elected_before))
    return was, max(imbalance(bands, load, cluster) for load in (levels.after, levels.elected_after))


def _rank(name: str, levels: Levels, cluster: ClusterArrays, parameters: PlanOptions) -> int:
    """Rank of a band; higher ones yield: defaults to requests, unknown capacities to disks that differ."""
    disks = levels.capacity.get("disk")
    capacities = np.zeros(0) if disks is None else disks[cluster.stays]
    differ = (
        bool(len(capacities))
        and float(capacities.max()) > _SAME_DISKS * float(capacities.min())
        and "disk" in levels.before
    )
    is_assumed = differ and levels.capacity.get(name) is None
    return 2 * (not is_ordered(name, parameters)) + is_assumed


def _check_within_dead_band(
    document: dict[str, Any],
    bands: dict[str, Band],
    was: float,
    levels: Levels,
    cluster: ClusterArrays,
    parameters: PlanOptions,
    faults: FaultList,
) -> None:
    outside = [*_outside(bands, levels.before, cluster), *_outside(bands, levels.elected_before, cluster)]
    if parameters.preferred_election or not outside:
        return
    name, location = outside[0], "plan.verdict"
    if parameters.has_budget and (claimed := reason_args(document, "budget_allows_nothing")) is not None:
        if any(claimed.get(name) != document["parameters"][name] for name in _LIMITS):
            faults.add("verdict", "plan.reasons", "the budget is another one than that of the parameters")
        now = imbalance(bands, levels.before, cluster)
        faults.require_close("verdict", "plan.reasons", _number(claimed.get("imbalance")), now, 1.0)
        # A preferred election may undo a step that helps today.
        is_settled = bool((cluster.preferred == cluster.leader).all())
        step = step_within_budget(bands, levels, cluster, parameters) if is_settled else None
        if step is not None:
            faults.add("verdict", location, f"the budget allows a step that lowers the imbalance: {step}")
        return
    if parameters.is_explicit:
        faults.add("verdict", location, f"{name} stands outside the band that was asked for")
        return
    allowed = parameters.dead_band * (1 + _EDGE)
    states = (levels.before, levels.elected_before)
    off = max(worst_deviation_from_share(bands, load, cluster, parameters) for load in states)
    if off <= allowed + SLACK:
        return
    rejected = reason_args(document, "does_not_pay")
    if rejected is None or not _does_not_pay(rejected, was, cluster, parameters):
        text = f"{name} stands outside its band, some broker {off:.0%} from its share, and no figures say why it stays"
        faults.add("verdict", location, text)


def _does_not_pay(rejected: Mapping[str, Any], was: float, cluster: ClusterArrays, parameters: PlanOptions) -> bool:
    total = float(np.nan_to_num(cluster.size).sum())
    names = ("copied_bytes", "copied_share", "imbalance_removed")
    copied, share, gain = (_number(rejected.get(name)) for name in names)
    if copied is None or share is None or gain is None or abs(copied - share * total) > SLACK * (total + 1):
        return False
    return gain <= was + SLACK and gain <= parameters.least_gain_per_byte * share + SLACK


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def imbalance(bands: dict[str, Band], load: dict[str, Floats], cluster: ClusterArrays) -> float:
    """Share of load above or below the bands, the larger one, summed over resources."""
    total = 0.0
    for name, band in bands.items():
        carried = float(load[name].sum())
        if carried > 0:
            over = np.maximum(load[name] - band.high, 0.0)[cluster.stays].sum()
            under = np.maximum(band.low - load[name], 0.0)[cluster.stays].sum()
            total += float(max(over, under)) / carried
    return total


def worst_deviation_from_share(
    bands: dict[str, Band], load: dict[str, Floats], cluster: ClusterArrays, parameters: PlanOptions
) -> float:
    """Return the deviation of the worst broker outside its band: 0.3 at 1.3 or 0.7 times the share.

    A count within one of the share is at its share.
    """
    worst = 0.0
    for name, band in bands.items():
        share = band.high / (1 + (parameters.band or 0.0))
        usable = cluster.stays & np.isfinite(share) & (share > 0)
        is_out = usable & ((load[name] < band.low) | (load[name] > band.high))
        if name in COUNTS:
            is_out &= np.abs(load[name] - share) > 1
        if is_out.any():
            worst = max(worst, float(np.abs(load[name][is_out] / share[is_out] - 1).max()))
    return worst


def _outside(bands: dict[str, Band], load: dict[str, Floats], cluster: ClusterArrays) -> list[str]:
    names = []
    for name, band in bands.items():
        finite = np.where(np.isfinite(band.high), band.high, 0.0)
        slack = 2 * SLACK * (float(finite.max(initial=0.0)) + 1)
        if (cluster.stays & ((load[name] > band.high + slack) | (load[name] < band.low - slack))).any():
            names.append(name)
    return names
