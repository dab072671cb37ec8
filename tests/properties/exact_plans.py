"""The true optimum of a small problem by mixed-integer programming, from the rules as ``Problem`` states them.

Variables, all 0 or 1: partition p is on broker b; broker b leads p; rack r has no broker left that p could use. Rules:
replication factor, racks spread evenly, who stays, who may receive and lead, pinned rows, loads within their bands.
Capacity while copies are under way is left out, so that an optimum here is never above a real plan's cost.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_matrix

from kafka_assignors.arrays import Flags, Floats
from kafka_rebalance.cluster_arrays.problem import Problem

COSTS = ("bytes", "replica_moves", "leader_changes")
NO_ANSWER = (2,)  # HiGHS: infeasible


@dataclass
class _Program:
    """Rows of the constraint matrix, gathered one by one."""

    low: Floats
    high: Floats
    cells: list[tuple[int, int, float]] = field(default_factory=list)
    least: list[float] = field(default_factory=list)
    most: list[float] = field(default_factory=list)

    def add(self, terms: list[tuple[int, float]], least: float, most: float) -> None:
        """``least`` <= Σ factor · variable <= ``most``."""
        self.cells += [(len(self.least), at, factor) for at, factor in terms]
        self.least.append(least)
        self.most.append(most)

    def constraint(self) -> LinearConstraint:
        """All rows."""
        rows, columns, factors = zip(*self.cells, strict=True)
        matrix = csr_matrix((factors, (rows, columns)), (len(self.least), len(self.low)))
        return LinearConstraint(matrix, self.least, self.most)


@dataclass
class ExactPlans:
    """Asks one problem for its optimum in each cost."""

    problem: Problem

    def __post_init__(self) -> None:
        problem = self.problem
        self.partitions, self.brokers = problem.partition_count, problem.broker_count
        rack = problem.rack.astype(int)
        self.rack = np.where(rack < 0, rack.max(initial=0) + 1 + np.arange(self.brokers), rack)
        self.racks = sorted(set(self.rack.tolist()))
        self.held, self.must_leave, self.disk = self._today()
        self.takes = (problem.takes_replicas & problem.sets.brokers)[problem.sets.of_partition]
        size = self.partitions * (2 * self.brokers + len(self.racks))
        self.program = _Program(np.zeros(size), np.ones(size))
        for p in range(self.partitions):
            self._place(p)
        for b in np.flatnonzero(problem.stays).tolist():
            self._keep_inside(b)

    def least(self, cost: str) -> float | None:
        """The optimum of one of ``COSTS``; None where nothing meets rules and bands."""
        if not self.partitions:
            return 0.0
        factor, unit = self._cost(cost)
        program = self.program
        answer = milp(
            factor,
            integrality=np.ones(len(factor)),
            bounds=Bounds(program.low, program.high),
            constraints=program.constraint(),
            options={"mip_rel_gap": 0.0},
        )
        if answer.status in NO_ANSWER:
            return None
        assert answer.status == 0, answer.message
        return float(answer.fun) * unit

    def _today(self) -> tuple[Flags, Flags, Floats]:
        """held, must_leave bool[P, B], and what a replica's disk counts on each broker float64[P, B]."""
        problem = self.problem
        held = np.zeros((self.partitions, self.brokers), dtype=bool)
        must_leave = np.zeros_like(held)
        column = problem.column("disk")
        sizes = np.zeros(self.partitions) if column is None else problem.follower_load[:, column]
        disk = np.repeat(sizes[:, None], self.brokers, axis=1)
        for p, j in np.argwhere(problem.replicas >= 0).tolist():
            b = problem.replicas[p, j]
            held[p, b] = True
            if problem.must_leave is not None:
                must_leave[p, b] = problem.must_leave[p, j]
            if problem.own_disk is not None and column is not None:
                disk[p, b] = problem.own_disk[p, j]
        return held, must_leave, disk

    def _on(self, p: int, b: int) -> int:
        return p * self.brokers + b

    def _leads(self, p: int, b: int) -> int:
        return (self.partitions + p) * self.brokers + b

    def _is_full(self, p: int, rack: int) -> int:
        return 2 * self.partitions * self.brokers + p * len(self.racks) + self.racks.index(rack)

    def _place(self, p: int) -> None:
        problem, program = self.problem, self.program
        is_fixed = bool(problem.pinned[p])
        for b in range(self.brokers):
            on, leads, is_leader = self._on(p, b), self._leads(p, b), bool(problem.leader[p] == b)
            if is_fixed or not problem.moves_replicas:
                program.low[on] = program.high[on] = float(self.held[p, b])
            elif self.held[p, b]:
                program.high[on] = float(problem.stays[b] and not self.must_leave[p, b])
            else:
                program.high[on] = float(self.takes[p, b])
            if is_fixed:
                program.low[leads] = program.high[leads] = float(is_leader)
                continue
            may_lead = problem.takes_leaders[b] or (is_leader and self._may_go_on(p, b))
            program.high[leads] = float(may_lead and not self.must_leave[p, b])
            program.add([(leads, 1), (on, -1)], -np.inf, 0)
        if not is_fixed:
            program.add([(self._leads(p, b), 1) for b in range(self.brokers)], 1, 1)
            if problem.moves_replicas:
                factor = int(problem.target_rf[p])
                program.add([(self._on(p, b), 1) for b in range(self.brokers)], factor, factor)
                self._spread_over_racks(p, factor)

    def _may_go_on(self, p: int, leader: int) -> bool:
        """A demoted broker leads on what nobody who may lead holds or can take, as far as its band lets it."""
        problem = self.problem
        others = self.held[p] | self.takes[p] if problem.moves_replicas else self.held[p]
        return bool(problem.keeps_leaders[leader] or not (others & ~self.must_leave[p] & problem.takes_leaders).any())

    def _spread_over_racks(self, p: int, factor: int) -> None:
        """No rack holds two more than one that still has a broker without a replica."""
        for rack in self.racks:
            members = self._members(p, rack)
            receivers = [b for b in np.flatnonzero(self.rack == rack).tolist() if self.takes[p, b]]
            if not receivers:
                continue
            full = self._is_full(p, rack)
            for b in receivers:
                self.program.add([(full, 1), (self._on(p, b), -1)], -np.inf, 0)
            for other in self.racks:
                if other != rack:
                    terms = [*self._members(p, other), *((at, -1.0) for at, _ in members), (full, -float(factor))]
                    self.program.add(terms, -np.inf, 1)

    def _members(self, p: int, rack: int) -> list[tuple[int, float]]:
        return [(self._on(p, b), 1.0) for b in np.flatnonzero(self.rack == rack).tolist()]

    def _keep_inside(self, b: int) -> None:
        problem = self.problem
        for d, name in enumerate(problem.resources):
            carried = self.disk[:, b] if name == "disk" else problem.follower_load[:, d]
            leading = problem.leader_extra[:, d]
            scale = max(carried.max(initial=0), leading.max(initial=0), 1e-9)
            terms = [(self._on(p, b), carried[p] / scale) for p in range(self.partitions)]
            terms += [(self._leads(p, b), leading[p] / scale) for p in range(self.partitions)]
            self.program.add(terms, problem.band_low[b, d] / scale, problem.band_high[b, d] / scale)

    def _cost(self, cost: str) -> tuple[Floats, float]:
        """Factor of each variable, and the unit that they are in."""
        problem = self.problem
        factor = np.zeros(len(self.program.low))
        unit = max(float(problem.move_bytes.max(initial=0)), 1.0) if cost == "bytes" else 1.0
        for p in np.flatnonzero(~problem.pinned).tolist():
            for b in range(self.brokers):
                if cost == "leader_changes":
                    factor[self._leads(p, b)] = float(problem.leader[p] != b)
                elif not self.held[p, b]:
                    factor[self._on(p, b)] = problem.move_bytes[p] / unit if cost == "bytes" else 1.0
        return factor, unit
