"""The strategies that are built in: who runs each, the releases whose answers it gives, where its class is.

Of one strategy and client the newest comes first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from kafka_rebalance.options.client_rule import Client
from kafka_rebalance.releases import Releases


class Side(StrEnum):
    """Who runs a strategy."""

    CLIENT = "client"  # the group's leader
    SERVER = "server"  # the coordinator of a KIP-848 group
    SHARE = "share"  # the coordinator of a share group
    METAQ = "metaq"  # every consumer for itself
    OWN = "own"


@dataclass(frozen=True, slots=True)
class Registration:
    """A built-in strategy: its name here, who runs it, the releases whose answers it gives, where its class is.

    A name is the strategy and, behind ``@``, what tells this class from the newest Java one: the first release of its
    line, or the client. ``client`` says whose releases they are; server-side strategies are Kafka's. ``own_protocol``:
    what the group's protocol calls it where that is not the strategy's name.
    """

    name: str
    side: Side
    releases: Releases
    target: str  # module:class, in this package
    client: Client = Client.JAVA
    own_protocol: str = ""

    @property
    def strategy(self) -> str:
        """What it does, in Kafka's words: as the group's protocol calls it, with most clients."""
        return self.name.partition("@")[0]

    @property
    def protocol(self) -> str:
        """What the group's protocol calls it."""
        return self.own_protocol or self.strategy

    @property
    def versions(self) -> str:
        """The releases, for people."""
        return str(self.releases)


Line = tuple[str, str, str, str]  # name, first and last release, target


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


_STICKY, _BEFORE_3_0 = "sticky.sticky", "sticky.before_3_0.assignors"

BUILT_IN: tuple[Registration, ...] = (
    *_java(
        ("range", "3.5", "4.3", "client.range:RangeAssignor"),
        ("range@2.4", "2.4", "3.4", "client.range_plain:StaticFirstRangeAssignor"),
        ("range@2.1", "2.1", "2.3", "client.range_plain:LegacyRangeAssignorOf21"),
        ("range@2.0", "0.9", "2.0", "client.range_plain:LegacyRangeAssignor"),
        ("roundrobin", "2.4", "4.3", "client.roundrobin:RoundRobinAssignor"),
        ("roundrobin@2.0", "0.9", "2.3", "client.roundrobin:LegacyRoundRobinAssignor"),
        ("sticky", "3.7.1", "4.3", f"{_STICKY}:StickyAssignor"),
        ("sticky@3.5.2", "3.5.2", "3.7.0", f"{_STICKY}:sticky_of_3_5_2"),
        ("sticky@3.5", "3.5.0", "3.5.1", f"{_STICKY}:sticky_of_3_5_0"),
        ("sticky@3.4.1", "3.4.1", "3.4.1", f"{_STICKY}:sticky_of_3_4_1"),
        ("sticky@3.0", "3.0", "3.4.0", f"{_STICKY}:sticky_of_3_0_0"),
        ("sticky@2.8.1", "2.8.1", "2.8.2", f"{_BEFORE_3_0}:StickyOf281"),
        ("sticky@2.5.1", "2.5.1", "2.8.0", f"{_BEFORE_3_0}:StickyOf251"),
        ("sticky@2.4", "2.4", "2.5.0", f"{_BEFORE_3_0}:StickyOf24"),
        ("sticky@2.3", "2.3", "2.3", f"{_BEFORE_3_0}:StickyOf23"),
        ("sticky@2.0", "0.11", "2.2", "sticky.legacy:LegacyStickyAssignor"),
        ("cooperative-sticky", "3.7.1", "4.3", f"{_STICKY}:CooperativeStickyAssignor"),
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
        "2.15.0",
        ("range@librdkafka", "other_clients.librdkafka_range:LibrdkafkaRange"),
        ("roundrobin@librdkafka", "other_clients.roundrobin:of_librdkafka"),
        ("cooperative-sticky@librdkafka", "other_clients.sticky.librdkafka:LibrdkafkaCooperative"),
    ),
    *_client(
        Client.SARAMA,
        "1.61.1",
        "1.61.1",
        ("range@sarama", "other_clients.plain_range:of_sarama"),
        ("roundrobin@sarama", "other_clients.roundrobin:SaramaDealer"),
        ("sticky@sarama", "other_clients.sticky.sarama:SaramaSticky"),
        ("cooperative-sticky@sarama", "other_clients.sticky.sarama:cooperative"),
    ),
    *_client(
        Client.FRANZ_GO,
        "1.22.2",
        "1.22.2",
        ("range@franz-go", "other_clients.plain_range:of_franz_go"),
        ("roundrobin@franz-go", "other_clients.roundrobin:of_franz_go"),
        ("sticky@franz-go", "other_clients.franz_go.sticky:FranzGoSticky"),
        ("cooperative-sticky@franz-go", "other_clients.franz_go.sticky:FranzGoCooperativeSticky"),
    ),
    *_client(
        Client.KAFKA_PYTHON,
        "3.0.12",
        "3.0.12",
        ("range@kafka-python-3", "other_clients.plain_range:of_kafka_python_3"),
        ("roundrobin@kafka-python-3", "other_clients.roundrobin:KafkaPython3Dealer"),
        ("sticky@kafka-python-3", "other_clients.sticky.kafka_python:of_kafka_python_3"),
        ("cooperative-sticky@kafka-python-3", "other_clients.sticky.kafka_python:cooperative_of_kafka_python_3"),
    ),
    *_client(
        Client.KAFKA_PYTHON,
        "2.0.2",
        "2.2.15",
        ("range@kafka-python-2", "other_clients.plain_range:by_member_id"),
        ("roundrobin@kafka-python-2", "other_clients.roundrobin:by_member_id"),
        ("sticky@kafka-python-2", "other_clients.sticky.kafka_python:of_kafka_python_2"),
    ),
    *_client(
        Client.AIOKAFKA,
        "0.14.0",
        "0.14.0",
        ("range@aiokafka", "other_clients.plain_range:by_member_id"),
        ("roundrobin@aiokafka", "other_clients.roundrobin:by_member_id"),
        ("sticky@aiokafka", "other_clients.sticky.kafka_python:of_kafka_python_2"),
    ),
    *_client(
        Client.KAFKAJS,
        "2.2.4",
        "2.2.4",
        ("roundrobin@kafkajs", "other_clients.roundrobin:KafkaJSDealer", "RoundRobinAssigner"),
    ),
    *_kafka(
        Side.SERVER,
        ("server-range", "3.9", "4.3", "server.range:ServerRangeAssignor"),
        ("server-range@3.8", "3.8", "3.8", "server.range_preview:PreviewRangeAssignor"),
        ("server-uniform", "4.0.1", "4.3", "server.uniform:ServerUniformAssignor"),
        ("server-uniform@4.0.0", "4.0.0", "4.0.0", "server.uniform:as_of_4_0_0"),
        ("server-uniform@3.8", "3.8", "3.9", "server.uniform_preview:PreviewUniformAssignor"),
    ),
    *_kafka(
        Side.SHARE,
        ("share-simple", "4.2", "4.3", "share.simple:ShareSimpleAssignor"),
        ("share-simple@4.0", "4.0", "4.0", "share.simple:ShareSimpleAssignorOf40"),
    ),
    *_other(
        Side.METAQ,
        "Metamorphosis",
        "1.4",
        ("metaq-default", "metaq.default:MetaqDefaultAssignor"),
        ("metaq-consistent", "metaq.consistent:MetaqConsistentAssignor"),
    ),
    *_other(
        Side.CLIENT,
        "seed article",
        "001",
        ("random", "client.random_lots:RandomAssignor"),
        ("broadcast", "client.group_broadcast:GroupBroadcastAssignor"),
    ),
    *_other(Side.OWN, "Kafka Rebalance Advisor", "0.1", ("weighted", "weighted.weighted:WeightedAssignor")),
)
