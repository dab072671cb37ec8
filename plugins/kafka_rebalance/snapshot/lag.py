"""The lag of committed offsets: how many messages come after them."""

from __future__ import annotations

import numpy as np

from kafka_rebalance.arrays import Longs
from kafka_rebalance.snapshot.partition_table import UNKNOWN_OFFSET

UNKNOWN_LAG = -1


def lag_messages(reported: Longs, end: Longs, committed: Longs) -> Longs:
    """Return int64 along the offsets: the lag as the broker reported it, else the end minus the committed offset.

    Never below 0: an offset past the end has nothing behind it. ``reported`` and the result may be UNKNOWN_LAG, ``end``
    UNKNOWN_OFFSET.
    """
    counted = np.where(end == UNKNOWN_OFFSET, UNKNOWN_LAG, np.maximum(end - committed, 0))
    return np.where(reported == UNKNOWN_LAG, counted, reported)
