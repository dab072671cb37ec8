"""Hard caps on what a broker may carry of a resource: kept by the plan, or the plan is infeasible.

A cap is absolute (bytes, bytes/s, percent, counts), the same for every broker that stays, or what ``--headroom`` leaves
of each one's capacity. It holds for what the plan leads to; while both copies of a replica exist a disk may hold more.
Examples: ``--cap replicas=4000``, ``--headroom disk=20%``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kafka_rebalance.amounts import amount_in_words
from kafka_rebalance.arrays import Flags, Floats
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.cluster_arrays.tolerances import BAND_ROUNDING
from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.planner.infeasible.rack_limits import rack_limit_cause
from kafka_rebalance.plans.request import PlanRequest
from kafka_rebalance.resources import UNITS


@dataclass(frozen=True, slots=True)
class OverCap:
    """The broker (by index) that is furthest above its cap of one resource, as a multiple of the cap."""

    resource: str
    broker: int
    load: float
    cap: float


def over_caps(plan_request: PlanRequest, loads: Mapping[str, Floats]) -> tuple[OverCap, ...]:
    """One entry for each resource that is above its cap on some broker that stays; loads float64[B]."""
    stays = plan_request.brokers.arrays.stays
    found = []
    for resource, caps in sorted(plan_request.caps.items()):
        if resource in loads and stays.any():
            broker = int(np.where(stays, loads[resource] / caps, -np.inf).argmax())
            load, cap = float(loads[resource][broker]), float(caps[broker])
            if load > cap * (1 + BAND_ROUNDING):
                found.append(OverCap(resource, broker, load, cap))
    return tuple(found)


def refuse_too_much_for_the_caps(plan_request: PlanRequest, problem: Problem) -> None:
    """Raises InfeasibleError where all brokers at their caps, or those of some racks, carry less than they must, or one
    replica is too large.
    """
    total = (problem.follower_load * problem.target_rf[:, None] + problem.leader_extra).sum(axis=0)
    staying, caps = int(problem.stays.sum()), plan_request.caps
    for d, resource in enumerate(problem.resources):
        unit, all_of_it = UNITS[resource], float(total[d])
        if resource in caps and staying:
            _refuse_a_partition_above(problem, d, float(caps[resource][problem.stays].max()))
        if resource not in caps or all_of_it <= float(caps[resource][problem.stays].sum()) * (1 + BAND_ROUNDING):
            continue
        if resource in plan_request.options.headroom:
            raise _too_little_headroom(plan_request, resource, all_of_it, problem.stays)
        cap = amount_in_words(plan_request.options.caps[resource], unit)
        raise InfeasibleError(
            f"the {staying} brokers that stay may carry {cap} of {resource} each, "
            f"all of it is {amount_in_words(all_of_it, unit)}",
            f"a cap of {amount_in_words(all_of_it / staying, unit)} at the least, or more brokers",
        )
    for resource, most in sorted(caps.items()):
        if (cause := rack_limit_cause(problem, resource, most * (1 + BAND_ROUNDING))) is not None:
            raise cause.error()


def _too_little_headroom(plan_request: PlanRequest, resource: str, all_of_it: float, stays: Flags) -> InfeasibleError:
    """All brokers below their headroom carry less than there is."""
    share, unit = plan_request.options.headroom[resource], UNITS[resource]
    most = float(plan_request.caps[resource][stays].sum())
    whole = float(plan_request.brokers.arrays.capacity[resource][stays].sum())
    could = max(1 - all_of_it / whole, 0.0)
    return InfeasibleError(
        f"with {share:.3g} of {resource} left free the {int(stays.sum())} brokers that stay may carry "
        f"{amount_in_words(most, unit)} together, all of it is {amount_in_words(all_of_it, unit)}: "
        f"{amount_in_words(all_of_it - most, unit)} are lacking",
        f"a headroom of {could:.1%} at most, or more brokers",
    )


def _refuse_a_partition_above(problem: Problem, d: int, cap: float) -> None:
    """Raises InfeasibleError where whoever leads one partition is above the cap with that alone."""
    weight = problem.follower_load[:, d] + np.where(problem.leader >= 0, problem.leader_extra[:, d], 0.0)
    if not len(weight) or float(weight.max()) <= cap * (1 + BAND_ROUNDING):
        return
    resource, row = problem.resources[d], int(weight.argmax())
    largest, unit = float(weight[row]), UNITS[resource]
    raise InfeasibleError(
        f"{problem.name_of(row)} alone brings the broker that leads it {amount_in_words(largest, unit)} of {resource}, "
        f"{amount_in_words(largest - cap, unit)} above the highest cap, {amount_in_words(cap, unit)}",
        f"a cap of {amount_in_words(largest, unit)} at the least, or more, smaller partitions",
    )


def require_within_caps(plan_request: PlanRequest, over: tuple[OverCap, ...], *, is_proved: bool = False) -> None:
    """Raises InfeasibleError that names the first of ``over``, what the best plan found leads to.

    ``is_proved``: no plan keeps every cap.
    """
    if over:
        options = plan_request.options
        limited = ", within what the plan may cost" if options.has_budget else ""
        known = (
            "no plan keeps every cap (proved by a program in whole numbers)"
            if is_proved
            else "no plan was found that keeps its cap"
        )
        raise InfeasibleError(f"{cap_words(plan_request, over[0])}{limited}: {known}", "a higher cap")


def cap_words(plan_request: PlanRequest, over: OverCap) -> str:
    """How far above the cap, in words."""
    unit, broker = UNITS[over.resource], plan_request.brokers.arrays.ids[over.broker]
    load, cap = amount_in_words(over.load, unit), amount_in_words(over.cap, unit)
    return f"broker {broker} would carry {load} of {over.resource}, its cap is {cap}"
