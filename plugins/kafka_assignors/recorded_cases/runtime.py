from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kafka_assignors.arrays import Ints
from kafka_assignors.coordinator.membership import (
    Coordinator,
    GroupMember,
    Membership,
    group_hash_codes,
    group_partitions,
)
from kafka_assignors.errors import InvalidInputError
from kafka_assignors.java.hash_order import DEFAULT_CAPACITY, PUT, REMOVE, order_after, set_copy_order
from kafka_assignors.java.keys import optional_hash, topic_partition_hashes, uuid_columns, uuid_hash_codes
from kafka_assignors.java.seeded_random import State, java_random, mock_random, next_bits, next_int, shuffle
from kafka_assignors.java.strings import hash_codes
from kafka_assignors.partitioners.hashing import (
    Hash,
    crc32_hashes,
    default,
    fnv1a_hashes,
    hashed_partitions,
    java_abs,
    murmur2_hashes,
    murmur2_partitions,
    reference,
)
from kafka_assignors.partitioners.key_column import KeyColumn
from kafka_assignors.string_column import StringColumn

Input = Mapping[str, Any]
Output = dict[str, Any]


def answer_random(case: Input) -> Output:
    seed = int(case["seed"])
    random = mock_random(seed) if case.get("random") == "MockRandom" else java_random(seed)
    return {"out": [_draw(random, *operation) for operation in case["ops"]]}


def _draw(random: State, operation: str, bound: int = 0) -> int | list[int]:
    if operation == "next":
        return int(next_bits(random, 32))
    if operation == "nextInt" and bound > 0:
        return int(next_int(random, bound))
    if operation == "shuffle":
        values = np.arange(bound, dtype=np.int32)
        shuffle(random, values)
        return values.tolist()
    raise InvalidInputError.at("ops", f"{operation!r} with {bound}", "next, nextInt (bound above 0) or shuffle (size)")


def answer_hash_order(case: Input) -> Output:
    history = [(PUT, key) for key in case["insert"]]
    history += [(REMOVE, key) for key in case.get("remove", ())]
    history += [(PUT, key) for key in case.get("insert2", ())]
    keys: dict[Any, Any] = {}
    for _, key in history:
        keys.setdefault(_hashable(key), key)
    index = {key: i for i, key in enumerate(keys)}
    listed = list(keys.values())
    hashes = _hashes(case["kind"], listed)
    order = order_after(
        hashes,
        np.array([step for step, _ in history], np.int8),
        np.array([index[_hashable(key)] for _, key in history], np.int32),
        max(1, int(case["capacity"])) if "capacity" in case else DEFAULT_CAPACITY,
    )
    return {
        "order": [listed[i] for i in order],
        "hashCodes": hashes[order].tolist(),
        "hashSetCopyOrder": [listed[i] for i in order[set_copy_order(hashes[order])]],
    }


def _hashable(key: Any) -> Any:
    return tuple(key) if isinstance(key, list) else key


def _hashes(kind: str, keys: list[Any]) -> Ints:
    match kind:
        case "string":
            column = StringColumn.of(keys)
            return np.asarray(hash_codes(column.data, column.offsets))
        case "optstring":
            return np.array([optional_hash(key) for key in keys], np.int32)
        case "int":
            return np.array(keys, np.int32)
        case "uuid":
            return np.asarray(uuid_hash_codes(*uuid_columns(keys)))
        case "tp":
            column = StringColumn.of(topic for topic, _ in keys)
            partitions = np.array([partition for _, partition in keys], np.int32)
            return topic_partition_hashes(hash_codes(column.data, column.offsets), partitions)
    raise InvalidInputError.at("kind", f"{kind!r}", "string, optstring, int, uuid or tp")


def answer_group(case: Input) -> Output:
    groups = StringColumn.of([case["group"]])
    return {
        "hashCode": int(group_hash_codes(groups)[0]),
        "partition": int(group_partitions(groups, _partitions(case))[0]),
    }


def answer_producer(case: Input) -> Output:
    keys, partitions = KeyColumn.of([bytes.fromhex(case["keyHex"])]), _partitions(case)
    murmur2 = murmur2_hashes(keys)
    java = int(murmur2_partitions(keys, partitions)[0])
    return {
        "murmur2": int(murmur2[0]),
        "toPositive": int(murmur2[0]) & 0x7FFFFFFF,
        "partition": java,
        # Its abs is a mask, as today's.
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


def answer_vote(coordinator: str, case: Input) -> Output:
    group = Membership.empty(Coordinator(coordinator))
    trace = []
    for step in case["ops"]:
        result: Output = {}
        if step["op"] == "elect":
            group, result["elected"] = group.elected()
        else:
            group = _after(group, step)
        order = group.order()
        trace.append({**result, "leader": group.leader, "protocol": group.vote().winner, "memberOrder": list(order)})
    return {"trace": trace}


def _after(group: Membership, step: Mapping[str, Any]) -> Membership:
    match step["op"]:
        case "join":
            strategies = tuple(step["protocols"])
            return group.joined(GroupMember(step["id"], strategies, bool(step["waiting"]), step.get("instanceId")))
        case "rejoin":
            return group.rejoined(step["id"], step["protocols"])
        case "leave":
            return group.without(step["id"])
        case "replace":
            return group.replaced(step["old"], step["new"])
        case "complete":
            return group.completed()
    raise InvalidInputError.at("ops", f"{step['op']!r}", "join, rejoin, leave, replace, elect or complete")
