import numpy as np
import pytest

from kafka_rebalance.key_tally.plan import Identities, hash_identities, key_identities
from kafka_rebalance.key_tally.tally import DifferentKeys
from tests.sample import for_each
from tests.unit.key_tally.samples import KeyColumn, skewed


def sampled(identity: Identities, size: int, batches: int = 4) -> DifferentKeys:
    keys = DifferentKeys.none(size)
    for part in np.array_split(identity, batches):
        keys, rows = keys.with_batch(part, np.ones(len(part), np.bool_))
        new = rows >= 0
        assert np.array_equal(part[rows[new]], keys.identity[new])
    return keys


@for_each("seed", range(10))
def test_it_holds_the_smallest_identities_of_all_parts(seed: int) -> None:
    draw = np.random.default_rng(seed)
    pool = draw.integers(0, 2**64, 20 + 150 * seed, dtype=np.uint64)
    parts = [draw.choice(pool, 900) for _ in range(3)]
    smallest = np.unique(np.concatenate(parts))[:64]
    whole, first, second, third = (sampled(part, 64) for part in (np.concatenate(parts), *parts))
    for keys in (whole, first.merged(second).merged(third), third.merged(first.merged(second))):
        assert np.array_equal(keys.identity, smallest)
        assert keys.is_exact == (len(np.unique(np.concatenate(parts))) <= 64)
        assert keys.estimate == whole.estimate


def test_estimates_are_within_their_error() -> None:
    """1,024 kept: standard error 1 / sqrt(1022) = 3.13 %. Of 20 estimates about 19 are within two of them."""
    within = 0
    for seed in range(20):
        true = 2_000 * (1 + seed)
        identity = hash_identities(np.random.default_rng(seed).permutation(2**20)[:true].astype(np.uint32))
        keys = sampled(identity, 1024)
        assert keys.standard_error == pytest.approx(0.0313, abs=1e-4)
        within += abs(keys.estimate / true - 1) < 2 * keys.standard_error
    assert within >= 17


def test_identities_of_keys_are_all_different_and_begin_anywhere() -> None:
    """Keys of every length that begin or end alike; a slice of a longer buffer has the identities of its keys."""
    keys = sorted(
        {b"a" * k for k in range(64)} | {b"\0" * k for k in range(64)} | {k for k in skewed(3, 4000, 3000) if k}
    )
    identity = key_identities(KeyColumn.of(keys))
    assert len(np.unique(identity)) == len(keys)
    whole = KeyColumn.of(keys)
    assert np.array_equal(key_identities(KeyColumn(whole.data, whole.offsets[100:201])), identity[100:200])
    buckets = np.bincount((identity >> np.uint64(60)).astype(np.int64), minlength=16)
    assert buckets.min() > 0.5 * len(keys) / 16
