"""kafka-python's connection manager, but no socket stays open and no handshake lasts for ever.

A refused connection, a handshake that fails or is under way when the client is closed (a broker that froze), and a
request that is still being written then leave a socket to the garbage collector there.
"""

from __future__ import annotations

import socket
import time
from typing import Any

from kafka import errors
from kafka.net.inet import KafkaNetSocket
from kafka.net.manager import KafkaConnectionManager
from kafka.net.selector import NetworkSelector
from kafka.net.transport import KafkaSSLTransport, KafkaTCPTransport

_HANDSHAKE_S = 5.0


class ClosingConnectionManager(KafkaConnectionManager):
    """Connections by plain TCP and TLS, without a proxy."""

    def __init__(self, net: NetworkSelector, **configs: Any) -> None:
        super().__init__(net, **configs)
        self._transports: list[KafkaTCPTransport] = []

    def close_sockets(self) -> None:
        """What is open even now, after manager and network were closed."""
        for transport in self._transports:
            if transport._sock is not None:
                transport._sock.close()

    def get_connection(self, node_id: Any, timeout_ms: float | None = None, **options: Any) -> Any:
        """As there; but a connection that ends does not make the manager ask for metadata by itself."""
        return super().get_connection(node_id, timeout_ms=timeout_ms, **options | {"refresh_metadata_on_err": False})

    async def _build_transport(self, node: Any, timeout_at: float | None = None) -> Any:
        """A connection to ``node`` with TLS where it is wanted. Raises KafkaConnectionError."""
        connection = await self._connected(node.host, node.port, timeout_at)
        try:
            if self.ssl_enabled:
                tls = {key: value for key, value in self.config.items() if key.startswith("ssl_")}
                transport = KafkaSSLTransport(self._net, connection, host=node.host, **tls)
            else:
                transport = KafkaTCPTransport(self._net, connection, host=node.host)
        except BaseException:
            connection.close()
            raise
        self._transports.append(transport)
        try:
            # kafka-python gives a TLS handshake all the time there is: a broker that froze would hang the reading.
            left_s = timeout_at - time.monotonic() if timeout_at is not None else _HANDSHAKE_S
            await self.wait_for(self.call_soon(transport.handshake), max(1.0, left_s * 1000))
        except BaseException as failure:  # also where the client is closed meanwhile
            transport.abort(failure)
            if isinstance(failure, Exception):
                raise errors.KafkaConnectionError(f"Handshake failed: {failure}") from failure
            raise
        return transport

    async def _connected(self, host: str, port: int, timeout_at: float | None) -> socket.socket:
        """The first of the host's addresses that accepts."""
        network = KafkaNetSocket()
        problem: Exception = errors.KafkaConnectionError("the host name does not resolve")
        for family, kind, protocol, _, address in network.dns_lookup(host, port):
            connection = socket.socket(family, kind, protocol)
            try:
                connection.setblocking(False)
                for option in self.config["socket_options"]:
                    connection.setsockopt(*option)
                await network.sock_connect(self._net, connection, address, timeout_at=timeout_at)
            except BaseException as failure:
                connection.close()
                if not isinstance(failure, OSError | errors.KafkaConnectionError | errors.KafkaTimeoutError):
                    raise
                problem = errors.KafkaConnectionError(f"unable to connect: {failure}")
            else:
                return connection
        raise problem
