from __future__ import annotations

import socket
import time
from collections.abc import Iterator

import pytest
from kafka import errors
from kafka.protocol.admin import DescribeQuorumRequest, ListGroupsRequest, ListGroupsResponse
from kafka.protocol.consumer import FetchRequest
from kafka.protocol.metadata import MetadataRequest

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.snapshot.model import BrokerState
from rebalance_advisor.kafka.connection import client as client_module
from rebalance_advisor.kafka.connection.client import ClusterClient, error_name, reason_of
from rebalance_advisor.kafka.connection.settings import ConnectionSettings
from rebalance_advisor.kafka.unresponsive import UnresponsiveBroker
from tests.unit.kafka.canned_broker import CannedBroker, closed_port, listening, topic_row


def settings(where: str) -> ConnectionSettings:
    host, _, port = where.rpartition(":")
    return ConnectionSettings(servers=((host, int(port)),))


@pytest.fixture
def broker() -> CannedBroker:
    """Broker of 2.1: it does not list groups, and disconnects on a request of groups by state."""

    def groups(request: object) -> object:
        return None if request.states_filter else ListGroupsResponse(error_code=0, groups=[], throttle_time_ms=0)

    speaks = {ListGroupsRequest: (4, groups), FetchRequest: (10, lambda _: None)}
    return CannedBroker(speaks, [topic_row("orders", (1, [1], [1]))])


@pytest.fixture
def client(broker: CannedBroker) -> Iterator[ClusterClient]:
    with listening(broker) as where:
        connected = settings(where)
        with ClusterClient(connected, connected.servers[0]) as client:
            yield client


def test_it_knows_the_brokers_that_metadata_names_and_the_versions_that_both_speak(
    client: ClusterClient, broker: CannedBroker
) -> None:
    assert client.addresses == {1: ("127.0.0.1", broker.port)}
    assert client.version_of(MetadataRequest) == 7  # the broker's newest, kafka-python's is newer
    assert client.version_of(ListGroupsRequest) == 4
    assert client.version_of(DescribeQuorumRequest) == -1
    assert client.kafka_version == "2.1"
    assert client.connect() == {1: None}


def test_each_request_gets_its_response_or_its_failure(client: ClusterClient) -> None:
    """One succeeds, one is unknown to the broker, one is for an unknown broker: none of them raises."""
    answers = client.send(
        {
            "groups": (1, ListGroupsRequest()),
            "quorum": (1, DescribeQuorumRequest(topics=[])),
            "stranger": (9, ListGroupsRequest()),
        },
        3.0,
    )
    assert list(answers["groups"].groups) == []
    assert isinstance(answers["quorum"], errors.IncompatibleBrokerVersion)
    assert isinstance(answers["stranger"], Exception)
    assert client.send({}, 1.0) == {}


def test_a_connection_that_is_cut_is_a_failure_of_what_was_under_way(client: ClusterClient) -> None:
    answer = client.send({0: (1, ListGroupsRequest(states_filter=["Stable"]))}, 2.0)[0]
    assert isinstance(answer, errors.KafkaError)
    assert list(client.send({0: (1, ListGroupsRequest())}, 2.0)[0].groups) == []  # and the next one works again


def test_a_broker_that_wants_a_pause_gets_the_next_requests_after_it(
    client: ClusterClient, broker: CannedBroker
) -> None:
    """A quota of requests: kafka-python refuses to send meanwhile."""
    broker.answers[ListGroupsRequest] = (
        4, lambda _: ListGroupsResponse(error_code=0, groups=[], throttle_time_ms=300),
    )  # fmt: skip
    for _ in range(2):
        answers = client.send({i: (1, ListGroupsRequest()) for i in range(3)}, 5.0)
        assert [answer.throttle_time_ms for answer in answers.values()] == [300] * 3


def test_a_broker_that_does_not_listen_where_it_advertises_is_told_with_the_reason(
    broker: CannedBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "sleep", lambda _: None)
    broker.others = {2: ("127.0.0.1", closed_port())}
    with listening(broker) as where, ClusterClient(settings(where), settings(where).servers[0]) as client:
        assert client.connect() == {
            1: None,
            2: UnresponsiveBroker(BrokerState.REFUSED, fact(FactCode.AS_REPORTED, text="Connection refused")),
        }


def test_a_broker_that_accepts_and_says_nothing_is_asked_once(
    broker: CannedBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    with socket.create_server(("127.0.0.1", 0)) as silent, listening(broker) as where:
        broker.others = {2: silent.getsockname()[:2]}
        with ClusterClient(settings(where), settings(where).servers[0]) as client:
            monkeypatch.setattr(client_module, "CONNECT_SECONDS", 0.5)  # not before the other one has answered
            reason = fact(FactCode.NO_ANSWER_IN_TIME, seconds=0.5, text=None)
            assert client.connect()[2] == UnresponsiveBroker(BrokerState.SILENT, reason)
    assert pauses == []


@pytest.mark.parametrize(("code", "message"), [(16, "NotCoordinator (16)"), (29, "TopicAuthorizationFailed (29)")])
def test_a_code_has_its_name(code: int, message: str) -> None:
    assert error_name(code) == message


@pytest.mark.parametrize(
    ("failure", "kind", "text"),
    [
        (TimeoutError("slow"), "Timeout", "slow"),
        (TimeoutError(), "Timeout", "Timeout"),
        (ValueError(" x "), "Value", "x"),
        (errors.KafkaConnectionError("closed"), "KafkaConnection", "closed"),
        (errors.IncompatibleBrokerVersion("old"), "IncompatibleBrokerVersion", "old"),
    ],
)
def test_a_failure_is_a_fact_of_its_kind_and_text(failure: Exception, kind: str, text: str) -> None:
    assert reason_of(failure) == fact(FactCode.REQUEST_FAILED, kind=kind, text=text)
