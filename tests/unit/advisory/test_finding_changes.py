from __future__ import annotations

import random

from kafka_rebalance.advisory.advisory import with_changes
from rebalance_advisor.publish.report import describe_change
from tests.sample import for_each


def document_of(key, *symptoms):
    return {
        "finding_key": key, "code": key, "severity": "low", "subject_type": "group", "subject": "g",
        "recommendation": {"code": "members_too_slow", "args": {}},
        "symptoms": [document_of(symptom) for symptom in symptoms],
    }  # fmt: skip


def compared(now, before, closed=()):
    return with_changes({"findings": now, "plan": 1}, before, closed)


def changes(advisory):
    return {finding["finding_key"]: finding["change"] for finding in advisory["findings"]}


def test_persisting_resolved_reopened_and_new():
    result = compared(
        [document_of("a"), document_of("c"), document_of("d")], [document_of("a"), document_of("b")], ["c"]
    )
    assert changes(result) == {"a": "persisting", "c": "reopened", "d": "new"}
    assert [finding["finding_key"] for finding in result["resolved"]] == ["b"]
    assert (result["closed_findings"], result["plan"]) == (["b"], 1)
    assert describe_change(result) == "1 new, 1 reopened, 1 persisting, 1 resolved"


def test_what_another_finding_explains_now_or_then_is_still_there():
    result = compared([document_of("cause", "a"), document_of("b")], [document_of("a"), document_of("cause", "b")])
    assert changes(result) == {"cause": "persisting", "b": "persisting"}
    assert (result["resolved"], result["closed_findings"]) == ([], [])


def test_where_nobody_compared_nothing_is_said():
    assert describe_change({"findings": [document_of("a")]}) == ""
    assert describe_change(compared([], [])) == "no findings, then and now"


@for_each("seed", range(60), fast=range(20))
def test_over_many_advisories_new_is_said_once_and_what_comes_back_is_reopened(seed):
    draw = random.Random(seed)
    seen, before, closed = set(), [], []
    for _ in range(8):
        now = [document_of(key) for key in draw.sample("abcdef", draw.randint(0, 6))]
        result = compared(now, before, closed)
        open_before = {finding["finding_key"] for finding in before}
        for key, change in changes(result).items():
            assert change == ("persisting" if key in open_before else "reopened" if key in seen else "new")
        open_now = {finding["finding_key"] for finding in now}
        assert {finding["finding_key"] for finding in result["resolved"]} == open_before - open_now
        seen |= open_now
        assert set(result["closed_findings"]) == seen - open_now
        before, closed = result["findings"], result["closed_findings"]
