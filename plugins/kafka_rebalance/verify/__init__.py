"""An independent checker: recomputes every figure of a plan from snapshot and plan alone. No shared code with the
planner.

``RULES`` lists the faults that it knows.
"""

from kafka_rebalance.verify.faults import RULES, Fault
from kafka_rebalance.verify.verification import Verification, verify_folder, verify_plan

__all__ = ["RULES", "Fault", "Verification", "verify_folder", "verify_plan"]
