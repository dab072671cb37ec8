import numpy as np
import pytest

from kafka_assignors.errors import AssignorError, InvalidInputError, UnknownNameError
from kafka_assignors.partitioners.contract import Partitioner, RecordSample, TopicTarget
from kafka_assignors.partitioners.hashing import BuiltInPartitioner, adaptive_weights
from kafka_assignors.partitioners.key_column import KeyColumn
from kafka_assignors.partitioners.registry import BUILT_IN, by_name, names, registered
from tests.sample import for_each

KEYS = [b"21", b"", None, b"foobar", None, b"key"]


def sample(keys: list[bytes | None], record_bytes: int = 100) -> RecordSample:
    return RecordSample(KeyColumn.of(keys), np.full(len(keys), record_bytes, np.int64))


def places(name: str, keys: list[bytes | None], partitions: int = 10, seed: int = 1, **target: object) -> list[int]:
    return by_name(name).partition(sample(keys), TopicTarget(partitions, **target), seed).tolist()


@for_each("registration", BUILT_IN)
def test_every_listed_partitioner_answers_within_the_topic_and_repeats_itself(registration) -> None:
    partitioner = by_name(registration.name)
    assert isinstance(partitioner, Partitioner)
    assert (partitioner.name, partitioner.versions) == (registration.name, registration.versions)
    once = places(registration.name, KEYS * 50)
    assert once == places(registration.name, KEYS * 50)
    assert set(once) <= set(range(10))


@pytest.mark.parametrize("name", ["java@0.8.2", "default@0.9", "default@2.4", "default", "librdkafka-murmur2-random"])
def test_all_java_clients_since_0_8_2_agree_on_keys_and_hash_the_empty_one(name: str) -> None:
    keyed = [key for key in KEYS if key is not None]
    assert places(name, keyed, 1000) == [340, 681, 166, places("default", [b"key"], 1000)[0]]


def test_librdkafkas_default_and_saramas_put_equal_keys_elsewhere() -> None:
    keys: list[bytes | None] = [b"user-%d" % i for i in range(200)]
    java, rdkafka, sarama = (places(n, keys) for n in ("default", "librdkafka-consistent-random", "sarama-hash"))
    assert sum(a != b for a, b in zip(java, rdkafka, strict=True)) > 150
    assert sum(a != b for a, b in zip(rdkafka, sarama, strict=True)) > 150
    assert places("sarama-crc", keys) == rdkafka


def test_librdkafka_says_of_null_and_empty_keys_what_its_table_says() -> None:
    keys: list[bytes | None] = [None, b""] * 100
    assert set(places("librdkafka-consistent", keys)) == {0}
    assert len(set(places("librdkafka-consistent-random", keys))) == 10
    assert len(set(places("librdkafka-murmur2", keys))) == 1
    drawn = places("librdkafka-murmur2-random", keys)
    assert len(set(drawn[::2])) == 10
    assert set(drawn[1::2]) == {0x106E08D9 % 10}


def test_scala_0_8_takes_the_hash_code_of_the_text() -> None:
    assert places("scala@0.8", [b"polygenelubricants", "é".encode(), b"Ab"], 50) == [0, 0xE9 % 50, 2113 % 50]


def test_scala_0_8_reads_keys_that_are_no_text_without_failing() -> None:
    assert places("scala@0.8", [b"\xff\xf0", b"a"], 50)[1] == 97 % 50


def test_round_robin_without_key_visits_every_available_partition() -> None:
    available = np.array([True, False, True, True])
    assert sorted(places("default@0.9", [None] * 6, 4, is_available=available)) == [0, 0, 2, 2, 3, 3]


def test_round_robin_partitioner_passes_over_partitions_where_batches_open() -> None:
    assert set(places("roundrobin", [None] * 20, 2)) == {1}
    assert set(places("roundrobin", [None] * 20, 3, batch_bytes=100)) == {0, 1, 2}


def test_sticky_changes_to_another_partition_when_the_batch_is_full() -> None:
    stuck = places("default@2.4", [None] * 40, 3, batch_bytes=1000)
    runs = [stuck[i] for i in range(len(stuck)) if i == 0 or stuck[i] != stuck[i - 1]]
    assert [len(set(stuck[i : i + 10])) for i in range(0, 40, 10)] == [1, 1, 1, 1]
    assert len(runs) == 4


def test_one_available_partition_takes_everything() -> None:
    available = np.array([False, True, False])
    for name in ("default@2.4", "default", "default@0.9", "librdkafka-consistent-random"):
        assert set(places(name, [None] * 50, 3, is_available=available, batch_bytes=100)) == {1}


def test_uniform_sticky_changes_after_a_full_batch_or_twice_its_bytes() -> None:
    stuck = by_name("default").partition(sample([None] * 60, 400), TopicTarget(50, batch_bytes=1000), 4).tolist()
    assert [stuck[i : i + 5].count(stuck[i]) for i in range(0, 60, 5)] == [5] * 12


def test_adaptive_weights_are_those_of_kafkas_own_test() -> None:
    assert adaptive_weights(np.array([5, 0, 3, 0, 1]), 5).tolist() == [1, 7, 10, 16, 21]
    assert adaptive_weights(np.array([2, 2]), 2).tolist() == []
    assert adaptive_weights(np.array([2, 2]), 3).tolist() == [1, 2]
    assert adaptive_weights(np.array([9]), 1).tolist() == []


def test_adaptive_partitioning_prefers_short_queues() -> None:
    target = TopicTarget(2, queue_sizes=np.array([9, 0]), batch_bytes=100)
    counts = np.bincount(BuiltInPartitioner().partition(sample([None] * 4000), target, 3), minlength=2)
    assert 7 < counts[1] / counts[0] < 14


def test_ones_own_partitioner_is_registered_by_name_and_its_answers_are_checked() -> None:
    class ByFirstByte:
        name = "by-first-byte"

        def partition_of(self, key: bytes | None, partitions: int) -> int:
            return key[0] % partitions if key else 0

    class Beyond:
        name = "beyond"

        def partition_of(self, key: bytes | None, partitions: int) -> int:
            return partitions

    with registered(ByFirstByte(), Beyond()):
        assert "by-first-byte" in names()
        assert places("by-first-byte", [b"a", None, b"b", b""]) == [97 % 10, 0, 98 % 10, 0]
        with pytest.raises(AssignorError, match="UnknownPartition: answers 10 for key b'a', not 0 … 9"):
            by_name("beyond").partition(sample([b"a"]), TopicTarget(10))
    assert "beyond" not in names()


def test_an_unknown_name_says_which_there_are() -> None:
    with pytest.raises(UnknownNameError, match="sarama-reference"):
        by_name("nobody")


@pytest.mark.parametrize("wrong", [{"partitions": 0}, {"partitions": 2, "is_available": np.array([True])}], ids=str)
def test_a_target_that_contradicts_itself_is_refused(wrong: dict) -> None:
    with pytest.raises(InvalidInputError):
        TopicTarget(**wrong)
