from __future__ import annotations

import gc
import socket
import ssl
import threading
import time
import warnings

import pytest
from kafka.errors import KafkaTimeoutError
from kafka.net.selector import NetworkSelector

from rebalance_advisor.kafka.connection.client import ClosingConnectionManager, PlainTransport
from tests.unit.kafka.canned_broker import CannedBroker, closed_port, listening, topic_row


def connect(where: str, *, is_tls: bool, within_ms: int) -> None:
    """Bootstrap as the client does. Raises KafkaTimeoutError where that fails."""
    network = NetworkSelector(client_id="test")
    context = ssl.create_default_context() if is_tls else None
    manager = ClosingConnectionManager(
        network, bootstrap_servers=[where], security_protocol="SSL" if is_tls else "PLAINTEXT", ssl_context=context
    )
    network.start()
    try:
        manager.bootstrap(within_ms)
    finally:
        manager.close()
        network.close()


def answer_nonsense(listener: socket.socket) -> None:
    while True:
        try:
            accepted, _ = listener.accept()
        except OSError:
            return
        with accepted:
            accepted.sendall(b"220 smtp ready\r\n" * 20)
            time.sleep(0.05)


def test_what_was_opened_is_closed_however_it_ends() -> None:
    """kafka-python's own manager leaves sockets to the garbage collector, and waits for a TLS handshake for ever."""
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        socket.create_server(("127.0.0.1", 0)) as talking,
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always", ResourceWarning)
        talker = threading.Thread(target=answer_nonsense, args=(talking,), daemon=True)
        talker.start()
        for port in (closed_port(), silent.getsockname()[1], talking.getsockname()[1]):
            for is_tls in (False, True):
                with pytest.raises(KafkaTimeoutError):
                    connect(f"127.0.0.1:{port}", is_tls=is_tls, within_ms=300)
        talking.shutdown(socket.SHUT_RDWR)
        talker.join(300)
        gc.collect()
    assert [str(warning.message) for warning in caught] == []


def test_a_request_that_is_still_being_written_keeps_no_socket_open() -> None:
    """kafka-python's own transport would wait for the rest of it."""
    network = NetworkSelector(client_id="test")
    ours, theirs = socket.socketpair()
    with theirs:
        transport = PlainTransport(network, ours, host="broker")
        transport.write(b"request")
        transport.close()
        assert ours.fileno() == -1
    network.close()


def test_a_broker_that_answers_is_connected_to() -> None:
    with listening(CannedBroker({}, [topic_row("t", (1, [1], [1]))])) as where:
        connect(where, is_tls=False, within_ms=60_000)
