from __future__ import annotations

import numpy as np
import pytest

from kafka_assignors.arrays import ABSENT
from kafka_rebalance.scoring.assignment_scores import PartitionRates, evenness, per_member, reader_movement
from kafka_rebalance.scoring.scores import plain_mean, skew

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


def test_readers_move_where_another_member_reads_than_before():
    before, after = ints(0, 0, 1, ABSENT, 1), ints(0, 1, 1, 0, ABSENT)
    moved = reader_movement(before, after, floats(10, 20, 30, 40, 0))
    assert moved.partitions_moved == 2, "one changed hands, one lost its reader; who had none moved from nobody"
    assert moved.moved_rate_ratio == 20 / 100
    assert reader_movement(before, after, floats(10, 20, NAN, 40, 0)).moved_rate_ratio is None
    assert reader_movement(before, after, floats(0, 0, 0, 0, 0)).moved_rate_ratio == 0


def test_members_parts_are_summed_and_idle_ones_counted():
    rates = PartitionRates(floats(1, 2, 3, 4), floats(1, 1, 1, 1), floats(0, NAN, 5, 5))
    reader = ints(0, 0, 2, 2)
    result = evenness(reader, ints(0, 1, 2, 2), 3, rates)
    assert (result.idle_members, result.skew_count) == (1, 2 / (4 / 3))
    assert result.skew_rate == 7 / (10 / 3)
    assert result.skew_lag is None
    assert (result.partitions_moved, result.moved_rate_ratio) == (1, 2 / 10)
    assert per_member(ints(0, ABSENT), floats(1, 9), 2).tolist() == [1, 0]
