"""Settings by which a client chooses its strategy, and what each client can do of a rollover.

Run: Java, and the refusals of librdkafka 2.16 and kafka-python 3.0. Read in its source: franz-go. Sarama is not known
to mix eager and cooperative strategies, so it is not asked to; its consumers cooperate from 1.61 on (IBM/sarama #3696,
September 2026). The names of franz-go, Sarama, KafkaJS and aiokafka are as public programs write them.

Under ``cooperative-sticky`` Java's client commits before it joins a rebalance, hands out records until the others have
joined too, and gives up what it lost without another commit (``ConsumerCoordinator.onJoinPrepare`` and
``onJoinComplete``; seen on 4.0.2 to 4.3.1). kafka-python 3 is written the same way but hands out nothing meanwhile;
librdkafka commits as it gives up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.groups.member_clients import KnownClient, Sureness, group_client, member_client
from kafka_rebalance.options.client_rule import Client
from kafka_rebalance.releases import release_of
from kafka_rebalance.snapshot.group import Group, GroupType

COOPERATIVE = "cooperative-sticky"
OVERRIDE = "consumer.override."  # before the name of a consumer's setting in a connector's configuration


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """``strategy``: the setting that names strategies. ``names``: how each is written into it.

    ``can_mix``: it may name eager and cooperative ones together.

    ``consumer_since``: its first release whose KIP-848 consumers are for production, "" for none that is known.
    ``with_user_data``: strategies whose leaders write user data into assignments; brokers do not turn such a group over
    to KIP-848 while it runs ("userData from a custom assignor would be lost", seen on 4.3.1).
    ``commits_when_revoked``: with automatic commits it commits as it gives a partition up, and when it is closed.
    ``reads_while_joining``: it does not where it is cooperative, and reads on between its commit and the giving up.
    """

    strategy: str
    names: Mapping[str, str]
    can_mix: bool
    cooperative_since: str = ""
    consumer_since: str = ""
    with_user_data: frozenset[str] = frozenset()
    commits_when_revoked: bool = True
    reads_while_joining: bool = False

    @property
    def strategies(self) -> frozenset[str]:
        """Strategies that the client has."""
        return frozenset(self.names)

    def value(self, strategies: tuple[str, ...]) -> str:
        """As it is written into that setting."""
        return ",".join(self.names[name] for name in strategies)

    def can_roll(self, today: str, target: str) -> bool:
        """Members may name both strategies at once, so that no member has to wait for all others to stop."""
        return today in self.names and (self.can_mix or (today == COOPERATIVE) == (target == COOPERATIVE))


def settings_of(client: KnownClient) -> ClientSettings:
    """Settings of a client; Java's for one that was not recognised, a connector's for tasks of Kafka Connect."""
    found = SETTINGS[client.client or Client.JAVA]
    return replace(found, strategy=OVERRIDE + found.strategy) if client.program == CONNECT else found


def strategies_of(group: Group) -> frozenset[str]:
    """Client strategies that all members have; empty where one runs a client whose strategies are not known here.

    A member that was not recognised rules none out.
    """
    if group.client is not None:
        version = group.client_version or ""
        return _strategies(KnownClient(Client(group.client), first=version, last=version))
    clients = {member_client(member, group) for member in group.members}
    return frozenset(SETTINGS[Client.JAVA].names).intersection(*map(_strategies, clients))


def set_strategy(group: Group, strategy: str) -> Fact:
    """Return what to set for a strategy: setting, value and client of each library that the members run."""
    if group.type is GroupType.CONSUMER:
        return fact(FactCode.SET_STRATEGY, settings=(("group.remote.assignor", strategy, None, False),))
    clients = {group_client(group)} if group.client else {member_client(member, group) for member in group.members}
    settings = set()
    for client in clients:
        found = settings_of(client)
        value = found.value((strategy,)) if strategy in found.names else strategy  # a custom assignor
        name = client.client.value if client.client else "unknown"
        may_be_spring = client.client is Client.JAVA and client.sureness is Sureness.LOW
        settings.add((found.strategy, value, name, may_be_spring))
    return fact(FactCode.SET_STRATEGY, settings=tuple(sorted(settings)))


def learn_strategy(group: Group) -> Fact:
    """Return how to learn which strategy the group runs."""
    return fact(FactCode.LEARN_STRATEGY, group=group.id)


def _strategies(client: KnownClient) -> frozenset[str]:
    if client.program == STREAMS:
        return frozenset()  # its threads bring an assignor of their own, and take no other
    if client.client is None:
        return frozenset() if client.program else SETTINGS[Client.JAVA].strategies
    settings = SETTINGS[client.client]
    since = settings.cooperative_since
    is_older = bool(since and client.last) and release_of(client.last) < release_of(since)
    return settings.strategies - {COOPERATIVE} if is_older else settings.strategies


def _named(pattern: str, *, without: tuple[str, ...] = ()) -> dict[str, str]:
    """Each strategy by its name in the client's library."""
    names = {"range": "Range", "roundrobin": "RoundRobin", "sticky": "Sticky", COOPERATIVE: "CooperativeSticky"}
    return {name: pattern.format(called) for name, called in names.items() if name not in without}


CONNECT, STREAMS = "Kafka Connect", "Kafka Streams"
_PROPERTY, _ARGUMENT = "partition.assignment.strategy", "partition_assignment_strategy"
_JAVA = _named("org.apache.kafka.clients.consumer.{}Assignor")
_LIBRDKAFKA = {name: name for name in _named("{}", without=("sticky",))}
_SARAMA = _named("sarama.NewBalanceStrategy{}()")
_AIOKAFKA = _named("{}PartitionAssignor", without=(COOPERATIVE,))
_PYTHON = _AIOKAFKA | {COOPERATIVE: "CooperativeStickyAssignor"}
SETTINGS: dict[Client, ClientSettings] = {
    Client.JAVA: ClientSettings(_PROPERTY, _JAVA, can_mix=True, cooperative_since="2.4",
                                consumer_since="4.0", reads_while_joining=True),
    Client.LIBRDKAFKA: ClientSettings(_PROPERTY, _LIBRDKAFKA, can_mix=False, cooperative_since="1.6",
                                      consumer_since="2.12", with_user_data=frozenset({COOPERATIVE})),
    Client.SARAMA: ClientSettings("Consumer.Group.Rebalance.GroupStrategies", _SARAMA, can_mix=False,
                                  cooperative_since="1.61"),
    Client.FRANZ_GO: ClientSettings("kgo.Balancers", _named("kgo.{}Balancer()"), can_mix=True),
    Client.KAFKA_PYTHON: ClientSettings(_ARGUMENT, _PYTHON, can_mix=False, cooperative_since="3.0"),
    Client.AIOKAFKA: ClientSettings(_ARGUMENT, _AIOKAFKA, can_mix=False),
    Client.KAFKAJS: ClientSettings("partitionAssigners", {"roundrobin": "PartitionAssigners.roundRobin"}, can_mix=False,
                                   commits_when_revoked=False),
}  # fmt: skip
