"""Fourteen simulated days: a plan is quiet on quiet days, is confirmed while nobody applies it, and then rests.

Loads breathe: each partition's figures are off by 10 % (lognormal) every day, all rates follow a daily rhythm of ±30 %,
and every day 1 % of the topics change for good. On day 4 one broker's partitions grow threefold; the plan of that day
is applied on day 8.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Plan, Verdict, to_document
from kafka_rebalance.snapshot.figures import LoadKind
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.snapshot.partition_table import LoadColumn, PartitionLoads, partition_table
from tests.unit.planner.sample_clusters import random_cluster

DAYS, PLANTED, APPLIED = 14, 4, 8


def after_plan(snapshot: ClusterSnapshot, plan: Plan) -> ClusterSnapshot:
    """The placement with the plan's moves done; loads stay what they are."""
    to = {(move.topic, move.partition): move.to_replicas for move in plan.moves}
    rows = []
    for partition in snapshot.each_partition():
        target = to.get((partition.topic, partition.partition), partition.replicas)
        leader = target[0] if (partition.topic, partition.partition) in to else partition.leader
        rows.append(replace(partition, replicas=target, leader=leader, isr=target, log_bytes=(None,) * len(target)))
    index = {topic.name: i for i, topic in enumerate(snapshot.topics)}
    return replace(snapshot, partitions=partition_table(rows, index))


def on_day(snapshot: ClusterSnapshot, base: dict[LoadKind, np.ndarray], day: int, draw: Any) -> ClusterSnapshot:
    """What is measured on one day."""
    rhythm = 1 + 0.3 * np.sin(day * 2.4)
    columns = {}
    for kind, values in base.items():
        noise = draw.lognormal(0, 0.1, len(values))
        factor = 1.0 if kind is LoadKind.LOG_BYTES else rhythm
        columns[kind] = LoadColumn(values * noise * factor, snapshot.loads.columns[kind].source)
    return replace(snapshot, loads=PartitionLoads(columns), captured_at=datetime(2026, 11, day + 1, 12, tzinfo=UTC))


def moved(plan: Plan) -> dict[tuple[str, int], int]:
    return {(move.topic, move.partition): move.bytes or 0 for move in plan.moves}


def start(seed: int) -> tuple[ClusterSnapshot, dict[LoadKind, np.ndarray]]:
    """An even cluster with its loads: a random one after its own plan."""
    snapshot = random_cluster(seed, broker_count=9, topics=60)
    sizes = snapshot.load(LoadKind.LOG_BYTES)
    columns = dict(snapshot.loads.columns)
    columns[LoadKind.LOG_BYTES] = LoadColumn(sizes, columns[LoadKind.IN_BYTES_PER_S].source)
    snapshot = replace(snapshot, loads=PartitionLoads(columns))
    snapshot = after_plan(snapshot, make_plan(snapshot, PlanOptions(within=0.05, with_frontier=False)))
    return snapshot, {kind: column.values.copy() for kind, column in columns.items()}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [*range(5), *range(100, 104), 116])
def test_fourteen_days_with_noise_do_not_make_a_plan_restless(seed: int) -> None:
    draw = np.random.default_rng(seed)
    snapshot, base = start(seed)
    topics = snapshot.partitions.topic
    previous: Plan | None = None
    verdicts: list[Verdict] = []
    for day in range(DAYS):
        changed = draw.random(len(snapshot.topics)) < 0.01
        for values in base.values():
            values[changed[topics]] *= draw.uniform(0.8, 1.25)
            if day == PLANTED:
                values[np.isin(snapshot.partitions.leader, [0])] *= 3
        today = on_day(snapshot, base, day, draw)
        plan = make_plan(
            today, PlanOptions(with_frontier=False), previous=None if previous is None else to_document(previous)
        )
        verdicts.append(plan.verdict)
        if PLANTED < day <= APPLIED:
            assert previous is not None
            again, first = moved(plan), moved(previous)
            recurring = sum(size for key, size in first.items() if key in again)
            assert recurring >= 0.9 * sum(first.values()), f"day {day}"
        previous = plan
        if day == APPLIED:
            snapshot = after_plan(snapshot, plan)
            previous = None
    quiet = verdicts[:PLANTED] + verdicts[APPLIED + 1 :]
    assert set(quiet) == {Verdict.NOTHING_TO_DO}, verdicts
    assert set(verdicts[PLANTED : APPLIED + 1]) == {Verdict.REBALANCE}, verdicts
