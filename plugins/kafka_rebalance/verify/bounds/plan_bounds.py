"""The plan's lower bounds: there, not above the cost, provable, and as strong as simple counting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kafka_rebalance.facts import BoundProof
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.verify.bounds.cost_proofs import check_proofs, proved_costs
from kafka_rebalance.verify.bounds.counting import least_copied, least_leader_changes, least_seconds, most_sent
from kafka_rebalance.verify.bounds.prices import price_bound
from kafka_rebalance.verify.cluster.arrays import ClusterArrays, Floats
from kafka_rebalance.verify.cluster.outcomes import Levels
from kafka_rebalance.verify.cluster.resource_bands import Band, band_of
from kafka_rebalance.verify.faults import FaultList

COSTS = ("bytes", "replica_moves", "leader_changes", "seconds")
# Sums of a million numbers taken in another order differ by about this share.
ROUNDING = 1e-7
SLACK_WHERE_NONE_IS_GIVEN = 0.05
PROOFS = frozenset(proof.value for proof in BoundProof)


def recomputed_bounds(
    document: Mapping[str, Any], levels: Levels, cluster: ClusterArrays, parameters: PlanOptions
) -> dict[str, float]:
    """The best bound that can be recomputed, for each cost that is known: by counting, and by the plan's own prices."""
    bands = {
        outcome["resource"]: band_of(
            outcome, levels.before[outcome["resource"]], levels.capacity[outcome["resource"]], cluster, parameters
        )
        for outcome in document["resources"]
    }
    found = counting_bounds(document, bands, levels, cluster, parameters)
    of_costs: dict[str, float] = {}
    if parameters.moves_replicas:
        of_costs = proved_costs(document["proofs"], bands, cluster, parameters)
        found["replica_moves"] = max(found["replica_moves"], of_costs.get("replica_moves", 0.0))
    if "bytes" in found and parameters.moves_replicas:
        prices = {
            name: _by_index(by_broker, cluster) for name, by_broker in document["certificate"].items() if name in bands
        }
        proved = (price_bound(cluster, parameters, bands, prices), of_costs.get("bytes", 0.0))
        found["bytes"] = max(found["bytes"], *proved)
    throttle = max([1, *(wave["throttle_bytes_per_s"] for wave in document["waves"])])
    if "bytes" in found:
        arrives = least_seconds(cluster, bands, levels.before, found["bytes"], throttle)
        busiest = max(most_sent(cluster, parameters), of_costs.get("seconds", 0.0))
        found["seconds"] = max(arrives, busiest / throttle)
    return found


def counting_bounds(
    document: Mapping[str, Any],
    bands: Mapping[str, Band],
    levels: Levels,
    cluster: ClusterArrays,
    parameters: PlanOptions,
) -> dict[str, float]:
    """Bounds that need no hint. Bytes only where sizes are known."""
    before = {name: levels.before[name] for name in bands}
    found = {"leader_changes": least_leader_changes(cluster, parameters, bands, before), "replica_moves": 0.0}
    if document["cost"]["bytes"] is not None:
        found["bytes"] = 0.0
    if parameters.moves_replicas:
        found["replica_moves"] = least_copied(cluster, parameters, bands, before, np.ones(len(cluster.size)))
        if "bytes" in found:
            found["bytes"] = least_copied(cluster, parameters, bands, before, np.nan_to_num(cluster.size))
    return found


def check_bounds(
    document: dict[str, Any], levels: Levels, cluster: ClusterArrays, parameters: PlanOptions, faults: FaultList
) -> dict[str, float]:
    """Each cost has one bound; see the rules ``bound_*`` and ``gap``. Returns what was recomputed of them."""
    _check_prices(document, cluster, faults)
    check_proofs(document, cluster, faults)
    has_plan = document["verdict"] not in ("infeasible", "cannot_tell")
    found = recomputed_bounds(document, levels, cluster, parameters) if has_plan else {}
    stated = {claim["cost"]: claim for claim in document["lower_bound"]}
    cost = document["cost"]
    wanted = [name for name in COSTS if cost[name] is not None]
    if sorted(stated) != sorted(wanted) or len(stated) != len(document["lower_bound"]):
        faults.add("bound_missing", "plan.lower_bound", f"holds {sorted(stated)}, costs are {sorted(wanted)}")
        return found
    for name, bound in stated.items():
        _check_bound(name, bound, float(cost[name]), found.get(name, 0.0), faults)
    _check_slack(stated, document["parameters"], faults)
    return found


def _check_prices(document: dict[str, Any], cluster: ClusterArrays, faults: FaultList) -> None:
    """Whatever the prices are, the bound stands; but they are prices of something."""
    prices, resources = document["certificate"], [outcome["resource"] for outcome in document["resources"]]
    brokers = set(map(str, cluster.ids.tolist()))
    if prices and not document["moves"]:
        faults.add("certificate", "plan.certificate", "nothing moves, yet prices are told")
    for name, by_broker in prices.items():
        if name not in resources or by_broker.keys() - brokers or 0 in by_broker.values():
            faults.add("certificate", f"certificate.{name[:20]}", "is of no balanced resource or broker, or nothing")


def _check_bound(name: str, bound: dict[str, Any], cost: float, found: float, faults: FaultList) -> None:
    place = f"lower_bound.{name}"
    value, slack = bound["value"], ROUNDING * max(cost, 1.0)
    if value < 0 or value > cost + slack:
        faults.add("bound_above_cost", place, f"{value:g} against a cost of {cost:g}")
    if value > found + slack:
        faults.add("bound_not_proved", place, f"says {value:g}, {found:g} can be proved")
    if value < min(found, cost) - slack:
        faults.add("bound_weak", place, f"says {value:g}, {found:g} can be proved")
    if bound["proof"] not in PROOFS:
        faults.add("bound_missing", place, f"{bound['proof'][:40]!r} is no proof that we know")
    gap = None if value <= 0 < cost else 0.0 if value <= 0 else (cost - value) / value
    faults.require_close("gap", f"{place}.gap", bound["gap"], gap, 1.0)


def _check_slack(stated: Mapping[str, dict[str, Any]], parameters: Mapping[str, Any], faults: FaultList) -> None:
    """Whether each cost is within the slack of its bound; not told where nothing was said of the costs."""
    slack = parameters["slack"]
    is_told = slack is not None or parameters["prefer"] != "bytes"
    most = SLACK_WHERE_NONE_IS_GIVEN if slack is None else slack
    for name, bound in stated.items():
        is_within = (bound["gap"] is not None and bound["gap"] <= most) if is_told else None
        faults.require_equal("gap", f"lower_bound.{name}.is_within_slack", bound["is_within_slack"], is_within)


def _by_index(prices: Mapping[str, float], cluster: ClusterArrays) -> Floats:
    index = cluster.index_of
    values = np.zeros(len(cluster.ids))
    for broker, price in prices.items():
        if int(broker) in index:
            values[index[int(broker)]] = price
    return values
