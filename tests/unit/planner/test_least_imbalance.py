from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kafka_rebalance.cluster_arrays.problem import Budget
from kafka_rebalance.planner.linear_program.proofs import all_load, least_imbalance, proof_of
from kafka_rebalance.planner.params import DEFAULTS
from tests.unit.planner.hand_problems import hand_problem

FOUR_ON_ONE = hand_problem([((0,), 10.0)] * 4, 3, within=0.5)  # 13.3 each is even, 20 at most


@pytest.mark.parametrize(
    ("budget", "least"),
    [
        (Budget(max_replica_moves=0), 0.5),  # 20 of 40 stand above
        (Budget(max_replica_moves=1), 0.25),
        (Budget(max_replica_moves=2), 0.0),
        (Budget(max_bytes=5.0), 0.375),  # of shares of replicas: half a move
        (Budget(max_leader_changes=0), 0.5),  # the receiver of an only replica leads it
        (Budget(max_bytes=100.0, max_replica_moves=1, max_leader_changes=4), 0.25),
        (Budget(), 0.0),
    ],
)
def test_what_is_above_or_below_its_band_after_all_that_the_budget_allows(budget: Budget, least: float) -> None:
    proof = least_imbalance(replace(FOUR_ON_ONE, budget=budget))
    assert proof is not None
    assert proof.value == pytest.approx(least, abs=1e-9)
    assert proof_of(replace(FOUR_ON_ONE, budget=budget), proof.prices, _charges(proof)).value == proof.value


def test_leaders_alone_copy_nothing() -> None:
    led = hand_problem([((0, 1), 1.0)] * 4, 2, within=0.0, resources=("leaders",))
    proof = least_imbalance(replace(led, moves_replicas=False, budget=Budget(max_leader_changes=1)))
    assert proof is not None
    assert proof.value == pytest.approx(0.25)  # of four leaders three remain where two belong


def test_all_load_is_what_replicas_and_leaders_weigh_together() -> None:
    assert all_load(FOUR_ON_ONE).tolist() == [40.0]
    assert all_load(replace(FOUR_ON_ONE, own_disk=np.full((4, 1), 12.0))).tolist() == [48.0]
    assert all_load(replace(FOUR_ON_ONE, own_disk=np.full((4, 1), 8.0))).tolist() == [40.0]


def test_prices_farther_apart_than_one_over_all_load_are_brought_nearer() -> None:
    problem = replace(FOUR_ON_ONE, budget=Budget(max_replica_moves=0))
    for beside in (0.0, 40.0):
        proof = least_imbalance(problem, beside=np.array([beside]))
        assert proof is not None
        span = np.maximum(proof.prices, 0).max() + np.maximum(-proof.prices, 0).max()
        assert span * (40.0 + beside) <= 1 + 1e-9


def test_nothing_is_proved_where_nothing_is_chosen_or_too_much_is() -> None:
    problem = replace(FOUR_ON_ONE, budget=Budget(max_replica_moves=1))
    program = replace(DEFAULTS.linear_program, arcs=replace(DEFAULTS.linear_program.arcs, most_arcs=11))
    assert least_imbalance(problem, replace(DEFAULTS, linear_program=program)) is None
    assert least_imbalance(replace(problem, elects_preferred=True)) is None
    assert least_imbalance(replace(problem, pinned=np.ones(4, dtype=np.bool_))) is None


def _charges(proof) -> Budget:
    return Budget(proof.per_byte, proof.per_move, proof.per_leader_change)
