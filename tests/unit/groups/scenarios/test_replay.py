from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_assignors.coordinator.timeline import Times
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.groups.group_input import GroupInput
from kafka_rebalance.groups.group_replay import replay_group
from kafka_rebalance.groups.scenarios import SCENARIOS, scenario_scores
from kafka_rebalance.scoring.scores import GroupScore
from kafka_rebalance.snapshot.model import Group, GroupType
from tests.unit.groups.scenarios.small_groups import reading, state

LETTERS = "abcdefghijklmnopqrstuvwx"


def singles(members: int = 6) -> GroupInput:
    """24 topics of one partition: range gives all of them to the first of the members."""
    read = tuple((topic, (0,)) for topic in LETTERS)
    group = [replace(reading(f"m{n}", *LETTERS), assigned=read if n == 0 else ()) for n in range(members)]
    return state(group, dict.fromkeys(LETTERS, 1)).group_input


def row(given: GroupInput, scenario: str, strategy: str = "range") -> GroupScore:
    (only_scenario,) = (item for item in replay_group(given, [strategy], scenarios=[scenario]).scenarios
                if item.assignor == strategy)  # fmt: skip
    return only_scenario


def test_what_the_death_of_the_first_member_costs_under_range() -> None:
    """Only the first's death moves partitions: 24, mean 4 of six variants. Session end 45,000, last join 47,500."""
    crash = row(singles(), "member_crashes")
    assert (crash.subject, crash.variants, crash.members) == (fact(FactCode.MEMBER_DIES, member="m0"), 6, 5)
    assert (crash.partitions_moved, crash.mean_partitions_moved) == (24, 4.0)
    assert (crash.partitions_unread, crash.longest_pause_ms, crash.unread_partition_ms) == (24, 47_500, 24 * 47_500)
    # Living members had nothing to revoke. One of five reads all: five times the mean.
    assert (crash.partitions_revoked, crash.skew_count, crash.idle_members) == (0, 5.0, 4)
    # 24 of 24 over 5: at best one reads 5, which is 25/24 of the mean of 4.8.
    assert crash.least_skew_count == pytest.approx(25 / 24)
    # A leave is reported at once: the others beat at 500 to 2,500.
    leave = row(singles(), "member_leaves")
    assert leave.subject == fact(FactCode.MEMBER_LEAVES, member="m0")
    assert (leave.longest_pause_ms, leave.unread_partition_ms) == (2500, 24 * 2500)
    # Under an instance id the 24 wait for 10 s and move nowhere.
    static = row(singles(), "static_restart")
    assert static.subject == fact(FactCode.MEMBER_RESTARTS, member="m0")
    assert (static.partitions_moved, static.longest_pause_ms) == (0, 10_000)
    assert (static.partitions_unread, static.unread_partition_ms) == (24, 240_000)


def test_a_scenario_that_a_strategy_refuses_has_the_error_in_place_of_figures() -> None:
    """kafka-python's round robin fails where the next member does not subscribe: today none, later m1 and m2."""
    members = [reading("m0", "a", "b"), reading("m1", "a"), reading("m2", "b")]
    strategy = "roundrobin@kafka-python-3"
    replay = replay_group(state(members, {"a": 2, "b": 2}).group_input, [strategy], scenarios=["member_leaves"])
    assert [score.error for score in replay.scores if score.assignor == strategy] == [None]
    (refused,) = (scenario for scenario in replay.scenarios if scenario.assignor == strategy)
    assert (refused.scenario, refused.subject) == ("member_leaves", fact(FactCode.MEMBER_LEAVES, member="m0"))
    assert refused.error is not None
    assert (refused.error.code, refused.error.args["message"]) == (FactCode.STRATEGY_REFUSES, "(None, 'm1')")


def test_a_static_rolling_restart_moves_nothing() -> None:
    rolling = row(singles(), "rolling_restart_static")
    assert rolling.subject == fact(FactCode.MEMBERS_RESTART, restarts=6, members=6)
    assert (rolling.partitions_moved, rolling.partitions_unread) == (0, 24)
    assert rolling.unread_partition_ms == 240_000


def test_where_some_of_many_are_restarted_all_are_counted() -> None:
    """25 members with a partition each, of which 20 are replayed: 20 pauses of 10 s are scaled to 25."""
    members = [replace(reading(f"m{n:02}", "t"), assigned=(("t", (n,)),)) for n in range(25)]
    rolling = row(state(members, {"t": 25}).group_input, "rolling_restart_static")
    assert rolling.subject == fact(FactCode.MEMBERS_RESTART, restarts=20, members=25)
    assert rolling.partitions_unread == 25
    assert (rolling.unread_partition_ms, rolling.longest_pause_ms) == (250_000, 10_000)


@pytest.mark.parametrize("strategy", ["range", "roundrobin", "sticky", "cooperative-sticky", "consumer/range"])
def test_the_last_member_that_goes_leaves_an_empty_group_and_no_strategy_is_asked(strategy: str) -> None:
    """Both partitions are unread from then on, under any strategy; a restart ends that."""
    given = state([replace(reading("m", "t"), assigned=(("t", (0, 1)),))], {"t": 2}).group_input
    for scenario in ("member_leaves", "member_crashes"):
        gone = row(given, scenario, strategy)
        assert (gone.error, gone.members, gone.partitions_without_reader) == (None, 0, 2)
        assert (gone.partitions_moved, gone.partitions_unread, gone.longest_pause_ms) == (2, 2, None)
    back = row(given, "rolling_restart", strategy)
    assert (back.error, back.members, back.partitions_without_reader) == (None, 1, 0)


def test_a_change_begins_with_what_the_group_runs() -> None:
    """Round robin would swap the two partitions; a group of unknown strategy has no change rows."""
    members = [replace(reading("a", "t"), assigned=(("t", (0,)),)), replace(reading("b", "t"), assigned=(("t", (1,)),))]
    swapped = [
        replace(member, assigned=other.assigned) for member, other in zip(members, reversed(members), strict=True)
    ]
    given = state(swapped, {"t": 2}, "roundrobin").group_input
    replay = replay_group(given, scenarios=["strategy_changes"])
    assert replay.is_reproduced is False
    change = fact(FactCode.STRATEGY_CHANGES, strategy="roundrobin")
    assert all(scenario.subject == change for scenario in replay.scenarios)
    assert "roundrobin" not in [scenario.assignor for scenario in replay.scenarios]
    moved = {scenario.assignor: scenario.partitions_moved for scenario in replay.scenarios}
    assert (moved["range"], moved["sticky"]) == (2, 0)  # range gives 0 to a, sticky leaves both where they are
    strange = replace(given, group=replace(given.group, protocol="ours"))
    assert replay_group(strange, scenarios=["strategy_changes"]).scenarios == ()


def test_pauses_of_a_change_are_those_of_a_rolling_restart_under_either_strategy() -> None:
    replay = replay_group(singles(3), ["sticky"], scenarios=["rolling_restart", "strategy_changes"])
    first, second, change = replay.scenarios
    assert (first.assignor, second.assignor, change.scenario) == ("range", "sticky", "strategy_changes")
    for column in ("partitions_unread", "partitions_revoked", "unread_partition_ms"):
        assert getattr(change, column) == getattr(first, column) + getattr(second, column)
    assert change.longest_pause_ms == max(first.longest_pause_ms or 0, second.longest_pause_ms or 0)
    assert change.partitions_moved == 16  # sticky leaves 8 of 24 at the first of three
    alone = replay_group(singles(3), ["sticky"], scenarios=["strategy_changes"])
    assert alone.scenarios == (change,)


def test_rows_do_not_depend_on_which_others_are_asked() -> None:
    every = replay_group(singles(4), scenarios=SCENARIOS, seed=5)
    for scenario in ("member_joins", "members_halved", "rolling_restart"):
        alone = replay_group(singles(4), ["sticky"], scenarios=[scenario], seed=5).scenarios
        assert all(row in every.scenarios for row in alone)
    assert replay_group(singles(4), scenarios=SCENARIOS, seed=5).scenarios == every.scenarios
    assert replay_group(singles(4), scenarios=SCENARIOS, seed=6).scenarios != every.scenarios


def test_groups_that_read_nothing_have_rows_without_movement() -> None:
    for counts in ({}, {"t": 0}, {"t": -1}):
        given = state([reading("a", *counts), reading("b", *counts)], counts).group_input
        scenarios = replay_group(given, scenarios=SCENARIOS).scenarios
        assert {item.partitions_moved for item in scenarios} == {0}
        assert {item.longest_pause_ms for item in scenarios} == {0}
    assert scenario_scores(state([reading("a", "t")], {"t": 1}), (), SCENARIOS, 0, Times()) == ()


def test_a_coordinators_strategy_is_led_through_them_by_its_own_protocol() -> None:
    """KIP-848, uniform: a's death gives both of its partitions to b; no other reader stops."""
    members = tuple(
        replace(reading(name, "t"), assigned=(("t", runs),)) for name, runs in (("a", (0, 1)), ("b", (2, 3)))
    )
    today = state(members, {"t": 4}, "uniform").group_input
    given = replace(today, group=Group("g", GroupType.CONSUMER, "uniform", "consumer", "Stable", members=members))
    crash = row(given, "member_crashes", "uniform")
    assert (crash.partitions_moved, crash.partitions_revoked, crash.partitions_unread) == (2, 0, 2)
    # It last beat at 0, b beats every 5 s from 2,500 on: the session is over at 45,000, b hears at 47,500.
    assert crash.longest_pause_ms == 47_500
    assert crash.skew_count == 1.0
