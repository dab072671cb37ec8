"""Parts of the plan document: moves, bounds, certificate, preconditions, expiry."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np

from kafka_rebalance.arrays import Ints
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.solution import Bounds
from kafka_rebalance.plans.draft import Draft
from kafka_rebalance.plans.explain.moves import Texts
from kafka_rebalance.plans.outcome import Bands, Outcome, met_bands
from kafka_rebalance.plans.plan import Bound, Cost, Move, MoveKind, Wave
from kafka_rebalance.plans.request import PlanRequest
from kafka_rebalance.snapshot.other_hands import balancers
from kafka_rebalance.snapshot.times import time_text


def moves_of(plan_request: PlanRequest, draft: Draft, wave_of: Ints, texts: Texts) -> tuple[Move, ...]:
    """One entry for each partition that changes, in the order of the draft: by topic as listed, then partition."""
    table, topics = plan_request.snapshot.partitions, [topic.name for topic in plan_request.snapshot.topics]
    ids = [*plan_request.brokers.arrays.ids.tolist(), None]  # index -1: nobody
    columns = zip(
        table.topic[draft.row].tolist(), table.partition[draft.row].tolist(), draft.start.tolist(), draft.end.tolist(),
        draft.leader_from.tolist(), draft.leader_to.tolist(), draft.changes_replicas.tolist(), draft.bytes_forward(),
        wave_of.tolist(), texts.reasons, texts.worse_without, strict=True,
    )  # fmt: skip
    return tuple(
        Move(
            topic=topics[topic],
            partition=partition,
            from_replicas=tuple(ids[b] for b in start if b >= 0),
            to_replicas=tuple(ids[b] for b in end if b >= 0),
            leader_from=ids[leader_from],
            leader_to=ids[leader_to],
            kind=MoveKind.REPLICA if changes else MoveKind.LEADER,
            bytes=amount,
            wave=wave + 1,
            reason=reason,
            worse_without=worse,
        )
        for topic, partition, start, end, leader_from, leader_to, changes, amount, wave, reason, worse in columns
    )


def bounds_of(
    plan_request: PlanRequest,
    cost: Cost,
    bounds: Bounds | None,
    outcome: Outcome,
    bands: Bands,
    waves: tuple[Wave, ...],
) -> tuple[Bound, ...]:
    """One bound for each cost that is known. ``bounds`` None: nothing is moved, and nothing is the least."""
    if bounds is None:
        names = [name for name in ("bytes", "replica_moves", "leader_changes", "seconds") if _known(cost, name)]
        return tuple(Bound(name, 0.0, 0.0, "nothing is moved") for name in names)
    found = [("replica_moves", bounds.replica_moves.value, bounds.replica_moves.proof)]
    found.append(("leader_changes", bounds.leader_changes.value, bounds.leader_changes.proof))
    if cost.bytes is not None:
        found.insert(0, ("bytes", bounds.bytes.value, bounds.bytes.proof))
        value, proof = _least_seconds(plan_request, outcome, bands, bounds.bytes.value, waves)
        found.append(("seconds", value, proof))
    result = []
    for name, proved, proof in found:
        amount = float(getattr(cost, name))
        value = min(proved, amount)  # rounding of whole bytes
        gap = None if value <= 0 < amount else 0.0 if value <= 0 else (amount - value) / value
        result.append(Bound(name, float(value), gap, proof))
    return tuple(result)


def certificate_of(plan_request: PlanRequest, problem: Problem, bounds: Bounds | None) -> dict[str, dict[int, float]]:
    """Prices by resource and broker, zeros left out: with them anybody can recompute the bound on bytes."""
    if bounds is None or bounds.certificate is None:
        return {}
    ids, prices = plan_request.brokers.arrays.ids.tolist(), bounds.certificate.prices
    result = {}
    for d, name in enumerate(problem.resources):
        named = {ids[b]: float(prices[b, d]) for b in np.flatnonzero(prices[:, d]).tolist()}
        if named:
            result[name] = named
    return result


def preconditions_of(plan_request: PlanRequest, draft: Draft) -> tuple[str, ...]:
    """What must still be true of the cluster when the plan is executed; ``check`` judges it on a newer snapshot."""
    if not len(draft):
        return ()
    leaders = draft.leader_from[draft.leader_from >= 0]
    used = sorted({int(b) for b in draft.end[draft.end >= 0].tolist()} | {int(b) for b in leaders.tolist()})
    names = ", ".join(str(int(plan_request.brokers.arrays.ids[b])) for b in used)
    lines = [
        "each moved partition still has the replicas in `from`, and none of them is being reassigned",
        f"brokers {names} are alive" if len(used) <= 20 else f"all {len(used)} brokers that the moves name are alive",
        "kept replicas are in sync before their partition's leader changes",
    ]
    if any(b >= len(plan_request.snapshot.brokers) for b in used):
        lines.append("the added brokers have joined the cluster, empty, in the racks that were named")
    if draft.copies.any() and not np.isnan(draft.size).all():
        lines.append("receiving brokers have the free disk that each wave names")
    lines += [f"{other.name}, which left its traces here, is stopped" for other in balancers(plan_request.snapshot)]
    return tuple(lines)


def expiry_of(captured_at: datetime | None, hours: int) -> str | None:
    """``captured_at`` and some hours, in the same zone."""
    return None if captured_at is None else time_text(captured_at + timedelta(hours=hours))


def _known(cost: Cost, name: str) -> bool:
    return getattr(cost, name) is not None


def _least_seconds(
    plan_request: PlanRequest, outcome: Outcome, bands: Bands, least_bytes: float, waves: tuple[Wave, ...]
) -> tuple[float, str]:
    """All bytes arrive somewhere, and what a broker lacks arrives there."""
    receivers = max(int(plan_request.brokers.arrays.takes_replicas.sum()), 1)
    throttle = max((wave.throttle_bytes_per_s for wave in waves), default=plan_request.options.throttle_bytes_per_s)
    spread, lacking = least_bytes / receivers, 0.0
    if "disk" in outcome.resources:
        d = outcome.column("disk")
        low, _ = met_bands(plan_request, outcome, bands)
        lacking = float(np.maximum(low[:, d] - outcome.before[:, d], 0.0).max(initial=0.0))
    if lacking > spread:
        return lacking / throttle, "the emptiest broker's disk must be filled to its band at the throttle"
    return spread / throttle, f"the least bytes arrive at {receivers} brokers at the throttle"
