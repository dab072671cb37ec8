"""The least bands that can be met."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_rebalance.parameters import Parameters, number


@dataclass(frozen=True, kw_only=True)
class WideningParams(Parameters):
    """Bands that nobody can meet, widened to the least that is reached.

    least_step            levels are told apart to so much of the mean
    most_pairs            pairs of partition and broker up to which programs in whole numbers say how near a side can
                          come and what that costs
    few_variables, nodes  programs of so many variables are solved at once, in so many nodes
    open_variables        that one step of larger ones decides; steps, step_nodes, patience: steps of one side, nodes of
                          one step, and steps in a row that may find nothing; ``cost_steps`` times as many for bytes
    tries, tries_of_side  levels that a search tries, at most; ``searches`` for each, with different seeds
    large_steps_divisor   with more pairs than ``most_pairs`` so many times fewer neighbourhoods of the plan within the
                          bands reached are decided anew
    """

    least_step: float = number(0.004, least=1e-6, most=0.1)
    most_pairs: int = number(2000, least=0)
    few_variables: int = number(180, least=0)
    nodes: int = number(1000, least=1)
    open_variables: int = number(140, least=2)
    steps: int = number(16, least=0)
    step_nodes: int = number(60, least=1)
    patience: int = number(4, least=1)
    cost_steps: int = number(1, least=1)
    tries: int = number(40, least=0)
    tries_of_side: int = number(6, least=0)
    searches: int = number(3, least=1)
    large_steps_divisor: int = number(4, least=1)
