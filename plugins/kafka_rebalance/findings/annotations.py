"""Heavy keys, owners, mutes and the price of rack traffic, added to finished findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.findings.context import Evidence, Remedy, finding
from kafka_rebalance.findings.finding import Confidence, Finding, Severity, rank
from kafka_rebalance.groups.group_replay import GroupReplay
from kafka_rebalance.options.rules import HeavyKeyOf, MuteRule, OwnerRule
from kafka_rebalance.plans.plan import Plan
from kafka_rebalance.scoring.rack_traffic import Placed, PlacementChange, RackTraffic, rack_traffic
from kafka_rebalance.snapshot.model import ClusterSnapshot

_OF_A_PARTITION = "hot_partition"
_OF_A_GROUP = "group_hot_partition"


def with_heavy_keys(findings: Iterable[Finding], keys: Sequence[HeavyKeyOf]) -> tuple[Finding, ...]:
    by_partition: dict[str, HeavyKeyOf] = {}
    for key in sorted(keys, key=lambda key: key.share):
        by_partition[f"{key.topic}-{key.partition}"] = key
    return tuple(_told(finding, by_partition) for finding in findings)


def _told(finding: Finding, by_partition: Mapping[str, HeavyKeyOf]) -> Finding:
    symptoms = tuple(_told(symptom, by_partition) for symptom in finding.symptoms)
    if symptoms != finding.symptoms:
        finding = replace(finding, symptoms=symptoms)
    subject = finding.subject if finding.code == _OF_A_PARTITION else finding.evidence.get("partition")
    key = by_partition.get(str(subject)) if finding.code in (_OF_A_PARTITION, _OF_A_GROUP) else None
    if key is None:
        return finding
    evidence = dict(finding.evidence) | {"heaviest_key": key.key, "heaviest_key_share_ratio": key.share}
    told = finding.recommendation
    return replace(
        finding,
        evidence={name: evidence[name] for name in sorted(evidence)},
        recommendation=fact(told.code, **told.args, heaviest_key=key.key, heaviest_key_share=key.share),
    )


def with_owners(
    findings: Iterable[Finding], owners: Sequence[OwnerRule], mutes: Sequence[MuteRule], at: datetime | None
) -> tuple[Finding, ...]:
    return rank([_muted(_owned_with_symptoms(finding, owners), mutes, at) for finding in findings])


def _owned_with_symptoms(finding: Finding, owners: Sequence[OwnerRule]) -> Finding:
    symptoms = tuple(_owned(symptom, owners) for symptom in finding.symptoms)
    return replace(_owned(finding, owners), symptoms=symptoms)


def _owned(finding: Finding, owners: Sequence[OwnerRule]) -> Finding:
    for owner in owners:
        if owner.covers(finding.subject_type, finding.subject):
            return replace(finding, team=owner.team, channel=owner.channel, tier=owner.tier)
    return finding


def _muted(finding: Finding, mutes: Sequence[MuteRule], at: datetime | None) -> Finding:
    holding = [
        mute
        for mute in mutes
        if at is not None and at < mute.until and mute.covers(finding.code, finding.subject_type, finding.subject)
    ]
    longest = max(holding, key=lambda mute: mute.until, default=None)
    return finding if longest is None else replace(finding, muted_until=longest.until, mute_reason=longest.reason)


MONTH_S = 30 * 24 * 3600
GB = 1e9
LEAST_PRICE = 0.5


def with_rack_price(
    findings: Iterable[Finding],
    snapshot: ClusterSnapshot,
    plan: Plan | None,
    price: float,
    replays: Sequence[GroupReplay] = (),
) -> tuple[Finding, ...]:
    """Add a finding; ``price`` of a GB (10^9 bytes) between two racks."""
    return rank([*findings, rack_traffic_price(snapshot, plan, price, replays)])


def rack_traffic_price(
    snapshot: ClusterSnapshot, plan: Plan | None, price: float, replays: Sequence[GroupReplay] = ()
) -> Finding:
    traffic, month = rack_traffic(snapshot), price * MONTH_S / GB
    after = traffic if plan is None or not plan.moves else rack_traffic(snapshot, change_of(plan, snapshot))
    now, planned = _Sums.of(traffic, month), _Sums.of(after, month)
    advised = sum(reads_as_advised(traffic, replays).values()) * month
    evidence: Evidence = {
        "price_per_gb": price,
        "replication_price_per_month": now.replication,
        "planned_replication_price_per_month": planned.replication,
        "reads_price_per_month": now.reads,
        "planned_reads_price_per_month": planned.reads,
        "reads_price_per_month_as_advised": advised,
        "reads_price_per_month_served_in_rack": now.served_in_rack,
        "partitions_unknown": traffic.unknown_partitions,
        "planned_partitions_unknown": after.unknown_partitions,
        "groups_unknown": traffic.unknown_groups,
        "members_unknown": traffic.unknown_members,
    }
    saved = now.reads - now.served_in_rack if traffic.is_selector_told else 0.0
    return finding(
        "rack_traffic_price",
        Severity.INFO,
        snapshot.cluster,
        evidence,
        Remedy(
            fact(
                FactCode.RACK_TRAFFIC_PRICE,
                replication=now.replication,
                planned_replication=planned.replication,
                reads=now.reads,
                planned_reads=planned.reads,
                reads_in_rack=now.served_in_rack,
                planned_reads_in_rack=planned.served_in_rack,
                reads_as_advised=advised,
                is_selector_known=traffic.is_selector_told,
                dearest_topics=_dearest(traffic.replication, month),
                dearest_groups=_dearest(traffic.reads, month),
                unknown_partitions=traffic.unknown_partitions,
                planned_unknown_partitions=after.unknown_partitions,
                unknown_groups=traffic.unknown_groups,
                unknown_members=traffic.unknown_members,
            ),
            gain=saved / (now.replication + now.reads) if saved >= LEAST_PRICE else 0.0,
        ),
        confidence=Confidence.MEASURED if now.replication + now.reads > 0 else Confidence.ESTIMATED,
    )


def change_of(plan: Plan, snapshot: ClusterSnapshot) -> PlacementChange:
    row_of = snapshot.row_of
    placed = {row_of[move.topic, move.partition]: Placed(move.leader_to, move.to_replicas) for move in plan.moves}
    added = plan.parameters.get("add_brokers", {})
    return PlacementChange(placed, {int(broker): rack for broker, rack in added.items()})


def reads_as_advised(traffic: RackTraffic, replays: Sequence[GroupReplay]) -> dict[str, float]:
    """Return each group's reads across racks under its recommended strategy, else as today."""
    reads = dict(traffic.reads)
    for replay in () if traffic.is_selecting is None else replays:
        best = None if replay.advised is None else replay.score(replay.advised)
        total = traffic.read_by_known.get(replay.group_id)
        if best is None or best.error is not None or total is None:
            continue
        inside = best.same_rack_ratio if traffic.is_selecting else best.leader_in_rack_ratio
        # A strategy that also reads unread partitions reads more than ``total``.
        if inside is not None and best.partitions_without_reader == replay.today.partitions_without_reader:
            reads[replay.group_id] = total * (1 - inside)
    return reads


@dataclass(frozen=True, slots=True)
class _Sums:
    replication: float
    reads: float
    served_in_rack: float

    @classmethod
    def of(cls, traffic: RackTraffic, month: float) -> _Sums:
        return cls(
            sum(traffic.replication.values()) * month,
            sum(traffic.reads.values()) * month,
            sum(traffic.reads_without_replica.values()) * month,
        )


def _dearest(found: Mapping[str, float], month: float) -> tuple[tuple[str, float], ...]:
    largest = sorted(found.items(), key=lambda one: (-one[1], one[0]))[:2]
    return tuple((name, value * month) for name, value in largest if value * month >= LEAST_PRICE)
