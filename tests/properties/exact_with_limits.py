"""The exact model with all hard rules: disks while both copies exist, limits, caps and budgets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from kafka_assignors.arrays import Floats
from kafka_rebalance.cluster_arrays.problem import Problem, broker_loads
from tests.properties.exact_with_disks import ExactWithDisks


class ExactWithLimits(ExactWithDisks):
    """No broker is above its limit that is not today, and the costs are within the problem's budget."""

    def __post_init__(self) -> None:
        super().__post_init__()
        problem = self.problem
        today = broker_loads(problem, problem.replicas, problem.leader)
        for b, d in np.argwhere(np.isfinite(problem.limit) & problem.stays[:, None]).tolist():
            if problem.resources[d] == "disk":  # has rows already
                continue
            terms = [(self._on(p, b), problem.follower_load[p, d]) for p in range(self.partitions)]
            terms += [(self._leads(p, b), problem.leader_extra[p, d]) for p in range(self.partitions)]
            self.program.add(terms, -np.inf, max(problem.limit[b, d], today[b, d]))
        budget = problem.budget
        limits = {
            "bytes": budget.max_bytes,
            "replica_moves": budget.max_replica_moves,
            "leader_changes": budget.max_leader_changes,
        }
        for cost, most in limits.items():
            factor, unit = self._cost(cost)
            terms = [(at, value) for at, value in enumerate(factor.tolist()) if value]
            if most is not None and terms:
                self.program.add(terms, -np.inf, most / unit)

    @property
    def has_plan(self) -> bool:
        """A plan keeps all rules and bands."""
        return self.least("leader_changes") is not None


def by_hard_rules(problem: Problem, caps: Mapping[str, Floats]) -> Problem:
    """The problem without bands; ``caps`` float64[B] by resource stay."""
    high = np.full_like(problem.band_high, np.inf)
    for name, cap in caps.items():
        column = problem.column(name)
        if column is not None:
            high[:, column] = cap
    high[~problem.stays] = 0.0
    return replace(problem, band_low=np.zeros_like(problem.band_low), band_high=high)
