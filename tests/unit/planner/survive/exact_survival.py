"""Exact test whether a placement survives every loss, for small clusters.

A 0/1 variable for each partition and placement (a set of brokers on distinct racks, a leader, its standby); rows:
load of each broker and resource after each loss. Independent of the search.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from kafka_rebalance.planner.survive import LossArrays, LossState

Way = tuple[tuple[int, ...], int, int | None]


def can_survive(state: LossState, *, moves_replicas: bool = True, seconds: float = 20.0) -> bool | None:
    """True if some placement of all partitions survives; None if not decided in time."""
    arrays = state.arrays
    columns: list[tuple[int, int, float]] = []  # row, variable, amount
    choices: list[list[int]] = []
    variable = 0
    brokers, guarded = len(arrays.group), len(arrays.guarded)
    for row in range(len(state.lists)):
        mine = []
        for members, leader, heir in ways(arrays, state, row, moves_replicas=moves_replicas):
            mine.append(variable)
            for r, d in enumerate(arrays.guarded.tolist()):
                carried = dict.fromkeys(members, float(arrays.follower[row, d]))
                carried[leader] += float(arrays.extra[row, d])
                for group in range(arrays.groups):
                    for broker, amount in carried.items():
                        columns.append(((group * brokers + broker) * guarded + r, variable, amount))
                if heir is not None:
                    lost = int(arrays.group[leader])
                    columns.append(((lost * brokers + heir) * guarded + r, variable, float(arrays.extra[row, d])))
            variable += 1
        choices.append(mine)
    return _decided(arrays, columns, choices, variable, seconds)


def ways(arrays: LossArrays, state: LossState, row: int, *, moves_replicas: bool) -> list[Way]:
    """Members, leader, and standby (or None)."""
    now = tuple(int(broker) for broker in state.lists[row] if broker >= 0)
    sets = [now]
    if moves_replicas:
        racks = len({int(arrays.rack[broker]) for broker in now})
        brokers = np.flatnonzero(arrays.takes_replicas).tolist()
        sets = [
            chosen
            for chosen in combinations(brokers, len(now))
            if len({int(arrays.rack[broker]) for broker in chosen}) >= racks
        ]
    results = []
    for members in sets:
        for leader in members:
            able = [b for b in members if arrays.group[b] != arrays.group[leader] and arrays.serves[b]]
            results += [(members, leader, heir) for heir in (able or [None])]
    return results


def _decided(
    arrays: LossArrays, columns: list[tuple[int, int, float]], choices: list[list[int]], variables: int, seconds: float
) -> bool | None:
    rows, at, amount = (np.array(part) for part in zip(*columns, strict=True))
    limit = np.where(arrays.survives[:, :, None], arrays.capacity[None, :, :], np.inf).reshape(-1)
    count = len(limit)
    used = coo_array((amount, (rows, at)), shape=(count, variables)).tocsr()
    is_limited = np.isfinite(limit)
    first = coo_array(
        (
            np.ones(variables),
            (np.repeat(np.arange(len(choices)), [len(mine) for mine in choices]), np.arange(variables)),
        ),
        shape=(len(choices), variables),
    ).tocsr()
    scale = limit[is_limited]
    result = milp(
        np.zeros(variables),
        constraints=[
            LinearConstraint(used[is_limited] / scale[:, None], -np.inf, np.ones(len(scale))),
            LinearConstraint(first, 1, 1),
        ],
        integrality=np.ones(variables),
        bounds=Bounds(0, 1),
        options={"time_limit": seconds},
    )
    return True if result.status == 0 else False if result.status == 2 else None
