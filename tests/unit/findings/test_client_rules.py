from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_rebalance.findings.finding import Confidence, Severity
from kafka_rebalance.findings.group_rules import leader_may_crash, mixed_static_members, unknown_topic_stops_group
from kafka_rebalance.findings.rules import RULES
from kafka_rebalance.groups.group_input import group_inputs
from kafka_rebalance.groups.group_replay import replay_group
from kafka_rebalance.snapshot.model import Group, GroupType, Member
from tests.unit.findings.sample_clusters import cluster, findings_of, striped

PYTHON_3 = "kafka-python-3.0.12"


def mixed(client_id=PYTHON_3, protocol="range", instances=("i", None, None)):
    read = ((("t", (0, 1)),), (("t", (2, 3)),), ())
    members = tuple(
        Member(f"m{n}", instance_id=instance, client_id=client_id, assigned=read[n])
        for n, instance in enumerate(instances)
    )
    return Group("etl", protocol=protocol, state="Stable", members=members)


def findings_for(group, code):
    return findings_of(cluster(striped("t", 4), groups=[group]), code)


def test_members_that_kafka_python_leaves_out_are_told_of():
    (finding,) = findings_for(mixed(), "mixed_static_members")
    assert (finding.severity, finding.confidence) == (Severity.HIGH, Confidence.ESTIMATED)
    assert finding.evidence == {
        "assignor": "range", "client": "kafka-python", "client_known_by": "client_id", "first_release": "3.0",
        "last_release": "3.0", "members": 3, "static_members": 1, "dynamic_members": 2, "idle_members": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    "group",
    [
        mixed(instances=("i", "j", "k")),
        mixed(instances=(None, None, None)),
        mixed(client_id="kafka-python-2.0.2"),
        mixed(client_id="rdkafka"),
        mixed(client_id="etl"),
        mixed(protocol="sticky"),
        replace(mixed(), type=GroupType.CONSUMER),
    ],
    ids=["all static", "none static", "an older release", "another client", "not told", "sticky", "another protocol"],
)
def test_other_groups_are_not(group):
    assert findings_for(group, "mixed_static_members") == []


def test_what_somebody_said_is_given():
    group = replace(mixed(client_id="etl"), client="kafka-python", client_version="3.0.12")
    (finding,) = findings_for(group, "mixed_static_members")
    assert finding.confidence is Confidence.GIVEN
    unsure = replace(group, client_version=None)  # it may be 2.x
    assert [finding.severity for finding in findings_for(unsure, "mixed_static_members")] == [Severity.MEDIUM]


def test_a_leader_that_may_crash_is_told_of():
    (finding,) = findings_for(mixed("rdkafka", "cooperative-sticky"), "leader_may_crash")
    assert (finding.severity, finding.evidence["members"]) == (Severity.MEDIUM, 3)
    assert findings_for(mixed("rdkafka", "range"), "leader_may_crash") == []
    assert findings_for(mixed("sarama", "cooperative-sticky"), "leader_may_crash") == []
    alone = mixed("rdkafka", "cooperative-sticky")
    assert findings_for(replace(alone, members=alone.members[:1]), "leader_may_crash") == []


GO = "etl@host (github.com/segmentio/kafka-go)"


def asking(*topics, client_id=GO, reads=()):
    """One member subscribes to t, the other to ``topics`` as well; ``reads``: partitions of t that the first has."""
    first = Member("m0", client_id=client_id, subscription=("t",), assigned=(("t", reads),) if reads else ())
    second = Member("m1", client_id=client_id, subscription=("t", *topics))
    return Group("etl", protocol="range", state="Stable", members=(first, second))


def test_an_unknown_topic_leaves_a_group_of_kafka_go_without_partitions():
    (finding,) = findings_for(asking("gone"), "unknown_topic_stops_group")
    assert (finding.severity, finding.evidence["unknown_topics"]) == (Severity.HIGH, ("gone",))
    assert finding.evidence["client"] == "kafka-go"
    (before,) = findings_for(asking("gone", "lost", reads=(0, 1)), "unknown_topic_stops_group")
    assert (before.severity, before.evidence["unknown_topics"]) == (Severity.MEDIUM, ("gone", "lost"))
    assert findings_for(asking(), "unknown_topic_stops_group") == []
    assert findings_for(asking("gone", client_id="sarama"), "unknown_topic_stops_group") == []


def test_the_strategies_of_kafka_go_refuse_such_a_group():
    (group_input,) = group_inputs(cluster(striped("t", 4), groups=[asking("gone")]))
    replay = replay_group(group_input)
    assert not replay.is_reproduced
    for strategy in ("range", "roundrobin"):
        refused = replay.score(strategy)
        assert refused.error.args["error"] == "UnknownTopicOrPartition"
    (known,) = group_inputs(cluster(striped("t", 4), groups=[asking()]))
    assert replay_group(known).score("range").version.args["releases"] == (("kafka-go", "0.4.47", "0.4.51"),)


def affine(rows, *members):
    """A group under kafka-go's rack-affinity, and its replay."""
    group = Group("etl", protocol="rack-affinity", state="Stable", members=members)
    (group_input,) = group_inputs(cluster(rows, groups=[group]))
    return replay_group(group_input)


def test_a_group_under_rack_affinity_is_replayed_by_the_racks_of_leaders_as_they_are_today():
    """A broker of rack a leads 2, where one of c is preferred: by preferred leaders m0 would read 0 and 1."""
    rows = [replace(row, leader=leader) for row, leader in zip(striped("t", 3), (0, 1, 3), strict=True)]
    assert [(row.replicas[0], row.leader) for row in rows] == [(0, 0), (1, 1), (2, 3)]
    near = Member("m0", client_id="pay", rack="a", subscription=("t",), assigned=(("t", (0, 2)),))
    far = Member("m1", client_id="pay", rack="c", subscription=("t",), assigned=(("t", (1,)),))
    replay = affine(rows, near, far)
    assert (replay.is_reproduced, replay.today.leader_in_rack_ratio) == (True, 2 / 3)
    assert replay.today.version.args["releases"] == (("kafka-go", "0.4.47", "0.4.51"),)
    swapped = affine(rows, replace(near, assigned=far.assigned), replace(far, assigned=near.assigned))
    assert swapped.is_reproduced is False
    assert swapped.score("rack-affinity").leader_in_rack_ratio == 2 / 3


def test_under_rack_affinity_members_without_a_rack_are_in_that_of_no_leader():
    """Each reads a block; were all in one rack, the extra partition would come last."""
    first, second = (
        Member(name, client_id="pay", subscription=("t",), assigned=(("t", numbers),))
        for name, numbers in (("m0", (0, 1, 2)), ("m1", (3, 4)))
    )
    rows = [replace(row, replicas=(0, 1, 2), isr=(0, 1, 2), leader=0) for row in striped("t", 5)]
    replay = affine(rows, first, second)
    assert (replay.is_reproduced, replay.today.leader_in_rack_ratio) == (True, None)


def test_all_are_among_the_rules():
    assert {leader_may_crash, mixed_static_members, unknown_topic_stops_group} <= set(RULES)
