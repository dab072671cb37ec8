from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import to_document
from kafka_rebalance.snapshot.model import BrokerState, ClusterSnapshot
from kafka_rebalance.verify import verify_plan
from tests.unit.planner.sample_clusters import brokers, cluster, row
from tests.unit.verify.sample_plans import sealed

Document = dict[str, Any]

# Brokers 0 to 3 and 6 are alive, 4 is unresponsive, 5 is dead and leaves every list that may change.
SICK = cluster(
    [
        row("t", 0, (5, 0, 1), leader=0, isr=(0, 1)),  # leaves 5: nothing lags
        row("t", 1, (0, 1, 2), leader=0, isr=(0, 1)),  # 2 lags: waits
        row("t", 2, (5, 1, 2), leader=1, isr=(1,)),  # leaves 5 and 2, which lags
        row("t", 3, (2, 3, 4), leader=2, isr=(2, 3)),  # 4 is unresponsive: waits
        row("t", 4, (3, 0), leader=3, isr=(3, 0)),
        row("t", 5, (5, 4), leader=None, isr=(5,)),  # no leader
        row("t", 6, (1, 3, 6), leader=1, isr=(1, 3, 6), adding=(6,)),  # runs
        row("t", 7, (6, 2), leader=6, isr=(6, 2)),
        row("t", 8, (0, 3, 2), leader=3, isr=(3, 2)),  # the first one lags: waits
    ],
    brokers(7, b4=BrokerState.SILENT, b5=BrokerState.DEAD),
)
# Leaders are even, all lists begin with broker 0.
ONE_FIRST = cluster(
    [row("t", p, (0, 1, 2) if p % 2 else (0, 2, 1), leader=p % 3, isr=(0, 1, 2)) for p in range(12)], brokers(3)
)
# As ONE_FIRST, with each list beginning with its leader.
SETTLED = cluster([row("t", p, [(0, 1, 2), (1, 2, 0), (2, 0, 1)][p % 3], isr=(0, 1, 2)) for p in range(12)], brokers(3))


@cache
def honest(name: str, **options: Any) -> str:
    snapshot = {"sick": SICK, "one first": ONE_FIRST, "settled": SETTLED}[name]
    return json.dumps(to_document(make_plan(snapshot, PlanOptions(with_frontier=False, **options))))


def moved(document: Document, snapshot: ClusterSnapshot, partition: int, to: list[int]) -> None:
    """Add or replace the move of one partition; figures that it changes are wrong, too."""
    today = snapshot.partition(partition)
    moves = [move for move in document["moves"] if move["partition"] != partition]
    new = [broker for broker in to if broker not in today.replicas]
    kind = "replica" if set(to) != set(today.replicas) else "leader"
    move = {
        "topic": "t", "partition": partition, "from": list(today.replicas), "to": to, "leader_from": today.leader,
        "leader_to": to[0], "kind": kind, "bytes": len(new) * 10**9, "wave": 1,
        "reason": {"code": "separates_racks", "args": {}}, "worse_without": {"code": "shares_rack", "args": {}},
    }  # fmt: skip
    document["moves"] = sorted([*moves, move], key=lambda move: move["partition"])


def _to(partition: int, *to: int) -> Callable[[Document], None]:
    return lambda document: moved(document, SICK, partition, list(to))


def _wrong_count(time: str) -> Callable[[Document], None]:
    def spoil(document: Document) -> None:
        document["preferred_leaders"][time]["0"] += 1

    return spoil


def _without_broker(document: Document) -> None:
    del document["preferred_leaders"]["after"]["6"]


def _idle(verdict: str) -> Callable[[Document], None]:
    def spoil(document: Document) -> None:
        document |= {"verdict": verdict, "moves": [], "waves": [], "rollback": None, "explanations": []}
        document |= {"preconditions": [], "lower_bound": [], "certificate": {}, "proofs": {}}

    return spoil


def _without_list(document: Document) -> None:
    document["moves"] = document["moves"][1:]


def _lists_all_begin_with_0(document: Document) -> None:
    document |= {"verdict": "rebalance", "reasons": [{"code": "all_inside_band", "args": {}}]}
    for partition in (1, 2, 4, 5):
        lists = [0, *(broker for broker in SETTLED.partition(partition).replicas if broker)]
        moved(document, SETTLED, partition, lists)


SICK_FORGERIES: dict[str, tuple[str, Callable[[Document], None]]] = {
    "keeps a replica that lags while another one leaves": ("out_of_sync", _to(2, 1, 2, 3)),
    "drops a replica in sync and keeps one that lags": ("out_of_sync", _to(1, 0, 2, 3)),
    "a replica that lags leads by an election": ("out_of_sync", _to(8, 0, 3, 2)),
    "a replica that lags is first of a new list": ("out_of_sync", _to(1, 2, 0, 1)),
    "moves a partition that waits": ("out_of_sync", _to(1, 0, 1, 3)),
    "gives a partition that waits another leader": ("out_of_sync", _to(1, 1, 0, 2)),
    "makes a list for the time that its first replica lags": ("out_of_sync", _to(8, 3, 0, 2)),
    "moves a partition of a broker that was not heard": ("out_of_sync", _to(3, 2, 3, 6)),
    "gives a broker that was not heard a replica": ("broker_closed", _to(4, 3, 4)),
    "gives a broker that was not heard the lead": ("leader_forbidden", _to(4, 4, 0)),
    "gives a dead broker a replica": ("broker_gone", _to(4, 3, 5)),
    "keeps a replica on a dead broker": ("broker_gone", _to(0, 0, 1, 5)),
    "copies a partition without a leader": ("unmovable", _to(5, 0, 1)),
    "moves what is being reassigned": ("in_flight", _to(6, 1, 3, 0)),
    "leaves a dead broker in a list": ("broker_left", _without_list),
    "tells wrongly who leads after an election today": ("preferred_leaders", _wrong_count("before")),
    "tells wrongly who leads after an election": ("preferred_leaders", _wrong_count("after")),
    "leaves a broker out of those that lead": ("preferred_leaders", _without_broker),
    "says that nothing is to be done": ("broker_left", _idle("nothing_to_do")),
}


@pytest.mark.parametrize("forgery", SICK_FORGERIES)
def test_a_forged_plan_of_a_cluster_in_trouble_is_refused_by_the_rule_it_breaks(forgery: str) -> None:
    code, spoil = SICK_FORGERIES[forgery]
    document = json.loads(honest("sick"))
    assert verify_plan(document, SICK).wrong == ()
    spoil(document)
    assert code in verify_plan(sealed(document), SICK).counts


def test_the_honest_plan_moves_what_must_and_names_what_waits() -> None:
    document = json.loads(honest("sick"))
    by_partition = {move["partition"]: set(move["to"]) for move in document["moves"]}
    assert {0, 2} <= by_partition.keys()
    assert not by_partition.keys() & {1, 3, 5, 6, 8}
    assert not any({4, 5} & to for to in by_partition.values())
    assert 2 not in by_partition[2]
    left = [reason["args"] for reason in document["reasons"] if reason["code"] == "partitions_left_alone"]
    (waits,) = [args for args in left if args["why"] == "out_of_sync"]
    assert waits["first"][:3] == ["t-1", "t-3", "t-8"]


def test_nothing_to_do_is_refused_where_an_election_makes_leaders_uneven() -> None:
    document = json.loads(honest("one first"))
    assert all(move["leader_from"] == move["leader_to"] == move["to"][0] for move in document["moves"])
    assert document["preferred_leaders"]["after"] == {"0": 4, "1": 4, "2": 4}
    _idle("nothing_to_do")(document)
    assert "verdict" in verify_plan(sealed(document), ONE_FIRST).counts


def test_lists_that_make_the_next_election_uneven_are_refused() -> None:
    document = json.loads(honest("settled"))
    assert document["verdict"] == "nothing_to_do"
    _lists_all_begin_with_0(document)
    assert {"band", "verdict"} & verify_plan(sealed(document), SETTLED).counts.keys()


def test_a_demoted_broker_that_stays_first_of_a_list_is_refused() -> None:
    demoting = PlanOptions(with_frontier=False, demote_brokers=frozenset({0}))
    document = to_document(make_plan(ONE_FIRST, demoting))
    assert verify_plan(document, ONE_FIRST).wrong == ()
    assert len(document["moves"]) == 12
    document["moves"] = [move for move in document["moves"] if move["leader_from"] == 0]
    assert len(document["moves"]) == 4
    assert "leader_forbidden" in verify_plan(sealed(document), ONE_FIRST).counts


@pytest.mark.parametrize(("in_sync", "to"), [((2, 3), [2, 3]), ((2,), None)])
def test_a_lower_replication_factor_keeps_replicas_in_sync(in_sync: tuple[int, ...], to: list[int] | None) -> None:
    rows = [row("t", 0, (2, 3, 1), leader=2, isr=in_sync)]
    snapshot = cluster(rows, [replace(broker, id=broker.id + 1) for broker in brokers(3)])
    plan = make_plan(snapshot, PlanOptions(with_frontier=False, replication_factor=2))
    assert [list(move.to_replicas) for move in plan.moves] == ([] if to is None else [to])
    if to is None:
        assert plan.verdict == "not_fixable_by_moving"
        waits = fact(FactCode.REPLICATION_FACTOR_DIFFERS, partitions=1)
        assert plan.reasons[0] == fact(FactCode.WAITS_FOR_SYNC, reason=waits)


def test_what_can_leave_a_dead_broker_leaves_it_though_others_lack_a_broker() -> None:
    rows = [row("t", 0, (1, 2), leader=1, isr=(1,)), row("t", 1, (2, 1, 0), leader=1, isr=(1, 0)), row("t", 2, (0, 1))]
    snapshot = cluster(rows, brokers(3, b2=BrokerState.DEAD))
    plan = make_plan(snapshot, PlanOptions(with_frontier=False))
    document = to_document(plan)
    assert [(move.partition, set(move.to_replicas)) for move in plan.moves] == [(0, {0, 1})]
    left = fact(FactCode.PARTITIONS_LEFT_ALONE, why="too_few_brokers", partitions=1, first=("t-1",))
    assert left in plan.reasons
    assert verify_plan(document, snapshot).wrong == ()
    alone = cluster(rows[1:], brokers(3, b2=BrokerState.DEAD))
    assert make_plan(alone, PlanOptions(with_frontier=False)).verdict == "infeasible"
    fewer = make_plan(snapshot, PlanOptions(with_frontier=False, replication_factor=3))
    assert fewer.verdict == "infeasible"
