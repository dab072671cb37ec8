from __future__ import annotations

import pytest

from kafka_rebalance.findings.finding import Confidence, Severity
from kafka_rebalance.findings.lag_rules import group_hot_partition, uneven_by_rate
from kafka_rebalance.findings.rules import RULES
from kafka_rebalance.snapshot.model import Group, GroupType, Member
from tests.unit.findings.sample_clusters import cluster, findings_of, striped


def dealt(count, partitions, protocol="roundrobin", topic="t", **fields):
    members = tuple(Member(f"m{n}", assigned=((topic, tuple(range(n, partitions, count))),)) for n in range(count))
    return Group("g", protocol=protocol, state="Stable", members=members, **fields)


def hot(rates, group):
    return findings_of(cluster(striped("t", len(rates)), groups=[group], in_bytes_per_s=rates), "group_hot_partition")


def test_both_rules_are_asked():
    assert {group_hot_partition, uneven_by_rate} <= set(RULES)


@pytest.mark.parametrize(
    ("hottest", "is_told", "severity"),
    [(5.9, False, None), (6.0, True, Severity.MEDIUM), (60.0, True, Severity.MEDIUM)],
)
def test_twice_what_a_mean_member_reads(hottest, is_told, severity):
    """Three others carry 2 each: with 6 it is 12 in all, for 4 members 3 each, and 6 is twice that and half of all."""
    result = hot([2.0, hottest, 2.0, 2.0], dealt(4, 4))
    assert bool(result) is is_told
    if result:
        (finding,) = result
        assert (finding.severity, finding.confidence) == (severity, Confidence.GIVEN)
        assert finding.evidence["partition"] == "t-1"
        assert finding.gain == pytest.approx(1 - (hottest + 6) / 4 / hottest)


def test_less_than_half_of_all_is_low_and_fewer_members_would_do():
    """Of 20 partitions one carries 5, the others 1: 24 in all, 2.4 for each of ten; 24 of 5 need five members."""
    (finding,) = hot([5.0] + [1.0] * 19, dealt(10, 20))
    assert finding.severity is Severity.LOW
    assert (finding.evidence["members_that_suffice"], finding.evidence["times_mean_ratio"]) == (5, 5 / 2.4)


def test_members_without_a_partition_do_not_make_the_others_hot():
    """Two partitions of 1 and eight members: each of two that can work is at the mean."""
    assert hot([1.0, 1.0], dealt(8, 2)) == []
    assert hot([7.0], dealt(3, 1)) == []  # one partition: nothing to compare with
    assert hot([0.0] * 4, dealt(4, 4)) == []
    assert hot([float("nan"), 9.0, 1.0, 1.0], dealt(4, 4)) == []
    assert hot([1.0, 9.0, 1.0, 1.0], dealt(4, 4, type=GroupType.SHARE)) == []  # read together


def test_what_no_assignor_of_kafka_evens_and_weighing_would():
    """Range and round robin put both partitions of 9 on one of two members, sticky keeps them: 18 of 20 against 2."""
    rows = [*striped("a", 2), *striped("b", 2)]
    members = (
        Member("m0", assigned=(("a", (0,)), ("b", (0,)))),
        Member("m1", assigned=(("a", (1,)), ("b", (1,)))),
    )
    group = Group("g", protocol="range", state="Stable", members=members)
    (finding,) = findings_of(cluster(rows, groups=[group], in_bytes_per_s=[9.0, 1.0, 9.0, 1.0]), "uneven_by_rate")
    # 18 of a mean of 10; weighed 9 + 1 for both.
    assert (finding.evidence["skew_rate"], finding.evidence["best_skew_rate"]) == (1.8, 1.0)
    assert (finding.severity, finding.gain) == (Severity.LOW, pytest.approx(1 - 1 / 1.8))
    assert findings_of(cluster(rows, groups=[group], in_bytes_per_s=[5.0, 4.0, 5.0, 4.0]), "uneven_by_rate") == []
