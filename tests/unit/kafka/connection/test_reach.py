import socket
from collections.abc import Iterator
from contextlib import contextmanager

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.snapshot.model import BrokerState
from rebalance_advisor.kafka.connection.reach import unreachable_brokers
from rebalance_advisor.kafka.unresponsive import UnresponsiveBroker
from tests.unit.kafka.canned_broker import closed_port


def test_accepted_refused_and_unknown_are_told_apart():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        problems = unreachable_brokers(
            {1: ("127.0.0.1", port), 2: ("127.0.0.1", closed_port()), 3: ("no-such-host.invalid", 9092)}, 60.0
        )
    assert sorted(problems) == [2, 3]
    assert problems[2] == UnresponsiveBroker(BrokerState.REFUSED, fact(FactCode.AS_REPORTED, text="Connection refused"))
    assert problems[3].state is BrokerState.REFUSED
    assert (problems[3].reason.code, problems[3].reason.args["host"]) == (
        FactCode.HOST_NOT_RESOLVED,
        "no-such-host.invalid",
    )


def test_an_address_that_is_none_is_refused():
    """A broker may advertise anything: these raised, and port 70000 was another one for the system."""
    addresses = {1: ("a..b", 9092), 2: ("127.0.0.1", 70_000), 3: ("127.0.0.1", -1), 4: ("x" * 99, 1), 5: ("", 9092)}
    problems = unreachable_brokers(addresses, 3.0)
    assert sorted(problems) == sorted(addresses)
    assert {why.state for why in problems.values()} == {BrokerState.REFUSED}
    assert (problems[1].reason.code, problems[1].reason.args["host"]) == (FactCode.HOST_NOT_RESOLVED, "a..b")
    wrong = ("127.0.0.1:70000", "127.0.0.1:-1", ":9092")
    assert [problems[i].reason for i in (2, 3, 5)] == [fact(FactCode.NO_ADDRESS, address=address) for address in wrong]


def test_the_second_address_of_a_name_is_tried():
    """``localhost`` is ::1 first on many machines, and this server listens on 127.0.0.1 alone."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        assert unreachable_brokers({1: ("localhost", listening.getsockname()[1])}, 60.0) == {}


@contextmanager
def full_port() -> Iterator[tuple[str, int]]:
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
            yield where
        finally:
            for client in clients:
                client.close()


def test_a_port_that_never_answers_is_given_up_once_time_has_run_out():
    with full_port() as where:
        problems = unreachable_brokers({1: where}, 0.5)
    assert problems == {1: UnresponsiveBroker(BrokerState.SILENT, fact(FactCode.NO_CONNECTION_IN_TIME))}


def test_without_any_time_left_each_broker_is_tried_once():
    """A busy machine or a slow name server may take all of it: an untried broker would count as reachable."""
    with full_port() as where:
        problems = unreachable_brokers({1: where, 2: ("127.0.0.1", closed_port())}, 0.0)
    assert {broker: why.state for broker, why in problems.items()} == {
        1: BrokerState.SILENT,
        2: BrokerState.REFUSED,
    }
