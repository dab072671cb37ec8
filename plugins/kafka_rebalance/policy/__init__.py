"""What a team allows of any plan, and whether one keeps to it: limits in a file beside their plans."""

from kafka_rebalance.policy.broken_rules import BrokenRule, broken_rules
from kafka_rebalance.policy.plan_policy import PlanPolicy
from kafka_rebalance.policy.weekly_window import WeeklyWindow

__all__ = ["BrokenRule", "PlanPolicy", "WeeklyWindow", "broken_rules"]
