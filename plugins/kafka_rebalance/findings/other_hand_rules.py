"""Somebody else moves replicas of this cluster, or may: running reassignments, other balancers, cordoned brokers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.findings.context import MOST_NAMED, FindingContext, Remedy, finding
from kafka_rebalance.findings.finding import Finding, Severity
from kafka_rebalance.snapshot.other_hands import balancers, cancel_json
from kafka_rebalance.snapshot.partition_table import FutureReplica

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
    silent = {broker.id for broker in context.snapshot.brokers if broker.state.is_unheard}
    unheard = [row for row in rows if silent.intersection(table.adding.get(row, ()))]
    awaited = sorted(silent.intersection(broker for row in unheard for broker in table.adding[row]))
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
                waiting_partitions=len(unheard),
                awaited_brokers=tuple(awaited),
            ),
            cost=fact(FactCode.COSTS_NOTHING),
        ),
    )


def _written_to_dirs(context: FindingContext, copies: list[FutureReplica]) -> tuple[tuple[int, str, int], ...]:
    """Return broker, path and bytes of each dir that got some so far; none where no path is known."""
    written: Counter[tuple[int, str]] = Counter()
    for copy in copies:
        for log_dir in context.brokers[copy.broker].log_dirs[copy.log_dir : copy.log_dir + 1]:
            written[copy.broker, log_dir.path] += copy.log_bytes
    return tuple((broker, path, size) for (broker, path), size in sorted(written.items()))


def reassignment_stuck(context: FindingContext) -> Iterator[Finding]:
    """Copies that are to be made on a broker that is gone: without it nothing but a cancellation ends that."""
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
    """One finding for all of them: names and traces stand in the evidence."""
    found = balancers(context.snapshot)
    if not found:
        return
    yield finding(
        "other_balancer",
        Severity.MEDIUM,
        context.snapshot.cluster,
        {
            "balancers": tuple(balancer.name for balancer in found),
            "signs": tuple(sign for balancer in found for sign in balancer.signs)[:MOST_NAMED],
        },
        Remedy(
            fact(
                FactCode.OTHER_BALANCER,
                balancers=tuple(balancer.name for balancer in found),
                sign=found[0].signs[0],
            ),
            cost=fact(FactCode.COSTS_NOTHING),
        ),
    )


def broker_cordoned(context: FindingContext) -> Iterator[Finding]:
    """Log dirs that take nothing new (KIP-1066); a broker on which all are cordoned gets no replica."""
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
