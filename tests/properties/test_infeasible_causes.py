"""A cause that is named is true: an exact model finds no plan, nor one with less than what is lacking on what is named.

Random clusters of tight disks: racks or none, brokers that leave, replication factors that grow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.facts import FactCode
from kafka_rebalance.planner.infeasible import Cause, smallest_cause
from kafka_rebalance.planner.solve import solve
from tests.properties.exact_with_disks import ExactWithDisks
from tests.unit.planner.hand_problems import hand_problem

FAST, ALL = range(25), range(1200)


def tight(seed: int) -> Problem:
    """3 to 6 brokers, up to 9 partitions, disks with a little more or less than what is to come."""
    draw = np.random.default_rng(seed)
    brokers, racks = int(draw.integers(3, 7)), int(draw.choice([0, 2, 3]))
    rows = []
    for _ in range(int(draw.integers(3, 10))):
        factor = int(draw.integers(1, 3))
        rows.append((tuple(draw.choice(brokers, factor, replace=False).tolist()), float(draw.integers(1, 20))))
    leaving = [int(draw.integers(0, brokers))] if draw.random() < 0.5 else []
    today = np.zeros(brokers)
    for held, size in rows:
        today[list(held)] += size
    spare = draw.uniform(0.0, draw.choice([6.0, 15.0, 30.0]), brokers)
    factor = int(draw.integers(1, 4))
    return hand_problem(
        rows, brokers, within=None, leaving=leaving, disk_limit=(today + spare).tolist(),
        racks=[b % racks for b in range(brokers)] if racks else None,
        target_rf=np.array([max(len(held), min(factor, brokers - 1)) for held, _ in rows], dtype=np.int32),
    )  # fmt: skip


def _held_against_the_model(seeds: Sequence[int]) -> tuple[Counter[str], list[str]]:
    kinds: Counter[str] = Counter()
    faults = []
    for seed in seeds:
        problem = tight(seed)
        exact = ExactWithDisks(problem).least_bought()
        try:
            solve(problem)
        except InfeasibleError as error:
            cause = smallest_cause(problem)
            if cause is None:
                is_known = error.cause.code in (FactCode.NO_ROOM_FOR_REPLICA, FactCode.TOO_FEW_BROKERS)
                kinds["not proved" if is_known else "?"] += 1
                continue
            kinds["proved"] += 1
            if cause.fact != error.cause:
                faults.append(f"seed {seed}: {error.cause} in place of {cause.fact}")
            faults += [f"seed {seed}: {fault}" for fault in _wrong(problem, cause, exact)]
        else:
            kinds["feasible"] += 1
            if exact is None or smallest_cause(problem) is not None:
                faults.append(f"seed {seed}: a plan was found, the model or a cause says that there is none")
    return kinds, faults


def _wrong(problem: Problem, cause: Cause, exact: float | None) -> list[str]:
    if exact is not None:
        return [f"{cause.fact}, yet there is a plan"]
    least = ExactWithDisks(problem, cause.brokers.tolist()).least_bought()
    if least is not None and least < cause.lacking * (1 - 1e-6):
        return [f"{cause.fact}, yet {least} is enough"]
    # With what is lacking on any one of them, something else stands in the way, or nothing.
    column = problem.column("disk")
    for broker in cause.brokers.tolist():
        limit = problem.limit.copy()
        limit[broker, column] += cause.lacking * (1 + 1e-6)
        other = smallest_cause(replace(problem, limit=limit))
        if other is not None and (other.lacking, other.brokers.tolist()) == (cause.lacking, cause.brokers.tolist()):
            return [f"{cause.fact}, with as much added it is the same"]
    return []


def test_a_cause_that_is_named_is_true() -> None:
    kinds, faults = _held_against_the_model(FAST)
    assert faults == []
    assert kinds["proved"] >= 15


@pytest.mark.matrix
@pytest.mark.slow
def test_causes_of_eight_hundred_clusters_are_true() -> None:
    kinds, faults = _held_against_the_model(ALL)
    print(kinds)
    assert faults == []
    assert kinds["proved"] >= 800
    assert kinds["?"] == 0
    assert kinds["not proved"] <= kinds["proved"] // 20
