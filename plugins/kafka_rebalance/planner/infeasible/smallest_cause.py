"""The smallest cause that can be proved, in this order: one rack's disks, all disks, those that topics are confined to,
one replica too large for any disk, a limit of another resource (all brokers, then by rack), brokers that the linear
program of all copies names.
"""

from __future__ import annotations

from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.infeasible.cause import Cause
from kafka_rebalance.planner.infeasible.counted_causes import (
    disks_cause,
    largest_copy_cause,
    limit_cause,
    rack_cause,
    set_cause,
)
from kafka_rebalance.planner.infeasible.forced_copies import forced_copies
from kafka_rebalance.planner.infeasible.program_cause import program_cause
from kafka_rebalance.planner.params import DEFAULTS, LinearProgramParams


def smallest_cause(problem: Problem, params: LinearProgramParams = DEFAULTS.linear_program) -> Cause | None:
    """None where nothing can be proved: whole replicas may not fit although pieces of them would. O(P·B)."""
    forced = forced_copies(problem)
    if forced is None:
        return limit_cause(problem)
    return (
        rack_cause(problem, forced)
        or disks_cause(problem, forced)
        or set_cause(problem, forced)
        or largest_copy_cause(problem, forced)
        or limit_cause(problem)
        or program_cause(problem, forced, params)
    )
