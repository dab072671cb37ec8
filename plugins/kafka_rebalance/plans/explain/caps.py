"""Hard caps on what a broker may carry of a resource: kept by the plan, or the plan is infeasible.

A cap is absolute (bytes, bytes/s, percent, counts), the same for every broker that stays, or what ``--headroom`` leaves
of each one's capacity. It holds for what the plan leads to; while both copies of a replica exist a disk may hold more.
Examples: ``--cap replicas=4000``, ``--headroom disk=20%``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kafka_rebalance.arrays import Flags, Floats
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.cluster_arrays.tolerances import BAND_ROUNDING
from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.planner.infeasible import rack_limit_cause
from kafka_rebalance.plans.request import PlanRequest


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
        all_of_it = float(total[d])
        if resource in caps and staying:
            _refuse_a_partition_above(problem, d, float(caps[resource][problem.stays].max()))
        if resource not in caps or all_of_it <= float(caps[resource][problem.stays].sum()) * (1 + BAND_ROUNDING):
            continue
        if resource in plan_request.options.headroom:
            raise _too_little_headroom(plan_request, resource, all_of_it, problem.stays)
        raise InfeasibleError(
            fact(
                FactCode.LIMITS_TOO_LOW,
                resource=resource,
                needed=all_of_it,
                limit=plan_request.options.caps[resource] * staying,
                brokers=staying,
            ),
            fact(FactCode.RAISE_LIMIT, resource=resource, limit=all_of_it / staying),
        )
    for resource, most in sorted(caps.items()):
        if (cause := rack_limit_cause(problem, resource, most * (1 + BAND_ROUNDING))) is not None:
            raise cause.error()


def _too_little_headroom(plan_request: PlanRequest, resource: str, all_of_it: float, stays: Flags) -> InfeasibleError:
    """All brokers below their headroom carry less than there is."""
    most = float(plan_request.caps[resource][stays].sum())
    whole = float(plan_request.brokers.arrays.capacity[resource][stays].sum())
    return InfeasibleError(
        fact(
            FactCode.LIMITS_TOO_LOW,
            resource=resource,
            needed=all_of_it,
            limit=most,
            brokers=int(stays.sum()),
            headroom=float(plan_request.options.headroom[resource]),
        ),
        fact(FactCode.LOWER_HEADROOM, headroom=max(1 - all_of_it / whole, 0.0)),
    )


def _refuse_a_partition_above(problem: Problem, d: int, cap: float) -> None:
    """Raises InfeasibleError where whoever leads one partition is above the cap with that alone."""
    weight = problem.follower_load[:, d] + np.where(problem.leader >= 0, problem.leader_extra[:, d], 0.0)
    if not len(weight) or float(weight.max()) <= cap * (1 + BAND_ROUNDING):
        return
    resource, row = problem.resources[d], int(weight.argmax())
    largest = float(weight[row])
    raise InfeasibleError(
        fact(
            FactCode.PARTITION_ABOVE_LIMIT, partition=problem.name_of(row), resource=resource, load=largest, limit=cap
        ),
        fact(FactCode.RAISE_LIMIT, resource=resource, limit=largest, or_smaller_partitions=True),
    )


def require_within_caps(plan_request: PlanRequest, over: tuple[OverCap, ...], *, is_proved: bool = False) -> None:
    """Raises InfeasibleError that names the first of ``over``, what the best plan found leads to.

    ``is_proved``: no plan keeps every cap.
    """
    if over:
        is_limited = plan_request.options.has_budget
        cause = above_cap(plan_request, over[0], proof="whole_numbers" if is_proved else "none", is_limited=is_limited)
        raise InfeasibleError(cause, fact(FactCode.RAISE_LIMIT, resource=over[0].resource))


def above_cap(plan_request: PlanRequest, over: OverCap, **said: Any) -> Fact:
    """Return the fact that a plan would lift a broker above its cap; ``said``: further arguments."""
    broker = int(plan_request.brokers.arrays.ids[over.broker])
    return fact(FactCode.BROKER_ABOVE_CAP, broker=broker, resource=over.resource, load=over.load, cap=over.cap, **said)
