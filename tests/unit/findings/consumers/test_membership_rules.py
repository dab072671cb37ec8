from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_rebalance.findings.context import FindingContext
from kafka_rebalance.findings.group_rules import static_members_partly, static_membership
from kafka_rebalance.findings.rules import RULES
from kafka_rebalance.scoring.snapshot_scores import score_cluster
from kafka_rebalance.snapshot.model import Group, Member
from tests.unit.findings.sample_clusters import cluster, findings_of, replays, striped


def group(*instances):
    members = tuple(
        Member(f"m{number}", instance_id=instance, client_id=f"pod-{number}", assigned=(("t", (number,)),))
        for number, instance in enumerate(instances)
    )
    return Group("g", protocol="range", state="Stable", members=members)


def test_members_without_an_id_beside_static_ones_are_named():
    assert {static_members_partly, static_membership} <= set(RULES)
    (finding,) = findings_of(cluster(striped("t", 3), groups=[group("a", None, "c")]), "static_members_partly")
    assert (finding.evidence["static_members"], finding.evidence["dynamic_members"]) == (2, 1)
    assert finding.recommendation.args["members"] == ("pod-1",)
    assert finding.gain == pytest.approx(1 / 3)
    for quiet in (group("a", "b", "c"), group(None, None, None)):
        assert findings_of(cluster(striped("t", 3), groups=[quiet]), "static_members_partly") == []


def restarted(members, static_ms=42_000, **changes):
    """Rolling restart of three: 3 partitions unread for 210 s together; with static members 42 s."""
    snapshot = cluster(striped("t", 3), groups=[members])
    (replay,) = replays(snapshot)
    row = replace(replay.today, is_current=False, scenario="rolling_restart", longest_pause_ms=9_000,
                  unread_partition_ms=210_000)  # fmt: skip
    static = replace(row, scenario="rolling_restart_static", longest_pause_ms=10_000, unread_partition_ms=static_ms)
    rows = (replace(row, assignor="sticky"), replace(row, **changes), replace(static, assignor="sticky"), static)
    known = FindingContext(snapshot, score_cluster(snapshot), [replace(replay, scenarios=rows)])
    return list(static_membership(known))


def test_a_long_restart_that_static_members_would_shorten():
    (finding,) = restarted(group(None, None, None))
    assert finding.gain == pytest.approx(0.8)
    assert (finding.evidence["mean_unread_seconds"], finding.evidence["static_mean_unread_seconds"]) == (70, 14)


@pytest.mark.parametrize(
    "changes",
    [
        {"unread_partition_ms": 179_999},  # less than a minute each
        {"longest_pause_ms": None},  # for good: a member is left out, which is another trouble
        {"unread_partition_ms": 0},
        {"unread_partition_ms": None},
        {"error": "refused"},
        {"assignor": "roundrobin"},  # another strategy's restart
    ],
)
def test_a_short_restart_or_one_that_stays_long_is_not(changes):
    assert restarted(group(None, None, None), **changes) == []


def test_static_members_that_would_leave_more_than_half_of_it():
    (finding,) = restarted(group(None, None, None), unread_partition_ms=180_000)
    assert finding.gain == pytest.approx(1 - 42 / 180)
    assert restarted(group(None, None, None), static_ms=105_001) == []
    assert len(restarted(group(None, None, None), static_ms=105_000)) == 1  # half of 210


def test_members_that_are_static_already_need_no_advice():
    assert restarted(group("a", "b", "c")) == []
