"""A proved cause: the fact, what would help, and what is lacking where, for a reader who wants to check it."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_rebalance.arrays import Longs
from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.facts import Fact


@dataclass(frozen=True, slots=True, eq=False)
class Cause:
    """``lacking`` of ``resource`` on ``brokers`` (indices) together: with anything less no plan is lawful."""

    fact: Fact
    helps: Fact
    resource: str
    brokers: Longs
    lacking: float

    def error(self) -> InfeasibleError:
        """To be raised."""
        return InfeasibleError(self.fact, self.helps)
