from __future__ import annotations

import random

import pytest

from kafka_rebalance.findings.causes import EXPLANATIONS, Explanation, fold, same_subject
from kafka_rebalance.findings.context import FindingContext
from kafka_rebalance.findings.finding import CODES, Finding, Severity
from kafka_rebalance.scoring.snapshot_scores import score_cluster
from tests.sample import for_each
from tests.unit.findings.sample_clusters import cluster, striped

CODE_NAMES = sorted(CODES)


@pytest.fixture(scope="module")
def context():
    snapshot = cluster(striped("t", 6))
    return FindingContext(snapshot, score_cluster(snapshot), [])


def finding_of(code, subject, severity=Severity.LOW):
    return Finding(code, severity, CODES[code].subject_type, subject, {}, "do it")


def test_a_chain_is_told_in_its_first_cause_which_is_as_severe_as_the_worst(context):
    """Idle members of an uneven group whose strategy never ends; the other group's are their own trouble."""
    findings = [
        finding_of("idle_members", "a", Severity.HIGH), finding_of("idle_members", "b"),
        finding_of("assignor_uneven", "a"), finding_of("sticky_endless", "a", Severity.MEDIUM),
    ]  # fmt: skip
    chain = (
        Explanation("assignor_uneven", "idle_members", same_subject),
        Explanation("sticky_endless", "assignor_uneven", same_subject),
    )
    other, cause = fold(context, findings, chain)
    assert (other, cause.code, cause.severity) == (findings[1], "sticky_endless", Severity.HIGH)
    assert cause.symptoms == (findings[0], findings[2])  # worst first; flat


@for_each("seed", range(200), fast=range(40))
def test_whatever_explains_what_no_finding_is_lost_or_told_twice(context, seed):
    draw = random.Random(seed)
    codes = draw.sample(CODE_NAMES, draw.randint(1, 8))
    findings = list(
        {
            (code, subject): finding_of(code, subject, draw.choice(list(Severity)))
            for code in codes
            for subject in draw.choices("abc", k=draw.randint(0, 3))
        }.values()
    )
    pairs = [(cause, symptom) for number, cause in enumerate(codes) for symptom in codes[number + 1 :]]
    explanations = [
        Explanation(cause, symptom, same_subject) for cause, symptom in pairs if draw.random() < 0.5
    ]  # causes come before symptoms in ``codes``: no circle
    folded = fold(context, findings, explanations)
    flat = [item.finding_key for finding in folded for item in (finding, *finding.symptoms)]
    assert sorted(flat) == sorted(finding.finding_key for finding in findings)
    by_key = {finding.finding_key: finding for finding in findings}
    for finding in folded:
        members = [by_key[item.finding_key] for item in (finding, *finding.symptoms)]
        assert finding.severity is min((member.severity for member in members), key=lambda level: level.rank)
        assert all(symptom.symptoms == () for symptom in finding.symptoms)
    # A finding with a cause among the findings has no line of its own.
    lines = {finding.finding_key for finding in folded}
    for explanation in explanations:
        for subject in "abc":
            keys = [f"{code}:{CODES[code].subject_type}:{subject}" for code in (explanation.cause, explanation.symptom)]
            assert not (keys[0] in by_key and keys[1] in lines)


def test_no_code_explains_itself_not_even_through_others():
    causes = {}
    for explanation in EXPLANATIONS:
        causes.setdefault(explanation.symptom, set()).add(explanation.cause)
    for code in causes:
        seen, at = set(), {code}
        while at := {cause for item in at for cause in causes.get(item, ())} - seen:
            seen |= at
        assert code not in seen
    assert {code for explanation in EXPLANATIONS for code in (explanation.cause, explanation.symptom)} <= set(CODES)
