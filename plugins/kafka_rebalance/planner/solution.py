"""Result of the planner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kafka_assignors.arrays import Floats, Ints, Longs
from kafka_rebalance.facts import BoundProof, Fact


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchStatistics:
    """Moves by each step of the search, including rejected plans.

    released        evicted from brokers above their bands before anything else
    pushed          evicted as mixtures that fit
    finished        evicted by worth per cost; ``finished_hard``: with any fit
    pulled          fetched by brokers below their bands; ``pulled_hard``: with any fit
    neighbourhoods  programs that made a small cluster's plan cheaper
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
        return SearchStatistics(**{name: getattr(self, name) + getattr(other, name) for name in self.__slots__})

    @property
    def total(self) -> int:
        return sum(getattr(self, name) for name in self.__slots__)


NOTHING_DONE = SearchStatistics()


@dataclass(frozen=True, slots=True)
class PlanCost:
    """Bytes = new copies × the leader's replica size; leader changes = new leader ≠ old leader."""

    bytes: float
    replica_moves: int
    leader_changes: int


@dataclass(frozen=True, slots=True)
class LowerBound:
    """No plan with the same rules and bands costs less than ``value``."""

    value: float
    proof: BoundProof

    def gap(self, cost: float) -> float:
        """(cost - bound) / bound; 0 if both are 0, inf if only the bound is."""
        if self.value > 0:
            return (cost - self.value) / self.value
        return 0.0 if cost <= 0 else float("inf")


@dataclass(frozen=True, slots=True, eq=False)
class PriceCertificate:
    """Dual prices float64[B, D] that prove a bound on bytes (``bounds.proven_by``): per unit of load, >= 0 above a
    band, <= 0 below.
    """

    prices: Floats
    value: float


@dataclass(frozen=True, slots=True, eq=False)
class Cover:
    """Replicas too large for one broker together (``verify/bounds.py``): free ones that may stay, without rows
    ``gone``, and copies of rows ``come``. ``price`` >= 0: bytes per unit of resource ``column``.
    """

    broker: int
    column: int
    gone: Longs
    come: Longs
    price: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class CostProof:
    """Dual prices for a bound on moves or time; on bytes if there are ``covers``.

    Moves: a copy costs 1. Time: a byte costs ``receiving`` at its receiver and ``sending`` at today's leader; these sum
    to 1, and the busiest broker's bytes are at least any such mean.
    """

    prices: Floats
    receiving: Floats
    sending: Floats
    value: float
    covers: tuple[Cover, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class EvennessProof:
    """Best evenness within a budget (``linear_program/proofs.py``); imbalance per unit of load."""

    prices: Floats
    per_byte: float
    per_move: float
    per_leader_change: float
    value: float


@dataclass(frozen=True, slots=True)
class Bounds:
    """``parts``: bounds on bytes by proof. ``proofs``: of moves, ``seconds``; of ``bytes`` where covers prove more."""

    bytes: LowerBound
    replica_moves: LowerBound
    leader_changes: LowerBound
    parts: Mapping[str, float] = field(default_factory=dict)
    certificate: PriceCertificate | None = None
    proofs: Mapping[str, CostProof] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Widening:
    """Band that could not be met. Levels are multiples of the plain mean."""

    resource: str
    side: str  # "low" or "high"
    requested: float
    used: float
    broker: int  # index of the worst
    cause: Fact


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """Placement with its proof.

    replicas           int32[P, W], leader first, then in today's order; padded with -1; untouched rows unchanged
    band_low           to ``band_high``: the bands met, after widening
    topic_excess       replicas above ⌈topic's replicas / brokers that stay⌉, before and after
    is_cut_short       without the budget the plan would do more
    gave_way           resource whose band was relaxed → resources that come first
    is_outside_proved  no plan is inside all bands; are_caps_proved: none keeps the caps
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
