"""Bounds on moves and on time that the plan's own prices prove, and on bytes with covers, recomputed.

Bytes: prices beside those of the certificate, and sets of replicas that do not fit on a broker (``covers.py``).
Moves: every copy counts 1; what prices prove is rounded up, for moves are whole. Time: each byte counts what is claimed
of the broker that it comes to, and of today's leader's broker, which sends it; all of these together are 1, so that the
busiest broker, in or out, is no less busy than their mean.

Example: sending 1 at broker 3, nothing else: the bound is what broker 3 sends in any plan within the bands.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.verify.bounds.covers import check_covers, surcharges_of
from kafka_rebalance.verify.bounds.prices import Charges, price_bound
from kafka_rebalance.verify.cluster.arrays import ClusterArrays, Floats
from kafka_rebalance.verify.cluster.resource_bands import Band
from kafka_rebalance.verify.faults import FaultList

# Sums of prices are exact to this share; a number of moves that is whole but for it is not rounded up.
_WHOLE = 1e-6
_COSTS = ("bytes", "replica_moves", "seconds")


def proved_costs(
    proofs: Mapping[str, Any], bands: Mapping[str, Band], cluster: ClusterArrays, parameters: PlanOptions
) -> dict[str, float]:
    """By cost: bytes, moves, and the bytes of the busiest broker for ``seconds``. Other costs prove nothing."""
    found = {}
    for cost in _COSTS:
        if cost not in proofs:
            continue
        claimed = proofs[cost]
        prices = {name: _along(by_broker, cluster) for name, by_broker in claimed["prices"].items() if name in bands}
        if cost == "bytes":
            dearer = surcharges_of(claimed["covers"], bands, cluster, parameters)
            found[cost] = max(0.0, price_bound(cluster, parameters, bands, prices, dearer=dearer))
            continue
        if cost == "replica_moves":
            charges = Charges(np.ones(len(cluster.size)), np.zeros(len(cluster.ids)))
            value = price_bound(cluster, parameters, bands, prices, charges)
            found[cost] = max(0.0, float(np.ceil(value - _WHOLE * max(value, 1.0))))
            continue
        # Shares below nothing count as none: what they take off elsewhere they would add here.
        receiving = np.maximum(_along(claimed["receiving"], cluster), 0.0)
        sending = np.maximum(_along(claimed["sending"], cluster), 0.0)
        sent = np.where(cluster.leader >= 0, sending[np.maximum(cluster.leader, 0)], 0.0)
        value = price_bound(cluster, parameters, bands, prices, Charges(np.nan_to_num(cluster.size) * sent, receiving))
        shares = float(receiving.sum() + sending.sum())
        found[cost] = max(0.0, value / shares) if shares > 0 else 0.0
    return found


def check_proofs(document: Mapping[str, Any], cluster: ClusterArrays, faults: FaultList) -> None:
    """Bounds stand or fall by what is claimed; but it is claimed of something, and no share is below nothing."""
    resources = [outcome["resource"] for outcome in document["resources"]]
    brokers = set(map(str, cluster.ids.tolist()))
    for cost, claimed in document["proofs"].items():
        place = f"plan.proofs.{cost[:20]}"
        if cost not in _COSTS or not document["moves"]:
            faults.add("certificate", place, "is of no cost that prices prove, or nothing moves")
        for name, by_broker in claimed["prices"].items():
            if name not in resources or by_broker.keys() - brokers or 0 in by_broker.values():
                faults.add("certificate", f"{place}.{name[:20]}", "is of no balanced resource or broker, or nothing")
        for direction in ("receiving", "sending"):
            shares = claimed[direction]
            if shares.keys() - brokers or any(share <= 0 for share in shares.values()):
                faults.add("certificate", f"{place}.{direction}", "is of no broker, or no share of anything")
        if bool(claimed["receiving"] or claimed["sending"]) != (cost == "seconds"):
            faults.add("certificate", place, "shares of brokers count for time, and for nothing else")
        if bool(claimed["covers"]) != (cost == "bytes"):
            faults.add("certificate", place, "covers are of bytes, which prices alone prove in the certificate")
        check_covers(claimed["covers"], f"{place}.covers", resources, cluster, faults)


def _along(by_broker: Mapping[str, float], cluster: ClusterArrays) -> Floats:
    """float64[B]; brokers that are not there are a fault of their own."""
    return np.array([float(by_broker.get(str(broker), 0.0)) for broker in cluster.ids.tolist()])
