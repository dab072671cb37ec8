"""Is a plan still valid, still worth it, or harmful by now? Judged on a newer snapshot, move by move."""

from kafka_rebalance.plans.check.check_plan import CheckResult, check_plan
from kafka_rebalance.plans.check.planned import (
    PlannedMove,
    PlannedState,
    read_planned,
    require_sealed,
)
from kafka_rebalance.plans.check.reasons import STATUS_OF, PlanStatus, Reason, ReasonCode

__all__ = [
    "STATUS_OF", "CheckResult", "PlanStatus", "PlannedMove", "PlannedState", "Reason", "ReasonCode", "check_plan",
    "read_planned", "require_sealed",
]  # fmt: skip
