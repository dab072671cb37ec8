from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.check import (
    Effect,
    LeftMove,
    PlannedMove,
    PlannedState,
    PlanStatus,
    Reason,
    ReasonCode,
    changes_since,
    effect_of,
    expired,
    move_states,
    read_planned,
    reason,
    recreated_topics,
    require_sealed,
    shortened,
    still_reassigning,
    why_not_comparable,
    worst,
    worth,
)
from kafka_rebalance.plans.params import DEFAULTS
from kafka_rebalance.plans.request import build_request
from kafka_rebalance.snapshot.model import BrokerState, ClusterSnapshot
from kafka_rebalance.snapshot.times import parse_time
from tests.unit.planner.sample_clusters import NOON, brokers, cluster
from tests.unit.plans.hand_plans import ROWS, SNAPSHOT

SHOWN = DEFAULTS.check.reasons_per_code
MOVE = PlannedMove("t", 1, (0, 1), (2, 1), 2)
PLANNED = PlannedState(
    plan_id="f" * 64, cluster="test", cluster_id="test-id", captured_at=parse_time(NOON, "here"),
    expires_at=None, verdict="rebalance", options=PlanOptions(within=0.2), moves=(MOVE,), topic_ids={"t": "one"},
    broker_racks={b.id: b.rack for b in SNAPSHOT.brokers}, dead_brokers=frozenset(), topic_partitions={"t": 3},
    reassigning=frozenset({("t", 2)}), disk_before={}, capacities={},
)  # fmt: skip


def states(move: PlannedMove, snapshot: ClusterSnapshot):
    plan_request = build_request(snapshot, PLANNED.options)
    return move_states(replace(PLANNED, moves=(move,)), plan_request, plan_request.problem(0.2), frozenset())


def today(*replicas: int, leader: int | None = None, **more: object) -> ClusterSnapshot:
    """Partition 1 is on ``replicas`` now."""
    changed = replace(ROWS[1], replicas=replicas, leader=leader, isr=replicas, log_bytes=(4 * 10**9,) * len(replicas))
    return cluster([ROWS[0], replace(changed, **more), ROWS[2]], brokers(3))


def codes(reasons) -> list[ReasonCode]:
    return [reason.code for reason in reasons]


def test_a_move_is_left_or_done() -> None:
    result = states(MOVE, SNAPSHOT)
    assert (result.done, result.left, result.reasons) == (0, (LeftMove(1, [2, 1], 2),), ())
    assert states(MOVE, today(2, 1, leader=2)).done == 1
    assert len(states(MOVE, today(2, 1, leader=1)).left) == 1  # moved, its leader not yet


@pytest.mark.parametrize(
    ("snapshot", "move", "code"),
    [
        (today(1, 2, leader=1), MOVE, ReasonCode.PARTITION_MOVED),
        (today(0, 1, 2, leader=0), MOVE, ReasonCode.REPLICATION_FACTOR_CHANGED),
        (SNAPSHOT, replace(MOVE, partition=9), ReasonCode.PARTITION_DELETED),
        (SNAPSHOT, replace(MOVE, target=(7, 1), leader=7), ReasonCode.TARGET_GONE),
        (cluster(ROWS[:2], brokers(3, b2=BrokerState.DEAD)), MOVE, ReasonCode.TARGET_UNUSABLE),
        (today(0, 1, leader=0, adding=(1,)), MOVE, ReasonCode.IN_REASSIGNMENT),
        (today(0, 1, leader=None), MOVE, ReasonCode.NO_LEADER),
    ],
)
def test_what_stands_in_the_way_of_a_move(snapshot: ClusterSnapshot, move: PlannedMove, code: ReasonCode) -> None:
    assert codes(states(move, snapshot).reasons) == [code]


def test_a_topic_made_anew_is_another_one() -> None:
    anew = replace(SNAPSHOT, topics=(replace(SNAPSHOT.topics[0], topic_id="two"),))
    assert recreated_topics(PLANNED, anew) == {"t"}
    assert codes(changes_since(PLANNED, anew)) == [ReasonCode.TOPIC_RECREATED]
    assert recreated_topics(PLANNED, SNAPSHOT) == frozenset()  # a missing id is unknown


def test_brokers_and_partitions_that_came_and_went() -> None:
    assert codes(changes_since(PLANNED, SNAPSHOT)) == []
    more = cluster(ROWS, brokers(4))
    assert codes(changes_since(PLANNED, more)) == [ReasonCode.BROKER_ADDED]
    grown = cluster([*ROWS, replace(ROWS[0], partition=3)], brokers(3))
    assert codes(changes_since(PLANNED, grown)) == [ReasonCode.PARTITIONS_ADDED]
    gone = cluster([replace(row, topic="u") for row in ROWS], brokers(3))
    assert ReasonCode.TOPIC_DELETED in codes(changes_since(PLANNED, gone))


def test_a_reassignment_by_somebody_else() -> None:
    running = cluster([replace(ROWS[0], adding=(1,)), *ROWS[1:]], brokers(3))
    assert codes(changes_since(PLANNED, running)) == [ReasonCode.FOREIGN_REASSIGNMENT]
    assert codes(still_reassigning(PLANNED, running)) == []
    own = today(0, 1, 2, leader=0, adding=(2,))  # MOVE's own partition
    assert codes(changes_since(PLANNED, own)) == []
    known = cluster([*ROWS[:2], replace(ROWS[2], adding=(ROWS[2].replicas[-1],))], brokers(3))  # seen by the plan, too
    assert codes(changes_since(PLANNED, known)) == []
    assert codes(still_reassigning(PLANNED, known)) == [ReasonCode.STILL_REASSIGNING]


def test_an_older_snapshot_and_another_cluster_tell_nothing() -> None:
    older = replace(SNAPSHOT, captured_at=parse_time("2026-11-20T11:59:59Z", "here"))
    assert codes(why_not_comparable(PLANNED, older)) == [ReasonCode.SNAPSHOT_OLDER]
    with pytest.raises(InvalidInputError, match="other"):
        why_not_comparable(replace(PLANNED, cluster_id="other"), SNAPSHOT)
    elsewhere = cluster([replace(row, topic="u") for row in ROWS], brokers(3))
    assert codes(why_not_comparable(replace(PLANNED, cluster_id=None), elsewhere)) == [ReasonCode.ANOTHER_CLUSTER]


def test_a_plan_expires() -> None:
    at = replace(PLANNED, expires_at=parse_time("2026-11-20T13:00:00Z", "here"))
    late = replace(SNAPSHOT, captured_at=parse_time("2026-11-20T14:00:01+01:00", "here"))
    assert codes(expired(at, late, None)) == [ReasonCode.EXPIRED]
    assert codes(expired(at, SNAPSHOT, None)) == []
    assert codes(expired(at, SNAPSHOT, late.captured_at)) == [ReasonCode.EXPIRED]
    assert codes(expired(PLANNED, late, late.captured_at)) == []


def test_times_are_compared_in_utc() -> None:
    assert parse_time("2026-11-20T13:00:00+01:00", "here") == parse_time("2026-11-20T12:00:00Z", "here")
    with pytest.raises(InvalidInputError, match="here"):
        parse_time("yesterday", "here")


def test_the_effect_of_what_is_left() -> None:
    """Above and below 8..12 are 3 + 3 of 30 GB; counts are outside too. Afterwards disks and replicas are inside."""
    plan_request = build_request(SNAPSHOT, PLANNED.options)
    problem = plan_request.problem(0.2)
    effect = effect_of(plan_request, problem, [LeftMove(1, [2, 1], 2)])
    assert (effect.harm, effect.copied_bytes) == ((), 4e9)
    assert effect.gain > 0
    assert effect.gain <= effect.imbalance
    pays = worth(plan_request, problem, effect, 1)
    assert pays.code is ReasonCode.MOVES_LEFT
    amounts = {"gain": effect.gain, "imbalance": effect.imbalance}
    assert pays.facts == (fact(FactCode.MOVES_ARE_LEFT, moves=1, **amounts),)
    worse = worth(plan_request, problem, Effect((), -0.1, 0.5, 4e9), 1)
    assert worse == reason(ReasonCode.GAINS_TOO_LITTLE, FactCode.GAIN_OF_REST, gain=-0.1, imbalance=0.5)
    back = effect_of(plan_request, problem, [LeftMove(2, [0, 1], 0)])  # 5 GB more on 1, nothing left on 2
    assert codes(back.harm) == [ReasonCode.BALANCE_WORSE]


def test_racks_that_would_be_shared_are_harm() -> None:
    plan_request = build_request(cluster(ROWS, brokers(3, racks=2)), PLANNED.options)  # 0 and 2 are in one rack
    effect = effect_of(plan_request, plan_request.problem(0.2), [LeftMove(1, [2, 0], 2)])
    assert ReasonCode.RACKS_SHARED in codes(effect.harm)


def test_the_worst_reason_judges_and_many_alike_are_counted() -> None:
    assert worst([]) is PlanStatus.VALID
    mixed = [Reason(code, ()) for code in (ReasonCode.MOVES_LEFT, ReasonCode.ALL_DONE, ReasonCode.EXPIRED)]
    assert worst(mixed) is PlanStatus.STALE
    assert worst([*mixed, Reason(ReasonCode.NO_LEADER, ())]) is PlanStatus.HARMFUL
    moved = [reason(ReasonCode.PARTITION_MOVED, FactCode.ALL_MOVES_DONE, moves=i) for i in range(SHOWN + 3)]
    rest = reason(ReasonCode.PARTITION_MOVED, FactCode.AND_MORE, count=3)
    assert shortened(moved) == (*moved[:SHOWN], rest)


@pytest.mark.parametrize("document", [None, [], {"plan_id": 1}, {"plan_id": "x"}, {"plan_id": "x", "n": float("nan")}])
def test_what_is_not_sealed_is_no_plan(document: object) -> None:
    with pytest.raises(InvalidInputError):
        require_sealed(document)
    with pytest.raises(InvalidInputError):
        read_planned(document)


def test_problem_rows_follow_the_snapshot() -> None:
    plan_request = build_request(SNAPSHOT, PLANNED.options)
    assert np.array_equal(plan_request.rows, [0, 1, 2])
