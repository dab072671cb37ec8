from __future__ import annotations

import socket
import struct
import threading
from types import SimpleNamespace

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.snapshot.model import Group, GroupType
from rebalance_advisor.kafka.connection.probe import (
    API_VERSIONS,
    NotKafkaError,
    SpeaksTlsError,
    ask_api_versions,
    ask_sasl_handshake,
)
from rebalance_advisor.kafka.connection.properties import jaas_entry
from rebalance_advisor.kafka.coverage import Coverage
from rebalance_advisor.kafka.groups import with_members

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"


def test_module_and_options_of_a_jaas_entry() -> None:
    entry = jaas_entry(f'{PLAIN} required username=\'a\' password="b \\" c";', "PLAIN", "here")
    assert (entry.module, dict(entry.options)) == (PLAIN, {"username": "a", "password": 'b " c'})
    assert repr(entry) == f"JaasEntry(module='{PLAIN}')"


@pytest.mark.parametrize(
    ("text", "mechanism"),
    [
        ("nonsense", "PLAIN"),
        (f'{PLAIN} required username="a" password="b";', "SCRAM-SHA-512"),
        (f"{PLAIN} required username = ;", "PLAIN"),
    ],
)
def test_what_is_no_entry_is_refused_without_its_value(text: str, mechanism: str) -> None:
    with pytest.raises(InvalidInputError, match="here") as caught:
        jaas_entry(text, mechanism, "here")
    assert '"b"' not in str(caught.value)


def answered(reply: bytes, send):
    """Result of ``send`` for a listener that sends ``reply``."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        listener = threading.Thread(target=lambda: (theirs.recv(4096), theirs.sendall(reply), theirs.shutdown(1)))
        listener.start()
        try:
            return send(ours)
        finally:
            listener.join()


def framed(key: int, body: bytes) -> bytes:
    return struct.pack(">ii", len(body) + 4, key) + body


def test_versions_of_an_answer() -> None:
    body = struct.pack(">hi", 0, 2) + struct.pack(">hhh", 3, 0, 12) + struct.pack(">hhh", 18, 0, 4)
    assert answered(framed(API_VERSIONS, body), ask_api_versions) == {3: (0, 12), 18: (0, 4)}


def test_mechanisms_of_a_handshake() -> None:
    body = struct.pack(">hi", 33, 1) + struct.pack(">h", 5) + b"PLAIN"
    mechanisms = answered(framed(17, body), lambda connection: ask_sasl_handshake(connection, "SCRAM-SHA-256"))
    assert (mechanisms.error_code, mechanisms.mechanisms) == (33, ("PLAIN",))


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (b"\x15\x03\x03\x00\x02\x02\x28", SpeaksTlsError),
        (b"HTTP/1.1 400 Bad Request\r\n", NotKafkaError),
        (framed(99, b"xxxx"), NotKafkaError),
        (framed(API_VERSIONS, b""), NotKafkaError),
        (b"\x00", EOFError),
    ],
)
def test_what_is_not_kafka_is_told_apart(reply: bytes, error: type[Exception]) -> None:
    with pytest.raises(error):
        answered(reply, ask_api_versions)


def test_a_described_consumer_group() -> None:
    runs = [SimpleNamespace(topic_name="t", partitions=[16, 1, 0]), SimpleNamespace(topic_name="a", partitions=[0])]
    topics = SimpleNamespace(topic_partitions=runs)
    member = SimpleNamespace(
        member_id="m", client_id="c", client_host="/h", rack_id=None, subscribed_topic_names=["t"], member_epoch=4,
        assignment=topics, target_assignment=topics, instance_id=None, subscribed_topic_regex=None,
    )  # fmt: skip
    described = SimpleNamespace(
        group_state="Stable", assignor_name="uniform", group_epoch=4, assignment_epoch=3, members=[member]
    )
    coverage = Coverage()
    group = with_members(Group("g", type=GroupType.CONSUMER), described, coverage, {})
    assert (group.protocol, group.generation, group.assignment_epoch, group.state) == ("uniform", 4, 3, "Stable")
    as_walked = (("t", (16, 1, 0)), ("a", (0,)))
    assert group.members[0].assigned == group.members[0].target == as_walked


def test_a_group_that_vanished_or_rebalances_leaves_a_gap() -> None:
    coverage = Coverage()
    gone = with_members(Group("g"), SimpleNamespace(group_state="Dead"), coverage, {})
    assert gone.state == "Dead"
    described = SimpleNamespace(
        group_state="PreparingRebalance", protocol_type="consumer", protocol_data="range", members=[]
    )
    with_members(Group("g", type=GroupType.CLASSIC), described, coverage, {})
    assert [gap.what for gap in coverage.gaps] == [fact(FactCode.LACKS_MEMBERS)] * 2
