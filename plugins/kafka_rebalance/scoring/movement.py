"""Movement between two assignments of readers: a partition moves if it had a reader and has another one now."""

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


def reader_movement(
    before: npt.NDArray[np.int32], after: npt.NDArray[np.int32], in_bytes_per_s: Floats
) -> ReaderMovement:
    """``before``, ``after`` int32[P]: the reader of each partition, NOBODY where there is none."""
    moved = (before != NOBODY) & (before != after)
    total = float(in_bytes_per_s.sum())
    ratio = None if np.isnan(total) else float(in_bytes_per_s[moved].sum()) / total if total > 0 else 0.0
    return ReaderMovement(int(moved.sum()), ratio)
