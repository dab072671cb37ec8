"""Strategies by name. Built-in classes are imported on first use: their kernels are slow to import.

``register`` or an entry point of group ``kafka_rebalance.assignors`` adds a custom assignor; every group is then
replayed with it. Shell and DAGs run custom assignors in another process (``rebalance_advisor.own_strategies``).
``BUILT_IN`` lists the newest release of a strategy and client first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from importlib import import_module
from importlib.metadata import entry_points
from itertools import chain
from types import MappingProxyType

import numpy as np

from kafka_assignors.arrays import Longs
from kafka_assignors.contract import NO_METADATA, AssignmentRequest, Assignor, MemberColumns, TopicColumns
from kafka_assignors.custom import CustomAssignor, CustomAssignorAdapter
from kafka_assignors.errors import UnknownNameError
from kafka_assignors.releases import Client, Releases, answering
from kafka_assignors.string_column import StringColumn


class Side(StrEnum):
    CLIENT = "client"  # the group's leader
    SERVER = "server"  # coordinator of a KIP-848 group
    SHARE = "share"  # coordinator of a share group
    METAQ = "metaq"  # each consumer for itself
    OWN = "own"


@dataclass(frozen=True, slots=True)
class Registration:
    """A name is the strategy and, behind ``@``, the difference from the newest Java class: the first release of its
    line, or the client.

    ``client`` owns the release numbers (Kafka for server-side strategies). ``own_protocol``: the name in the group's
    protocol where it is not the strategy's.
    """

    name: str
    side: Side
    releases: Releases
    target: str  # module:class
    client: Client = Client.JAVA
    own_protocol: str = ""

    @property
    def strategy(self) -> str:
        """Protocol name with most clients."""
        return self.name.partition("@")[0]

    @property
    def protocol(self) -> str:
        return self.own_protocol or self.strategy

    @property
    def versions(self) -> str:
        return str(self.releases)


Line = tuple[str, str, str, str]  # name, releases, target


def _java(*lines: Line) -> Iterator[Registration]:
    return _kafka(Side.CLIENT, *lines)


def _kafka(side: Side, *lines: Line) -> Iterator[Registration]:
    for name, first, last, target in lines:
        yield Registration(name, side, Releases("Kafka", first, last), target)


def _client(
    client: Client, first: str, last: str, *lines: tuple[str, str] | tuple[str, str, str]
) -> Iterator[Registration]:
    for name, target, *protocol in lines:
        releases = Releases(client.value, first, last)
        yield Registration(name, Side.CLIENT, releases, target, client, *protocol)


def _other(side: Side, product: str, release: str, *lines: tuple[str, str]) -> Iterator[Registration]:
    for name, target in lines:
        yield Registration(name, side, Releases(product, release, release), target)


_STICKY, _BEFORE_3_0 = "sticky.sticky", "sticky.before_3_0"

BUILT_IN: tuple[Registration, ...] = (
    *_java(
        ("range", "3.5", "4.4", "client.range:RangeAssignor"),
        ("range@2.4", "2.4", "3.4", "client.range:StaticFirstRangeAssignor"),
        ("range@2.1", "2.1", "2.3", "client.range:LegacyRangeAssignorOf21"),
        ("range@2.0", "0.9", "2.0", "client.range:LegacyRangeAssignor"),
        ("roundrobin", "2.4", "4.4", "client.roundrobin:RoundRobinAssignor"),
        ("roundrobin@2.0", "0.9", "2.3", "client.roundrobin:LegacyRoundRobinAssignor"),
        ("sticky", "3.7.1", "4.4", f"{_STICKY}:StickyAssignor"),
        ("sticky@3.5.2", "3.5.2", "3.7.0", f"{_STICKY}:sticky_of_3_5_2"),
        ("sticky@3.5", "3.5.0", "3.5.1", f"{_STICKY}:sticky_of_3_5_0"),
        ("sticky@3.4.1", "3.4.1", "3.4.1", f"{_STICKY}:sticky_of_3_4_1"),
        ("sticky@3.0", "3.0", "3.4.0", f"{_STICKY}:sticky_of_3_0_0"),
        ("sticky@2.8.1", "2.8.1", "2.8.2", f"{_BEFORE_3_0}:StickyOf281"),
        ("sticky@2.5.1", "2.5.1", "2.8.0", f"{_BEFORE_3_0}:StickyOf251"),
        ("sticky@2.4", "2.4", "2.5.0", f"{_BEFORE_3_0}:StickyOf24"),
        ("sticky@2.3", "2.3", "2.3", f"{_BEFORE_3_0}:StickyOf23"),
        ("sticky@2.0", "0.11", "2.2", "sticky.legacy:LegacyStickyAssignor"),
        ("cooperative-sticky", "3.7.1", "4.4", f"{_STICKY}:CooperativeStickyAssignor"),
        ("cooperative-sticky@3.5.2", "3.5.2", "3.7.0", f"{_STICKY}:cooperative_of_3_5_2"),
        ("cooperative-sticky@3.5", "3.5.0", "3.5.1", f"{_STICKY}:cooperative_of_3_5_0"),
        ("cooperative-sticky@3.4.1", "3.4.1", "3.4.1", f"{_STICKY}:cooperative_of_3_4_1"),
        ("cooperative-sticky@3.4.0", "3.4.0", "3.4.0", f"{_STICKY}:cooperative_of_3_4_0"),
        ("cooperative-sticky@3.0", "3.0", "3.3", f"{_STICKY}:cooperative_of_3_0_0"),
        ("cooperative-sticky@2.8.1", "2.8.1", "2.8.2", f"{_BEFORE_3_0}:CooperativeOf281"),
        ("cooperative-sticky@2.5.1", "2.5.1", "2.8.0", f"{_BEFORE_3_0}:CooperativeOf251"),
        ("cooperative-sticky@2.4", "2.4", "2.5.0", f"{_BEFORE_3_0}:CooperativeOf24"),
    ),
    *_client(
        Client.LIBRDKAFKA,
        "2.15.0",
        "2.16.0",
        ("range@librdkafka", "other_clients.range:LibrdkafkaRange"),
        ("roundrobin@librdkafka", "other_clients.roundrobin:of_librdkafka"),
        ("cooperative-sticky@librdkafka", "other_clients.sticky:LibrdkafkaCooperative"),
    ),
    *_client(
        Client.SARAMA,
        "1.61.1",
        "1.61.1",
        ("range@sarama", "other_clients.range:of_sarama"),
        ("roundrobin@sarama", "other_clients.roundrobin:SaramaDealer"),
        ("sticky@sarama", "other_clients.sticky:SaramaSticky"),
        ("cooperative-sticky@sarama", "other_clients.sticky:cooperative"),
    ),
    *_client(
        Client.FRANZ_GO,
        "1.22.2",
        "1.22.3",
        ("range@franz-go", "other_clients.range:of_franz_go"),
        ("roundrobin@franz-go", "other_clients.roundrobin:of_franz_go"),
        ("sticky@franz-go", "other_clients.franz_go:FranzGoSticky"),
        ("cooperative-sticky@franz-go", "other_clients.franz_go:FranzGoCooperativeSticky"),
    ),
    *_client(
        Client.KAFKA_PYTHON,
        "2.3.0",
        "3.0.12",
        ("range@kafka-python-3", "other_clients.range:of_kafka_python_3"),
        ("roundrobin@kafka-python-3", "other_clients.roundrobin:KafkaPython3Dealer"),
    ),
    *_client(
        Client.KAFKA_PYTHON,
        "3.0.12",
        "3.0.12",
        ("sticky@kafka-python-3", "other_clients.sticky:of_kafka_python_3"),
        ("cooperative-sticky@kafka-python-3", "other_clients.sticky:cooperative_of_kafka_python_3"),
    ),
    *_client(
        Client.KAFKA_PYTHON,
        "2.0.2",
        "2.2.21",
        ("range@kafka-python-2", "other_clients.range:by_member_id"),
        ("roundrobin@kafka-python-2", "other_clients.roundrobin:by_member_id"),
    ),
    *_client(
        Client.KAFKA_PYTHON,
        "2.0.2",
        "2.3.3",
        ("sticky@kafka-python-2", "other_clients.sticky:of_kafka_python_2"),
    ),
    *_client(
        Client.AIOKAFKA,
        "0.14.0",
        "0.14.0",
        ("range@aiokafka", "other_clients.range:by_member_id"),
        ("roundrobin@aiokafka", "other_clients.roundrobin:by_member_id"),
        ("sticky@aiokafka", "other_clients.sticky:of_kafka_python_2"),
    ),
    *_client(
        Client.KAFKAJS,
        "2.2.4",
        "2.3.0",  # compared with its third beta
        ("roundrobin@kafkajs", "other_clients.roundrobin:KafkaJSDealer", "RoundRobinAssigner"),
    ),
    *_client(
        Client.KAFKA_GO,
        "0.4.47",
        "0.4.51",
        ("range@kafka-go", "other_clients.kafka_go:range_of_kafka_go"),
        ("roundrobin@kafka-go", "other_clients.kafka_go:round_robin_of_kafka_go"),
        ("rack-affinity@kafka-go", "other_clients.kafka_go:RackAffinity"),
    ),
    *_kafka(
        Side.SERVER,
        ("server-range", "3.9", "4.4", "server.range:ServerRangeAssignor"),
        ("server-range@3.8", "3.8", "3.8", "server.range:PreviewRangeAssignor"),
        ("server-uniform", "4.0.1", "4.4", "server.uniform:ServerUniformAssignor"),
        ("server-uniform@4.0.0", "4.0.0", "4.0.0", "server.uniform:as_of_4_0_0"),
        ("server-uniform@3.8", "3.8", "3.9", "server.uniform_preview:PreviewUniformAssignor"),
    ),
    *_kafka(
        Side.SHARE,
        ("share-simple", "4.2", "4.4", "share:ShareSimpleAssignor"),
        ("share-simple@4.0", "4.0", "4.0", "share:ShareSimpleAssignorOf40"),
    ),
    *_other(
        Side.METAQ,
        "Metamorphosis",
        "1.4",
        ("metaq-default", "metaq:MetaqDefaultAssignor"),
        ("metaq-consistent", "metaq:MetaqConsistentAssignor"),
    ),
    *_other(
        Side.CLIENT,
        "seed article",
        "001",
        ("random", "client.random_lots:RandomAssignor"),
        ("broadcast", "client.group_broadcast:GroupBroadcastAssignor"),
    ),
    *_other(Side.OWN, "Kafka Rebalance Advisor", "0.1", ("weighted", "weighted:WeightedAssignor")),
)


ENTRY_POINT_GROUP = "kafka_rebalance.assignors"


_REGISTRATIONS = {registration.name: registration for registration in BUILT_IN}
_LOADED: dict[str, Assignor] = {}
_OWN: dict[str, Assignor] = {}


def register(strategy: Assignor | CustomAssignor) -> Assignor:
    assignor = strategy if isinstance(strategy, Assignor) else CustomAssignorAdapter(strategy)
    _OWN[assignor.name] = assignor
    return assignor


@contextmanager
def registered(*strategies: Assignor | CustomAssignor) -> Iterator[None]:
    before = dict(_OWN)
    for strategy in strategies:
        register(strategy)
    try:
        yield
    finally:
        _OWN.clear()
        _OWN.update(before)


def own_names() -> tuple[str, ...]:
    return tuple(_OWN)


def own_by_name(name: str) -> Assignor:
    if name not in _OWN:
        raise UnknownNameError.among("custom strategy", name, _OWN)
    return _OWN[name]


def by_name(name: str) -> Assignor:
    """Custom first, then built-in, then entry points. Raises UnknownNameError."""
    if name in _OWN:
        return _OWN[name]
    if name in _LOADED:
        return _LOADED[name]
    if name in _REGISTRATIONS:
        return _LOADED.setdefault(name, _load(_REGISTRATIONS[name]))
    for point in entry_points(group=ENTRY_POINT_GROUP):
        if point.name == name:
            return register(point.load()())
    raise UnknownNameError.among("assignor", name, names())


def assign(
    strategy: str,
    topics: Mapping[str, int],
    members: Mapping[str, Sequence[str]],
    *,
    owned: Mapping[str, Sequence[tuple[str, int]]] = MappingProxyType({}),
    seed: int = 0,
) -> dict[str, list[tuple[str, int]]]:
    """Return each member's (topic, partition) pairs, in the order of the real class.

    ``topics``: partition counts; ``members``: subscriptions in join order; ``owned``: claims. An ``AssignmentRequest``
    also has racks, static members and generations. Raises UnknownNameError for a strategy, AssignorError where the real
    class refuses.

    >>> assign("range", {"orders": 3}, {"c1": ["orders"], "c2": ["orders"]})
    {'c1': [('orders', 0), ('orders', 1)], 'c2': [('orders', 2)]}
    """
    listed = (*topics, *chain.from_iterable(members.values()), *(topic for held in owned.values() for topic, _ in held))
    index = {topic: number for number, topic in enumerate(dict.fromkeys(listed))}
    subscriptions = [[index[topic] for topic in subscribed] for subscribed in members.values()]
    held = [[(index[topic], partition) for topic, partition in owned.get(member, ())] for member in members]
    pairs = np.array([*chain.from_iterable(held)], dtype=np.int32).reshape(-1, 2)
    request = AssignmentRequest(
        topics=TopicColumns.of(
            StringColumn.of(index), np.array([topics.get(topic, NO_METADATA) for topic in index], dtype=np.int32)
        ),
        members=MemberColumns.of(
            StringColumn.of(members),
            _offsets(subscriptions),
            np.array([*chain.from_iterable(subscriptions)], dtype=np.int32),
            owned=(_offsets(held), pairs[:, 0], pairs[:, 1]),
        ),
        seed=seed,
    )
    answer, names_of = by_name(strategy).assign(request), list(index)
    return {
        member: [(names_of[topic], partition) for topic, partition in answer.of_member(number)]
        for number, member in enumerate(members)
    }


def _offsets(lists: Sequence[Sequence[object]]) -> Longs:
    return np.cumsum([0, *map(len, lists)], dtype=np.int64)


def _load(registration: Registration) -> Assignor:
    module, _, attribute = registration.target.partition(":")
    loaded = getattr(import_module(f"kafka_assignors.{module}"), attribute)()
    named: Assignor = replace(loaded, name=registration.name, versions=registration.versions)
    return named


def names() -> tuple[str, ...]:
    points = (point.name for point in entry_points(group=ENTRY_POINT_GROUP))
    return tuple(dict.fromkeys((*_OWN, *_REGISTRATIONS, *points)))


def built_in(name: str) -> Registration:
    return _REGISTRATIONS[name]


def lines_of_client(strategy: str, client: object = None) -> tuple[Registration, ...]:
    """Newest first; ``client`` None: Java. ``strategy`` is its name or protocol name; one that a single client has
    ("RoundRobinAssigner") implies the client. Raises UnknownNameError.
    """
    having = [
        registration for registration in BUILT_IN
        if registration.side is Side.CLIENT and strategy in (registration.strategy, registration.protocol)
    ]  # fmt: skip
    clients = {registration.client for registration in having}
    asked_client = client if client is not None else next(iter(clients)) if len(clients) == 1 else Client.JAVA
    of_client = tuple(registration for registration in having if registration.client == asked_client)
    if not of_client:
        raise UnknownNameError.among(f"client of {strategy}", str(asked_client), {library.value for library in clients})
    return of_client


def name_of(strategy: str, client: object = None, version: object = None) -> str:
    lines = lines_of_client(strategy, client)
    return lines[answering([line.releases for line in lines], version, strategy).index].name


def lines_of_coordinator(strategy: str) -> tuple[Registration, ...]:
    return tuple(
        registration for registration in BUILT_IN
        if registration.side in (Side.SERVER, Side.SHARE) and registration.strategy == strategy
    )  # fmt: skip


def registrations(side: Side | None = None) -> Iterator[Registration]:
    return (registration for registration in BUILT_IN if side is None or registration.side is side)
