"""Effect of a plan on one broker, without a plan the remedy and its least cost; and the cluster after a plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count

import numpy as np

from kafka_rebalance.cluster_arrays.snapshot_arrays import planned_brokers
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.findings.context import NOTHING, Evidence, FindingContext, outcome_for
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.plan import Plan
from kafka_rebalance.resources import TABLE
from kafka_rebalance.scoring.scores import BrokerScore
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.snapshot.partition_table import UNKNOWN_BYTES, UNKNOWN_DIR

LOAD_NAMES = {row.name: row.load_name for row in TABLE}


def plan_outcome(context: FindingContext, score: BrokerScore, otherwise: Fact) -> Fact:
    plan = context.plan
    if plan is None:
        return otherwise
    if not plan.moves:
        return fact(FactCode.PLAN_MOVES_NOTHING, verdict=plan.verdict.value)
    loads = outcome_for(plan, score.resource, score.broker)
    if context.plan_effects.get(score.broker, NOTHING).is_nothing:
        return fact(FactCode.PLAN_LEAVES_BROKER)
    if loads is None:
        return fact(FactCode.PLAN_LEAVES_RESOURCE, resource=score.resource)
    return fact(FactCode.PLAN_CHANGES_LOAD, resource=score.resource, before=loads[0], after=loads[1])


def plan_evidence(context: FindingContext, scores: Sequence[BrokerScore]) -> Evidence:
    if context.plan is None or not scores:
        return {}
    effect = context.plan_effects.get(scores[0].broker, NOTHING)
    evidence: Evidence = {
        "plan_replicas_out": effect.replicas_out,
        "plan_bytes_out": effect.bytes_out,
        "plan_replicas_in": effect.replicas_in,
        "plan_bytes_in": effect.bytes_in,
        "plan_leaders_out": effect.leaders_out,
        "plan_leaders_in": effect.leaders_in,
    }
    for score in scores:
        loads = outcome_for(context.plan, score.resource, score.broker)
        evidence[f"plan_after_{LOAD_NAMES[score.resource]}"] = None if loads is None else loads[1]
    return evidence


def plan_cost(context: FindingContext, broker: int, otherwise: Fact) -> Fact:
    if context.plan is None:
        return otherwise
    effect = context.plan_effects.get(broker, NOTHING)
    return fact(
        FactCode.PLAN_TOUCHES_BROKER,
        replicas_out=effect.replicas_out,
        bytes_out=effect.bytes_out,
        replicas_in=effect.replicas_in,
        bytes_in=effect.bytes_in,
        leader_changes=effect.leaders_out + effect.leaders_in,
    )


def copied_by_plan(context: FindingContext, broker: int, otherwise: float) -> float:
    if context.plan is None:
        return max(otherwise, 0.0)
    effect = context.plan_effects.get(broker, NOTHING)
    return (effect.bytes_out or 0.0) + (effect.bytes_in or 0.0)


def excess(score: BrokerScore) -> float:
    return score.load - (score.fair_share or 0.0) * (score.capacity or 1.0)


def moved_excess_ratio(context: FindingContext, score: BrokerScore) -> float:
    if context.plan is None:
        return 1.0
    loads = outcome_for(context.plan, score.resource, score.broker)
    over = excess(score)
    if loads is None or over <= 0:
        return 0.0
    return (loads[0] - loads[1]) / over


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
