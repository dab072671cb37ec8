from __future__ import annotations

import zlib

from kafka_assignors.partitioners import hashing
from kafka_assignors.partitioners.contract import CustomPartitionerAdapter, RecordSample, TopicTarget
from kafka_assignors.partitioners.key_column import KeyColumn

KEYS = [b"a", b"ab", b"order-1", b"", None]


def sample(*keys: bytes | None) -> RecordSample:
    return RecordSample.of_keys(KeyColumn.of(keys))


def fnv1a(key: bytes) -> int:
    code = 0x811C9DC5
    for byte in key:
        code = (code ^ byte) * 0x01000193 % 2**32
    return code


def test_librdkafkas_consistent_takes_the_crc() -> None:
    result = hashing.consistent().partition(sample(*KEYS[:3]), TopicTarget(7))
    assert result.tolist() == [zlib.crc32(key) % 7 for key in (b"a", b"ab", b"order-1")]
    hashed = hashing.hashed_partitions(hashing.consistent().hash, KeyColumn.of(KEYS[:3]), 7)
    assert hashed.tolist() == result.tolist()


def test_by_lot_is_by_seed_and_only_without_a_key() -> None:
    some = hashing.consistent_random()
    first, again = (some.partition(sample(*KEYS), TopicTarget(7), seed=3).tolist() for _ in range(2))
    assert first == again
    assert first[:3] == [zlib.crc32(key) % 7 for key in (b"a", b"ab", b"order-1")]
    assert 0 <= first[4] < 7


def test_saramas_hash_is_signed() -> None:
    """FNV-1a as an int32; the default takes the amount of the remainder, the reference drops the sign first."""
    for key in (b"a", b"ab", b"order-1", b"x" * 50):
        signed = fnv1a(key) - 2**32 if fnv1a(key) >= 2**31 else fnv1a(key)
        remainder = abs(signed) % 7
        assert hashing.default().partition(sample(key), TopicTarget(7)).tolist() == [remainder]
        assert hashing.reference().partition(sample(key), TopicTarget(7)).tolist() == [(fnv1a(key) & 0x7FFFFFFF) % 7]


class ByLength:
    """Partition = length of the key."""

    name, versions = "by-length", "ours"

    def partition_of(self, key: bytes | None, partitions: int) -> int:
        return 0 if key is None else len(key) % partitions


def test_ones_own_is_asked_once_for_each_key() -> None:
    adapter = CustomPartitionerAdapter(ByLength())
    assert adapter.name == "by-length"
    assert adapter.partition(sample(*KEYS), TopicTarget(3)).tolist() == [1, 2, 1, 0, 0]
