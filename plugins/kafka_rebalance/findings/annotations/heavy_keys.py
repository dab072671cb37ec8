"""Findings about a hot partition with the key that makes it hot, where records were sampled.

Promises: no finding is added or lost, nor its rank changed; a sample of another partition says nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from kafka_rebalance.facts import fact
from kafka_rebalance.findings.finding import Finding
from kafka_rebalance.options.heavy_key import HeavyKeyOf

_OF_A_PARTITION = "hot_partition"
_OF_A_GROUP = "group_hot_partition"


def with_heavy_keys(findings: Iterable[Finding], keys: Sequence[HeavyKeyOf]) -> tuple[Finding, ...]:
    """The findings, symptoms among them; those about a sampled partition name its heaviest key."""
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
