from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import to_document
from kafka_rebalance.snapshot.model import Capacity
from kafka_rebalance.verify.survival import is_due
from kafka_rebalance.verify.verification import verify_plan
from tests.sample import for_each
from tests.unit.planner.sample_clusters import random_cluster

_BASE = random_cluster(3, broker_count=6, topics=4)
_CAPACITY = Capacity(out_bytes_per_s=10.0**9, cpu_percent=90.0)
SNAPSHOT = replace(_BASE, brokers=tuple(replace(b, capacity=_CAPACITY) for b in _BASE.brokers))
DOCUMENT = to_document(make_plan(SNAPSHOT, PlanOptions(within=0.2, with_frontier=False)))


def other(worst: dict[str, Any]) -> None:
    """Another broker of the six."""
    worst["broker"] = (worst["broker"] + 1) % 6


@for_each("time", ["before", "after"])
@for_each("kind", ["broker", "rack"])
@pytest.mark.parametrize(
    "spoil",
    [
        lambda worst: other(worst["takeover"]),
        lambda worst: worst["takeover"].update(leaders=worst["takeover"]["leaders"] - 1),
        lambda worst: worst["takeover"].update(even_leaders=worst["takeover"]["even_leaders"] + 1),
        lambda worst: worst["takeover"].update(lost="nobody"),
        lambda worst: worst.update(takeover=None),
        lambda worst: other(worst["load"]),
        lambda worst: worst["load"].update(load=0.99 * worst["load"]["load"]),
        lambda worst: worst["load"].update(capacity=2 * worst["load"]["capacity"]),
        lambda worst: worst["load"].update(lost="nobody"),
        lambda worst: worst["load"].update(resource="disk"),
        lambda worst: worst.update(load=None),
    ],
)
def test_a_false_figure_is_refused(time: str, kind: str, spoil: Callable[[dict[str, Any]], None]) -> None:
    document = copy.deepcopy(DOCUMENT)
    spoil(document["after_failure"][time][kind])
    assert "after_failure" in verify_plan(document, SNAPSHOT).counts


def test_what_is_left_out_is_missed() -> None:
    assert is_due(DOCUMENT, SNAPSHOT)
    for document in (copy.deepcopy(DOCUMENT) | {"after_failure": None}, copy.deepcopy(DOCUMENT)):
        if document["after_failure"] is not None:
            document["after_failure"]["before"]["rack"] = None
        assert "after_failure" in verify_plan(document, SNAPSHOT).counts
