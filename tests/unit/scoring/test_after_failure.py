from __future__ import annotations

import numpy as np

from kafka_assignors.arrays import ABSENT
from kafka_rebalance.scoring.placement_scores import left_leaderless, moved_loads, successors


def test_the_worked_example_of_the_module() -> None:
    single, carried = np.arange(3, dtype=np.int32), np.array([10.0, 10.0])
    able, leader = np.ones((2, 3), dtype=np.bool_), np.zeros(2, dtype=np.int32)
    for rows, expected in (([[0, 1, 2], [0, 1, 2]], [0, 20, 0]), ([[0, 1, 2], [0, 2, 1]], [0, 10, 10])):
        result = successors(np.array(rows, dtype=np.int32), able, leader, single)
        assert moved_loads(leader, result, single, carried, 3)[0].tolist() == expected


def test_a_rack_takes_the_next_two_along_and_what_nobody_may_lead_is_counted() -> None:
    """0, 1 on rack 0, 2 on rack 1: A [0, 1, 2] to 2, B [1, 0], C [0, 2 out of sync] to none; D [0, 2] to the first."""
    rows = np.array([[0, 1, 2], [1, 0, ABSENT], [0, 2, ABSENT], [0, 2, ABSENT]], dtype=np.int32)
    able = rows != ABSENT
    able[2, 1] = False
    leader, rack = np.array([0, 1, 0, 2], dtype=np.int32), np.array([0, 0, 1], dtype=np.int32)
    result = successors(rows, able, leader, rack)
    assert result.tolist() == [2, ABSENT, ABSENT, 0]
    assert left_leaderless(leader, result, rack, 2).tolist() == [2, 0]


def test_all_failures_at_once_are_one_failure_after_the_other_on_random_clusters() -> None:
    random = np.random.default_rng(17)
    for _ in range(50):
        brokers, count = 6, 20
        rows = np.array([random.permutation(brokers)[:3] for _ in range(count)], dtype=np.int32)
        able, group = random.random(rows.shape) < 0.8, random.integers(-1, 3, brokers).astype(np.int32)
        leader, carried = rows[np.arange(count), random.integers(0, 3, count)], random.random(count)
        result = successors(rows, able, leader, group)
        moved, left = moved_loads(leader, result, group, carried, 3), left_leaderless(leader, result, group, 3)
        for lost in range(3):
            takes, nobody = np.zeros(brokers), 0
            for p in range(count):
                if group[leader[p]] == lost:
                    heirs = [b for b, can in zip(rows[p], able[p], strict=True) if can and group[b] != lost]
                    takes[heirs[0] if heirs else 0] += carried[p] if heirs else 0.0
                    nobody += not heirs
            assert np.allclose(moved[lost], takes)
            assert left[lost] == nobody
