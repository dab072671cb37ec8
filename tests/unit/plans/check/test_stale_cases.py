from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.facts import FactCode
from kafka_rebalance.plans.check import STATUS_OF, PlanStatus, ReasonCode, check_plan
from kafka_rebalance.render import render_all
from kafka_rebalance.snapshot.figures import LoadKind
from kafka_rebalance.snapshot.model import Broker, BrokerState, Capacity, ClusterSnapshot, LogDir
from kafka_rebalance.snapshot.partition_table import Partition, PartitionLoads
from kafka_rebalance.snapshot.times import parse_time
from tests.unit.planner.sample_clusters import random_cluster, row
from tests.unit.plans.check.plans_to_check import (
    OPTIONS,
    Planned,
    applied,
    changed,
    dead,
    flying,
    placed,
    planned,
    resealed,
    small_disks,
    with_all_brokers,
    with_broker,
    with_rows,
    with_topic,
    without_topic,
)

Change = Callable[[Planned], ClusterSnapshot]


def key_of(move: dict[str, Any]) -> tuple[str, int]:
    return move["topic"], move["partition"]


def new_target(plan: Planned) -> int:
    """A broker that receives a copy."""
    move = plan.moves[0]
    return next(b for b in move["to"] if b not in move["from"])


def third(move: dict[str, Any]) -> int:
    """A broker that the move does not name."""
    return next(b for b in range(9) if b not in {*move["from"], *move["to"]})


def moved_elsewhere(plan: Planned, number: int = 0) -> ClusterSnapshot:
    move = plan.moves[number]
    target = [third(move), *move["from"][1:]]
    return changed(plan.snapshot, key_of(move), lambda old: placed(old, target))


def not_moving(plan: Planned) -> tuple[str, int]:
    """A partition outside the plan and all reassignments."""
    busy = {key_of(move) for move in plan.moves} | {("topic-00", 0)}
    return next((r.topic, r.partition) for r in plan.snapshot.each_partition() if (r.topic, r.partition) not in busy)


def free_broker(plan: Planned, key: tuple[str, int]) -> int:
    held = next(r.replicas for r in plan.snapshot.each_partition() if (r.topic, r.partition) == key)
    return next(b for b in range(9) if b not in held)


def foreign_flight(plan: Planned) -> ClusterSnapshot:
    key = not_moving(plan)
    return changed(plan.snapshot, key, lambda old: flying(old, free_broker(plan, key)))


def own_flight_elsewhere(plan: Planned) -> ClusterSnapshot:
    move = plan.moves[0]
    return changed(plan.snapshot, key_of(move), lambda old: flying(old, third(move)))


def removing_elsewhere(plan: Planned) -> ClusterSnapshot:
    key = not_moving(plan)
    return changed(plan.snapshot, key, lambda old: replace(old, removing=(old.replicas[-1],)))


def without_partition(plan: Planned) -> ClusterSnapshot:
    gone = key_of(plan.moves[0])
    return with_rows(plan.snapshot, [r for r in plan.snapshot.each_partition() if (r.topic, r.partition) != gone])


def with_more_partitions(plan: Planned, count: int = 1) -> ClusterSnapshot:
    topic = plan.moves[0]["topic"]
    rows = list(plan.snapshot.each_partition())
    first = sum(r.topic == topic for r in rows)
    return with_rows(plan.snapshot, rows + [row(topic, first + extra, [0, 1, 2]) for extra in range(count)])


def with_other_ids(plan: Planned, names: set[str] | None = None) -> ClusterSnapshot:
    wanted = names or {plan.moves[0]["topic"]}
    snapshot = plan.snapshot
    for name in wanted:
        snapshot = with_topic(snapshot, name, lambda topic: replace(topic, topic_id=f"new-{topic.name}"))
    return snapshot


def other_factor(plan: Planned, count: int) -> ClusterSnapshot:
    move = plan.moves[0]
    target = (move["from"] + [b for b in range(9) if b not in move["from"]])[:count]
    return changed(plan.snapshot, key_of(move), lambda old: placed(old, target))


def swapped_racks(plan: Planned) -> ClusterSnapshot:
    racks = {0: "rack-1", 1: "rack-0"}
    return with_all_brokers(plan.snapshot, lambda b: replace(b, rack=racks.get(b.id, b.rack)))


def joined(plan: Planned, count: int = 1) -> ClusterSnapshot:
    more = tuple(Broker(id=20 + extra, rack=f"rack-{extra % 3}") for extra in range(count))
    return replace(plan.snapshot, brokers=(*plan.snapshot.brokers, *more))


def below_least(
    plan: Planned, key: tuple[str, int] | None = None, *, least: int = 2, in_sync: int = 1
) -> ClusterSnapshot:
    """The leader and ``in_sync - 1`` others are in sync, ``least`` have to be."""
    topic, number = key or not_moving(plan)
    configs = {"min.insync.replicas": str(least)}
    snapshot = with_topic(plan.snapshot, topic, lambda old: replace(old, configs=configs))
    return changed(snapshot, (topic, number), lambda old: replace(old, isr=led_first(old)[:in_sync]))


def led_first(row: Partition) -> tuple[int, ...]:
    return tuple(sorted(row.replicas, key=lambda broker: broker != row.leader))


def cured(plan: Planned) -> ClusterSnapshot:
    """Only the replica that its move drops is out of sync."""
    move = next(move for move in plan.moves if len(set(move["from"]) - set(move["to"])) == 1)
    (dropped,) = set(move["from"]) - set(move["to"])
    configs = {"min.insync.replicas": "3"}
    snapshot = with_topic(plan.snapshot, move["topic"], lambda old: replace(old, configs=configs))
    kept = [broker for broker in move["from"] if broker != dropped]
    return changed(snapshot, key_of(move), lambda old: replace(old, isr=tuple(kept), leader=kept[0]))


def stranger(plan: Planned) -> ClusterSnapshot:
    """Same names of topics and brokers, other places."""
    return replace(random_cluster(77, broker_count=9, topics=12), cluster_id=None)


def renamed_topics(plan: Planned) -> ClusterSnapshot:
    topics = tuple(replace(topic, name=f"other-{topic.name}") for topic in plan.snapshot.topics)
    return replace(plan.snapshot, topics=topics, cluster_id=None)


def renumbered(plan: Planned) -> ClusterSnapshot:
    """The same layout with other broker ids."""
    rows = [
        replace(
            r,
            replicas=tuple(b + 100 for b in r.replicas),
            leader=None if r.leader is None else r.leader + 100,
            isr=tuple(b + 100 for b in r.isr or ()),
            adding=tuple(b + 100 for b in r.adding),
        )
        for r in plan.snapshot.each_partition()
    ]
    brokers = tuple(replace(b, id=b.id + 100) for b in plan.snapshot.brokers)
    return with_rows(plan.snapshot, rows, brokers=brokers, cluster_id=None)


def leaderless(plan: Planned) -> ClusterSnapshot:
    return changed(plan.snapshot, key_of(plan.moves[0]), lambda old: replace(old, leader=None, isr=()))


def cordoned(plan: Planned) -> ClusterSnapshot:
    return with_broker(plan.snapshot, new_target(plan), log_dirs=(LogDir("/data", is_cordoned=True),))


def without_broker(plan: Planned, broker: int) -> ClusterSnapshot:
    """The broker holds nothing and has left; without moves that name it."""
    rows = []
    for r in plan.snapshot.each_partition():
        if broker in r.replicas:
            stays = [b for b in r.replicas if b != broker]
            r = placed(r, stays, r.leader if r.leader in stays else stays[0])  # noqa: PLW2901
        rows.append(r)
    left = tuple(b for b in plan.snapshot.brokers if b.id != broker)
    return with_rows(plan.snapshot, rows, brokers=left)


def at(time: str) -> Change:
    return lambda plan: replace(plan.snapshot, captured_at=parse_time(time, "captured_at"))


STALE: dict[str, tuple[Change, ReasonCode]] = {
    "a second before the plan's snapshot": (at("2026-11-20T11:59:59Z"), ReasonCode.SNAPSHOT_OLDER),
    "an hour before, told in another zone": (at("2026-11-20T12:00:00+01:00"), ReasonCode.SNAPSHOT_OLDER),
    "a year before": (at("2025-11-20T12:00:00Z"), ReasonCode.SNAPSHOT_OLDER),
    "a day and a second later": (at("2026-11-21T12:00:01Z"), ReasonCode.EXPIRED),
    "a day later in another zone": (at("2026-11-21T12:30:00-01:00"), ReasonCode.EXPIRED),
    "months later": (at("2027-03-01T00:00:00Z"), ReasonCode.EXPIRED),
    "another cluster with the same names": (stranger, ReasonCode.ANOTHER_CLUSTER),
    "another cluster with other topics": (renamed_topics, ReasonCode.ANOTHER_CLUSTER),
    "another cluster with other brokers": (renumbered, ReasonCode.ANOTHER_CLUSTER),
    "a topic deleted": (lambda plan: without_topic(plan.snapshot, plan.moves[0]["topic"]), ReasonCode.TOPIC_DELETED),
    "a topic made anew in the same places": (with_other_ids, ReasonCode.TOPIC_RECREATED),
    "all topics made anew": (
        lambda plan: with_other_ids(plan, {topic.name for topic in plan.snapshot.topics}),
        ReasonCode.TOPIC_RECREATED,
    ),
    "a topic made anew and moved": (
        lambda plan: with_other_ids(replace(plan, text=plan.text, snapshot=moved_elsewhere(plan))),
        ReasonCode.TOPIC_RECREATED,
    ),
    "a partition gone": (without_partition, ReasonCode.PARTITION_DELETED),
    "a partition added": (with_more_partitions, ReasonCode.PARTITIONS_ADDED),
    "many partitions added": (lambda plan: with_more_partitions(plan, 40), ReasonCode.PARTITIONS_ADDED),
    "a partition moved by somebody else": (moved_elsewhere, ReasonCode.PARTITION_MOVED),
    "the last one moved by somebody else": (lambda plan: moved_elsewhere(plan, -1), ReasonCode.PARTITION_MOVED),
    "a partition's order changed": (
        lambda plan: changed(
            plan.snapshot, key_of(plan.moves[0]), lambda old: placed(old, list(reversed(old.replicas)))
        ),
        ReasonCode.PARTITION_MOVED,
    ),
    "one replica more": (lambda plan: other_factor(plan, 4), ReasonCode.REPLICATION_FACTOR_CHANGED),
    "one replica fewer": (lambda plan: other_factor(plan, 2), ReasonCode.REPLICATION_FACTOR_CHANGED),
    "one replica alone": (lambda plan: other_factor(plan, 1), ReasonCode.REPLICATION_FACTOR_CHANGED),
    "a broker joined": (joined, ReasonCode.BROKER_ADDED),
    "ten brokers joined": (lambda plan: joined(plan, 10), ReasonCode.BROKER_ADDED),
    "racks are not told any more": (
        lambda plan: with_all_brokers(plan.snapshot, lambda broker: replace(broker, rack=None)),
        ReasonCode.RACKS_GONE,
    ),
    "one broker without its rack": (lambda plan: with_broker(plan.snapshot, 4, rack=None), ReasonCode.RACK_CHANGED),
    "a broker in another rack": (lambda plan: with_broker(plan.snapshot, 4, rack="rack-0"), ReasonCode.RACK_CHANGED),
    "a broker in a new rack": (lambda plan: with_broker(plan.snapshot, 4, rack="rack-9"), ReasonCode.RACK_CHANGED),
    "two racks swapped": (swapped_racks, ReasonCode.RACK_CHANGED),
    "racks renamed": (
        lambda plan: with_all_brokers(plan.snapshot, lambda broker: replace(broker, rack=f"az-{broker.rack}")),
        ReasonCode.RACK_CHANGED,
    ),
}
HARMFUL: dict[str, tuple[Change, ReasonCode]] = {
    "a moved partition is being moved elsewhere": (own_flight_elsewhere, ReasonCode.IN_REASSIGNMENT),
    "a target died": (lambda plan: dead(plan.snapshot, new_target(plan)), ReasonCode.TARGET_UNUSABLE),
    "a target is fenced": (
        lambda plan: with_broker(plan.snapshot, new_target(plan), state=BrokerState.FENCED),
        ReasonCode.TARGET_UNUSABLE,
    ),
    "a target is cordoned": (cordoned, ReasonCode.TARGET_UNUSABLE),
    "a target left": (lambda plan: without_broker(plan, new_target(plan)), ReasonCode.TARGET_GONE),
    "a moved partition has no leader": (leaderless, ReasonCode.NO_LEADER),
    "somebody moves another partition": (foreign_flight, ReasonCode.FOREIGN_REASSIGNMENT),
    "somebody takes a replica away elsewhere": (removing_elsewhere, ReasonCode.FOREIGN_REASSIGNMENT),
    "a partition that stays is below its least ISR": (below_least, ReasonCode.UNDER_MIN_ISR),
    "a partition that moves is below it": (
        lambda plan: below_least(plan, key_of(plan.moves[0])),
        ReasonCode.OUT_OF_SYNC,
    ),
    "a target's disk is full": (lambda plan: small_disks(plan.snapshot, new_target(plan)), ReasonCode.OVER_CAPACITY),
}


@pytest.mark.parametrize("name", STALE)
def test_the_plan_is_stale_and_the_code_says_why(name: str) -> None:
    change, code = STALE[name]
    plan = planned(has_id="another" not in name)
    result = check_plan(plan.document, change(plan))
    assert result.status is PlanStatus.STALE
    assert code in result.codes
    assert all(render_all(reason.facts) for reason in result.because)


@pytest.mark.parametrize("name", HARMFUL)
def test_the_plan_is_harmful_and_the_first_code_says_why(name: str) -> None:
    change, code = HARMFUL[name]
    plan = planned()
    result = check_plan(plan.document, change(plan))
    assert result.status is PlanStatus.HARMFUL
    assert result.codes[0] is code


def test_an_added_broker_that_has_not_joined_is_a_target_that_is_not_there() -> None:
    plan = planned(options=replace(OPTIONS, add_brokers={12: "rack-0"}))
    assert check_plan(plan.document, plan.snapshot).codes == (ReasonCode.TARGET_GONE,)
    there = replace(plan.snapshot, brokers=(*plan.snapshot.brokers, Broker(id=12, rack="rack-0")))
    assert check_plan(plan.document, there).status is PlanStatus.VALID
    elsewhere = replace(plan.snapshot, brokers=(*plan.snapshot.brokers, Broker(id=12, rack="rack-1")))
    assert ReasonCode.RACK_CHANGED in check_plan(plan.document, elsewhere).codes


def test_a_broker_that_is_no_target_and_dies_or_comes_back_makes_it_stale() -> None:
    plan = planned(options=replace(OPTIONS, exclude_brokers=frozenset({2})))
    untouched = [m for m in plan.moves if 2 in m["to"]]
    snapshot = dead(applied(plan.snapshot, untouched), 2)
    died = check_plan(plan.document, snapshot)
    assert ReasonCode.BROKER_LOST in died.codes
    document = plan.document
    document["seen"]["dead_brokers"] = [2]
    back = check_plan(resealed(document), plan.snapshot)
    assert (back.status, back.codes[0]) == (PlanStatus.STALE, ReasonCode.BROKER_BACK)


VALID: dict[str, Change] = {
    "the same snapshot": lambda plan: plan.snapshot,
    "half a day later": at("2026-11-21T00:00:00Z"),
    "no time told": lambda plan: replace(plan.snapshot, captured_at=None),
    "ids of topics not told": lambda plan: replace(
        plan.snapshot, topics=tuple(replace(topic, topic_id=None) for topic in plan.snapshot.topics)
    ),
    "the cluster's id not told, and read under another name": lambda plan: replace(
        plan.snapshot, cluster_id=None, cluster="dumps-of-tuesday"
    ),
    "half of it done": lambda plan: applied(plan.snapshot, plan.document["moves"][::2]),
    "a topic that does not move made anew": lambda plan: with_topic(
        plan.snapshot, "topic-07", lambda topic: replace(topic, topic_id="new")
    ),
    "a partition short of its replicas, not of its least ISR": lambda plan: below_least(
        plan, not_moving(plan), least=2, in_sync=2
    ),
    "a least ISR that no broker takes for more than the replicas": lambda plan: below_least(
        plan, not_moving(plan), least=9, in_sync=3
    ),
    "a move away from the replica that lags": cured,
}


@pytest.mark.parametrize("name", VALID)
def test_what_has_not_changed_or_is_unknown_is_no_reason(name: str) -> None:
    plan = planned()
    result = check_plan(plan.document, VALID[name](plan))
    assert result.because != ()
    assert (result.status, result.codes) == (PlanStatus.VALID, (ReasonCode.MOVES_LEFT,)), result.because


def test_a_topic_id_that_is_unknown_is_no_other_one() -> None:
    plan = planned()
    document = plan.document | {"topic_ids": dict.fromkeys(plan.document["topic_ids"])}
    assert check_plan(resealed(document), with_other_ids(plan)).status is PlanStatus.VALID


@pytest.mark.parametrize("name", ["topic_ids", "seen", "before", "resources"])
def test_a_plan_without_what_it_saw_is_refused(name: str) -> None:
    document = planned().document
    del document[name]
    with pytest.raises(InvalidInputError, match=rf"plan\.{name}: is missing"):
        check_plan(resealed(document), planned().snapshot)


def test_a_plan_may_start_beside_what_was_being_reassigned_when_it_was_made() -> None:
    plan = planned(is_busy=True)
    running = check_plan(plan.document, plan.snapshot)
    assert (running.status, running.codes) == (PlanStatus.VALID, (ReasonCode.MOVES_LEFT,))
    assert {reason.code for reason in running.warnings} == {ReasonCode.STILL_REASSIGNING}
    over = changed(plan.snapshot, ("topic-00", 0), lambda old: placed(old, [*old.adding, *old.replicas[1:3]]))
    assert check_plan(plan.document, over).status is PlanStatus.VALID


def test_the_clock_of_whoever_asks_counts_as_the_time_of_the_snapshot_does() -> None:
    """The plan's snapshot is of the 20th, 12:00; it is valid for a day."""
    plan = planned()
    for now, codes in (
        ("2026-11-21T12:00:00Z", (ReasonCode.MOVES_LEFT,)),
        ("2026-12-11T12:00:00Z", (ReasonCode.EXPIRED,)),
    ):
        result = check_plan(plan.document, plan.snapshot, now=parse_time(now, "now"))
        assert result.codes == codes
    timeless = plan.document | {"captured_at": None, "expires_at": None}
    assert check_plan(resealed(timeless), plan.snapshot, now=parse_time(now, "now")).status is PlanStatus.VALID


def grown(plan: Planned, factor: float) -> ClusterSnapshot:
    """Every replica is as much larger."""
    rows = [
        replace(r, log_bytes=tuple(None if b is None else round(b * factor) for b in r.log_bytes))
        for r in plan.snapshot.each_partition()
    ]
    table = with_rows(plan.snapshot, rows).partitions
    loads = {kind: column for kind, column in plan.snapshot.loads.columns.items() if kind is not LoadKind.LOG_BYTES}
    return replace(plan.snapshot, partitions=table, loads=PartitionLoads(loads))


@pytest.mark.parametrize(("factor", "warnings"), [(1.09, 0), (0.91, 0), (1.12, 2), (0.88, 2)])
def test_sizes_that_are_others_by_more_than_a_tenth_are_warned_of(factor: float, warnings: int) -> None:
    plan = planned()
    result = check_plan(plan.document, grown(plan, factor))
    assert result.status is PlanStatus.VALID
    assert [reason.code for reason in result.warnings] == [ReasonCode.SIZES_CHANGED] * warnings


def test_capacities_that_are_others_by_more_than_a_tenth_are_warned_of() -> None:
    """Eight brokers as before, broker 4 with a third more; later one is unknown."""
    sized = replace(OPTIONS, capacities={b: Capacity(disk_bytes=1e15) for b in range(9)})
    plan = planned(options=sized)
    document = plan.document
    assert check_plan(document, plan.snapshot).warnings == ()
    for outcome in document["resources"]:
        if outcome["resource"] == "disk":
            outcome["capacity"]["4"] = 0.75e15
    warned = check_plan(resealed(document), plan.snapshot).warnings
    assert [reason.code for reason in warned] == [ReasonCode.CAPACITY_CHANGED]
    (said,) = warned[0].facts
    assert (said.code, said.args["broker"]) == (FactCode.NOW_OTHER_CAPACITY, 4)
    document["parameters"]["capacities"] = {}
    unknown = check_plan(resealed(document), plan.snapshot).warnings
    assert [reason.code for reason in unknown] == [ReasonCode.CAPACITY_CHANGED]
    assert unknown[0].facts[0].code is FactCode.NOW_UNKNOWN_CAPACITY


def test_a_plan_of_a_cluster_with_another_id_is_refused() -> None:
    plan = planned()
    with pytest.raises(InvalidInputError, match="the plan is of cluster test-id, the snapshot of other-id"):
        check_plan(plan.document, replace(plan.snapshot, cluster_id="other-id"))


def test_the_tables_cover_what_they_claim() -> None:
    assert len(STALE) >= 30
    stale = {code for code, status in STATUS_OF.items() if status is PlanStatus.STALE}
    elsewhere = {
        ReasonCode.BROKER_LOST, ReasonCode.BROKER_BACK, ReasonCode.SOMETHING_TO_DO, ReasonCode.NO_PLAN_TO_KEEP,
        ReasonCode.NOT_SEEN,
    }  # fmt: skip
    assert {code for _, code in STALE.values()} == stale - elsewhere
    assert STATUS_OF.keys() == set(ReasonCode)
