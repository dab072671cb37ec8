"""What stays the same whichever program is tried, and which of two plans is kept."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kafka_rebalance.arrays import Ints
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.leaders.choose import go_on_leading
from kafka_rebalance.planner.linear_program.rounding import has_capacity
from kafka_rebalance.planner.params import SolveParams
from kafka_rebalance.planner.placed import Placed, better, place
from kafka_rebalance.planner.replicas.replica_search import anneal_replicas, search_replicas
from kafka_rebalance.planner.state import ReplicaSets
from kafka_rebalance.planner.statistics import NOTHING_DONE, SearchStatistics
from kafka_rebalance.planner.tolerances import ANY_SPREAD
from kafka_rebalance.planner.topic_spread import topic_excess
from kafka_rebalance.planner.working_bands import WorkingBands


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """``allowed`` replicas may lie where their topic has enough."""

    problem: Problem
    sets: ReplicaSets
    bands: WorkingBands
    allowed: int
    seed: int
    params: SolveParams

    def better(
        self, best: Placed, replicas: Ints, *, replica_index: Ints | None = None, done: SearchStatistics = NOTHING_DONE
    ) -> Placed:
        """``best``, or ``replicas`` int32[P, W] led by ``replica_index`` where they are lawful and worth more."""
        if not has_capacity(self.problem, replicas):
            return replace(best, statistics=best.statistics + done)
        return better(best, self.placed(best, replicas, replica_index=replica_index, done=done), self.allowed)

    def placed(
        self, best: Placed, replicas: Ints, *, replica_index: Ints | None = None, done: SearchStatistics = NOTHING_DONE
    ) -> Placed:
        """``replicas`` with leaders of their own; with those of ``best`` as far as they go where that is nearer."""
        problem, bands, params = self.problem, self.bands, self.params
        found = place(problem, replicas, bands, params, replica_index=replica_index, done=done)
        if replica_index is not None or found.band_violation <= best.band_violation:
            return found
        chosen = go_on_leading(problem, replicas, best.leader, bands, params)
        other = place(problem, replicas, bands, params, replica_index=chosen.replica_index, done=chosen.statistics)
        return better(found, other, ANY_SPREAD)

    def searched(self, best: Placed, start: ReplicaSets, number: int) -> Placed:
        """The better of ``best`` and what the search with the ``number``-th seed makes of ``start``."""
        found = search_replicas(self.problem, start, self.bands, seed=self.seed + number, params=self.params)
        if found.stranded:
            return replace(best, statistics=best.statistics + found.statistics)
        return self.better(best, found.replicas, done=found.statistics)

    def annealed(self, best: Placed, start: ReplicaSets, params: SolveParams, number: int = 0) -> Placed:
        """The better of ``best`` and what annealing with the ``number``-th seed, as long and as bold as ``params``
        say, makes of ``start``.
        """
        found = anneal_replicas(self.problem, start, self.bands, seed=self.seed + number, params=params)
        return self.better(best, found.replicas, done=found.statistics)


def spread_allowed(problem: Problem, found: Placed, given_up: float) -> int:
    """Replicas that may lie where their topic has enough: as many as today or as found, and a share ``given_up``."""
    today = topic_excess(problem.topic, problem.replicas, problem.stays)
    return max(found.topic_excess, today) + int(given_up * int(problem.target_rf.sum()))
