"""The least that the busiest broker of a small cluster receives or sends in any plan, by mixed-integer programming."""

from __future__ import annotations

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_matrix, hstack, vstack

from kafka_rebalance.cluster_arrays.problem import Problem
from tests.properties.exact_plans import NO_ANSWER, ExactPlans


def least_busy_bytes(problem: Problem) -> float | None:
    """Bytes in or out of the busiest broker, copies read from today's leader; None where nothing meets the bands."""
    exact = ExactPlans(problem)
    program, brokers = exact.program, problem.broker_count
    unit = max(float(problem.move_bytes.max(initial=0.0)), 1.0)
    cells = []
    for p in np.flatnonzero(~problem.pinned).tolist():
        for b in np.flatnonzero(~exact.held[p]).tolist():
            on, size = p * brokers + b, problem.move_bytes[p] / unit
            cells.append((b, on, size))
            if problem.leader[p] >= 0:
                cells.append((brokers + int(problem.leader[p]), on, size))
    rules, count = program.constraint(), len(program.low)
    rows, columns, factors = zip(*cells, strict=True) if cells else ((), (), ())
    busy = csr_matrix((factors, (rows, columns)), (2 * brokers, count))
    matrix = vstack([hstack([rules.A, csr_matrix((rules.A.shape[0], 1))]), hstack([busy, -np.ones((2 * brokers, 1))])])
    low, high = np.append(rules.lb, np.full(2 * brokers, -np.inf)), np.append(rules.ub, np.zeros(2 * brokers))
    answer = milp(
        np.append(np.zeros(count), 1.0),
        integrality=np.append(np.ones(count), 0.0),
        bounds=Bounds(np.append(program.low, 0.0), np.append(program.high, np.inf)),
        constraints=LinearConstraint(matrix.tocsr(), low, high),
        options={"mip_rel_gap": 0.0},
    )
    if answer.status in NO_ANSWER:
        return None
    assert answer.status == 0, answer.message
    return float(answer.fun) * unit
