"""Which brokers accept a connection: refused, unknown and accepted told apart, all at once."""

import socket
import time

from kafka_rebalance.snapshot.model import BrokerState
from rebalance_advisor.kafka.connection.reach import unreachable_brokers
from rebalance_advisor.kafka.unheard import Unheard


def test_accepted_refused_and_unknown_are_told_apart():
    with socket.create_server(("127.0.0.1", 0)) as listening, socket.create_server(("127.0.0.1", 0)) as once:
        port, closed = listening.getsockname()[1], once.getsockname()[1]
        once.close()
        told = unreachable_brokers(
            {1: ("127.0.0.1", port), 2: ("127.0.0.1", closed), 3: ("no-such-host.invalid", 9092)}, 3.0
        )
    assert sorted(told) == [2, 3]
    assert told[2] == Unheard(BrokerState.REFUSED, "Connection refused")
    assert told[3].state is BrokerState.REFUSED
    assert "'no-such-host.invalid' does not resolve" in told[3].reason


def test_the_second_address_of_a_name_is_tried():
    """``localhost`` is ::1 first on many machines, and this server listens on 127.0.0.1 alone."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        assert unreachable_brokers({1: ("localhost", listening.getsockname()[1])}, 3.0) == {}


def test_a_port_that_never_answers_costs_the_given_time():
    """A full backlog: the kernel neither accepts nor refuses."""
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        where = full.getsockname()
        clients = [socket.socket() for _ in range(8)]
        try:
            for client in clients:
                client.setblocking(False)
                client.connect_ex(where)
            started = time.monotonic()
            told = unreachable_brokers({1: where}, 0.5)
            assert time.monotonic() - started < 3
        finally:
            for client in clients:
                client.close()
    assert told == {1: Unheard(BrokerState.SILENT, "nothing answers (time ran out)")}
