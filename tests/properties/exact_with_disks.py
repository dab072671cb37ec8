"""The true optimum of a small problem where copies fit beside all that lies there today, or need disk to be bought."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import Bounds, milp

from kafka_rebalance.cluster_arrays.problem import broker_loads
from tests.properties.exact_plans import NO_ANSWER, ExactPlans


@dataclass
class ExactWithDisks(ExactPlans):
    """``buyers``: brokers that may buy disk; nobody else may, and nobody has to."""

    buyers: Sequence[int] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        problem, program = self.problem, self.program
        self.first = len(program.low)
        program.low = np.append(program.low, np.zeros(self.brokers))
        most = np.array([np.inf if b in self.buyers else 0.0 for b in range(self.brokers)])
        program.high = np.append(program.high, most)
        column = problem.column("disk")
        if column is None:
            return
        free = problem.limit[:, column] - broker_loads(problem, problem.replicas, problem.leader)[:, column]
        unit = max(float(problem.move_bytes.max(initial=0)), 1.0)
        for b in np.flatnonzero(np.isfinite(free)).tolist():
            copies = [(self._on(p, b), size / unit) for p, size in enumerate(problem.move_bytes) if not self.held[p, b]]
            program.add([*copies, (self.first + b, -1.0 / unit)], -np.inf, max(float(free[b]), 0.0) / unit)

    def least_bought(self) -> float | None:
        """None where no purchase of theirs helps."""
        program = self.program
        goal = np.append(np.zeros(self.first), np.ones(self.brokers))
        whole = np.append(np.ones(self.first), np.zeros(self.brokers))
        box = Bounds(program.low, program.high)
        answer = milp(goal, integrality=whole, bounds=box, constraints=program.constraint())
        if answer.status in NO_ANSWER:
            return None
        assert answer.status == 0, answer.message
        return float(answer.fun)
