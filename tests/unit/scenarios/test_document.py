from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.scenarios.changes import (
    BrokersAdded,
    BrokersLost,
    Growth,
    Members,
    MembersLost,
    PartitionsAdded,
    RackLost,
    TopicAdded,
    TopicRemoved,
)
from kafka_rebalance.scenarios.scenario import CHANGES, Scenario, scenario_document, scenario_from_document

DOCS = Path(__file__).parents[3] / "docs"
EVERY = Scenario(
    "every change",
    (
        RackLost("a"), BrokersLost((1, 2)), BrokersAdded(count=2), BrokersAdded(ids=(8, 9), racks=("a", "b"), like=1),
        Growth(), Growth("t.*", rates=2.5, sizes=0.5), PartitionsAdded("t", 4), TopicAdded("n", 3, 2),
        TopicAdded("n", 3, 2, in_bytes_per_s=1.0, out_bytes_per_s=2.0, in_messages_per_s=3.0, cpu_percent=4.0,
            log_bytes=5, groups="g.*"),
        TopicRemoved("t"), Members("g", count=3), Members("g", times=1.5), Members("g", join=2),
        Members("g", leave=("m-1", "m-2")), MembersLost("g", "a"),
    ),
)  # fmt: skip


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    """The JSON schema of a scenario file."""
    payload: dict[str, Any] = json.loads((DOCS / "schemas" / "scenario.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(payload)
    return payload


def test_every_change_comes_back(schema: dict[str, Any]) -> None:
    document = scenario_document(EVERY)
    assert scenario_from_document(json.loads(json.dumps(document))) == EVERY
    assert {type(change) for change in EVERY.changes} == {kind for kind, _ in CHANGES.values()}
    jsonschema.validate(document, schema)


def test_the_example_of_the_page_is_read(schema: dict[str, Any]) -> None:
    example = json.loads((DOCS / "examples" / "scenario.json").read_text())
    jsonschema.validate(example, schema)
    assert scenario_from_document(example).name == "rack a is lost at Christmas"


def document(*changes: Any, **fields: Any) -> dict[str, Any]:
    given = {"format": "kafka-rebalance-scenario", "format_version": 1, "name": "n", "changes": list(changes)}
    return {name: value for name, value in (given | fields).items() if value is not ...}


GROWTH = {"change": "growth"}
NEW = {"change": "topic_added", "topic": "t", "partitions": 1, "replication_factor": 1}
GROUP = {"change": "members", "groups": "g"}
WRONG = [
    ([], r"s: expected an object"),
    (document(GROWTH, format=...), r"s: 'format' is missing"),
    (document(GROWTH, format="kafka-rebalance-snapshot"), r"s\.format: .* is not"),
    (document(GROWTH, format_version=2), r"s\.format_version: 2 is unknown"),
    (document(GROWTH, format_version=True), r"s\.format_version: expected a whole number"),
    (document(GROWTH, name=""), r"s\.name: is empty"),
    (document(GROWTH, extra=1), r"s: unknown field 'extra'"),
    (document(), r"s\.changes: 0 changes"),
    (document(*[GROWTH] * 101), r"s\.changes: 101 changes"),
    (document(changes={}), r"s\.changes: expected a list"),
    (document("growth"), r"s\.changes\[0\]: expected an object"),
    (document({}), r"s\.changes\[0\]: 'change' is missing"),
    (document({"change": "quake"}), r"s\.changes\[0\]\.change: 'quake' is unknown; known: rack_lost"),
    (document(GROWTH, {"change": "rack_lost"}), r"s\.changes\[1\]: 'rack' is missing"),
    (document({"change": "rack_lost", "rack": 1}), r"s\.changes\[0\]\.rack: expected a string"),
    (document({"change": "rack_lost", "rack": "a", "racks": []}), r"s\.changes\[0\]: unknown field 'racks'"),
    (document({"change": "brokers_lost", "ids": []}), r"s\.changes\[0\]\.ids: names no broker"),
    (document({"change": "brokers_lost", "ids": [1, -1]}), r"s\.changes\[0\]\.ids\[1\]: -1 is not from 0"),
    (document({"change": "brokers_lost", "ids": [1, 1]}), r"s\.changes\[0\]\.ids: names a broker twice"),
    (document({"change": "brokers_added"}), r"s\.changes\[0\]: brokers_added: expected either a count or ids"),
    (document({"change": "brokers_added", "count": 1, "ids": [4]}), r"either a count or ids"),
    (document({"change": "brokers_added", "count": 0}), r"s\.changes\[0\]\.count: 0 is not from 1"),
    (document({"change": "growth", "rates": "2"}), r"s\.changes\[0\]\.rates: expected a number"),
    (document({"change": "growth", "rates": float("nan")}), r"s\.changes\[0\]\.rates: nan is not from 0"),
    (document({"change": "growth", "sizes": -1}), r"s\.changes\[0\]\.sizes: -1 is not from 0"),
    (document({"change": "growth", "topics": "("}), r"s\.changes\[0\]: growth, topics: '\(' is no regular expression"),
    (document(NEW | {"topic": "a b"}), r"changes\[0\]: topic"),
    (document(NEW | {"partitions": 1.5}), r"\.partitions: exp"),
    (document({"change": "partitions_added", "topic": "t", "count": 10**6}), r"\.count: 1000000 is not from 1"),
    (document(GROUP), r"changes\[0\]: members: expected one of count, times, join, leave"),
    (document(GROUP | {"join": 1, "leave": ["m"]}), r"expected one of"),
    (document(GROUP | {"groups": "[", "join": 1}), r"changes\[0\]: members, groups: .* no regular expression"),
    (document(GROUP | {"leave": [1]}), r"\.leave\[0\]: expected a string"),
]  # fmt: skip
BEYOND_A_SCHEMA = ("changes[0]: topic ", "no regular expression", "nan", "names a broker twice")


@pytest.mark.parametrize(("wrong", "message"), WRONG)
def test_what_is_wrong_is_refused_with_its_place(wrong: Any, message: str, schema: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError, match=message) as refused:
        scenario_from_document(wrong, "s")
    if not any(word in str(refused.value) for word in BEYOND_A_SCHEMA):
        assert not jsonschema.Draft202012Validator(schema).is_valid(wrong)


@pytest.mark.parametrize(("name", "changes"), [(" ", (Growth(),)), ("n", ())])
def test_a_scenario_has_a_name_and_something_happens(name: str, changes: tuple[Growth, ...]) -> None:
    with pytest.raises(InvalidInputError, match=r"has no name|nothing happens"):
        Scenario(name, changes)
