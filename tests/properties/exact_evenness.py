"""The least imbalance within a budget by mixed-integer programming: the rules of ``ExactPlans``, bands as a price."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import Bounds, milp

from tests.properties.exact_plans import COSTS, ExactPlans

SECONDS = 10.0


@dataclass
class ExactEvenness(ExactPlans):
    """Further variables: what each resource is above and below on each broker, and the greater sum of the two."""

    def __post_init__(self) -> None:
        """The rules first, with no row for a band, then one row for each excess and each deficit."""
        super().__post_init__()
        problem, program = self.problem, self.program
        self.total = (problem.follower_load * problem.target_rf[:, None] + problem.leader_extra).sum(axis=0)
        self.count = len(program.low)
        resources = len(problem.resources)
        further = (2 * self.brokers + 1) * resources
        program.low = np.concatenate([program.low, np.zeros(further)])
        program.high = np.concatenate([program.high, np.full(further, np.inf)])
        for d in np.flatnonzero(self.total > 0).tolist():
            for side in (0, 1):
                outside = [(self._outside(side, b, d), 1.0) for b in np.flatnonzero(problem.stays).tolist()]
                program.add([*outside, (self._greater(d), -1.0)], -np.inf, 0.0)
            for b in np.flatnonzero(problem.stays).tolist():
                self._judge(b, d)

    def least_imbalance(self) -> float | None:
        """None where the budget does not pay for what must be done, or the program takes too long."""
        budget, program = self.problem.budget, self.program
        limits = (budget.max_bytes, budget.max_replica_moves, budget.max_leader_changes)
        for cost, limit in zip(COSTS, limits, strict=True):
            factor, unit = self._cost(cost)
            if limit is not None:
                program.add([(at, float(factor[at])) for at in np.flatnonzero(factor).tolist()], 0.0, limit / unit)
        worth = np.zeros(len(program.low))
        worth[[self._greater(d) for d in np.flatnonzero(self.total > 0).tolist()]] = 1.0
        answer = milp(
            worth,
            integrality=(np.arange(len(worth)) < self.count).astype(int),
            bounds=Bounds(program.low, program.high),
            constraints=program.constraint(),
            options={"mip_rel_gap": 0.0, "time_limit": SECONDS},
        )
        return float(answer.fun) if answer.status == 0 else None

    def _keep_inside(self, b: int) -> None:
        """No band binds."""

    def _outside(self, side: int, b: int, d: int) -> int:
        return self.count + (side * self.brokers + b) * len(self.problem.resources) + d

    def _greater(self, d: int) -> int:
        return self.count + 2 * self.brokers * len(self.problem.resources) + d

    def _judge(self, b: int, d: int) -> None:
        """In shares of all load of the resource."""
        problem, total = self.problem, float(self.total[d])
        carried = self.disk[:, b] if problem.resources[d] == "disk" else problem.follower_load[:, d]
        terms = [(self._on(p, b), float(carried[p]) / total) for p in range(self.partitions)]
        terms += [(self._leads(p, b), float(problem.leader_extra[p, d]) / total) for p in range(self.partitions)]
        low, high = float(problem.band_low[b, d]) / total, float(problem.band_high[b, d]) / total
        self.program.add([*terms, (self._outside(0, b, d), -1.0)], -np.inf, high)
        self.program.add([*terms, (self._outside(1, b, d), 1.0)], low, np.inf)
