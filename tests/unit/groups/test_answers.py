from __future__ import annotations

import json
from dataclasses import asdict, replace

import numpy as np

from kafka_assignors.arrays import Ints
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.groups.answers import score_answer
from kafka_rebalance.groups.group_input import GroupInput
from kafka_rebalance.groups.group_replay import replay_group
from kafka_rebalance.groups.scenarios import SCENARIOS
from kafka_rebalance.scoring.assignment_scores import PartitionRates
from kafka_rebalance.snapshot.model import Group, Member

# Two members in racks r1 and r2; "a" reads t-0 and t-1 today, "b" t-2 and t-3. All are written with 10 messages/s.
LAG = [50.0, 850.0, 50.0, 0.0]  # 5 s of what is written are no backlog: 800 are behind, of t-1
READ = [10.0, 30.0, 10.0, 10.0]  # "a" was seen to read 40/s


def two_members(read: list[float] | None = None) -> GroupInput:
    """Replicas and leaders of t-0 and t-1 are in r1, those of t-2 in r1 and r2 (led in r1), those of t-3 in r2."""
    members = (
        Member("a", rack="r1", subscription=("t",), assigned=(("t", (0, 1)),)),
        Member("b", rack="r2", subscription=("t",), assigned=(("t", (2, 3)),)),
    )
    rates = PartitionRates(np.array([1.0, 2, 3, 4]), np.full(4, 10.0), np.array(LAG), np.array(read or READ))
    return GroupInput(
        Group("g", protocol="range", state="Stable", members=members), ("t",), np.array([4], np.int32), rates,
        np.array([0, 1, 2, 4, 5]), ("r1", "r1", "r1", "r2", "r2"), leader_racks=("r1", "r1", "r1", "r2"),
    )  # fmt: skip


def readers(*members: int) -> Ints:
    return np.array(members, dtype=np.int32)


def test_the_row_of_today() -> None:
    """800 behind at 40 - 20 a second. In the rack are all 10 bytes/s, led there 1 + 2 + 4."""
    group, today = two_members(), readers(0, 0, 1, 1)
    row = score_answer(group, "range", today, today)
    assert (row.drain_seconds, row.members_falling_behind) == (40.0, 0)
    assert (row.same_rack_ratio, row.leader_in_rack_ratio) == (1.0, 0.7)


def test_the_row_of_another_assignment_is_of_what_members_were_seen_to_read_today() -> None:
    """All on b: 800 behind, 40 written of 40 read: b falls behind. In its rack are 3 + 4 of 10 bytes/s, 4 are led."""
    group, today = two_members(), readers(0, 0, 1, 1)
    row = score_answer(group, "x", readers(1, 1, 1, 1), today)
    assert (row.drain_seconds, row.members_falling_behind) == (None, 1)
    assert (row.same_rack_ratio, row.leader_in_rack_ratio) == (0.7, 0.4)
    faster = score_answer(group, "x", readers(1, 1, 1, 1), today, capacity=140.0)
    assert (faster.drain_seconds, faster.members_falling_behind) == (8.0, 0)


def test_the_rows_of_a_replay_and_of_its_members() -> None:
    """After one snapshot read rates are unknown: a has a backlog of unknown time, b none; also as JSON."""
    found = replay_group(two_members())
    assert [(row.drain_seconds, row.is_falling_behind) for row in found.members] == [(40.0, False), (0.0, False)]
    assert found.today.drain_seconds == 40.0
    robin = found.score("roundrobin")  # t-0 and t-2, t-1 and t-3
    assert robin is not None
    assert (robin.drain_seconds, robin.same_rack_ratio, robin.leader_in_rack_ratio) == (40.0, 0.8, 0.8)
    unknown = replay_group(two_members([np.nan] * 4))
    assert [(row.drain_seconds, row.is_falling_behind) for row in unknown.members] == [(None, None), (0.0, False)]
    assert (unknown.today.drain_seconds, unknown.today.members_falling_behind) == (None, None)
    slow = replay_group(two_members([2.0, 3.0, 4.0, 5.0]))  # 9 a second at most, 20 are written
    assert [(row.drain_seconds, row.is_falling_behind) for row in slow.members] == [(None, True), (0.0, False)]
    assert json.loads(json.dumps(asdict(slow), allow_nan=False))["scores"][0]["members_falling_behind"] == 1


def test_in_a_scenario_members_can_read_what_they_were_seen_to_read_today() -> None:
    """a leaves: b reads all four, 40 written, 40 as fast as a. Doubled to four members: 800 / (40 - 10)."""
    rows = {row.scenario: row for row in replay_group(two_members(), ("range",), scenarios=SCENARIOS).scenarios}
    alone, doubled = rows["member_leaves"], rows["members_doubled"]
    a_leaves = fact(FactCode.MEMBER_LEAVES, member="a")
    assert (alone.subject, alone.drain_seconds, alone.members_falling_behind) == (a_leaves, None, 1)
    assert (alone.same_rack_ratio, alone.leader_in_rack_ratio) == (0.7, 0.4)
    assert (doubled.drain_seconds, doubled.members_falling_behind) == (800 / 30, 0)
    # Eight share what four got, 5/s each: a has t-0 to t-2 (range with racks), 25 + 825 + 25 behind, and a new one:
    # 875 / (40 - 4 x 5). The placement of new ones is unknown: they do not count.
    added = rows["partitions_added"]
    assert (added.drain_seconds, added.same_rack_ratio) == (43.75, 1.0)


def test_a_group_without_members_or_racks_has_no_such_scores() -> None:
    group = two_members()
    alone = replace(group, group=replace(group.group, members=()), topics=(), partition_counts=np.zeros(0, np.int32),
                    rates=PartitionRates(*np.zeros((3, 0))), rack_offsets=None, racks=(), leader_racks=())  # fmt: skip
    (row,) = replay_group(alone).scores
    assert (row.drain_seconds, row.members_falling_behind, row.same_rack_ratio) == (None, None, None)
