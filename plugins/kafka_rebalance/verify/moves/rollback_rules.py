"""The way back: reverse order, every move once, its own cost, and the start restored."""

from __future__ import annotations

from typing import Any

import numpy as np

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.verify.cluster.arrays import ClusterArrays
from kafka_rebalance.verify.cluster.claimed_moves import ClaimedMoves
from kafka_rebalance.verify.faults import FaultList
from kafka_rebalance.verify.moves.costs import total
from kafka_rebalance.verify.moves.leader_steps import check_leader_steps
from kafka_rebalance.verify.moves.wave_rules import check_times, check_wave
from kafka_rebalance.verify.moves.wave_traffic import Traffic


def check_rollback(
    document: dict[str, Any],
    claimed: ClaimedMoves,
    cluster: ClusterArrays,
    parameters: PlanOptions,
    faults: FaultList,
) -> None:
    """Compare ``rollback`` with the waves turned round."""
    rollback, waves = document["rollback"], document["waves"]
    if rollback is None:
        if waves:
            faults.add("rollback_order", "plan.rollback", "missing although there is something to undo")
        return
    if not waves:
        faults.add("rollback_order", "plan.rollback", "there is nothing to undo")
        return
    if faults.has_any("wave_members"):
        return
    gone = np.array([broker.state.is_gone for broker in cluster.brokers], dtype=np.bool_)
    lost = np.asarray(((claimed.start >= 0) & gone[claimed.start]).any(axis=1))
    expected = np.flatnonzero(lost).tolist()
    faults.require_equal("rollback_undone", "rollback.not_undone", rollback["not_undone"], expected)
    turned = [[m for m in wave["moves"] if not lost[m]] for wave in reversed(waves)]
    turned = [members for members in turned if members]
    if [wave["moves"] for wave in rollback["waves"]] != turned:
        faults.add("rollback_order", "rollback.waves", "are not the waves in reverse order")
        return
    _check_waves(rollback, claimed, cluster, parameters, faults)
    undone = ~lost
    dropped = claimed.is_dropped.sum(axis=1)[undone]
    changes = int((claimed.leader_from != claimed.leader_to)[undone].sum())
    faults.require_equal("rollback_cost", "rollback.replica_moves", rollback["replica_moves"], int(dropped.sum()))
    faults.require_equal("rollback_cost", "rollback.leader_changes", rollback["leader_changes"], changes)
    amounts = [wave["bytes"] for wave in rollback["waves"]]
    faults.require_equal("rollback_cost", "rollback.bytes", rollback["bytes"], total(amounts))


def _check_waves(
    rollback: dict[str, Any],
    claimed: ClaimedMoves,
    cluster: ClusterArrays,
    parameters: PlanOptions,
    faults: FaultList,
) -> None:
    size = cluster.size[claimed.row]
    dropped = claimed.is_dropped.sum(axis=1)
    back = np.where(dropped == 0, 0.0, dropped * size)
    amounts = [None if value != value else round(value) for value in back.tolist()]  # noqa: PLR0124
    for number, wave in enumerate(rollback["waves"]):
        members = np.array(wave["moves"], dtype=np.int64)
        traffic = Traffic.backward(claimed, cluster, members)
        here = [amounts[m] for m in wave["moves"]]
        check_wave(f"rollback.waves[{number}]", wave, here, traffic, cluster, parameters, faults)
        check_leader_steps(f"rollback.waves[{number}]", wave, claimed, cluster, parameters, faults)
    check_times("rollback", rollback, rollback["waves"], claimed, cluster, faults)
