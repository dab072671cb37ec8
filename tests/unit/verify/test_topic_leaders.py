from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.options.values import TopicLeaders
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import to_document
from kafka_rebalance.verify.verification import verify_plan
from tests.unit.planner.sample_clusters import GB, brokers, cluster, row

Document = dict[str, Any]
ROWS = [row("t", p, [0, 1 + p % 2], GB) for p in range(6)] + [row("u", p, [1 + p % 2, 0], GB) for p in range(8)]
SNAPSHOT = cluster(ROWS, brokers(3))
OPTIONS = PlanOptions(min_topic_leaders=(TopicLeaders("t", 2),), within=0.9, with_frontier=False)
DOCUMENT = to_document(make_plan(SNAPSHOT, OPTIONS))
LACKING = to_document(
    make_plan(SNAPSHOT, PlanOptions(min_topic_leaders=OPTIONS.min_topic_leaders, within=0.9, max_leader_changes=3))
)


def ask(document: Document, *rules: tuple[object, object], **more: object) -> None:
    named = [{"pattern": pattern, "leaders": leaders} for pattern, leaders in rules]
    document["parameters"].update(min_topic_leaders=named, **more)


def led_by(document: Document, broker: int) -> None:
    """One move gives its partition to another one, which holds it, too."""
    move = next(move for move in document["moves"] if move["leader_to"] != broker and broker in move["to"])
    move.update({"leader_to": broker, "to": [broker, *(b for b in move["to"] if b != broker)]})


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (lambda document: document.update(moves=[], waves=[], verdict="nothing_to_do"), "min_topic_leaders"),
        (lambda document: document["moves"].pop(), "min_topic_leaders"),
        (lambda document: led_by(document, 0), "min_topic_leaders"),
        (lambda document: ask(document, ("u", 3)), "min_topic_leaders"),
        (lambda document: ask(document, ("u", 1), (".*", 2)), "min_topic_leaders"),
        (lambda document: ask(document, ("t", 9)), None),  # there are two for each: more is as many as there are
        (lambda document: ask(document, ("T", 9)), "verdict"),  # no topic: then no move has a purpose
        (lambda document: ask(document, ("t", 0)), "parameter"),
        (lambda document: ask(document, ("t", -1)), "parameter"),
        (lambda document: ask(document, ("", 1)), "parameter"),
        (lambda document: ask(document, ("(", 1)), "parameter"),
        (lambda document: ask(document, ("t", 2), survive="broker"), "parameter"),
        (lambda document: ask(document, ("t", 2), preferred_election=True), "parameter"),
        (lambda document: ask(document, ("t", 1.5)), "parameter"),
        (lambda document: ask(document, ("t", "2")), "parameter"),
        (lambda document: ask(document, (None, 2)), "parameter"),
        (lambda document: document["parameters"].update(min_topic_leaders={"t": 2}), "parameter"),
        (lambda document: document["parameters"]["min_topic_leaders"][0].update(topics=1), "parameter"),
        (lambda document: document["parameters"]["min_topic_leaders"][0].pop("leaders"), "parameter"),
        (lambda document: document["parameters"].pop("min_topic_leaders"), "parameter"),
        (lambda document: document.update(format_version=2), "shape"),
    ],
)
def test_each_corruption_is_found(spoil: Callable[[Document], None], code: str | None) -> None:
    assert not verify_plan(DOCUMENT, SNAPSHOT).wrong
    document = copy.deepcopy(DOCUMENT)
    spoil(document)
    counts = verify_plan(document, SNAPSHOT).counts
    assert "min_topic_leaders" not in counts if code is None else code in counts, counts


def test_who_may_not_lead_is_asked_for_nothing() -> None:
    """With one broker excluded each of the other two needs three, and 1 or 2 has two alone."""
    document = copy.deepcopy(DOCUMENT)
    ask(document, ("t", 3), exclude_brokers=[2])
    assert "min_topic_leaders" in verify_plan(document, SNAPSHOT).counts
    ask(document, ("t", 2), exclude_brokers=[2])
    assert "min_topic_leaders" not in verify_plan(document, SNAPSHOT).counts


def test_infeasible_is_refused_where_today_has_what_is_asked_for() -> None:
    """Four changes are needed where three are allowed; of what each has today, nothing is lacking."""
    assert (LACKING["verdict"], verify_plan(LACKING, SNAPSHOT).wrong) == ("infeasible", ())
    document = copy.deepcopy(LACKING)
    ask(document, ("none", 1))
    assert "verdict" in verify_plan(document, SNAPSHOT).counts
