"""The planner's result: a placement, its cost, its lower bounds, and what had to be widened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kafka_assignors.arrays import Floats, Ints, Longs
from kafka_rebalance.facts import BoundProof, Fact

# What a search did, by phase: counts, never seconds, so that the same search always has the same statistics.


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchStatistics:
    """Moves made, or given back, by each step of the search; of all that was tried, the plan answered or not.

    released             replicas sent away from brokers above their bands before anything else
    pushed               handed over by brokers above their bands, mixtures that fit
    finished             handed over by them, what is worth most per cost; ``finished_hard``: however ill it fits
    pulled               fetched by brokers below their bands; ``pulled_hard``: however ill it fits
    swapped              exchanges
    annealed             changes made while annealing
    leaders_changed      hand-overs of leaderships, and ``leaders_undone`` that proved needless
    neighbourhoods       programs that made a small cluster's plan cheaper
    """

    released: int = 0
    pushed: int = 0
    finished: int = 0
    finished_hard: int = 0
    pulled: int = 0
    pulled_hard: int = 0
    swapped: int = 0
    annealed: int = 0
    leaders_changed: int = 0
    leaders_undone: int = 0
    neighbourhoods: int = 0

    def __add__(self, other: SearchStatistics) -> SearchStatistics:
        """Of one search after the other."""
        return SearchStatistics(**{name: getattr(self, name) + getattr(other, name) for name in self.__slots__})

    @property
    def total(self) -> int:
        """All of them."""
        return sum(getattr(self, name) for name in self.__slots__)


NOTHING_DONE = SearchStatistics()


@dataclass(frozen=True, slots=True)
class PlanCost:
    """Bytes = new copies × the leader's replica size; moves = new copies; leader changes = new leader ≠ old leader."""

    bytes: float
    replica_moves: int
    leader_changes: int


@dataclass(frozen=True, slots=True)
class LowerBound:
    """No plan that meets the same rules and bands costs less than ``value``; ``proof`` says why."""

    value: float
    proof: BoundProof

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


@dataclass(frozen=True, slots=True, eq=False)
class Cover:
    """Replicas that do not fit on one broker (``verify/bounds.py``): the free ones that may stay there, without the
    rows ``gone`` int64, and copies of the rows ``come`` int64; ``column`` is the resource, ``price`` >= 0 what a unit
    of it is worth in bytes.
    """

    broker: int
    column: int
    gone: Longs
    come: Longs
    price: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class CostProof:
    """Multipliers that prove a bound on moves or on time, as ``PriceCertificate`` does on bytes; on bytes itself with
    ``covers`` beside the prices of loads.

    Moves: a copy costs 1. Time: a byte costs ``receiving`` float64[B] where it comes to and ``sending`` float64[B] at
    today's leader, together 1 over all brokers; the busiest broker's bytes, in or out, are no less than any such mean.
    ``value``: moves, or bytes that the busiest broker receives or sends, or all bytes.
    """

    prices: Floats
    receiving: Floats
    sending: Floats
    value: float
    covers: tuple[Cover, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class EvennessProof:
    """Multipliers that prove how even a plan within a budget can be at best (``linear_program/least_imbalance.py``):
    ``prices`` float64[B, D], imbalance per unit of load, and what a byte, a move and a leader change are charged.
    """

    prices: Floats
    per_byte: float
    per_move: float
    per_leader_change: float
    value: float


@dataclass(frozen=True, slots=True)
class Bounds:
    """One bound for each cost; ``parts`` holds every bound on bytes that was computed, by name of its proof.

    ``proofs``: of costs beside the bytes, ``replica_moves`` and ``seconds``, where they were looked for and found, and
    of ``bytes`` where covers prove more than the certificate.
    """

    bytes: LowerBound
    replica_moves: LowerBound
    leader_changes: LowerBound
    parts: Mapping[str, float] = field(default_factory=dict)
    certificate: PriceCertificate | None = None
    proofs: Mapping[str, CostProof] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Widening:
    """A band that could not be met. Levels are multiples of the plain mean; ``cause`` is the smallest one found."""

    resource: str
    side: str  # "low" or "high"
    asked: float
    used: float
    broker: int  # index of the worst broker
    cause: Fact


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
    gave_way             resource whose band gave way → resources whose bands or caps it gave way to
    is_outside_proved    no plan is inside all bands; are_caps_proved: none keeps the caps (a program in whole numbers)
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
    statistics: SearchStatistics
    gave_way: Mapping[str, tuple[str, ...]]
    is_outside_proved: bool
    are_caps_proved: bool
    widened: tuple[Widening, ...] = ()
    notes: tuple[str, ...] = ()
    is_cut_short: bool = False
