"""A placement that is changed one partition at a time, with what its brokers carry and what it costs from today."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from kafka_rebalance.arrays import Flags, Floats, Ints, Longs
from kafka_rebalance.cluster_arrays.broker_loads import broker_loads
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.scales import move_costs, resource_scale
from kafka_rebalance.planner.tolerances import GAIN_TOLERANCE, SUM_TOLERANCE
from kafka_rebalance.planner.topic_leaders.choices import Choices


@dataclass(frozen=True, slots=True, eq=False)
class ChoiceCosts:
    """What each of K choices adds: int64[K] copies and leader changes, float64[K] bytes, and ``worth`` float64[K] of
    the copies in mean bytes of a broker.
    """

    copies: Longs
    copied_bytes: Floats
    leader_changes: Longs
    worth: Floats


class LedPlacement:
    """``lists`` int32[P, W] led by ``leader`` int32[P]; ``load`` float64[B, D] in means (``scale``)."""

    def __init__(self, problem: Problem, lists: Ints, leader: Ints, per_move: float) -> None:
        self.problem, self.lists, self.leader = problem, lists.copy(), leader.copy()
        self.scale = resource_scale(problem)
        self._move_cost = move_costs(problem, per_move)
        self.load = broker_loads(problem, self.lists, self.leader) / self.scale
        limit = np.where(problem.stays[:, None], problem.limit / self.scale, np.inf)
        self.most = np.maximum(limit, self.load)
        self._spent = self._spent_so_far()

    def spent(self) -> tuple[float, float, float]:
        """Copies, bytes and leader changes from today."""
        return self._spent

    def _spent_so_far(self) -> tuple[float, float, float]:
        copies = self._copies(np.arange(len(self.lists)), self.lists)
        changed = (self.leader != self.problem.leader).sum()
        return float(copies.sum()), float((copies * self.problem.move_bytes).sum()), float(changed)

    def left(self) -> tuple[float, float, float]:
        """Of the budget, in the same order; inf: anything."""
        budget = self.problem.budget
        most = (budget.max_replica_moves, budget.max_bytes, budget.max_leader_changes)
        pairs = zip(most, self.spent(), strict=True)
        first, second, third = (np.inf if limit is None else max(limit - had, 0.0) for limit, had in pairs)
        return first, second, third

    def costs(self, choices: Choices) -> ChoiceCosts:
        """Beyond those of the placement."""
        rows, problem = choices.rows, self.problem
        copies = self._copies(rows, choices.lists) - self._copies(rows, self.lists[rows])
        today = problem.leader[rows]
        changes = (choices.leaders != today).astype(np.int64) - (self.leader[rows] != today)
        return ChoiceCosts(copies, copies * problem.move_bytes[rows], changes, copies * self._move_cost[rows])

    def loads(self, choices: Choices) -> sp.csc_array:
        """float64[B · D, K]: what each choice adds to each broker, in means."""
        new = self._carried(choices.rows, choices.lists, choices.leaders)
        old = self._carried(choices.rows, self.lists[choices.rows], self.leader[choices.rows])
        change: sp.csc_array = sp.csc_array(new - old)
        change.data[np.abs(change.data) < SUM_TOLERANCE] = 0.0
        change.eliminate_zeros()
        return change

    def effect(self, choices: Choices) -> tuple[Floats, Flags]:
        """float64[K]: how much further out of bands (in means, summed), and bool[K]: within limits and budget."""
        change, count = self.loads(choices), len(choices)
        of = np.repeat(np.arange(count), np.diff(change.indptr))
        before, most = self.load.reshape(-1)[change.indices], self.most.reshape(-1)[change.indices]
        after = before + change.data
        low, high = (band.reshape(-1)[change.indices] for band in self._bands())
        worse = np.maximum(after - high, 0) + np.maximum(low - after, 0)
        worse -= np.maximum(before - high, 0) + np.maximum(low - before, 0)
        broken = np.bincount(of, weights=(after > most + SUM_TOLERANCE) & (change.data > 0), minlength=count) > 0
        costs, left = self.costs(choices), self.left()
        fits = np.ones(count, dtype=np.bool_)
        for more, spare in zip((costs.copies, costs.copied_bytes, costs.leader_changes), left, strict=True):
            fits &= (more <= spare) | (more <= 0)
        harm = np.bincount(of, weights=worse, minlength=count)
        return np.where(np.abs(harm) < GAIN_TOLERANCE, 0.0, harm), np.asarray(fits & ~broken)

    def allows_all(self, choices: Choices) -> bool:
        """All of them together, each of another partition, are within limits and budget."""
        after = self.load + np.asarray(self.loads(choices).sum(axis=1)).reshape(self.load.shape)
        costs, fits = self.costs(choices), bool((after <= self.most + SUM_TOLERANCE).all())
        for more, spare in zip((costs.copies, costs.copied_bytes, costs.leader_changes), self.left(), strict=True):
            fits = fits and (float(more.sum()) <= spare or float(more.sum()) <= 0)
        return fits

    def outside(self) -> float:
        """How far brokers are outside bands, in means, summed."""
        return float(self._off(self.load).sum())

    def outside_of_brokers(self) -> Floats:
        """float64[B]: the same of each."""
        return np.asarray(self._off(self.load).sum(axis=1))

    def _off(self, load: Floats) -> Floats:
        low, high = self._bands()
        return np.asarray(np.maximum(load - high, 0) + np.maximum(low - load, 0))

    def apply(self, choices: Choices) -> None:
        """Make all of them; each of another partition."""
        costs, (copies, copied_bytes, changes) = self.costs(choices), self._spent
        self._spent = (
            copies + float(costs.copies.sum()),
            copied_bytes + float(costs.copied_bytes.sum()),
            changes + float(costs.leader_changes.sum()),
        )
        self.load += np.asarray(self.loads(choices).sum(axis=1)).reshape(self.load.shape)
        self.lists[choices.rows], self.leader[choices.rows] = choices.lists, choices.leaders

    def _bands(self) -> tuple[Floats, Floats]:
        """float64[B, D] in means; nobody asks anything of a broker that leaves."""
        stays = self.problem.stays[:, None]
        low = np.where(stays, self.problem.band_low / self.scale, -np.inf)
        return low, np.where(stays, self.problem.band_high / self.scale, np.inf)

    @property
    def bands(self) -> tuple[Floats, Floats]:
        """Lowest and highest, float64[B · D] in means."""
        low, high = self._bands()
        return low.reshape(-1), high.reshape(-1)

    def _copies(self, rows: Longs, lists: Ints) -> Longs:
        today = self.problem.replicas[rows]
        return np.asarray(((lists[:, :, None] != today[:, None, :]).all(axis=2) & (lists >= 0)).sum(axis=1))

    def _carried(self, rows: Longs, lists: Ints, leaders: Ints) -> sp.csc_array:
        """float64[B · D, K]: what partition ``rows[k]`` brings to each broker."""
        problem, resources = self.problem, len(self.problem.resources)
        k, j = np.nonzero(lists >= 0)
        amount = problem.follower_load[rows[k]] + np.where(
            (lists[k, j] == leaders[k])[:, None], problem.leader_extra[rows[k]], 0.0
        )
        disk = problem.column("disk")
        if problem.own_disk is not None and disk is not None:
            same = problem.replicas[rows[k]] == lists[k, j][:, None]
            own = (same * (problem.own_disk[rows[k]] - problem.move_bytes[rows[k]][:, None])).sum(axis=1)
            amount[:, disk] += own
        cell = lists[k, j].astype(np.int64)[:, None] * resources + np.arange(resources)[None, :]
        shape = (problem.broker_count * resources, len(rows))
        data = (amount / self.scale).reshape(-1)
        return sp.csc_array((data, (cell.reshape(-1), np.repeat(k, resources))), shape=shape)
