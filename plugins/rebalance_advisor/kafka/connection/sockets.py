"""Bound kafka-python's handshakes and memory, and close the sockets that it leaks: refused connections, unfinished
handshakes and writes. ``set_protocol`` inserts ``WholeAnswers``.
"""

from __future__ import annotations

import socket
import ssl
import time
from typing import Any

from kafka import errors
from kafka.net.inet import KafkaNetSocket
from kafka.net.manager import KafkaConnectionManager
from kafka.net.selector import NetworkSelector
from kafka.net.transport import KafkaSSLTransport, KafkaTCPTransport

from rebalance_advisor.kafka.connection.whole_answers import AnswerBudget, WholeAnswers

_HANDSHAKE_S = 5.0
_READ_AT_ONCE = 1 << 20


class _ReadInPortions(socket.socket):
    """Appears empty after each MiB: kafka-python reads until empty, so a fast sender would block it."""

    _read = 0

    def recv(self, size: int, flags: int = 0) -> bytes:
        if self._read >= _READ_AT_ONCE and not self._has_more_than_the_system_knows():
            self._read = 0
            raise BlockingIOError
        data = super().recv(size, flags)
        self._read += len(data)
        return data

    def _has_more_than_the_system_knows(self) -> bool:
        """Whether decrypted bytes wait, which the event loop does not see."""
        return False


class _TlsReadInPortions(_ReadInPortions, ssl.SSLSocket):  # type: ignore[misc]  # it calls the size buflen
    def _has_more_than_the_system_knows(self) -> bool:
        return self.pending() > 0


class PlainTransport(KafkaTCPTransport):
    budget: AnswerBudget

    def set_protocol(self, protocol: Any) -> None:
        super().set_protocol(WholeAnswers(protocol, self.abort, self.host_port().partition("<")[0], self.budget))

    def get_protocol(self) -> Any:
        protocol = super().get_protocol()
        return protocol.connection if isinstance(protocol, WholeAnswers) else protocol

    def close(self) -> None:
        """kafka-python would wait for a request that it never finishes writing."""
        self.abort()


class TlsTransport(PlainTransport, KafkaSSLTransport):
    pass


class ClosingConnectionManager(KafkaConnectionManager):
    def __init__(self, net: NetworkSelector, **configs: Any) -> None:
        super().__init__(net, **configs)
        self._network = net
        self._budget = AnswerBudget()
        if self.config["ssl_context"] is not None:
            self.config["ssl_context"].sslsocket_class = _TlsReadInPortions

    def get_connection(self, node_id: Any, timeout_ms: float | None = None, **options: Any) -> Any:
        """Requests no Metadata when a connection ends."""
        return super().get_connection(node_id, timeout_ms=timeout_ms, **options | {"refresh_metadata_on_err": False})

    async def _build_transport(self, node: Any, timeout_at: float | None = None) -> Any:
        connection = await self._connected(node.host, node.port, timeout_at)
        try:
            if self.ssl_enabled:
                tls = {key: value for key, value in self.config.items() if key.startswith("ssl_")}
                transport: PlainTransport = TlsTransport(self._network, connection, host=node.host, **tls)
            else:
                transport = PlainTransport(self._network, connection, host=node.host)
            transport.budget = self._budget
        except BaseException:
            connection.close()
            raise
        try:
            # kafka-python does not limit TLS handshakes.
            left_s = timeout_at - time.monotonic() if timeout_at is not None else _HANDSHAKE_S
            await self.wait_for(self.call_soon(transport.handshake), max(1.0, left_s * 1000))
        except BaseException as failure:  # also when the client is closed
            transport.abort(failure)
            if isinstance(failure, Exception):
                raise errors.KafkaConnectionError(f"Handshake failed: {failure}") from failure
            raise
        return transport

    async def _connected(self, host: str, port: int, timeout_at: float | None) -> socket.socket:
        network = KafkaNetSocket()
        problem: Exception = errors.KafkaConnectionError("the host name does not resolve")
        for family, kind, protocol, _, address in network.dns_lookup(host, port):
            connection = _ReadInPortions(family, kind, protocol)
            try:
                connection.setblocking(False)
                for option in self.config["socket_options"]:
                    connection.setsockopt(*option)
                await network.sock_connect(self._network, connection, address, timeout_at=timeout_at)
            except BaseException as failure:
                connection.close()
                if not isinstance(failure, OSError | errors.KafkaConnectionError | errors.KafkaTimeoutError):
                    raise
                problem = errors.KafkaConnectionError(f"unable to connect: {failure}")
            else:
                return connection
        raise problem
