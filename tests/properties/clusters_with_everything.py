"""Random small clusters with every kind of option at once: what ``small_cluster`` draws, and the options since.

Options that contradict each other are drawn anew, so that each of them meets each other one.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import count as counting
from typing import Any

import numpy as np

from kafka_rebalance.errors import UsageError
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.options.values import TopicLeaders
from kafka_rebalance.plans.pipeline import require_options_fit
from kafka_rebalance.resources import ON_REQUEST
from kafka_rebalance.snapshot.figures import LoadKind
from kafka_rebalance.snapshot.model import Capacity, ClusterSnapshot
from tests.properties.small_clusters import MOST_BROKERS, confined_cluster, small_cluster
from tests.unit.planner.sample_clusters import GB


def cluster_with_everything(seed: int) -> tuple[ClusterSnapshot, PlanOptions]:
    """At most 6 brokers and 12 partitions; the same seed, the same options."""
    snapshot, options = small_cluster(seed)
    for attempt in counting():
        draw = np.random.default_rng((seed, 2, attempt))
        known = _with_disks(draw, snapshot)
        try:
            asked = replace(options, **_asked(draw, seed, known))
            require_options_fit(known, asked)
        except UsageError:
            continue
        return known, asked
    raise AssertionError("no options at all contradict nothing")


def _with_disks(draw: np.random.Generator, snapshot: ClusterSnapshot) -> ClusterSnapshot:
    """Now and then every broker's disk is known."""
    if draw.random() < 0.5:
        return snapshot
    sized = (
        replace(broker, capacity=Capacity(disk_bytes=float(draw.choice([30, 60, 90])) * GB))
        for broker in snapshot.brokers
    )
    return replace(snapshot, brokers=tuple(sized))


def _asked(draw: np.random.Generator, seed: int, snapshot: ClusterSnapshot) -> dict[str, Any]:
    """Each kind with a chance of its own."""
    replicas = len(snapshot.partitions.replicas)
    racks = sorted({broker.rack for broker in snapshot.brokers if broker.rack})
    mean = replicas / max(len(snapshot.brokers), 1)
    drawn: dict[str, tuple[float, Any]] = {
        "topic_brokers": (0.35, lambda: confined_cluster(seed)[1].topic_brokers),
        "remove_racks": (0.15, lambda: frozenset({str(draw.choice(racks))}) if len(racks) > 1 else frozenset()),
        "headroom": (0.2, lambda: {"disk": float(draw.uniform(0.05, 0.9))}),
        "caps": (0.2, lambda: {"replicas": int(np.ceil(mean * draw.uniform(1.0, 2.0)))}),
        "prefer": (0.4, lambda: str(draw.choice(["bytes", "moves", "time", "leaders"]))),
        "slack": (0.3, lambda: float(draw.choice([0.0, 0.05, 0.3]))),
        "max_moves": (0.1, lambda: int(draw.integers(0, replicas + 1))),
        "max_move_bytes": (0.1, lambda: int(draw.integers(0, 12)) * GB),
        "max_leader_changes": (0.1, lambda: int(draw.integers(0, 6))),
        "max_hours": (0.1, lambda: float(draw.choice([0.001, 0.02, 0.1, 1.0]))),
        "max_leader_changes_per_wave": (0.3, lambda: int(draw.integers(1, 4))),
        "moves_per_broker": (0.3, lambda: int(draw.integers(1, 4))),
        "partitions_per_wave": (0.2, lambda: int(draw.integers(1, 5))),
        "max_reorders": (0.3, lambda: int(draw.integers(1, 12))),
        "also_balance": (0.2, lambda: frozenset(draw.choice(ON_REQUEST, int(draw.integers(1, 3)), replace=False))),
        "min_topic_leaders": (0.25, lambda: _least_leaders(draw)),
    }
    asked = {name: draw_value() for name, (likely, draw_value) in drawn.items() if draw.random() < likely}
    return asked | (_losses(draw, snapshot) if draw.random() < 0.5 else {})


def _least_leaders(draw: np.random.Generator) -> tuple[TopicLeaders, ...]:
    patterns = ["t0", "t1", "t.*"]
    return tuple(TopicLeaders(str(draw.choice(patterns)), int(draw.integers(1, 4))) for _ in range(draw.integers(1, 3)))


def _losses(draw: np.random.Generator, snapshot: ClusterSnapshot) -> dict[str, Any]:
    """What is to be survived, with capacities that may or may not be enough; of brokers that are added, too."""
    mean = snapshot.load(LoadKind.OUT_BYTES_PER_S).sum() / max(len(snapshot.brokers), 1)
    capacity = Capacity(out_bytes_per_s=float(np.nan_to_num(mean) * draw.uniform(2.0, 12.0)) + 1.0)
    capacities = dict.fromkeys(range(MOST_BROKERS + 4), capacity)
    return {"survive": str(draw.choice(["broker", "rack"])), "capacities": capacities}
