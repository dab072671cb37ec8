"""Scores of a group's assignment."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kafka_assignors.arrays import ABSENT, Floats, Ints
from kafka_assignors.kernels import kernel


@dataclass(frozen=True, slots=True)
class ReaderMovement:
    """``moved_rate_ratio``: share of the rate that moves, ``None`` where a rate is unknown."""

    partitions_moved: int
    moved_rate_ratio: float | None


def reader_movement(before: Ints, after: Ints, in_bytes_per_s: Floats) -> ReaderMovement:
    moved = (before != ABSENT) & (before != after)
    total = float(in_bytes_per_s.sum())
    ratio = None if np.isnan(total) else float(in_bytes_per_s[moved].sum()) / total if total > 0 else 0.0
    return ReaderMovement(int(moved.sum()), ratio)


@dataclass(frozen=True, slots=True, eq=False)
class PartitionRates:
    """float64[P], ``nan`` where unknown. ``read_messages_per_s``: this group's rate since the previous snapshot."""

    in_bytes_per_s: Floats
    in_messages_per_s: Floats
    lag_messages: Floats
    read_messages_per_s: Floats = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        if not len(self.read_messages_per_s):
            object.__setattr__(self, "read_messages_per_s", np.full(len(self.lag_messages), np.nan))


@dataclass(frozen=True, slots=True)
class Evenness:
    """Skew = highest member over the mean, cv = standard deviation over the mean."""

    idle_members: int
    partitions_without_reader: int
    skew_count: float
    cv_count: float
    skew_rate: float | None
    cv_rate: float | None
    skew_lag: float | None
    partitions_moved: int
    moved_rate_ratio: float | None


def evenness(reader: Ints, today: Ints, member_count: int, rates: PartitionRates) -> Evenness:
    """``reader`` int32[P] against ``today``'s; ABSENT: none."""
    counts, rate, lag = _parts(reader, rates.in_bytes_per_s, rates.lag_messages, member_count)
    movement = reader_movement(today, reader, rates.in_bytes_per_s)
    skew_count, cv_count = _skew_and_cv(counts)
    skew_rate, cv_rate = _skew_and_cv(rate)
    skew_lag, _ = _skew_and_cv(lag)
    read = int(counts.sum())
    return Evenness(
        idle_members=member_count - int(np.count_nonzero(counts)),
        partitions_without_reader=len(reader) - read,
        skew_count=skew_count,
        cv_count=cv_count,
        skew_rate=_none_if_nan(skew_rate),
        cv_rate=_none_if_nan(cv_rate),
        skew_lag=_none_if_nan(skew_lag),
        partitions_moved=movement.partitions_moved,
        moved_rate_ratio=movement.moved_rate_ratio,
    )


def per_member(reader: Ints, values: Floats, member_count: int) -> Floats:
    """Sums by member, float64[M]; ``nan`` where one is unknown."""
    read = reader != ABSENT
    return np.bincount(reader[read], weights=values[read], minlength=member_count).astype(np.float64)


def _none_if_nan(value: float) -> float | None:
    return None if np.isnan(value) else value


@kernel
def _parts(reader: Ints, rates: Floats, lags: Floats, members: int) -> tuple[Floats, Floats, Floats]:
    count, rate, lag = np.zeros(members), np.zeros(members), np.zeros(members)
    for row in range(len(reader)):
        member = reader[row]
        if member != ABSENT:
            count[member] += 1
            rate[member] += rates[row]
            lag[member] += lags[row]
    return count, rate, lag


@kernel
def _skew_and_cv(loads: Floats) -> tuple[float, float]:
    total, highest = 0.0, 0.0
    for load in loads:
        total += load
        highest = max(highest, load)
    if not total > 0:
        return total, total
    mean, squares = total / len(loads), 0.0
    for load in loads:
        squares += (load - mean) ** 2
    return highest / mean, np.sqrt(squares / len(loads)) / mean
