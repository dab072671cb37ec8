"""The cluster that a plan leads to: what rules of findings, and tests, ask of a plan before it is carried out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import count

import numpy as np

from kafka_rebalance.cluster_arrays.snapshot_arrays import planned_brokers
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.plan import Plan
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.snapshot.partition_table import UNKNOWN_BYTES, UNKNOWN_DIR


def carried_out(plan: Plan, snapshot: ClusterSnapshot) -> ClusterSnapshot:
    """Return the snapshot as if the plan were done: new replicas are in sync, as large as their leader, in no known log
    dir. Brokers are as the plan's options make them, volumes as read.
    """
    table, row_of = snapshot.partitions, snapshot.row_of
    moves = {row_of[move.topic, move.partition]: move for move in plan.moves}
    rows = np.array(sorted(moves), dtype=np.int64)
    leader, counts = table.leader.copy(), table.replica_counts
    leader[rows] = [moves[row].leader_to for row in rows.tolist()]
    counts[rows] = [len(moves[row].to_replicas) for row in rows.tolist()]
    row_of_replica = np.repeat(np.arange(len(table)), counts)
    is_rewritten, was_rewritten = np.isin(row_of_replica, rows), np.isin(table.row_of_replica, rows)
    replicas, cell = np.zeros(len(row_of_replica), dtype=np.int32), np.full(len(row_of_replica), -1)  # -1: new
    replicas[~is_rewritten], cell[~is_rewritten] = table.replicas[~was_rewritten], np.flatnonzero(~was_rewritten)
    replicas[is_rewritten] = [broker for row in rows.tolist() for broker in moves[row].to_replicas]
    earlier = [dict(zip(table.replicas_of(row), count(int(table.offsets[row])), strict=False)) for row in rows.tolist()]
    cell[is_rewritten] = [
        cells.get(broker, -1)
        for row, cells in zip(rows.tolist(), earlier, strict=True)
        for broker in moves[row].to_replicas
    ]
    sizes = np.nan_to_num(table.leader_log_bytes, nan=UNKNOWN_BYTES).astype(np.int64)
    is_new = cell < 0

    def remaining(brokers: Mapping[int, tuple[int, ...]]) -> dict[int, tuple[int, ...]]:
        kept = {
            row: tuple(b for b in held if row not in moves or b in moves[row].to_replicas)
            for row, held in brokers.items()
        }
        return {row: held for row, held in kept.items() if held}

    after = replace(
        table, leader=leader, replicas=replicas, offsets=np.concatenate([[0], np.cumsum(counts)]),
        replica_log_bytes=np.where(is_new, sizes[row_of_replica], table.replica_log_bytes[cell]),
        in_sync=None if table.in_sync is None else is_new | table.in_sync[cell],
        log_dir=None if table.log_dir is None else np.where(is_new, UNKNOWN_DIR, table.log_dir[cell]).astype(np.int32),
        offline=remaining(table.offline), observers=remaining(table.observers), eligible=remaining(table.eligible),
    )  # fmt: skip
    return replace(
        snapshot, partitions=after, brokers=planned_brokers(snapshot, PlanOptions.from_document(plan.parameters))
    )
