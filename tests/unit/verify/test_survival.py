from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import to_document
from kafka_rebalance.verify.document import read_parameters
from kafka_rebalance.verify.faults import FaultList
from kafka_rebalance.verify.survival import check_survival
from kafka_rebalance.verify.verification import verify_plan
from tests.unit.planner.survive.loss_states import three

Document = dict[str, Any]
_LISTS = [[0, 1, 2], [0, 1, 2], [1, 2, 0], [1, 0, 2], [2, 0, 1], [2, 1, 0]]
SNAPSHOT, OPTIONS = three(_LISTS, [20.0] * 6, 60.0)
DOCUMENT = to_document(make_plan(SNAPSHOT, OPTIONS))
TIGHT = to_document(make_plan(*three(_LISTS, [20.0] * 6, 50.0)))


def capacity_of(document: Document, broker: str, rate: float) -> None:
    document["parameters"]["capacities"][broker]["out_bytes_per_s"] = rate


def as_it_was(document: Document) -> None:
    document.update(moves=[], waves=[], verdict="nothing_to_do")


def other_order(document: Document) -> None:
    """Another broker's list, without effect."""
    move = document["moves"][0]
    move.update({"partition": 2, "from": [1, 2, 0], "to": [1, 0, 2], "leader_from": 1, "leader_to": 1})


def another_leader(document: Document) -> None:
    move = document["moves"][0]
    move.update({"to": [1, 0, 2], "leader_to": 1, "kind": "leader"})


def needless_order(document: Document) -> None:
    """All survive anyway."""
    for broker in "012":
        capacity_of(document, broker, 90.0)


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (as_it_was, "survive"),
        (other_order, "survive"),
        (another_leader, "survive"),
        (lambda document: capacity_of(document, "1", 59.0), "survive"),
        (lambda document: document["parameters"].update(survive="rack"), None),
        (lambda document: document["parameters"].update(survive=None), "follower_order"),
        (lambda document: document["parameters"].update(survive="disk"), "parameter"),
        (lambda document: document["parameters"].update(survive=1), "parameter"),
        (lambda document: document["parameters"].pop("survive"), "parameter"),
        (needless_order, "follower_order"),
        (lambda document: document.update(verdict="infeasible", moves=[]), "wave_members"),
    ],
)
def test_each_corruption_is_found(spoil: Callable[[Document], None], code: str | None) -> None:
    assert not verify_plan(DOCUMENT, SNAPSHOT).wrong
    document = copy.deepcopy(DOCUMENT)
    spoil(document)
    counts = verify_plan(document, SNAPSHOT).counts
    assert code is None or code in counts, counts


def test_infeasible_is_refused_where_today_survives() -> None:
    """Infeasible is right for brokers of 50; with 90 today's placement survives."""
    assert not verify_plan(TIGHT, SNAPSHOT).wrong
    document = copy.deepcopy(TIGHT)
    for broker in "012":
        capacity_of(document, broker, 90.0)
    # At 90 the rates are low enough to be watched; here they are evened out as they were.
    document["parameters"] |= {"is_within_ordered": True, "is_explicit": True}
    for resource in document["resources"]:
        resource["is_ordered"] = True
    assert "verdict" in verify_plan(document, SNAPSHOT).counts


def test_a_plan_that_is_to_survive_nothing_is_not_simulated() -> None:
    """It needs no cluster: placements are simulated only with the option."""
    faults, parameters = FaultList(), read_parameters(DOCUMENT["parameters"] | {"survive": None}, FaultList())
    assert parameters is not None
    check_survival(DOCUMENT, None, parameters, faults)  # type: ignore[arg-type]
    assert not faults.has_any()
