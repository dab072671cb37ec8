from dataclasses import replace

import pytest

from kafka_rebalance.facts import Fact
from kafka_rebalance.plans.check import PlannedMove, PlannedState, ReasonCode, drift_since, read_planned
from kafka_rebalance.plans.params import DEFAULTS
from kafka_rebalance.plans.request import build_request
from kafka_rebalance.snapshot.model import ClusterSnapshot
from tests.unit.planner.sample_clusters import brokers, cluster, row
from tests.unit.plans.check.plans_to_check import planned

GB = 10**9


def warnings_of(state: PlannedState, snapshot: ClusterSnapshot) -> list[tuple[Fact, ...]]:
    request = build_request(snapshot, state.options)
    return [reason.facts for reason in drift_since(state, request, DEFAULTS.check)]


@pytest.mark.parametrize(
    ("size", "copied", "warnings"),
    # Two replicas of 1 GB: 2 GB in all; the move copies one of them.
    [(1.0, 1.0, 0), (1.1, 1.0, 0), (1.11, 1.0, 2), (0.89, 1.0, 2), (1.0, 0.5, 1), (None, 1.0, 0)],
)
def test_a_tenth_of_what_is_there_and_of_what_is_copied(size: float | None, copied: float, warnings: int) -> None:
    bytes_now = None if size is None else round(size * GB)
    snapshot = cluster([row("t", 0, (0, 1), bytes_now)], brokers(3))
    state = replace(
        read_planned(planned().document),
        moves=(PlannedMove("t", 0, (0, 1), (2, 1), 2, round(copied * GB)),),
        disk_before={0: 1.0 * GB, 1: 1.0 * GB, 2: 0.0},
        capacities={},
    )
    assert len(warnings_of(state, snapshot)) == warnings


def test_what_the_plan_did_not_know_warns_of_nothing() -> None:
    snapshot = cluster([row("t", 0, (0, 1), 5 * GB)], brokers(3))
    state = replace(
        read_planned(planned().document),
        moves=(PlannedMove("t", 0, (0, 1), (2, 1), 2), PlannedMove("gone", 0, (0,), (1,), 1, GB)),
        disk_before={},
        capacities={},
    )
    assert warnings_of(state, snapshot) == []
    assert ReasonCode.SIZES_CHANGED.value == "sizes_changed"
