"""Which partitioners there are, for which clients and versions, and how one's own comes in.

Built-in ones are imported when first asked for. One's own is registered by ``register`` or by an entry point of group
``kafka_rebalance.partitioners`` that names the class.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points

from kafka_rebalance.errors import UnknownNameError
from kafka_rebalance.partitioners.contract import Partitioner
from kafka_rebalance.partitioners.own_partitioner import OwnPartitioner, OwnPartitionerAdapter

ENTRY_POINT_GROUP = "kafka_rebalance.partitioners"


@dataclass(frozen=True, slots=True)
class Listing:
    """A built-in partitioner: its name here, the client releases whose answers it gives, where its class is."""

    name: str
    versions: str
    target: str  # module:class or factory, in this package


BUILT_IN: tuple[Listing, ...] = (
    Listing("scala@0.8", "Kafka 0.8, Scala producer", "kafka_java:ScalaPartitioner"),
    Listing("java@0.8.2", "Kafka 0.8.2, Java producer", "kafka_java:as_of_0_8_2"),
    Listing("default@0.9", "Kafka 0.9 – 2.3", "kafka_java:RoundRobinWithoutKey"),
    Listing("default@2.4", "Kafka 2.4 – 3.2", "kafka_java:StickyWithoutKey"),
    Listing("default", "Kafka 3.3 – 4.3", "kafka_java:BuiltInPartitioner"),
    Listing("roundrobin", "Kafka 2.4 – 4.3", "kafka_java:RoundRobinPartitioner"),
    Listing("uniform-sticky@2.4", "Kafka 2.4 – 3.9", "kafka_java:uniform_sticky_partitioner"),
    Listing("librdkafka-consistent", "librdkafka 1.x – 2.x", "librdkafka:consistent"),
    Listing("librdkafka-consistent-random", "librdkafka 1.x – 2.x", "librdkafka:consistent_random"),
    Listing("librdkafka-murmur2", "librdkafka 1.x – 2.x", "librdkafka:murmur2"),
    Listing("librdkafka-murmur2-random", "librdkafka 1.x – 2.x", "librdkafka:murmur2_random"),
    Listing("librdkafka-fnv1a", "librdkafka 1.x – 2.x", "librdkafka:fnv1a"),
    Listing("librdkafka-fnv1a-random", "librdkafka 1.x – 2.x", "librdkafka:fnv1a_random"),
    Listing("sarama-hash", "Sarama 1.x", "sarama:default"),
    Listing("sarama-reference", "Sarama 1.x", "sarama:reference"),
    Listing("sarama-crc", "Sarama 1.x", "sarama:crc"),
)

_LISTINGS = {each.name: each for each in BUILT_IN}
_LOADED: dict[str, Partitioner] = {}
_OWN: dict[str, Partitioner] = {}


def register(partitioner: Partitioner | OwnPartitioner) -> Partitioner:
    """Add a partitioner of one's own under its ``name``; a second one of the same name replaces the first."""
    known = partitioner if isinstance(partitioner, Partitioner) else OwnPartitionerAdapter(partitioner)
    _OWN[known.name] = known
    return known


def by_name(name: str) -> Partitioner:
    """The partitioner of that name: one's own first, then built-in, then entry points.

    Raises UnknownNameError that lists what there is.
    """
    if name in _OWN:
        return _OWN[name]
    if name in _LOADED:
        return _LOADED[name]
    if name in _LISTINGS:
        module, _, attribute = _LISTINGS[name].target.partition(":")
        loaded: Partitioner = getattr(import_module(f"kafka_rebalance.partitioners.{module}"), attribute)()
        _LOADED[name] = loaded
        return loaded
    for point in entry_points(group=ENTRY_POINT_GROUP):
        if point.name == name:
            return register(point.load()())
    raise UnknownNameError.among("partitioner", name, names())


def names() -> tuple[str, ...]:
    """Every name that ``by_name`` knows."""
    points = (point.name for point in entry_points(group=ENTRY_POINT_GROUP))
    return tuple(dict.fromkeys((*_OWN, *_LISTINGS, *points)))
