"""Bounds on three brokers that hold 15, 10 and 5 GB."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kafka_rebalance.cluster_arrays.problem import Problem, broker_loads
from kafka_rebalance.facts import BoundProof
from kafka_rebalance.options.values import Target
from kafka_rebalance.planner.bounds import (
    covering_prices,
    drop_costs,
    fewest,
    holdings_of,
    least_copies,
    least_leader_stops,
    lower_bounds,
    proven_by,
)
from kafka_rebalance.planner.linear_program.proofs import widened_bounds
from kafka_rebalance.planner.params import DEFAULTS, ArcParams, BoundParams, LinearProgramParams
from kafka_rebalance.planner.solution import LowerBound
from tests.unit.planner.hand_problems import THREE, hand_problem
from tests.unit.planner.pinned_problems import tiny_problem


def loads(problem: Problem) -> np.ndarray:
    return broker_loads(problem, problem.replicas, problem.leader)


def test_the_fewest_that_cover_are_the_heaviest() -> None:
    weight, paid = np.array([2.0, 4.0, 3.0]), np.ones(3)
    assert [fewest(excess, weight, paid) for excess in (0.5, 4.0, 5.0, 7.5)] == [1, 1, 2, 3]
    assert fewest(5.0, weight, np.array([1.0, 0.0, 1.0])) == 1  # the 4 is free: 1 is left
    assert fewest(4.0, weight, np.array([1.0, 0.0, 1.0])) == 0


def test_a_gap_is_a_share_of_the_bound() -> None:
    assert LowerBound(4.0, "").gap(5.0) == 0.25
    assert [LowerBound(0.0, "").gap(cost) for cost in (0.0, 1e-9)] == [0.0, float("inf")]


def test_what_is_left_within_rounding_needs_nobody() -> None:
    """Of 4, 2 are free: 2 are left. If half is rounding, 0; else two of 1, or one of 2."""
    weight, cost = np.array([2.0, 1.0, 1.0]), np.array([0.0, 1.0, 1.0])
    assert [fewest(4.0, weight, cost, rounding) for rounding in (0.5, 0.49)] == [0, 2]
    assert [fewest(4.0, np.array([2.0, 2.0]), np.ones(2), rounding) for rounding in (0.49, 0.5)] == [2, 1]
    assert fewest(9.0, np.array([2.0, 2.0]), np.ones(2)) == 2  # all that there are


def test_excess_is_told_from_rounding_by_its_share_of_the_load() -> None:
    """5 replicas where 3.3 may be: 1.7 too many, more than 0.3 of 5 and less than 0.35 of it."""
    top = {"replicas": Target(None, 1.1)}
    problem = hand_problem([((0,), 1.0)] * 5 + [((1,), 1.0)], 2, resources=("replicas",), targets=top)
    for least, copies in ((0.3, 2), (0.35, 0)):
        params = BoundParams(least_excess=least)
        assert least_copies(problem, holdings_of(problem), loads(problem), [0], params) == copies
    # Broker 0 sends 8 of at most 5: 3 too many, more than 0.3 of 8 and less than 0.4 of it; the 4 covers them.
    rows, rates = [*[((0,), 1.0)] * 4, ((1,), 1.0)], [4.0, 2.0, 1.0, 1.0, 0.0]
    sending = hand_problem(rows, 2, within=0.25, resources=("out",), rates=rates)
    for least, stops in ((0.3, 1), (0.4, 0)):
        assert least_leader_stops(sending, loads(sending), BoundParams(least_excess=least)) == stops
    # Broker 0 holds 15 of at most 12, 0.3 of the mean too many.
    holding = hand_problem(THREE, 3, within=0.2)
    for least, price in ((0.25, 1.0), (0.31, 0.0)):
        prices = covering_prices(holding, holdings_of(holding), loads(holding), [0], BoundParams(least_excess=least))
        assert prices[0, 0] == pytest.approx(price)


def test_a_count_is_whole_within_its_tolerance() -> None:
    """Broker 1 lacks 2.2 - 1 = 1.2 replicas or leaders: two, and one where a fifth is rounding."""
    bottom = {"replicas": Target(1.1, None), "leaders": Target(1.1, None)}
    rows = [((0,), 1.0)] * 3 + [((1,), 1.0)]
    problem = hand_problem(rows, 2, resources=("replicas", "leaders"), targets=bottom)
    for tolerance, least in ((1e-6, 2), (0.21, 1)):
        params = BoundParams(count_tolerance=tolerance)
        assert least_copies(problem, holdings_of(problem), loads(problem), [0], params) == least
        assert least_leader_stops(problem, loads(problem), params) == least


def test_two_of_five_replicas_leave_where_three_are_allowed() -> None:
    problem = hand_problem([((0,), 1.0)] * 5 + [((1,), 1.0)], 2, resources=("replicas",))  # 3 each
    assert least_copies(problem, holdings_of(problem), loads(problem), [0]) == 2


def test_replicas_that_share_a_rack_cost_a_copy() -> None:
    problem = hand_problem([((0, 1), 1.0), ((0, 2), 1.0)], 3, within=None, racks=[0, 0, 1])
    assert least_copies(problem, holdings_of(problem), loads(problem), [0]) == 1


def test_a_growing_factor_and_a_leaving_broker_cost_a_copy_each() -> None:
    rows = [((0, 1), 1.0), ((2, 1), 1.0)]
    grown = hand_problem(rows, 4, within=None, target_rf=np.array([3, 2], dtype=np.int32))
    assert least_copies(grown, holdings_of(grown), loads(grown), [0]) == 1
    leaving = hand_problem(rows, 4, within=None, leaving=[1])
    assert least_copies(leaving, holdings_of(leaving), loads(leaving), [0]) == 2


def test_a_broker_stops_leading_what_is_above_its_band() -> None:
    rows = [*[((0, 1), 1.0)] * 4, ((1, 2), 1.0), ((2, 0), 1.0)]  # 4, 1, 1 of 1.8..2.2
    problem = hand_problem(rows, 3, resources=("leaders",))
    assert least_leader_stops(problem, loads(problem)) == 2
    drained = replace(problem, keeps_leaders=np.array([False, True, True]), takes_leaders=np.array([False, True, True]))
    assert least_leader_stops(drained, loads(drained)) == 4
    preferred = replace(problem, elects_preferred=True)
    assert least_leader_stops(preferred, loads(preferred)) == 0


def test_holdings_are_grouped_by_broker() -> None:
    holdings = holdings_of(hand_problem(THREE, 3, leaving=[1], pinned=np.array([False, False, True])))
    assert holdings.start.tolist() == [0, 2, 4, 4]
    assert list(zip(holdings.row.tolist(), holdings.column.tolist(), strict=True)) == [(0, 0), (1, 0), (0, 1), (1, 1)]
    assert holdings.is_forced.tolist() == [False, False, True, True]


def test_a_dropped_replica_costs_nothing() -> None:
    problem = hand_problem(THREE, 3, target_rf=np.array([1, 2, 2], dtype=np.int32))
    assert drop_costs(problem, problem.move_bytes).tolist() == [0, 4, 5]


def test_the_price_of_a_byte_too_many_is_a_byte() -> None:
    """Broker 0 is 3 GB above 12; its replicas cost a byte a byte."""
    problem = hand_problem(THREE, 3, within=0.2)
    prices = covering_prices(problem, holdings_of(problem), loads(problem), [0])
    assert prices == pytest.approx(np.array([[1.0], [0.0], [0.0]]))


def test_prices_prove_the_excess() -> None:
    """At 1 a byte on broker 0 every partition costs its size there, moved or not: 6 + 4 + 5 - 12."""
    problem = hand_problem(THREE, 3, within=0.2)
    assert proven_by(problem, np.array([[1.0], [0.0], [0.0]]), problem.move_bytes) == pytest.approx(3.0)
    assert proven_by(problem, np.zeros((3, 1)), problem.move_bytes) == 0.0
    bounds = lower_bounds(problem)
    assert bounds.bytes.value == pytest.approx(3.0)
    assert bounds.parts["excess"] == pytest.approx(3.0)


def test_racks_of_one_replica_each_copy_their_excess_or_what_they_lack() -> None:
    """0 to 2 hold 12, 4, 8 GB of 7.2..8.8, 1 may have 9 to 11: 3.2 too many, 5 lacking. 3 to 5: 7.2 and 6.4."""
    rows = [((0, 3), 4.0)] * 3 + [((1, 3), 4.0), ((2, 4), 4.0), ((2, 5), 4.0)]
    problem = hand_problem(rows, 6, racks=[0, 0, 0, 1, 1, 1])
    wider = replace(problem, band_low=np.where(np.arange(6)[:, None] == 1, 9.0, problem.band_low))
    bounds = lower_bounds(replace(wider, band_high=np.where(np.arange(6)[:, None] == 1, 11.0, problem.band_high)))
    assert bounds.parts["excess"] == pytest.approx(3.2 + 7.2)
    assert bounds.parts["deficit"] == pytest.approx(5.0 + 6.4)
    assert bounds.bytes.value == bounds.parts["racks"] == pytest.approx(5.0 + 7.2)
    assert bounds.bytes.proof is BoundProof.PRICES_BY_RACK
    three_racks = hand_problem(rows, 7, racks=[0, 0, 0, 1, 1, 1, 2])  # a replica may go to another rack
    assert "racks" not in lower_bounds(three_racks).parts


def test_of_a_rack_only_the_cheapest_broker_counts() -> None:
    """Rack of 0 and 1: whatever leaves broker 0 at price 1 goes to 1, of the same rack, for a copy: 6 + 4 + 5."""
    problem = hand_problem([((0, 2), 6.0), ((0, 2), 4.0), ((0, 2), 5.0)], 3, within=0.2, racks=[0, 0, 1])
    prices = np.array([[2.0], [0.0], [0.0]])
    assert proven_by(problem, prices, problem.move_bytes) == pytest.approx(15.0 - 2.0 * problem.band_high[0, 0])


def test_of_three_replicas_the_three_cheapest_count() -> None:
    """On broker 0 a replica of 6 costs 18, on 1 and 2 nothing, a copy to 3 or 4 costs 6: 0 + 0 + 6."""
    problem = hand_problem([((0, 1, 2), 6.0)], 5, within=0.2)
    prices = np.array([[3.0], [0.0], [0.0], [0.0], [0.0]])
    assert proven_by(problem, prices, problem.move_bytes) == pytest.approx(6.0 - 3.0 * problem.band_high[0, 0])


def test_each_partition_counts_as_many_replicas_as_it_shall_have() -> None:
    """At 2 a byte on broker 0 the 6 with two replicas keeps 1 and goes to 2: 0 + 6; the 4 goes anywhere: 4."""
    problem = hand_problem([((0, 1), 6.0), ((0,), 4.0)], 3, within=0.2)
    prices = np.array([[2.0], [0.0], [0.0]])
    assert proven_by(problem, prices, problem.move_bytes) == pytest.approx(6.0 + 4.0 - 2.0 * problem.band_high[0, 0])


def test_what_a_leaving_broker_holds_is_forced() -> None:
    problem = hand_problem(THREE, 3, within=None, leaving=[0])
    assert lower_bounds(problem).parts["forced"] == pytest.approx(15.0)


def test_pinned_partitions_are_a_constant() -> None:
    problem = hand_problem(THREE, 3, within=0.2, pinned=np.array([True, True, True]))
    assert proven_by(problem, np.array([[1.0], [0.0], [0.0]]), problem.move_bytes) == pytest.approx(15.0 - 12.0)


def test_a_band_widened_to_what_is_there_needs_nothing() -> None:
    problem = hand_problem(THREE, 3, within=0.2)
    result = lower_bounds(problem)
    low, high = np.minimum(problem.band_low, 5.0), np.maximum(problem.band_high, 15.0)
    assert widened_bounds(problem, result, low, high, 4.0).bytes.value == 0.0
    half = np.maximum(problem.band_high, 13.0)  # 2 above, and broker 2 has 5 of at least 5
    assert widened_bounds(problem, result, low, half, 4.0).bytes.value == pytest.approx(4.0)  # the smallest whole one
    assert widened_bounds(problem, result, low, half, 2.0).bytes.value == pytest.approx(2.0)
    assert widened_bounds(problem, None, low, half, 2.0).bytes.value == pytest.approx(2.0)


def test_a_program_is_solved_for_wider_bands_where_the_plan_is_not_near_its_bound() -> None:
    """Within 0.2 % of the priced bound no program is solved."""
    stronger = 0
    for number in (5, 6, 7, 12, 20, 24, 30, 39):
        problem = tiny_problem(number)
        low, high = 0.95 * problem.band_low, 1.05 * problem.band_high
        priced = lower_bounds(replace(problem, band_low=low, band_high=high)).bytes.value
        programmed = widened_bounds(problem, None, low, high, priced * 1.0021 + 1e-9).bytes.value
        assert widened_bounds(problem, None, low, high, 1e9).bytes.value >= programmed >= priced  # with covers
        stronger += programmed > 1.01 * priced > 0
        for near in (priced * 1.0019, priced * (1 + DEFAULTS.gaps.near)):
            assert widened_bounds(problem, None, low, high, near).bytes.value == priced
        few = replace(DEFAULTS, linear_program=LinearProgramParams(arcs=ArcParams(most_arcs=0)))
        assert priced <= widened_bounds(problem, None, low, high, 1e9, few).bytes.value <= max(programmed, priced)
    assert stronger >= 3
