"""Plans of few, large replicas stand near their bounds, though shares of replicas would be far cheaper.

The demo's does, and ``verify`` recomputes the bound.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import to_document
from kafka_rebalance.verify import verify_plan
from rebalance_advisor.dumps import read_input
from stack.demo.cluster import write_demo_cluster


@pytest.mark.slow
def test_the_demo_is_within_three_percent_of_its_bound(tmp_path: Path) -> None:
    """Everything is evened out, rates too: then the linear program's bound alone is 5 % below the optimum."""
    demo = read_input(write_demo_cluster(tmp_path / "demo"))
    document = json.loads(json.dumps(to_document(make_plan(demo, PlanOptions(with_frontier=False, within=0.1)))))
    reported = next(claim for claim in document["lower_bound"] if claim["cost"] == "bytes")
    assert document["proofs"]["bytes"]["covers"]
    assert reported["gap"] <= 0.03
    result = verify_plan(document, demo)
    assert result.wrong == ()
    assert result.bounds["bytes"] == pytest.approx(reported["value"], rel=1e-6)
