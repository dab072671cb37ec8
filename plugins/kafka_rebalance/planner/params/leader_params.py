"""The search for leaders."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_rebalance.parameters import number
from kafka_rebalance.planner.params.kernel_params import KernelParams


@dataclass(frozen=True, kw_only=True)
class LeaderParams(KernelParams):
    """The search for leaders.

    rounds                of giving, fetching and chains, at most
    worth_of_free_change  a hand-over that costs no further leader change is worth so many times one that does
    load_discount         what a receiver's higher load takes off a hand-over's worth, per mean
    least_of_rank         a ranked hand-over is applied while it is still worth this share of its rank
    brokers_per_change    once gentle steps help fewer than one in so many of the brokers outside, others are tried, too
    least_chains, chains_per_replica  chains of two hand-overs that are looked at before the search rests
    """

    rounds: int = number(200, least=0)
    worth_of_free_change: float = number(20.0, least=1.0)
    load_discount: float = number(1e-3, least=0.0)
    least_of_rank: float = number(0.8, least=0.0, most=1.0)
    brokers_per_change: int = number(10, least=1)
    least_chains: int = number(5_000_000, least=0)
    chains_per_replica: int = number(10, least=0)
