"""murmur2, toPositive, modulo: Kafka's over byte arrays, ours over one Arrow buffer with 32-bit offsets."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kafka_assignors.partitioners.hashing import murmur2_partitions
from kafka_assignors.partitioners.key_column import KeyColumn
from tests.benchmarks.java_side import JavaSide, side_by_side
from tests.benchmarks.server_inputs import mixed

KEYS = 1_000_000
PARTITIONS = 100
MIXED = -1
_ROUNDS = 5
# Key lengths, and how many times Kafka's speed is promised.
GOALS = {8: 1.0, 16: 3.0, 36: 1.0, MIXED: 1.0}


def key_lines(java: JavaSide) -> Iterator[str]:
    """The table."""
    yield "| keys | Kafka Mkeys/s | ours Mkeys/s | ours × Kafka | goal |"
    yield "|---|---|---|---|---|"
    for length, goal in GOALS.items():
        keys = keys_of(length)
        reported, ours = side_by_side(
            java, {"keyBytes": length, "keys": KEYS, "partitions": PARTITIONS}, _hashing(keys), _ROUNDS
        )
        places = murmur2_partitions(keys, PARTITIONS)
        numbers = (np.arange(KEYS, dtype=np.int64) << 32) ^ places.astype(np.int64)
        if int(mixed(numbers.view(np.uint64)).sum().view(np.int64)) != reported.checksum:
            raise AssertionError(f"keys of {length} bytes: the answers differ")
        name = f"{length} bytes" if length >= 0 else "0 – 40 bytes, mixed"
        speeds = f"{KEYS / reported.cpu_ms / 1e3:.1f} | {KEYS / ours / 1e3:.1f}"
        yield f"| {name} | {speeds} | {reported.cpu_ms / ours:.2f} | ≥ {goal:.0f} |"


def _hashing(keys: KeyColumn):
    return lambda: murmur2_partitions(keys, PARTITIONS)


def keys_of(length: int) -> KeyColumn:
    """A million keys of one length, or of 0 to 40 bytes."""
    rows = np.arange(KEYS, dtype=np.uint64)
    lengths = (mixed(rows) % np.uint64(41) if length < 0 else np.full(KEYS, length, np.uint64)).astype(np.int64)
    offsets = np.zeros(KEYS + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    within = np.arange(offsets[-1], dtype=np.uint64) - np.repeat(offsets[:-1], lengths).astype(np.uint64)
    return KeyColumn(mixed(np.repeat(rows, lengths) * np.uint64(1000) + within).astype(np.uint8), offsets)
