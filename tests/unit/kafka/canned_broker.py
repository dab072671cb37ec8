"""Broker on loopback with canned responses to known requests, in the versions that it announces."""

from __future__ import annotations

import functools
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from kafka.protocol.metadata import ApiVersionsRequest, ApiVersionsResponse, MetadataRequest, MetadataResponse

Answer = Callable[[Any], Any]  # request → response; None closes the connection


@dataclass
class CannedBroker:
    """``answers``: request class → (newest version it speaks, answer). ApiVersions and its own Metadata are there."""

    answers: dict[type[Any], tuple[int, Answer]]
    rows: list[Any] = field(default_factory=list)
    others: dict[int, tuple[str, int]] = field(default_factory=dict)
    port: int = 0
    asked: list[str] = field(default_factory=list)
    correlation: int = 0

    def __post_init__(self) -> None:
        self.answers = {
            ApiVersionsRequest: (4, lambda _: self._versions()),
            MetadataRequest: (7, self._metadata),
        } | self.answers

    def reply(self, frame: bytes) -> bytes | None:
        """The framed response to one request; None where the connection is closed instead."""
        key, version, self.correlation = struct.unpack_from(">hhi", frame)
        kind = next((request for request in self.answers if key == request.API_KEY), None)
        if kind is None or version > self.answers[kind][0]:
            return None
        self.asked.append(kind.__name__)
        response = self.answers[kind][1](kind.decode(frame, version=version, header=True))
        if response is None:
            return None
        # Responses to ApiVersions have the old header whatever their version: a client may not know the new one yet.
        has_tags = kind is not ApiVersionsRequest and response.flexible_version_q(version)
        body = struct.pack(">i", self.correlation) + (b"\0" if has_tags else b"") + response.encode(version=version)
        return struct.pack(">i", len(body)) + body

    def sent(self, connection: socket.socket, reply: bytes) -> None:
        """Send the response to the last request."""
        connection.sendall(reply)

    def _versions(self) -> Any:
        keys = [
            ApiVersionsResponse.ApiVersion(api_key=kind.API_KEY, min_version=0, max_version=newest)
            for kind, (newest, _) in self.answers.items()
        ]
        return ApiVersionsResponse(error_code=0, api_keys=keys, throttle_time_ms=0)

    def _metadata(self, request: Any) -> Any:
        """Broker 1 is this one; ``others`` advertise addresses of their own."""
        addresses: Mapping[int, tuple[str, int]] = {1: ("127.0.0.1", self.port)} | self.others
        brokers = [
            MetadataResponse.MetadataResponseBroker(node_id=broker, host=host, port=port, rack=f"rack-{broker}")
            for broker, (host, port) in addresses.items()
        ]
        rows = self.rows
        if request.topics is not None:
            held = {row.name: row for row in rows}
            rows = [held.get(asked.name, unknown_topic(asked.name)) for asked in request.topics]
        return MetadataResponse(brokers=brokers, cluster_id="canned", controller_id=1, topics=rows)


def unknown_topic(name: str) -> Any:
    """Requested, but missing topic (UnknownTopicOrPartition)."""
    return MetadataResponse.MetadataResponseTopic(error_code=3, name=name, is_internal=False, partitions=[])


def topic_row(name: str, *partitions: tuple[int, list[int], list[int]]) -> Any:
    """A topic of Metadata: (leader, replicas, in-sync ones) of each partition, in order."""
    row = MetadataResponse.MetadataResponseTopic
    return row(
        error_code=0, name=name, is_internal=False,
        partitions=[
            row.MetadataResponsePartition(
                error_code=0, partition_index=index, leader_id=leader, replica_nodes=replicas, isr_nodes=isr,
                offline_replicas=[], leader_epoch=0,
            )
            for index, (leader, replicas, isr) in enumerate(partitions)
        ],
    )  # fmt: skip


@contextmanager
def listening(broker: CannedBroker, context: ssl.SSLContext | None = None) -> Iterator[str]:
    """``host:port`` of the broker, for as long as it listens; by TLS with ``context``."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        broker.port = listener.getsockname()[1]
        threads: list[threading.Thread] = []

        def accept() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                threads.append(threading.Thread(target=_serve, args=(broker, connection, context), daemon=True))
                threads[-1].start()

        accepting = threading.Thread(target=accept, daemon=True)
        accepting.start()
        try:
            yield f"127.0.0.1:{broker.port}"
        finally:
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            for thread in (accepting, *threads):
                thread.join(300)


@functools.cache
def closed_port() -> int:
    """Port without listener, which no other program can get while this one runs."""
    held = socket.socket()
    held.bind(("127.0.0.1", 0))
    port = int(held.getsockname()[1])
    held.detach()  # it stays bound
    return port


def _serve(broker: CannedBroker, plain: socket.socket, context: ssl.SSLContext | None) -> None:
    with plain, suppress(OSError):
        plain.settimeout(300)
        connection = plain if context is None else context.wrap_socket(plain, server_side=True)
        with connection, connection.makefile("rb") as stream:
            _answer(broker, connection, stream)


def _answer(broker: CannedBroker, connection: socket.socket, stream: BinaryIO) -> None:
    while len(head := stream.read(4)) == 4:
        reply = broker.reply(stream.read(struct.unpack(">i", head)[0]))
        if reply is None:
            return
        broker.sent(connection, reply)
