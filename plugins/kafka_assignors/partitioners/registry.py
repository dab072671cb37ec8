"""Partitioners by name, imported on first use.

``register`` or an entry point of group ``kafka_rebalance.partitioners`` adds a custom one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points

from kafka_assignors.errors import UnknownNameError
from kafka_assignors.partitioners.contract import CustomPartitioner, CustomPartitionerAdapter, Partitioner

ENTRY_POINT_GROUP = "kafka_rebalance.partitioners"


@dataclass(frozen=True, slots=True)
class Registration:
    name: str
    versions: str
    target: str  # module:class or factory


BUILT_IN: tuple[Registration, ...] = (
    Registration("scala@0.8", "Kafka 0.8, Scala producer", "hashing:ScalaPartitioner"),
    Registration("java@0.8.2", "Kafka 0.8.2, Java producer", "hashing:as_of_0_8_2"),
    Registration("default@0.9", "Kafka 0.9 – 2.3", "hashing:RoundRobinWithoutKey"),
    Registration("default@2.4", "Kafka 2.4 – 3.2", "hashing:StickyWithoutKey"),
    Registration("default", "Kafka 3.3 – 4.4", "hashing:BuiltInPartitioner"),
    Registration("roundrobin", "Kafka 2.4 – 4.4", "hashing:RoundRobinPartitioner"),
    Registration("uniform-sticky@2.4", "Kafka 2.4 – 3.9", "hashing:uniform_sticky_partitioner"),
    Registration("librdkafka-consistent", "librdkafka 1.x – 2.x", "hashing:consistent"),
    Registration("librdkafka-consistent-random", "librdkafka 1.x – 2.x", "hashing:consistent_random"),
    Registration("librdkafka-murmur2", "librdkafka 1.x – 2.x", "hashing:murmur2"),
    Registration("librdkafka-murmur2-random", "librdkafka 1.x – 2.x", "hashing:murmur2_random"),
    Registration("librdkafka-fnv1a", "librdkafka 1.x – 2.x", "hashing:fnv1a"),
    Registration("librdkafka-fnv1a-random", "librdkafka 1.x – 2.x", "hashing:fnv1a_random"),
    Registration("sarama-hash", "Sarama 1.x", "hashing:default"),
    Registration("sarama-reference", "Sarama 1.x", "hashing:reference"),
    Registration("sarama-crc", "Sarama 1.x", "hashing:crc"),
)

_REGISTRATIONS = {registration.name: registration for registration in BUILT_IN}
_LOADED: dict[str, Partitioner] = {}
_OWN: dict[str, Partitioner] = {}


def register(partitioner: Partitioner | CustomPartitioner) -> Partitioner:
    adapted = partitioner if isinstance(partitioner, Partitioner) else CustomPartitionerAdapter(partitioner)
    _OWN[adapted.name] = adapted
    return adapted


@contextmanager
def registered(*partitioners: Partitioner | CustomPartitioner) -> Iterator[None]:
    before = dict(_OWN)
    for partitioner in partitioners:
        register(partitioner)
    try:
        yield
    finally:
        _OWN.clear()
        _OWN.update(before)


def own_by_name(name: str) -> Partitioner:
    if name not in _OWN:
        raise UnknownNameError.among("custom partitioner", name, _OWN)
    return _OWN[name]


def by_name(name: str) -> Partitioner:
    """Custom first, then built-in, then entry points. Raises UnknownNameError."""
    if name in _OWN:
        return _OWN[name]
    if name in _LOADED:
        return _LOADED[name]
    if name in _REGISTRATIONS:
        module, _, attribute = _REGISTRATIONS[name].target.partition(":")
        loaded: Partitioner = getattr(import_module(f"kafka_assignors.partitioners.{module}"), attribute)()
        _LOADED[name] = loaded
        return loaded
    for point in entry_points(group=ENTRY_POINT_GROUP):
        if point.name == name:
            return register(point.load()())
    raise UnknownNameError.among("partitioner", name, names())


def names() -> tuple[str, ...]:
    points = (point.name for point in entry_points(group=ENTRY_POINT_GROUP))
    return tuple(dict.fromkeys((*_OWN, *_REGISTRATIONS, *points)))
