"""The planner's result: a placement, its cost, its lower bounds, and what had to be widened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kafka_rebalance.arrays import Floats, Ints
from kafka_rebalance.planner.statistics import NOTHING_DONE, SearchStatistics


@dataclass(frozen=True, slots=True)
class PlanCost:
    """Bytes = new copies × the leader's replica size; moves = new copies; leader changes = new leader ≠ old leader."""

    bytes: float
    replica_moves: int
    leader_changes: int


@dataclass(frozen=True, slots=True)
class LowerBound:
    """No plan that meets the same rules and bands costs less than ``value``; ``proof`` says why, in words."""

    value: float
    proof: str

    def gap(self, cost: float) -> float:
        """(cost - bound) / bound; 0 where both are 0, inf where only the bound is."""
        if self.value > 0:
            return (cost - self.value) / self.value
        return 0.0 if cost <= 0 else float("inf")


@dataclass(frozen=True, slots=True, eq=False)
class PriceCertificate:
    """Multipliers that anybody can check: ``prices`` float64[B, D], bytes per unit of load, >= 0 where a broker is
    above its band, <= 0 where it is below. The bound on bytes is

        sum over partitions of min over allowed placements (bytes copied + sum of prices · load placed)
        - sum over brokers of (prices⁺ · band_high - prices⁻ · band_low)        (weak duality)
    """

    prices: Floats
    value: float


@dataclass(frozen=True, slots=True)
class Bounds:
    """One bound for each cost; ``parts`` holds every bound on bytes that was computed, by name of its proof."""

    bytes: LowerBound
    replica_moves: LowerBound
    leader_changes: LowerBound
    parts: Mapping[str, float] = field(default_factory=dict)
    certificate: PriceCertificate | None = None


@dataclass(frozen=True, slots=True)
class Widening:
    """A band that could not be met. Levels are multiples of the plain mean; ``cause`` is the smallest one found."""

    resource: str
    side: str  # "low" or "high"
    asked: float
    used: float
    broker: int  # index of the worst broker
    cause: str


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """A placement and its proof.

    replicas   int32[P, W], leader first, then in the order of today's list; padded with -1; untouched rows unchanged
    leader     int32[P]
    band_low, band_high  float64[B, D]: the bands that the plan meets (asked ones, widened where ``widened`` says)
    before, after        float64[B, D]: loads
    topic_excess         replicas above ⌈topic's replicas / brokers that stay⌉ on one broker, before and after
    statistics           work done, by phase
    is_cut_short         what its budget allows; without one more would have been done
    """

    replicas: Ints
    leader: Ints
    cost: PlanCost
    bounds: Bounds
    band_low: Floats
    band_high: Floats
    before: Floats
    after: Floats
    topic_excess: tuple[int, int]
    widened: tuple[Widening, ...] = ()
    notes: tuple[str, ...] = ()
    statistics: SearchStatistics = NOTHING_DONE
    is_cut_short: bool = False
