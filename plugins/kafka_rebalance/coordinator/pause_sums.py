"""What the pauses of one rebalance, or of several, come to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pauses:
    """Pauses in reading, and what was taken from readers that live on, counted once for each rebalance.

    ``partitions_unread``: nobody reads them for a while, or ever again. ``partitions_revoked``: a living member stopped
    reading them, whether it got them back or not. ``longest_pause_ms`` is None where one is read no more, and
    ``unread_partition_ms``, the sum over partitions, leaves such a one out.
    """

    partitions_unread: int
    partitions_revoked: int
    longest_pause_ms: int | None
    unread_partition_ms: int


NO_PAUSES = Pauses(0, 0, 0, 0)


def summed(all_pauses: Iterable[Pauses]) -> Pauses:
    """One after the other."""
    unread, revoked, unread_ms = 0, 0, 0
    longest: int | None = 0
    for pauses in all_pauses:
        unread += pauses.partitions_unread
        revoked += pauses.partitions_revoked
        unread_ms += pauses.unread_partition_ms
        is_endless = longest is None or pauses.longest_pause_ms is None
        longest = None if is_endless else max(longest or 0, pauses.longest_pause_ms or 0)
    return Pauses(unread, revoked, longest, unread_ms)


def added(one: Pauses, other: Pauses) -> Pauses:
    """One after the other."""
    return summed((one, other))


def scaled(pauses: Pauses, share: float) -> Pauses:
    """Of all, where those of ``share`` of them (more than 0, at most 1) are known; the longest is that of the known."""
    return Pauses(
        round(pauses.partitions_unread / share),
        round(pauses.partitions_revoked / share),
        pauses.longest_pause_ms,
        round(pauses.unread_partition_ms / share),
    )
