"""Kinds of values: text and JSON mean the same, the way back is the same value; what is none is refused in words."""

from __future__ import annotations

import json
import random
from argparse import ArgumentTypeError
from typing import Any

import pytest

from kafka_rebalance.options import limits
from kafka_rebalance.options.target import Target
from kafka_rebalance.snapshot.model import Capacity
from rebalance_advisor.request import value_kinds as kinds
from rebalance_advisor.request.value_kinds import ValueKind

SAME: tuple[tuple[ValueKind, str, Any, Any], ...] = (
    (kinds.SHARE, "10%", 0.1, 0.1),
    (kinds.RATIO, "1.5", 1.5, 1.5),
    (kinds.AMOUNT, "500GB", 500_000_000_000, 500_000_000_000),
    (kinds.RATE, "50MB/s", 50_000_000, 50_000_000),
    (kinds.COUNT, "5", 5.0, 5),  # JavaScript may write 5 as 5.0
    (kinds.BROKER, str(limits.MOST_BROKER_ID), limits.MOST_BROKER_ID, limits.MOST_BROKER_ID),
    (kinds.FACTOR, str(limits.MOST_FACTOR), limits.MOST_FACTOR, limits.MOST_FACTOR),
    (kinds.HOURS, str(limits.MOST_HOURS), limits.MOST_HOURS, limits.MOST_HOURS),
    (kinds.NUMBER_FROM_1, "1", 1, 1),
    (kinds.WINDOW, "7d", "7d", 168),
    (kinds.WINDOW, "36h", 36, 36),
    (kinds.WINDOW, "35d", 840, 840),
    (kinds.NEW_BROKER, "7", 7, (7, None)),
    (kinds.NEW_BROKER, "7:b", "7:b", (7, "b")),
    (kinds.TARGET, "disk=1.1", "disk=1.1", ("disk", Target(None, 1.1))),
    (kinds.TARGET, "disk=0.9..1.1", "disk=0.9..1.1", ("disk", Target(0.9, 1.1))),
    (kinds.CAP, "replicas=4000", "replicas=4000", ("replicas", 4000)),
    (kinds.FLAG, "", True, True),
    (kinds.NAME, "eu", "eu", "eu"),
)
REFUSED: tuple[tuple[ValueKind, Any, str], ...] = (
    (kinds.COUNT, True, "no whole number"), (kinds.COUNT, 1.5, "no whole number"), (kinds.COUNT, -1, "no whole number"),
    (kinds.COUNT, 10**400, "no whole number"), (kinds.SHARE, None, "no number"), (kinds.SHARE, 10**400, "no number"),
    (kinds.BROKER, limits.MOST_BROKER_ID + 1, "no broker id"), (kinds.FACTOR, 0, "no replication factor"),
    (kinds.HOURS, limits.MOST_HOURS + 1, "hours are more"), (kinds.AMOUNT, limits.MOST_WHOLE + 1, "above"),
    (kinds.RATIO, limits.MOST_RATIO * 2, "."), (kinds.FLAG, 1, "neither true nor false"), (kinds.NAME, "", "is empty"),
    (kinds.WINDOW, "0d", "no window"), (kinds.WINDOW, 841, "at most 35d"), (kinds.WINDOW, 1.5, "no whole number"),
    (kinds.NAME, 5, "no text"), (kinds.TARGET, {}, "no text"), (kinds.CAPACITY, [], "no object of brokers"),
    (kinds.CAPACITY, {"0": {"memory": 1}}, "known figures are"),
    (kinds.CAPACITY, {"0": {"disk_bytes": "9"}}, "no number"),
    (kinds.CAPACITY, {"0": {"disk_bytes": -1.0}}, "broker '?0"),
)  # fmt: skip


@pytest.mark.parametrize(("kind", "text", "document", "value"), SAME)
def test_text_and_json_mean_the_same_and_come_back(kind: ValueKind, text: str, document: Any, value: Any) -> None:
    assert kind.from_text(text) == kind.from_json(document) == value
    written = json.loads(json.dumps(kind.to_json(value)))
    assert kind.from_json(written) == value


@pytest.mark.parametrize(("kind", "document", "words"), REFUSED)
def test_what_is_no_such_value_is_refused_in_words(kind: ValueKind, document: Any, words: str) -> None:
    with pytest.raises(ArgumentTypeError, match=words):
        kind.from_json(document)


def test_capacities_go_there_and_back_by_broker() -> None:
    read = kinds.CAPACITY.from_json({"3": {"disk_bytes": 9.0}, "1": {"cpu_percent": 400.0}})
    assert read == {3: Capacity(disk_bytes=9.0), 1: Capacity(cpu_percent=400.0)}
    written = kinds.CAPACITY.to_json(read)
    assert list(written) == ["1", "3"]
    assert kinds.CAPACITY.from_json(written) == read
    assert kinds.CAPACITY.to_json({}) is None


def test_targets_and_caps_of_any_size_come_back_to_the_bit() -> None:
    rng = random.Random(13)
    for _ in range(300):
        low, width = rng.uniform(0.01, 1.0), rng.uniform(0.0, 3.0)
        band = Target(rng.choice((None, low)), 1.0 + width)
        assert kinds.TARGET.from_json(kinds.TARGET.to_json(("in", band))) == ("in", band)
        most = float(int(10 ** rng.uniform(0, 15)))
        assert kinds.CAP.from_json(kinds.CAP.to_json(("disk", most))) == ("disk", most)


def test_one_of_a_few() -> None:
    colour = kinds.one_of("red", "blue")
    assert colour.from_text("red") == colour.from_json("red") == "red"
    assert colour.schema["enum"] == ["red", "blue"]
    with pytest.raises(ArgumentTypeError, match="is none of red, blue"):
        colour.from_json("green")
