"""What all steps of a search share, and all of the planner's parameters together."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_rebalance.parameters import Parameters, number
from kafka_rebalance.planner.params.bound_params import BoundParams
from kafka_rebalance.planner.params.budget_params import BudgetSearchParams
from kafka_rebalance.planner.params.leader_params import LeaderParams
from kafka_rebalance.planner.params.program_params import LinearProgramParams
from kafka_rebalance.planner.params.replica_params import ReplicaSearchParams
from kafka_rebalance.planner.params.steering_params import SteeringParams
from kafka_rebalance.planner.params.survive_params import SurviveParams
from kafka_rebalance.planner.params.topic_leader_params import TopicLeaderParams
from kafka_rebalance.planner.params.widening_params import WideningParams


@dataclass(frozen=True, kw_only=True)
class Effort(Parameters):
    """How long to search, in steps; never in seconds.

    rounds, last_rounds  rounds of each step while it helps many brokers, and of the last ones that help a few
    part                 share of a broker's excess that one visit takes off
    swap_tries           exchanges sampled for one broker
    polish_rounds        passes over what has moved; polish_tries: partners looked at for each replica in a pass
    anneal_steps         changes tried where a plan is far from its bound
    exchange_steps       tries to improve by exchange what a budget allows
    program_steps        neighbourhoods that a small cluster's plan is improved in; 0: no linear programs at all
    """

    rounds: int = number(40, least=0)
    last_rounds: int = number(120, least=0)
    part: float = number(0.4, least=0.0, most=1.0)
    swap_tries: int = number(2000, least=0)
    polish_rounds: int = number(4, least=0)
    polish_tries: int = number(40, least=0)
    anneal_steps: int = number(1_000_000, least=0)
    exchange_steps: int = number(300_000, least=0)
    program_steps: int = number(8, least=0)


@dataclass(frozen=True, kw_only=True)
class CostParams(Parameters):
    """What a plan is charged beside its bytes.

    Both are of a move, as shares of the mean bytes of a partition. ``per_move``: in the search, so that tiny replicas
    are not free. ``worth_per_move``: where two plans are compared; 0: bytes decide, moves where these are the same.
    """

    per_move: float = number(0.005, least=0.0)
    worth_per_move: float = number(0.0, least=0.0)


@dataclass(frozen=True, kw_only=True)
class BandParams(Parameters):
    """How far inside a band the search aims, so that rounding never leaves a load outside.

    ``margin``: a share of the mean; ``count_margin``: for whole numbers, a share of one.
    """

    margin: float = number(1e-7, least=0.0, most=0.1)
    count_margin: float = number(0.25, least=0.0, most=0.49)


@dataclass(frozen=True, kw_only=True)
class GapParams(Parameters):
    """Which plans are looked at again: shares of the bound that a plan's bytes are above it.

    ``near``: not worth another look. ``far``: annealed, as is a plan outside its bands.
    """

    ascending = (("near", "far"),)

    near: float = number(0.002, least=0.0)
    far: float = number(0.01, least=0.0)


@dataclass(frozen=True, kw_only=True)
class SolveParams(Parameters):
    """All of the planner's parameters."""

    effort: Effort = Effort()
    costs: CostParams = CostParams()
    bands: BandParams = BandParams()
    gaps: GapParams = GapParams()
    replicas: ReplicaSearchParams = ReplicaSearchParams()
    leaders: LeaderParams = LeaderParams()
    linear_program: LinearProgramParams = LinearProgramParams()
    bounds: BoundParams = BoundParams()
    within_budget: BudgetSearchParams = BudgetSearchParams()
    widening: WideningParams = WideningParams()
    steering: SteeringParams = SteeringParams()
    survive: SurviveParams = SurviveParams()
    topic_leaders: TopicLeaderParams = TopicLeaderParams()


DEFAULTS = SolveParams()
