from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_rebalance.findings.finding import Severity
from kafka_rebalance.findings.group_rules import server_uniform_may_throw
from kafka_rebalance.findings.rules import RULES
from kafka_rebalance.snapshot.model import Group, GroupType, Member
from tests.unit.findings.sample_clusters import cluster, findings_of, striped

FOUR = striped("t", 4)


def group(*members, protocol="range", kind=GroupType.CLASSIC):
    return Group("g", kind, protocol=protocol, state="Stable", members=members)


def of(*groups, version=None):
    return replace(cluster(FOUR, groups=groups), kafka_version=version)


def test_the_coordinators_range_leaves_members_idle_where_uniform_would_not():
    """Three topics of one partition, three members: range gives all to the first; without rates counts decide."""
    rows = [row for number in range(3) for row in striped(f"t{number}", 1)]
    first = Member("m0", assigned=tuple((f"t{number}", (0,)) for number in range(3)))
    uneven = group(first, Member("m1"), Member("m2"), kind=GroupType.CONSUMER)
    (finding,) = findings_of(cluster(rows, groups=[uneven]), "server_assignor_uneven")
    assert (finding.severity, finding.gain) == (Severity.MEDIUM, pytest.approx(2 / 3))  # 3.0 to 1.0
    assert (finding.evidence["skew_count"], finding.evidence["partitions_moved"]) == (3.0, 2)
    assert findings_of(cluster(rows, groups=[uneven]), "idle_members") == []  # already named
    assert findings_of(cluster(rows, groups=[replace(uneven, type=GroupType.CLASSIC)]), "server_assignor_uneven") == []


def test_half_a_migration_is_told_and_a_whole_one_is_not():
    old, new = Member("m0", client_id="a", is_classic=True), Member("m1", client_id="b", is_classic=False)
    (finding,) = findings_of(of(group(old, new, kind=GroupType.CONSUMER)), "rollover_half_done")
    assert (finding.evidence["upgraded_members"], finding.evidence["classic_members"]) == (1, 1)
    assert finding.recommendation.args["members"] == ("a",)
    for members in ((replace(new, id="m0"), new), (old, replace(old, id="m1")), (Member("m0"), new)):
        assert findings_of(of(group(*members, kind=GroupType.CONSUMER)), "rollover_half_done") == []


@pytest.mark.parametrize(
    ("protocol", "severity"),
    [("range", Severity.LOW), ("sticky", Severity.MEDIUM), ("cooperative-sticky", Severity.MEDIUM)],
)
def test_two_libraries_matter_more_where_strategies_write_what_members_hold(protocol, severity):
    members = (Member("m0", client_id="rdkafka"), Member("m1", client_id="sarama"), Member("m2", client_id="sarama"))
    (finding,) = findings_of(of(group(*members, protocol=protocol)), "mixed_clients")
    assert (finding.severity, finding.evidence["clients"]) == (severity, ("librdkafka", "sarama"))
    assert (finding.gain, finding.cost_changes) == (pytest.approx(1 / 3), 1)
    assert finding.recommendation.args["libraries"] == (("librdkafka", 1), ("sarama", 2))


def test_one_unknown_client_or_a_rule_or_a_coordinator_that_divides_says_nothing():
    mixed = (Member("m0", client_id="rdkafka"), Member("m1", client_id="sarama"))
    for quiet in (
        group(*mixed, Member("m2", client_id="billing")),  # may be either
        replace(group(*mixed), client="java"),
        group(*mixed, kind=GroupType.CONSUMER, protocol="uniform"),
        group(mixed[0], replace(mixed[0], id="m1")),
    ):
        assert findings_of(of(quiet), "mixed_clients") == []


@pytest.mark.parametrize(
    ("version", "is_told"), [("3.8", True), ("3.9.1", True), ("3.7", False), ("4.0", False), (None, False)]
)
def test_uniform_of_3_8_and_3_9_on_unequal_subscriptions(version, is_told):
    members = (
        Member("m0", subscription=("t",), assigned=(("t", (0, 1)),)),
        Member("m1", subscription=("t", "u"), assigned=(("t", (2, 3)),)),
    )
    uneven = group(*members, protocol="uniform", kind=GroupType.CONSUMER)
    assert bool(findings_of(of(uneven, version=version), "server_uniform_may_throw")) is is_told
    even = replace(uneven, members=(members[0], replace(members[0], id="m1", assigned=())))
    assert findings_of(of(even, version=version), "server_uniform_may_throw") == []
    assert server_uniform_may_throw in RULES
