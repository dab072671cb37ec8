"""Brokers that the reading did not hear, and log dirs that are offline: named, with what hangs on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.findings.context import MOST_NAMED, FindingContext, Remedy, finding
from kafka_rebalance.findings.finding import Confidence, Finding, Severity
from kafka_rebalance.snapshot.model import Broker, BrokerState


def broker_not_heard(context: FindingContext) -> Iterator[Finding]:
    """Registered, and no answer: it may be back in seconds, or be dead."""
    table = context.snapshot.partitions
    for broker in context.snapshot.brokers:
        if not broker.state.is_unheard:
            continue
        held, led = int((table.replicas == broker.id).sum()), int((table.leader == broker.id).sum())
        yield finding(
            "broker_not_heard",
            Severity.HIGH,
            broker.id,
            {"replicas": held, "leaders": led, "state": broker.state.value},
            Remedy(
                fact(
                    FactCode.BROKER_NOT_HEARD,
                    broker=broker.id,
                    state=broker.state.value,
                    why=_why(broker),
                    replicas=held,
                    leaders=led,
                ),
                gain=1.0,
            ),
        )


def _why(broker: Broker) -> str | None:
    """Return the sign of an unresponsive broker."""
    if broker.state is not BrokerState.UNRESPONSIVE:
        return None
    return "does_not_answer" if broker.log_dirs else "leads_nothing"


def stray_logs(context: FindingContext) -> Iterator[Finding]:
    """Logs that no replica list has fill a disk, and no plan moves them."""
    for broker in context.snapshot.brokers:
        dirs = [log_dir for log_dir in broker.log_dirs if log_dir.stray_logs]
        if not dirs:
            continue
        logs, size = sum(one.stray_logs for one in dirs), sum(one.stray_bytes for one in dirs)
        largest = max(dirs, key=lambda one: one.stray_bytes)
        yield finding(
            "stray_logs",
            Severity.MEDIUM,
            broker.id,
            {
                "logs": logs,
                "stray_bytes": size,
                "log_dirs": tuple(one.path for one in dirs),
                "example": largest.largest_stray,
            },
            Remedy(
                fact(
                    FactCode.STRAY_LOGS,
                    broker=broker.id,
                    logs=logs,
                    stray_bytes=size,
                    by_dir=tuple((one.path, one.stray_bytes) for one in dirs),
                    example=largest.largest_stray,
                ),
                gain=0.0,
            ),
        )


def log_dir_offline(context: FindingContext) -> Iterator[Finding]:
    """A disk that failed: its broker stays up, its replicas serve nobody and their sizes are unknown."""
    table = context.snapshot.partitions
    offline = Counter(broker for brokers in table.offline.values() for broker in brokers)
    for broker in context.snapshot.brokers:
        failed = [log_dir for log_dir in broker.log_dirs if log_dir.error]
        if not failed and (not offline[broker.id] or not broker.state.is_heard):
            continue  # all replicas of a broker that is gone are offline: that is told of the broker
        # The metadata may call them offline seconds later than the broker, which tells no size of them at once.
        unsized = int(((table.replicas == broker.id) & (table.replica_log_bytes < 0)).sum()) if failed else 0
        replicas = max(offline[broker.id], unsized)
        paths = tuple(log_dir.path for log_dir in failed)
        yield finding(
            "log_dir_offline",
            Severity.CRITICAL,
            broker.id,
            {
                "log_dirs": len(failed),
                "paths": paths or None,
                "error": failed[0].error if failed else None,
                "replicas": replicas,
            },
            Remedy(
                fact(FactCode.LOG_DIR_OFFLINE, broker=broker.id, paths=paths, replicas=replicas),
                cost=fact(FactCode.MOVES_REPLICAS, replicas=replicas),
                gain=1.0,
            ),
        )


def racks_unknown(context: FindingContext) -> Iterator[Finding]:
    """Kafka places nothing by racks where some brokers have none, and the plan takes each of these for one."""
    brokers = [context.brokers[broker] for broker in context.staying]
    without = sorted(broker.id for broker in brokers if broker.rack is None)
    if not 0 < len(without) < len(brokers):
        return
    racks = {broker.rack for broker in brokers} - {None}
    yield finding(
        "racks_unknown",
        Severity.MEDIUM,
        context.snapshot.cluster,
        {"brokers_without_rack": len(without), "brokers": tuple(without), "racks": len(racks)},
        Remedy(
            fact(
                FactCode.RACKS_UNKNOWN,
                brokers=tuple(without[:MOST_NAMED]),
                brokers_without_rack=len(without),
                racks=len(racks),
            ),
            gain=1.0,
        ),
        confidence=Confidence.STRUCTURAL,
    )
