from __future__ import annotations

import json
from dataclasses import replace

from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.findings.finding import Confidence, Finding, Severity, SubjectType
from rebalance_advisor.store.rows.finding_evidence import numbers, packed

AWAITED = fact(FactCode.BROKER_BACK, broker=4, state="dead", partitions=2)
ELECT = fact(FactCode.LEADERS_PILED_UP, broker=3, times_share=1.5, awaited=(AWAITED,))
SYMPTOM = Finding(
    "leaders_piled_up", Severity.HIGH, SubjectType.BROKER, "3", {"leaders": 12, "over_share_ratio": 1.5}, ELECT,
    cost=fact(FactCode.CHANGES_LEADERS, leaders=4), gain=0.5, confidence=Confidence.STRUCTURAL, team="core", tier=1,
    cost_changes=4,
)  # fmt: skip
CAUSE = Finding(
    "preferred_leaders_off", Severity.HIGH, SubjectType.CLUSTER, "c", {"off": 4, "idle": None}, ELECT,
    cost_bytes=7.0, cost_changes=4, symptoms=(SYMPTOM, replace(SYMPTOM, subject="5", cost_bytes=2.5)),
)  # fmt: skip


def test_costs_and_symptoms_are_beside_the_numbers():
    document = json.loads(json.dumps(packed(CAUSE), sort_keys=True))
    assert numbers(document) == {"off": 4, "idle": None}
    assert (document["cost_bytes"], document["cost_changes"]) == (7.0, 4)
    first, second = document["symptoms"]
    assert (first["subject"], second["subject"], first["severity"], first["team"]) == ("3", "5", "high", "core")
    assert Fact.from_document(first["recommendation"]) == ELECT
    assert Fact.from_document(first["cost"]) == SYMPTOM.cost
    assert numbers(first["evidence"]) == SYMPTOM.evidence
    assert second["evidence"]["cost_bytes"] == 2.5


def test_a_finding_without_costs_or_symptoms_is_its_evidence_alone():
    plain = replace(CAUSE, cost_bytes=0.0, cost_changes=0, symptoms=())
    assert packed(plain) == {"off": 4, "idle": None}
    assert numbers({"off": 4, "idle": None}) == {"idle": None, "off": 4}
