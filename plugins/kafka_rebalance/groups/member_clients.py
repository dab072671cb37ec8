"""Client library of a group's members, and what it can do in a rollover.

The leader's client decides a strategy's answer, and no request names the leader. So a group's client is the one of all
its members. Signs are the client id, unless configured, and the bytes of a classic member's JoinGroup.
Example: client id ``rdkafka`` is librdkafka's default. Version 1 with four bytes of user data under
``cooperative-sticky`` is Java 2.8.1 to 3.3, for any client id.

Sources of ``settings_of``: runs of Java; refusals of librdkafka 2.16 and kafka-python 3.0; the source of franz-go and
kafka-go. Sarama is not known to mix eager and cooperative strategies; its consumers cooperate from 1.61 on (IBM/sarama
#3696, September 2026).

Under ``cooperative-sticky`` Java commits before it joins a rebalance, returns records until the others have joined, and
revokes without another commit (``ConsumerCoordinator.onJoinPrepare`` and ``onJoinComplete``; tested on 4.0.2 to 4.3.1).
kafka-python 3 does the same but returns nothing meanwhile; librdkafka commits when it revokes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache

from kafka_assignors.releases import Client, release_of, seen_release
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.groups.subscriptions import Layout, decode_user_data
from kafka_rebalance.options.values import ClientRule
from kafka_rebalance.snapshot.group import RACK_AFFINITY, Group, GroupType, Member
from kafka_rebalance.snapshot.model import ClusterSnapshot


class Sign(StrEnum):
    NONE = ""
    RULE = "rule"
    CLIENT_ID = "client_id"
    JOIN_BYTES = "join_bytes"
    CLIENT_ID_AND_JOIN_BYTES = "client_id_and_join_bytes"
    STRATEGY_NAME = "strategy_name"


class Sureness(StrEnum):
    """Certainty of a client, the surest first."""

    GIVEN = "given"
    CERTAIN = "certain"
    HIGH = "high"
    LOW = "low"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class KnownClient:
    """``client`` None: unknown. ``first`` to ``last``: its releases, "" where all are possible."""

    client: Client | None = None
    sureness: Sureness = Sureness.UNKNOWN
    sign: Sign = Sign.NONE
    first: str = ""
    last: str = ""
    program: str = ""  # Kafka Streams, Connect

    def fact(self, *, is_asked: bool) -> Fact:
        return fact(
            FactCode.RELEASES_OF_CLIENT, client=self.client.value if self.client else self.program, first=self.first,
            last=self.last, sign=self.sign.value, sureness=self.sureness.value, is_asked=is_asked,
        )  # fmt: skip

    def has(self, release: str) -> bool:
        numbers = release_of(release)
        is_after = not self.first or numbers >= release_of(self.first)[: len(numbers)]
        last = release_of(self.last) if self.last else numbers
        return is_after and numbers[: len(last)] <= last


UNKNOWN_CLIENT = KnownClient()
_ID, _BYTES, _BOTH = Sign.CLIENT_ID, Sign.JOIN_BYTES, Sign.CLIENT_ID_AND_JOIN_BYTES

# The first full match counts; {group} is the group's own id.
_IDS: tuple[tuple[str, KnownClient], ...] = (
    (r"consumer-{group}-.+", KnownClient(Client.JAVA, Sureness.HIGH, _ID, first="2.4")),
    (r"consumer-[0-9]+", KnownClient(Client.JAVA, Sureness.HIGH, _ID, last="2.3")),
    (r"console-consumer", KnownClient(Client.JAVA, Sureness.HIGH, _ID, first="3.1", program="console consumer")),
    (r".+-StreamThread-[0-9]+-consumer", KnownClient(Client.JAVA, Sureness.HIGH, _ID, program="Kafka Streams")),
    (r"connector-consumer-.+-[0-9]+", KnownClient(Client.JAVA, Sureness.HIGH, _ID, program="Kafka Connect")),
    (r"rdkafka", KnownClient(Client.LIBRDKAFKA, Sureness.HIGH, _ID)),
    (r"sarama", KnownClient(Client.SARAMA, Sureness.HIGH, _ID)),
    (r"kgo", KnownClient(Client.FRANZ_GO, Sureness.HIGH, _ID)),
    (r"kafka-python-(?P<release>[0-9]+\.[0-9]+.*)", KnownClient(Client.KAFKA_PYTHON, Sureness.HIGH, _ID)),
    (r"aiokafka-(?P<release>[0-9]+\.[0-9]+.*)", KnownClient(Client.AIOKAFKA, Sureness.HIGH, _ID)),
    (r"kafkajs", KnownClient(Client.KAFKAJS, Sureness.HIGH, _ID)),
    (r".*@.* \(github\.com/segmentio/kafka-go\)", KnownClient(Client.KAFKA_GO, Sureness.HIGH, _ID)),
    (r".+-[0-9]{{1,4}}", KnownClient(Client.JAVA, Sureness.LOW, _ID)),
)
_ONLY_OF: dict[str | None, Client] = {"RoundRobinAssigner": Client.KAFKAJS, RACK_AFFINITY: Client.KAFKA_GO}
_OF_SARAMA = 2  # the only client with this version
# Releases by the version of the bytes; others write such bytes too.
_JAVA_SPANS = {0: ("", "2.3"), 1: ("2.4", "3.3"), 3: ("3.4", "")}


def group_client(group: Group) -> KnownClient:
    """Return the client of all members; unknown where they differ."""
    if group.client is not None:
        version = group.client_version or ""
        return KnownClient(Client(group.client), Sureness.GIVEN, Sign.RULE, version, version)
    return _combine([member_client(member, group) for member in group.members])


def _combine(clients: Iterable[KnownClient]) -> KnownClient:
    client_list = list(clients)
    detected = [client for client in client_list if client.sureness is not Sureness.UNKNOWN]
    if not detected or len({client.client for client in detected}) > 1:
        return UNKNOWN_CLIENT
    is_all = len(detected) == len(client_list)
    worst = max((client.sureness for client in detected), key=list(Sureness).index) if is_all else Sureness.LOW
    programs = {client.program for client in detected}
    return replace(
        detected[0],
        sureness=worst,
        first=""
        if any(not client.first for client in detected)
        else min((client.first for client in detected), key=release_of),
        last=""
        if any(not client.last for client in detected)
        else max((client.last for client in detected), key=release_of),
        program=programs.pop() if len(programs) == 1 else "",
    )


def member_client(member: Member, group: Group) -> KnownClient:
    """Return the client by the member's bytes if possible, else by its client id."""
    by_id, by_bytes = _by_id(member.client_id or "", group.id), _by_bytes(member, group.protocol)
    if by_bytes.sureness is Sureness.LOW and by_id.sureness is Sureness.HIGH:
        return by_id
    if by_bytes.client is not None:
        is_agreed = by_id.client is by_bytes.client and by_id.sureness is Sureness.HIGH
        return replace(by_bytes, program=by_id.program, sign=_BOTH) if is_agreed else by_bytes
    span = _JAVA_SPANS.get(member.subscription_version if member.subscription_version is not None else -1)
    if by_id.sureness is Sureness.LOW and member.subscription_version == 0:
        return UNKNOWN_CLIENT  # Python's clients and KafkaJS write it; a Java this old is unlikely
    if by_id.client is Client.JAVA and span is not None:
        return replace(by_id, first=span[0] or by_id.first, last=span[1] or by_id.last, sign=_BOTH)
    return by_id


@lru_cache(maxsize=65_536)
def _by_id(client_id: str, group_id: str) -> KnownClient:
    for pattern, client in _IDS:
        match = re.fullmatch(pattern.format(group=re.escape(group_id)), client_id, re.DOTALL)
        if match is None:
            continue
        if "release" not in match.groupdict():
            return client
        line = ".".join(str(number) for number in seen_release(match["release"])[:2])
        if line:
            return replace(client, first=line, last=line)
    return UNKNOWN_CLIENT


def _by_bytes(member: Member, protocol: str | None) -> KnownClient:
    if protocol in _ONLY_OF:
        return KnownClient(_ONLY_OF[protocol], Sureness.CERTAIN, Sign.STRATEGY_NAME)
    if member.subscription_version is None:
        return UNKNOWN_CLIENT
    layout = decode_user_data(member.user_data, protocol).layout
    kind = protocol if protocol == "cooperative-sticky" else "plain" if protocol in ("range", "roundrobin") else ""
    client, first, last = _BY_BYTES.get((member.subscription_version, kind, layout), (None, "", ""))
    if client is None and member.subscription_version == _OF_SARAMA:
        client = Client.SARAMA
    if client is None and kind == "cooperative-sticky" and layout is Layout.OWNED_AND_GENERATION:
        return KnownClient(Client.LIBRDKAFKA, Sureness.LOW, _BYTES)  # or franz-go
    return UNKNOWN_CLIENT if client is None else KnownClient(client, Sureness.HIGH, _BYTES, first, last)


_BY_BYTES: dict[tuple[int, str, Layout], tuple[Client | None, str, str]] = {
    (3, "plain", Layout.EMPTY): (Client.LIBRDKAFKA, "", ""),
    (3, "cooperative-sticky", Layout.EMPTY): (Client.LIBRDKAFKA, "", ""),
    (3, "cooperative-sticky", Layout.GENERATION): (Client.JAVA, "3.4", ""),
    (1, "cooperative-sticky", Layout.GENERATION): (Client.JAVA, "2.8.1", "3.3"),
    (1, "cooperative-sticky", Layout.ABSENT): (Client.JAVA, "2.4", "2.8.0"),
    (1, "cooperative-sticky", Layout.EMPTY): (Client.KAFKA_PYTHON, "3.0", ""),
}


def with_clients(snapshot: ClusterSnapshot, rules: Sequence[ClientRule]) -> ClusterSnapshot:
    if not rules:
        return snapshot
    return replace(snapshot, groups=tuple(_with_client(group, rules) for group in snapshot.groups))


def _with_client(group: Group, rules: Sequence[ClientRule]) -> Group:
    ids = {member.client_id for member in group.members}
    for rule in rules:
        if rule.covers(group.id, ids):
            return replace(group, client=rule.client, client_version=rule.version)
    return group


COOPERATIVE = "cooperative-sticky"
OVERRIDE = "consumer.override."  # in a connector's configuration


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """``strategy``: the setting that names strategies; ``names``: how each is written there.

    ``can_mix``: it may name eager and cooperative ones together. ``consumer_since``: first release with KIP-848
    consumers for production, "" if unknown. ``with_user_data``: strategies whose leaders write user data into
    assignments; brokers refuse to convert such a running group to KIP-848 ("userData from a custom assignor would be
    lost", tested on 4.3.1).
    ``reads_while_joining``: a cooperative one reads on between its commit and the revocation.
    """

    strategy: str
    names: Mapping[str, str]
    can_mix: bool
    cooperative_since: str = ""
    consumer_since: str = ""
    with_user_data: frozenset[str] = frozenset()
    reads_while_joining: bool = False

    @property
    def strategies(self) -> frozenset[str]:
        return frozenset(self.names)

    def value(self, strategies: tuple[str, ...]) -> str:
        return ",".join(self.names[name] for name in strategies)

    def can_roll(self, today: str, target: str) -> bool:
        """Whether a rolling restart suffices: members may name both strategies at once."""
        return today in self.names and (self.can_mix or (today == COOPERATIVE) == (target == COOPERATIVE))


def settings_of(client: KnownClient) -> ClientSettings:
    """Return Java's settings for an unknown client, a connector's for Connect tasks."""
    settings = SETTINGS[client.client or Client.JAVA]
    return replace(settings, strategy=OVERRIDE + settings.strategy) if client.program == CONNECT else settings


def strategies_of(group: Group) -> frozenset[str]:
    """Return strategies of all members; empty where a client's are unknown.

    An unrecognised member excludes none.
    """
    if group.client is not None:
        version = group.client_version or ""
        return _strategies(KnownClient(Client(group.client), first=version, last=version))
    clients = {member_client(member, group) for member in group.members}
    return frozenset(SETTINGS[Client.JAVA].names).intersection(*map(_strategies, clients))


def set_strategy(group: Group, strategy: str) -> Fact:
    if group.type is GroupType.CONSUMER:
        return fact(FactCode.SET_STRATEGY, settings=(("group.remote.assignor", strategy, None, False),))
    clients = {group_client(group)} if group.client else {member_client(member, group) for member in group.members}
    settings = set()
    for client in clients:
        client_settings = settings_of(client)
        value = client_settings.value((strategy,)) if strategy in client_settings.names else strategy
        name = client.client.value if client.client else "unknown"
        may_be_spring = client.client is Client.JAVA and client.sureness is Sureness.LOW
        settings.add((client_settings.strategy, value, name, may_be_spring))
    return fact(FactCode.SET_STRATEGY, settings=tuple(sorted(settings)))


def learn_strategy(group: Group) -> Fact:
    return fact(FactCode.LEARN_STRATEGY, group=group.id)


def _strategies(client: KnownClient) -> frozenset[str]:
    if client.program == STREAMS:
        return frozenset()  # its threads have a fixed assignor
    if client.client is None:
        return frozenset() if client.program else SETTINGS[Client.JAVA].strategies
    settings = SETTINGS[client.client]
    since = settings.cooperative_since
    is_older = bool(since and client.last) and release_of(client.last) < release_of(since)
    return settings.strategies - {COOPERATIVE} if is_older else settings.strategies


def _class_names(pattern: str, *, without: tuple[str, ...] = ()) -> dict[str, str]:
    names = {"range": "Range", "roundrobin": "RoundRobin", "sticky": "Sticky", COOPERATIVE: "CooperativeSticky"}
    return {name: pattern.format(called) for name, called in names.items() if name not in without}


CONNECT, STREAMS = "Kafka Connect", "Kafka Streams"
_PROPERTY, _ARGUMENT = "partition.assignment.strategy", "partition_assignment_strategy"
_JAVA = _class_names("org.apache.kafka.clients.consumer.{}Assignor")
_LIBRDKAFKA = {name: name for name in _class_names("{}", without=("sticky",))}
_SARAMA = _class_names("sarama.NewBalanceStrategy{}()")
_AIOKAFKA = _class_names("{}PartitionAssignor", without=(COOPERATIVE,))
_PYTHON = _AIOKAFKA | {COOPERATIVE: "CooperativeStickyAssignor"}
SETTINGS: dict[Client, ClientSettings] = {
    Client.JAVA: ClientSettings(_PROPERTY, _JAVA, can_mix=True, cooperative_since="2.4",
                                consumer_since="4.0", reads_while_joining=True),
    Client.LIBRDKAFKA: ClientSettings(_PROPERTY, _LIBRDKAFKA, can_mix=False, cooperative_since="1.6",
                                      consumer_since="2.12", with_user_data=frozenset({COOPERATIVE})),
    Client.SARAMA: ClientSettings("Consumer.Group.Rebalance.GroupStrategies", _SARAMA, can_mix=False,
                                  cooperative_since="1.61"),
    Client.FRANZ_GO: ClientSettings("kgo.Balancers", _class_names("kgo.{}Balancer()"), can_mix=True),
    Client.KAFKA_PYTHON: ClientSettings(_ARGUMENT, _PYTHON, can_mix=False, cooperative_since="3.0"),
    Client.AIOKAFKA: ClientSettings(_ARGUMENT, _AIOKAFKA, can_mix=False),
    Client.KAFKAJS: ClientSettings("partitionAssigners", {"roundrobin": "PartitionAssigners.roundRobin"},
                                   can_mix=False),
    Client.KAFKA_GO: ClientSettings("GroupBalancers", {"range": "kafka.RangeGroupBalancer{}",
                                                       "roundrobin": "kafka.RoundRobinGroupBalancer{}"}, can_mix=False),
}  # fmt: skip
