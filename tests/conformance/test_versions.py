"""``version`` of a case has one meaning in every family: it chooses the class, or it is refused.

A line of several classes is refused, and so is a release that is known not to have the strategy. A release newer than
all that were tried is answered as the newest one, and the answer says so.
"""

import json
from functools import cache
from typing import Any

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.placement.recorded_cases import FAMILIES, answer
from tests.conformance.recorded import cases, families, is_recorded_answer
from tests.sample import for_each

# family (and client): the newest release, the same as a line, one newer, one older than any.
_KAFKA = ("4.4.0", "4.4", "4.5")
RELEASES = {
    ("client_range", None): (*_KAFKA, "0.8.2"),
    ("client_roundrobin", None): (*_KAFKA, "0.8.2"),
    ("client_sticky", None): (*_KAFKA, "0.10"),
    ("client_cooperative_sticky", None): (*_KAFKA, "2.3.1"),
    ("server_range", None): (*_KAFKA, "3.7.2"),
    ("server_uniform", None): (*_KAFKA, "3.7.2"),
    ("share_simple", None): (*_KAFKA, "3.6"),
    ("streams_sticky", None): (*_KAFKA, "4.1"),
    ("streams_high_availability", None): (*_KAFKA, "3.2.3"),
    ("connect_eager", None): (*_KAFKA, "3.3.2"),
    ("connect_cooperative", None): (*_KAFKA, "3.3.2"),
    ("flink_splits", None): ("5.0.0", "5.0", "5.1", "3.4"),
    ("mirror_maker_tasks", None): ("4.3.1", "4.3", "4.4", "4.2"),
    ("group_vote", None): (*_KAFKA, "2.7.2"),
    ("reassign_generate", None): (*_KAFKA, "4.0.2"),
    ("striped_replica_placer", None): (*_KAFKA, "2.8"),
    ("group_partition", None): (*_KAFKA, "0.8"),
    ("producer_partition", None): (*_KAFKA, "0.8"),
    ("java_random", None): (*_KAFKA, "0.8"),
    ("java_hash_order", None): (*_KAFKA, "0.8"),
    ("metaq_default", None): ("1.4.0", "1.4", "1.5", "1.3"),
    ("metaq_consistent", None): ("1.4.0", "1.4", "1.5", "1.3"),
    ("metaq_hash", None): ("1.4.0", "1.4", "1.5", "1.3"),
    ("client_range", "librdkafka"): ("2.16.0", "2.16", "2.16.1", "2.14.9"),
    ("client_roundrobin", "librdkafka"): ("2.15.1", "2.15", "3", "2.14.9"),
    ("client_cooperative_sticky", "librdkafka"): ("2.16.0", "2.16", "2.17", "2.14.9"),
    ("client_range", "sarama"): ("1.61.1", "1.61", "1.62", "1.60"),
    ("client_sticky", "franz-go"): ("1.22.3", "1.22", "1.23", "1.21"),
    ("client_range", "kafka-python"): ("3.0.12", "3.0", "3.1", "1.4"),
    ("client_sticky", "kafka-python"): ("3.0.12", "3.0", "3.1", "1.4"),
    ("client_sticky", "aiokafka"): ("0.14.0", "0.14", "0.15", "0.13"),
    ("client_range", "kafka-go"): ("0.4.51", "0.4", "0.5", "0.4.46"),
    ("client_rack_affinity", "kafka-go"): ("0.4.51", "0.4", "1.0", "0.3"),
    ("client_roundrobin", "kafkajs"): ("2.3.0", "2.2", "2.4", "1.16"),
}
# No later release has these: their names say which one they are of.
ENDED = {
    "legacy_range_2_0": ("2.0", "2.1", "0.8.2"),
    "legacy_roundrobin_2_0": ("2.0", "2.4", "0.8.2"),
    "legacy_sticky_2_0": ("2.0", "2.3", "0.10"),
    "admin_utils": ("4.0.2", "4.1", "0.9"),
}


@cache
def _smallest(family: str, client: str | None) -> dict[str, Any]:
    result = (
        case
        for name in families()
        for case in cases(name)
        if case["strategy"] == family and case["input"].get("client") == client and "error" not in case["output"]
    )
    return min(result, key=lambda case: len(json.dumps(case["input"])))


def _asked(family: str, client: str | None, version: object) -> dict[str, Any]:
    case = _smallest(family, client)
    return answer({"id": 1, "strategy": family, "input": {**case["input"], "version": version}})


def test_every_family_is_walked() -> None:
    assert {family for family, _ in RELEASES} | ENDED.keys() == FAMILIES.keys()


@for_each("family", sorted(FAMILIES))
@pytest.mark.parametrize("version", ["garbage", "", "4.x", "4.0.0.1", "-1", 4, 4.4, ["4.4"], True])
def test_text_that_is_no_release_is_refused(family: str, version: object) -> None:
    client = next((client for name, client in RELEASES if name == family), None)
    with pytest.raises(InvalidInputError, match="version: expected a release such as"):
        _asked(family, client, version)


@for_each("family,client", sorted(RELEASES, key=str))
def test_the_newest_release_is_answered_and_so_is_a_newer_one_which_is_assumed(family: str, client: str | None) -> None:
    newest, line, newer, older = RELEASES[family, client]
    answered = _asked(family, client, newest)
    assert answered.keys() == {"id", "output"}
    assert _asked(family, client, line) == answered
    for version in (newer, "99.9", "77"):
        assumed = _asked(family, client, version)
        assert assumed["output"] == answered["output"]
        assert assumed["assumed"]["version"] == version
        assert assumed["assumed"]["answered_as"].partition(" ")[0] in {
            client,
            "Kafka",
            "Metamorphosis",
            "Flink-connector",
        }
    with pytest.raises(InvalidInputError, match=f"version: no {family} of release {older} is known; known: "):
        _asked(family, client, older)


@for_each("family", sorted(ENDED))
def test_a_family_that_ended_is_refused_before_and_after(family: str) -> None:
    last, later, older = ENDED[family]
    assert _asked(family, None, last) == _asked(family, None, None)
    for version in (later, "99.9", older):
        with pytest.raises(InvalidInputError, match=f"version: no {family} of release {version} is known; known: "):
            _asked(family, None, version)


@pytest.mark.parametrize(
    ("family", "line", "first", "second"),
    [
        ("client_range", "2", "2.3.1", "2.4.0"),
        ("client_sticky", "3.7", "3.7.0", "3.7.1"),
        ("server_uniform", "4.0", "4.0.0", "4.0.1"),
        ("server_uniform", "4", "4.0.0", "4.4"),
        ("server_range", "3", "3.8", "3.9"),
        ("share_simple", "4", "4.0", "4.2"),
        ("streams_sticky", "4", "4.3", "4.4"),
        ("connect_cooperative", "3", "3.4", "3.5"),
    ],
)
def test_a_line_of_several_classes_asks_for_the_release(family: str, line: str, first: str, second: str) -> None:
    with pytest.raises(InvalidInputError, match=rf"version: {line} of {family} is .* and .*: name the release"):
        _asked(family, None, line)
    assert _asked(family, None, first).keys() == _asked(family, None, second).keys() == {"id", "output"}


def test_a_release_between_two_that_are_known_is_refused() -> None:
    for family, client, version in (("share_simple", None, "4.1"), ("client_sticky", "kafka-python", "3.0.1")):
        with pytest.raises(InvalidInputError, match=f"no {family} of release {version} is known"):
            _asked(family, client, version)


def test_a_refusal_of_a_release_that_is_assumed_is_assumed_too() -> None:
    refused = next(case for case in cases("server_range") if "error" in case["output"])
    asked = {"id": 1, "strategy": "server_range", "input": {**refused["input"], "version": "9.0"}}
    answered = answer(asked)
    assert is_recorded_answer(answered["output"], refused["output"], "server_range")
    assert answered["assumed"] == {"version": "9.0", "answered_as": "Kafka 3.9 – 4.4"}


@pytest.mark.parametrize(("family", "strategy"), [("clients_kafka_python_3", "client_range"),
                                                 ("clients_kafka_python_3", "client_roundrobin")])  # fmt: skip
def test_kafka_python_2_3_answers_as_3(family: str, strategy: str) -> None:
    """Range and round robin of 2.2 answer some of these otherwise: 383 of 1,000 recorded ones."""
    recorded = [case for case in cases(family) if case["strategy"] == strategy]
    outputs: dict[str, list[bool]] = {}
    for version in ("2.2.21", "2.3.0", "2.3.3"):
        outputs[version] = [
            is_recorded_answer(
                json.loads(json.dumps(answer({**case, "input": {**case["input"], "version": version}})["output"])),
                case["output"], strategy, case["input"],
            )
            for case in recorded
        ]  # fmt: skip
    assert all(outputs["2.3.0"])
    assert all(outputs["2.3.3"])
    assert not all(outputs["2.2.21"])
