"""Movement: what changes between two assignments of readers, or between two placements of replicas.

Readers: a partition moves if it had a reader and has another one now. Replicas: every broker that is new in a list is
one move, as large as the leader's replica; an order that changes moves nothing, a new leader is a leader change.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kafka_rebalance.arrays import Floats

NOBODY = -1


@dataclass(frozen=True, slots=True)
class ReaderMovement:
    """``moved_rate_ratio`` is the share of the rate that moves, ``None`` where a rate is unknown."""

    partitions_moved: int
    moved_rate_ratio: float | None


@dataclass(frozen=True, slots=True)
class ReplicaMovement:
    """``bytes_to_move`` is ``None`` where the size of a partition that moves is unknown."""

    replica_moves: int
    leader_changes: int
    bytes_to_move: int | None


def reader_movement(
    before: npt.NDArray[np.int32], after: npt.NDArray[np.int32], in_bytes_per_s: Floats
) -> ReaderMovement:
    """``before``, ``after`` int32[P]: the reader of each partition, NOBODY where there is none."""
    moved = (before != NOBODY) & (before != after)
    total = float(in_bytes_per_s.sum())
    ratio = None if np.isnan(total) else float(in_bytes_per_s[moved].sum()) / total if total > 0 else 0.0
    return ReaderMovement(int(moved.sum()), ratio)


def replica_movement(
    before: npt.NDArray[np.int32],
    after: npt.NDArray[np.int32],
    leaders_before: npt.NDArray[np.int32],
    leaders_after: npt.NDArray[np.int32],
    log_bytes: Floats,
) -> ReplicaMovement:
    """Replica lists int32[P, W], padded with NOBODY (W may differ), and leaders int32[P] of P partitions.

    ``log_bytes`` float64[P]: the leader's replica, ``nan`` where unknown. O(P·W²).
    """
    was_there = (after[:, :, None] == before[:, None, :]).any(axis=2)
    added = ((after != NOBODY) & ~was_there).sum(axis=1)
    size = float((added * log_bytes)[added > 0].sum())
    return ReplicaMovement(
        int(added.sum()), int((leaders_before != leaders_after).sum()), None if np.isnan(size) else round(size)
    )
