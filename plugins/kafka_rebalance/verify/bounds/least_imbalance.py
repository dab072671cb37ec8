"""How even any plan within the budget can be at best, recomputed from what a plan claims of it.

Imbalance: load outside its bands, above or below whichever is more, over all load of the resource; summed up over
resources. For prices π (imbalance per unit of load) of which, resource by resource, the highest and the lowest are no
farther apart than 1 / (all load), and charges >= 0 for bytes, moves and leader changes, no plan within the budget is
more even than

    Σ over partitions of min over placements (Σ π · load placed + charges)
    - Σ π⁺ · high + Σ π⁻ · low - Σ charge · budget

Prices that are farther apart are brought nearer; a cost without a limit cannot be charged. What time allows stands for
bytes: all who may receive can be sent so much at the throttle.

Example: half of all load stands above, one move may take a quarter away: 0.25 can be proved.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.verify.bounds.prices import Charges, price_bound
from kafka_rebalance.verify.cluster.arrays import ClusterArrays, Floats
from kafka_rebalance.verify.cluster.outcomes import Levels
from kafka_rebalance.verify.cluster.resource_bands import Band, asked_band, wanted_rf
from kafka_rebalance.verify.cluster.resource_weights import weights_of
from kafka_rebalance.verify.faults import FaultList
from kafka_rebalance.verify.verdict_rules import imbalance

_COSTS = ("bytes", "replica_moves", "leader_changes")
_ROUNDING = 1e-7  # of shares that are summed up in another order


def check_within_budget(
    document: Mapping[str, Any], levels: Levels, cluster: ClusterArrays, parameters: PlanOptions, faults: FaultList
) -> None:
    """The claim is there for plans that move something and were told to stop early; it is what can be recomputed."""
    claimed, place = document["within_budget"], "plan.within_budget"
    if claimed is None:
        return
    if not parameters.has_budget or document["verdict"] != "rebalance":
        faults.add("within_budget", place, "is claimed without a budget, or nothing moves")
        return
    outcomes = {outcome["resource"]: outcome for outcome in document["resources"]}
    bands = {
        name: asked_band(outcome, levels.before[name], levels.capacity[name], cluster, parameters)[0]
        for name, outcome in outcomes.items()
    }
    was, left = imbalance(bands, levels.before, cluster), imbalance(bands, levels.after, cluster)
    for name, found in (("imbalance_before", was), ("imbalance_after", left)):
        if abs(claimed[name] - found) > _ROUNDING * max(found, 1.0):
            faults.add("within_budget", f"{place}.{name}", f"says {claimed[name]:.6g}, found {found:.6g}")
    limits = _limits(cluster, parameters)
    _check_prices(claimed, place, bands, limits, cluster, faults)
    least = claimed["least_imbalance"]
    if least is None:
        if claimed["prices"] or claimed["charges"]:
            faults.add("within_budget", place, "prices that prove nothing")
        return
    proved = max(0.0, _proved(claimed, limits, bands, cluster, parameters))
    if least < 0 or least > left + _ROUNDING * max(left, 1.0):
        faults.add("within_budget", f"{place}.least_imbalance", f"says {least:.6g}, and the plan comes to {left:.6g}")
    if abs(least - proved) > _ROUNDING * max(proved, 1.0):
        faults.add("within_budget", f"{place}.least_imbalance", f"says {least:.6g}, {proved:.6g} can be proved")


def _check_prices(
    claimed: Mapping[str, Any],
    place: str,
    bands: Mapping[str, Band],
    limits: Mapping[str, float | None],
    cluster: ClusterArrays,
    faults: FaultList,
) -> None:
    """Whatever they are, the bound stands; but they are prices of something."""
    brokers = set(map(str, cluster.ids.tolist()))
    for name, by_broker in claimed["prices"].items():
        if name not in bands or by_broker.keys() - brokers or 0 in by_broker.values():
            faults.add(
                "within_budget", f"{place}.prices.{name[:20]}", "is of no balanced resource or broker, or nothing"
            )
    for cost, charge in claimed["charges"].items():
        if limits.get(cost) is None or not charge > 0:
            faults.add("within_budget", f"{place}.charges.{cost[:20]}", "is of no cost with a limit, or nothing")


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
    charge = {cost: max(0.0, float(claimed["charges"].get(cost, 0.0))) for cost in _COSTS}
    charge = {cost: 0.0 if limits[cost] is None else charge[cost] for cost in _COSTS}
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
    return value - sum(charge[cost] * float(limits[cost] or 0.0) for cost in _COSTS)


def _near_enough(name: str, prices: Floats, cluster: ClusterArrays, parameters: PlanOptions) -> Floats:
    """No farther apart than 1 / (the most that brokers could carry in all)."""
    prices = np.where(cluster.stays, prices, 0.0)
    rf = wanted_rf(cluster, parameters)
    per_replica, per_leader = weights_of(name, rf, cluster)
    there = cluster.now >= 0
    total = float((per_replica * np.maximum(rf, there.sum(axis=1))).sum() + per_leader.sum())
    if name == "disk":
        beyond = np.where(there & ~np.isnan(cluster.own_bytes), cluster.own_bytes - per_replica[:, None], 0.0)
        total += float(np.maximum(beyond, 0.0).sum())
    span = float(np.maximum(prices, 0.0).max(initial=0.0) + np.maximum(-prices, 0.0).max(initial=0.0))
    return np.asarray(prices / max(1.0, span * total))


def _along(by_broker: Mapping[str, float], cluster: ClusterArrays) -> Floats:
    """float64[B]; brokers that are not there are a fault of their own."""
    return np.array([float(by_broker.get(str(broker), 0.0)) for broker in cluster.ids.tolist()])
