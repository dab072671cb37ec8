"""Whose consumer a member is, told by its client id and by the bytes that it joined with, and how sure that is.

Only the leader's client decides what a strategy answers, and nobody tells which member leads: a group's client is that
of all its members. A client id that somebody configured hides the default; the bytes of a classic group do not lie.

Example: client id ``rdkafka`` is librdkafka's default. Version 1 with four bytes of user data under
``cooperative-sticky`` is Java 2.8.1 to 3.3, whatever the client id says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache

from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.groups.user_data import Layout, decode_user_data
from kafka_rebalance.options.client_rule import Client
from kafka_rebalance.releases import release_of, seen_release
from kafka_rebalance.snapshot.group import Group, Member


class Sign(StrEnum):
    """What shows a member's client."""

    NONE = ""
    RULE = "rule"
    CLIENT_ID = "client_id"
    JOIN_BYTES = "join_bytes"
    CLIENT_ID_AND_JOIN_BYTES = "client_id_and_join_bytes"
    STRATEGY_NAME = "strategy_name"


class Sureness(StrEnum):
    """What a client is known by, the surest first."""

    GIVEN = "given"
    CERTAIN = "certain"
    HIGH = "high"
    LOW = "low"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class KnownClient:
    """``client`` None: none whose strategies are known. ``first`` to ``last``: its releases, "" where all may be."""

    client: Client | None = None
    sureness: Sureness = Sureness.UNKNOWN
    sign: Sign = Sign.NONE
    first: str = ""
    last: str = ""
    program: str = ""  # what runs on it or instead of it: Kafka Streams, Connect, kafka-go

    def fact(self, *, is_asked: bool) -> Fact:
        """Return the client and its releases; ``is_asked``: those are the releases that were asked."""
        return fact(
            FactCode.RELEASES_OF_CLIENT, client=self.client.value if self.client else self.program, first=self.first,
            last=self.last, sign=self.sign.value, sureness=self.sureness.value, is_asked=is_asked,
        )  # fmt: skip

    def has(self, release: str) -> bool:
        """``release`` may be among its releases."""
        asked = release_of(release)
        is_after = not self.first or asked >= release_of(self.first)[: len(asked)]
        last = release_of(self.last) if self.last else asked
        return is_after and asked[: len(last)] <= last


UNKNOWN_CLIENT = KnownClient()
_ID, _BYTES, _BOTH = Sign.CLIENT_ID, Sign.JOIN_BYTES, Sign.CLIENT_ID_AND_JOIN_BYTES

# Of default client ids, the first that matches the whole; {group} stands for the group's own.
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
    (r".*@.* \(github\.com/segmentio/kafka-go\)", KnownClient(None, Sureness.HIGH, _ID, program="kafka-go")),
    (r".+-[0-9]{{1,4}}", KnownClient(Client.JAVA, Sureness.LOW, _ID)),  # Spring: a prefix and the thread's number
)
_OF_SARAMA = 2  # nobody else stops at this version
# Java's releases by the version of the bytes; others write such bytes too.
_JAVA_SPANS = {0: ("", "2.3"), 1: ("2.4", "3.3"), 3: ("3.4", "")}


def group_client(group: Group) -> KnownClient:
    """The client of all members, with all releases that one of them may have; unknown where they differ."""
    if group.client is not None:
        version = group.client_version or ""
        return KnownClient(Client(group.client), Sureness.GIVEN, Sign.RULE, version, version)
    return _together([member_client(member, group) for member in group.members])


def _together(found: Iterable[KnownClient]) -> KnownClient:
    each_one = list(found)
    told = [known for known in each_one if known.sureness is not Sureness.UNKNOWN]
    if not told or len({known.client for known in told}) > 1:
        return UNKNOWN_CLIENT
    is_all = len(told) == len(each_one)
    worst = max((known.sureness for known in told), key=list(Sureness).index) if is_all else Sureness.LOW
    programs = {known.program for known in told}
    return replace(
        told[0],
        sureness=worst,
        first="" if any(not known.first for known in told) else min((known.first for known in told), key=release_of),
        last="" if any(not known.last for known in told) else max((known.last for known in told), key=release_of),
        program=programs.pop() if len(programs) == 1 else "",
    )


def member_client(member: Member, group: Group) -> KnownClient:
    """By its bytes if they tell, else by its client id; the bytes then narrow the releases of a Java client."""
    by_id, by_bytes = _by_id(member.client_id or "", group.id), _by_bytes(member, group.protocol)
    if by_bytes.sureness is Sureness.LOW and by_id.sureness is Sureness.HIGH:
        return by_id
    if by_bytes.client is not None:
        is_agreed = by_id.client is by_bytes.client and by_id.sureness is Sureness.HIGH
        return replace(by_bytes, program=by_id.program, sign=_BOTH) if is_agreed else by_bytes
    span = _JAVA_SPANS.get(member.subscription_version if member.subscription_version is not None else -1)
    if by_id.sureness is Sureness.LOW and member.subscription_version == 0:
        return UNKNOWN_CLIENT  # Python's clients and KafkaJS write it, and hardly a Java so old
    if by_id.client is Client.JAVA and span is not None:
        return replace(by_id, first=span[0] or by_id.first, last=span[1] or by_id.last, sign=_BOTH)
    return by_id


@lru_cache(maxsize=65_536)  # several findings ask of the same members
def _by_id(client_id: str, group_id: str) -> KnownClient:
    for pattern, known in _IDS:
        match = re.fullmatch(pattern.format(group=re.escape(group_id)), client_id, re.DOTALL)
        if match is None:
            continue
        if "release" not in match.groupdict():
            return known
        line = ".".join(str(number) for number in seen_release(match["release"])[:2])
        if line:
            return replace(known, first=line, last=line)
    return UNKNOWN_CLIENT


def _by_bytes(member: Member, protocol: str | None) -> KnownClient:
    """Combinations that one client alone writes."""
    if protocol == "RoundRobinAssigner":
        return KnownClient(Client.KAFKAJS, Sureness.CERTAIN, Sign.STRATEGY_NAME)
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
