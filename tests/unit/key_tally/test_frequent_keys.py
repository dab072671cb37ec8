import random
from collections import Counter
from itertools import pairwise

import numpy as np

from kafka_assignors.arrays import Longs
from kafka_rebalance.key_tally.plan import Identities
from kafka_rebalance.key_tally.tally import FrequentKeys
from tests.sample import for_each


def drawn(seed: int, records: int, different: int) -> Identities:
    draw = random.Random(seed)
    return np.array(
        [int(different * draw.random() ** 3) * 0x9E3779B97F4A7C15 % 2**64 for _ in range(records)], np.uint64
    )


def counted(identity: Identities, capacity: int, batches: int = 3) -> FrequentKeys:
    keys = FrequentKeys.none(capacity)
    for part in np.array_split(identity, batches):
        keys, _ = keys.counted(part, np.ones(len(part), np.bool_))
    return keys


def require_promises(keys: FrequentKeys, identity: Identities) -> None:
    """counter <= true count <= counter + error <= counter + 2 * records / capacity, of every key there is."""
    truth = Counter(identity.tolist())
    result = dict(zip(keys.identity.tolist(), keys.records.tolist(), strict=True))
    assert result.keys() <= truth.keys()
    for key, count in truth.items():
        assert result.get(key, 0) <= count <= result.get(key, 0) + keys.error
    assert keys.total == len(identity)
    assert keys.error <= 2 * len(identity) / keys.capacity
    assert len(result) <= keys.capacity
    assert all(first < other for first, other in pairwise(keys.identity.tolist()))


@for_each("seed", range(12))
def test_every_count_lies_between_the_bounds_also_after_merging(seed: int) -> None:
    capacity = (4, 16, 64)[seed % 3]
    parts = [drawn(100 * seed + part, 700 * (part + 1), 40 * (seed + 1)) for part in range(3)]
    tables = [counted(part, capacity) for part in parts]
    for table, part in zip(tables, parts, strict=True):
        require_promises(table, part)
    for order in ((0, 1, 2), (2, 0, 1)):
        first, *rest = (tables[k] for k in order)
        for table in rest:
            first = first.merged(table)
        require_promises(first, np.concatenate(parts))


def test_up_to_the_capacity_counts_are_exact() -> None:
    identity = drawn(5, 3000, 60)
    table = counted(identity, 64)
    assert table.error == 0
    truth = Counter(identity.tolist())
    assert dict(zip(table.identity.tolist(), table.records.tolist(), strict=True)) == truth


def test_a_cut_by_hand() -> None:
    """Two counters. a a a b fill them; c subtracts the upper median 3; c ends at 2. a: at least 0, at most 3."""
    a, b, c = 10, 20, 30
    table, rows = FrequentKeys.none(2).counted(np.array([a, a, a, b, c, c], np.uint64), np.ones(6, np.bool_))
    assert (table.identity.tolist(), table.records.tolist(), table.error) == ([c], [2], 3)
    assert rows.tolist() == [4]


def test_rows_tell_where_a_new_key_came_from_and_what_is_not_counted_leaves_no_trace() -> None:
    table, _ = FrequentKeys.none(8).counted(np.array([7, 5], np.uint64), np.array([True, True]))
    table, rows = table.counted(np.array([9, 5, 6, 9], np.uint64), np.array([True, True, False, True]))
    assert table.identity.tolist() == [5, 7, 9]
    assert table.records.tolist() == [2, 1, 2]
    assert rows.tolist() == [-1, -1, 0]


def same(longs: Longs, other: Longs) -> bool:
    return bool(np.array_equal(longs, other))


def test_keys_that_share_a_slot_are_told_apart() -> None:
    """All have the same lower bits, so that every search goes past the others."""
    identity = np.array([k << 40 for k in range(1, 9)] * 3, np.uint64)
    table = counted(identity, 8, batches=1)
    assert same(table.records, np.full(8, 3))
