"""The search within a budget."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_rebalance.parameters import number
from kafka_rebalance.planner.params.kernel_params import KernelParams


@dataclass(frozen=True, kw_only=True)
class BudgetSearchParams(KernelParams):
    """The search within a budget.

    smooth, smoother     what the lesser of load above and below the bands counts beside the greater one: hardly
                         anything, so that ties are broken, and more
    least_price          a step takes at least this share of a limit
    ranked_exactly       pairs of replica and broker that are ranked anew before each step, in one run; beyond that only
                         the top is
    least_rankings, most_rankings  of everything, in one run, beside those
    given_back_at_once   one in so many changes is taken back before the others are judged anew
    warm, cold           temperatures at first and at last, in mean weights of a replica
    cooling              share of the tries that are made while it cools
    tries_when_warm      of each replica; where there are fewer, it starts colder
    single_steps, swaps  of a hundred tries, up to ``swaps``; the others are exchanges; ``leader_steps`` of single ones
    """

    ascending = (("single_steps", "swaps"), ("cold", "warm"))

    smooth: float = number(1e-6, least=0.0)
    smoother: float = number(0.3, least=0.0)
    least_price: float = number(1e-9, least=1e-300)
    ranked_exactly: int = number(3_000_000, least=0)
    least_rankings: int = number(1, least=1)
    most_rankings: int = number(3, least=1)
    given_back_at_once: int = number(16, least=1)
    warm: float = number(1.0, least=1e-9)
    cold: float = number(0.01, least=1e-9)
    cooling: float = number(0.8, least=0.01, most=1.0)
    tries_when_warm: int = number(100, least=1)
    single_steps: int = number(35, least=0, most=100)
    swaps: int = number(55, least=0, most=100)
    leader_steps: int = number(35, least=0, most=100)
