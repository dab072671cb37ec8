"""Parts of a plan decided anew for what costs most."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_rebalance.parameters import Parameters, number


@dataclass(frozen=True, kw_only=True)
class SteeringParams(Parameters):
    """Plans made better by the cost that comes first, part by part in whole numbers, on small clusters.

    steps, patience      parts decided at most, and in a row that bring nothing
    partitions, led      that one part leaves open, and of which it leaves the leader open
    most_brokers         that new replicas of one part may come to
    gap, nodes           a part is decided to this share of its cost, or when so many nodes were seen
    row_slack            as of ``NeighbourhoodParams``
    others               what a cost that does not come first counts beside the first, both over their bounds
    least_saving         a share of a cost that is worth taking another plan for
    undecided_partitions partitions that hardly care are taken among so many, more or less
    """

    steps: int = number(2, least=0)
    patience: int = number(1, least=1)
    partitions: int = number(110, least=1)
    led: int = number(30, least=0)
    most_brokers: int = number(12, least=2)
    gap: float = number(0.1, least=0.0, most=1.0)
    nodes: int = number(2, least=1)
    row_slack: float = number(2e-6, least=0.0)
    others: float = number(0.05, least=0.0)
    least_saving: float = number(1e-4, least=0.0)
    undecided_partitions: float = number(300.0, least=1.0)
