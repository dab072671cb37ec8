"""Random small clusters where a plan is hard to find: tight disks, caps, demoted brokers, topics on some brokers."""

from __future__ import annotations

from typing import Any

import numpy as np

from kafka_rebalance.errors import UsageError
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.options.values import Target, TopicBrokers
from kafka_rebalance.plans.pipeline import require_options_fit
from kafka_rebalance.snapshot.figures import LoadKind
from kafka_rebalance.snapshot.model import Broker, Capacity, ClusterSnapshot
from kafka_rebalance.snapshot.partition_table import Partition
from tests.unit.planner.sample_clusters import GB, cluster, row

Draw = np.random.Generator
KINDS = (
    "replica cap", "leader cap", "disk cap", "headroom", "demote", "remove", "exclude", "factor", "confine", "budget",
    "leaders only", "target",
)  # fmt: skip


def tight_cluster(seed: int) -> tuple[ClusterSnapshot, PlanOptions]:
    """2 to 6 brokers, up to 15 partitions, and one to three things that are asked of them."""
    draw = np.random.default_rng((seed, 77))
    count, racks = int(draw.integers(2, 7)), int(draw.choice([0, 0, 2, 3]))
    rows = _rows(draw, count)
    held = np.array([sum(int(item.log_bytes[0] or 0) for item in rows if b in item.replicas) for b in range(count)])
    spare = draw.uniform(0, float(draw.choice([3, 8, 20])), count) * GB
    has_disks = bool(draw.random() < 0.6)
    brokers = [
        Broker(
            id=b,
            rack=f"rack-{int(draw.integers(0, racks))}" if racks else None,
            capacity=Capacity(disk_bytes=float(held[b] + spare[b])) if has_disks else Capacity(),
        )
        for b in range(count)
    ]
    kinds = (LoadKind.IN_BYTES_PER_S, LoadKind.OUT_BYTES_PER_S)
    rates = {kind: draw.lognormal(2, 1, len(rows)).tolist() for kind in kinds if draw.random() < 0.4}
    snapshot = cluster(rows, brokers, rates=rates)
    asked = _asked(draw, rows, held, has_disks=has_disks)
    while True:  # options that contradict each other or the cluster are left out, one after the other
        try:
            options = PlanOptions(with_frontier=False, **asked)
            require_options_fit(snapshot, options)
        except UsageError:
            del asked[str(draw.choice(sorted(asked)))]
        else:
            return snapshot, options


def _rows(draw: Draw, count: int) -> list[Partition]:
    rows = []
    for topic in range(int(draw.integers(1, 4))):
        factor = min(count, int(draw.choice([1, 1, 2, 2, 3])))
        for partition in range(int(draw.integers(1, 6))):
            chosen = draw.choice(count, factor, replace=False).tolist()
            size = int(GB * float(draw.choice([draw.lognormal(0, 0.8), draw.integers(1, 8)])))
            leader = chosen[int(draw.integers(0, factor))] if draw.random() < 0.3 else chosen[0]
            more = {"log_bytes": (size,) * factor, "leader": leader, "isr": tuple(chosen)}
            rows.append(row(f"t{topic}", partition, chosen, **more))
    return rows


def _asked(draw: Draw, rows: list[Partition], held: np.ndarray, *, has_disks: bool) -> dict[str, Any]:
    count, total = len(held), sum(len(item.replicas) for item in rows)
    kinds = set(draw.choice(KINDS, int(draw.integers(1, 4)), replace=False).tolist())
    asked: dict[str, Any] = {"within": float(draw.choice([0.05, 0.2, 0.4, 0.6, 0.9]))}
    caps = {
        "replica cap": ("replicas", int(np.ceil(total / count * draw.uniform(1, 1.5)))),
        "leader cap": ("leaders", int(np.ceil(len(rows) / count * draw.uniform(1, 1.5)))),
        "disk cap": ("disk", float(held.sum() / count * draw.uniform(1.0, 1.6))),
    }
    asked["caps"] = {name: cap for kind, (name, cap) in caps.items() if kind in kinds}
    order = draw.permutation(count).tolist()
    limit, amount = str(draw.choice(["max_moves", "max_move_bytes", "max_leader_changes"])), int(draw.integers(0, 6))
    rules = tuple(
        TopicBrokers(f"t{int(draw.integers(0, 2))}", frozenset(draw.choice(count, some, replace=False).tolist()))
        for some in draw.integers(1, count + 1, int(draw.integers(1, 3))).tolist()
    )
    more: dict[str, tuple[str, Any]] = {
        "headroom": ("headroom", {"disk": float(draw.uniform(0.02, 0.3))} if has_disks else {}),
        "demote": ("demote_brokers", frozenset(order[: int(draw.integers(1, max(2, count)))])),
        "remove": ("remove_brokers", frozenset(order[-1:])),
        "exclude": ("exclude_brokers", frozenset(order[1:2])),
        "factor": ("replication_factor", int(draw.integers(1, min(3, count) + 1))),
        "confine": ("topic_brokers", rules),
        "leaders only": ("leaders_only", True),
        "target": ("targets", {"disk": Target(float(draw.uniform(0.3, 1)), float(draw.uniform(1, 1.5)))}),
        "budget": (limit, amount * GB if limit == "max_move_bytes" else amount),
    }
    return asked | {name: value for kind, (name, value) in more.items() if kind in kinds}
