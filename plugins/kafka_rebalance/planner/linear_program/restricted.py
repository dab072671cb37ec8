"""The linear program of large clusters, restricted to what a plan and good prices leave open.

All moves of a large cluster are too many for a program; but prices that nearly prove a plan say which of them matter
("sifting", Bixby et al. 1992). A move's loss is what its partition would cost beyond its cheapest placement, loads at
their prices:

    loss = (bytes copied + Σ price · load) - min(the cheapest in its rack, the dearest of the racks chosen)

1. The plan is annealed at low prices of what is outside its bands (``annealed.py``).
2. Open are today's replicas, those of the plan, and the moves that lose least for each of their bytes.
3. Of partitions with something open the largest take part; all others lie as in the plan.
4. The program's shares are rounded, and searched and annealed from there in the same way.
5. What is far from its bound still is annealed again, with other seeds.

Example, 40 brokers × 4,180 partitions of which one broker leaves, ±3 %: 10,000 of 167,000 moves bring the plan from
4.1 % to 0.5 % above its bound in one and a half CPU seconds. Complexity: O(P · B · D) to choose, then a program of
fixed size and a fixed number of steps.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kafka_rebalance.arrays import Flags, Floats, Ints
from kafka_rebalance.cluster_arrays.fair_share import distinct_racks
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.linear_program.annealed import annealed_again, annealing
from kafka_rebalance.planner.linear_program.arcs import Arcs, arcs_of
from kafka_rebalance.planner.linear_program.relaxation import relax
from kafka_rebalance.planner.linear_program.rounding import rounded
from kafka_rebalance.planner.linear_program.task import Task
from kafka_rebalance.planner.params import RestrictedParams, SolveParams
from kafka_rebalance.planner.placed import Placed
from kafka_rebalance.planner.solution import Bounds
from kafka_rebalance.planner.state import ReplicaSets


def is_middling(problem: Problem, params: RestrictedParams) -> bool:
    """Neither too large for looking at every move, nor so that most loads are nobody's to move."""
    return problem.partition_count * problem.broker_count <= params.most_pairs


def improve_with_restricted_lp(task: Task, found: Placed, bounds: Bounds, least: float) -> Placed:
    """The best of ``found`` and what annealing and the program's shares lead to.

    No program is solved where annealing comes near to ``least``, a bound of what plans are chosen by, in bytes.
    """
    if bounds.certificate is None:
        return found
    best, params, limits, original = found, task.params, task.params.linear_program.restricted, task.sets.original
    if params.effort.anneal_steps:
        best = task.annealed(best, ReplicaSets(best.replicas, original), annealing(params, 1))
        if best.is_near(least, params.gaps.far):
            return best
    touched, arcs = restricted(task.problem, bounds.certificate.prices, best.replicas, params)
    # Half of the simplex method's seconds at this size.
    relaxed = relax(touched, arcs, task.bands.low, task.bands.high, solver="highs-ipm")
    if relaxed is None:
        return best
    planned = ReplicaSets(best.replicas, original)
    start = rounded(touched, planned, arcs, relaxed.share, params.linear_program.arcs)
    for number in range(limits.searches):
        best = task.searched(best, start, number)
    if params.effort.anneal_steps and limits.anneal_times:
        best = task.annealed(best, start, annealing(params, limits.anneal_times))
    return annealed_again(task, best, limits.anneal_again, limits.anneal_times, least=least, near=params.gaps.far)


def restricted(problem: Problem, prices: Floats, planned: Ints, params: SolveParams) -> tuple[Problem, Arcs]:
    """The problem with all pinned that does not take part, and the arcs that are open at ``prices`` float64[B, D].

    What is pinned lies as in ``planned`` int32[P, W] in what the arcs call fixed.
    """
    limits = params.linear_program.restricted
    arcs = arcs_of(problem, params.linear_program.arcs)
    in_plan = (planned[arcs.row] == arcs.broker[:, None]).any(axis=1)
    is_open = in_plan | arcs.is_kept
    others = np.flatnonzero(~is_open)
    loss = losses(problem, arcs, prices)[others] / np.maximum(problem.move_bytes[arcs.row[others]], 1.0)
    is_open[others[np.argsort(loss, kind="stable")[: limits.open_arcs]]] = True
    takes_part = _largest_open(problem, arcs, is_open, limits.most_partitions)
    rest = in_plan & ~takes_part[arcs.row]
    fixed, copied = arcs.fixed.copy(), arcs.copied.copy()
    np.add.at(fixed, arcs.broker[rest], arcs.weight[rest])
    new = rest & ~arcs.is_kept
    np.add.at(copied, arcs.broker[new], problem.move_bytes[arcs.row[new]])
    chosen = replace(arcs.only(is_open & takes_part[arcs.row]), fixed=fixed, copied=copied)
    return replace(problem, pinned=problem.pinned | ~takes_part), chosen


def losses(problem: Problem, arcs: Arcs, prices: Floats) -> Floats:
    """float64[A], bytes: what each arc costs beyond the cheapest placement of its partition at ``prices``."""
    cost = np.where(arcs.is_kept, 0.0, problem.move_bytes[arcs.row])
    cost = cost + (arcs.weight * prices[:, arcs.columns][arcs.broker]).sum(axis=1)
    racks = distinct_racks(problem.rack)
    least = np.full((problem.partition_count, int(racks.max(initial=0)) + 1), np.inf)
    np.minimum.at(least, (arcs.row, racks[arcs.broker]), cost)
    last = np.minimum(problem.target_rf, least.shape[1]) - 1
    dearest = np.sort(least, axis=1)[np.arange(len(least)), last]
    return np.asarray(cost - np.minimum(least[arcs.row, racks[arcs.broker]], dearest[arcs.row]))


def _largest_open(problem: Problem, arcs: Arcs, is_open: Flags, most: int) -> Flags:
    """bool[P]: the ``most`` partitions of the most bytes for which a move is open."""
    has_choice = np.zeros(problem.partition_count, dtype=np.bool_)
    has_choice[arcs.row[is_open & ~arcs.is_kept]] = True
    rows = np.flatnonzero(has_choice)
    taking_part = np.zeros(problem.partition_count, dtype=np.bool_)
    taking_part[rows[np.argsort(-problem.move_bytes[rows], kind="stable")[:most]]] = True
    return taking_part
