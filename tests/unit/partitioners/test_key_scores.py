import numpy as np

from kafka_assignors.partitioners.contract import RecordSample, TopicTarget
from kafka_assignors.partitioners.key_column import KeyColumn
from kafka_assignors.partitioners.registry import by_name
from kafka_rebalance.key_tally.tally import disagreements, distinct_keys, hottest_keys, partition_load, remapped_ratio

DEFAULT = by_name("default")


def records(*keys: bytes | None, record_bytes: list[int] | None = None) -> RecordSample:
    column = KeyColumn.of(keys)
    return RecordSample(column, np.array(record_bytes or [10] * len(keys), np.int64))


def test_skew_counts_records_and_bytes_apart() -> None:
    sample = records(b"a", b"a", b"b", record_bytes=[1, 1, 98])
    load = partition_load(sample, TopicTarget(1), DEFAULT)
    assert (load.record_skew, load.byte_skew) == (1.0, 1.0)
    spread = partition_load(sample, TopicTarget(64), DEFAULT)
    assert spread.records.sum() == 3
    assert spread.record_skew == 64 * 2 / 3
    assert spread.byte_skew == 64 * 98 / 100


def test_an_empty_sample_is_even() -> None:
    load = partition_load(records(), TopicTarget(3), DEFAULT)
    assert (load.record_skew, load.byte_skew) == (1.0, 1.0)
    assert hottest_keys(records(), TopicTarget(3), DEFAULT) == ()
    assert remapped_ratio(records(None), DEFAULT, 3, 4) == 0.0


def test_keys_are_numbered_by_first_appearance_and_null_is_one_of_them() -> None:
    key_of, first = distinct_keys(KeyColumn.of([b"b", None, b"", b"b", b"a", None, b""]))
    assert key_of.tolist() == [0, 1, 2, 0, 3, 1, 2]
    assert first.tolist() == [0, 1, 2, 4]


def test_hottest_keys_come_with_their_share_and_place() -> None:
    sample = records(*[b"hot"] * 6, None, None, None, b"cold", record_bytes=[100] * 6 + [1] * 4)
    hot, none, cold = hottest_keys(sample, TopicTarget(10), DEFAULT)
    assert (hot.key, hot.records, hot.bytes, hot.record_ratio) == (b"hot", 6, 600, 0.6)
    assert hot.partition == DEFAULT.partition(records(b"hot"), TopicTarget(10))[0]
    assert (none.key, none.records, none.partition) == (None, 3, None)
    assert (cold.key, cold.records) == (b"cold", 1)


def test_doubling_partitions_remaps_about_half_of_the_keys() -> None:
    sample = records(*(b"key-%d" % i for i in range(2000) for _ in range(2)))
    assert 0.46 < remapped_ratio(sample, DEFAULT, 12, 24) < 0.54
    assert remapped_ratio(sample, DEFAULT, 12, 12) == 0.0


def test_clients_that_hash_otherwise_disagree_and_java_agrees_with_itself() -> None:
    sample = records(*(b"key-%d" % i for i in range(500)), None)
    clients = [by_name(name) for name in ("default", "default@0.9", "librdkafka-consistent-random")]
    shares = disagreements(sample, 10, clients)
    assert shares["default", "default@0.9"] == 0.0
    assert 0.8 < shares["default", "librdkafka-consistent-random"] < 1.0
