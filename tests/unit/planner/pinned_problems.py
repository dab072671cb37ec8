"""Tiny clusters of every kind for pinned answers: racks, leaving brokers, space budgets, offline dirs, factors.

Every second one is *even*: mean loads are powers of two and replicas weigh 1, 2, 4 or 8, so sums are exact, loads
meet the ends of bands and steps gain exactly nothing: there ``>`` and ``>=`` differ. The others have arbitrary sizes.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from kafka_rebalance.cluster_arrays.problem import MeasuredLoads, Problem
from kafka_rebalance.cluster_arrays.snapshot_arrays import Brokers, Placement, Wanted, assemble
from kafka_rebalance.options.values import Target

SETS_OF_RESOURCES = (
    ("disk",), ("disk", "replicas"), ("disk", "leaders"), ("disk", "in", "out", "replicas", "leaders"), ("in", "out"),
    ("disk", "cpu", "replicas"), ("replicas", "leaders"), ("disk", "in", "cpu", "leaders", "potential_out"),
)  # fmt: skip


@dataclass(frozen=True)
class Shape:
    """Size of a cluster; ``is_even`` as above."""

    brokers: int
    partitions: int
    factor: int
    is_even: bool


def tiny_problem(seed: int) -> Problem:
    """The cluster of that number; all of it is drawn from the number."""
    draw = Random(seed)
    is_even = seed % 2 == 0
    factor = draw.choice((1, 2, 2)) if is_even else draw.choice((1, 2, 3, 3))
    partitions = 16 // factor if is_even else draw.randrange(6, 15)
    shape = Shape(
        draw.choice((4, 5)) if is_even else draw.randrange(max(3, factor + 1), 7), partitions, factor, is_even
    )
    brokers = _brokers(draw, shape)
    placement = _placement(draw, shape, brokers)
    return assemble(brokers, placement, _wanted(draw, shape))


def _brokers(draw: Random, shape: Shape) -> Brokers:
    """Of five even ones the last leaves, so four share all loads. Of others some leave, only lead or take nothing."""
    count = shape.brokers
    stays = np.array([not (shape.is_even and b == 4) for b in range(count)])
    takes, takes_leaders, keeps_leaders = stays.copy(), stays.copy(), stays.copy()
    if not shape.is_even and count > shape.factor + 1 and draw.random() < 0.4:
        stays[draw.randrange(count)] = False
    if draw.random() < 0.2 and stays.sum() > shape.factor + 1:
        takes[draw.randrange(count)] = False
    if draw.random() < 0.3:
        demoted = draw.randrange(count)
        takes_leaders[demoted], keeps_leaders[demoted] = False, draw.random() < 0.5
    racks = draw.choice((0, 0, 2, 3))
    rack = [b % racks if racks else -1 for b in range(count)]
    if racks and draw.random() < 0.2:
        rack[draw.randrange(count)] = -1
    limit: dict[str, np.ndarray] = {}
    if draw.random() < 0.35:
        limit["disk"] = np.array([draw.choice((16.0, 20.0, 24.0, 40.0)) for _ in range(count)]) * shape.partitions / 8
    if draw.random() < 0.15:
        limit["out"] = np.full(count, 30.0)
    return Brokers(
        ids=np.arange(count, dtype=np.int64) + 100,
        rack=np.array(rack, dtype=np.int32),
        stays=stays, takes_replicas=takes & stays, takes_leaders=takes_leaders & stays,
        keeps_leaders=keeps_leaders & stays, is_new=np.zeros(count, dtype=np.bool_), limit=limit,
    )  # fmt: skip


def _placement(draw: Random, shape: Shape, brokers: Brokers) -> Placement:
    """Piled up on the first brokers; the last remaining one may be empty."""
    count, new = len(brokers.ids), draw.random() < 0.4
    held = [b for b in range(count) if not (new and b == 3 and count > shape.factor + 1)]
    rows = []
    for p in range(shape.partitions):
        factor = shape.factor if shape.is_even or shape.factor == 1 else draw.randrange(1, shape.factor + 1)
        ranked = sorted(held, key=lambda b: draw.random() * (1 + b))
        rows.append([*ranked[:factor], *[-1] * (shape.factor - factor)])
        if p % 5 == 4 and factor > 1 and not shape.is_even:
            rows[-1][:factor] = rows[-1][:factor][::-1]
    replicas = np.array(rows, dtype=np.int32)
    leader = replicas[:, 0].copy()
    for p in range(shape.partitions):
        if draw.random() < 0.15:
            leader[p] = replicas[p, draw.randrange((replicas[p] >= 0).sum())] if draw.random() < 0.7 else -1
    disk = _loads(draw, shape)
    own = must_leave = None
    if draw.random() < 0.3:
        own = np.array([[size * draw.choice((1.0, 1.0, 0.5, 1.5)) for _ in range(shape.factor)] for size in disk])
    if draw.random() < 0.25:
        must_leave = np.zeros(replicas.shape, dtype=np.bool_)
        for p in draw.sample(range(shape.partitions), 2):
            must_leave[p, draw.randrange((replicas[p] >= 0).sum())] = True
    topics = draw.randrange(1, 4)
    return Placement(
        replicas=replicas,
        leader=leader,
        topic=np.array([p % topics for p in range(shape.partitions)], dtype=np.int32),
        loads=MeasuredLoads(
            disk_bytes=disk, in_bytes_per_s=_loads(draw, shape), out_bytes_per_s=_loads(draw, shape),
            cpu_percent=_loads(draw, shape),
        ),
        own_disk=own,
        must_leave=must_leave,
    )  # fmt: skip


def _loads(draw: Random, shape: Shape) -> np.ndarray:
    """float64[P]; even ones average 4: the mean of four brokers is 16 times their replicas, over 16."""
    if not shape.is_even:
        return np.array([round(draw.lognormvariate(1.0, 0.9), 3) for _ in range(shape.partitions)])
    loads = [float(draw.choice((1, 2, 4, 4, 8))) for _ in range(shape.partitions)]
    while sum(loads) != 4.0 * shape.partitions:
        p = draw.randrange(shape.partitions)
        loads[p] = max(0.0, loads[p] + (1.0 if sum(loads) < 4.0 * shape.partitions else -1.0))
    return np.array(loads)


def _wanted(draw: Random, shape: Shape) -> Wanted:
    resources = draw.choice(SETS_OF_RESOURCES)
    options: dict[str, Any] = {"within": draw.choice((0.25, 0.125, 0.5)) if shape.is_even else draw.uniform(0.05, 0.4)}
    if draw.random() < 0.2:
        options["targets"] = {resources[0]: Target(draw.choice((None, 0.5)), draw.choice((1.25, 1.5)))}
    if draw.random() < 0.15:
        options["caps"] = {"disk": 24.0 * shape.partitions / 8}
    if draw.random() < 0.3:
        options["pinned"] = np.array([draw.random() < 0.2 for _ in range(shape.partitions)])
    if draw.random() < (0.1 if shape.is_even else 0.3):
        factor = shape.factor + draw.choice((-1, 1)) if shape.factor > 1 else 2
        changed = [draw.random() < 0.5 for _ in range(shape.partitions)]
        options["target_rf"] = np.array([factor if c else shape.factor for c in changed], dtype=np.int32)
    return Wanted(resources=resources, moves_replicas=draw.random() > 0.1, **options)
