from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kafka_rebalance.planner.bounds import lower_bounds, proven_by
from kafka_rebalance.planner.linear_program.proofs import (
    fewest_moves,
    least_busy,
    time_proof,
    with_cost_proofs,
)
from kafka_rebalance.planner.linear_program.relaxation import arcs_of, relax_flows
from kafka_rebalance.planner.params import ArcParams, LinearProgramParams, SolveParams
from tests.unit.planner.hand_problems import hand_problem

FOUR_ON_ONE = [((0,), 10.0)] * 4


def test_four_on_one_of_three() -> None:
    """Between 10 and 16.7 each: 23.3 leave broker 0, which leads them all; 2.33 replicas are 3."""
    problem = hand_problem(FOUR_ON_ONE, 3, within=0.25)
    bounds = with_cost_proofs(problem, lower_bounds(problem))
    assert fewest_moves(problem, arcs_of(problem)).value == pytest.approx(7 / 3)
    assert bounds.replica_moves.value == 3
    time = bounds.proofs["seconds"]
    assert time.value == pytest.approx(70 / 3)
    assert time.sending.tolist() == pytest.approx([1, 0, 0])
    assert not time.receiving.any()


def test_what_others_lead_is_sent_by_others() -> None:
    """Replicas of 10 on brokers 0 and 1 or 2: what leaves broker 0 is sent by its leaders 1 and 2, half by each."""
    rows = [((1, 0), 10.0), ((2, 0), 10.0), ((1, 0), 10.0), ((2, 0), 10.0)]
    problem = hand_problem(rows, 4, within=0.25)  # a mean of 20: broker 0 holds 40 of 25, broker 3 lacks 15
    time = least_busy(problem, arcs_of(problem))
    assert time is not None
    assert time.value == pytest.approx(15)  # all of it arrives at broker 3
    assert time.receiving.tolist() == pytest.approx([0, 0, 0, 1])


def test_a_byte_counts_where_it_comes_to() -> None:
    """A price of 1 a byte on broker 0, where 23.3 are too many: it must cost as much elsewhere."""
    problem = hand_problem(FOUR_ON_ONE, 3, within=0.25)
    price, nothing = np.array([[0.5], [0.0], [0.0]]), np.zeros(4)
    half = np.array([0.0, 0.5, 0.5])
    assert proven_by(problem, price, nothing, receiving=half) == pytest.approx(0.5 * 70 / 3)
    assert proven_by(problem, price, nothing, receiving=np.zeros(3)) == pytest.approx(-0.5 * 50 / 3)
    alone = time_proof(problem, price, half, np.zeros(3))
    assert alone.value == pytest.approx(0.5 * 70 / 3)  # two receivers: half of it at the busier one


def test_a_cluster_without_a_program_counts_its_moves_by_what_is_too_much() -> None:
    problem = hand_problem(FOUR_ON_ONE, 3, within=0.25)
    params = SolveParams(linear_program=LinearProgramParams(arcs=ArcParams(most_arcs=0)))
    bounds = with_cost_proofs(problem, lower_bounds(problem), params)
    assert bounds.proofs == {}  # counting proves as much
    assert bounds.replica_moves.value == 3
    assert fewest_moves(problem, None).value == pytest.approx(7 / 3)


def test_nothing_is_proved_where_nothing_may_move_or_no_shares_meet_the_bands() -> None:
    problem = hand_problem(FOUR_ON_ONE, 3, within=0.25)
    still = replace(problem, moves_replicas=False)
    assert with_cost_proofs(still, lower_bounds(still)).proofs == {}
    pinned = replace(problem, pinned=np.ones(4, dtype=np.bool_))
    assert with_cost_proofs(pinned, lower_bounds(pinned)).proofs == {}
    even = hand_problem([((0,), 10.0), ((1,), 10.0)], 2)
    assert least_busy(even, arcs_of(even)) is None  # nobody needs to send a byte
    assert fewest_moves(even, arcs_of(even)).value == 0
    impossible = replace(problem, band_high=np.full((3, 1), 5.0))
    assert least_busy(impossible, arcs_of(impossible)) is None


def test_flows_are_held_below_what_they_may_be() -> None:
    """23.3 of 40 must leave broker 0, which sends them all: T is at least 23.3, infeasible at 20."""
    problem = hand_problem(FOUR_ON_ONE, 3, within=0.25)
    arcs = arcs_of(problem)
    flowing = relax_flows(problem, arcs, np.zeros(len(arcs.row)), weight=1.0)
    assert flowing is not None
    assert flowing.busiest == pytest.approx(70 / 3)
    assert relax_flows(problem, arcs, np.zeros(len(arcs.row)), most=20.0) is None
