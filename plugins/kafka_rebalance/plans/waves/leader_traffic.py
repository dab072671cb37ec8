"""What moves with leaders: clients of a partition follow its leader, and with them what they write and read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from kafka_rebalance.arrays import Flags, Floats, Longs


class LeaderFigures(TypedDict):
    """Fields of a ``Wave``."""

    leader_changes: int | None
    leader_in_bytes_per_s: float | None
    leader_out_bytes_per_s: float | None


@dataclass(frozen=True, slots=True, eq=False)
class LeaderTraffic:
    """``changes`` bool[M]; ``written``, ``read`` float64[M] bytes/s of each move's partition (nan: unknown);
    ``is_reported``: leader changes were limited, so waves say how many they have.
    """

    changes: Flags
    written: Floats
    read: Floats
    is_reported: bool

    def of_wave(self, members: Longs) -> LeaderFigures:
        """How many leaders change in a wave, and what its clients write to and read from those partitions."""
        changed = members[self.changes[members]]
        return LeaderFigures(
            leader_changes=len(changed) if self.is_reported else None,
            leader_in_bytes_per_s=_known_sum(self.written[changed]) if self.is_reported else None,
            leader_out_bytes_per_s=_known_sum(self.read[changed]) if self.is_reported else None,
        )


def _known_sum(rates: Floats) -> float | None:
    total = float(rates.sum())
    return None if np.isnan(total) else total
