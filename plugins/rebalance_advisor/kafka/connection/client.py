"""Requests to many brokers at once on kafka-python 3.0: the one file that knows its insides.

kafka-python's admin calls raise, hang, or leave out what they could not read. Here every request is in flight at once
under one deadline, and an answer is either the response or the exception: errors are values. A fresh client is made for
each reading, because an old one keeps brokers and coordinators that are gone.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self, TypeVar

from kafka import errors
from kafka.net.manager import KafkaConnectionManager
from kafka.net.selector import NetworkSelector
from kafka.protocol.metadata import ApiVersionsRequest

from kafka_rebalance.snapshot.model import BrokerState
from rebalance_advisor.kafka.connection.logins import client_options
from rebalance_advisor.kafka.connection.reach import unreachable_brokers
from rebalance_advisor.kafka.connection.settings import ConnectionSettings
from rebalance_advisor.kafka.connection.tls import tls_context
from rebalance_advisor.kafka.unheard import Unheard, unheard_by

Key = TypeVar("Key")
AddressedRequest = tuple[int, Any]  # broker id, request of kafka.protocol
CONNECT_SECONDS = 3.0
_NEVER_MS = 24 * 3_600_000


class ClusterClient:
    """Connections to all brokers of one cluster, for the length of one reading."""

    def __init__(self, settings: ConnectionSettings, server: tuple[str, int]) -> None:
        """Bootstrap from ``server``, which the probe has tried. Raises what kafka-python raises where that fails."""
        host, port = server
        context = tls_context(settings) if settings.has_tls else None
        configs: dict[str, Any] = {
            "bootstrap_servers": [f"[{host}]:{port}" if ":" in host else f"{host}:{port}"],
            "client_id": settings.client_id,
            "security_protocol": settings.security_protocol,
            **client_options(settings, context),
            "ssl_context": context,
            "socket_connection_setup_timeout_ms": int(CONNECT_SECONDS * 1000),
            "socket_connection_setup_timeout_max_ms": int(CONNECT_SECONDS * 1000),
            "max_in_flight_requests_per_connection": 10_000,  # a request beyond the limit would fail, not wait
            "receive_message_max_bytes": 1_000_000_000,
            "metadata_max_age_ms": _NEVER_MS,
            "connections_max_idle_ms": _NEVER_MS,
        }
        self._net = NetworkSelector(client_id=settings.client_id)
        self._manager = KafkaConnectionManager(self._net, **configs)
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
        """End all connections and the thread that serves them."""
        self._manager.close()
        self._net.close()

    @property
    def addresses(self) -> dict[int, tuple[str, int]]:
        """Broker id → the (host, port) that it advertises, as the cluster said at the first moment."""
        return {broker.node_id: (broker.host, broker.port) for broker in self._manager.cluster.brokers()}

    @property
    def kafka_version(self) -> str | None:
        """The version that the broker's protocol betrays, such as ``4.3``."""
        version = self._manager.broker_version
        return ".".join(str(part) for part in version) if version else None

    def version_of(self, request: type[Any]) -> int:
        """The version in which both sides speak this request; -1 where the broker does not know it."""
        try:
            return int(self._manager.broker_version_data.api_version(request))
        except errors.IncompatibleBrokerVersion:
            return -1

    def connect(self) -> dict[int, Unheard | None]:
        """Open a connection to each broker; why it does not answer, after a second attempt, or None where it does."""
        silent = self._connect(self.addresses)
        if silent:
            time.sleep(1.0)
            silent = self._connect({broker: self.addresses[broker] for broker in silent})
        return {broker: silent.get(broker) for broker in self.addresses}

    def _connect(self, addresses: Mapping[int, tuple[str, int]]) -> dict[int, Unheard]:
        silent = unreachable_brokers(addresses, CONNECT_SECONDS)
        requests = {
            address: (address, ApiVersionsRequest(max_version=0)) for address in addresses if address not in silent
        }
        answers = self._send(requests, CONNECT_SECONDS + 1)
        return silent | {
            address: unheard_by(why, reason_of(why)) or Unheard(BrokerState.DISCONNECTED, reason_of(why))
            for address, why in answers.items()
            if isinstance(why, Exception)
        }

    def send(self, requests: Mapping[Key, AddressedRequest], seconds: float) -> dict[Key, Any]:
        """The response to each request, or the exception in its place; never raises, waits ``seconds`` at most.

        A broker whose connection ended is tried with a plain socket first.
        """
        lost = {broker for broker, _ in requests.values()} - {
            broker for broker, connection in self._manager._conns.items() if connection.connected
        }
        addresses = {broker: address for broker, address in self.addresses.items() if broker in lost}
        gone = unreachable_brokers(addresses, min(seconds, CONNECT_SECONDS)) if addresses else {}
        answers: dict[Key, Any] = {
            key: errors.KafkaConnectionError(gone[broker].reason)
            for key, (broker, _) in requests.items()
            if broker in gone
        }
        return answers | self._send({key: request for key, request in requests.items() if key not in answers}, seconds)

    def _send(self, requests: Mapping[Key, AddressedRequest], seconds: float) -> dict[Key, Any]:
        manager = self._manager
        deadline = time.monotonic() + seconds

        async def ask_all() -> dict[Key, Any]:
            answers: dict[Key, Any] = {}
            flying = {}
            for key, (broker, request) in requests.items():
                try:
                    flying[key] = manager.send(request, broker, request_timeout_ms=int(seconds * 1000))
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


def error_name(code: int) -> str:
    """``NotCoordinator (16)`` for a Kafka error code."""
    return f"{errors.for_code(code).__name__.removesuffix('Error')} ({code})"


def reason_of(failure: Exception) -> str:
    """An exception as a reason in words."""
    words = str(failure).strip()
    name = type(failure).__name__.removesuffix("Error")
    return f"{name}: {words}" if words and words != name else name
