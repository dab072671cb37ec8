from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.findings.finding import Confidence, Severity
from kafka_rebalance.snapshot.model import Group, GroupType, Member
from tests.unit.findings.sample_clusters import cluster, findings_of, striped

ENDLESS = Path(__file__).parents[2] / "conformance" / "sticky_endless.json"


def endless_group(protocol):
    """The group on which Kafka's sticky assignors never return, as a snapshot would show it; and its cluster."""
    case = json.loads(ENDLESS.read_text())["input"]
    members = [
        Member(
            member["id"],
            subscription=tuple(member["topics"]),
            assigned=tuple((topic, tuple(runs)) for topic, runs in member["memberData"]["owned"]),
        )
        for member in case["members"]
    ]
    rows = [row for topic in sorted(case["topics"], key=lambda topic_row: topic_row["topic"])
            for row in striped(topic["topic"], topic["n"])]  # fmt: skip
    return cluster(rows, groups=[Group("loop", protocol=protocol, state="Stable", members=tuple(members))])


@pytest.mark.parametrize("protocol", ["sticky", "cooperative-sticky"])
def test_a_live_group_from_which_sticky_would_never_return_is_told_of(protocol):
    (finding,) = findings_of(endless_group(protocol), "sticky_endless")
    assert (finding.subject, finding.severity, finding.confidence) == ("loop", Severity.HIGH, Confidence.MEASURED)
    assert finding.evidence == {"assignor": protocol, "members": 9, "partitions": 33, "idle_members": 5}
    assert finding.recommendation == fact(FactCode.STICKY_ENDLESS, strategy=protocol, members=9)


def test_a_group_that_runs_another_strategy_is_in_no_danger_and_is_not_sent_there():
    snapshot = endless_group("range")
    assert findings_of(snapshot, "sticky_endless") == []
    assert [
        finding
        for finding in findings_of(snapshot, "assignor_uneven")
        if "sticky" in finding.evidence["advised_assignor"]
    ] == []


def broadcast(**changes):
    both = (("t", (0, 1, 2)),)
    members = (Member("a", assigned=both), Member("b", assigned=both), Member("c", assigned=(("t", (2, 3)),)))
    return replace(Group("fan-out", protocol="broadcast", state="Stable", members=members), **changes)


def test_readers_that_commit_to_one_offset_are_told_of_with_what_they_share():
    (finding,) = findings_of(cluster(striped("t", 6), groups=[broadcast()]), "shared_offsets")
    assert (finding.evidence["shared_partitions"], finding.evidence["partitions"], finding.gain) == (3, 4, 0.75)
    assert (finding.evidence["most_readers"], finding.evidence["topics"]) == (3, ("t",))


@pytest.mark.parametrize("changes", [{"type": GroupType.SHARE}, {"state": "PreparingRebalance"}])
def test_a_share_group_means_it_and_a_group_that_rebalances_will_tell_later(changes):
    assert findings_of(cluster(striped("t", 6), groups=[broadcast(**changes)]), "shared_offsets") == []


def test_a_partition_with_one_reader_is_shared_with_nobody():
    members = (Member("a", assigned=(("t", (0, 1)),)), Member("b", assigned=(("t", (2,)),)))
    assert findings_of(cluster(striped("t", 6), groups=[broadcast(members=members)]), "shared_offsets") == []
