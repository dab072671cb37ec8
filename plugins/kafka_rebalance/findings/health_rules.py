"""Brokers that the reading did not hear, and log dirs that are offline: named, with what hangs on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kafka_rebalance.findings.context import FindingContext, Remedy, finding
from kafka_rebalance.findings.finding import Finding, Severity
from kafka_rebalance.findings.words import counted, listed


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
                f"Broker {broker.id} is {broker.state.value}: it holds {counted(held, 'replica')} and leads "
                f"{counted(led, 'partition')} by the metadata. Plans give it nothing until a reading hears it. Restart "
                f"it, or give what it has to others (plan with --remove-broker {broker.id}).",
                gain=1.0,
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
        paths = listed(log_dir.path for log_dir in failed)
        subject = f"Log dir {paths} of broker {broker.id}" if paths else f"A disk of broker {broker.id}"
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
                f"{subject} is offline: {counted(replicas, 'replica')} on it serve nobody and have no known size. "
                "Repair or replace the disk and restart the broker, or let the plan give them to others.",
                cost=counted(replicas, "replica move"),
                gain=1.0,
            ),
        )
