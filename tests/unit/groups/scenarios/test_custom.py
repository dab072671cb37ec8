from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kafka_assignors.arrays import ABSENT
from kafka_assignors.coordinator.timeline import Trigger
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.groups.group_input import group_inputs
from kafka_rebalance.groups.group_replay import replay_group
from kafka_rebalance.groups.scenarios import ChangedGroup, GroupState, changed_groups, changed_variant
from kafka_rebalance.scenarios.changes import (
    BrokersLost,
    Growth,
    Members,
    MembersLost,
    PartitionsAdded,
    TopicAdded,
    TopicRemoved,
)
from kafka_rebalance.scenarios.scenario import Change, Scenario
from kafka_rebalance.scoring.scores import GroupScore
from kafka_rebalance.snapshot.figures import LoadKind
from kafka_rebalance.snapshot.model import ClusterSnapshot, CommittedOffset, Group, GroupType, Member
from tests.unit.planner.sample_clusters import brokers, cluster, row


def snapshot(protocol: str = "range", *, is_told: bool = True) -> ClusterSnapshot:
    """Six partitions of rate p + 1; three members of an old client in two racks: a 0 1, b 2 3, c 4 5."""
    rows = [row("t", number, (number % 3, (number + 1) % 3), end_offset=100) for number in range(6)]
    members = tuple(
        Member(name, rack=rack, subscription=("t",) if is_told else None, assigned=(("t", (2 * at, 2 * at + 1)),))
        for at, (name, rack) in enumerate((("a", "rack-0"), ("b", "rack-1"), ("c", "rack-1")))
    )
    committed = tuple(CommittedOffset("t", number, 0, read_messages_per_s=10.0) for number in range(6))
    rates = {LoadKind.IN_BYTES_PER_S: range(1, 7), LoadKind.IN_MESSAGES_PER_S: range(1, 7)}
    group = Group("g", protocol=protocol, state="Stable", members=members, committed=committed,
                  client="java", client_version="3.4.1")  # fmt: skip
    others = (Group("empty"), Group("work", type=GroupType.SHARE, members=(Member("s"),)))
    return replace(cluster(rows, brokers(3, racks=3), rates=rates), groups=(group, *others), kafka_version="3.9.0")


def rows_of(given: ClusterSnapshot, *changes: Change, strategies: tuple[str, ...] | None = None) -> list[GroupScore]:
    before = tuple(group_inputs(given))
    scenario = Scenario("mine", changes)
    result = changed_groups(before, {scenario: scenario.applied(given)})
    assert set(result) <= {"g"}
    return list(replay_group(before[0], strategies, changed=result.get("g", {})).scenarios)


def change(members_before: int, members: int, partitions_before: int, partitions: int) -> Fact:
    return fact(
        FactCode.GROUP_CHANGES, members_before=members_before, members=members, partitions_before=partitions_before,
        partitions=partitions,
    )  # fmt: skip


def row_of(given: ClusterSnapshot, *changes: Change) -> GroupScore:
    """The row of the group's own strategy."""
    return rows_of(given, *changes, strategies=())[0]


def test_range_after_a_member_leaves_by_hand() -> None:
    """c leaves: a reads 0 1 2, b 3 4 5. Partition 2 moves from b to a, 4 and 5 to b. Rates 6 and 15: 15 / 10.5."""
    result = row_of(snapshot(), Members("g", leave=("c",)))
    assert (result.scenario, result.subject, result.members) == ("mine", change(3, 2, 6, 6), 2)
    assert (result.partitions_moved, result.skew_count) == (3, 1.0)
    assert result.skew_rate == pytest.approx(15 / 10.5)


def test_a_death_waits_for_the_session_and_a_leave_does_not() -> None:
    dies, leaves = row_of(snapshot(), MembersLost("g", "rack-1")), row_of(snapshot(), Members("g", leave=("b", "c")))
    assert (dies.partitions_moved, leaves.partitions_moved) == (4, 4)  # a reads all six
    assert (dies.longest_pause_ms or 0) >= 45_000 > (leaves.longest_pause_ms or 0)


def test_growth_is_noticed_by_nobody() -> None:
    """Members read at most 20/s. × 1.5: c gets 7.5 + 9 and catches up 117.5 in 117.5 / 3.5 s. × 2: 22, never done."""
    assert row_of(snapshot(), Growth(rates=1.5)).drain_seconds == pytest.approx(117.5 / 3.5)
    result = row_of(snapshot(), Growth(rates=2.0))
    assert (result.subject, result.partitions_moved, result.partitions_unread) == (change(3, 3, 6, 6), 0, 0)
    assert (result.drain_seconds, result.members_falling_behind) == (None, 1)
    assert result.skew_rate == pytest.approx(11 / 7)


@pytest.mark.parametrize("is_told", [True, False])
def test_topics_come_and_go(*, is_told: bool) -> None:
    """Of 8 partitions range gives 3, 3, 2: 2 moves to a, 4 and 5 to b, the new two to c. Without t none is read."""
    more = row_of(snapshot(is_told=is_told), PartitionsAdded("t", 2))
    assert (more.partitions, more.partitions_moved, more.skew_count) == (8, 3, 3 / (8 / 3))
    assert more.subject == change(3, 3, 6, 8)
    new = row_of(snapshot(is_told=is_told), TopicAdded("u", 3, 2, groups="g"))
    assert (new.partitions, new.partitions_moved, new.skew_count) == (9, 0, 1.0)
    none = row_of(snapshot(is_told=is_told), TopicRemoved("t"))
    assert (none.partitions, none.partitions_moved, none.idle_members) == (0, 0, 3)


def test_several_changes_are_events_in_order() -> None:
    """Topics first, then deaths, then newcomers; who leaves in order goes last."""
    given = snapshot()
    (before, *_) = group_inputs(given)
    state = GroupState(before, ((0,),) * 3)

    def events(*changes: Change) -> list[tuple[Trigger, int]]:
        scenario = Scenario("mine", changes)
        (after, *_) = group_inputs(scenario.applied(given), {"g": before.topics})
        result = changed_variant(state, ChangedGroup(after, scenario.is_failure)).events
        assert {member.id for member in result[-1].after.members} == {member.id for member in after.group.members}
        assert all(event.after.group_input.rates is result[-1].after.group_input.rates for event in result)
        return [(event.trigger, len(event.after.members)) for event in result]

    dead = (PartitionsAdded("t", 1), MembersLost("g", "rack-1"), Members("g", join=2))
    assert events(*dead) == [
        (Trigger.PARTITION_COUNT_CHANGES, 3), (Trigger.MEMBER_DIES, 1), (Trigger.MEMBER_JOINS, 3),
    ]  # fmt: skip
    assert events(Members("g", leave=("a",)), Members("g", join=1)) == [
        (Trigger.MEMBER_JOINS, 4), (Trigger.MEMBER_LEAVES, 3),
    ]  # fmt: skip
    assert events(Growth(rates=3)) == [(Trigger.COORDINATOR_MOVES, 3)]
    (after, *_) = group_inputs(Scenario("mine", (PartitionsAdded("t", 2),)).applied(given))
    (event,) = changed_variant(state, ChangedGroup(after)).events
    assert event.row_before is not None
    assert event.row_before.tolist() == [0, 1, 2, 3, 4, 5, ABSENT, ABSENT]


def test_nobody_is_left_or_nothing_changes() -> None:
    lost = rows_of(snapshot(), MembersLost("g", "rack-0"), MembersLost("g", "rack-1"))
    assert {result.error.code for result in lost if result.error} == {FactCode.NO_MEMBER_LEFT}
    assert all(result.error for result in lost)
    assert rows_of(snapshot(), Growth()) == []
    assert rows_of(snapshot(), Growth(sizes=2.0)) == []  # stored data do not affect a group
    # Partition p is led by broker p mod 3, in the rack of that number. a (rack-0) reads 0 there, b (rack-1) not 2 or
    # 3, c (rack-1) reads 4. Without broker 0 its partitions 0 and 3 are led by 1: a loses 1 byte/s, b gains 4.
    today, moved = row_of(snapshot(), Growth(rates=2.0)), row_of(snapshot(), BrokersLost((0,)))
    assert today.leader_in_rack_ratio == pytest.approx((1 + 5) / 21)
    assert (moved.partitions_moved, moved.leader_in_rack_ratio) == (0, pytest.approx((4 + 5) / 21))


@pytest.mark.parametrize("protocol", ["range", "cooperative-sticky"])
def test_it_says_what_the_catalogue_says_of_the_same(protocol: str) -> None:
    """Each member's leave, each rack's loss, twice the partitions: the worst row of each is the catalogue's."""
    given = snapshot(protocol)
    (before, *_) = group_inputs(given)
    scenarios = replay_group(before, scenarios=("member_leaves", "rack_lost", "partitions_added")).scenarios
    same: dict[str, list[Change]] = {
        "member_leaves": [Members("g", leave=(member.id,)) for member in given.groups[0].members],
        "rack_lost": [MembersLost("g", rack) for rack in ("rack-0", "rack-1")],
        "partitions_added": [PartitionsAdded("t", 6)],
    }
    for scenario, changes in same.items():
        by_change = [rows_of(given, change) for change in changes]
        for at, expected in enumerate(score for score in scenarios if score.scenario == scenario):
            result = max(
                (rows[at] for rows in by_change),
                key=lambda score: (score.partitions_moved or 0, score.unread_partition_ms or 0),
            )
            moves = [rows[at].partitions_moved or 0 for rows in by_change]
            assert expected.mean_partitions_moved == pytest.approx(np.mean(moves))
            assert _alike(result) == _alike(expected)


def _alike(row: GroupScore) -> GroupScore:
    """Without the words that differ, and racks, which the catalogue does not place new partitions in."""
    return replace(
        row, scenario="", subject=None, variants=None, mean_partitions_moved=None, same_rack_ratio=None,
        leader_in_rack_ratio=None,
    )  # fmt: skip
