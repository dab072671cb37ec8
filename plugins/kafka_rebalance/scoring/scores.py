"""Scores as rows: of brokers, racks, topics, groups and members, and after a failure (fields: the store's columns)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from kafka_assignors.arrays import Floats
from kafka_rebalance.facts import Fact

# Level, plain mean and skew of brokers, racks, replicas and members.
#
#     level      = load / capacity (capacity 1 where none is given)
#     plain mean = total load / total capacity
#     skew       = highest level / plain mean (0 where nothing is carried)
#
# Example: loads 6, 3, 0 on capacities 2, 1, 1: levels 3, 3, 0, plain mean 9/4, skew 4/3.


def plain_mean(load: Floats, capacity: Floats | None = None) -> float:
    total_capacity = float(len(load) if capacity is None else capacity.sum())
    return float(load.sum()) / total_capacity if total_capacity > 0 else 0.0


def skew(load: Floats, capacity: Floats | None = None) -> float:
    """Highest level over the mean; 0 without load."""
    mean = plain_mean(load, capacity)
    levels = load if capacity is None else load / capacity
    return float(levels.max()) / mean if mean > 0 else 0.0


@dataclass(frozen=True, slots=True)
class MemberScore:
    """A member that falls behind has no ``drain_seconds``."""

    group_id: str
    assignor: str
    is_current: bool
    is_advised: bool
    member_id: str
    instance_id: str | None
    rack: str | None
    partitions: int
    in_bytes_per_s: float | None
    in_messages_per_s: float | None
    lag_messages: int | None
    drain_seconds: float | None = None
    is_falling_behind: bool | None = None


@dataclass(frozen=True, slots=True)
class GroupScore:
    """One assignor on one group. ``error``: the reason for missing scores.

    ``least_skew``: lower bound on the skew of any assignment. A scenario's row is the variant (``subject``) of
    ``variants`` that moves most partitions. Counted from the strategy's own previous answer: ``partitions_moved``
    (``mean_partitions_moved`` over variants), ``partitions_revoked`` from surviving members, ``partitions_unread`` for
    a while, for ``longest_pause_ms`` (None: for ever, see ``partitions_without_reader``) and ``unread_partition_ms`` in
    total. ``drain_seconds`` is ``None`` where unknown, and where the lag never ends: then ``members_falling_behind`` is
    not ``None`` (0: only unread partitions).
    """

    group_id: str
    assignor: str
    version: Fact | None
    is_current: bool
    members: int
    partitions: int
    idle_members: int | None = None
    skew_count: float | None = None
    skew_rate: float | None = None
    skew_lag: float | None = None
    partitions_moved: int | None = None
    moved_rate_ratio: float | None = None
    same_rack_ratio: float | None = None
    drain_seconds: float | None = None
    is_advised: bool = False
    scenario: str = "today"
    error: Fact | None = None
    cv_count: float | None = None
    cv_rate: float | None = None
    least_skew_count: float | None = None
    least_skew_rate: float | None = None
    partitions_without_reader: int | None = None
    subject: Fact | None = None
    variants: int | None = None
    mean_partitions_moved: float | None = None
    partitions_revoked: int | None = None
    partitions_unread: int | None = None
    longest_pause_ms: int | None = None
    unread_partition_ms: int | None = None
    members_falling_behind: int | None = None
    leader_in_rack_ratio: float | None = None

    def document(self) -> dict[str, Any]:
        values = ((column.name, getattr(self, column.name)) for column in fields(self))
        return {name: value.document() if isinstance(value, Fact) else value for name, value in values}


@dataclass(frozen=True, slots=True)
class TopicPlacementScore:
    """Today's placement of a topic (``placer`` "current", seed 0) or a placer's. Skews: highest broker over the mean of
    allowed ones. Fields are the store's columns.
    """

    topic: str
    placer: str
    seed: int
    replica_skew: float
    leader_skew: float
    disk_skew: float | None
    replica_moves: int
    leader_changes: int
    bytes_to_move: int | None
    rack_violations: int | None


@dataclass(frozen=True, slots=True)
class BrokerScore:
    """``over_mean`` = level / plain mean; ``fair_share`` is a level."""

    broker: int
    rack: str | None
    resource: str
    unit: str
    load: float
    capacity: float | None
    level: float
    over_mean: float
    fair_share: float | None
    source: str | None
    stays: bool


@dataclass(frozen=True, slots=True)
class RackScore:
    rack: str
    resource: str
    unit: str
    brokers: int
    load: float
    capacity: float | None
    level: float
    over_mean: float


@dataclass(frozen=True, slots=True)
class ResourceScore:
    resource: str
    unit: str
    source: str | None
    known_share: float | None
    total: float
    plain_mean: float
    skew: float
    worst_broker: int | None


@dataclass(frozen=True, slots=True)
class ClusterScores:
    """``left_out``: reason for a resource without scores."""

    brokers: tuple[BrokerScore, ...]
    racks: tuple[RackScore, ...]
    resources: tuple[ResourceScore, ...]
    left_out: Mapping[str, Fact] = field(default_factory=dict)

    def resource(self, name: str) -> ResourceScore | None:
        return next((resource for resource in self.resources if resource.resource == name), None)

    def of_resource(self, name: str) -> tuple[BrokerScore, ...]:
        return tuple(broker for broker in self.brokers if broker.resource == name)


@dataclass(frozen=True, slots=True)
class Takeover:
    """``broker`` takes over ``leaders`` of ``lost`` (a broker's id or a rack). ``even_leaders``: mean over all brokers
    with an in-sync replica of them.
    """

    lost: str
    broker: int
    leaders: int
    even_leaders: int


@dataclass(frozen=True, slots=True)
class LoadAfterLoss:
    lost: str
    broker: int
    resource: str
    load: float
    capacity: float

    @property
    def ratio(self) -> float:
        return self.load / self.capacity


@dataclass(frozen=True, slots=True)
class WorstLoss:
    """``takeover`` furthest above even, None if no leader is taken over; ``load`` highest over capacity, None if no
    relevant capacity is known.
    """

    takeover: Takeover | None
    load: LoadAfterLoss | None


@dataclass(frozen=True, slots=True)
class Losses:
    """``rack``: None for one or no known rack."""

    broker: WorstLoss | None
    rack: WorstLoss | None


@dataclass(frozen=True, slots=True)
class AfterFailure:
    before: Losses
    after: Losses

    def document(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> AfterFailure:
        """Raises KeyError or TypeError for another document."""
        return cls(**{time: Losses(**_losses(document[time])) for time in ("before", "after")})


def _losses(document: Mapping[str, Any]) -> dict[str, WorstLoss | None]:
    return {kind: None if document[kind] is None else _worst(document[kind]) for kind in ("broker", "rack")}


def _worst(document: Mapping[str, Any]) -> WorstLoss:
    takeover, load = document["takeover"], document["load"]
    return WorstLoss(
        None if takeover is None else Takeover(**takeover), None if load is None else LoadAfterLoss(**load)
    )
