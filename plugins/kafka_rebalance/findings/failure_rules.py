"""A broker or a rack whose loss takes another broker above what it can carry."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.findings.context import Evidence, FindingContext, Remedy, finding, threshold
from kafka_rebalance.findings.finding import Confidence, Finding, Severity
from kafka_rebalance.resources import ROWS
from kafka_rebalance.scoring.placement_scores import LoadAfterLoss, Losses, WorstLoss


def broker_loss_overloads(context: FindingContext) -> Iterator[Finding]:
    """The single broker whose loss lifts another furthest above its capacity."""
    yield from _of_kind(context, "broker")


def rack_loss_overloads(context: FindingContext) -> Iterator[Finding]:
    """The rack whose loss lifts a broker furthest above its capacity."""
    yield from _of_kind(context, "rack")


def _of_kind(context: FindingContext, kind: str) -> Iterator[Finding]:
    """Nothing without a plan document, which holds the simulated losses, and where no capacity is known."""
    failure = None if context.plan is None else context.plan.after_failure
    if failure is None:
        return
    was, left = _load(failure.before, kind), _load(failure.after, kind)
    code = f"{kind}_loss_overloads"
    if was is None or was.ratio <= threshold(code, "over_capacity_ratio"):
        return
    row = ROWS[was.resource]
    evidence: Evidence = {
        f"{row.load_name}_afterwards": was.load,
        f"{row.load_name}_capacity": was.capacity,
        "over_capacity_ratio": was.ratio,
        "overloaded_broker": was.broker,
        "resource": was.resource,
        "over_capacity_ratio_after_plan": None if left is None else left.ratio,
    }
    moves = 0 if context.plan is None else len(context.plan.moves)
    yield finding(
        code,
        Severity.HIGH if was.ratio > threshold(code, "high_ratio") else Severity.MEDIUM,
        was.lost,
        evidence,
        Remedy(
            fact(
                FactCode.LOSS_OVERLOADS,
                **{kind: was.lost},
                overloaded_broker=was.broker,
                resource=was.resource,
                load=was.load,
                capacity=was.capacity,
                way=_way(left, kind, has_moves=moves > 0),
            ),
            cost=fact(FactCode.ORDER_COPIES_NOTHING),
            gain=0.0 if left is None else (was.ratio - left.ratio) / (was.ratio - 1),
        ),
        confidence=Confidence.STRUCTURAL if row.load is None else context.confidence(row.load),
    )


def _load(losses: Losses, kind: str) -> LoadAfterLoss | None:
    worst: WorstLoss | None = getattr(losses, kind)
    return None if worst is None else worst.load


def _way(left: LoadAfterLoss | None, kind: str, *, has_moves: bool) -> Fact:
    if not has_moves or left is None:
        return fact(FactCode.SPREAD_STANDBYS)
    if left.ratio <= 1:
        return fact(FactCode.PLAN_PREVENTS_OVERLOAD, kind=kind)
    return fact(FactCode.PLAN_LEAVES_OVERLOAD, kind=kind, lost=left.lost, broker=left.broker, times_capacity=left.ratio)
