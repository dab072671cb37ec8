"""A plan annealed boldly, again and again: through what is outside its bands, each time with another seed.

At the usual prices no step of a usual replica leads through what is outside its band; at low ones that rise, two steps
find together what neither could alone (``BoldAnnealParams``). What is left depends on chance, so that another seed
from where the last one ended finds more, for a few tenths of a second on a small cluster.

Example: 10 brokers × 333 partitions at ±3 %: 3.7 % above the bound, then 2.1, 1.2, 1.2 and 0.98 %.
"""

from __future__ import annotations

from dataclasses import replace

from kafka_rebalance.planner.linear_program.task import Task
from kafka_rebalance.planner.params import SolveParams
from kafka_rebalance.planner.placed import Placed
from kafka_rebalance.planner.state import ReplicaSets


def annealed_again(task: Task, found: Placed, tries: int, times: int, *, least: float, near: float) -> Placed:
    """The best of ``found`` and what ``tries`` seeds come to, each from the best before it, ``times`` the steps each.

    It ends within the share ``near`` of ``least``, a bound of what plans are chosen by, in bytes; and when
    ``BoldAnnealParams.patience`` seeds in a row found nothing.
    """
    best, params, in_vain = found, annealing(task.params, times), 0
    if not params.effort.anneal_steps:
        return best
    for number in range(1, tries + 1):
        if best.is_near(least, near) or in_vain == task.params.linear_program.bold.patience:
            break
        worth = best.worth
        best = task.annealed(best, ReplicaSets(best.replicas, task.sets.original), params, number)
        in_vain = 0 if best.worth < worth else in_vain + 1
    return best


def annealing(params: SolveParams, times: int) -> SolveParams:
    """``params`` with which plans are annealed boldly: ``times`` the steps, however wide the bands."""
    bold = params.linear_program.bold
    kernels = replace(params.replicas.kernels, anneal=bold.anneal)
    return replace(
        params,
        effort=replace(params.effort, anneal_steps=times * params.effort.anneal_steps),
        replicas=replace(params.replicas, kernels=kernels, narrow_band=bold.narrow_band),
    )
