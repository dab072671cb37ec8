from __future__ import annotations

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Plan, to_document
from kafka_rebalance.snapshot.model import Broker, ClusterSnapshot
from kafka_rebalance.snapshot.partition_table import Partition
from kafka_rebalance.verify import verify_plan
from tests.facts_said import said
from tests.unit.planner.sample_clusters import brokers, cluster, row

LISTS = [(0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (1, 0, 2), (2, 1, 0)] * 2


def planned(rows: list[Partition], **options: object) -> tuple[Plan, ClusterSnapshot]:
    snapshot = cluster(rows, brokers(3))
    plan = make_plan(snapshot, PlanOptions(with_frontier=False, **options))  # type: ignore[arg-type]
    assert verify_plan(to_document(plan), snapshot).wrong == ()
    return plan, snapshot


def led_without_2(in_sync: tuple[int, ...]) -> list[Partition]:
    """Broker 2 leads nothing; lists that begin with it are led by their second replica."""
    return [
        row("t", p, held, leader=held[0] if held[0] != 2 else held[1], isr=tuple(b for b in held if b in in_sync))
        for p, held in enumerate(LISTS)
    ]


def test_a_broker_that_came_back_gets_elections_and_no_new_lists() -> None:
    plan, _ = planned(led_without_2(in_sync=(0, 1, 2)))
    assert len(plan.moves) == 4
    assert all(move.from_replicas == move.to_replicas and move.leader_to == 2 for move in plan.moves)
    assert plan.preferred_leaders is not None
    assert plan.preferred_leaders.after == {0: 4, 1: 4, 2: 4}


def test_a_broker_that_lags_is_waited_for_and_no_list_is_written_for_the_time_until_then() -> None:
    plan, _ = planned(led_without_2(in_sync=(0, 1)))
    assert plan.moves == ()
    assert plan.verdict == "not_fixable_by_moving"
    assert plan.reasons[0] == fact(FactCode.WAITS_FOR_ELECTION)
    for options in ({"leaders_only": True}, {"preferred_election": True}):
        assert planned(led_without_2(in_sync=(0, 1)), **options)[0].moves == ()


def test_lists_that_all_begin_with_one_broker_are_reordered_and_no_leader_changes() -> None:
    rows = [row("t", p, (0, 1, 2) if p % 2 else (0, 2, 1), leader=p % 3, isr=(0, 1, 2)) for p in range(12)]
    plan, _ = planned(rows)
    assert len(plan.moves) == 8
    assert plan.cost.leader_changes == 0
    assert all(move.reason.code is FactCode.KEEPS_LEADER for move in plan.moves)
    assert {move.reason.args["preferred"] for move in plan.moves} == {0}
    asked, _ = planned(rows, preferred_election=True)
    assert asked.preferred_leaders is not None
    assert asked.preferred_leaders.after == {0: 12, 1: 0, 2: 0}
    assert [args["is_asked"] for args in said(asked.reasons, FactCode.ELECTION_LESS_EVEN)] == [True]


def test_where_a_broker_says_that_it_elects_nobody_by_itself_today_is_what_counts() -> None:
    rows = [row("t", p, (0, 1, 2), leader=p % 3, isr=(0, 1, 2)) for p in range(12)]
    known = [Broker(number, configs={"auto.leader.rebalance.enable": "false"}) for number in range(3)]
    snapshot = cluster(rows, known)
    plan = make_plan(snapshot, PlanOptions(with_frontier=False))
    assert plan.verdict == "nothing_to_do"
    assert verify_plan(to_document(plan), snapshot).wrong == ()
