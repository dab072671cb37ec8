"""What ``verify`` recomputes of a plan beside the neutral scorer's figures: the farthest that they are apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.verify import verify_plan
from kafka_rebalance.verify.cluster import cluster_arrays, read_moves
from kafka_rebalance.verify.document import read_parameters
from kafka_rebalance.verify.faults import FaultList
from kafka_rebalance.verify.loads import recompute

SCORERS = {"disk": "disk", "in": "nw_in", "out": "nw_out", "cpu": "cpu", "replicas": "replicas", "leaders": "leaders"}


def farthest_apart(document: dict[str, Any], snapshot: ClusterSnapshot, scored: dict[str, Any]) -> float:
    """Largest relative difference over max, min and spread of every resource, before and after, costs and topics.

    Infinite where ``verify`` finds the plan wrong: then what it recomputes is not what the document says.
    """
    parameters = read_parameters(document["parameters"], FaultList())
    if parameters is None or verify_plan(document, snapshot).wrong:
        return float("inf")
    cluster = cluster_arrays(snapshot, parameters)
    claimed = read_moves(document["moves"], snapshot, cluster, FaultList())
    if claimed is None:
        return float("inf")
    levels, cost = recompute(claimed, cluster, parameters), document["cost"]
    pairs = [
        (cost["bytes"], scored["bytes_moved"]),
        (cost["replica_moves"], scored["n_replica_moves"]),
        (cost["leader_changes"], scored["n_leader_moves"]),
    ]
    for side, loads in (("before", levels.before), ("after", levels.after)):
        for name in loads.keys() & SCORERS.keys():  # it knows nothing of what is measured on request
            load, capacity = loads[name], levels.capacity[name]
            level = (load if capacity is None else load / capacity)[cluster.stays]
            mean = float(
                load[cluster.stays].sum() / (len(level) if capacity is None else capacity[cluster.stays].sum())
            )
            stats = scored[f"stats_{side}"][SCORERS[name]]
            if mean > 0:
                spread = float(np.sqrt(np.mean((level - mean) ** 2))) / mean
                pairs += [(level.max() / mean, stats["max_over_mean"]), (spread, stats["cv"])]
                pairs.append((level.min() / mean, stats["min"] / stats["mean"]))
    sides = [scored[f"stats_{side}"]["topic_excess_replicas"] for side in ("before", "after")]
    pairs += list(zip(document["topic_excess_replicas"], sides, strict=True))
    return max(abs(ours - theirs) / max(abs(theirs), 1.0) for ours, theirs in pairs)
