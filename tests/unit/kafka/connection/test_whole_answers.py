from __future__ import annotations

import socket
import ssl
import struct
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from kafka import errors
from kafka.protocol.admin import ListGroupsRequest, ListGroupsResponse
from kafka.protocol.metadata import MetadataRequest

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.snapshot.model import BrokerState
from rebalance_advisor.kafka.connection.client import ClusterClient
from rebalance_advisor.kafka.connection.properties import connection_settings
from rebalance_advisor.kafka.connection.whole_answers import LARGEST_ANSWER, AnswerBudget, WholeAnswers
from rebalance_advisor.kafka.request_sender import RequestSender
from rebalance_advisor.kafka.unresponsive import UnfinishedAnswerError, UnresponsiveBroker
from stack.kafka.security import make_certificates
from tests.unit.kafka.canned_broker import CannedBroker, listening, topic_row

Write = Callable[[socket.socket], None]  # sent by a broker in place of its answer


class Listener(CannedBroker):
    """A broker whose answer to ListGroups is sent by ``write``, if any."""

    write: Write | None = None

    def sent(self, connection: socket.socket, reply: bytes) -> None:
        if self.write is not None and self.asked[-1] == "ListGroupsRequest":
            self.write(connection)
        else:
            super().sent(connection, reply)


def listener(groups: int = 0) -> Listener:
    rows = [
        ListGroupsResponse.ListedGroup(group_id=f"group-{i:05}-{'x' * 200}", protocol_type="consumer", group_state="")
        for i in range(groups)
    ]
    answer = ListGroupsResponse(error_code=0, groups=rows, throttle_time_ms=0)
    return Listener({ListGroupsRequest: (4, lambda _: answer)}, [topic_row("t", (1, [1], [1]))])


@contextmanager
def connected(broker: Listener, context: ssl.SSLContext | None = None, **properties: str) -> Iterator[ClusterClient]:
    with listening(broker, context) as where:
        settings = connection_settings({"bootstrap.servers": where, **properties})
        with ClusterClient(settings, settings.servers[0]) as client:
            assert client.connect() == {1: None}
            yield client


def ask(client: ClusterClient, seconds: float = 10.0) -> object:
    return client.send({0: (1, ListGroupsRequest())}, seconds)[0]


def drip(first: bytes) -> Write:
    """``first``, then one byte after the other until the client hangs up."""

    def write(connection: socket.socket) -> None:
        connection.sendall(first)
        while True:
            time.sleep(0.02)
            connection.sendall(b"\0")

    return write


def test_a_length_that_is_claimed_takes_no_memory() -> None:
    """kafka-python sets aside what the first four bytes claim: five brokers could take five GB."""
    broker = listener()
    broker.write = drip(struct.pack(">i", LARGEST_ANSWER))
    with connected(broker) as client:
        tracemalloc.start()
        try:
            answer = ask(client, 0.5)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert isinstance(answer, UnfinishedAnswerError)
    assert peak < 32 << 20


@pytest.mark.parametrize("size", [LARGEST_ANSWER + 1, 2**31 - 1, -1, -(2**31)])
def test_a_length_that_no_answer_has_is_refused_at_once(size: int) -> None:
    broker = listener()
    broker.write = drip(struct.pack(">i", size))
    with connected(broker) as client:
        answer = ask(client)
        assert isinstance(answer, errors.InvalidReceiveError)
        assert f"an answer of {size:,} bytes was announced" in str(answer)
        broker.write = None
        assert ask(client).groups == []  # type: ignore[attr-defined]


def test_all_connections_share_one_budget() -> None:
    """Many answers that are each allowed: the largest is refused, and what is whole is unharmed."""

    class Connection:
        def __init__(self) -> None:
            self.received: list[bytes] = []
            self.lost: list[object] = []

        def data_received(self, data: bytes) -> None:
            self.received.append(data)

        def connection_lost(self, failure: object) -> None:
            self.lost.append(failure)

    budget = AnswerBudget(1_000)
    connections = [Connection() for _ in range(6)]
    readers: list[WholeAnswers] = []
    for i, connection in enumerate(connections):
        # As in the transport: an abort informs its protocol.
        abort = lambda failure, i=i: readers[i].connection_lost(failure)  # noqa: E731
        readers.append(WholeAnswers(connection, abort, f"b{i}:9092", budget))
    head = struct.pack(">i", 996)
    for count, reader in zip((100, 150, 400, 120, 130), readers, strict=False):
        reader.data_received(head + bytes(count - 4))
    assert [connection.lost for connection in connections] == [[]] * 6
    readers[5].data_received(head + bytes(200))
    (failure,) = connections[2].lost
    assert isinstance(failure, errors.InvalidReceiveError)
    assert "unfinished answers of all brokers take 1,104 bytes, this one the most of them" in str(failure)
    assert [len(connection.lost) for connection in connections] == [0, 0, 1, 0, 0, 0]
    readers[0].data_received(bytes(896) + head)  # the answer's end, and the beginning of the next one
    assert [len(frame) for frame in connections[0].received] == [1_000]
    for reader in readers:
        reader.connection_lost(None)
    assert budget._held == {}


def test_a_broker_that_drips_is_slow_at_its_address_and_what_it_sent_is_told() -> None:
    broker = listener()
    broker.write = drip(struct.pack(">i", 5_000) + b"\0" * 7)
    with connected(broker) as client:
        sender = RequestSender(client, (1,), time.monotonic() + 60, 0.4)
        sender.send({0: (1, ListGroupsRequest())})
        unresponsive = sender.unresponsive[1]
    assert unresponsive.state is BrokerState.SILENT
    assert (unresponsive.reason.code, unresponsive.reason.args["seconds"]) == (FactCode.NO_ANSWER_IN_TIME, 0.4)
    start, _, rest = unresponsive.reason.args["text"].partition(f"127.0.0.1:{broker.port} sent ")
    assert start == ""
    count, _, rest = rest.partition(" of the 5,000 bytes of an answer")
    assert rest == ""
    assert 7 <= int(count) < 5_000


def test_a_broker_that_sends_nothing_is_silent_as_before() -> None:
    broker = listener()
    broker.write = lambda connection: connection.recv(1) and None
    with connected(broker) as client:
        sender = RequestSender(client, (1,), time.monotonic() + 60, 0.3)
        sender.send({0: (1, ListGroupsRequest())})
    reason = fact(FactCode.NO_ANSWER_IN_TIME, seconds=0.3, text=None)
    assert sender.unresponsive == {1: UnresponsiveBroker(BrokerState.SILENT, reason)}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\0\0\0",
        b"\0" * 6 + b"\xff" * 40,  # a count that is larger than what follows
        b"\0" * 6 + b"\x02\x05\xff\xfe\xfd\xfc",  # no UTF-8, and nothing behind it
        b"\0" * 5,
    ],
)
def test_an_answer_of_nonsense_fails_at_once_and_the_next_one_is_read(body: bytes) -> None:
    """After some decoding errors kafka-python read the connection no more: the broker was called silent."""
    broker = listener()

    def nonsense(connection: socket.socket) -> None:
        payload = struct.pack(">i", broker.correlation) + b"\0" + body
        connection.sendall(struct.pack(">i", len(payload)) + payload)

    broker.write = nonsense
    with connected(broker) as client:
        answer = ask(client)
        assert isinstance(answer, errors.KafkaProtocolError), answer
        broker.write = None
        assert ask(client).groups == []  # type: ignore[attr-defined]


def test_large_answers_arrive_whole_by_plain_tcp_and_by_tls(tmp_path: Path) -> None:
    """They are read in portions, and with TLS a portion may end where the system has no more bytes."""
    certificates = make_certificates(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates.broker)
    tls = {"security.protocol": "SSL", "ssl.ca.location": str(certificates.authority)}
    for properties in ({}, tls):
        broker = listener(groups=10_000)
        with connected(broker, context if properties else None, **properties) as client:
            requests = {i: (1, ListGroupsRequest()) for i in range(3)} | {3: (1, MetadataRequest(topics=None))}
            answers = client.send(requests, 60.0)
        assert [len(answers[i].groups) for i in range(3)] == [10_000] * 3
        assert answers[0].groups[-1].group_id.startswith("group-09999-")
        assert [row.name for row in answers[3].topics] == ["t"]


def test_a_sender_that_never_pauses_does_not_fill_our_memory() -> None:
    """Bytes are checked after each MiB: here the first four are no length."""
    broker = listener()
    flood = struct.pack(">i", 2**31 - 1) + b"\0" * (1 << 20)

    def pour(connection: socket.socket) -> None:
        with suppress(OSError):
            while True:
                connection.sendall(flood)

    broker.write = pour
    with connected(broker) as client:
        tracemalloc.start()
        try:
            answer = ask(client)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert isinstance(answer, errors.InvalidReceiveError)
    assert peak < 32 << 20
    assert threading.active_count() < 50
