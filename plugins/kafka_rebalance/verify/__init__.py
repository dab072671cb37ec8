"""An independent checker: recomputes everything that a plan says from the snapshot and the plan alone.

It shares no code with planner or scoring, and believes nothing that it can work out: rules, costs, before and after,
bands, bounds, waves, rollback, files, hash. ``RULES`` lists what it knows to be wrong.
"""

from kafka_rebalance.verify.faults import RULES, Fault
from kafka_rebalance.verify.verification import Verification, verify_folder, verify_plan

__all__ = ["RULES", "Fault", "Verification", "verify_folder", "verify_plan"]
