import numpy as np
import pytest

from kafka_rebalance.planner.sorting import grouped_order


@pytest.mark.parametrize("keys", [1, 7, 65_536, 65_537, 200_000])
def test_indices_ascend_within_each_key(keys: int) -> None:
    """The last key is in use: 65,535 still fits two bytes, 65,536 does not."""
    key = np.random.default_rng(keys).integers(max(0, keys - 50), keys, 3_000).astype(np.int32)
    key[100] = keys - 1
    order = grouped_order(key, keys)
    assert order.tolist() == sorted(range(len(key)), key=lambda i: (key[i], i))
