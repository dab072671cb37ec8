"""Recorded cases of key arithmetic: partition of a record's key, partition of a group's id."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_rebalance.coordinator.group_partition import group_hash_codes, group_partitions
from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.partitioners.kafka_java import java_abs
from kafka_rebalance.partitioners.key_column import KeyColumn
from kafka_rebalance.partitioners.librdkafka import Hash, hashed_partitions
from kafka_rebalance.partitioners.murmur2 import murmur2_hashes, murmur2_partitions
from kafka_rebalance.partitioners.other_hashes import crc32_hashes, fnv1a_hashes
from kafka_rebalance.partitioners.sarama import default, reference
from kafka_rebalance.string_column import StringColumn

Input = Mapping[str, Any]
Output = dict[str, Any]


def answer_group(case: Input) -> Output:
    """``group_partition``."""
    groups = StringColumn.of([case["group"]])
    return {
        "hashCode": int(group_hash_codes(groups)[0]),
        "partition": int(group_partitions(groups, _partitions(case))[0]),
    }


def answer_producer(case: Input) -> Output:
    """``producer_partition``: hashes of one key, and its partition under each client."""
    keys, partitions = KeyColumn.of([bytes.fromhex(case["keyHex"])]), _partitions(case)
    murmur2 = murmur2_hashes(keys)
    java = int(murmur2_partitions(keys, partitions)[0])
    return {
        "murmur2": int(murmur2[0]),
        "toPositive": int(murmur2[0]) & 0x7FFFFFFF,
        "partition": java,
        # The first Java producer's abs is a mask: the same as today's.
        "partition_utils_abs_0_8_2": java,
        "partition_math_abs_guarded": int(java_abs(murmur2)[0]) % partitions,
        "crc32": int(crc32_hashes(keys)[0]),
        "partition_librdkafka_consistent": int(hashed_partitions(Hash.CRC32, keys, partitions)[0]),
        "fnv1a_u32": int(fnv1a_hashes(keys)[0]),
        "partition_sarama_default": int(default().hashed(keys, partitions)[0]),
        "partition_fnv1a_toPositive": int(reference().hashed(keys, partitions)[0]),
        "partition_librdkafka_fnv1a": int(hashed_partitions(Hash.FNV1A, keys, partitions)[0]),
    }


def _partitions(case: Input) -> int:
    count = int(case["numPartitions"])
    if count <= 0:
        raise InvalidInputError.at("numPartitions", str(count), "one or more")
    return count
