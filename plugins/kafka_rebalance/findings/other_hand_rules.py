"""Somebody else moves replicas of this cluster, or may: running reassignments, other balancers, cordoned brokers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kafka_rebalance.amounts import bytes_in_words
from kafka_rebalance.findings.context import FindingContext, Remedy, finding
from kafka_rebalance.findings.finding import Finding, Severity
from kafka_rebalance.findings.words import LISTED, counted, listed
from kafka_rebalance.snapshot.other_hands import balancers, cancel_json, cancel_words
from kafka_rebalance.snapshot.partition_table import FutureReplica


def reassignment_running(context: FindingContext) -> Iterator[Finding]:
    """Replicas move between brokers or log dirs now; no plan touches them."""
    table = context.snapshot.partitions
    rows = sorted({*table.adding, *table.removing})
    copies = [copy for row in sorted(table.future) for copy in table.future[row]]
    if not rows and not copies:
        return
    moving = sorted({*rows, *table.future})
    parts = [f"{counted(len(rows), 'partition')} between brokers"] if rows else []
    written = _written_to_dirs(context, copies)
    parts += [f"{counted(len(copies), 'replica')} between log dirs{f' ({written})' * bool(written)}"] if copies else []
    example = context.snapshot.name_of(moving[0])
    silent = {broker.id for broker in context.snapshot.brokers if broker.state.is_unheard}
    unheard = [row for row in rows if silent.intersection(table.adding.get(row, ()))]
    awaited = sorted(silent.intersection(broker for row in unheard for broker in table.adding[row]))
    waits = f" {counted(len(unheard), 'partition')} of them cannot end before these brokers answer: {listed(awaited)}."
    yield finding(
        "reassignment_running",
        Severity.LOW,
        context.snapshot.cluster,
        {
            "partitions": len(rows),
            "replicas_between_log_dirs": len(copies),
            "copied_between_log_dirs_bytes": sum(copy.log_bytes for copy in copies),
            "copied_to": written or None,
            "example": example,
        },
        Remedy(
            f"Somebody moves {' and '.join(parts)} now, such as {example}. What moves between brokers is left alone. "
            f"Wait until it is done (kafka-reassign-partitions --list) and read the cluster again, or cancel it."
            f"{waits if unheard else ''}",
            cost="none",
        ),
    )


def _written_to_dirs(context: FindingContext, copies: list[FutureReplica]) -> str:
    """Bytes that each dir got so far, as ``120 B in /b of broker 2``; empty where no path is known."""
    written: Counter[tuple[int, str]] = Counter()
    for copy in copies:
        for log_dir in context.brokers[copy.broker].log_dirs[copy.log_dir : copy.log_dir + 1]:
            written[copy.broker, log_dir.path] += copy.log_bytes
    return listed(f"{bytes_in_words(size)} in {path} of broker {b}" for (b, path), size in sorted(written.items()))


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
    names = ", ".join(f"broker {broker}, which is {brokers[broker].state.value}" for broker in gone[:LISTED])
    names += f" and {len(gone) - LISTED} more" if len(gone) > LISTED else ""
    cancel = cancel_words(context.snapshot, rows, "what findings.json gives as cancel_json")
    yield finding(
        "reassignment_stuck",
        Severity.HIGH,
        context.snapshot.cluster,
        {
            "partitions": len(rows),
            "broker_ids": listed(gone, most=len(gone)),
            "example": context.snapshot.name_of(rows[0]),
            "cancel_json": cancel_json(context.snapshot, rows),
        },
        Remedy(
            f"The reassignment of {counted(len(rows), 'partition')} ({listed(map(context.snapshot.name_of, rows))}) "
            f"waits for {names}: it cannot end unless that comes back. Cancel it: {cancel}",
            cost="what was copied so far is removed",
            gain=1.0,
            changes=len(rows),
        ),
    )


def other_balancer(context: FindingContext) -> Iterator[Finding]:
    """One finding for all of them: names and traces stand in the evidence."""
    found = balancers(context.snapshot)
    if not found:
        return
    names = listed(balancer.name for balancer in found)
    yield finding(
        "other_balancer",
        Severity.MEDIUM,
        context.snapshot.cluster,
        {
            "balancers": names,
            "signs": listed((sign for balancer in found for sign in balancer.signs), most=10),
        },
        Remedy(
            f"{names} may balance this cluster, too (seen: {found[0].signs[0]}), and work against the plan: what it "
            f"moves may be moved back. Before the plan is executed: {'; '.join(balancer.pause for balancer in found)}.",
            cost="none",
        ),
    )


def broker_cordoned(context: FindingContext) -> Iterator[Finding]:
    """Log dirs that take nothing new (KIP-1066); a broker on which all are cordoned gets no replica."""
    for broker in context.snapshot.brokers:
        cordoned = [log_dir.path for log_dir in broker.log_dirs if log_dir.is_cordoned]
        if not cordoned:
            continue
        whole = broker.is_cordoned
        effect = "no plan gives it a replica" if whole else "Kafka puts what is new on its other dirs"
        yield finding(
            "broker_cordoned",
            Severity.INFO,
            broker.id,
            {"cordoned_log_dirs": len(cordoned), "log_dirs": len(broker.log_dirs), "paths": listed(cordoned)},
            Remedy(
                f"{counted(len(cordoned), 'log dir')} of the {len(broker.log_dirs)} of broker {broker.id} "
                f"{'is' if len(cordoned) == 1 else 'are'} cordoned: {effect}. If that is over, take "
                f"{'it' if len(cordoned) == 1 else 'them'} out of cordoned.log.dirs; to empty it, plan with "
                f"--remove-broker {broker.id}.",
                cost="none",
            ),
        )
