"""Hard limits that balance must not break: a broker at its capacity gets nothing, however uneven that leaves the rest.

Where a cluster carries nearly what it can, or more, what is even lies above what some broker can carry. Example:
brokers of 100 MB/s carry 140, 90 and 70: even would be 100 each, and 10 of the 140 have nowhere to go below a limit.
"""

from __future__ import annotations

import numpy as np

from kafka_rebalance.arrays import Flags
from kafka_rebalance.cluster_arrays.broker_loads import broker_loads
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.cluster_arrays.tolerances import BAND_ROUNDING
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.planner.solution import Solution


def lifted(problem: Problem, solution: Solution) -> Flags:
    """bool[B, D]: brokers that stay and would carry more than they can, and more than today."""
    today = broker_loads(problem, problem.replicas, problem.leader)
    allowed = np.maximum(problem.limit, today)
    over: Flags = problem.stays[:, None] & (solution.after > allowed * (1 + BAND_ROUNDING))
    return over


def lifts(problem: Problem, solution: Solution) -> bool:
    """Somebody would."""
    return bool(lifted(problem, solution).any())


def first_lifted(problem: Problem, solution: Solution) -> Fact:
    """Return the first of them, with what it would carry and what it can."""
    b, d = np.argwhere(lifted(problem, solution))[0].tolist()
    return fact(
        FactCode.BROKER_ABOVE_CAPACITY,
        broker=int(problem.broker_ids[b]),
        resource=problem.resources[d],
        load=float(solution.after[b, d]),
        capacity=float(problem.limit[b, d]),
    )
