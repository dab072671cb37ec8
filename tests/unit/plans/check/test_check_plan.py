import json
from dataclasses import replace

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.check import PlanStatus, check_plan
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import to_document
from kafka_rebalance.snapshot.model import BrokerState, ClusterSnapshot
from kafka_rebalance.snapshot.partition_table import partition_table
from kafka_rebalance.snapshot.times import parse_time
from tests.unit.planner.sample_clusters import random_cluster


@pytest.fixture(scope="module")
def snapshot() -> ClusterSnapshot:
    return random_cluster(11, topics=40)


@pytest.fixture(scope="module")
def document(snapshot: ClusterSnapshot) -> dict:
    return json.loads(json.dumps(to_document(make_plan(snapshot, PlanOptions(within=0.1)))))


def with_rows(snapshot: ClusterSnapshot, rows: list) -> ClusterSnapshot:
    index = {topic.name: i for i, topic in enumerate(snapshot.topics)}
    return replace(snapshot, partitions=partition_table(rows, index))


def applied(snapshot: ClusterSnapshot, moves: list[dict]) -> ClusterSnapshot:
    """The snapshot after some moves."""
    to = {(move["topic"], move["partition"]): tuple(move["to"]) for move in moves}
    rows = []
    for partition in snapshot.each_partition():
        target = to.get((partition.topic, partition.partition))
        size = partition.log_bytes[0]
        rows.append(
            partition
            if target is None
            else replace(partition, replicas=target, leader=target[0], isr=target, log_bytes=(size,) * len(target))
        )
    return with_rows(snapshot, rows)


def test_the_same_cluster_is_what_the_plan_was_made_for(snapshot, document) -> None:
    result = check_plan(document, snapshot)
    assert (result.status, result.done, result.left) == (PlanStatus.VALID, 0, len(document["moves"]))


def test_between_waves_what_is_done_counts_as_done(snapshot, document) -> None:
    first = [document["moves"][m] for m in document["waves"][0]["moves"]]
    result = check_plan(document, applied(snapshot, first))
    assert (result.status, result.done) == (PlanStatus.VALID, len(first))


def test_a_plan_that_is_wholly_done_is_not_worth_it(snapshot, document) -> None:
    result = check_plan(document, applied(snapshot, document["moves"]))
    assert (result.status, result.left) == (PlanStatus.NOT_WORTH_IT, 0)


def test_a_day_later_the_plan_has_expired(snapshot, document) -> None:
    later = replace(snapshot, captured_at=parse_time("2026-11-21T13:00:00+00:00", "captured_at"))
    assert check_plan(document, later).status is PlanStatus.STALE
    same_moment_elsewhere = replace(snapshot, captured_at=parse_time("2026-11-21T13:00:00+01:00", "captured_at"))
    assert check_plan(document, same_moment_elsewhere).status is PlanStatus.VALID


def test_a_partition_that_somebody_else_moved_makes_it_stale(snapshot, document) -> None:
    move = document["moves"][0]
    elsewhere = dict(move, to=list(reversed(move["from"])))
    result = check_plan(document, applied(snapshot, [elsewhere]))
    assert result.status is PlanStatus.STALE
    assert result.because[0].facts[0].args["partition"] == f"{move['topic']}-{move['partition']}"


def test_a_broker_that_died_makes_it_harmful(snapshot, document) -> None:
    target = next(b for move in document["moves"] for b in move["to"] if b not in move["from"])
    brokers = tuple(replace(b, state=BrokerState.DEAD) if b.id == target else b for b in snapshot.brokers)
    result = check_plan(document, replace(snapshot, brokers=brokers))
    assert result.status is PlanStatus.HARMFUL
    args = result.because[0].facts[0].args
    assert (args["broker"], args["state"]) == (target, "dead")


def test_a_partition_that_is_being_reassigned_elsewhere_is_a_conflict(snapshot, document) -> None:
    move = document["moves"][0]
    rows = []
    for partition in snapshot.each_partition():
        if (partition.topic, partition.partition) == (move["topic"], move["partition"]):
            stranger = next(b.id for b in snapshot.brokers if b.id not in {*partition.replicas, *move["to"]})
            more = (*partition.log_bytes, 0)
            rows.append(
                replace(partition, replicas=(*partition.replicas, stranger), adding=(stranger,), log_bytes=more)
            )
        else:
            rows.append(partition)
    assert check_plan(document, with_rows(snapshot, rows)).status is PlanStatus.HARMFUL


def test_a_plan_of_another_cluster_is_refused(snapshot, document) -> None:
    with pytest.raises(InvalidInputError, match="is of cluster test-id"):
        check_plan(document, replace(snapshot, cluster_id="another"))


def test_nothing_to_do_holds_as_long_as_there_is_nothing_to_do(snapshot, document) -> None:
    even = applied(snapshot, document["moves"])
    no_moves = to_document(make_plan(even, PlanOptions()))
    assert no_moves["verdict"] == "nothing_to_do"
    assert check_plan(no_moves, even).status is PlanStatus.VALID
    assert check_plan(no_moves, snapshot).status is PlanStatus.STALE
