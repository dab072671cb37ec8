"""Findings on the whole cluster."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.findings.context import MOST_NAMED, Evidence, FindingContext, Remedy, finding
from kafka_rebalance.findings.finding import Confidence, Finding, Severity
from kafka_rebalance.plans.plan import Verdict
from kafka_rebalance.resources import BALANCED
from kafka_rebalance.snapshot.coverage import RIGHT, missing_rights
from kafka_rebalance.snapshot.figures import LoadKind
from kafka_rebalance.snapshot.other_hands import balancers, cancel_json, throttled_resources
from kafka_rebalance.snapshot.partition_table import FutureReplica

# Gaps that hide much from advice.
_SEVERE_GAPS = (
    FactCode.LACKS_SIZES, FactCode.LACKS_SIZES_AND_OFFSETS, FactCode.LACKS_LOG_DIRS, FactCode.LACKS_LOG_DIR,
    FactCode.LACKS_PARTITIONS, FactCode.LACKS_PLACEMENT, FactCode.LACKS_OFFLINE_REPLICA,
)  # fmt: skip


def throttle_left_over(context: FindingContext) -> Iterator[Finding]:
    """Throttles remain without a reassignment."""
    snapshot = context.snapshot
    if context.is_in_flight.any() or snapshot.partitions.future:
        return
    topics, brokers = throttled_resources(snapshot)
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
    """Resources without metrics are not balanced; zero is never assumed."""
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
    """Unread parts: the advice covers the rest."""
    gaps = context.snapshot.coverage
    if not gaps:
        return
    # A missing right explains other gaps, so it comes first.
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
    """The plan's effect in each hour of the window."""
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
    """Nothing to do."""
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
    """Too little is known for a verdict."""
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
    """No move can help."""
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


MOST_IN_A_COMMAND = 20


def reassignment_running(context: FindingContext) -> Iterator[Finding]:
    """Replicas move between brokers or log dirs now; no plan touches them."""
    table = context.snapshot.partitions
    rows = sorted({*table.adding, *table.removing})
    copies = [copy for row in sorted(table.future) for copy in table.future[row]]
    if not rows and not copies:
        return
    moving = sorted({*rows, *table.future})
    written = _written_to_dirs(context, copies)
    example = context.snapshot.name_of(moving[0])
    unresponsive = {broker.id for broker in context.snapshot.brokers if broker.state.is_unresponsive}
    waiting = [row for row in rows if unresponsive.intersection(table.adding.get(row, ()))]
    awaited = sorted(unresponsive.intersection(broker for row in waiting for broker in table.adding[row]))
    yield finding(
        "reassignment_running",
        Severity.LOW,
        context.snapshot.cluster,
        {
            "partitions": len(rows),
            "replicas_between_log_dirs": len(copies),
            "copied_between_log_dirs_bytes": sum(copy.log_bytes for copy in copies),
            "example": example,
        },
        Remedy(
            fact(
                FactCode.REASSIGNMENT_RUNNING,
                partitions=len(rows),
                replicas_between_dirs=len(copies),
                written_to_dirs=written[:MOST_NAMED],
                example=example,
                waiting_partitions=len(waiting),
                awaited_brokers=tuple(awaited),
            ),
            cost=fact(FactCode.COSTS_NOTHING),
        ),
    )


def _written_to_dirs(context: FindingContext, copies: list[FutureReplica]) -> tuple[tuple[int, str, int], ...]:
    """Return broker, path and bytes of each dir with copies."""
    written: Counter[tuple[int, str]] = Counter()
    for copy in copies:
        for log_dir in context.brokers[copy.broker].log_dirs[copy.log_dir : copy.log_dir + 1]:
            written[copy.broker, log_dir.path] += copy.log_bytes
    return tuple((broker, path, size) for (broker, path), size in sorted(written.items()))


def reassignment_stuck(context: FindingContext) -> Iterator[Finding]:
    """A reassignment copies to a lost broker: only a cancellation ends it."""
    table, brokers = context.snapshot.partitions, context.brokers
    waits = {
        row: tuple(broker for broker in adding if brokers[broker].state.is_gone)
        for row, adding in sorted(table.adding.items())
    }
    rows = [row for row, gone in waits.items() if gone]
    if not rows:
        return
    gone = sorted({broker for row in rows for broker in waits[row]})
    cancel = cancel_json(context.snapshot, rows)
    yield finding(
        "reassignment_stuck",
        Severity.HIGH,
        context.snapshot.cluster,
        {
            "partitions": len(rows),
            "broker_ids": tuple(gone),
            "example": context.snapshot.name_of(rows[0]),
            "cancel_json": cancel,
        },
        Remedy(
            fact(
                FactCode.REASSIGNMENT_STUCK,
                partitions=len(rows),
                names=tuple(map(context.snapshot.name_of, rows[:MOST_NAMED])),
                brokers=tuple((broker, brokers[broker].state.value) for broker in gone[:MOST_NAMED]),
                broker_count=len(gone),
                cancel_json=cancel if len(rows) <= MOST_IN_A_COMMAND else None,
            ),
            cost=fact(FactCode.REMOVES_COPIES),
            gain=1.0,
            changes=len(rows),
        ),
    )


def other_balancer(context: FindingContext) -> Iterator[Finding]:
    """Other balancers left traces."""
    active_balancers = balancers(context.snapshot)
    if not active_balancers:
        return
    yield finding(
        "other_balancer",
        Severity.MEDIUM,
        context.snapshot.cluster,
        {
            "balancers": tuple(balancer.name for balancer in active_balancers),
            "signs": tuple(sign for balancer in active_balancers for sign in balancer.signs)[:MOST_NAMED],
        },
        Remedy(
            fact(
                FactCode.OTHER_BALANCER,
                balancers=tuple(balancer.name for balancer in active_balancers),
                sign=active_balancers[0].signs[0],
            ),
            cost=fact(FactCode.COSTS_NOTHING),
        ),
    )


def broker_cordoned(context: FindingContext) -> Iterator[Finding]:
    """Log dirs accept nothing new (KIP-1066); a fully cordoned broker gets no replica."""
    for broker in context.snapshot.brokers:
        cordoned = [log_dir.path for log_dir in broker.log_dirs if log_dir.is_cordoned]
        if not cordoned:
            continue
        whole = broker.is_cordoned
        yield finding(
            "broker_cordoned",
            Severity.INFO,
            broker.id,
            {"cordoned_log_dirs": len(cordoned), "log_dirs": len(broker.log_dirs), "paths": tuple(cordoned)},
            Remedy(
                fact(
                    FactCode.BROKER_CORDONED,
                    broker=broker.id,
                    cordoned_dirs=len(cordoned),
                    log_dirs=len(broker.log_dirs),
                    is_whole=whole,
                ),
                cost=fact(FactCode.COSTS_NOTHING),
            ),
        )
