"""Brokers that the reading did not hear, and log dirs that are offline: named, with what hangs on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kafka_rebalance.amounts import bytes_in_words
from kafka_rebalance.findings.context import FindingContext, Remedy, finding
from kafka_rebalance.findings.finding import Confidence, Finding, Severity
from kafka_rebalance.findings.words import counted, listed
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
                f"Broker {broker.id} is {broker.state.value}{_why(broker)}: it holds {counted(held, 'replica')} and "
                f"leads {counted(led, 'partition')} by the metadata. Plans give it nothing until a reading hears it. "
                f"Restart it, or give what it has to others (plan with --remove-broker {broker.id}).",
                gain=1.0,
            ),
        )


def _why(broker: Broker) -> str:
    if broker.state is not BrokerState.UNRESPONSIVE:
        return ""
    if broker.log_dirs:
        return " (it did not answer the tool that lists brokers)"
    return " (it leads nothing, is in sync for no partition that has a leader, and no dump holds its log dirs)"


def stray_logs(context: FindingContext) -> Iterator[Finding]:
    """Logs that no replica list has fill a disk, and no plan moves them."""
    for broker in context.snapshot.brokers:
        dirs = [log_dir for log_dir in broker.log_dirs if log_dir.stray_logs]
        if not dirs:
            continue
        logs, size = sum(one.stray_logs for one in dirs), sum(one.stray_bytes for one in dirs)
        largest = max(dirs, key=lambda one: one.stray_bytes)
        held = ", ".join(f"{one.path} {bytes_in_words(one.stray_bytes)}" for one in dirs)
        yield finding(
            "stray_logs",
            Severity.MEDIUM,
            broker.id,
            {"logs": logs, "stray_bytes": size, "log_dirs": held, "example": largest.largest_stray},
            Remedy(
                f"The disks of broker {broker.id} hold {counted(logs, 'log')} of {bytes_in_words(size)} that no "
                f"replica list has ({held}), such as {largest.largest_stray}: left by a move, or of a topic that is "
                "deleted or was not described. They take disk, and no plan moves them. Read again once no reassignment "
                "runs; if they stay, stop the broker, remove their directories, and start it.",
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


def racks_unknown(context: FindingContext) -> Iterator[Finding]:
    """Kafka places nothing by racks where some brokers have none, and the plan takes each of these for one."""
    brokers = [context.brokers[broker] for broker in context.staying]
    without = sorted(broker.id for broker in brokers if broker.rack is None)
    if not 0 < len(without) < len(brokers):
        return
    is_one = len(without) == 1
    racks = {broker.rack for broker in brokers} - {None}
    yield finding(
        "racks_unknown",
        Severity.MEDIUM,
        context.snapshot.cluster,
        {"brokers_without_rack": len(without), "brokers": listed(without, most=len(without)), "racks": len(racks)},
        Remedy(
            f"{'Broker' if is_one else 'Brokers'} {listed(without)} {'has' if is_one else 'have'} no rack, the others "
            f"stand in {counted(len(racks), 'rack')}. Plans take each broker without a rack for a rack of its own: two "
            "replicas may then share a real one. kafka-topics and kafka-reassign-partitions refuse such a cluster "
            "unless --disable-rack-aware is given. Set broker.rack on every broker (or the rack in brokers.csv), and "
            "read again.",
            gain=1.0,
        ),
        confidence=Confidence.STRUCTURAL,
    )
