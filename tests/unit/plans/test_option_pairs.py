from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from kafka_rebalance.errors import UsageError
from kafka_rebalance.facts import FactCode
from kafka_rebalance.options.plan_options import CONTRADICTIONS, PlanOptions
from kafka_rebalance.options.values import Target, TopicBrokers, TopicLeaders
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import MoveKind, Plan, Verdict, to_document
from kafka_rebalance.snapshot.figures import LoadKind
from kafka_rebalance.snapshot.model import Capacity, ClusterSnapshot
from kafka_rebalance.verify import verify_plan
from tests.brief_search import searching_briefly
from tests.sample import for_each
from tests.unit.planner.sample_clusters import GB, brokers, cluster, row

BROKERS = 6
CAPACITY = Capacity(disk_bytes=2000.0 * GB, out_bytes_per_s=90.0)
# One value of each option; brokers and topics differ, so that a pair contradicts itself by its kind alone.
FIELDS: dict[str, dict[str, Any]] = {
    "--balance-within": {"within": 0.15},
    "--target": {"targets": {"leaders": Target(None, 1.3)}},
    "--cap": {"caps": {"leaders": 8}},
    "--headroom": {"headroom": {"disk": 0.94}, "capacities": dict.fromkeys(range(BROKERS), CAPACITY)},
    "--remove-rack": {"remove_racks": frozenset({"rack-2"})},
    "--remove-broker": {"remove_brokers": frozenset({3})},
    "--add-broker": {"add_brokers": {BROKERS: "rack-0"}},
    "--demote-broker": {"demote_brokers": frozenset({2})},
    "--exclude-broker": {"exclude_brokers": frozenset({1})},
    "--replication-factor": {"replication_factor": 2},
    "--topic-brokers": {"topic_brokers": (TopicBrokers("topic-02", frozenset({0, 1, 4, 5})),)},
    "--leaders-only": {"leaders_only": True},
    "--preferred-election": {"preferred_election": True},
    "--include-topic": {"include_topics": ("topic-00",)},
    "--exclude-topic": {"exclude_topics": ("topic-01",)},
    "--max-move-bytes": {"max_move_bytes": 12 * GB},
    "--max-moves": {"max_moves": 6},
    "--max-leader-changes": {"max_leader_changes": 5},
    "--max-hours": {"max_hours": 0.05},
    "--night-hours": {"night_hours": 0.05},
    "--disk-growth": {"disk_growth": {0: GB}},
    "--max-reorders": {"max_reorders": 3},
    "--also-balance": {"also_balance": frozenset({"potential_out"})},
    "--survive": {"survive": "rack", "capacities": dict.fromkeys(range(BROKERS), CAPACITY)},
    "--min-topic-leaders": {"min_topic_leaders": (TopicLeaders("topic-01", 1),)},
    "--capacity": {"capacities": dict.fromkeys(range(BROKERS), CAPACITY)},
}
LIMITS = {"--max-move-bytes", "--max-moves", "--max-leader-changes", "--max-hours"}
TOPICS = {"--include-topic", "--exclude-topic"}
ALWAYS_REFUSED = {frozenset({pair.first, pair.second}) for pair in CONTRADICTIONS if pair.detail(PlanOptions()) == ""}
# Refused by its value: of the capacities only disks are known here, and leaders carry none.
REFUSED = ALWAYS_REFUSED | {frozenset({"--leaders-only", other}) for other in ("--headroom", "--also-balance")}
PAIRS = list(combinations(FIELDS, 2))
KEPT_PAIRS = [pair for pair in PAIRS if frozenset(pair) not in REFUSED]
# All pairs that are refused, and every fifth of the others: each option is in one of them.
IN_FAST = {*PAIRS} - {*KEPT_PAIRS} | {*KEPT_PAIRS[::5]}


def after(snapshot: ClusterSnapshot, plan: Plan, options: PlanOptions) -> list[tuple[tuple[int, ...], int | None]]:
    """Replicas and leader of each partition that may be touched, once the plan is done."""
    moved = {(move.topic, move.partition): (move.to_replicas, move.leader_to) for move in plan.moves}
    return [
        moved.get((row.topic, row.partition), (row.replicas, row.leader))
        for row in snapshot.each_partition()
        if options.is_topic_allowed(row.topic)
    ]


def keeps_band(snapshot: ClusterSnapshot, plan: Plan, options: PlanOptions) -> bool:
    asked = (1 - FIELDS["--balance-within"]["within"], 1 + FIELDS["--balance-within"]["within"])
    rest = [outcome for outcome in plan.resources if outcome.resource not in options.targets]
    return bool(rest) and all(resource.band_asked == asked and resource.basis == "fair_share" for resource in rest)


def keeps_target(snapshot: ClusterSnapshot, plan: Plan, options: PlanOptions) -> bool:
    leaders = next(outcome for outcome in plan.resources if outcome.resource == "leaders")
    return leaders.band_asked == (None, 1.3) and leaders.basis == "plain_mean"


def least_led(snapshot: ClusterSnapshot, plan: Plan, options: PlanOptions, topic: str) -> int:
    """Leaders of the topic on the broker that may lead and has fewest; of a topic that is left alone, more than any."""
    if not options.is_topic_allowed(topic):
        return BROKERS
    moved = {(move.topic, move.partition): move.leader_to for move in plan.moves}
    led = [moved.get((r.topic, r.partition), r.leader) for r in snapshot.each_partition() if r.topic == topic]
    closed = options.remove_brokers | options.demote_brokers | options.exclude_brokers
    closed |= {broker.id for broker in snapshot.brokers if broker.rack in options.remove_racks}
    return min(led.count(b) for b in {*range(BROKERS), *options.add_brokers} - closed)


def receives(plan: Plan, broker: int) -> bool:
    return any(
        (broker in move.to_replicas and broker not in move.from_replicas)
        or (move.leader_to == broker != move.leader_from)
        for move in plan.moves
    )


Keeps = Callable[[ClusterSnapshot, Plan, PlanOptions], bool]
# Test that a plan keeps the option; verify, independent of the planner's code, checks the bands.
KEPT: dict[str, Keeps] = {
    "--balance-within": keeps_band,
    "--target": keeps_target,
    "--cap": lambda snapshot, plan, options: all(
        load <= 8 for outcome in plan.resources if outcome.resource == "leaders" for load in outcome.after.values()
    ),
    "--headroom": lambda snapshot, plan, options: all(
        load <= 0.06 * CAPACITY.disk_bytes * (1 + 1e-9)
        for outcome in plan.resources
        if outcome.resource == "disk"
        for load in outcome.after.values()
    ),
    "--remove-rack": lambda snapshot, plan, options: all(
        not {2, 5} & set(to) for to, _ in after(snapshot, plan, options)
    ),
    "--remove-broker": lambda snapshot, plan, options: all(3 not in to for to, _ in after(snapshot, plan, options)),
    "--add-broker": lambda snapshot, plan, options: (
        all(BROKERS in outcome.after for outcome in plan.resources)
        and (receives(plan, BROKERS) or options.max_moves is not None or options.max_leader_changes is not None)
    ),
    "--demote-broker": lambda snapshot, plan, options: all(led != 2 for _, led in after(snapshot, plan, options)),
    "--exclude-broker": lambda snapshot, plan, options: not receives(plan, 1),
    "--replication-factor": lambda snapshot, plan, options: all(
        len(to) == 2 for to, _ in after(snapshot, plan, options)
    ),
    "--topic-brokers": lambda snapshot, plan, options: all(
        set(move.to_replicas) <= {0, 1, 4, 5} for move in plan.moves if move.topic == "topic-02"
    ),
    "--leaders-only": lambda snapshot, plan, options: all(
        sorted(move.from_replicas) == sorted(move.to_replicas) for move in plan.moves
    ),
    "--preferred-election": lambda snapshot, plan, options: all(
        move.from_replicas == move.to_replicas and move.leader_to == move.to_replicas[0] for move in plan.moves
    ),
    "--include-topic": lambda snapshot, plan, options: {move.topic for move in plan.moves} <= {"topic-00"},
    "--exclude-topic": lambda snapshot, plan, options: "topic-01" not in {move.topic for move in plan.moves},
    "--max-move-bytes": lambda snapshot, plan, options: (plan.cost.bytes or 0) <= 12 * GB,
    "--max-moves": lambda snapshot, plan, options: plan.cost.replica_moves <= 6,
    "--max-leader-changes": lambda snapshot, plan, options: plan.cost.leader_changes <= 5,
    "--max-hours": lambda snapshot, plan, options: (plan.cost.seconds or 0) <= 3600 * 0.05,
    "--night-hours": lambda snapshot, plan, options: all(
        (wave.seconds or 0) <= 3600 * 0.05 * (1 + 1e-9)
        # One partition alone may take longer.
        or max(plan.moves[m].bytes or 0 for m in wave.moves) > 3600 * 0.05 * options.throttle_bytes_per_s
        for wave in plan.waves
    ),
    "--disk-growth": lambda snapshot, plan, options: all(
        reason.args["broker"] == 0 for reason in plan.reasons if reason.code is FactCode.DISKS_FILL_SOON
    ),
    "--max-reorders": lambda snapshot, plan, options: sum(move.kind is MoveKind.ORDER for move in plan.moves) <= 3,
    "--also-balance": lambda snapshot, plan, options: any(
        outcome.resource == "potential_out" for outcome in plan.resources
    ),
    "--survive": lambda snapshot, plan, options: (
        plan.after_failure is not None
        and plan.after_failure.after.rack is not None
        and (load := plan.after_failure.after.rack.load) is not None
        and load.ratio <= 1 + 1e-9
    ),
    "--min-topic-leaders": lambda snapshot, plan, options: least_led(snapshot, plan, options, "topic-01") >= 1,
    "--capacity": lambda snapshot, plan, options: all(
        outcome.capacity is not None and outcome.capacity[0] == CAPACITY.disk_bytes
        for outcome in plan.resources
        if outcome.resource == "disk"
    ),
}  # fmt: skip


def small_cluster(seed: int, *, sends: bool = False) -> ClusterSnapshot:
    """Two topics of eight partitions, three racks, uneven; every third is led by its second replica, at ``sends`` 10
    bytes/s.
    """
    draw = np.random.default_rng(seed)
    rows = []
    for number in range(16):
        chosen = [rack + 3 * int(draw.random() < 0.3) for rack in draw.permutation(3).tolist()]
        leader = chosen[1 if number % 3 == 0 else 0]
        size = int(draw.integers(1, 10)) * GB
        rows.append(row(f"topic-{number // 8:02d}", number % 8, chosen, size, leader=leader))
    nothing = dict.fromkeys((LoadKind.IN_BYTES_PER_S,), [0.0] * len(rows))
    rates = nothing | {LoadKind.OUT_BYTES_PER_S: [10.0] * len(rows)} if sends else None
    return cluster(rows, brokers(BROKERS, racks=3), rates=rates)


@for_each("first, second", PAIRS, fast=IN_FAST)
def test_a_pair_is_kept_or_refused_with_both_named(first: str, second: str) -> None:
    fields = FIELDS[first] | FIELDS[second]
    if frozenset({first, second}) in REFUSED:
        with pytest.raises(UsageError) as refusal:
            PlanOptions(**fields)
        assert first in str(refusal.value)
        assert second in str(refusal.value)
        return
    seed = PAIRS.index((first, second)) % 7
    snapshot = small_cluster(seed, sends=bool({"--survive", "--also-balance"} & {first, second}))
    options = PlanOptions(**fields, with_frontier=False, expires_after_hours=1)
    with nullcontext() if (first, second) in IN_FAST else searching_briefly():  # pairs contradict before any search
        plan = make_plan(snapshot, options)
    assert [str(fault) for fault in verify_plan(to_document(plan), snapshot).wrong] == []
    if plan.verdict is Verdict.INFEASIBLE:
        without_copies = {first, second} == {"--leaders-only", "--min-topic-leaders"}  # some broker holds too few
        assert {first, second} & (LIMITS | TOPICS) or without_copies
        assert plan.moves == ()
        return
    for option in (first, second):
        assert KEPT[option](snapshot, plan, options), option


@for_each("seed", range(12))
@pytest.mark.usefixtures("brief_search")
def test_an_excluded_broker_is_not_elected_where_it_is_preferred(seed: int) -> None:
    """Seed 6 has a list that needs no new order, and an excluded broker first in it."""
    snapshot = small_cluster(seed)
    plan = make_plan(snapshot, PlanOptions(exclude_brokers=frozenset({1}), leaders_only=True, with_frontier=False))
    assert [str(fault) for fault in verify_plan(to_document(plan), snapshot).wrong] == []
    assert all(move.leader_to != 1 or move.leader_from == 1 for move in plan.moves)


def test_every_option_is_in_pairs_of_the_sample_that_are_kept() -> None:
    options = [option for pair in KEPT_PAIRS if pair in IN_FAST for option in pair]
    assert set(options) == set(FIELDS)


def test_what_is_refused_by_its_value_is_kept_with_another_one() -> None:
    clashes = {
        "--leaders-only and --target": {"leaders_only": True, "targets": {"disk": Target(None, 1.2)}},
        "--leaders-only and --cap": {"leaders_only": True, "caps": {"disk": 10**12}},
        "--leaders-only and --also-balance": {"leaders_only": True, "also_balance": frozenset({"potential_out"})},
        "--leaders-only and --headroom": {"leaders_only": True, "headroom": {"disk": 0.1}},
        "--at and --balance-within": {"at": "knee", "within": 0.2},
        "--remove-rack and --add-broker": {"remove_racks": frozenset({"b"}), "add_brokers": {7: "b"}},
        "--remove-broker and --add-broker": {"remove_brokers": frozenset({7}), "add_brokers": {7: None}},
        "--exclude-broker and --add-broker": {"exclude_brokers": frozenset({7}), "add_brokers": {7: None}},
        "--demote-broker and --add-broker": {"demote_brokers": frozenset({7}), "add_brokers": {7: None}},
        "--include-topic and --exclude-topic": {"include_topics": ("a.*", "b"), "exclude_topics": ("b",)},
    }
    for text, fields in clashes.items():
        with pytest.raises(UsageError, match=text):
            PlanOptions(**fields)
    by_value = {frozenset({pair.first, pair.second}) for pair in CONTRADICTIONS} - ALWAYS_REFUSED
    assert by_value == {frozenset(clash.split(" and ")) for clash in clashes}


def test_every_option_of_the_command_line_has_its_place_in_the_table() -> None:
    import argparse

    from rebalance_advisor.cli.arguments import add_plan_options

    parser = argparse.ArgumentParser()
    add_plan_options(parser)
    known = {word for action in parser._actions for word in action.option_strings if word.startswith("--")}
    # how, not what: they clash with none
    run_only = {"--help", "--throttle", "--previous", "--no-frontier", "--seed", "--moves-per-broker"}
    run_only |= {
        "--partitions-per-wave",
        "--max-leader-changes-per-wave",
        "--expires-after-hours",
        "--dead-band",
        "--least-gain-per-byte",
        "--new-rack",
    }
    run_only |= {"--prefer", "--slack"}
    run_only |= {"--at"}  # with any job: tests/properties/test_steps.py
    run_only |= {"--load", "--window", "--history", "--owners", "--mutes"}
    run_only |= {"--own-strategy", "--own-strategy-seconds", "--own-strategy-memory", "--clients"}
    run_only |= {"--scenario", "--scenarios", "--heavy-keys", "--rack-byte-price"}
    assert known - run_only == FIELDS.keys() == KEPT.keys()
