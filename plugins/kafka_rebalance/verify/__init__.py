"""An independent checker: recomputes every figure of a plan from snapshot and plan alone, without code of the planner.
``RULES`` lists its faults.
"""

from kafka_rebalance.verify.faults import RULES, Fault
from kafka_rebalance.verify.verification import Verification, verify_folder, verify_plan

__all__ = ["RULES", "Fault", "Verification", "verify_folder", "verify_plan"]
