"""Recorded cases of the Java runtime under the strategies: random draws and the order of hash maps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kafka_rebalance.arrays import Ints
from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.java.hash_order import DEFAULT_CAPACITY, PUT, REMOVE, order_after, set_copy_order
from kafka_rebalance.java.keys import optional_hash, topic_partition_hashes, uuid_columns, uuid_hash_codes
from kafka_rebalance.java.seeded_random import State, java_random, mock_random, next_bits, next_int, shuffle
from kafka_rebalance.java.strings import hash_codes
from kafka_rebalance.string_column import StringColumn

Input = Mapping[str, Any]
Output = dict[str, Any]


def answer_random(case: Input) -> Output:
    """``java_random``: what each operation draws."""
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
    """``java_hash_order``: iteration order after inserting, removing, inserting; hash codes; order of a copy."""
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
