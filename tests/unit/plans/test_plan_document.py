import json
import re
from pathlib import Path

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.facts import BoundProof, FactCode, fact
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.document import plan_from_document
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import (
    Bound,
    Cost,
    FrontierPoint,
    Move,
    MoveKind,
    Plan,
    ResourceOutcome,
    Robustness,
    Rollback,
    Verdict,
    Wave,
    plan_id,
    to_document,
)  # fmt: skip
from rebalance_advisor.dumps import read_input
from tests.unit.verify.plan_kinds import KINDS

WHY, WORSE = fact(FactCode.SEPARATES_RACKS), fact(FactCode.SHARES_RACK)
ROOT = Path(__file__).resolve().parents[3]
MAP = ROOT / "tests" / "data" / "kafka-kit-256-partitions-23-brokers.json"

NEARER = fact(FactCode.NOTHING_NEARER_FOUND)
NOT_MET = fact(FactCode.BAND_NOT_MET, resource="in", cause=NEARER)


@pytest.fixture
def plan():
    """One of everything."""
    wave = Wave((0,), 7, 0.5, 100, {3: 7, 1: 0})
    return Plan(
        cluster="c", verdict=Verdict.REBALANCE, reasons=(NOT_MET,), snapshot_id="s", cost=Cost(1, 7, 1, 0.5, 0.5),
        parameters={"balance_within": 0.1, "targets": {}}, seed=3, left_out={"cpu": NEARER},
        resources=(
            ResourceOutcome(
                "disk", "bytes", "log_dirs", 4.5, "fair_share", (0.9, 1.1), (None, 1.2), 1.5, 1.1, {1: 9.0, 3: 0.0},
                {1: 2.0, 3: 7.0}, {1: 10.0, 3: 10.0},
            ),
        ),
        topic_excess_replicas=(4, 2), lower_bound=(Bound("bytes", 7.0, 0.0, BoundProof.FORCED_COPIES),),
        certificate={"disk": {1: 0.5, 3: 0.0}},
        frontier=(FrontierPoint(0.1, 7, 1, 1, 7.0, {"disk": 1.1}, "knee", True, (NEARER, NEARER)),),
        moves=(Move("t", 0, (1, 2), (3, 2), 1, 3, MoveKind.REPLICA, 7, 1, WHY, WORSE),),
        waves=(wave,), rollback=Rollback(Cost(1, 7, 1), (wave,), (0,)), preconditions=(WHY,), explanations=(WORSE,),
        robustness=Robustness(20, 0.1, 19), continues="f" * 64,
    ).sealed()  # fmt: skip


def through_json(plan):
    return json.loads(json.dumps(to_document(plan)))


def test_a_plan_with_one_of_everything_comes_back_equal(plan):
    again = plan_from_document(through_json(plan))
    assert again == plan
    assert plan_id(to_document(again)) == plan.plan_id


def test_what_the_planner_makes_comes_back_equal():
    made = make_plan(read_input(MAP, "kit"), PlanOptions(), seed=1)
    assert made.moves
    assert plan_from_document(through_json(made)) == made


@pytest.mark.parametrize(
    "change",
    [
        {"surprise": 1}, {"verdict": "perhaps"}, {"moves": [{}]}, {"rollback": {"waves": []}}, {"resources": [{}]},
    ],
)  # fmt: skip
def test_what_is_no_plan_of_this_version_is_refused(plan, change):
    with pytest.raises(InvalidInputError, match=plan.plan_id[:12]):
        plan_from_document(through_json(plan) | change)


def test_a_missing_part_is_refused(plan):
    document = through_json(plan)
    del document["waves"]
    with pytest.raises(InvalidInputError, match="waves"):
        plan_from_document(document)


def test_the_page_tells_every_field():
    page = (ROOT / "docs" / "internals" / "plan-format.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z_]+)`", page))
    document = KINDS["plain"]().document
    parts = (document, document["parameters"], document["moves"][0], document["waves"][0], document["rollback"],
             document["resources"][0], document["cost"], document["lower_bound"][0], document["seen"])  # fmt: skip
    assert {name for part in parts for name in part} - named == set()
