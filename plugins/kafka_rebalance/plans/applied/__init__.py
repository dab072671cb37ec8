"""What became of a plan that somebody carried out: placement, leaders, ISR, throttles, bytes."""

from kafka_rebalance.plans.applied.applied_plan import AppliedPlan, BrokerBytes, compare
from kafka_rebalance.plans.applied.apply_state import ApplyState
from kafka_rebalance.plans.applied.move_state import MoveState, move_state

__all__ = ["AppliedPlan", "ApplyState", "BrokerBytes", "MoveState", "compare", "move_state"]
