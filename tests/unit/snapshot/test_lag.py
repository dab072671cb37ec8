from __future__ import annotations

import numpy as np

from kafka_rebalance.snapshot.group import UNKNOWN_LAG, lag_messages
from kafka_rebalance.snapshot.partition_table import UNKNOWN_OFFSET


def test_a_reported_lag_wins_and_none_is_below_zero_or_made_up() -> None:
    reported = np.array([7, 0, UNKNOWN_LAG, UNKNOWN_LAG, UNKNOWN_LAG, 3])
    end = np.array([9, 9, 9, 9, UNKNOWN_OFFSET, UNKNOWN_OFFSET])
    committed = np.array([5, 5, 5, 12, 5, 5])
    assert lag_messages(reported, end, committed).tolist() == [7, 0, 4, 0, UNKNOWN_LAG, 3]
