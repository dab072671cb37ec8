"""Test which brokers accept TCP, because kafka-python leaks a socket for each refused connection."""

from __future__ import annotations

import os
import selectors
import socket
import time
from collections.abc import Mapping
from contextlib import ExitStack

from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.snapshot.model import BrokerState
from rebalance_advisor.kafka.unresponsive import UnresponsiveBroker

Address = tuple[str, int]
UNRESOLVED = (OSError, ValueError)  # ValueError: a bad host name (a..b)


def unreachable_brokers(brokers: Mapping[int, Address], seconds: float) -> dict[int, UnresponsiveBroker]:
    """Brokers that accepted are absent."""
    problems: dict[int, UnresponsiveBroker] = {}
    left: dict[int, list[tuple[int, tuple[object, ...]]]] = {}
    for broker, (host, port) in sorted(brokers.items()):
        if not host or not 0 < port < 65_536:  # the system would use another port
            problems[broker] = UnresponsiveBroker(
                BrokerState.REFUSED, fact(FactCode.NO_ADDRESS, address=f"{host}:{port}")
            )
            continue
        try:
            infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            left[broker] = [(family, address) for family, _, _, _, address in infos]
        except UNRESOLVED as failure:
            problems[broker] = UnresponsiveBroker(BrokerState.REFUSED, unresolved(host, failure))
    deadline = time.monotonic() + seconds  # after the name lookups, which may be slow
    # Try each address, even late: an untried broker would count as reachable.
    while left:
        tried = {broker: addresses.pop(0) for broker, addresses in left.items()}
        for broker, problem in _try(tried, deadline).items():
            if problem is None:
                problems.pop(broker, None)
                left.pop(broker)
            else:
                problems[broker] = problem
        left = {broker: addresses for broker, addresses in left.items() if addresses}
    return problems


def unresolved(host: str, failure: Exception) -> Fact:
    text = str(getattr(failure, "strerror", None) or failure)
    return fact(FactCode.HOST_NOT_RESOLVED, host=host, text=text)


def _try(tried: Mapping[int, tuple[int, tuple[object, ...]]], deadline: float) -> dict[int, UnresponsiveBroker | None]:
    nothing = UnresponsiveBroker(BrokerState.SILENT, fact(FactCode.NO_CONNECTION_IN_TIME))
    answers: dict[int, UnresponsiveBroker | None] = dict.fromkeys(tried, nothing)
    with ExitStack() as sockets, selectors.DefaultSelector() as waiting:
        for broker, (family, address) in tried.items():
            connection = sockets.enter_context(socket.socket(family, socket.SOCK_STREAM))
            connection.setblocking(False)
            connection.connect_ex(address)
            waiting.register(connection, selectors.EVENT_WRITE, broker)
        while waiting.get_map():
            ready = waiting.select(max(0.0, deadline - time.monotonic()))
            if not ready:
                break
            for key, _ in ready:
                waiting.unregister(key.fileobj)
                assert isinstance(key.fileobj, socket.socket)
                code = key.fileobj.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
                refused = UnresponsiveBroker(BrokerState.REFUSED, fact(FactCode.AS_REPORTED, text=os.strerror(code)))
                answers[key.data] = refused if code else None
    return answers
