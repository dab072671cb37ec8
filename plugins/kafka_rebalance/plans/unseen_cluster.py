"""The plan for a cluster of which no broker was seen: nothing can be planned, and the verdict says so."""

from __future__ import annotations

from kafka_rebalance.facts import BoundProof, Fact, FactCode, fact
from kafka_rebalance.plans.params import DEFAULTS, WaveParams
from kafka_rebalance.plans.parts import expiry_of, is_within_slack
from kafka_rebalance.plans.plan import Bound, Cost, Plan, Verdict
from kafka_rebalance.plans.request import PlanRequest
from kafka_rebalance.snapshot.codec import snapshot_id
from kafka_rebalance.snapshot.times import optional_time_text

_COSTS = ("bytes", "replica_moves", "leader_changes", "seconds")


def plan_without_brokers(
    plan_request: PlanRequest,
    reasons: tuple[Fact, ...],
    *,
    seed: int,
    advisor_version: str,
    params: WaveParams = DEFAULTS.waves,
) -> Plan:
    """``cannot_tell``, unsealed: no broker, so no load of any resource."""
    snapshot, options = plan_request.snapshot, plan_request.options
    slots = params.least_slots if options.moves_per_broker is None else options.moves_per_broker
    return Plan(
        cluster=snapshot.cluster,
        cluster_id=snapshot.cluster_id,
        snapshot_id=snapshot_id(snapshot),
        captured_at=optional_time_text(snapshot.captured_at),
        expires_at=expiry_of(snapshot.captured_at, options.expires_after_hours),
        parameters=options.document() | {"moves_per_broker": slots},
        seed=seed,
        advisor_version=advisor_version,
        verdict=Verdict.CANNOT_TELL,
        reasons=reasons,
        left_out=dict.fromkeys(plan_request.in_play, fact(FactCode.NO_BROKER_SEEN)),
        cost=Cost(0, 0, 0, 0.0, 0.0),
        lower_bound=tuple(
            Bound(name, 0.0, 0.0, BoundProof.NOTHING_MOVES, is_within_slack(options, 0.0)) for name in _COSTS
        ),
    )
