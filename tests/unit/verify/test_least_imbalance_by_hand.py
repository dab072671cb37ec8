"""Lower bounds within a budget: brokers with 15, 10 and 5 of 30 GB, 12 at most and 8 at least."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_rebalance.verify.bounds import check_within_budget
from kafka_rebalance.verify.cluster import read_moves
from kafka_rebalance.verify.faults import FaultList
from kafka_rebalance.verify.loads import recompute
from tests.unit.plans.hand_plans import SNAPSHOT
from tests.unit.verify.hand_claims import DISK, GB, arrays, parameters

SHARE = 1 / (30 * GB)  # of all load, for each byte


def faults(claim: dict[str, Any] | None, verdict: str = "rebalance", **limits: object) -> list[str]:
    """Faults in a claim of a plan without moves."""
    given, known, result = parameters(**limits), arrays(), FaultList()
    nothing = read_moves([], SNAPSHOT, known, FaultList())
    assert nothing is not None
    document = {"within_budget": claim, "verdict": verdict, "resources": [DISK]}
    check_within_budget(document, recompute(nothing, known, given), known, given, result)
    return [str(fault) for fault in result.faults]


def claim(least: float | None, prices: dict[str, float], charges: dict[str, float]) -> dict[str, Any]:
    reported = {"imbalance_before": 0.1, "imbalance_after": 0.1, "least_imbalance": least}
    return reported | {"prices": {"disk": prices} if prices else {}, "charges": charges}


def test_a_byte_that_may_move_takes_no_more_than_its_share() -> None:
    """3 of 30 GB are above. At a share for each byte no move gains: 0.1, less the budget's."""
    reported = claim(2 / 30, {"0": SHARE}, {"bytes": SHARE})
    assert faults(reported, max_move_bytes=GB) == []
    assert faults(reported | {"least_imbalance": 0.07}, max_move_bytes=GB) == [
        "within_budget: plan.within_budget.least_imbalance: says 0.07, 0.0666667 can be proved"
    ]
    assert faults(reported | {"least_imbalance": 0.0}, max_move_bytes=3 * GB) == []


def test_hours_stand_for_what_all_receivers_can_be_sent() -> None:
    """A megabyte a second for 1000 s to each of three brokers: 3 of 30 GB."""
    assert faults(claim(0.0, {"0": SHARE}, {"bytes": SHARE}), max_hours=1000 / 3600) == []
    assert faults(claim(0.05, {"0": SHARE}, {"bytes": SHARE}), max_hours=500 / 3600) == []


def test_where_no_move_is_allowed_any_charge_proves_what_stands_outside() -> None:
    assert faults(claim(0.1, {"0": SHARE}, {"replica_moves": 9.0}), max_moves=0) == []
    assert faults(claim(0.1, {"2": -SHARE}, {"replica_moves": 9.0}), max_moves=0) == []  # 3 GB are lacking there
    half = {"0": SHARE / 2, "2": -SHARE / 2}
    assert faults(claim(0.1, half, {"replica_moves": 9.0}), max_moves=0) == []
    both = {"0": SHARE, "2": -SHARE}  # brought nearer to each other, they prove the same
    assert faults(claim(0.1, both, {"replica_moves": 9.0}), max_moves=0) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"imbalance_before": 0.2}, "imbalance_before: says 0.2, found 0.1"),
        ({"imbalance_after": 0.05}, "imbalance_after: says 0.05, found 0.1"),
        ({"least_imbalance": -0.1}, "says -0.1, and the plan comes to 0.1"),
        ({"least_imbalance": 0.2}, "says 0.2, and the plan comes to 0.1"),
        ({"least_imbalance": None}, "prices that prove nothing"),
        ({"least_imbalance": None, "charges": {}}, "prices that prove nothing"),
        ({"least_imbalance": None, "prices": {}}, "prices that prove nothing"),
        ({"prices": {"memory": {"0": 1.0}}}, "is of no balanced resource"),
        ({"prices": {"disk": {"77": 1.0}}}, "is of no balanced resource or broker"),
        ({"charges": {"bytes": SHARE, "replica_moves": 1.0}}, "is of no cost with a limit"),
        ({"charges": {"bytes": -SHARE}}, "is of no cost with a limit, or nothing"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(change: dict[str, Any], said: str) -> None:
    reported = claim(2 / 30, {"0": SHARE}, {"bytes": SHARE}) | change
    assert any(said in fault for fault in faults(reported, max_move_bytes=GB))


def test_a_claim_is_of_a_budget_and_of_a_plan_that_moves() -> None:
    reported, nobody_limits = (
        claim(None, {}, {}),
        ["within_budget: plan.within_budget: is claimed without a budget, or nothing moves"],
    )
    assert faults(None) == []
    assert faults(reported, max_moves=1) == []
    assert faults(reported) == nobody_limits
    assert faults(reported, "nothing_to_do", max_moves=1) == nobody_limits
