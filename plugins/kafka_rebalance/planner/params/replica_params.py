"""The search for replica sets: pushing, fetching, polishing, annealing."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_rebalance.parameters import Parameters, number
from kafka_rebalance.planner.params.kernel_params import KernelParams


@dataclass(frozen=True, kw_only=True)
class ReceiverParams(KernelParams):
    """Receivers looked at for one replica: of those that lack load, fewer where there are many replicas, and of all.

    ``topic_weight``: how much a receiver is preferred that spreads the topic better.
    """

    ascending = (("lacking_tried_by_many", "lacking_tried"),)

    lacking_tried: int = number(100, least=1)
    lacking_tried_by_many: int = number(24, least=1)
    many_replicas: int = number(300_000, least=1)
    others_tried: int = number(20, least=1)
    topic_weight: float = number(0.1, least=0.0)


@dataclass(frozen=True, kw_only=True)
class HandOverParams(KernelParams):
    """Brokers above their bands (release, evacuate, push, finish).

    misses_borne       replicas passed over before a visit ends; ten times as many find the same bytes more slowly
    least_of_rank      a ranked replica is applied while it is still worth this share of its rank
    cost_of_moving_on  share of its cost for which a replica that is away from home already moves on
    surely_leaves      what covers its broker's excess for so many times its cost leaves in any cheap plan
    least_service      how well a receiver below its bands must be served, 1 = in proportion and by no more than it
                       lacks, before any other one is asked
    covering_sweeps    sweeps of the prices that say which replicas leave
    """

    misses_borne: int = number(20, least=0)
    least_of_rank: float = number(0.8, least=0.0, most=1.0)
    cost_of_moving_on: float = number(0.05, least=1e-6)
    surely_leaves: float = number(1.02, least=1.0)
    least_service: float = number(0.8, least=0.0, most=1.0)
    covering_sweeps: int = number(12, least=1)


@dataclass(frozen=True, kw_only=True)
class FetchParams(KernelParams):
    """Brokers below their bands, and exchanges.

    sampled        replicas looked at for one broker below its bands
    away_bonus     by what a replica that is away from home already is preferred, 1 = one that serves in proportion
    least_cost     an exchange costs at least this share of what its two replicas would
    """

    sampled: int = number(2000, least=1)
    away_bonus: float = number(0.5, least=0.0)
    least_cost: float = number(0.05, least=1e-6)


@dataclass(frozen=True, kw_only=True)
class PolishParams(KernelParams):
    """``mending_steps`` for one broker; ``least_saving``: of its cost, where a cheaper replica goes instead."""

    mending_steps: int = number(6, least=0)
    least_saving: float = number(1e-3, least=0.0)


@dataclass(frozen=True, kw_only=True)
class AnnealParams(KernelParams):
    """Of a hundred steps: ``elsewhere``, up to ``change_places``, ``go_home``, ``substitute``; the rest leave home.

    warm, cold                   temperatures at first and at last, in mean costs of a replica
    topic_price                  of a topic's replica too many on one broker, in mean costs of a replica
    outside_price, outside_rise  of a mean load outside the bands, in mean bytes per broker: at first, and its rise
    hopeless                     changes so many temperatures worse are not worth drawing for
    """

    ascending = (("elsewhere", "change_places", "go_home", "substitute"), ("cold", "warm"))

    elsewhere: int = number(25, least=0, most=100)
    change_places: int = number(45, least=0, most=100)
    go_home: int = number(55, least=0, most=100)
    substitute: int = number(90, least=0, most=100)
    warm: float = number(0.1, least=1e-9)
    cold: float = number(0.003, least=1e-9)
    topic_price: float = number(0.1, least=0.0)
    outside_price: float = number(3.0, least=0.0)
    outside_rise: float = number(17.0, least=0.0)
    hopeless: float = number(12.0, least=0.0)


@dataclass(frozen=True, kw_only=True)
class ReplicaKernelParams(KernelParams):
    """What the kernels that move replicas read."""

    receivers: ReceiverParams = ReceiverParams()
    hand_over: HandOverParams = HandOverParams()
    fetch: FetchParams = FetchParams()
    polish: PolishParams = PolishParams()
    anneal: AnnealParams = AnnealParams()


@dataclass(frozen=True, kw_only=True)
class ReplicaSearchParams(Parameters):
    """How the steps of the search for replica sets follow each other.

    brokers_per_move    a step that moves fewer than one in so many brokers' replicas leaves it to the next harder one
    least_fit           how well a mixture must fit what its receiver lacks, 1 = in proportion
    least_pass_saving   polishing goes on while a pass saves this share of the best one
    many_replicas       above this number one pass takes a second, and saves all but a ten-thousandth of its bytes
    least_polish_work   partners looked at in a pass, shared by all replicas; ``most_polish_tries`` for each
    narrow_band         bands as wide as this (in means) or narrower are annealed for as long as may be
    small_topic         topics with more replicas than this have a row of counts by broker
    """

    brokers_per_move: int = number(20, least=1)
    least_fit: float = number(0.2, least=0.0, most=1.0)
    least_pass_saving: float = number(0.02, least=0.0, most=1.0)
    many_replicas: int = number(600_000, least=0)
    least_polish_work: int = number(3_000_000, least=0)
    most_polish_tries: int = number(1000, least=0)
    narrow_band: float = number(0.06, least=0.0)
    small_topic: int = number(32, least=0)
    kernels: ReplicaKernelParams = ReplicaKernelParams()
