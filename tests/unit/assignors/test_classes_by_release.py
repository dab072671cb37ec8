from itertools import pairwise

import pytest

from kafka_assignors.errors import InvalidInputError, UnknownNameError
from kafka_assignors.recorded_cases.cases import answer
from kafka_assignors.registry import BUILT_IN, Side, by_name, name_of
from kafka_assignors.releases import Releases, release_of


@pytest.mark.parametrize(
    ("first", "last", "inside", "outside"),
    [
        ("3.5.2", "3.7.0", ["3.5.2", "3.6.0", "3.7.0", "3.6", "3.7", "3.5", "3"], ["3.5.1", "3.7.1", "3.4", "4.0.0"]),
        ("2.4", "3.4", ["2.4.0", "3.4.9", "2.4"], ["2.3.9", "3.5.0"]),
        ("4.0.0", "4.0.0", ["4.0.0", "4.0"], ["4.0.1", "4.1"]),
    ],
)
def test_a_span_of_releases_holds_both_ends(first: str, last: str, inside: list[str], outside: list[str]) -> None:
    span = Releases("Kafka", first, last)
    assert [text for text in inside if not span.touches(release_of(text))] == []
    assert [text for text in outside if span.touches(release_of(text))] == []


def test_classes_of_one_strategy_and_client_never_overlap_and_say_their_releases() -> None:
    by_client: dict[tuple[str, str], list[Releases]] = {}
    for registration in BUILT_IN:
        assignor = by_name(registration.name)
        assert (assignor.name, assignor.versions) == (registration.name, registration.versions)
        if registration.side is Side.CLIENT:
            by_client.setdefault((registration.strategy, registration.client), []).append(registration.releases)
    for spans in by_client.values():
        ends = [(release_of(span.first), release_of(span.last)) for span in spans]
        assert ends == sorted(ends, reverse=True)  # the newest first
        assert all(newer[0] > older[1] for newer, older in pairwise(ends))


def test_without_client_and_version_the_newest_java_is_asked() -> None:
    assert name_of("range") == name_of("range", "java", "4.3.1") == "range"
    assert name_of("range", None, "2.3.1") == "range@2.1"
    assert name_of("sticky", None, "3.7.0") == name_of("sticky", None, "3.6") == "sticky@3.5.2"
    assert name_of("cooperative-sticky", None, "3.7.1") == "cooperative-sticky"


def test_a_release_that_did_not_have_it_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(InvalidInputError, match=r"no sticky of release 0\.10 is known; known: Kafka 3\.7\.1 – 4\.4"):
        name_of("sticky", None, "0.10")
    with pytest.raises(UnknownNameError, match="unknown client of cooperative-sticky 'kafkajs'; known: "):
        name_of("cooperative-sticky", "kafkajs")


def test_each_client_is_asked_by_its_own_releases() -> None:
    assert name_of("range", "kafka-python", "2.1.5") == "range@kafka-python-2"
    assert name_of("range", "kafka-python") == name_of("range", "kafka-python", "3.0") == "range@kafka-python-3"
    with pytest.raises(InvalidInputError, match=r"no roundrobin of release 1\.43\.0 is known; known: sarama 1\.61\.1"):
        name_of("roundrobin", "sarama", "1.43.0")
    assert name_of("roundrobin", "sarama", "2.15.0") == "roundrobin@sarama"  # newer than all that were tried


def test_a_protocol_that_one_client_has_tells_the_client() -> None:
    """KafkaJS calls its round robin otherwise, so that it shares no group with others."""
    assert name_of("RoundRobinAssigner") == name_of("roundrobin", "kafkajs") == "roundrobin@kafkajs"
    assert name_of("RoundRobinAssigner", "kafkajs", "2.2.4") == "roundrobin@kafkajs"
    with pytest.raises(UnknownNameError, match="unknown client of RoundRobinAssigner 'java'; known: kafkajs"):
        name_of("RoundRobinAssigner", "java")


def test_a_line_that_holds_two_classes_asks_for_the_patch() -> None:
    with pytest.raises(
        InvalidInputError, match=r"2 of range is Kafka 2\.4 – 3\.4 and Kafka 2\.1 – 2\.3 and .*name the"
    ):
        name_of("range", None, "2")


def test_replay_asks_the_class_of_the_version() -> None:
    members = [{"id": "b", "topics": ["t"], "instanceId": "1"}, {"id": "a", "topics": ["t"], "instanceId": "2"}]
    case = {"order": "given", "topics": [{"topic": "t", "n": 1}], "members": members}

    def reader(**asked: str) -> list[str]:
        output = answer({"id": 1, "strategy": "client_range", "input": {**case, **asked}})["output"]
        return [member for member, runs in output["assignment"].items() if runs]

    assert reader(version="2.3.1") == ["a"]  # by member id
    assert reader(version="2.4.0") == reader(client="java") == ["b"]  # by instance id
