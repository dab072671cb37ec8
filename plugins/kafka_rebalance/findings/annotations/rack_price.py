"""What traffic across racks costs in a month, where a price of it is given.

Promises: one finding more and no other one changed; what is not known adds nothing, and is said, so the sum is "at
least"; what the plan changes is told with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafka_rebalance.findings.context import Evidence, Remedy, finding
from kafka_rebalance.findings.finding import Confidence, Finding, Severity, rank
from kafka_rebalance.findings.words import counted
from kafka_rebalance.plans.plan import Plan
from kafka_rebalance.scoring.rack_traffic import RackTraffic, followers_elsewhere, rack_traffic, racks_by_broker
from kafka_rebalance.snapshot.load import LoadKind
from kafka_rebalance.snapshot.model import ClusterSnapshot

MONTH_S = 30 * 24 * 3600
GB = 1e9


def with_rack_price(
    findings: Iterable[Finding], snapshot: ClusterSnapshot, plan: Plan | None, price: float
) -> tuple[Finding, ...]:
    """The findings and one about the cluster, ranked anew; ``price`` of a GB (10^9 bytes) between two racks."""
    return rank([*findings, rack_traffic_price(snapshot, plan, price)])


def rack_traffic_price(snapshot: ClusterSnapshot, plan: Plan | None, price: float) -> Finding:
    """What 30 days at today's rates cost, and where most of it comes from."""
    traffic, month = rack_traffic(snapshot), price * MONTH_S / GB
    replication, reads = sum(traffic.replication.values()) * month, sum(traffic.reads.values()) * month
    left = sum(traffic.reads_without_replica.values()) * month
    planned = replication + _change(snapshot, plan) * month
    evidence: Evidence = {
        "price_per_gb": price,
        "replication_price_per_month": replication,
        "planned_replication_price_per_month": planned,
        "reads_price_per_month": reads,
        "reads_price_per_month_served_in_rack": left,
        "partitions_unknown": traffic.unknown_partitions,
        "groups_unknown": traffic.unknown_groups,
    }
    parts = [f"replication {replication:,.0f}", f"reads {reads:,.0f}"]
    if abs(planned - replication) >= 0.5:
        parts[0] += f" ({planned:,.0f} after the plan)"
    words = f"Traffic between racks costs at least {replication + reads:,.0f} in 30 days: {', '.join(parts)}."
    if reads - left >= 0.5:
        words += (
            f" Reads would cost {left:,.0f} if brokers served members in their own rack "
            "(replica.selector.class=RackAwareReplicaSelector, client.rack)."
        )
    words += _dearest(traffic, month) + _not_counted(traffic)
    return finding(
        "rack_traffic_price",
        Severity.INFO,
        snapshot.cluster,
        evidence,
        Remedy(words, gain=(reads - left) / (replication + reads) if reads - left >= 0.5 else 0.0),
        confidence=Confidence.MEASURED if replication + reads > 0 else Confidence.ESTIMATED,
    )


def _change(snapshot: ClusterSnapshot, plan: Plan | None) -> float:
    """Bytes a second of replication across racks that the plan adds."""
    if plan is None:
        return 0.0
    rack_of, rate = racks_by_broker(snapshot), snapshot.loads.values(LoadKind.IN_BYTES_PER_S, len(snapshot.partitions))
    index = {topic.name: i for i, topic in enumerate(snapshot.topics)}
    row_of = {
        pair: row
        for row, pair in enumerate(
            zip(snapshot.partitions.topic.tolist(), snapshot.partitions.partition.tolist(), strict=True)
        )
    }
    added = 0.0
    for move in plan.moves:
        here = float(rate[row_of[index[move.topic], move.partition]])
        before = followers_elsewhere(move.leader_from, move.from_replicas, rack_of)
        after = followers_elsewhere(move.leader_to, move.to_replicas, rack_of)
        change = here * (after - before)
        added += 0.0 if change != change else change  # noqa: PLR0124  # nan: unknown before, unknown after
    return added


def _dearest(traffic: RackTraffic, month: float) -> str:
    named = [
        f"{kind} {name} {value * month:,.0f}"
        for kind, found in (("topic", traffic.replication), ("group", traffic.reads))
        for name, value in _largest(found)
        if value * month >= 0.5
    ]
    return f" Most: {', '.join(named)}." if named else ""


def _largest(found: Mapping[str, float]) -> list[tuple[str, float]]:
    return sorted(found.items(), key=lambda one: (-one[1], one[0]))[:2]


def _not_counted(traffic: RackTraffic) -> str:
    missing = ["what producers send"]
    if traffic.unknown_partitions:
        missing.append(f"{counted(traffic.unknown_partitions, 'partition')} of unknown rate, leader or rack")
    if traffic.unknown_groups:
        missing.append(f"{counted(traffic.unknown_groups, 'group')} whose members say no rack")
    return f" Not counted: {', '.join(missing)}."
