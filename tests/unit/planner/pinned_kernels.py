"""Sorting and covering prices, functions of arrays alone, as text for the pinned answers."""

from __future__ import annotations

from random import Random

import numpy as np

from kafka_assignors.arrays import Floats, Longs
from kafka_assignors.kernels import kernel
from kafka_rebalance.planner.params import NOT_COVERABLE
from kafka_rebalance.planner.replicas.kernels import cover
from kafka_rebalance.planner.sorting import in_place, largest_first, smallest_first
from tests.unit.planner.pinned_text import digits, number, numbers


@kernel
def _both_ways(values: Floats) -> tuple[Longs, Longs]:
    ranking = largest_first(values)
    down = np.empty(values.shape[0], np.int64)
    for rank in range(down.shape[0]):
        down[rank] = in_place(ranking, rank)
    return smallest_first(values), down


def orders(seed: int) -> dict[str, object]:
    """Of values with many ties: the order of equal ones is part of the answer."""
    draw = Random(seed)
    count, kinds = (1, 2, 14, 15, 16, 17, 18, 31, 32, 33, 40, 70)[seed % 12], draw.choice((1, 2, 4, 100))
    values = np.array([float(draw.randrange(kinds)) for _ in range(count)])
    values = (values, np.sort(values), np.sort(values)[::-1].copy())[draw.randrange(3)]
    up, down = _both_ways(values)
    assert (values[up] == np.sort(values)).all()
    assert (values[down] == np.sort(values)[::-1]).all()
    return {"up": digits(up), "down": digits(down)}


def coverings(seed: int) -> dict[str, object]:
    """Prices of covers and their proofs, with replicas of equal weight and cost."""
    draw = Random(seed)
    count, dims = draw.randrange(1, 12), draw.choice((1, 1, 2, 3))
    if seed % 2:
        cost = np.array([draw.uniform(0.1, 2.0) for _ in range(count)])
        weight = np.array([[draw.uniform(0.0, 2.0) for _ in range(dims)] for _ in range(count)])
    else:
        cost = np.array([float(draw.choice((0, 1, 1, 2, 4))) for _ in range(count)])
        weight = np.array([[float(draw.choice((0, 1, 2, 2, 4))) for _ in range(dims)] for _ in range(count)])
    share = [draw.choice((-0.5, 0.0, 0.25, 0.5, 0.75, 1.0, 1.25)) for _ in range(dims)]
    excess = np.array([part * weight[:, d].sum() for d, part in enumerate(share)])
    lines: dict[str, object] = {}
    for sweeps in (1, 12):
        prices = np.zeros(dims)
        value = cover(cost, weight, excess, prices, np.empty((2, count)), sweeps)
        proof = "not coverable" if value >= NOT_COVERABLE else number(value)
        lines[f"{sweeps} sweeps"] = f"{proof}; {numbers(np.where(prices >= NOT_COVERABLE, -1.0, prices))}"
    return lines
