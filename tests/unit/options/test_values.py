from __future__ import annotations

import json
import random
from typing import Any

import pytest
from pydantic import TypeAdapter

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.options import values
from kafka_rebalance.options import values as kinds
from kafka_rebalance.options.values import (
    WRITTEN,
    ClientRule,
    OwnerRule,
    Target,
    TopicBrokers,
    TopicLeaders,
    read_value,
)
from kafka_rebalance.snapshot.model import Capacity
from tests.sample import for_each

SAME: tuple[tuple[Any, Any, Any], ...] = (
    (kinds.Share, "10%", 0.1), (kinds.Share, 0.1, 0.1), (kinds.Share, "0", 0.0), (kinds.Share, 0, 0.0),
    (kinds.Ratio, "1.5", 1.5), (kinds.Ratio, "300%", 3.0), (kinds.Hours, "1.5", 1.5), (kinds.Price, 0.02, 0.02),
    (kinds.Amount, "500GB", 500 * 10**9), (kinds.Amount, "512MiB", 2**29), (kinds.Amount, "1.5k", 1500),
    (kinds.Amount, "7B", 7), (kinds.Amount, "0", 0), (kinds.Amount, 2**20, 2**20), (kinds.Amount, 5e8, 500_000_000),
    (kinds.Rate, "50MB/s", 50_000_000), (kinds.Rate, "50B/s", 50), (kinds.Rate, "50kB", 50_000),
    (kinds.Count, 5.0, 5), (kinds.Count, 0, 0), (kinds.NumberFrom1, 1, 1),
    (kinds.BrokerId, "7", 7), (kinds.BrokerId, values.MOST_BROKER_ID, values.MOST_BROKER_ID),
    (kinds.Factor, values.MOST_FACTOR, values.MOST_FACTOR), (kinds.WholeHours, values.MOST_HOURS, values.MOST_HOURS),
    (kinds.Window, "7d", 168), (kinds.Window, "36h", 36), (kinds.Window, 36, 36), (kinds.Window, "35d", 840),
    (kinds.Span, "90min", 5400), (kinds.Span, " 2 h ", 7200),
    (kinds.NewBrokers, ["7", "8:b", 9], {7: None, 8: "b", 9: None}),
    (kinds.Targets, ["disk=1.1", "in=0.9..1.2"], {"disk": Target(None, 1.1), "in": Target(0.9, 1.2)}),
    (kinds.Targets, ["disk=1.1", "disk=1.10"], {"disk": Target(None, 1.1)}),
    (kinds.Caps, ["replicas=4000", "disk=2TB"], {"replicas": 4000, "disk": 2 * 10**12}),
    (kinds.Caps, ["potential_out=200MB/s", "leader_in=1MiB"], {"potential_out": 200 * 10**6, "leader_in": 2**20}),
    (kinds.Caps, ["cpu=80%"], {"cpu": 80.0}), (kinds.Caps, ["cpu=12.5"], {"cpu": 12.5}),
    (kinds.Caps, ["disk=50B", "out=0.5B"], {"disk": 50, "out": 0.5}),
    (kinds.Headroom, ["disk=20%"], {"disk": 0.2}),
    (kinds.Flag, True, True), (kinds.Unflag, True, False), (kinds.Text, "eu", "eu"), (kinds.Pattern, "a.*", "a.*"),
    (kinds.Capacities, {"3": {"disk_bytes": 9}, "1": {"cpu_percent": 400.0}},
     {3: Capacity(disk_bytes=9.0), 1: Capacity(cpu_percent=400.0)}),
)  # fmt: skip
REFUSED: tuple[tuple[Any, Any, str], ...] = (
    *((kinds.Count, value, "is no whole number") for value in (True, 1.5, -1, "5", 10**400, values.MOST_WHOLE + 1)),
    *((kinds.Share, value, "is no share") for value in (None, 10**400, "100%", "-1%", "nan", "x", 1.5, True)),
    *((kinds.BrokerId, value, "is no broker id") for value in (values.MOST_BROKER_ID + 1, "b3", -1, "-1", 1.5)),
    *((kinds.Factor, value, "is no replication factor") for value in (0, values.MOST_FACTOR + 1)),
    *((kinds.Amount, value, "is no amount") for value in (values.MOST_WHOLE + 1, "5 apples", "9" * 30, "9" * 5000)),
    *((kinds.Amount, value, "give its unit, ") for value in ("50", 50, "0.9", str(2**20 - 1))),
    (kinds.Rate, "50", r"^'50' would be 50 bytes: give its unit, 50MB or 50MiB"), (kinds.Rate, "0", "above 0"),
    (kinds.Ratio, values.MOST_RATIO * 2, "at most 1e"), (kinds.Flag, 1, "neither true nor false"),
    (kinds.Text, "", "is no text"), (kinds.Text, 5, "is no text"), (kinds.WholeHours, 0, "give 1 to 878,400"),
    (kinds.Window, "0d", "no window"), (kinds.Window, 841, "at most 35d"), (kinds.Window, 1.5, "no window"),
    (kinds.Targets, [{}], "no text"), (kinds.Targets, {"disk": [1, 2]}, "is no list"),
    (kinds.Targets, ["tape=1"], "one of disk, in"), (kinds.Targets, ["disk="], "give RESOURCE=HIGH"),
    (kinds.Targets, ["disk=2..1"], "low 2.0 is above high 1.0"), (kinds.Targets, ["disk=0"], "0 × the mean"),
    (kinds.Targets, ["disk=1", "disk=2"], "given twice"), (kinds.Targets, ["disk=1"] * 10_001, "more than 10,000"),
    (kinds.Caps, ["disk=50"], "give its unit"), (kinds.Caps, ["out=0.5"], "give its unit"),
    (kinds.NewBrokers, ["x:a"], "give ID:RACK"), (kinds.NewBrokers, ["1:"], "give ID:RACK"),
    (kinds.Brokers, "12", "is no list"), (kinds.Brokers, ["1"] * 10_001, "10,001 values are more than 10,000"),
    (kinds.Capacities, [], "no object of brokers"), (kinds.Capacities, {"0": {"memory": 1}}, "known figures are"),
    (kinds.Capacities, {"0": {"disk_bytes": "9"}}, "no number"), (kinds.Capacities, {"x": {}}, "no broker id"),
    *((kinds.Pattern, value, "is no regular expression|is no text")
      for value in (None, 7, "", "  ", "(", "a{2,1}", "(?P<n>a)(?P<n>b)", "a{99999999999999}", "a" * 10_001)),
)  # fmt: skip


@for_each("kind, written, value", SAME)
def test_text_and_json_mean_the_same_and_come_back(kind: Any, written: Any, value: Any) -> None:
    assert read_value(kind, written) == value
    again = json.loads(json.dumps(TypeAdapter(kind).dump_python(value, context=WRITTEN)))
    assert read_value(kind, again) == value
    stored = json.loads(json.dumps(TypeAdapter(kind).dump_python(value)))
    assert TypeAdapter(kind).validate_python(stored) == value


@for_each("kind, written, message", REFUSED)
def test_what_is_no_such_value_is_refused_in_words(kind: Any, written: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message) as refusal:
        read_value(kind, written)
    assert len(str(refusal.value)) < 400


def test_targets_and_caps_of_any_size_come_back_to_the_bit() -> None:
    rng = random.Random(13)
    for _ in range(300):
        low, width = rng.uniform(0.01, 1.0), rng.uniform(0.0, 3.0)
        targets = {"in": Target(rng.choice((None, low)), 1.0 + width)}
        caps = {"disk": float(int(10 ** rng.uniform(0, 15)))}
        for kind, held in ((kinds.Targets, targets), (kinds.Caps, caps)):
            assert read_value(kind, TypeAdapter(kind).dump_python(held, context=WRITTEN)) == held


@pytest.mark.parametrize("make", [
    lambda pattern: TopicBrokers(pattern, frozenset({1})),
    lambda pattern: TopicLeaders(pattern, 1),
    lambda pattern: ClientRule(pattern, "java"),
    lambda pattern: OwnerRule(pattern, "team"),
])  # fmt: skip
def test_whoever_holds_a_pattern_keeps_it_as_it_was_written_or_refuses_it(make: Any) -> None:
    assert make("pay-(a|b)?.*").pattern == "pay-(a|b)?.*"
    for wrong in (None, 7, "", "  ", "("):
        with pytest.raises(InvalidInputError, match=r"^pattern: "):
            make(wrong)
