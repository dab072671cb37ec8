from __future__ import annotations

import numpy as np

from kafka_rebalance.planner.replicas.search import start_sets
from tests.unit.planner.hand_problems import hand_problem


def test_of_too_many_one_of_a_crowded_rack_goes_however_full_the_others_are() -> None:
    """Of three replicas two are wanted; 0 and 1 share a rack, 2 is the fullest by far; 0 leads and stays."""
    rows = [((0, 1, 2), 1.0), ((2,), 9.0)]
    problem = hand_problem(rows, 3, racks=[0, 0, 1], target_rf=np.array([2, 1], dtype=np.int32))
    assert start_sets(problem).replicas.tolist() == [[0, 2, -1], [2, -1, -1]]
    apart = hand_problem(rows, 3, racks=[0, 1, 2], target_rf=np.array([2, 1], dtype=np.int32))
    assert start_sets(apart).replicas.tolist() == [[0, 1, -1], [2, -1, -1]]
