"""Random rules on which brokers topics may be: plans keep them, by sight and by the verifier."""

from __future__ import annotations

import pytest

from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Verdict, to_document
from kafka_rebalance.verify import verify_plan
from tests.properties.small_clusters import confined_cluster


def hold(seeds: range) -> int:
    """Plans of random clusters keep every rule, by sight and by the verifier; how many of them moved something."""
    made = 0
    for seed in seeds:
        snapshot, options = confined_cluster(seed)
        plan = make_plan(snapshot, options)
        assert [str(fault) for fault in verify_plan(to_document(plan), snapshot).wrong] == [], seed
        if plan.verdict is not Verdict.REBALANCE:
            continue
        made += 1
        rack_of = {broker.id: broker.rack for broker in snapshot.brokers} | dict(options.add_brokers)
        for move in plan.moves:
            for rule in options.topic_brokers:
                if rule.covers(move.topic) and options.max_moves is options.max_move_bytes is None:
                    assert all(rule.allows(broker, rack_of[broker]) for broker in move.to_replicas), seed
    return made


def test_random_rules_are_kept_or_infeasible() -> None:
    assert hold(range(12)) > 3


@pytest.mark.matrix
@pytest.mark.slow
def test_four_hundred_random_rules_are_kept_or_infeasible() -> None:
    assert hold(range(12, 412)) > 200
