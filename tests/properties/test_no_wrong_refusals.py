"""``infeasible``, and a band that is left, are held against an exact model: where it has a plan, so must the planner.

What a plan says to be proved by a program in whole numbers must be so, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import to_document
from kafka_rebalance.plans.request import build_request
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.verify import verify_plan
from tests.properties.exact_with_limits import ExactWithLimits, by_hard_rules
from tests.properties.tight_clusters import tight_cluster

# A few clusters, and those in which a plan was refused once although the model has one: caps, replicas that found no
# place, a budget.
FAST, ALL = (*range(6), 12, 246, 285, 358, 901, 917, 1257, 1312, 1456, 1459, 1536, 1689, 1714, 1884, 2169), range(1200)
PROVED = "proved"


@pytest.mark.usefixtures("whole_search")
def test_no_refusal_and_no_band_that_is_left_is_wrong() -> None:
    met, faults = _held(FAST)
    assert faults == []
    assert met["rebalance"] >= 14


@pytest.mark.matrix
@pytest.mark.slow
def test_no_refusal_of_twelve_hundred_clusters_is_wrong() -> None:
    met, faults = _held(ALL)
    print(met)
    assert faults == []
    assert met["infeasible"] >= 100
    assert met["bands left"] >= 200
    assert met[PROVED] >= 200


def _held(seeds: Sequence[int]) -> tuple[Counter[str], list[str]]:
    """How often each verdict was given, and what is wrong."""
    met: Counter[str] = Counter()
    faults: list[str] = []
    for seed in seeds:
        result, wrong = _one(*tight_cluster(seed))
        met.update(result)
        faults += [f"seed {seed}: {fault}" for fault in wrong]
    return met, faults


def _is_proved(reason: dict[str, Any]) -> bool:
    """By a program in whole numbers."""
    args = reason["args"]
    return args.get("is_proved") is True or args.get("proof") == "whole_numbers"


def _one(snapshot: ClusterSnapshot, options: PlanOptions) -> tuple[list[str], list[str]]:
    plan_request = build_request(snapshot, options)
    problem = plan_request.problem(options.band)
    document = to_document(make_plan(snapshot, options))
    wrong = [f"verify: {fault}" for fault in verify_plan(document, snapshot).wrong]
    verdict, reasons = document["verdict"], document["reasons"]
    is_left = any(resource["widened_to"] != [None, None] for resource in document["resources"])
    met = [verdict, *(["bands left"] if is_left else []), *([PROVED] if any(map(_is_proved, reasons)) else [])]
    if verdict == "infeasible" and ExactWithLimits(by_hard_rules(problem, plan_request.caps)).has_plan:
        wrong.append(f"a plan exists, and yet: {reasons[0]}")
    elif is_left and verdict != "nothing_to_do" and not options.has_budget and ExactWithLimits(problem).has_plan:
        wrong.append(f"a plan inside all bands exists, and yet: {reasons}")
    return met, wrong
