"""Hard caps on what a broker may carry of a resource: kept by the plan, or the plan is infeasible.

A cap is absolute (bytes, bytes/s, percent, counts), the same for every broker that stays, and holds for what the plan
leads to; while both copies of a replica exist a disk may hold more. Example: ``--cap replicas=4000``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kafka_rebalance.amounts import amount_in_words
from kafka_rebalance.arrays import Floats
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.cluster_arrays.tolerances import BAND_ROUNDING
from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.plans.request import PlanRequest
from kafka_rebalance.resources import UNITS


@dataclass(frozen=True, slots=True)
class OverCap:
    """The broker (by index) that is furthest above the cap of one resource."""

    resource: str
    broker: int
    load: float
    cap: float


def over_caps(plan_request: PlanRequest, loads: Mapping[str, Floats]) -> tuple[OverCap, ...]:
    """One entry for each resource that is above its cap on some broker that stays; loads float64[B]."""
    stays = plan_request.brokers.arrays.stays
    found = []
    for resource, cap in sorted(plan_request.options.caps.items()):
        if resource in loads and stays.any():
            broker = int(np.where(stays, loads[resource], -np.inf).argmax())
            load = float(loads[resource][broker])
            if load > cap * (1 + BAND_ROUNDING):
                found.append(OverCap(resource, broker, load, cap))
    return tuple(found)


def refuse_too_much_for_the_caps(plan_request: PlanRequest, problem: Problem) -> None:
    """Raises InfeasibleError where all brokers at their caps carry less than there is, or one replica is too large."""
    total = (problem.follower_load * problem.target_rf[:, None] + problem.leader_extra).sum(axis=0)
    staying = int(problem.stays.sum())
    for d, resource in enumerate(problem.resources):
        cap, unit = plan_request.options.caps.get(resource), UNITS[resource]
        if cap is not None and total[d] > cap * staying * (1 + BAND_ROUNDING):
            raise InfeasibleError(
                f"the {staying} brokers that stay may carry {amount_in_words(cap, unit)} of {resource} each, "
                f"all of it is {amount_in_words(float(total[d]), unit)}",
                f"a cap of {amount_in_words(float(total[d]) / staying, unit)} at the least, or more brokers",
            )


def require_within_caps(plan_request: PlanRequest, over: tuple[OverCap, ...]) -> None:
    """Raises InfeasibleError that names the first of ``over``, what the best plan found leads to."""
    if over:
        options = plan_request.options
        is_limited = (options.max_move_bytes, options.max_moves, options.max_leader_changes) != (None, None, None)
        limited = ", within what the plan may cost" if is_limited else ""
        raise InfeasibleError(
            cap_words(plan_request, over[0]) + f"{limited}: no plan was found that keeps its cap", "a higher cap"
        )


def cap_words(plan_request: PlanRequest, over: OverCap) -> str:
    """How far above the cap, in words."""
    unit, broker = UNITS[over.resource], plan_request.brokers.arrays.ids[over.broker]
    load, cap = amount_in_words(over.load, unit), amount_in_words(over.cap, unit)
    return f"broker {broker} would carry {load} of {over.resource}, its cap is {cap}"
