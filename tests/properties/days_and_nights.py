"""A plan that nobody executes, one that is executed step by step, and one that is executed a budget a night.

``python -m tests.properties.days_and_nights`` prints the tables of docs/internals/days-and-nights.md.

Loads breathe and grow as in ``test_plan_stays_put``: figures are off by 10 % every day, rates follow a daily rhythm,
all topics grow by 1 % a day, 1 % of them change for good. On day 2 one broker's partitions grow threefold.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Plan, Verdict
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.snapshot.partition_table import partition_table
from tests.properties.test_plan_stays_put import after_plan, on_day, start
from tests.unit.planner.sample_clusters import random_cluster

DAYS, PLANTED, NIGHTS = 14, 2, 7
Moves = dict[tuple[str, int], tuple[tuple[int, ...], int]]


def moves_of(plan: Plan) -> Moves:
    """Where each partition goes, and who leads it."""
    return {(move.topic, move.partition): (move.to_replicas, move.leader_to) for move in plan.moves}


def days(seed: int, *, is_executed: bool) -> Iterator[tuple[Plan, Moves]]:
    """Yield the plan of each day and the moves that were left of the day before.

    ``is_executed``: each day the first step of the plan is carried out.
    """
    draw = np.random.default_rng(seed)
    snapshot, base = start(seed)
    previous: Plan | None = None
    left: Moves = {}
    for day in range(DAYS):
        changed = draw.random(len(snapshot.topics)) < 0.01
        for values in base.values():
            np.multiply(values, 1.01, out=values)
            values[changed[snapshot.partitions.topic]] *= draw.uniform(0.8, 1.25)
            if day == PLANTED:
                values[np.isin(snapshot.partitions.leader, [0])] *= 3
        today = on_day(snapshot, base, day, draw)
        plan = make_plan(
            today, PlanOptions(with_frontier=False), previous=None if previous is None else previous.document
        )
        yield plan, left
        left, previous = moves_of(plan), plan
        if is_executed and plan.steps:
            done = {number for wave in plan.steps[0].waves for number in plan.waves[wave - 1].moves}
            part = replace(plan, moves=tuple(plan.moves[number] for number in sorted(done)))
            snapshot, left = after_plan(snapshot, part), {k: v for k, v in left.items() if k not in moves_of(part)}


def changed_moves(left: Moves, now: Moves) -> int:
    """Moves that went, came, or lead elsewhere."""
    return sum(now.get(key) != move for key, move in left.items()) + sum(key not in left for key in now)


@dataclass(frozen=True, slots=True)
class Nights:
    """``unbudgeted``: without a budget; ``nights``: a fifth of its bytes each; ``end``: the plan after them."""

    unbudgeted: Plan
    nights: tuple[Plan, ...]
    end: Plan

    @property
    def bytes_ratio(self) -> float:
        """What the nights copy, in what the one plan copies."""
        return sum(plan.cost.bytes or 0 for plan in self.nights) / max(self.unbudgeted.cost.bytes or 0, 1)


def a_week_of_nights(seed: int) -> Nights:
    """A fifth of what one plan copies each night, for a week; loads stay what they are."""
    snapshot: ClusterSnapshot = random_cluster(seed, broker_count=9, topics=60)
    options = PlanOptions(within=0.1, with_frontier=False)
    first = make_plan(snapshot, options)
    budget = replace(options, max_move_bytes=-(-(first.cost.bytes or 0) // 5))
    nights: list[Plan] = []
    for _ in range(NIGHTS):
        plan = make_plan(snapshot, budget, previous=nights[-1].document if nights else None)
        nights.append(plan)
        snapshot = _after(snapshot, plan)
    return Nights(first, tuple(nights), make_plan(snapshot, options))


def _after(snapshot: ClusterSnapshot, plan: Plan) -> ClusterSnapshot:
    """Sizes stay with their partitions."""
    sizes = {(row.topic, row.partition): max(size or 0 for size in row.log_bytes) for row in snapshot.each_partition()}
    moved = after_plan(snapshot, plan)
    rows = [
        replace(row, log_bytes=(sizes[row.topic, row.partition],) * len(row.replicas)) for row in moved.each_partition()
    ]
    index = {topic.name: number for number, topic in enumerate(snapshot.topics)}
    return replace(moved, partitions=partition_table(rows, index))


def main() -> None:
    """Print the tables."""
    print("| seed | moves | changed a day, at most | executed: steps | undone |\n|--:|--:|--:|--:|--:|")
    for seed in range(10):
        quiet = list(days(seed, is_executed=False))
        most = max((changed_moves(left, moves_of(plan)) / len(left) for plan, left in quiet if left), default=0.0)
        largest = max(len(plan.moves) for plan, _ in quiet)
        done = list(days(seed, is_executed=True))
        steps = sum(plan.verdict is Verdict.REBALANCE for plan, _ in done)
        print(f"| {seed} | {largest} | {most:.1%} | {steps} | {undone(done)} |")
    print("\n| seed | one plan, GB | nights | copied in the week | verdict after |\n|--:|--:|--:|--:|---|")
    for seed in range(10):
        week = a_week_of_nights(seed)
        busy = sum(bool(plan.moves) for plan in week.nights)
        size = (week.unbudgeted.cost.bytes or 0) / 1e9
        print(f"| {seed} | {size:,.0f} | {busy} | {week.bytes_ratio:.3f} × | {week.end.verdict.value} |")


def undone(done: list[tuple[Plan, Moves]]) -> int:
    """Moves of a later day that bring a partition back to where a move of an earlier day took it from."""
    origins: dict[tuple[str, int], set[tuple[int, ...]]] = {}
    count = 0
    for plan, _ in done:
        first = {number for wave in plan.steps[0].waves for number in plan.waves[wave - 1].moves} if plan.steps else ()
        for number in sorted(first):
            move = plan.moves[number]
            key = (move.topic, move.partition)
            count += tuple(sorted(move.to_replicas)) in origins.get(key, set())
            if set(move.from_replicas) != set(move.to_replicas):
                origins.setdefault(key, set()).add(tuple(sorted(move.from_replicas)))
    return count


if __name__ == "__main__":
    main()
