"""CPU by broker → CPU of the partitions that each leads, by Cruise Control's coefficients, as the planner does it.

A leader costs by what is written to it and sent from it, a follower by what it copies. One factor for the whole cluster
makes of these costs percent, so that all brokers together have what was measured. Brokers differ from it (hardware,
compression, clients that connect anew): by how much is told.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kafka_rebalance.arrays import Floats
from kafka_rebalance.cluster_arrays.problem import DEFAULTS, CpuParams
from kafka_rebalance.snapshot.load_kind import LoadKind
from kafka_rebalance.snapshot.model import ClusterSnapshot


def cpu_of_leaders(
    snapshot: ClusterSnapshot,
    by_broker: Mapping[int, float],
    rates: Mapping[LoadKind, Floats],
    params: CpuParams = DEFAULTS.cpu,
) -> tuple[Floats, str] | None:
    """float64[P] percent of each leader, and how far brokers are from it in words; None where nothing costs anything.

    ``by_broker`` in percent (100: one core); ``rates`` holds what is written and read, float64[P] each.
    """
    table = snapshot.partitions
    written = rates[LoadKind.IN_BYTES_PER_S]
    sent = rates[LoadKind.OUT_BYTES_PER_S] + written * (table.replica_counts - 1)
    leader_cost = params.leader_in * written + params.leader_out * sent
    follower_cost = np.minimum(params.follower_in * written, leader_cost)
    row = table.row_of_replica
    costs = np.where(table.replicas == table.leader[row], leader_cost[row], follower_cost[row])
    ids = np.array(sorted(by_broker), dtype=np.int64)
    measured = np.array([by_broker[int(broker)] for broker in ids])
    of_broker = np.array([float(np.nansum(costs[table.replicas == broker])) for broker in ids])
    if of_broker.sum() <= 0 or measured.sum() <= 0:
        return None
    factor = float(measured.sum() / of_broker.sum())
    off = np.abs(factor * of_broker - measured) / np.maximum(measured, np.finfo(np.float64).tiny)
    words = f"{len(ids):,} brokers, shared out by bytes; a broker's sum is {np.median(off):.0%} off in the median"
    return factor * leader_cost, f"{LoadKind.CPU_PERCENT.value}: {words}, {off.max():.0%} at most"
