"""Any prefix of a plan's steps is a plan: verified, lawful for Kafka, no dearer than the whole."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest

from kafka_assignors.arrays import ABSENT, Floats, Ints
from kafka_rebalance.errors import UsageError
from kafka_rebalance.options.plan_options import STEPS, PlanOptions
from kafka_rebalance.planner.params import BAND_TOLERANCE
from kafka_rebalance.planner.scales import resource_scale
from kafka_rebalance.planner.solve import solve
from kafka_rebalance.plans.document import plan_from_document
from kafka_rebalance.plans.draft import draft_of, outcome_of
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Plan, StepKind, Verdict
from kafka_rebalance.plans.request import PlanRequest, build_request
from kafka_rebalance.snapshot.load import LoadKind
from kafka_rebalance.snapshot.model import Capacity, ClusterSnapshot
from kafka_rebalance.snapshot.partition_table import Partition
from kafka_rebalance.verify import verify_plan
from tests.properties.any_cluster import any_case
from tests.properties.unhealthy_clusters import faults_of, unhealthy_cluster
from tests.sample import for_each
from tests.unit.planner.sample_clusters import GB, brokers, cluster


def filling_cluster(seed: int) -> ClusterSnapshot:
    """4 to 9 brokers with disks of known size, one or two of them nearly full; some lists are not led by their first
    replica, some share a rack; rates are known in every second cluster.
    """
    draw = np.random.default_rng(seed)
    count, racks = int(draw.integers(4, 10)), int(draw.integers(2, 4))
    rows = [_partition(draw, p, count, racks) for p in range(int(draw.integers(20, 90)))]
    held = np.zeros(count)
    for row in rows:
        held[list(row.replicas)] += row.log_bytes[0] or 0
    full = draw.permutation(count)[: int(draw.integers(1, 3))]
    mean = float(held.mean())
    # The fullest brokers are at 86 to 99 % of a disk that is as large as all others are.
    size = max(float(held[full].max()) / float(draw.uniform(0.86, 0.99)), 1.4 * mean, float(held.max()) * 1.005)
    known = [replace(broker, capacity=Capacity(disk_bytes=round(size))) for broker in brokers(count, racks)]
    rates = None
    if draw.random() < 0.5:
        written = draw.lognormal(11, 1.5, len(rows)) * float(draw.choice([1, 300]))
        rates = {LoadKind.IN_BYTES_PER_S: written.tolist(), LoadKind.OUT_BYTES_PER_S: (2 * written).tolist()}
    return cluster(rows, known, rates=rates)


def _partition(draw: np.random.Generator, p: int, count: int, racks: int) -> Partition:
    factor = int(draw.integers(1, min(3, count) + 1))
    weights = np.ones(count)
    weights[: count // 3 or 1] = 2.5  # the first brokers hold more
    replicas = [int(broker) for broker in draw.choice(count, size=factor, replace=False, p=weights / weights.sum())]
    if draw.random() < 0.9:  # as racks want it
        replicas = list({broker % racks: broker for broker in replicas}.values())
    leader = replicas[0] if draw.random() < 0.7 else int(draw.choice(replicas))
    size = int(GB * draw.lognormal(0, 1.0)) + 1
    return Partition(
        topic=f"t{p % 5}", partition=p, replicas=tuple(replicas), leader=leader, isr=tuple(replicas),
        log_bytes=(size,) * len(replicas),
    )  # fmt: skip


def _parts_of(snapshot: ClusterSnapshot, options: PlanOptions) -> tuple[Plan, list[Plan]]:
    """The plan, and what it is where it ends at each of its steps."""
    whole = make_plan(snapshot, options)
    return whole, [make_plan(snapshot, replace(options, at=step.kind.value)) for step in whole.steps]


def _check_parts(snapshot: ClusterSnapshot, options: PlanOptions) -> Plan:
    whole, parts = _parts_of(snapshot, options)
    assert verify_plan(whole.document, snapshot).wrong == ()
    assert plan_from_document(whole.document) == whole
    moves = {(move.topic, move.partition): move for move in whole.moves}
    for number, part in enumerate(parts, start=1):
        assert verify_plan(part.document, snapshot).wrong == ()
        assert part.verdict is Verdict.REBALANCE
        assert [step.kind for step in part.steps] == [step.kind for step in whole.steps[:number]]
        assert [step.cost for step in part.steps] == [step.cost for step in whole.steps[:number]]
        for move in part.moves:
            same = moves[move.topic, move.partition]
            assert (move.to_replicas, move.leader_to, move.wave) == (same.to_replicas, same.leader_to, same.wave)
    return whole


@for_each("seed", range(300), fast=range(12), rest_mark=pytest.mark.matrix, rest_items=2)
def test_any_prefix_of_the_steps_is_a_plan_where_disks_fill_up(seed: int) -> None:
    """The growth of some disks is known in every second cluster."""
    snapshot = filling_cluster(seed)
    growth = _some_growth(snapshot, seed) if seed % 2 else {}
    whole = _check_parts(snapshot, PlanOptions(with_frontier=False, disk_growth=growth))
    _check_relief(snapshot, whole, growth)


def _some_growth(snapshot: ClusterSnapshot, seed: int) -> dict[int, int]:
    """Half of the disks are full in 1 to 60 days."""
    draw, held = np.random.default_rng(seed), _held(snapshot)
    chosen = draw.permutation(sorted(held))[: len(held) // 2].tolist()
    room = {broker: 0.85 * (snapshot.brokers[broker].capacity.disk_bytes or 0) - held[broker] for broker in chosen}
    return {broker: round(left / draw.uniform(1, 60)) for broker, left in sorted(room.items()) if left > 0}


def _held(snapshot: ClusterSnapshot) -> dict[int, float]:
    held = dict.fromkeys((broker.id for broker in snapshot.brokers), 0.0)
    for row in snapshot.each_partition():
        for broker in row.replicas:
            held[broker] += row.log_bytes[0] or 0
    return held


def _check_relief(snapshot: ClusterSnapshot, plan: Plan, growth: dict[int, int]) -> None:
    """What is full or will be in 30 days is relieved before anything is evened out, and nothing else is."""
    size = {broker.id: broker.capacity.disk_bytes or 0 for broker in snapshot.brokers}
    held, kind_of = _held(snapshot), {wave: step.kind for step in plan.steps for wave in step.waves}
    if StepKind.RELIEVE not in kind_of.values():
        return

    def full() -> set[int]:
        return {b for b in size if held[b] + 30 * growth.get(b, 0) > 0.85 * size[b] * (1 + 1e-9)}

    gone = {kind: list[tuple[set[int], set[int]]]() for kind in StepKind}
    for kind in StepKind:
        if kind is StepKind.RELIEVE:
            first = full()
        for move in plan.moves:
            if kind_of[move.wave] is kind:
                old, new = set(move.from_replicas), set(move.to_replicas)
                gone[kind].append((old - new, new - old))
                sign = {**dict.fromkeys(old - new, -1), **dict.fromkeys(new - old, 1)}
                for broker, change in sign.items():
                    held[broker] += change * (move.bytes or 0) / max(len(new - old), 1)
        if kind is StepKind.RELIEVE:
            later = full()
    filled = {broker for _, new in gone[StepKind.RELIEVE] for broker in new}
    assert all(old & (first | filled) for old, _ in gone[StepKind.RELIEVE])
    assert not any(old & (first | later) for old, _ in gone[StepKind.EVEN_OUT])


@pytest.mark.planned
@for_each("seed", range(300), fast=range(12), rest_mark=pytest.mark.matrix, rest_items=2)
def test_any_prefix_of_the_steps_is_a_plan_for_a_cluster_in_trouble(seed: int) -> None:
    snapshot, options = unhealthy_cluster(seed)
    whole, parts = _parts_of(snapshot, replace(options, with_frontier=False))
    assert faults_of(whole.document, snapshot, options) == []
    for part in parts:
        assert verify_plan(part.document, snapshot).wrong == ()


@pytest.mark.planned
@for_each("seed", range(300), fast=range(12), rest_mark=pytest.mark.matrix, rest_items=2)
def test_any_prefix_of_the_steps_is_a_plan_whatever_was_asked(seed: int) -> None:
    case = any_case(seed)
    options = replace(case.options, with_frontier=False)
    try:
        make_plan(case.snapshot, options)
    except UsageError:  # the cluster contradicts the options
        return
    _check_parts(case.snapshot, options)


class Placing(NamedTuple):
    """Lists int32[P', W] and leaders int32[P'], in problem rows."""

    lists: Ints
    leader: Ints

    def with_row(self, row: int, brokers: list[int], leader: int) -> Placing:
        lists, leaders = self.lists.copy(), self.leader.copy()
        lists[row] = ABSENT
        lists[row, : len(brokers)] = brokers
        leaders[row] = leader
        return Placing(lists, leaders)


def _levels(request: PlanRequest, placing: Placing) -> list[Floats]:
    """Loads at the end of the plan, and after an election of preferred replicas."""
    outcome = outcome_of(request, draft_of(request, placing.lists, placing.leader))
    stays = request.brokers.arrays.stays
    return [outcome.after[stays], outcome.elected_after[stays]]


def _without_leader_change(before: list[int], after: list[int], leader: int) -> list[tuple[list[int], int]]:
    """The same replicas with today's leader; with the same replicas as today also an election of the first."""
    if sorted(before) == sorted(after):
        return [(before, leader), (before, before[0])]
    return [([leader, *(broker for broker in after if broker != leader)], leader)] if leader in after else []


@pytest.mark.planned
@for_each("seed", range(300), fast=range(8), rest_mark=pytest.mark.matrix, rest_items=2, whole_step=8)
def test_each_leader_change_keeps_a_broker_in_its_band(seed: int) -> None:
    """Each left out in turn: a broker ends farther outside a band, now or after an election. An election needs no
    other reason: the controller makes it anyway.
    """
    snapshot, options = filling_cluster(seed), PlanOptions(with_frontier=False)
    plan, request = make_plan(snapshot, options), build_request(snapshot, options)
    problem, brokers = request.problem(0.1), request.brokers.index_of
    low, high = problem.band_low[problem.stays], np.minimum(problem.band_high, problem.limit)[problem.stays]
    row_of = {row: at for at, row in enumerate(request.rows.tolist())}
    end, changes = Placing(problem.replicas, problem.leader), []
    for move in plan.moves:
        row = row_of[snapshot.row_of[move.topic, move.partition]]
        before, after = ([brokers[b] for b in side] for side in (move.from_replicas, move.to_replicas))
        end = end.with_row(row, after, brokers[move.leader_to])
        if move.leader_from not in (None, move.leader_to) and before != after:
            changes.append((row, _without_leader_change(before, after, brokers[move.leader_from])))
    whole = _levels(request, end)
    for row, others in changes:
        for without in others:
            farther = [
                np.maximum(now - np.maximum(high, was), np.minimum(low, was) - now).max(axis=0)
                for now, was in zip(_levels(request, end.with_row(row, *without)), whole, strict=True)
            ]
            assert (np.maximum(*farther) > BAND_TOLERANCE * resource_scale(problem)).any(), (row, without)


@pytest.fixture(scope="module")
def filled() -> list[tuple[ClusterSnapshot, Plan]]:
    snapshots = [filling_cluster(seed) for seed in range(40)]
    return [(snapshot, make_plan(snapshot, PlanOptions(with_frontier=False))) for snapshot in snapshots]


def test_all_steps_together_copy_hardly_more_than_one_plan_for_all(filled: list[tuple[ClusterSnapshot, Plan]]) -> None:
    """The plan of the search alone, without an election first."""
    ratios = []
    for snapshot, plan in filled:
        if plan.verdict is not Verdict.REBALANCE or not plan.cost.bytes:
            continue
        first = solve(build_request(snapshot, PlanOptions()).problem(0.1))
        if first.cost.bytes > 0:
            ratios.append((plan.cost.bytes or 0) / first.cost.bytes)
    assert len(ratios) > 20
    assert sum(ratios) / len(ratios) <= 1.02
    assert max(ratios) <= 1.05


def test_each_kind_of_step_is_there_and_relief_comes_before_evening_out(
    filled: list[tuple[ClusterSnapshot, Plan]],
) -> None:
    kinds = [tuple(step.kind for step in plan.steps) for _, plan in filled]
    assert {kind for some in kinds for kind in some} == set(StepKind)
    assert sum(StepKind.RELIEVE in some for some in kinds) > 20
    assert all(list(some) == sorted(some, key=lambda kind: STEPS.index(kind.value)) for some in kinds)


def test_what_burns_is_relieved_in_the_first_wave_of_relief(filled: list[tuple[ClusterSnapshot, Plan]]) -> None:
    """Brokers above 85 % are below it, or at less than today, when the first wave of the step is done."""
    relieved = 0
    for seed, (_, plan) in enumerate(filled):
        disk = next(outcome for outcome in plan.resources if outcome.resource == "disk")
        for step in plan.steps:
            if step.kind is not StepKind.RELIEVE:
                continue
            first = plan.waves[step.waves[0] - 1]
            left = [
                move.bytes
                for move in (plan.moves[number] for number in first.moves)
                for broker in set(move.from_replicas) - set(move.to_replicas)
                if disk.before[broker] > 0.85 * (disk.capacity or {})[broker]
            ]
            relieved += bool(left)
            assert left, f"seed {seed}: the first wave takes nothing from a full disk"
    assert relieved > 20
