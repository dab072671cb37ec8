import random

import numpy as np
import pytest

from kafka_assignors.errors import InvalidInputError, UnknownNameError
from kafka_assignors.partitioners.contract import RecordSample, TopicTarget
from kafka_assignors.partitioners.key_column import KeyColumn
from kafka_assignors.partitioners.registry import BUILT_IN, by_name
from kafka_rebalance.key_tally.plan import hashes_of, rule_of
from tests.sample import for_each

NOT_BY_KEY = ("roundrobin", "uniform-sticky@2.4")
BY_KEY = [known.name for known in BUILT_IN if known.name not in NOT_BY_KEY]


@for_each("name", BY_KEY)
def test_a_rule_answers_as_its_partitioner(name: str) -> None:
    """One partition more than records: what two seeds place alike goes by key, what they do not by lot."""
    draw = random.Random(name)
    keys = [None, b"", *(draw.randbytes(draw.randrange(1, 24)) for _ in range(500)), *(b"t%d" % i for i in range(500))]
    sample = RecordSample.of_keys(KeyColumn.of(keys))
    rule = rule_of(name)
    is_null = sample.keys.nulls
    is_by_lot = rule.is_by_lot(is_null, (sample.keys.lengths == 0) & ~is_null)
    for partitions in (1, 12, 1009, 999_983):
        first, other = (by_name(name).partition(sample, TopicTarget(partitions), seed) for seed in (1, 2))
        places = rule.places(hashes_of(rule.hash, sample.keys), partitions)
        assert np.array_equal(places[~is_by_lot], first[~is_by_lot])
        if partitions > len(keys):
            assert np.array_equal(is_by_lot, first != other)


def test_the_ends_of_the_range_of_hashes_are_placed_as_the_definitions_say() -> None:
    """|least int| is 2^31 for fnv1a, 0 for Java's text; crc32 has no sign; murmur2 loses it."""
    hashes = np.array([0, 1, 2**31 - 1, 2**31, 2**32 - 1], np.uint32)
    n = 1000
    assert rule_of("default").places(hashes, n).tolist() == [0, 1, 647, 0, 647]  # 2^31 - 1 = …647 twice
    assert rule_of("librdkafka-consistent").places(hashes, n).tolist() == [0, 1, 647, 648, 295]  # 2^32 - 1 = …295
    assert rule_of("librdkafka-fnv1a").places(hashes, n).tolist() == [0, 1, 647, 648, 1]  # 2^32 - 1 is -1
    assert rule_of("scala@0.8").places(hashes, n).tolist() == [0, 1, 647, 0, 1]
    assert rule_of("sarama-reference").places(hashes, n).tolist() == [0, 1, 647, 0, 647]


@pytest.mark.parametrize("name", NOT_BY_KEY)
def test_what_does_not_go_by_keys_is_refused(name: str) -> None:
    with pytest.raises(InvalidInputError, match=f"partitioner {name}: does not place records by a hash"):
        rule_of(name)


def test_an_unknown_name_is_told_with_those_there_are() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown partitioner 'javva'; known: .*librdkafka-fnv1a"):
        rule_of("javva")
