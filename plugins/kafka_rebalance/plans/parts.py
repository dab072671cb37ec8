"""Parts of the plan document: moves, bounds, certificate, preconditions, expiry."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np

from kafka_assignors.arrays import Floats, Ints, Longs
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.facts import BoundProof, Fact, FactCode, fact
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.planner.solution import Bounds, Cover
from kafka_rebalance.plans.draft import Bands, Draft, Outcome, met_bands
from kafka_rebalance.plans.explain import MoveFacts
from kafka_rebalance.plans.plan import Bound, Cost, CoverClaim, Move, MoveKind, Proof, Wave
from kafka_rebalance.plans.request import PlanRequest
from kafka_rebalance.snapshot.other_hands import balancers
from kafka_rebalance.snapshot.times import time_text


def moves_of(plan_request: PlanRequest, draft: Draft, wave_of: Ints, why: MoveFacts) -> tuple[Move, ...]:
    table, topics = plan_request.snapshot.partitions, [topic.name for topic in plan_request.snapshot.topics]
    ids = [*plan_request.brokers.arrays.ids.tolist(), None]  # index -1: none
    columns = zip(
        table.topic[draft.row].tolist(), table.partition[draft.row].tolist(), draft.start.tolist(), draft.end.tolist(),
        draft.leader_from.tolist(), draft.leader_to.tolist(), kinds_of(draft), draft.bytes_forward(),
        wave_of.tolist(), why.reasons, why.worse_without, strict=True,
    )  # fmt: skip
    return tuple(
        Move(
            topic=topics[topic],
            partition=partition,
            from_replicas=tuple(ids[b] for b in start if b >= 0),
            to_replicas=tuple(ids[b] for b in end if b >= 0),
            leader_from=ids[leader_from],
            leader_to=ids[leader_to],
            kind=kind,
            bytes=amount,
            wave=wave + 1,
            reason=reason,
            worse_without=worse,
        )
        for topic, partition, start, end, leader_from, leader_to, kind, amount, wave, reason, worse in columns
    )


def kinds_of(draft: Draft) -> list[MoveKind]:
    """Kind of each move: replicas, else leader or preferred leader, else follower order."""
    is_reorder, changes = draft.is_reorder.tolist(), draft.changes_replicas.tolist()
    return [
        MoveKind.REPLICA if changed else MoveKind.ORDER if ordered else MoveKind.LEADER
        for changed, ordered in zip(changes, is_reorder, strict=True)
    ]


def bounds_of(
    plan_request: PlanRequest,
    cost: Cost,
    bounds: Bounds | None,
    outcome: Outcome,
    bands: Bands,
    waves: tuple[Wave, ...],
) -> tuple[Bound, ...]:
    """``bounds`` None: no moves."""
    if bounds is None:
        names = [name for name in ("bytes", "replica_moves", "leader_changes", "seconds") if _is_known(cost, name)]
        return tuple(
            Bound(name, 0.0, 0.0, BoundProof.NOTHING_MOVES, is_within_slack(plan_request.options, 0.0))
            for name in names
        )
    lower_bounds = [("replica_moves", bounds.replica_moves.value, bounds.replica_moves.proof)]
    lower_bounds.append(("leader_changes", bounds.leader_changes.value, bounds.leader_changes.proof))
    if cost.bytes is not None:
        lower_bounds.insert(0, ("bytes", bounds.bytes.value, bounds.bytes.proof))
        value, proof = _least_seconds(plan_request, outcome, bands, bounds, waves)
        lower_bounds.append(("seconds", value, proof))
    result = []
    for name, proved, proof in lower_bounds:
        amount = float(getattr(cost, name))
        value = min(proved, amount)  # rounding of whole bytes
        gap = None if value <= 0 < amount else 0.0 if value <= 0 else (amount - value) / value
        result.append(Bound(name, float(value), gap, proof, is_within_slack(plan_request.options, gap)))
    return tuple(result)


def is_within_slack(options: PlanOptions, gap: float | None) -> bool | None:
    return (gap is not None and gap <= options.slack_in_force) if options.weighs_costs else None


def certificate_of(plan_request: PlanRequest, problem: Problem, bounds: Bounds | None) -> dict[str, dict[int, float]]:
    if bounds is None or bounds.certificate is None:
        return {}
    return _named_prices(plan_request, problem, bounds.certificate.prices)


def proofs_of(plan_request: PlanRequest, problem: Problem, bounds: Bounds | None, cost: Cost) -> dict[str, Proof]:
    """Proofs of moves, time (where sizes are known), and bytes where covers prove them."""
    if bounds is None:
        return {}
    return {
        name: Proof(
            _named_prices(plan_request, problem, proof.prices),
            _named(plan_request, proof.receiving),
            _named(plan_request, proof.sending),
            tuple(_named_cover(plan_request, problem, cover) for cover in proof.covers),
        )
        for name, proof in bounds.proofs.items()
        if _is_known(cost, name)
    }


def _named_cover(plan_request: PlanRequest, problem: Problem, cover: Cover) -> CoverClaim:
    return CoverClaim(
        broker=int(plan_request.brokers.arrays.ids[cover.broker]),
        resource=problem.resources[cover.column],
        price=cover.price,
        gone=_by_topic(plan_request, cover.gone),
        come=_by_topic(plan_request, cover.come),
    )


def _by_topic(plan_request: PlanRequest, rows: Longs) -> dict[str, tuple[int, ...]]:
    snapshot, by_topic = plan_request.snapshot, dict[str, list[int]]()
    for row in plan_request.rows[rows].tolist():
        topic = snapshot.topics[int(snapshot.partitions.topic[row])].name
        by_topic.setdefault(topic, []).append(int(snapshot.partitions.partition[row]))
    return {topic: tuple(sorted(by_topic[topic])) for topic in sorted(by_topic)}


def _named_prices(plan_request: PlanRequest, problem: Problem, prices: Floats) -> dict[str, dict[int, float]]:
    by_name = {name: _named(plan_request, prices[:, d]) for d, name in enumerate(problem.resources)}
    return {name: by_broker for name, by_broker in by_name.items() if by_broker}


def _named(plan_request: PlanRequest, values: Floats) -> dict[int, float]:
    ids = plan_request.brokers.arrays.ids.tolist()
    return {ids[b]: float(values[b]) for b in np.flatnonzero(values).tolist()}


def preconditions_of(plan_request: PlanRequest, draft: Draft) -> tuple[Fact, ...]:
    if not len(draft):
        return ()
    leaders, ids = draft.leader_from[draft.leader_from >= 0], plan_request.brokers.arrays.ids
    used = sorted({int(b) for b in draft.end[draft.end >= 0].tolist()} | {int(b) for b in leaders.tolist()})
    facts = [
        fact(FactCode.REPLICAS_AS_PLANNED),
        fact(FactCode.BROKERS_ALIVE, brokers=tuple(int(ids[b]) for b in used)),
        fact(FactCode.KEPT_REPLICAS_IN_SYNC),
    ]
    if added := tuple(int(ids[b]) for b in used if b >= len(plan_request.snapshot.brokers)):
        facts.append(fact(FactCode.ADDED_BROKERS_JOINED, brokers=added))
    if draft.copies.any() and not np.isnan(draft.size).all():
        facts.append(fact(FactCode.FREE_DISK_LEFT))
    facts += [fact(FactCode.BALANCER_STOPPED, balancer=other.name) for other in balancers(plan_request.snapshot)]
    return tuple(facts)


def expiry_of(captured_at: datetime | None, hours: int) -> str | None:
    return None if captured_at is None else time_text(captured_at + timedelta(hours=hours))


def _is_known(cost: Cost, name: str) -> bool:
    return getattr(cost, name) is not None


def _least_seconds(
    plan_request: PlanRequest, outcome: Outcome, bands: Bands, bounds: Bounds, waves: tuple[Wave, ...]
) -> tuple[float, BoundProof]:
    """Stronger of two: all bytes arrive, each broker's deficit arrives there, and leaders send the unavoidable copies;
    or prices bound the busiest broker's bytes in any plan.
    """
    receivers = max(int(plan_request.brokers.arrays.takes_replicas.sum()), 1)
    throttle = max((wave.throttle_bytes_per_s for wave in waves), default=plan_request.options.throttle_bytes_per_s)
    spread, lacking = bounds.bytes.value / receivers, 0.0
    if "disk" in outcome.resources:
        d = outcome.column("disk")
        low, _ = met_bands(plan_request, outcome, bands)
        lacking = float(np.maximum(low[:, d] - outcome.before[:, d], 0.0).max(initial=0.0))
    sent = float(_least_sent(plan_request).max(initial=0.0))
    proof = bounds.proofs.get("seconds")
    if proof is not None and proof.value > max(lacking, spread, sent):
        return proof.value / throttle, BoundProof.BUSIEST_BROKER
    if sent > max(lacking, spread):
        return sent / throttle, BoundProof.FORCED_READS
    if lacking > spread:
        return lacking / throttle, BoundProof.EMPTIEST_DISK
    return spread / throttle, BoundProof.BYTES_OVER_RECEIVERS


def _least_sent(plan_request: PlanRequest) -> Floats:
    rows, placement, arrays = plan_request.rows, plan_request.partitions.placement, plan_request.brokers.arrays
    replicas, leader = placement.replicas[rows], placement.leader[rows]
    may_stay = (replicas >= 0) & arrays.stays[replicas]
    if placement.must_leave is not None:
        may_stay &= ~placement.must_leave[rows]
    copies = np.maximum(plan_request.target_rf - may_stay.sum(axis=1), 0)
    is_sent = ~plan_request.pinned & (leader >= 0) & plan_request.options.moves_replicas
    amount = np.where(is_sent, copies * np.nan_to_num(plan_request.partitions.size[rows]), 0.0)
    return np.bincount(np.maximum(leader, 0), weights=amount, minlength=len(arrays.ids)).astype(np.float64)
