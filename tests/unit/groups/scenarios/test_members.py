from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from kafka_assignors.coordinator.timeline import Trigger
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.groups import scenarios as members
from kafka_rebalance.groups.scenarios import Stage, Variant
from tests.unit.groups.scenarios.small_groups import reading, state

NAMES = ("a", "b", "c")
THREE = state([reading("a", "t", rack="r1"), reading("b", "t", rack="r2"), reading("c", "u", rack="r1")],
              {"t": 3, "u": 1})  # fmt: skip
STAGE = Stage(THREE, seed=0, most=20)
GOES = {members.member_leaves: Trigger.MEMBER_LEAVES, members.member_crashes: Trigger.MEMBER_DIES}


def ids(variant: Variant) -> tuple[str, ...]:
    return tuple(member.id for member in variant.events[-1].after.members)


def crowd(count: int) -> Stage:
    return Stage(state([reading(f"m{n:02}", "t") for n in range(count)], {"t": 2}), seed=0, most=20)


@pytest.mark.parametrize("scenario", GOES)
def test_each_member_goes_once(scenario: Callable[[Stage], Iterator[Variant]]) -> None:
    result = list(scenario(STAGE))
    assert [ids(variant) for variant in result] == [("b", "c"), ("a", "c"), ("a", "b")]
    assert {event.trigger for variant in result for event in variant.events} == {GOES[scenario]}
    assert [variant.events[0].member_before.tolist() for variant in result] == [[1, 2], [0, 2], [0, 1]]
    assert result[0].events[0].after.subscriptions == ((0,), (1,))


def test_a_leave_and_a_death_lead_to_one_state() -> None:
    """So no strategy runs twice."""
    pairs = zip(members.member_leaves(STAGE), members.member_crashes(STAGE), strict=True)
    assert all(leave.events[0].after is death.events[0].after for leave, death in pairs)


def restarted(restarts: int, members: int) -> Fact:
    return fact(FactCode.MEMBERS_RESTART, restarts=restarts, members=members)


def test_of_a_large_group_as_many_go_as_are_worth_their_time() -> None:
    stage = crowd(25)
    assert len(stage.picked_members) == len(set(stage.picked_members)) == 20
    assert list(stage.picked_members) == sorted(stage.picked_members)
    assert stage.picked_members == crowd(25).picked_members  # the same random choice
    assert Stage(stage.today, seed=1, most=20).picked_members != stage.picked_members
    assert crowd(20).picked_members == tuple(range(20))
    (rolling,) = members.rolling_restart_static(stage)
    assert (rolling.subject, rolling.share, len(rolling.events)) == (restarted(20, 25), 0.8, 20)


def test_one_joins_like_one_that_is_there() -> None:
    result = list(members.member_joins(STAGE))
    assert len(result) == 5
    assert len({ids(variant)[-1] for variant in result}) == 5
    for variant in result:
        (event,) = variant.events
        assert ids(variant)[:3] == NAMES
        assert variant.subject == fact(FactCode.MEMBER_JOINS, member=ids(variant)[-1])
        assert (event.member_before.tolist(), event.trigger) == ([0, 1, 2, -1], Trigger.MEMBER_JOINS)
        assert event.after.subscriptions[3] in THREE.subscriptions
        assert event.after.members[3].rack == "r2"  # r1 has two
    assert len(list(members.member_joins(Stage(THREE, seed=0, most=1)))) == 1


def test_a_static_restart_changes_nothing_but_that_one_is_away() -> None:
    results = [variant.events[0] for variant in members.static_restart(STAGE)]
    assert all(event.after is THREE and event.is_static for event in results)
    assert [(event.subject, event.trigger) for event in results] == [(n, Trigger.STATIC_RESTART) for n in range(3)]
    (rolling,) = members.rolling_restart_static(STAGE)
    assert [event.subject for event in rolling.events] == [0, 1, 2]


def test_all_restart_in_turn_under_new_ids() -> None:
    """a leaves: b, c; a returns as the last: b, c, a'. Then b, then c: a', b', c' in the end, in the old order."""
    (rolling,) = members.rolling_restart(STAGE)
    assert [event.trigger for event in rolling.events] == [Trigger.MEMBER_LEAVES, Trigger.MEMBER_JOINS] * 3
    assert [event.member_before.tolist() for event in rolling.events] == [[1, 2], [0, 1, -1]] * 1 + [
        [1, 2], [0, 1, -1], [1, 2], [0, 1, -1],
    ]  # fmt: skip
    assert not set(ids(rolling)) & set(NAMES)
    assert rolling.events[-1].after.subscriptions == THREE.subscriptions
    assert [member.rack for member in rolling.events[-1].after.members] == ["r1", "r2", "r1"]
    assert (rolling.subject, rolling.share) == (restarted(3, 3), 1.0)


def test_static_members_leave_like_all_others_in_a_rolling_restart_without_instance_ids() -> None:
    today = state([reading("a-1", "t", instance_id="a"), reading("b-1", "t", instance_id="b")], {"t": 2})
    (rolling,) = members.rolling_restart(Stage(today, seed=0, most=20))
    assert not any(event.is_static for event in rolling.events)
    assert {member.instance_id for member in rolling.events[-1].after.members} == {None}
    (first, _) = members.member_leaves(Stage(today, seed=0, most=20))
    assert first.events[0].is_static  # no LeaveGroup: its partitions wait for the end of its session


def test_a_rack_takes_its_members_along() -> None:
    first, second = members.rack_lost(STAGE)
    assert (first.subject, ids(first)) == (fact(FactCode.RACK_DIES, rack="r1", members=2), ("b",))
    assert (second.subject, ids(second)) == (fact(FactCode.RACK_DIES, rack="r2", members=1), ("a", "c"))
    assert first.events[0].trigger is Trigger.MEMBER_DIES
    one_rack = [reading("a", "t", rack="r"), reading("b", "t"), reading("c", "t", rack="")]  # "": unknown
    assert list(members.rack_lost(Stage(state(one_rack, {"t": 1}), seed=0, most=20))) == []


SIZES = {1: (None, 2, 4), 2: (1, 4, None), 3: (2, 6, 4), 5: (3, 10, 4)}  # halved, doubled, as 4 partitions; None: same


@pytest.mark.parametrize("count", SIZES)
def test_other_sizes(count: int) -> None:
    today = state([reading(f"m{n}", "t") for n in range(count)], {"t": 4 if count != 2 else 2})
    stage = Stage(today, seed=0, most=20)
    scenarios = (members.members_halved, members.members_doubled, members.members_as_partitions)
    for scenario, wanted in zip(scenarios, SIZES[count], strict=True):
        result = list(scenario(stage))
        changes = [(variant.subject.args["members_before"], variant.subject.args["members"]) for variant in result]
        assert changes == ([(count, wanted)] if wanted else [])
        assert all(len(set(ids(variant))) == wanted for variant in result)
    assert list(members.members_as_partitions(Stage(state([reading("a", "t")], {"t": 0}), seed=0, most=20))) == []


def test_those_who_are_there_keep_their_order_when_some_go_at_once() -> None:
    event = members.without(THREE, {0, 2}, Trigger.MEMBER_LEAVES)
    assert ([member.id for member in event.after.members], event.member_before.tolist()) == (["b"], [1])
    nobody = members.without(THREE, {0, 1, 2}, Trigger.MEMBER_DIES)
    assert (nobody.after.members, nobody.member_before.tolist()) == ((), [])
    grown = members.grow(THREE, 30, STAGE.lots("any"))
    assert len({member.id for member in grown.after.members}) == 33
