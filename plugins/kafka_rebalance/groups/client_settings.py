"""What a client's consumers are told which strategy to use by, and what each client can do of a rollover.

Run: Java, and the refusals of librdkafka 2.16 and kafka-python 3.0. Read in its source: franz-go. Sarama is not known
to mix eager and cooperative strategies, so it is not asked to.

Under ``cooperative-sticky`` Java's client commits before it joins a rebalance, hands out records until the others have
joined too, and gives up what it lost without another commit (``ConsumerCoordinator.onJoinPrepare`` and
``onJoinComplete``; seen on 4.0.2 to 4.3.1). kafka-python 3 is written the same way but hands out nothing meanwhile;
librdkafka commits as it gives up.
"""

from __future__ import annotations

from dataclasses import dataclass

from kafka_rebalance.options.client_rule import Client

COOPERATIVE = "cooperative-sticky"
_ALL_EAGER = frozenset({"range", "roundrobin", "sticky"})
_JAVA_CLASSES = {
    "range": "RangeAssignor", "roundrobin": "RoundRobinAssignor", "sticky": "StickyAssignor",
    COOPERATIVE: "CooperativeStickyAssignor",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """``strategy``: the setting that names strategies. ``can_mix``: it may name eager and cooperative ones together.

    ``consumer_since``: its first release whose KIP-848 consumers are for production, "" for none that is known.
    ``with_user_data``: strategies whose leaders write user data into assignments; brokers do not turn such a group over
    to KIP-848 while it runs ("userData from a custom assignor would be lost", seen on 4.3.1).
    ``commits_when_revoked``: with automatic commits it commits as it gives a partition up, and when it is closed.
    ``reads_while_joining``: it does not where it is cooperative, and reads on between its commit and the giving up.
    """

    strategy: str
    strategies: frozenset[str]
    can_mix: bool
    cooperative_since: str = ""
    consumer_since: str = ""
    with_user_data: frozenset[str] = frozenset()
    commits_when_revoked: bool = True
    reads_while_joining: bool = False

    def value(self, strategies: tuple[str, ...]) -> str:
        """As it is written into that setting; Java's are names of classes."""
        if self is SETTINGS[Client.JAVA]:
            package = "org.apache.kafka.clients.consumer"
            return ",".join(f"{package}.{_JAVA_CLASSES[name]}" for name in strategies)
        return ",".join(strategies)


_WITH_COOPERATIVE = _ALL_EAGER | {COOPERATIVE}
_PROPERTY, _ARGUMENT = "partition.assignment.strategy", "partition_assignment_strategy"
SETTINGS: dict[Client, ClientSettings] = {
    Client.JAVA: ClientSettings(_PROPERTY, _WITH_COOPERATIVE, can_mix=True, cooperative_since="2.4",
                                consumer_since="4.0", reads_while_joining=True),
    Client.LIBRDKAFKA: ClientSettings(_PROPERTY, _WITH_COOPERATIVE - {"sticky"}, can_mix=False, consumer_since="2.12",
                                      with_user_data=frozenset({COOPERATIVE})),
    Client.SARAMA: ClientSettings("Consumer.Group.Rebalance.GroupStrategies", _WITH_COOPERATIVE, can_mix=False),
    Client.FRANZ_GO: ClientSettings("kgo.Balancers", _WITH_COOPERATIVE, can_mix=True),
    Client.KAFKA_PYTHON: ClientSettings(_ARGUMENT, _WITH_COOPERATIVE, can_mix=False, cooperative_since="3.0"),
    Client.AIOKAFKA: ClientSettings(_ARGUMENT, _ALL_EAGER, can_mix=False),
    Client.KAFKAJS: ClientSettings("partitionAssigners", frozenset({"roundrobin"}), can_mix=False,
                                   commits_when_revoked=False),
}  # fmt: skip
