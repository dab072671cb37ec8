"""Whether anything can be said of losses at all: what is not known is refused, never taken for survived."""

from __future__ import annotations

from kafka_rebalance.errors import UsageError
from kafka_rebalance.plans.failures.after_plan import LOADED, in_service, losses_of
from kafka_rebalance.plans.request import PlanRequest
from kafka_rebalance.resources import in_a_sentence


def require_losses_known(plan_request: PlanRequest) -> None:
    """Raises UsageError where nothing that may be lost is known, or no capacity that a loss takes of."""
    kind = plan_request.options.survive
    if kind is None:
        return
    if kind not in losses_of(plan_request, in_service(plan_request)):
        raise UsageError.at(f"--survive {kind}", "all brokers in service are on one rack", "give --survive broker")
    capacity = plan_request.brokers.arrays.capacity
    if not any(name in capacity and name in plan_request.resources for name in LOADED):
        problem = f"of {in_a_sentence(LOADED)} no load is known with every broker's capacity of it"
        raise UsageError.at(f"--survive {kind}", problem, "give capacities with --capacity")
