"""A plan of one move after it was made: written and read, verified, and judged on a changed cluster.

Brokers 0, 1, 2 hold 15, 10 and 5 GB; the plan has partition 0 led by broker 1, and takes the 4 GB of partition 1 from
broker 0 to broker 2: 11, 10 and 9 GB, one leader each.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.check import PlanStatus, Reason, ReasonCode, check_plan, reason, shortened, worst
from kafka_rebalance.plans.document import plan_from_document
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import FORMAT_VERSION, FrontierPoint, Plan, Robustness, Verdict, plan_id, to_document
from kafka_rebalance.plans.searches import InvalidPlanError, verified
from kafka_rebalance.snapshot.model import BrokerState, Capacity, ClusterSnapshot, Topic
from kafka_rebalance.snapshot.times import parse_time
from kafka_rebalance.verify import verify_plan
from rebalance_advisor.cli.arguments import read_previous
from tests.unit.planner.sample_clusters import GB, brokers, cluster, row
from tests.unit.plans.hand_plans import ROWS, SNAPSHOT

LATER = parse_time("2026-11-20T13:00:00Z", "captured_at")


@cache
def plan() -> Plan:
    return make_plan(SNAPSHOT, PlanOptions(within=0.2, with_frontier=False))


def document() -> dict[str, Any]:
    return json.loads(json.dumps(to_document(plan())))


def resealed(changed: dict[str, Any]) -> dict[str, Any]:
    return changed | {"plan_id": plan_id(changed)}


def test_a_plan_is_read_as_it_was_written() -> None:
    assert [(move.topic, move.partition, move.to_replicas) for move in plan().moves] == [
        ("t", 0, (1, 0)),
        ("t", 1, (2, 1)),
    ]
    assert plan_from_document(document()) == plan_from_document(to_document(plan())) == plan()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"verdict": "perhaps"}, "is no plan of ours"),
        ({"more": 1}, "is no plan of ours"), ({"rollback": {}}, "is no plan of ours"),
        ({"topic_excess_replicas": [0.5, 1, 2]}, "is not its hash"), ({"robustness": None}, "is not its hash"),
    ],
)  # fmt: skip
def test_what_is_no_plan_of_ours_is_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        plan_from_document(document() | changed)
    with pytest.raises(InvalidInputError, match="holds what no plan has"):
        plan_from_document(document() | {"before": {}} | {"before": document()["before"] | {"cpu": {}}})


@pytest.mark.parametrize("version", [0, 3, True, 1.0, "1", None])
def test_a_plan_of_another_version_is_refused_with_that_alone(version: object, tmp_path: Path) -> None:
    """However sealed: its fields may mean something else."""
    other = resealed(document() | {"format_version": version})
    version_text = re.escape(repr(version))
    text = f"format_version: {version_text} is unknown, this advisor reads {FORMAT_VERSION}; make the plan anew"
    with pytest.raises(InvalidInputError, match=text):
        plan_from_document(other)
    with pytest.raises(InvalidInputError, match=text):
        check_plan(other, SNAPSHOT)
    (tmp_path / "plan.json").write_text(json.dumps(other))
    with pytest.raises(InvalidInputError, match=text):
        read_previous(tmp_path)
    (fault,) = verify_plan(other, SNAPSHOT).faults
    assert (fault.code, fault.location) == ("shape", "plan.format_version")


def stated(name: str, value: float) -> Plan:
    """The plan with another bound on one cost."""
    bounds = tuple(replace(b, value=value, gap=9.0) if b.cost == name else b for b in plan().lower_bound)
    return replace(plan(), lower_bound=bounds).sealed()


def test_a_right_plan_is_verified_as_it_is() -> None:
    done = verified(plan(), SNAPSHOT)
    assert (done.plan, done.left_out, done.verification.is_right) == (plan(), (), True)


def test_a_bound_that_is_not_proved_is_the_verifiers() -> None:
    """At least 3 GB leave broker 0, which may hold 12; a bound of 5 for a copy of 4 is unproved."""
    done = verified(stated("bytes", 5e9), SNAPSHOT)
    (bound,) = [claim for claim in done.plan.lower_bound if claim.cost == "bytes"]
    assert 3e9 <= bound.value <= 4e9
    assert bound.gap == pytest.approx((4e9 - bound.value) / bound.value)
    assert done.left_out == (fact(FactCode.BOUND_OF_VERIFIER, cost="bytes"),)
    assert done.plan.reasons == (*plan().reasons, *done.left_out)
    none = verified(replace(plan(), lower_bound=()).sealed(), SNAPSHOT)
    assert sorted(claim.cost for claim in none.plan.lower_bound) == [
        "bytes",
        "leader_changes",
        "replica_moves",
        "seconds",
    ]
    assert len(none.left_out) == 4


def test_estimates_that_cannot_be_verified_are_left_out() -> None:
    slow = replace(plan(), cost=replace(plan().cost, seconds_slot_filling=1e9)).sealed()
    done = verified(slow, SNAPSHOT)
    assert done.plan.cost.seconds_slot_filling == done.plan.cost.seconds
    assert done.left_out[0] == fact(FactCode.PART_NOT_VERIFIED, part="slot_filling")
    off = cluster([replace(item, leader=item.replicas[1]) for item in ROWS], brokers(3))
    elected = make_plan(off, PlanOptions(preferred_election=True))
    tried = replace(elected, robustness=Robustness(1, 0.3, 1)).sealed()
    assert verified(tried, off).plan.robustness is None  # an election has no loads that could be otherwise
    point = FrontierPoint(0.2, 4 * GB, 1, 1, 5e12, {"disk": 1.1}, "even", True, (fact(FactCode.POINT_EVEN),))
    done = verified(replace(plan(), frontier=(point,)).sealed(), SNAPSHOT)
    assert (done.plan.frontier, len(done.left_out)) == ((), 1)


def test_a_plan_whose_moves_or_costs_are_wrong_is_refused() -> None:
    dear = replace(plan(), cost=replace(plan().cost, bytes=1)).sealed()
    with pytest.raises(InvalidPlanError, match=r"did not pass its own verification and is not written: .*cost"):
        verified(dear, SNAPSHOT)


def later(*rows: Any, of: Any = None, **more: Any) -> ClusterSnapshot:
    """The cluster an hour after the plan was made."""
    snapshot = cluster(rows or ROWS, brokers(3) if of is None else of)
    return replace(snapshot, **({"captured_at": LATER} | more))


RUNNING = row("t", 1, (2, 1, 0), 4 * GB, leader=0, adding=(2,), removing=(0,))
FOREIGN = row("t", 2, (0, 2, 1), 5 * GB, adding=(1,), removing=(2,))
CASES: dict[str, tuple[ClusterSnapshot, PlanStatus, ReasonCode]] = {
    "nothing happened": (later(), PlanStatus.VALID, ReasonCode.MOVES_LEFT),
    "it is done": (
        later(row("t", 0, (1, 0), 6 * GB), row("t", 1, (2, 1), 4 * GB), ROWS[2]),
        PlanStatus.NOT_WORTH_IT, ReasonCode.ALL_DONE,
    ),
    "all but a leader": (
        later(ROWS[0], row("t", 1, (2, 1), 4 * GB), ROWS[2]), PlanStatus.NOT_WORTH_IT, ReasonCode.BALANCED_ALREADY,
    ),
    "it is running": (
        later(row("t", 0, (1, 0), 6 * GB), RUNNING, ROWS[2]), PlanStatus.NOT_WORTH_IT, ReasonCode.ALL_DONE,
    ),
    "before the plan": (
        later(captured_at=parse_time("2026-11-20T11:59:59Z", "captured_at")),
        PlanStatus.STALE, ReasonCode.SNAPSHOT_OLDER,
    ),
    "a day and a second later": (
        later(captured_at=parse_time("2026-11-21T12:00:01Z", "captured_at")), PlanStatus.STALE, ReasonCode.EXPIRED,
    ),
    "moved elsewhere": (
        later(ROWS[0], row("t", 1, (1, 2), 4 * GB), ROWS[2]), PlanStatus.STALE, ReasonCode.PARTITION_MOVED,
    ),
    "a third replica": (
        later(ROWS[0], row("t", 1, (0, 1, 2), 4 * GB), ROWS[2]),
        PlanStatus.STALE, ReasonCode.REPLICATION_FACTOR_CHANGED,
    ),
    "a partition more": (later(*ROWS, row("t", 3, (0, 1))), PlanStatus.STALE, ReasonCode.PARTITIONS_ADDED),
    "the partition gone": (later(ROWS[0]), PlanStatus.STALE, ReasonCode.PARTITION_DELETED),
    "another topic": (later(row("u", 0, (0, 1))), PlanStatus.STALE, ReasonCode.TOPIC_DELETED),
    "another reassignment": (later(*ROWS[:2], FOREIGN), PlanStatus.HARMFUL, ReasonCode.FOREIGN_REASSIGNMENT),
    "a broker more": (later(of=brokers(4)), PlanStatus.STALE, ReasonCode.BROKER_ADDED),
    "the target dead": (
        later(of=brokers(3, b2=BrokerState.DEAD)), PlanStatus.HARMFUL, ReasonCode.TARGET_UNUSABLE,
    ),
    "the target gone": (later(*ROWS[:2], of=brokers(2)), PlanStatus.HARMFUL, ReasonCode.TARGET_GONE),
    "racks named": (later(of=brokers(3, racks=3)), PlanStatus.STALE, ReasonCode.RACK_CHANGED),
    "moved by others": (
        later(ROWS[0], row("t", 1, (0, 1, 2), 4 * GB, adding=(2,), removing=(1,)), ROWS[2]),
        PlanStatus.HARMFUL, ReasonCode.IN_REASSIGNMENT,
    ),
    "no leader": (
        later(ROWS[0], row("t", 1, (0, 1), 4 * GB, leader=None, isr=()), ROWS[2]),
        PlanStatus.HARMFUL, ReasonCode.NO_LEADER,
    ),
    "a small disk": (
        later(of=[replace(b, capacity=Capacity(disk_bytes=(20.0 if b.id < 2 else 8.0) * GB)) for b in brokers(3)]),
        PlanStatus.HARMFUL, ReasonCode.OVER_CAPACITY,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_became_of_the_cluster_since(case: str) -> None:
    snapshot, status, code = CASES[case]
    result = check_plan(document(), snapshot)
    assert (result.status, result.because[0].code) == (status, code), result.because


def test_topics_have_ids_that_tell_them_apart() -> None:
    known = replace(SNAPSHOT, topics=(Topic("t", topic_id="first"),))
    made = json.loads(json.dumps(to_document(make_plan(known, PlanOptions(within=0.2, with_frontier=False)))))
    again = replace(known, captured_at=LATER)
    assert check_plan(made, again).status is PlanStatus.VALID
    other = replace(again, topics=(Topic("t", topic_id="second"),))
    assert check_plan(made, other).because[0].code is ReasonCode.TOPIC_RECREATED


def test_a_plan_is_of_its_cluster_and_as_it_was_sealed() -> None:
    with pytest.raises(InvalidInputError):
        check_plan(document(), later(cluster_id="another"))
    with pytest.raises(InvalidInputError):
        check_plan(document() | {"seed": 77}, later())


def test_a_plan_without_moves_holds_while_there_is_nothing_to_do() -> None:
    even = cluster([row("t", p, (p, (p + 1) % 3), 5 * GB) for p in range(3)], brokers(3))
    quiet = json.loads(json.dumps(to_document(make_plan(even, PlanOptions(within=0.2, with_frontier=False)))))
    assert quiet["verdict"] == Verdict.NOTHING_TO_DO.value

    def codes(snapshot: ClusterSnapshot, made: dict[str, Any] = quiet) -> list[ReasonCode]:
        return [reason.code for reason in check_plan(made, snapshot).because]

    assert codes(replace(even, captured_at=LATER)) == [ReasonCode.STILL_NOTHING_TO_DO]
    assert codes(later()) == [ReasonCode.SOMETHING_TO_DO]
    assert codes(later(captured_at=parse_time("2026-11-23T12:00:00Z", "captured_at"))) == [ReasonCode.EXPIRED]
    stuck = resealed(quiet | {"verdict": "infeasible"})
    assert codes(later(), stuck) == [ReasonCode.NO_PLAN_TO_KEEP]


def test_the_worst_reason_counts_and_of_many_alike_the_first_are_told() -> None:
    moved = [reason(ReasonCode.PARTITION_MOVED, FactCode.AND_MORE, count=number) for number in range(12)]
    gone, done = Reason(ReasonCode.TARGET_GONE, ()), Reason(ReasonCode.ALL_DONE, ())
    assert worst([done, moved[0], gone]) is PlanStatus.HARMFUL
    assert worst([done, moved[0]]) is PlanStatus.STALE
    assert worst([done, Reason(ReasonCode.MOVES_LEFT, ())]) is PlanStatus.NOT_WORTH_IT
    assert worst([]) is PlanStatus.VALID
    rest = reason(ReasonCode.PARTITION_MOVED, FactCode.AND_MORE, count=9)
    assert shortened([gone, *moved], 3) == (gone, *moved[:3], rest)
    assert len(shortened(moved, 12)) == 12
