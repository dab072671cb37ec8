"""The planner's parameters: one class for each step, named by what its numbers bound, composed in ``SolveParams``.

The defaults were found on generated clusters and on the models of other planners; the same parameters and seed give the
same plan. Those that compiled kernels read are records (``KernelParams``), handed to them with the state of the search.

    params = SolveParams(effort=Effort(anneal_steps=0))
    solution = solve(problem, params=replace(params, gaps=GapParams(near=0.001)))
"""

from kafka_rebalance.planner.params.bound_params import AscentParams, BoundParams
from kafka_rebalance.planner.params.budget_params import BudgetSearchParams
from kafka_rebalance.planner.params.kernel_params import KernelParams
from kafka_rebalance.planner.params.leader_params import LeaderParams
from kafka_rebalance.planner.params.log_dir_params import LOG_DIRS, LogDirParams
from kafka_rebalance.planner.params.program_params import (
    ArcParams,
    BoldAnnealParams,
    CoverParams,
    LinearProgramParams,
    NeighbourhoodParams,
    RestrictedParams,
    StartParams,
    WholePlanParams,
)
from kafka_rebalance.planner.params.replica_params import (
    AnnealParams,
    FetchParams,
    HandOverParams,
    PolishParams,
    ReceiverParams,
    ReplicaKernelParams,
    ReplicaSearchParams,
)
from kafka_rebalance.planner.params.solve_params import DEFAULTS, BandParams, CostParams, Effort, GapParams, SolveParams
from kafka_rebalance.planner.params.steering_params import SteeringParams
from kafka_rebalance.planner.params.survive_params import SurviveParams
from kafka_rebalance.planner.params.topic_leader_params import TopicLeaderParams
from kafka_rebalance.planner.params.widening_params import WideningParams

__all__ = [
    "DEFAULTS",
    "LOG_DIRS",
    "AnnealParams",
    "ArcParams",
    "AscentParams",
    "BandParams",
    "BoldAnnealParams",
    "BoundParams",
    "BudgetSearchParams",
    "CostParams",
    "CoverParams",
    "Effort",
    "FetchParams",
    "GapParams",
    "HandOverParams",
    "KernelParams",
    "LeaderParams",
    "LinearProgramParams",
    "LogDirParams",
    "NeighbourhoodParams",
    "PolishParams",
    "ReceiverParams",
    "ReplicaKernelParams",
    "ReplicaSearchParams",
    "RestrictedParams",
    "SolveParams",
    "StartParams",
    "SteeringParams",
    "SurviveParams",
    "TopicLeaderParams",
    "WholePlanParams",
    "WideningParams",
]  # fmt: skip
