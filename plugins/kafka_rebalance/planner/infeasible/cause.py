"""What a cause is: words for people, and what is lacking where, for whoever wants to check it."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_rebalance.arrays import Longs
from kafka_rebalance.errors import InfeasibleError


@dataclass(frozen=True, slots=True, eq=False)
class Cause:
    """``lacking`` of ``resource`` on ``brokers`` (indices) together: with anything less no plan is lawful."""

    text: str
    helps: str
    resource: str
    brokers: Longs
    lacking: float

    def error(self) -> InfeasibleError:
        """To be raised."""
        return InfeasibleError(self.text, self.helps)
