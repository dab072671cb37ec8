from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kafka_rebalance.cluster_arrays.problem import broker_loads
from kafka_rebalance.planner import params as tolerances
from kafka_rebalance.planner.params import BandParams
from kafka_rebalance.planner.scales import move_costs, resource_scale
from kafka_rebalance.planner.state import working_bands
from tests.unit.planner.hand_problems import THREE, hand_problem

EMPTY = [((0, 1), 0.0), ((1, 2), 0.0), ((2, 0), 0.0)]


def test_a_load_is_told_in_means_of_the_brokers_that_stay() -> None:
    assert resource_scale(hand_problem(THREE, 3)).tolist() == [10.0]
    assert resource_scale(hand_problem(THREE, 3, leaving=[2])).tolist() == [15.0]
    assert resource_scale(hand_problem(EMPTY, 3)).tolist() == [1.0]  # nothing is divided by nothing


def test_a_copy_costs_its_share_of_a_brokers_bytes_and_a_little_for_itself() -> None:
    """Six replicas on three brokers: a move is half of a broker's mean replica count."""
    problem = hand_problem(THREE, 3)
    assert move_costs(problem, 0.0) == pytest.approx([0.6, 0.4, 0.5])
    assert move_costs(problem, 0.1) == pytest.approx([0.65, 0.45, 0.55])
    assert move_costs(hand_problem(EMPTY, 3), 0.1) == pytest.approx([0.5] * 3)  # by count where no byte is copied


def test_a_search_aims_a_hair_inside_the_bands() -> None:
    """2..12 becomes 3..11, 0 stays 0, narrow bands keep their middle. Counts are rounded inside: 1.2..3.9 is 2..3."""
    problem = hand_problem([((0, 1), 4.0), ((0, 1), 6.0)], 2, resources=("disk", "replicas"))
    params = BandParams(margin=0.1, count_margin=0.25)
    for asked, inner in (
        ((2.0, 12.0), (3.0, 11.0)), ((0.0, 12.0), (0.0, 11.0)), ((0.0, 1.0), (0.0, 0.0)), ((6.0, 8.0), (7.0, 7.0)),
        ((6.0, 7.0), (6.5, 6.5)), ((6.0, np.inf), (7.0, np.inf)),
    ):  # fmt: skip
        low, high = np.full((2, 2), 1.2), np.full((2, 2), 3.9)
        low[:, 0], high[:, 0] = asked
        result = working_bands(problem, low, high, params)
        assert (result.low[0, 0], result.high[0, 0]) == inner
        assert (result.low[0, 1], result.high[0, 1]) == (1.75, 3.25)
    drained = replace(
        problem,
        stays=np.array([True, False]),
        takes_replicas=np.array([True, False]),
        keeps_leaders=np.array([True, False]),
    )
    result = working_bands(drained, np.full((2, 2), 1.0), np.full((2, 2), 3.0), params)
    assert (result.low[1].tolist(), result.high[1].tolist()) == ([0.0, 0.0], [0.0, 0.0])


def test_rounding_of_a_million_moves_stays_below_what_counts_as_outside() -> None:
    """Loads of about 1, added and removed a million times, err by less than a band's tolerance."""
    steps = np.random.default_rng(1).random(1_000_000) * 1e-3
    load = 1.0
    for step in steps.tolist():
        load = load + step - step
    assert abs(load - 1.0) < tolerances.BAND_TOLERANCE
    assert tolerances.GAIN_TOLERANCE < tolerances.BAND_TOLERANCE


def test_what_stands_for_never_is_beyond_every_load_of_a_problem() -> None:
    problem = hand_problem([((0, 1), 1e18)] * 3, 3)
    largest = broker_loads(problem, problem.replicas, problem.leader).max()
    assert tolerances.FORBIDDEN < -largest < largest < tolerances.HOWEVER_FAR
    assert largest < tolerances.NOT_COVERABLE
