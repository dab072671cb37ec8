"""The contract of every strategy, built-in or one's own: columns in, columns out, one method."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from kafka_rebalance.assignors.assignment import Assignment, StickyNotes, Withheld
from kafka_rebalance.assignors.request import (
    NO_GENERATION,
    NO_METADATA,
    NO_RACK,
    AssignmentRequest,
    MapOrder,
    MemberColumns,
    TopicColumns,
)
from kafka_rebalance.string_column import StringColumn

__all__ = [
    "NO_GENERATION", "NO_METADATA", "NO_RACK", "Assignment", "AssignmentRequest", "Assignor", "MapOrder",
    "MemberColumns", "StickyNotes", "StringColumn", "TopicColumns", "Withheld",
]  # fmt: skip


@runtime_checkable
class Assignor(Protocol):
    """Decides which member reads which partition. Pure: same request, same answer.

    ``name`` is what groups or people call it, ``versions`` the releases whose answers it gives.
    ``assign`` raises AssignorError (with the Java class) where the real class throws, and EndlessReassignmentError
    where it would never return.
    """

    @property
    def name(self) -> str: ...

    @property
    def versions(self) -> str: ...

    def assign(self, request: AssignmentRequest) -> Assignment: ...
