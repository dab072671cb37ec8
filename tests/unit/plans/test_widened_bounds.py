from __future__ import annotations

import pytest

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.planner.bounds import lower_bounds
from kafka_rebalance.planner.solution import Widening
from kafka_rebalance.plans.explain import bounds_of_widened_bands
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import to_document
from kafka_rebalance.plans.request import build_request
from kafka_rebalance.verify import verify_plan
from tests.facts_said import said
from tests.properties.small_clusters import small_cluster
from tests.unit.planner.sample_clusters import GB, brokers, cluster, row

# Small clusters with a widened band, and the gap of their plans by the prices of single brokers alone.
GAPS_BY_SINGLE_BROKERS = {7: 0.205, 17: None, 55: 0.331, 109: 1.206}


@pytest.mark.usefixtures("whole_search")
@pytest.mark.parametrize("seed", GAPS_BY_SINGLE_BROKERS)
def test_the_linear_program_of_the_widened_bands_proves_more_than_broker_by_broker_and_verify_agrees(seed: int) -> None:
    snapshot, options = small_cluster(seed)
    document = to_document(make_plan(snapshot, options))
    (bound,) = [claim for claim in document["lower_bound"] if claim["cost"] == "bytes"]
    old = GAPS_BY_SINGLE_BROKERS[seed]

    assert any(side is not None for outcome in document["resources"] for side in outcome["widened_to"])
    assert bound["proof"].startswith("linear_program")
    assert bound["gap"] is not None
    assert old is None or bound["gap"] < 0.8 * old
    assert not verify_plan(document, snapshot).wrong


@pytest.mark.usefixtures("whole_search")
def test_it_is_said_which_bands_the_bounds_are_for_and_what_those_asked_for_would_need() -> None:
    snapshot, options = small_cluster(55)
    plan = make_plan(snapshot, options)
    (args,) = said(plan.reasons, FactCode.BOUNDS_OF_WIDENED_BANDS)
    assert args == {"is_proved": True, "least_bytes_as_asked": None}
    bounds = lower_bounds(build_request(snapshot, options).problem(options.band))
    assert bounds.bytes.value > 0
    widening = Widening("disk", "high", 1.1, 1.2, 0, fact(FactCode.NOTHING_NEARER_FOUND))
    (unproved,) = bounds_of_widened_bands((widening,), bounds)
    assert unproved.args == {"is_proved": False, "least_bytes_as_asked": bounds.bytes.value}


def test_nothing_is_said_of_widened_bands_where_those_asked_for_are_met() -> None:
    rows = [row("t", p, [0], 10 * GB) for p in range(4)]
    plan = make_plan(cluster(rows, brokers(2)), PlanOptions(within=0.1))
    assert all(outcome.widened_to == (None, None) for outcome in plan.resources)
    assert not said(plan.reasons, FactCode.BOUNDS_OF_WIDENED_BANDS)
