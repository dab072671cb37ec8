"""Send requests to many brokers at once, under one deadline.

Only this file and ``sockets.py`` use internals of kafka-python 3.0. Each snapshot uses a new client, because an old one
keeps removed brokers.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self, TypeVar

from kafka import errors
from kafka.net.selector import NetworkSelector
from kafka.protocol.metadata import ApiVersionsRequest

from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.render import render
from kafka_rebalance.snapshot.model import BrokerState
from rebalance_advisor.kafka.connection.logins import client_options
from rebalance_advisor.kafka.connection.reach import unreachable_brokers
from rebalance_advisor.kafka.connection.settings import ConnectionSettings
from rebalance_advisor.kafka.connection.sockets import ClosingConnectionManager
from rebalance_advisor.kafka.connection.tls import tls_context
from rebalance_advisor.kafka.connection.whole_answers import LARGEST_ANSWER
from rebalance_advisor.kafka.unheard import NotAskedError, Unheard, UnreachableError, is_timeout, silence, unheard_by

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

    def connect(self) -> dict[int, Unheard | None]:
        """Refused or closed connections are tried once more."""
        addresses = self.addresses
        unheard = self._connect(addresses)
        again = {broker: addresses[broker] for broker, why in unheard.items() if why.state is not BrokerState.SILENT}
        if again:
            time.sleep(1.0)
            unheard = {broker: why for broker, why in unheard.items() if broker not in again} | self._connect(again)
        return {broker: unheard.get(broker) for broker in addresses}

    def _connect(self, addresses: Mapping[int, tuple[str, int]]) -> dict[int, Unheard]:
        unheard = unreachable_brokers(addresses, REACH_SECONDS)
        requests = {
            broker: (broker, ApiVersionsRequest(max_version=0)) for broker in addresses if broker not in unheard
        }
        for broker, why in self._send(requests, CONNECT_SECONDS).items():
            if isinstance(why, Exception):
                reason = silence(why, CONNECT_SECONDS) if is_timeout(why) else said_by(why)
                unheard[broker] = unheard_by(why, reason) or Unheard(BrokerState.DISCONNECTED, reason)
        return unheard

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
    return fact(FactCode.REQUEST_FAILED, kind=_kind(failure), text=failure_words(failure))


def said_by(failure: Exception) -> Fact:
    if isinstance(failure, UnreachableError):
        return failure.reason
    return fact(FactCode.AS_REPORTED, text=failure_words(failure))


def failure_words(failure: Exception) -> str:
    name = type(failure).__name__
    words = re.sub(rf"^(\[Error -?\d+\] )?{name}(: |$)", "", str(failure).strip()).strip()
    return words or _kind(failure)


def _kind(failure: Exception) -> str:
    return type(failure).__name__.removesuffix("Error")
