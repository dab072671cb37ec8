"""Brokers that carry more than their fair share: disk, traffic, CPU, and volumes that are nearly full."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_rebalance.cluster_arrays.snapshot_arrays import usable_bytes, volume_bytes
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.findings.context import Evidence, FindingContext, Remedy, finding, threshold
from kafka_rebalance.findings.finding import Finding, Severity
from kafka_rebalance.findings.plan_outcome import (
    LOAD_NAMES,
    copied_by_plan,
    excess,
    moved_away,
    plan_cost,
    plan_evidence,
    plan_outcome,
)
from kafka_rebalance.resources import TABLE
from kafka_rebalance.scoring.placement_scores import BrokerScore
from kafka_rebalance.snapshot.load import LoadKind

# What is balanced by default, measured, and no size.
_RATES = {row.name: row.load for row in TABLE if row.is_balanced and row.load is not None and row.unit != "bytes"}


def broker_disk_over_share(context: FindingContext) -> Iterator[Finding]:
    """Disk level above the fair share."""
    for score in context.scores.of_resource("disk"):
        over = _over_share(score)
        if over is None or over < threshold("broker_disk_over_share", "over_share_ratio"):
            continue
        yield finding(
            "broker_disk_over_share",
            _severity(over),
            score.broker,
            _share_evidence(score) | {"over_share_ratio": over} | plan_evidence(context, [score]),
            Remedy(
                fact(
                    FactCode.BROKER_DISK_OVER_SHARE,
                    broker=score.broker,
                    disk_bytes=score.load,
                    times_share=over,
                    outcome=plan_outcome(context, score, fact(FactCode.MOVE_BYTES_AWAY, excess_bytes=excess(score))),
                ),
                cost=plan_cost(
                    context, score.broker, fact(FactCode.COPIES_BYTES, copied_bytes=excess(score), is_least=True)
                ),
                gain=moved_away(context, score),
                copied_bytes=copied_by_plan(context, score.broker, excess(score)),
            ),
            confidence=context.confidence(LoadKind.LOG_BYTES),
        )


def broker_rate_over_share(context: FindingContext) -> Iterator[Finding]:
    """In, out or CPU level above the fair share: one finding a broker, the worst resource first."""
    least = threshold("broker_rate_over_share", "over_share_ratio")
    for broker in context.staying:
        scores = {
            score.resource: score
            for score in context.scores.brokers
            if score.broker == broker and score.resource in _RATES and (_over_share(score) or 0) >= least
        }
        if not scores:
            continue
        worst = max(scores.values(), key=lambda score: (_over_share(score) or 0, score.resource))
        over = _over_share(worst) or 0.0
        evidence: Evidence = {"worst_resource": worst.resource, "over_share_ratio": over}
        for score in scores.values():
            evidence |= _share_evidence(score)
            evidence[f"{score.resource}_over_share_ratio"] = _over_share(score)
        evidence |= plan_evidence(context, list(scores.values()))
        yield finding(
            "broker_rate_over_share",
            _severity(over),
            broker,
            evidence,
            Remedy(
                fact(
                    FactCode.BROKER_RATE_OVER_SHARE,
                    broker=broker,
                    resource=worst.resource,
                    load=worst.load,
                    times_share=over,
                    outcome=plan_outcome(context, worst, fact(FactCode.MOVE_BUSIEST_AWAY)),
                ),
                cost=plan_cost(context, broker, fact(FactCode.LEADER_CHANGES_COPY_NOTHING)),
                gain=moved_away(context, worst),
                copied_bytes=copied_by_plan(context, broker, 0.0),
            ),
            confidence=context.confidence(_RATES[worst.resource]),
        )


def broker_disk_full(context: FindingContext) -> Iterator[Finding]:
    """Volumes that are nearly full. Where the whole cluster is, moving does not help."""
    used = {score.broker: _used(context, score) for score in context.scores.of_resource("disk") if score.stays}
    known = {broker: pair for broker, pair in used.items() if pair is not None}
    if not known:
        return
    cluster = sum(pair[0] for pair in known.values()) / sum(pair[1] for pair in known.values())
    least = threshold("broker_disk_full", "used_ratio")
    for broker, (used_bytes, total_bytes) in sorted(known.items()):
        ratio = used_bytes / total_bytes
        if ratio < least:
            continue
        is_critical = ratio >= threshold("broker_disk_full", "critical_used_ratio")
        strays = sum(log_dir.stray_bytes for log_dir in context.brokers[broker].log_dirs)
        copied = max(0.0, used_bytes - cluster * total_bytes)
        yield finding(
            "broker_disk_full",
            Severity.CRITICAL if is_critical else Severity.HIGH,
            broker,
            {
                "used_bytes": round(used_bytes),
                "total_bytes": round(total_bytes),
                "used_ratio": ratio,
                "cluster_used_ratio": cluster,
            },
            Remedy(
                fact(
                    FactCode.BROKER_DISK_FULL,
                    broker=broker,
                    used_ratio=ratio,
                    cluster_used_ratio=cluster,
                    is_cluster_full=cluster >= least,
                    filling_stray_bytes=strays if (used_bytes - strays) / total_bytes < least else 0,
                ),
                cost=fact(FactCode.COPIES_BYTES, copied_bytes=copied),
                gain=(ratio - cluster) / ratio if cluster < least else 0.0,
                copied_bytes=copied,
            ),
            confidence=context.confidence(LoadKind.LOG_BYTES),
        )


def _used(context: FindingContext, score: BrokerScore) -> tuple[float, float] | None:
    """(used, total) bytes: what the volumes tell, else what is known to be on them over a capacity that was given."""
    log_dirs = context.brokers[score.broker].log_dirs
    total, usable = volume_bytes(log_dirs), usable_bytes(log_dirs)
    if total is not None and usable is not None:
        return total - usable, total
    if score.capacity is None:
        return None
    return score.load + context.snapshot.unplaced_bytes.get(score.broker, 0), score.capacity


def _over_share(score: BrokerScore) -> float | None:
    if not score.stays or not score.fair_share:
        return None
    return score.level / score.fair_share


def _share_evidence(score: BrokerScore) -> Evidence:
    name = LOAD_NAMES[score.resource]
    evidence: Evidence = {
        name: score.load,
        f"fair_share_{name}": (score.fair_share or 0.0) * (score.capacity or 1.0),
    }
    return evidence | ({f"capacity_{name}": score.capacity} if score.capacity is not None else {})


def _severity(over_share: float) -> Severity:
    """Relative to the fair share alone: half as much again is high, a quarter medium."""
    if over_share >= 1.5:
        return Severity.HIGH
    return Severity.MEDIUM if over_share >= 1.25 else Severity.LOW
