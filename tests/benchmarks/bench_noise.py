"""Gaps to the bounds on clusters as they are: the replicas of one partition differ in size by some percent.

    python -m tests.benchmarks.bench_noise [--kind KIND …] [--noise PERCENT …] [--within PERCENT …] [--scale N]

One line of a Markdown table for each kind of cluster, noise and band: bytes, replica moves and time over their bounds
(less 1), CPU seconds of the whole plan without a frontier, and what ``verify`` says. All six resources are balanced.
Each follower's size is its leader's times exp(noise · normal). ``--scale N`` makes clusters N times as small.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from kafka_rebalance.cluster_arrays.problem import MeasuredLoads
from kafka_rebalance.cluster_arrays.snapshot_arrays import Brokers, Placement
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import to_document
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.verify import verify_plan
from tests.benchmarks.bench_gaps import with_capacities, with_cpu
from tests.benchmarks.bench_scale import snapshot_of
from tests.benchmarks.generated import RF, generated, loads_of

COSTS = ("bytes", "replica_moves", "seconds")
HEAD = "| cluster | noise | band | bytes / bound - 1 | moves | time | bands widened | CPU s | verify |\n"
NOISE_PERCENT = (0.0, 0.1, 3.0)
WITHIN_PERCENT = (10.0, 3.0)
SEED = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A cluster of ``generated`` and what is changed in it."""

    brokers: int = 100
    partitions: int = 10_000
    racks: int = 4
    variant: str = "skewed"
    changed: Callable[[Brokers, Placement], tuple[Brokers, Placement]] = lambda flags, placement: (flags, placement)


def hot_topics(flags: Brokers, placement: Placement) -> tuple[Brokers, Placement]:
    """Return the cluster with one topic in fifty at twenty times its rates and size."""
    is_hot = placement.topic % 50 == 0
    return flags, _scaled(placement, np.where(is_hot, 20.0, 1.0), flags)


def few_huge(flags: Brokers, placement: Placement) -> tuple[Brokers, Placement]:
    """Return the cluster with ten topics in all."""
    return flags, _in_topics(placement, np.arange(len(placement.topic)) * 10 // len(placement.topic), flags)


def many_tiny(flags: Brokers, placement: Placement) -> tuple[Brokers, Placement]:
    """Return the cluster with topics of two partitions each."""
    return flags, _in_topics(placement, np.arange(len(placement.topic)) // 2, flags)


def huge_partitions(flags: Brokers, placement: Placement) -> tuple[Brokers, Placement]:
    """Return the cluster with one partition in a hundred at fifty times its rates and size."""
    is_huge = np.random.default_rng(SEED).random(len(placement.topic)) < 0.01
    return flags, _scaled(placement, np.where(is_huge, 50.0, 1.0), flags)


def tiny_partitions(flags: Brokers, placement: Placement) -> tuple[Brokers, Placement]:
    """Return the cluster with nine of ten topics at a thousandth of their rates and sizes."""
    return flags, _scaled(placement, np.where(placement.topic % 10 > 0, 1e-3, 1.0), flags)


def tiny_and_hot(flags: Brokers, placement: Placement) -> tuple[Brokers, Placement]:
    """Return the cluster with one topic of hardly any bytes and a fiftieth of all traffic."""
    loads, is_hot = placement.loads, placement.topic == 0
    assert loads.disk_bytes is not None
    assert loads.in_bytes_per_s is not None
    assert loads.out_bytes_per_s is not None
    share = 0.02 / is_hot.sum()
    return flags, replace(
        placement,
        loads=MeasuredLoads(
            disk_bytes=np.where(is_hot, 1e6, loads.disk_bytes),
            in_bytes_per_s=np.where(is_hot, share * loads.in_bytes_per_s.sum(), loads.in_bytes_per_s),
            out_bytes_per_s=np.where(is_hot, share * loads.out_bytes_per_s.sum(), loads.out_bytes_per_s),
        ),
    )


def uneven_racks(flags: Brokers, placement: Placement) -> tuple[Brokers, Placement]:
    """Return the cluster on three racks of a fifth, three tenths and half of the brokers; each rack holds all."""
    rng, count = np.random.default_rng(SEED), len(flags.ids)
    rack = np.repeat([0, 1, 2], [count // 5, 3 * count // 10, count - count // 5 - 3 * count // 10]).astype(np.int32)
    popularity = rng.lognormal(0, 0.25, count)
    replicas = np.empty((len(placement.replicas), RF), dtype=np.int32)
    for k in range(RF):
        members = np.flatnonzero(rack == k)
        replicas[:, k] = rng.choice(members, len(replicas), p=popularity[members] / popularity[members].sum())
    replicas = rng.permuted(replicas, axis=1)
    return replace(flags, rack=rack), replace(placement, replicas=replicas, leader=replicas[:, 0].copy())


def mixed_rf(flags: Brokers, placement: Placement) -> tuple[Brokers, Placement]:
    """Return the cluster with topics of one, two and three replicas."""
    factor = np.array([3, 3, 2, 3, 1])[placement.topic % 5]
    replicas = np.where(np.arange(RF) < factor[:, None], placement.replicas, -1).astype(np.int32)
    return flags, replace(placement, replicas=replicas)


def unequal(flags: Brokers, placement: Placement) -> tuple[Brokers, Placement]:
    """Return the cluster with brokers of one, one and a half and two in disk, rates and CPU."""
    return with_capacities(flags, with_cpu(placement), SEED), placement


def nearly_empty(flags: Brokers, placement: Placement) -> tuple[Brokers, Placement]:
    """Return the cluster where nineteen of twenty replicas of every twentieth broker are on its neighbour."""
    rng, replicas = np.random.default_rng(SEED), placement.replicas
    racks, count = int(flags.rack.max()) + 1, len(flags.ids)
    leaves = (replicas % 20 == 7) & (rng.random(replicas.shape) < 0.95)
    moved = np.where(leaves, (replicas + racks * rng.integers(1, count // racks, replicas.shape)) % count, replicas)
    return flags, replace(placement, replicas=moved.astype(np.int32), leader=moved[:, 0].astype(np.int32))


SHAPES = {
    "skewed": Shape(),
    "new brokers": Shape(variant="newbrokers"),
    "drained": Shape(variant="drain"),
    "hot topics": Shape(changed=hot_topics),
    "few huge topics": Shape(changed=few_huge),
    "many tiny topics": Shape(changed=many_tiny),
    "huge partitions": Shape(changed=huge_partitions),
    "tiny partitions": Shape(changed=tiny_partitions),
    "tiny and hot": Shape(changed=tiny_and_hot),
    "3 uneven racks": Shape(changed=uneven_racks),
    "6 racks": Shape(racks=6),
    "mixed RF": Shape(changed=mixed_rf),
    "unequal capacities": Shape(changed=unequal),
    "300 brokers": Shape(brokers=300, partitions=30_000, racks=6),
    "nearly empty": Shape(partitions=100_000, changed=nearly_empty),
}


def main(argv: list[str] | None = None) -> int:
    """Print the table; 1 where a plan is not right."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", action="append", default=[], choices=list(SHAPES))
    parser.add_argument("--noise", action="append", default=[], type=float, metavar="PERCENT")
    parser.add_argument("--within", action="append", default=[], type=float, metavar="PERCENT")
    parser.add_argument("--scale", type=int, default=1, metavar="N")
    arguments = parser.parse_args(argv)
    sys.stdout.write(HEAD + "|---" * (HEAD.count("|") - 1) + "|\n")
    warm_up = snapshot_with_noise(Shape(brokers=40, partitions=4_000, variant="drain"), 3.0)
    make_plan(warm_up, PlanOptions(within=0.03, with_frontier=False))
    are_right = True
    for kind in arguments.kind or SHAPES:
        shape = SHAPES[kind]
        shape = replace(shape, brokers=shape.brokers // arguments.scale, partitions=shape.partitions // arguments.scale)
        for noise in arguments.noise or NOISE_PERCENT:
            snapshot = snapshot_with_noise(shape, noise)
            for within in arguments.within or WITHIN_PERCENT:
                are_right &= _line(kind, noise, within, snapshot)
    return 0 if are_right else 1


def snapshot_with_noise(shape: Shape, noise_percent: float) -> ClusterSnapshot:
    """Return the cluster of ``shape`` whose followers' sizes are off by ``noise_percent``."""
    flags, placement = generated(shape.brokers, shape.partitions, shape.racks, seed=SEED, variant=shape.variant)
    flags, placement = shape.changed(flags, placement)
    placement = with_cpu(placement)
    sizes = placement.loads.disk_bytes
    assert sizes is not None
    noise = np.exp(noise_percent / 100 * np.random.default_rng(SEED + 1).normal(size=placement.replicas.shape))
    noise[:, 0] = 1.0  # the leader's: its size is what a new copy gets
    return snapshot_of("noise", flags, replace(placement, own_disk=sizes[:, None] * noise))


def _in_topics(placement: Placement, topic: np.ndarray, flags: Brokers) -> Placement:
    """Return the placement with other topics, and their loads."""
    loads = loads_of(np.random.default_rng(SEED), topic, len(flags.ids))
    return replace(placement, topic=topic.astype(np.int32), loads=loads)


def _scaled(placement: Placement, factor: np.ndarray, flags: Brokers) -> Placement:
    """Return the placement with loads times ``factor`` float64[P], none above a quarter of a mean broker's."""
    known = []
    for column in (placement.loads.disk_bytes, placement.loads.in_bytes_per_s, placement.loads.out_bytes_per_s):
        assert column is not None
        grown = column * factor
        known.append(np.minimum(grown, grown.sum() * RF / len(flags.ids) / 4))
    disk, rate_in, rate_out = known
    return replace(placement, loads=MeasuredLoads(disk_bytes=disk, in_bytes_per_s=rate_in, out_bytes_per_s=rate_out))


def _line(kind: str, noise: float, within: float, snapshot: ClusterSnapshot) -> bool:
    started = time.process_time()
    plan = make_plan(snapshot, PlanOptions(within=within / 100, with_frontier=False))
    cpu_s = time.process_time() - started
    wrong = verify_plan(to_document(plan), snapshot).wrong
    gaps = {bound.cost: bound.gap for bound in plan.lower_bound}
    cells = [f"{gap:.2%}" if (gap := gaps.get(cost)) is not None and math.isfinite(gap) else "-" for cost in COSTS]
    widened = [row.resource for row in plan.resources if row.widened_to != (None, None)]
    text = "right" if not wrong else "; ".join(map(str, wrong[:2]))
    sys.stdout.write(
        f"| {kind} | {noise:g} % | ±{within:g} % | {' | '.join(cells)} | {', '.join(widened) or '-'} | {cpu_s:.1f} "
        f"| {text} |\n"
    )
    sys.stdout.flush()
    return not wrong


if __name__ == "__main__":
    sys.exit(main())
