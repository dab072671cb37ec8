"""No socket stays open: not where a connection is refused, not where a handshake fails or never ends."""

from __future__ import annotations

import gc
import socket
import ssl
import threading
import warnings
from pathlib import Path

import pytest
from kafka.errors import KafkaTimeoutError
from kafka.net.selector import NetworkSelector

from rebalance_advisor.kafka.connection.sockets import ClosingConnectionManager
from tests.unit.kafka.canned_broker import CannedBroker, free_port, listening, topic_row


def open_sockets() -> int:
    gc.collect()
    return sum(
        str(file.readlink()).startswith("socket:") for file in Path("/proc/self/fd").iterdir() if file.is_symlink()
    )


def connect(where: str, *, is_tls: bool) -> None:
    """Bootstrap as the client does, in three tenths of a second. Raises KafkaTimeoutError where that fails."""
    network = NetworkSelector(client_id="test")
    context = ssl.create_default_context() if is_tls else None
    manager = ClosingConnectionManager(
        network, bootstrap_servers=[where], security_protocol="SSL" if is_tls else "PLAINTEXT", ssl_context=context
    )
    network.start()
    try:
        manager.bootstrap(300)
    finally:
        manager.close()
        network.close()


@pytest.mark.parametrize("is_tls", [False, True])
@pytest.mark.parametrize("server", ["refuses", "is silent", "talks nonsense"])
def test_what_was_opened_is_closed_however_it_ends(server: str, is_tls: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # counted here instead
        port = free_port() if server == "refuses" else listener.getsockname()[1]
        threading.Thread(target=answer_nonsense, args=(listener,), daemon=True).start() if "non" in server else None
        before = open_sockets()
        kept: list[BaseException] = []  # a traceback that somebody keeps must not keep a socket open
        with pytest.raises(KafkaTimeoutError) as caught:
            connect(f"127.0.0.1:{port}", is_tls=is_tls)
        kept.append(caught.value)
        assert open_sockets() - before <= (1 if "non" in server else 0)  # the server's own end


def answer_nonsense(listener: socket.socket) -> None:
    try:
        while True:
            listener.accept()[0].sendall(b"220 smtp ready\r\n" * 20)
    except OSError:
        return


def test_a_broker_that_answers_is_connected_to() -> None:
    with listening(CannedBroker({}, [topic_row("t", (1, [1], [1]))])) as where:
        connect(where, is_tls=False)
