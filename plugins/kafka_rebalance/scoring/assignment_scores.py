"""What is scored of a group's assignment: each member's part, and how even the parts are (fields: store's columns)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kafka_rebalance.arrays import NOBODY, Floats, Ints
from kafka_rebalance.scoring.levels import known_skew, skew
from kafka_rebalance.scoring.movement import reader_movement


@dataclass(frozen=True, slots=True)
class MemberScore:
    """One member's part of one assignment; ``None`` is unknown. A member that falls behind has no ``drain_seconds``."""

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
    """One assignor on one group. ``error`` is the strategy's own refusal: then nothing else is said.

    ``drain_seconds`` is ``None`` where nobody knows, and where the lag is never gone: there ``members_falling_behind``
    is not ``None`` (0: only what nobody reads).
    """

    group_id: str
    assignor: str
    version: str | None
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
    error: str | None = None
    members_falling_behind: int | None = None
    leader_in_rack_ratio: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PartitionRates:
    """float64[P] of all partitions that a group reads, ``nan`` where unknown.

    ``read_messages_per_s``: how fast this group read each since the reading before; unknown where it is not given.
    """

    in_bytes_per_s: Floats
    in_messages_per_s: Floats
    lag_messages: Floats
    read_messages_per_s: Floats = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        if not len(self.read_messages_per_s):
            object.__setattr__(self, "read_messages_per_s", np.full(len(self.lag_messages), np.nan))


@dataclass(frozen=True, slots=True)
class Evenness:
    """How even one assignment is; skew = highest member over the mean of all members."""

    idle_members: int
    skew_count: float
    skew_rate: float | None
    skew_lag: float | None
    partitions_moved: int
    moved_rate_ratio: float | None


def evenness(reader: Ints, today: Ints, member_count: int, rates: PartitionRates) -> Evenness:
    """Of ``reader`` int32[P] (member of each partition, NOBODY: none) against ``today``'s. O(P + members).

    Partitions without a reader count for nobody: they make no member's part larger.
    """
    counts = per_member(reader, np.ones(len(reader)), member_count)
    movement = reader_movement(today, reader, rates.in_bytes_per_s)
    return Evenness(
        idle_members=int((counts == 0).sum()),
        skew_count=skew(counts),
        skew_rate=known_skew(per_member(reader, rates.in_bytes_per_s, member_count)),
        skew_lag=known_skew(per_member(reader, rates.lag_messages, member_count)),
        partitions_moved=movement.partitions_moved,
        moved_rate_ratio=movement.moved_rate_ratio,
    )


def per_member(reader: Ints, values: Floats, member_count: int) -> Floats:
    """float64[M]: sum of ``values`` float64[P] over each member's partitions; ``nan`` where one is unknown."""
    read = reader != NOBODY
    return np.bincount(reader[read], weights=values[read], minlength=member_count).astype(np.float64)
