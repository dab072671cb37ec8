"""All that can be asked of a plan, drawn at random and at once: bound <= optimum <= plan, and ``verify`` agrees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import to_document
from kafka_rebalance.plans.request import build_request
from tests.properties.against_the_optimum import printed_bounds
from tests.properties.clusters_with_everything import cluster_with_everything

FAST, ALL = range(6), range(6, 606)
USUAL = PlanOptions().document()


def _held(seeds: Sequence[int]) -> Counter[str]:
    """How often each verdict was given, and each option by the plans that move something."""
    met: Counter[str] = Counter()
    wrong = []
    for seed in seeds:
        snapshot, options = cluster_with_everything(seed)
        problem = build_request(snapshot, options).problem(options.band)
        document = to_document(make_plan(snapshot, options))
        wrong += [f"seed {seed}: {fault}" for fault in printed_bounds(snapshot, document, problem)]
        met[document["verdict"]] += 1
        if document["moves"]:
            met.update(name for name, value in options.document().items() if value != USUAL[name])
    print(dict(met))
    assert wrong == []
    return met


@pytest.mark.usefixtures("whole_search")
def test_no_bound_is_above_the_optimum_whatever_is_asked() -> None:
    assert _held(FAST)["rebalance"] >= 2


@pytest.mark.matrix
@pytest.mark.slow
def test_no_bound_is_above_the_optimum_of_six_hundred_clusters_whatever_is_asked() -> None:
    met = _held(ALL)
    assert met["rebalance"] >= 300
    for name in (
        "topic_brokers",
        "remove_racks",
        "headroom",
        "caps",
        "prefer",
        "slack",
        "max_moves",
        "max_reorders",
        "max_hours",
        "also_balance",
        "min_topic_leaders",
        "survive",
    ):
        assert met[name] >= 10, name
