from __future__ import annotations

from dataclasses import replace

import numpy as np

from kafka_assignors.coordinator.timeline import Trigger
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.groups.scenarios import GroupState, Stage, partitions_added, topic_added
from tests.unit.groups.scenarios.small_groups import reading, state

# Rows: a-0, b-0, b-1, b-2, d-0, d-1 with 1 to 6 bytes/s; c is not in the cluster.
COUNTS = {"a": 1, "b": 3, "c": -1, "d": 2}
TODAY = state([reading("m1", "b", "a"), reading("m2", "d", "c")], COUNTS)


def stage(today: GroupState = TODAY) -> Stage:
    return Stage(today, seed=0, most=20)


def test_the_largest_topic_gets_twice_its_partitions_and_each_the_mean_of_what_is_written() -> None:
    """b has 2 + 3 + 4 bytes/s and 30 messages/s: 1.5 and 5 for each of six. Its lag stays where it is."""
    (variant,) = partitions_added(stage())
    (event,) = variant.events
    after = event.after.group_input
    assert variant.subject == fact(FactCode.TOPIC_GROWS, topic="b", partitions_before=3, partitions=6)
    assert event.row_before is not None
    assert (event.row_before.tolist(), event.trigger) == ([0, 1, 2, 3, -1, -1, -1, 4, 5],
                                                          Trigger.PARTITION_COUNT_CHANGES)  # fmt: skip
    assert after.partition_counts.tolist() == [1, 6, -1, 2]
    assert after.rates.in_bytes_per_s.tolist() == [1, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 5, 6]
    assert after.rates.in_messages_per_s.tolist() == [10, 5, 5, 5, 5, 5, 5, 10, 10]
    assert after.rates.lag_messages.tolist() == [100, 100, 100, 100, 0, 0, 0, 100, 100]
    assert np.isnan(after.rates.read_messages_per_s).tolist() == [False] * 4 + [True] * 3 + [False] * 2
    assert event.after.subscriptions == TODAY.subscriptions
    assert TODAY.group_input.rates.in_bytes_per_s.tolist() == [1, 2, 3, 4, 5, 6]  # today's are not touched
    # New partitions have no owner; all others stay.
    stays, before = event.carry(np.array([0, 0, 0, 0, 1, 1], np.int32))
    assert stays.tolist() == before.tolist() == [0, 0, 0, 0, -1, -1, -1, 1, 1]


def test_one_unknown_rate_makes_the_mean_unknown() -> None:
    given = TODAY.group_input
    rates = replace(given.rates, in_bytes_per_s=np.array([1, 2, np.nan, 4, 5, 6]))
    (variant,) = partitions_added(stage(replace(TODAY, group_input=replace(given, rates=rates))))
    after = variant.events[0].after.group_input.rates.in_bytes_per_s
    assert np.isnan(after).tolist() == [False] + [True] * 6 + [False] * 2


def test_a_new_topic_is_like_the_one_in_the_middle_and_all_subscribe_to_it() -> None:
    """By partitions a, d, b: d is the median. d.new comes behind d, with d's rates and no lag."""
    (variant,) = topic_added(stage())
    (event,) = variant.events
    after = event.after.group_input
    assert variant.subject == fact(FactCode.TOPIC_GROWS, topic="d.new", partitions_before=0, partitions=2)
    assert (after.topics, after.partition_counts.tolist()) == (("a", "b", "c", "d", "d.new"), [1, 3, -1, 2, 2])
    assert after.rates.in_bytes_per_s.tolist() == [1, 2, 3, 4, 5, 6, 5, 6]
    assert after.rates.lag_messages.tolist() == [100] * 6 + [0, 0]
    assert event.after.subscriptions == ((1, 0, 4), (3, 2, 4))
    assert event.row_before is not None
    assert event.row_before.tolist() == [0, 1, 2, 3, 4, 5, -1, -1]


def test_a_new_topic_in_the_midst_moves_the_numbers_of_those_behind_it() -> None:
    """a.b is the median, and a.b.new comes before x. An existing name is not reused; ids are drawn."""
    (variant,) = topic_added(stage(state([reading("m", "x", "a")], {"a": 1, "a.b": 2, "x": 3})))
    after = variant.events[0].after
    assert after.group_input.topics == ("a", "a.b", "a.b.new", "x")
    assert after.subscriptions == ((3, 0, 2),)
    taken = state([reading("m", "t")], {"t": 1, "t.new": -1})
    (variant,) = topic_added(stage(taken))
    assert variant.events[0].after.group_input.topics == ("t", "t.new", "t.new.new")
    given = replace(TODAY.group_input, topic_ids=("A" * 22, "B" * 22, "C" * 22, "D" * 22))
    (variant,) = topic_added(stage(replace(TODAY, group_input=given)))
    ids = variant.events[0].after.group_input.topic_ids
    assert (ids[:4], len(ids[4]), len(set(ids))) == (given.topic_ids, 22, 5)


def test_racks_follow_their_rows_and_new_partitions_have_none() -> None:
    given = replace(
        TODAY.group_input, rack_offsets=np.array([0, 1, 3, 3, 4, 5, 6]), racks=("r1", "r1", "r2", "r3", "r4", None),
        leader_racks=("r1", "r2", None, "r3", "r4", None),
    )  # fmt: skip
    (variant,) = partitions_added(stage(replace(TODAY, group_input=given)))
    after = variant.events[0].after.group_input
    assert after.rack_offsets is not None
    assert after.rack_offsets.tolist() == [0, 1, 3, 3, 4, 4, 4, 4, 5, 6]
    assert after.racks == given.racks
    assert after.leader_racks == ("r1", "r2", None, "r3", None, None, None, "r4", None)


def test_nothing_is_added_where_there_is_nothing() -> None:
    for counts in ({}, {"t": 0}, {"t": -1}):
        today = stage(state([reading("m", *counts)], counts))
        assert [*partitions_added(today), *topic_added(today)] == []
