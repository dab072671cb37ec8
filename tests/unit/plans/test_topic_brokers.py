from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.cluster_arrays.problem import broker_sets_of, everywhere
from kafka_rebalance.errors import UsageError
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.options.values import TopicBrokers
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Plan, Verdict, to_document
from kafka_rebalance.snapshot.model import Broker, Capacity, ClusterSnapshot
from kafka_rebalance.verify import verify_plan
from tests.unit.planner.sample_clusters import GB, brokers, cluster, row

QUICK: dict[str, Any] = {"with_frontier": False, "within": 0.9}


def right(snapshot: ClusterSnapshot, options: PlanOptions) -> Plan:
    """The plan, which the verifier finds right."""
    plan = make_plan(snapshot, options)
    assert [str(fault) for fault in verify_plan(to_document(plan), snapshot).wrong] == []
    return plan


def only(pattern: str, *ids: int, rack: str | None = None) -> TopicBrokers:
    return TopicBrokers(pattern, frozenset(ids), frozenset() if rack is None else frozenset({rack}))


def placed(snapshot: ClusterSnapshot, plan: Plan, topic: str) -> list[set[int]]:
    """Brokers of each partition of the topic, once the plan is done."""
    moved = {(move.topic, move.partition): move.to_replicas for move in plan.moves}
    rows = [row for row in snapshot.each_partition() if row.topic == topic]
    return [set(moved.get((row.topic, row.partition), row.replicas)) for row in rows]


def two_topics() -> ClusterSnapshot:
    """Racks of two brokers each; both topics have a replica on either rack."""
    rows = [row(topic, p, [p % 2, 2 + p % 2], GB) for topic in ("pay", "log") for p in range(4)]
    return cluster(rows, [Broker(number, rack="ab"[number // 2]) for number in range(4)])


def test_a_topic_leaves_all_other_brokers() -> None:
    snapshot = two_topics()
    plan = right(snapshot, PlanOptions(topic_brokers=(only("pay", 1, 3),), **QUICK))
    assert placed(snapshot, plan, "pay") == [{1, 3}] * 4
    first = next(move for move in plan.moves if move.topic == "pay" and 0 in move.from_replicas)
    assert first.reason == fact(FactCode.LEAVES_FORBIDDEN_BROKER, broker=0)
    assert fact(FactCode.REPLICAS_OUTSIDE_TOPIC_BROKERS, replicas=4) in plan.reasons


def test_topics_of_two_patterns_are_kept_apart_by_two_sets() -> None:
    """As docs/read-an-advisory.md says: no broker holds replicas of both afterwards."""
    snapshot = two_topics()
    plan = right(snapshot, PlanOptions(topic_brokers=(only("pay", 1, 3), only("l.*", 0, 2)), **QUICK))
    pay, log = (set().union(*placed(snapshot, plan, topic)) for topic in ("pay", "log"))
    assert (pay, log) == ({1, 3}, {0, 2})


def test_racks_are_those_of_the_brokers_that_a_topic_may_be_on() -> None:
    """Confined to rack a, both replicas share it; the other topic goes on standing on two racks."""
    snapshot = two_topics()
    plan = right(snapshot, PlanOptions(topic_brokers=(only("pay", rack="a"),), **QUICK))
    assert placed(snapshot, plan, "pay") == [{0, 1}] * 4
    assert all(len(there & {0, 1}) == 1 for there in placed(snapshot, plan, "log"))


def test_several_rules_of_a_topic_all_hold_and_what_is_left_alone_is_free() -> None:
    snapshot = two_topics()
    rules = (only("p.*", 0, 1, 3), only("pay", 1, 2, 3), only("log", 0))
    plan = right(snapshot, PlanOptions(topic_brokers=rules, exclude_topics=("log",), **QUICK))
    assert placed(snapshot, plan, "pay") == [{1, 3}] * 4
    assert {move.topic for move in plan.moves} == {"pay"}


def test_too_few_brokers_are_counted_and_so_is_the_disk_that_is_lacking() -> None:
    snapshot = two_topics()
    plan = right(snapshot, PlanOptions(topic_brokers=(only("pay", 1),), **QUICK))
    assert plan.verdict is Verdict.INFEASIBLE
    args = plan.reasons[0].args
    assert (args["brokers"], args["lacking"], args["partitions"], args["partition"]) == (1, 1, 4, "pay-0")
    assert args["is_confined"]
    rows = [row("pay", p, [0], 10 * GB) for p in range(6)]
    small = [Broker(b, capacity=Capacity(disk_bytes=size * 1.0 * GB)) for b, size in enumerate((100, 20, 30))]
    plan = right(cluster(rows, small), PlanOptions(topic_brokers=(only("pay", 1, 2),), **QUICK))
    assert plan.verdict is Verdict.INFEASIBLE
    args = plan.reasons[0].args
    assert (args["brokers"], args["needed_bytes"], args["free_bytes"]) == ((1, 2), 60 * GB, 50 * GB)


def test_what_is_not_there_or_means_nothing_is_refused() -> None:
    snapshot = two_topics()
    for rule, text in ((only("pay", 9), "broker 9 is not in the cluster"), (only("pay", rack="z"), "rack 'z' is not")):
        with pytest.raises(UsageError, match=text):
            make_plan(snapshot, PlanOptions(topic_brokers=(rule,)))
    for pattern, ids, racks in (("(", {1}, ()), ("", {1}, ()), ("t", (), ()), ("t", {-1}, ()), ("t", (), {""})):
        with pytest.raises(InvalidInputError):
            TopicBrokers(pattern, frozenset(ids), frozenset(racks))
    with pytest.raises(UsageError, match="--topic-brokers: 'pay=1' is no object"):
        PlanOptions(topic_brokers=("pay=1",))  # type: ignore[arg-type]
    options = PlanOptions(topic_brokers=(only("pay", 2, 1), only("log", rack="a")))
    assert PlanOptions.from_document(options.document()).topic_brokers == options.topic_brokers


def test_sets_of_brokers_by_hand() -> None:
    rules = (only("a", 0, 1), only("a|b", 1, 2), only("c", 0, 1, 2))
    sets = broker_sets_of(rules, ("a", "b", "c", "d"), np.array([0, 1, 2, 3, -1]), brokers(3))
    assert sets is not None
    assert sets.of_partition.tolist() == [1, 2, 0, 0, 0]
    assert sets.brokers.tolist() == [[True] * 3, [False, True, False], [False, True, True]]
    replicas = np.array([[0, 1], [1, -1], [0, 2], [0, 1], [0, 1]], dtype=np.int32)
    assert sets.outside(replicas).tolist() == [[True, False], [False, False]] + [[False, False]] * 3
    rack = np.array([0, 0, 1], dtype=np.int32)
    assert sets.racks_open(rack, np.ones(3, dtype=np.bool_)).tolist() == [1, 2, 2, 2, 2]
    assert sets.rack_sizes(rack, np.ones(3, dtype=np.bool_)).tolist() == [[2, 1], [1, 0], [1, 1]]
    assert everywhere(2, 3).brokers.all()
