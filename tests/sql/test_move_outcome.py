"""What became of a plan's moves: the views against a slow look at each partition, over random clusters and plans."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.plans.applied import move_state
from kafka_rebalance.plans.plan import Move, MoveKind, Wave
from kafka_rebalance.snapshot.model import Broker, ClusterSnapshot, Partition, Topic, partition_table
from kafka_rebalance.snapshot.partition_table import PartitionLoads
from tests.sql.sample_clusters import small_plan
from tests.sql.test_questions import DAY, NOW, advise, read, rows

WHY, WORSE = fact(FactCode.SEPARATES_RACKS), fact(FactCode.SHARES_RACK)
pytestmark = pytest.mark.stack
BROKERS = range(1, 6)
COUNTS = ("applied", "placed", "moving", "open", "elsewhere", "gone")


def cluster_of(partitions: list[Partition]) -> ClusterSnapshot:
    return ClusterSnapshot(
        cluster="prod", brokers=tuple(Broker(broker) for broker in BROKERS), topics=(Topic("orders"),),
        partitions=partition_table(partitions, {"orders": 0}), loads=PartitionLoads({}), source="dumps",
    )  # fmt: skip


def placed(number: int, replicas: list[int], leader: int | None, **flight: tuple[int, ...]) -> Partition:
    isr = tuple(replicas) if leader is not None else ()
    return Partition("orders", number, tuple(replicas), leader, isr, (10,) * len(replicas), 0, 1, **flight)


def random_list(source: random.Random, count: int) -> list[int]:
    return source.sample(BROKERS, count)


def random_move(source: random.Random, number: int) -> Move:
    """To other brokers, to the same ones in another order, or an election alone (from = to)."""
    before = random_list(source, source.choice([1, 2, 3]))
    after = source.choice([before, before[::-1], random_list(source, len(before)), random_list(source, 3)])
    leader_from = source.choice([None, *before])
    leader_to = after[0]
    if after == before and leader_from == leader_to:
        after, leader_to = [b for b in BROKERS if b not in before][:2], next(b for b in BROKERS if b not in before)
    kind = MoveKind.LEADER if set(after) == set(before) else MoveKind.REPLICA
    return Move("orders", number, tuple(before), tuple(after), leader_from, leader_to, kind, 10, 1, WHY, WORSE)


def later(source: random.Random, move: Move) -> Partition | None:
    """What a later reading may show of it."""
    before, after = list(move.from_replicas), list(move.to_replicas)
    what = source.choice(["nothing", "gone", "done", "no leader", "led by another", "flying", "elsewhere", "shuffled"])
    match what:
        case "nothing":
            return placed(move.partition, before, move.leader_from)
        case "gone":
            return None
        case "done":
            return placed(move.partition, after, move.leader_to)
        case "no leader":
            return placed(move.partition, after, None)
        case "led by another":
            replicas = source.choice([before, after])
            return placed(move.partition, replicas, source.choice(replicas))
        case "flying":
            to = source.choice([after, random_list(source, 2)])
            union = [*to, *(b for b in before if b not in to)]
            adding, removing = tuple(b for b in to if b not in before), tuple(b for b in before if b not in to)
            return placed(move.partition, union, before[0], adding=adding, removing=removing)
        case "shuffled":
            return placed(move.partition, source.sample(before, len(before)), before[0])
    return placed(move.partition, random_list(source, source.choice([1, 2, 3])), None)


def state_of(move: Move, now: Partition | None) -> str:
    """As one would say it."""
    if now is None:
        return "gone"
    if now.adding or now.removing:
        heading = tuple(broker for broker in now.replicas if broker not in now.removing)
        return "moving" if heading == move.to_replicas else "elsewhere"
    is_target, is_start = now.replicas == move.to_replicas, now.replicas == move.from_replicas
    if is_target and now.leader == move.leader_to:
        return "applied"
    return "open" if is_start else "placed" if is_target else "elsewhere"


@pytest.mark.parametrize("seed", range(4))
def test_counts_and_states_are_those_of_a_slow_look(connection, seed: int) -> None:
    source = random.Random(seed)
    moves = tuple(random_move(source, number) for number in range(60))
    start = cluster_of([placed(m.partition, list(m.from_replicas), m.leader_from) for m in moves])
    now = {m.partition: later(source, m) for m in moves}
    before = read(connection, NOW, start)
    plan = replace(
        small_plan(before), moves=moves, waves=(Wave(tuple(range(60)), 600, 1.0, 100),), steps=(), rollback=None
    )
    advise(connection, "r", before, plan=plan.sealed())
    (untouched,) = rows(connection, "plan_outcome")
    assert (untouched["move_count"], untouched["open_count"], untouched["applied_count"]) == (60, 60, 0)
    read(connection, NOW + DAY, cluster_of([row for row in now.values() if row is not None]))
    expected = {m.partition: state_of(m, now[m.partition]) for m in moves}
    assert {m.partition: move_state(m, now[m.partition]).value for m in moves} == expected, "the library's own look"
    assert len(set(expected.values())) == len(COUNTS), "every state occurs"
    (outcome,) = rows(connection, "plan_outcome")
    counted = Counter(expected.values())
    assert {name: outcome[f"{name}_count"] for name in COUNTS} == {name: counted[name] for name in COUNTS}
    standing = rows(connection, "move_status_latest", "partition")
    assert {row["partition"]: row["state"] for row in standing} == expected
    assert all(row["is_applied"] is (row["state"] == "applied") for row in standing)
    assert {row["partition"]: row["replicas_now"] for row in standing} == {
        number: None if row is None else list(row.replicas) for number, row in now.items()
    }


def test_an_election_that_nobody_ran_is_open_though_its_replicas_are_the_plan_s(connection) -> None:
    """Three moves from = to, leader 1 to 2: one elected, one not, one led by a third broker meanwhile."""
    moves = tuple(Move("orders", n, (2, 1, 3), (2, 1, 3), 1, 2, MoveKind.LEADER, 0, 1, WHY, WORSE) for n in range(3))
    start = cluster_of([placed(n, [2, 1, 3], 1) for n in range(3)])
    before = read(connection, NOW, start)
    plan = replace(
        small_plan(before), moves=moves, waves=(Wave((0, 1, 2), 0, 0.0, 100),), steps=(), rollback=None
    ).sealed()
    advise(connection, "r", before, plan=plan)
    read(connection, NOW + DAY, cluster_of([placed(n, [2, 1, 3], leader) for n, leader in enumerate((2, 1, 3))]))
    (outcome,) = rows(connection, "plan_outcome")
    assert (outcome["applied_count"], outcome["open_count"]) == (1, 2)
