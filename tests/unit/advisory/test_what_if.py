from __future__ import annotations

import json
from dataclasses import replace

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.advisory.what_if import levels, outcomes, what_if_document, with_groups, with_plans
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.render import render
from kafka_rebalance.scenarios.changes import BrokersAdded, BrokersLost, Growth, Members, RackLost
from kafka_rebalance.scenarios.scenario import Scenario
from kafka_rebalance.snapshot.figures import LoadKind
from kafka_rebalance.snapshot.model import Capacity, ClusterSnapshot, Group, Member
from rebalance_advisor.publish.what_if_files import NOTE, what_if_lines
from tests.unit.planner.sample_clusters import GB, brokers, cluster, row

GROWN = Scenario("twice", (Growth(rates=2.0, sizes=2.0),))
LOST = Scenario("rack-0 lost", (RackLost("rack-0"),))
JOINED = Scenario("joined", (Members("g", join=1),))


def snapshot() -> ClusterSnapshot:
    """Three brokers in three racks of 3 GB each. Broker 0 holds 4 replicas of 500 MB, 1 and 2 two: 2, 1 and 1 GB."""
    half = GB // 2
    rows = [row("t", 0, (0, 1), half), row("t", 1, (0, 2), half), row("t", 2, (0, 1), half), row("t", 3, (0, 2), half)]
    members = tuple(
        Member(f"m-{number}", rack=f"rack-{number}", subscription=("t",), assigned=(("t", parts),))
        for number, parts in enumerate(((0, 1), (2, 3)))
    )
    able = tuple(replace(broker, capacity=Capacity(disk_bytes=3 * GB)) for broker in brokers(3, racks=3))
    held = cluster(rows, able, rates={LoadKind.IN_BYTES_PER_S: [1, 1, 1, 1]})
    return replace(held, groups=(Group("g", protocol="range", state="Stable", members=members),))


def test_levels_before_and_after_by_hand() -> None:
    """Today 2 of 3 GB on broker 0 (mean 4/9), doubled 4 of 3. Without rack-0: 1 GB on each, all led there."""
    today, grown, lost = outcomes(snapshot(), (GROWN, LOST))
    disks = [next(level for level in levels(item.scores) if level.resource == "disk") for item in (today, grown, lost)]
    assert [(disk.highest, disk.broker, disk.above_capacity) for disk in disks] == [
        (2 * GB, 0, ()), (4 * GB, 0, (0,)), (GB, 1, ()),
    ]  # fmt: skip
    assert [disk.over_mean for disk in disks] == pytest.approx([1.5, 1.5, 1.0])
    assert [disk.fullest_rack for disk in disks] == ["rack-0", "rack-0", "rack-1"]
    leaders = [next(level for level in levels(item.scores) if level.resource == "leaders") for item in (today, lost)]
    assert [(level.highest, level.broker) for level in leaders] == [(4, 0), (2, 1)]
    assert [(item.name, item.brokers_in_service, item.partitions_without_leader) for item in (today, grown, lost)] == [
        ("today", 3, 0), ("twice", 3, 0), ("rack-0 lost", 2, 0),
    ]  # fmt: skip
    (_, all_lost) = outcomes(snapshot(), (Scenario("all", (BrokersLost((0, 1, 2)),)),))
    assert (all_lost.partitions_without_leader, list(levels(all_lost.scores))) == (4, [])


def test_groups_of_each_scenario() -> None:
    """Range, three members: 2, 1, 1. The newcomer sorts first: 0 and 1. Without m-0 and its rack, m-1 has all four."""
    today, joined, lost = with_groups(outcomes(snapshot(), (JOINED, LOST)))
    assert today.groups == ()
    assert {row.scenario for row in joined.groups} == {"joined"}
    own = [next(row for row in item.groups if row.assignor == "range") for item in (joined, lost)]
    assert [(row.members, row.partitions_moved, row.skew_count) for row in own] == [(3, 3, 1.5), (1, 2, 1.0)]
    lines = "\n".join(what_if_lines((today, joined, lost)))
    members = [(row.subject.args["members_before"], row.subject.args["members"]) for row in own if row.subject]
    assert members == [(2, 3), (2, 1)]
    subjects = [render(row.subject) for row in own if row.subject]
    assert f"joined: group g ({subjects[0]}): range moves 3, skew 1.50" in lines
    assert f"rack-0 lost: group g ({subjects[1]}): range moves 2, skew 1.00, longest pause 4" in lines


def test_plans_are_figures_alone() -> None:
    """A fourth broker gets a share; the result has no moves."""
    result = with_plans(outcomes(snapshot(), (Scenario("more", (BrokersAdded(count=1),)),)), PlanOptions(within=0.3))
    document = what_if_document(result, 0)
    text = json.dumps(document)
    assert '"moves"' not in text
    assert '"plan_id"' not in text
    plans = [outcome["plan"] for outcome in document["outcomes"]]
    assert plans[1]["cost"]["replica_moves"] > 0
    lines = what_if_lines(result)
    assert lines[0] == NOTE
    assert any(line.startswith("plan ") and line.count("what if: ") == 2 for line in lines)
    assert document["outcomes"][1]["scenario"]["changes"] == [{"change": "brokers_added", "count": 1}]


def test_figures_that_nobody_knows_are_unknown() -> None:
    bare = replace(snapshot(), brokers=tuple(brokers(3)), loads=replace(snapshot().loads, columns={}))
    lines = what_if_lines(outcomes(bare, (Scenario("all", (BrokersLost((0, 1, 2)),)),)))
    highest = next(line for line in lines if line.startswith("replicas: highest"))
    assert highest.endswith("unknown")
    assert not any("capacity" in line or "rack" in line for line in lines)


def test_a_scenario_that_does_not_fit_stops_before_anything_is_scored() -> None:
    with pytest.raises(InvalidInputError, match=r"scenario no, changes\[0\]: rack 'x'"):
        outcomes(snapshot(), (GROWN, Scenario("no", (RackLost("x"),))))
