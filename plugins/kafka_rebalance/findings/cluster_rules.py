"""What concerns the whole cluster: leftovers, what could not be read or measured, and that there is nothing to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.findings.context import MOST_NAMED, Evidence, FindingContext, Remedy, finding
from kafka_rebalance.findings.finding import Confidence, Finding, Severity
from kafka_rebalance.plans.plan import Verdict
from kafka_rebalance.resources import BALANCED
from kafka_rebalance.snapshot.load import LoadKind
from kafka_rebalance.snapshot.other_hands import throttled
from kafka_rebalance.snapshot.rights import RIGHT, missing_rights

# What a gap hides from advice.
_SEVERE_GAPS = (
    FactCode.LACKS_SIZES, FactCode.LACKS_SIZES_AND_OFFSETS, FactCode.LACKS_LOG_DIRS, FactCode.LACKS_LOG_DIR,
    FactCode.LACKS_PARTITIONS, FactCode.LACKS_PLACEMENT, FactCode.LACKS_OFFLINE_REPLICA,
)  # fmt: skip


def throttle_left_over(context: FindingContext) -> Iterator[Finding]:
    """Throttles stand although nothing is being reassigned."""
    snapshot = context.snapshot
    if context.is_in_flight.any() or snapshot.partitions.future:
        return
    topics, brokers = throttled(snapshot)
    if not topics and not brokers:
        return
    yield finding(
        "throttle_left_over",
        Severity.MEDIUM,
        snapshot.cluster,
        {
            "topics": len(topics),
            "brokers": len(brokers),
            "topic_names": topics or None,
            "broker_ids": brokers or None,
        },
        Remedy(
            fact(
                FactCode.THROTTLE_LEFT_OVER,
                topics=topics[:MOST_NAMED],
                topic_count=len(topics),
                brokers=brokers[:MOST_NAMED],
                broker_count=len(brokers),
            ),
            cost=fact(FactCode.COSTS_NOTHING),
            gain=1.0,
        ),
    )


def load_unknown(context: FindingContext) -> Iterator[Finding]:
    """Resources that nobody measured are not balanced; zero is never assumed."""
    left_out = {name: why for name, why in context.scores.left_out.items() if name in BALANCED}
    if not left_out:
        return
    evidence: Evidence = {f"{resource}_left_out": why.code.value for resource, why in sorted(left_out.items())}
    column = context.snapshot.loads.column(LoadKind.IN_BYTES_PER_S)
    yield finding(
        "load_unknown",
        Severity.INFO,
        context.snapshot.cluster,
        evidence | {"resources_left_out": len(left_out)},
        Remedy(fact(FactCode.LOAD_UNKNOWN, resources=tuple(sorted(left_out)), has_rates=column is not None)),
    )


def coverage_gap(context: FindingContext) -> Iterator[Finding]:
    """What could not be read: the advice rests on the rest."""
    gaps = context.snapshot.coverage
    if not gaps:
        return
    # Of a right its name; a missing right explains the others, so it comes first.
    gaps = tuple(sorted(gaps, key=lambda gap: gap.subject_type != RIGHT))
    counts = Counter(f"{gap.subject_type}_{code.value}" for gap in gaps for code in gap.codes)
    kinds = {(gap.what.code, gap.subject_type): gap.what for gap in reversed(gaps) if gap.subject_type != RIGHT}
    named = [(right.value, RIGHT) for right in missing_rights(gaps)] + [
        (what, subject_type) for (_, subject_type), what in sorted(kinds.items())
    ]
    is_severe = any(gap.lacks(*_SEVERE_GAPS) for gap in gaps)
    evidence: Evidence = {"gaps": len(gaps), "subjects": len({(gap.subject_type, gap.subject) for gap in gaps})}
    evidence |= dict(sorted(counts.items()))
    first = gaps[0]
    yield finding(
        "coverage_gap",
        Severity.MEDIUM if is_severe else Severity.INFO,
        context.snapshot.cluster,
        evidence,
        Remedy(
            fact(
                FactCode.COVERAGE_GAP,
                gaps=len(gaps),
                kinds=tuple(named[:MOST_NAMED]),
                kind_count=len(named),
                what=first.what,
                subject_type=first.subject_type,
                subject=first.subject,
                reason=first.reason,
            )
        ),
    )


def hours_outside_band(context: FindingContext) -> Iterator[Finding]:
    """How the plan would have stood in each hour of the window: told wherever hours are known, bad news or good."""
    hours = context.hours
    if hours is None:
        return
    yield finding(
        "hours_outside_band",
        Severity.INFO,
        context.snapshot.cluster,
        {
            "window_hours": hours.hours,
            "hours_judged": len(hours.judged),
            "hours_outside_before": hours.before,
            "hours_outside_after": hours.after,
        },
        Remedy(
            hours.fact,
            gain=hours.gain,
        ),
        confidence=Confidence.MEASURED,
    )


def nothing_to_do(context: FindingContext) -> Iterator[Finding]:
    """The plan says that everything is well."""
    plan = context.plan
    if plan is None or plan.verdict is not Verdict.NOTHING_TO_DO:
        return
    yield finding(
        "nothing_to_do",
        Severity.OK,
        context.snapshot.cluster,
        {f"{outcome.resource}_skew": outcome.skew_before for outcome in plan.resources},
        Remedy(fact(FactCode.NOTHING_TO_MOVE, reasons=tuple(plan.reasons))),
        confidence=Confidence.MEASURED,
    )


def cannot_tell(context: FindingContext) -> Iterator[Finding]:
    """The plan says that too little was seen."""
    plan = context.plan
    if plan is None or plan.verdict is not Verdict.CANNOT_TELL:
        return
    states = Counter(broker.state.value for broker in context.snapshot.brokers)
    evidence: Evidence = {"partitions": len(context.snapshot.partitions), "gaps": len(context.snapshot.coverage)}
    evidence |= {f"brokers_{state}": count for state, count in sorted(states.items())}
    yield finding(
        "cannot_tell",
        Severity.HIGH,
        context.snapshot.cluster,
        evidence,
        Remedy(fact(FactCode.CANNOT_TELL_MOVES, reasons=tuple(plan.reasons))),
    )


def not_fixable_by_moving(context: FindingContext) -> Iterator[Finding]:
    """The plan says that the imbalance stays whatever is moved."""
    plan = context.plan
    if plan is None or plan.verdict is not Verdict.NOT_FIXABLE_BY_MOVING:
        return
    yield finding(
        "not_fixable_by_moving",
        Severity.MEDIUM,
        context.snapshot.cluster,
        {f"{outcome.resource}_skew": outcome.skew_before for outcome in plan.resources},
        Remedy(fact(FactCode.MOVING_CANNOT_FIX, reasons=tuple(plan.reasons))),
        confidence=Confidence.MEASURED,
    )
