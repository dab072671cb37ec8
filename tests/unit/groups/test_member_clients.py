from __future__ import annotations

import struct
from dataclasses import replace

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.releases import Client
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.groups.member_clients import (
    UNKNOWN_CLIENT,
    KnownClient,
    Sign,
    Sureness,
    group_client,
    with_clients,
)
from kafka_rebalance.groups.strategies import candidates
from kafka_rebalance.options.values import ClientRule
from kafka_rebalance.snapshot.model import Group, GroupType, Member
from tests.unit.findings.sample_clusters import cluster, striped


def client(*members: Member, group: str = "pay", protocol: str = "range") -> KnownClient:
    named = tuple(replace(member, id=f"m{number}") for number, member in enumerate(members))
    return group_client(Group(group, protocol=protocol, members=named))


def by_id(client_id: str | None, group: str = "pay") -> KnownClient:
    return client(Member("m", client_id=client_id), group=group)


@pytest.mark.parametrize(
    ("client_id", "expected", "sureness", "first", "last"),
    [
        ("consumer-pay-1", Client.JAVA, Sureness.HIGH, "2.4", ""),
        ("consumer-pay-pod-7", Client.JAVA, Sureness.HIGH, "2.4", ""),  # a static one: its instance id
        ("consumer-12", Client.JAVA, Sureness.HIGH, "", "2.3"),
        ("console-consumer", Client.JAVA, Sureness.HIGH, "3.1", ""),
        ("connector-consumer-sink-0", Client.JAVA, Sureness.HIGH, "", ""),
        ("app-8a-StreamThread-1-consumer", Client.JAVA, Sureness.HIGH, "", ""),
        ("rdkafka", Client.LIBRDKAFKA, Sureness.HIGH, "", ""),
        ("sarama", Client.SARAMA, Sureness.HIGH, "", ""),
        ("kgo", Client.FRANZ_GO, Sureness.HIGH, "", ""),
        ("kafka-python-2.0.2", Client.KAFKA_PYTHON, Sureness.HIGH, "2.0", "2.0"),
        ("kafka-python-3.0.12", Client.KAFKA_PYTHON, Sureness.HIGH, "3.0", "3.0"),
        ("aiokafka-0.14.0", Client.AIOKAFKA, Sureness.HIGH, "0.14", "0.14"),
        ("kafkajs", Client.KAFKAJS, Sureness.HIGH, "", ""),
        ("orders-listener-3", Client.JAVA, Sureness.LOW, "", ""),
        ("app@host (github.com/segmentio/kafka-go)", Client.KAFKA_GO, Sureness.HIGH, "", ""),
        ("kafka-python-99999.1", None, Sureness.UNKNOWN, "", ""),  # no release that there can be
        ("kafka-python-2.1.5.dev0", Client.KAFKA_PYTHON, Sureness.HIGH, "2.1", "2.1"),
        ("kafka-python-0", Client.JAVA, Sureness.LOW, "", ""),  # no release: some prefix and a number
        ("rdkafka2", None, Sureness.UNKNOWN, "", ""),
        ("payments", None, Sureness.UNKNOWN, "", ""),
        (None, None, Sureness.UNKNOWN, "", ""),
    ],
)
def test_default_client_ids(
    client_id: str | None, expected: Client | None, sureness: Sureness, first: str, last: str
) -> None:
    result = by_id(client_id)
    assert (result.client, result.sureness, result.first, result.last) == (expected, sureness, first, last)


def test_a_group_id_is_no_pattern() -> None:
    assert by_id("consumer-a.b-1", group="a.b").first == "2.4"
    assert by_id("consumer-axb-1", group="a.b").sureness is Sureness.LOW  # a prefix and a number
    assert by_id("consumer-{0}-1", group="{0}").first == "2.4"


GENERATION = struct.pack(">i", 4)


@pytest.mark.parametrize(
    ("version", "protocol", "user_data", "expected"),
    [
        (3, "range", b"", (Client.LIBRDKAFKA, "", "")),
        (3, "roundrobin", None, (None, "", "")),
        (3, "cooperative-sticky", GENERATION, (Client.JAVA, "3.4", "")),
        (1, "cooperative-sticky", GENERATION, (Client.JAVA, "2.8.1", "3.3")),
        (1, "cooperative-sticky", None, (Client.JAVA, "2.4", "2.8.0")),
        (1, "cooperative-sticky", b"", (Client.KAFKA_PYTHON, "3.0", "")),
        (2, "range", None, (Client.SARAMA, "", "")),
        (0, "range", None, (None, "", "")),
        (None, "range", b"", (None, "", "")),
        (0, "RoundRobinAssigner", b"", (Client.KAFKAJS, "", "")),
        (1, "rack-affinity", b"az1", (Client.KAFKA_GO, "", "")),
    ],
)
def test_bytes_that_one_client_alone_writes(
    version: int | None, protocol: str, user_data: bytes | None, expected: tuple[Client | None, str, str]
) -> None:
    member = Member("m", client_id="payments", subscription_version=version, user_data=user_data)
    result = client(member, protocol=protocol)
    assert (result.client, result.first, result.last) == expected
    assert (result.sureness is Sureness.CERTAIN) is (protocol in ("RoundRobinAssigner", "rack-affinity"))


def test_bytes_narrow_the_releases_of_a_java_client_and_win_over_a_configured_id() -> None:
    java = Member("m", client_id="consumer-pay-1", subscription_version=1)
    assert (client(java).first, client(java).last) == ("2.4", "3.3")
    assert (client(java).sign, client(java).sureness) == (Sign.CLIENT_ID_AND_JOIN_BYTES, Sureness.HIGH)
    newer = replace(java, subscription_version=3)
    assert (client(newer).first, client(newer).last) == ("3.4", "")
    pretending = replace(newer, user_data=b"")
    assert client(pretending).client is Client.LIBRDKAFKA


def test_unsure_signs_give_way_to_surer_ones() -> None:
    """A prefix and a number may be a Spring thread; version 0 is hardly Java's. The client id beats the user data."""
    numbered = Member("m", client_id="worker-0")
    assert client(numbered).client is Client.JAVA
    assert client(replace(numbered, subscription_version=0)) is UNKNOWN_CLIENT
    assert client(replace(numbered, subscription_version=1)).last == "3.3"
    owned = replace(numbered, subscription_version=3, user_data=struct.pack(">ii", 0, 4))
    result = client(owned, protocol="cooperative-sticky")
    assert (result.client, result.sureness) == (Client.LIBRDKAFKA, Sureness.LOW)
    assert client(replace(owned, client_id="kgo"), protocol="cooperative-sticky").client is Client.FRANZ_GO


def test_a_groups_client_is_that_of_all_its_members() -> None:
    old, new = (Member("m", client_id="consumer-pay-1", subscription_version=version) for version in (1, 3))
    mixed = client(old, new)
    assert (mixed.client, mixed.first, mixed.last, mixed.sureness) == (Client.JAVA, "2.4", "", Sureness.HIGH)
    assert client(old, Member("m", client_id="payments")).sureness is Sureness.LOW  # one does not show it
    assert client(old, Member("m", client_id="sarama")) is UNKNOWN_CLIENT
    assert client() is UNKNOWN_CLIENT


def test_releases_that_a_client_may_have() -> None:
    known = client(Member("m", client_id="consumer-pay-1", subscription_version=1))
    assert [release for release in ("2.3", "2.4", "2.8.1", "3.3.2", "3.4.0") if known.has(release)] == [
        "2.4", "2.8.1", "3.3.2",
    ]  # fmt: skip
    assert UNKNOWN_CLIENT.has("0.9")


def test_the_classes_that_are_asked_are_those_of_the_client_and_its_releases() -> None:
    def releases(known: KnownClient) -> dict[str, tuple[str, ...]]:
        return {
            candidate.name: candidate.releases for candidate in candidates(GroupType.CLASSIC, "consumer", None, known)
        }

    reported = releases(KnownClient(Client.JAVA, Sureness.GIVEN, Sign.RULE, "3.6.2", "3.6.2"))
    assert (reported["sticky"], reported["range"]) == (("sticky@3.5.2",), ("range",))
    assert releases(KnownClient(Client.JAVA, Sureness.GIVEN, Sign.RULE, "2.3.1", "2.3.1"))["range"] == ("range@2.1",)
    old = KnownClient(Client.KAFKA_PYTHON, Sureness.GIVEN, Sign.RULE, "1.4", "1.4")
    go = by_id("app@host (github.com/segmentio/kafka-go)")
    basis = [candidates(GroupType.CLASSIC, "consumer", None, known)[0].basis for known in (old, go)]
    assert basis == [old.fact(is_asked=False), go.fact(is_asked=True)]
    assert releases(go)["roundrobin"] == ("roundrobin@kafka-go",)
    basis = {candidate.name: candidate.basis for candidate in candidates(GroupType.CLASSIC, "consumer", None, go)}
    assert basis["sticky"] == fact(FactCode.CLIENT_NOT_MODELLED, client="kafka-go")
    since = releases(KnownClient(Client.JAVA, Sureness.HIGH, Sign.CLIENT_ID, "3.4", ""))
    assert since["cooperative-sticky"][0] == "cooperative-sticky"
    assert not {"cooperative-sticky@3.0", "cooperative-sticky@2.4"} & set(since["cooperative-sticky"])


def test_a_client_newer_than_all_that_were_tried_is_asked_as_the_newest_which_is_assumed() -> None:
    for newest, client, version in (
        ("range", Client.JAVA, "4.5.0"), ("range@kafka-python-3", Client.KAFKA_PYTHON, "3.1"),
        ("range@librdkafka", Client.LIBRDKAFKA, "2.17.0"),
    ):  # fmt: skip
        known = KnownClient(client, Sureness.GIVEN, Sign.RULE, version, version)
        result = candidates(GroupType.CLASSIC, "consumer", None, known)[0]
        assert (result.releases, result.basis) == ((newest,), fact(FactCode.ASSUMED, basis=known.fact(is_asked=True)))
    tried = KnownClient(Client.LIBRDKAFKA, Sureness.GIVEN, Sign.RULE, "2.16.0", "2.16.0")
    assert candidates(GroupType.CLASSIC, "consumer", None, tried)[0].basis == tried.fact(is_asked=True)


def test_rules_say_it_by_the_name_of_the_group_or_the_ids_of_all_members() -> None:
    ids = {"a": ("svc-1", "svc-2"), "b": ("svc-1", None), "pay-x": ()}
    groups = [
        Group(name, members=tuple(Member(f"m{i}", client_id=line) for i, line in enumerate(clients)))
        for name, clients in ids.items()
    ]
    snapshot = cluster(striped("t", 2), groups=groups)
    rules = (ClientRule("pay-.*|svc-.", "java", "2.8.1"), ClientRule("pay-.*", "sarama"))
    reported = with_clients(snapshot, rules)
    assert [(group.id, group.client, group.client_version) for group in reported.groups] == [
        ("a", "java", "2.8.1"), ("b", None, None), ("pay-x", "java", "2.8.1"),
    ]  # fmt: skip
    known = KnownClient(Client.JAVA, Sureness.GIVEN, Sign.RULE, "2.8.1", "2.8.1")
    assert group_client(reported.groups[0]) == known
    assert with_clients(snapshot, ()) is snapshot


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"pattern": "(", "client": "java"}, "no regular expression"),
        ({"pattern": " ", "client": "java"}, "is no text"),
        ({"pattern": "a", "client": "confluent"}, "'confluent' is unknown; known: java, librdkafka"),
        ({"pattern": "a", "client": "java", "version": "new"}, "expected a release"),
    ],
)
def test_a_rule_that_cannot_be_is_refused(rule: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message.replace("(", r"\(")):
        ClientRule(**rule)
