"""Parameters of the model: what must be known of a cluster, and what CPU a byte costs."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_rebalance.parameters import Parameters, number


@dataclass(frozen=True, kw_only=True)
class CpuParams(Parameters):
    """CPU that a byte costs its broker, relative to each other; the values are those of Cruise Control's ModelUtils.

    ``leader_in``: written to a leader; ``leader_out``: sent by it; ``follower_in``: replicated.
    """

    leader_in: float = number(0.7, least=0.0)
    leader_out: float = number(0.15, least=0.0)
    follower_in: float = number(0.15, least=0.0)


@dataclass(frozen=True, kw_only=True)
class ModelParams(Parameters):
    """The model.

    least_known  share of the partitions of which a figure must be known for its resource to be balanced
    most_named   brokers in an error message
    """

    least_known: float = number(0.9, least=0.0, most=1.0)
    most_named: int = number(20, least=1)
    cpu: CpuParams = CpuParams()


DEFAULTS = ModelParams()
