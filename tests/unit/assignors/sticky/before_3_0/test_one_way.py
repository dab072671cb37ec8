from __future__ import annotations

import numpy as np

from kafka_assignors.sticky.before_3_0 import put_moved_first
from tests.unit.assignors.groups import frozen


def test_rows_that_another_member_had_before_stand_first_in_their_own_order() -> None:
    """Member 0 holds 4 2 0, member 1 holds 3 1. Moved are 0, 3 and 2, in this order."""
    ordered = put_moved_first(
        frozen([0, 3, 5]), np.array([4, 2, 0, 3, 1], np.int32), np.array([0, 3, 2], np.int32), np.full(5, -1, np.int32)
    )
    assert ordered.tolist() == [0, 2, 4, 3, 1]
