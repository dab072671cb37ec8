"""Send requests to many brokers at once, under one deadline.

Only this file uses internals of kafka-python 3.0: to bound its handshakes and memory, and to close the sockets that it
leaks (refused connections, unfinished handshakes and writes). ``set_protocol`` inserts ``WholeAnswers``. Each snapshot
uses a new client, because an old one keeps removed brokers.
"""

from __future__ import annotations

import re
import socket
import ssl
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self, TypeVar

from kafka import errors
from kafka.net.inet import KafkaNetSocket
from kafka.net.manager import KafkaConnectionManager
from kafka.net.selector import NetworkSelector
from kafka.net.transport import KafkaSSLTransport, KafkaTCPTransport
from kafka.protocol.metadata import ApiVersionsRequest

from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.render import render
from kafka_rebalance.snapshot.model import BrokerState
from rebalance_advisor.kafka.connection.logins import client_options
from rebalance_advisor.kafka.connection.reach import unreachable_brokers
from rebalance_advisor.kafka.connection.settings import ConnectionSettings
from rebalance_advisor.kafka.connection.tls import tls_context
from rebalance_advisor.kafka.connection.whole_answers import LARGEST_ANSWER, AnswerBudget, WholeAnswers
from rebalance_advisor.kafka.unresponsive import (
    NotAskedError,
    UnreachableError,
    UnresponsiveBroker,
    is_timeout,
    silence,
    unresponsive_by,
)

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


Key = TypeVar("Key")
AddressedRequest = tuple[int, Any]
REACH_SECONDS = 3.0  # plain TCP connection
CONNECT_SECONDS = 5.0  # TLS, login and the first answer
_THROTTLE_POLL_S = 0.01
# kafka-python's own timer must fire first: its error says how much came.
_AFTER_TIMEOUT_S = 0.2
_NEVER_MS = 24 * 3_600_000


class ClusterClient:
    def __init__(self, settings: ConnectionSettings, server: tuple[str, int]) -> None:
        """``server``: reached by the probe. Raises kafka-python's exceptions."""
        host, port = server
        context = tls_context(settings) if settings.has_tls else None
        configs: dict[str, Any] = {
            "bootstrap_servers": [f"[{host}]:{port}" if ":" in host else f"{host}:{port}"],
            "client_id": settings.client_id,
            "security_protocol": settings.security_protocol,
            **client_options(settings),
            "ssl_context": context,
            "socket_connection_setup_timeout_ms": int(CONNECT_SECONDS * 1000),
            "socket_connection_setup_timeout_max_ms": int(CONNECT_SECONDS * 1000),
            "max_in_flight_requests_per_connection": 10_000,  # else requests would fail, not wait
            "receive_message_max_bytes": LARGEST_ANSWER,
            "metadata_max_age_ms": _NEVER_MS,
            "connections_max_idle_ms": _NEVER_MS,
        }
        self._net = NetworkSelector(client_id=settings.client_id)
        self._manager = ClosingConnectionManager(self._net, **configs)
        self._net.start()
        try:
            self._manager.bootstrap(int(CONNECT_SECONDS * 1000))
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self._manager.close()
        self._net.close()

    @property
    def addresses(self) -> dict[int, tuple[str, int]]:
        return {broker.node_id: (broker.host, broker.port) for broker in self._manager.cluster.brokers()}

    @property
    def kafka_version(self) -> str | None:
        version = self._manager.broker_version
        return ".".join(str(part) for part in version) if version else None

    def version_of(self, request: type[Any]) -> int:
        """Return the highest common version, or -1."""
        try:
            return int(self._manager.broker_version_data.api_version(request))
        except errors.IncompatibleBrokerVersion:
            return -1

    def connect(self) -> dict[int, UnresponsiveBroker | None]:
        """Refused or closed connections are tried once more."""
        addresses = self.addresses
        failed = self._connect(addresses)
        again = {broker: addresses[broker] for broker, why in failed.items() if why.state is not BrokerState.SILENT}
        if again:
            time.sleep(1.0)
            silent = {broker: why for broker, why in failed.items() if broker not in again}
            failed = silent | self._connect(again)
        return {broker: failed.get(broker) for broker in addresses}

    def _connect(self, addresses: Mapping[int, tuple[str, int]]) -> dict[int, UnresponsiveBroker]:
        failed = unreachable_brokers(addresses, REACH_SECONDS)
        requests = {broker: (broker, ApiVersionsRequest(max_version=0)) for broker in addresses if broker not in failed}
        for broker, why in self._send(requests, CONNECT_SECONDS).items():
            if isinstance(why, Exception):
                reason = silence(why, CONNECT_SECONDS) if is_timeout(why) else said_by(why)
                ended = UnresponsiveBroker(BrokerState.DISCONNECTED, reason)
                failed[broker] = unresponsive_by(why, reason) or ended
        return failed

    def send(self, requests: Mapping[Key, AddressedRequest], seconds: float) -> dict[Key, Any]:
        """Return a response or an exception for each request; never raises.

        A broker whose connection ended is first tried with a plain socket. Throttled requests wait.
        """
        connected = {connection.node_id for connection in self._manager.least_used_connections()}
        lost = {broker for broker, _ in requests.values()} - connected
        addresses = {broker: address for broker, address in self.addresses.items() if broker in lost}
        gone = unreachable_brokers(addresses, min(seconds, REACH_SECONDS)) if addresses else {}
        answers: dict[Key, Any] = {
            key: UnreachableError(gone[broker].reason) for key, (broker, _) in requests.items() if broker in gone
        }
        return answers | self._send({key: request for key, request in requests.items() if key not in answers}, seconds)

    def _send(self, requests: Mapping[Key, AddressedRequest], seconds: float) -> dict[Key, Any]:
        manager = self._manager
        deadline, timeout_ms = time.monotonic() + seconds + _AFTER_TIMEOUT_S, int(seconds * 1000)

        async def send_later(connection: Any, request: Any) -> Any:
            while "throttle" in connection.paused and connection.connected:
                await self._net.sleep(_THROTTLE_POLL_S)
            return await connection.send_request(request, request_timeout_ms=timeout_ms)

        async def ask_all() -> dict[Key, Any]:
            answers: dict[Key, Any] = {}
            flying = {}
            for key, (broker, request) in requests.items():
                try:
                    connection = manager.get_connection(broker)
                    if "throttle" in connection.paused:
                        flying[key] = manager.call_soon(send_later, connection, request)
                    else:
                        flying[key] = connection.send_request(request, request_timeout_ms=timeout_ms)
                except Exception as failure:  # noqa: BLE001  # an error is a value here
                    answers[key] = failure
            for key, future in flying.items():
                try:
                    answers[key] = await manager.wait_for(future, max(1.0, (deadline - time.monotonic()) * 1000))
                except Exception as failure:  # noqa: BLE001
                    answers[key] = failure
            return answers

        answered: dict[Key, Any] = manager.run(ask_all)
        return answered


def kafka_error(code: int) -> Fact:
    """For example ``NotCoordinator (16)``."""
    return fact(FactCode.KAFKA_ERROR, error=errors.for_code(code).__name__.removesuffix("Error"), error_code=code)


def error_name(code: int) -> str:
    return render(kafka_error(code))


def reason_of(failure: Exception) -> Fact:
    if isinstance(failure, (NotAskedError, UnreachableError)):
        return failure.reason
    return fact(FactCode.REQUEST_FAILED, kind=_kind(failure), text=failure_text(failure))


def said_by(failure: Exception) -> Fact:
    if isinstance(failure, UnreachableError):
        return failure.reason
    return fact(FactCode.AS_REPORTED, text=failure_text(failure))


def failure_text(failure: Exception) -> str:
    name = type(failure).__name__
    text = re.sub(rf"^(\[Error -?\d+\] )?{name}(: |$)", "", str(failure).strip()).strip()
    return text or _kind(failure)


def _kind(failure: Exception) -> str:
    return type(failure).__name__.removesuffix("Error")
