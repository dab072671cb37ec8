"""Skew and movement, each worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from kafka_rebalance.arrays import NOBODY
from kafka_rebalance.scoring.assignment_scores import PartitionRates, evenness, per_member
from kafka_rebalance.scoring.levels import known_skew, plain_mean, skew
from kafka_rebalance.scoring.movement import reader_movement, replica_movement
from kafka_rebalance.scoring.placement_scores import TopicPlacement, broker_field, rack_violations, score_placement

NAN = float("nan")


def floats(*values):
    return np.array(values, dtype=np.float64)


def ints(*values):
    return np.array(values, dtype=np.int32)


def test_skew_is_the_highest_level_over_the_plain_mean():
    assert skew(floats(6, 3, 0)) == 2.0
    assert skew(floats(6, 3, 0), floats(2, 1, 1)) == pytest.approx(3 / (9 / 4))
    assert plain_mean(floats(6, 3, 0), floats(2, 1, 1)) == 9 / 4


def test_nothing_carried_and_nobody_there_have_skew_0():
    assert skew(floats(0, 0)) == 0
    assert plain_mean(floats()) == 0


def test_half_known_loads_make_no_statement():
    assert known_skew(floats(1, NAN)) is None
    assert known_skew(floats(1, 3)) == 1.5


def test_readers_move_where_another_member_reads_than_before():
    before, after = ints(0, 0, 1, NOBODY, 1), ints(0, 1, 1, 0, NOBODY)
    moved = reader_movement(before, after, floats(10, 20, 30, 40, 0))
    assert moved.partitions_moved == 2, "one changed hands, one lost its reader; who had none moved from nobody"
    assert moved.moved_rate_ratio == 20 / 100
    assert reader_movement(before, after, floats(10, 20, NAN, 40, 0)).moved_rate_ratio is None
    assert reader_movement(before, after, floats(0, 0, 0, 0, 0)).moved_rate_ratio == 0


def test_replicas_move_once_for_each_broker_that_is_new_in_a_list():
    before, after = np.array([[1, 2], [1, 2], [3, NOBODY]]), np.array([[2, 1, -1], [1, 4, 5], [3, 6, -1]])
    movement = replica_movement(
        before.astype(np.int32), after.astype(np.int32), ints(1, 1, 3), ints(2, 1, 3), floats(100, 10, 1)
    )
    assert movement.replica_moves == 3
    assert movement.bytes_to_move == 2 * 10 + 1
    assert movement.leader_changes == 1


def test_bytes_are_unknown_where_the_size_of_what_moves_is():
    rows = np.array([[1], [2]], dtype=np.int32)
    moved = replica_movement(rows, np.array([[1], [3]], dtype=np.int32), ints(1, 2), ints(1, 3), floats(NAN, 5))
    assert moved.bytes_to_move == 5
    moved = replica_movement(rows, np.array([[3], [2]], dtype=np.int32), ints(1, 2), ints(3, 2), floats(NAN, 5))
    assert moved.bytes_to_move is None


def test_members_parts_are_summed_and_idle_ones_counted():
    rates = PartitionRates(floats(1, 2, 3, 4), floats(1, 1, 1, 1), floats(0, NAN, 5, 5))
    reader = ints(0, 0, 2, 2)
    found = evenness(reader, ints(0, 1, 2, 2), 3, rates)
    assert (found.idle_members, found.skew_count) == (1, 2 / (4 / 3))
    assert found.skew_rate == 7 / (10 / 3)
    assert found.skew_lag is None
    assert (found.partitions_moved, found.moved_rate_ratio) == (1, 2 / 10)
    assert per_member(ints(0, NOBODY), floats(1, 9), 2).tolist() == [1, 0]


def placement(replicas, leaders, sizes):
    return TopicPlacement("t", np.array(replicas, dtype=np.int32), ints(*leaders), floats(*sizes))


def test_a_placement_is_scored_over_all_brokers_that_may_hold_it():
    field = broker_field({1: "a", 2: "b", 3: "a"})
    today = placement([[1, 2], [1, 3], [1, 2]], [1, 1, 2], [10, 20, 30])
    score = score_placement(today, today, field, "current", 0)
    assert score.replica_skew == 3 / (6 / 3)
    assert score.leader_skew == 2 / (3 / 3)
    assert score.disk_skew == 60 / (120 / 3)
    assert (score.replica_moves, score.leader_changes, score.bytes_to_move) == (0, 0, 0)
    assert score.rack_violations == 1


def test_a_broker_that_is_gone_carries_nothing_and_is_a_rack_of_its_own():
    field = broker_field({1: "a", 2: "b"})
    gone = placement([[9, 1], [1, 2]], [9, 1], [10, 20])
    score = score_placement(gone, gone, field, "current", 0)
    assert score.replica_skew == 2 / (3 / 2)
    assert score.leader_skew == 1 / (1 / 2)
    assert score.rack_violations == 0


def test_without_racks_nothing_is_violated_that_we_know_of():
    assert rack_violations(np.array([[1, 2]], dtype=np.int32), broker_field({1: None, 2: "a"})) is None
