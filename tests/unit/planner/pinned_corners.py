"""Corner cases for the pinned answers: one broker, nothing to move, no possible target."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.options.values import Target
from tests.unit.planner import pinned_bounds, pinned_leaders, pinned_plans
from tests.unit.planner.hand_problems import hand_problem

PILED = [((0, 1), 4.0), ((0, 1), 2.0), ((0, 2), 2.0), ((0, 2), 8.0)]


def _one_stays() -> Problem:
    rows = [((0,), 4.0), ((1,), 2.0), ((1,), 2.0), ((0,), 8.0)]
    return hand_problem(rows, 2, leaving=[1], resources=("disk", "replicas", "leaders"))


def _nobody_leads() -> Problem:
    """Replicas go to brokers that may not lead their only replica."""
    problem = hand_problem([((0,), 4.0), ((0,), 2.0), ((1,), 2.0)], 3, resources=("disk", "leaders"))
    return replace(problem, takes_leaders=np.zeros(3, dtype=np.bool_))


def _no_whole_count() -> Problem:
    problem = hand_problem(PILED, 3, resources=("replicas", "leaders"), moves_replicas=False)
    return replace(problem, band_low=np.full((3, 2), 1.2), band_high=np.full((3, 2), 1.8))


def _nearly_full() -> Problem:
    """The first released replica takes the room of one that must leave."""
    rows = [((0,), 6.0), ((0,), 5.0), ((1,), 4.0), ((2,), 7.0), ((2,), 3.0)]
    return hand_problem(rows, 3, leaving=[2], disk_limit=[20.0, 14.0, 99.0], within=0.05)


CORNERS = {
    "one broker": lambda: hand_problem([((0,), 4.0), ((0,), 2.0)], 1, resources=("disk", "replicas", "leaders")),
    "one broker stays": _one_stays,
    "no bytes": lambda: hand_problem([((0, 1), 0.0)] * 4, 3, resources=("disk", "replicas", "leaders")),
    "all pinned": lambda: hand_problem(PILED, 3, pinned=np.ones(4, dtype=np.bool_), resources=("disk", "leaders")),
    "nobody takes": lambda: hand_problem(PILED, 3, no_receivers=[0, 1, 2]),
    "nobody leads": _nobody_leads,
    "no whole count": _no_whole_count,
    "nearly full": _nearly_full,
    "no room": lambda: hand_problem(
        [((0,), 6.0), ((1,), 2.0), ((2,), 8.0)], 3, leaving=[2], disk_limit=[9.0, 9.0, 9.0]
    ),
    "a bottom and no top": lambda: hand_problem(
        PILED, 3, resources=("disk", "replicas"), targets={"disk": Target(0.8, None)}
    ),
    "a top and no bottom": lambda: hand_problem(PILED, 3, targets={"disk": Target(None, 1.1)}),
    "too large for every band": lambda: hand_problem(
        [((0,), 8.0), ((0,), 1.0)], 3, targets={"disk": Target(None, 1.1)}
    ),
    "one partition": lambda: hand_problem([((0, 1), 4.0)], 3),
    "every rack of its own": lambda: hand_problem(PILED, 3, racks=[0, 1, 2]),
    "one rack": lambda: hand_problem(PILED, 3, racks=[0, 0, 0]),
    "one broker in the second rack": lambda: hand_problem(PILED, 4, racks=[0, 0, 0, 1]),
    "more replicas than racks": lambda: hand_problem(
        [((0, 1), 4.0)] * 4, 5, racks=[0, 0, 1, 1, 1], target_rf=np.full(4, 3, dtype=np.int32)
    ),
    "no band": lambda: hand_problem(PILED, 3, within=None, leaving=[0]),
    "a band of nothing": lambda: hand_problem(PILED, 3, within=0.0, resources=("disk", "replicas", "leaders")),
}


def corner_answers(number: int) -> dict[str, object]:
    """All answers for the corner case of that number."""
    name = list(CORNERS)[number]
    problem = CORNERS[name]()
    lines: dict[str, object] = {"name": name}
    parts = (
        pinned_bounds.started, pinned_bounds.bounded, pinned_leaders.searched, pinned_leaders.chosen,
        pinned_plans.searched, pinned_plans.planned,
    )  # fmt: skip
    for part in parts:
        try:
            result = part(problem)
        except InfeasibleError as error:
            result = {"refused": error.cause.code.value}
        lines |= {f"{part.__name__}: {key}": value for key, value in result.items()}
    return lines
