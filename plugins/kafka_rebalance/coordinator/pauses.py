"""INTERIM."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_rebalance.arrays import Ints
from kafka_rebalance.coordinator.timeline import Protocol, Times, Trigger


@dataclass(frozen=True, slots=True)
class Pauses:
    partitions_unread: int
    partitions_revoked: int
    longest_pause_ms: int | None
    unread_partition_ms: int


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    trigger: Trigger
    subject: int
    before: Ints
    after: Ints
    member_count: int
    is_static: bool = False


def pauses_of(protocol: Protocol, step: Step, times: Times) -> Pauses:
    return Pauses(0, 0, 0, 0)


def added(a: Pauses, b: Pauses) -> Pauses:
    return a


def scaled(a: Pauses, share: float) -> Pauses:
    return a
