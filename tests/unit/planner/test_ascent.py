from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kafka_rebalance.cluster_arrays.problem import Budget, Problem
from kafka_rebalance.cluster_arrays.snapshot_arrays import Wanted, assemble
from kafka_rebalance.planner.bounds import lower_bounds
from kafka_rebalance.planner.linear_program.proofs import least_imbalance, with_cost_proofs
from kafka_rebalance.planner.params import DEFAULTS, SolveParams
from tests.benchmarks.generated import generated
from tests.unit.planner.hand_problems import hand_problem

FOUR_ON_ONE = hand_problem([((0,), 10.0)] * 4, 3, within=0.5)  # 13.3 each is even, 20 at most
PROGRAMS = replace(DEFAULTS.linear_program, proofs=replace(DEFAULTS.linear_program.proofs, most_arcs=0))
CLIMBING = SolveParams(linear_program=PROGRAMS)
ROUNDING = 1e-7


def imbalance_proved(problem: Problem, params: SolveParams) -> float:
    proof = least_imbalance(problem, params)
    assert proof is not None
    return proof.value


@pytest.mark.parametrize(
    ("budget", "least"),
    [
        (Budget(max_replica_moves=0), 0.5),  # 20 of 40 are above
        (Budget(max_replica_moves=1), 0.25),
        (Budget(max_bytes=5.0), 0.375),  # half a move
        (Budget(max_leader_changes=0), 0.5),  # the receiver of an only replica leads it
        (Budget(max_bytes=100.0, max_replica_moves=1, max_leader_changes=4), 0.25),
    ],
)
def test_prices_climb_to_what_is_worked_out_by_hand(budget: Budget, least: float) -> None:
    assert imbalance_proved(replace(FOUR_ON_ONE, budget=budget), CLIMBING) == pytest.approx(least, abs=2e-3)


def test_climbing_proves_hardly_less_than_the_program() -> None:
    """Programs take 0.3 CPU seconds here, and seconds from 4,000 pairs of partition and broker on."""
    problem = assemble(*generated(8, 300, 3), Wanted(within=0.1, resources=("disk", "in", "out", "leaders")))
    for budget in (Budget(max_replica_moves=15), Budget(10 * float(problem.move_bytes.mean()), 15, 15)):
        limited = replace(problem, budget=budget)
        assert imbalance_proved(limited, CLIMBING) >= 0.98 * imbalance_proved(limited, DEFAULTS) > 0


def test_the_busiest_broker_by_climbing() -> None:
    """23.3 of four replicas of 10 leave broker 0, which leads them all."""
    problem = hand_problem([((0,), 10.0)] * 4, 3, within=0.25)
    bounds = with_cost_proofs(problem, lower_bounds(problem), CLIMBING)
    assert bounds.replica_moves.value == 3
    time = bounds.proofs["seconds"]
    assert 0.9 * 70 / 3 <= time.value <= 70 / 3 + ROUNDING
    assert float(time.receiving.sum() + time.sending.sum()) == pytest.approx(1.0)
    assert (np.append(time.receiving, time.sending) >= 0).all()
