"""One advisory as a document: what every file, page and row of it is rendered from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafka_rebalance.finding import Finding
from kafka_rebalance.load import LoadKind
from kafka_rebalance.model import ClusterSnapshot
from kafka_rebalance.plan import Plan, to_document

FORMAT_VERSION = 1


def advisory_document(
    snapshot: ClusterSnapshot, plan: Plan, findings: Sequence[Finding], groups: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """JSON object of one advisory. ``groups``: one object a group, as ``groups.json`` has them."""
    return {
        "format_version": FORMAT_VERSION,
        "cluster": snapshot.cluster,
        "cluster_id": snapshot.cluster_id,
        "captured_at": snapshot.captured_at,
        "size": size_of(snapshot),
        "loads": loads_in_words(snapshot),
        "coverage": [
            {"subject_type": gap.subject_type, "subject": gap.subject, "what": gap.what, "reason": gap.reason}
            for gap in snapshot.coverage
        ],
        "plan": to_document(plan),
        "findings": [finding_document(each) for each in findings],
        "groups": [dict(each) for each in groups],
    }


def finding_document(finding: Finding) -> dict[str, Any]:
    """One entry of ``findings.json``."""
    return {
        "finding_key": finding.finding_key,
        "severity": finding.severity.value,
        "subject_type": finding.subject_type.value,
        "subject": finding.subject,
        "code": finding.code,
        "evidence": dict(finding.evidence),
        "recommendation": finding.recommendation,
        "cost": finding.cost,
        "gain": finding.gain,
        "confidence": finding.confidence.value,
    }


def size_of(snapshot: ClusterSnapshot) -> dict[str, int]:
    """How large the cluster is, in counts."""
    return {
        "brokers": len(snapshot.brokers),
        "racks": len({broker.rack for broker in snapshot.brokers if broker.rack is not None}),
        "topics": len(snapshot.topics),
        "partitions": len(snapshot.partitions),
        "replicas": len(snapshot.partitions.replicas),
        "groups": len(snapshot.groups),
    }


def loads_in_words(snapshot: ClusterSnapshot) -> dict[str, str]:
    """Each kind of load: where it comes from, or that nobody measured it."""
    words: dict[str, str] = {}
    for kind in LoadKind:
        column = snapshot.loads.column(kind)
        if column is not None:
            window = "" if column.window_s is None else f" over {column.window_s:.0f} s"
            known = "" if column.known_share == 1 else f", known for {100 * column.known_share:.1f} % of partitions"
            words[kind.value] = f"{column.source.value.replace('_', ' ')}{window}{known}"
        elif kind is LoadKind.LOG_BYTES and bool((snapshot.partitions.replica_log_bytes >= 0).any()):
            words[kind.value] = "log dirs, as brokers report them"
        else:
            words[kind.value] = "unknown: nobody measured it"
    return words
