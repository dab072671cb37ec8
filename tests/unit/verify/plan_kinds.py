"""One small plan of each kind, made once, with all its files: what the forger spoils."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import to_document
from kafka_rebalance.snapshot.model import BrokerState, Capacity, ClusterSnapshot
from kafka_rebalance.snapshot.partition_table import Partition, partition_table
from rebalance_advisor.publish.plan_files import plan_files
from tests.brief_search import searching_whole
from tests.unit.planner.sample_clusters import GB, cluster, random_cluster, row
from tests.unit.planner.sample_clusters import brokers as some_brokers
from tests.unit.verify.sample_plans import SamplePlan, busy_plan, plain_plan

QUICK = PlanOptions(within=0.2, with_frontier=False, moves_per_broker=4)


def small(seed: int = 3, *, topics: int = 8, with_rates: bool = True) -> ClusterSnapshot:
    """6 brokers in 3 racks."""
    return random_cluster(seed, broker_count=6, racks=3, topics=topics, with_rates=with_rates)


def changed(snapshot: ClusterSnapshot, change: Callable[[Partition], Partition]) -> ClusterSnapshot:
    """Every partition put through ``change``."""
    index = {topic.name: i for i, topic in enumerate(snapshot.topics)}
    return replace(snapshot, partitions=partition_table([change(p) for p in snapshot.each_partition()], index))


def made(snapshot: ClusterSnapshot, options: PlanOptions) -> SamplePlan:
    """The plan for it, as it is written."""
    plan = make_plan(snapshot, options)
    files = plan_files(plan)
    assert to_document(plan)["plan_id"]
    return SamplePlan(snapshot, files["plan.json"].decode(), files)


@cache
def balance() -> SamplePlan:
    """With frontier and robustness, no order given."""
    return made(small(topics=3), PlanOptions(moves_per_broker=4))


@cache
def drain() -> SamplePlan:
    """Broker 4 is to go."""
    return made(small(), replace(QUICK, remove_brokers=frozenset({4})))


@cache
def replication_factor_up() -> SamplePlan:
    """From two replicas to three."""
    fewer = changed(
        small(), lambda p: replace(p, replicas=p.replicas[:2], isr=p.replicas[:2], log_bytes=p.log_bytes[:2])
    )
    return made(fewer, replace(QUICK, replication_factor=3))


@cache
def replication_factor_down() -> SamplePlan:
    """From three replicas to two."""
    return made(small(topics=2), replace(QUICK, replication_factor=2))


@cache
def leaders_only() -> SamplePlan:
    """No replica moves."""
    return made(small(5), replace(QUICK, leaders_only=True))


@cache
def follower_order() -> SamplePlan:
    """Beside its moves, other standbys of lists that stay."""
    return made(small(topics=3), replace(QUICK, max_reorders=50))


@cache
def preferred_election() -> SamplePlan:
    """Each second partition is led by its last replica."""
    away = changed(small(), lambda p: replace(p, leader=p.replicas[-1]) if p.partition % 2 else p)
    return made(away, PlanOptions(preferred_election=True))


@cache
def nothing_to_do() -> SamplePlan:
    """Every broker carries the same."""
    rows = [row("even", i, [i % 6, (i + 1) % 6, (i + 2) % 6]) for i in range(24)]
    return made(cluster(rows, some_brokers(6, 3)), PlanOptions())


@cache
def budget() -> SamplePlan:
    """No more than a part of what would be needed."""
    return made(small(), replace(QUICK, max_move_bytes=20 * GB, max_moves=6))


@cache
def infeasible() -> SamplePlan:
    """Two brokers are to go, and the others' disks are full."""
    snapshot = small()
    full = replace(
        snapshot, brokers=tuple(replace(b, capacity=Capacity(disk_bytes=10.0 * GB)) for b in snapshot.brokers)
    )
    return made(full, replace(QUICK, remove_brokers=frozenset({1, 4})))


@cache
def bytes_unknown() -> SamplePlan:
    """A bare ``kafka-topics --describe``: counts alone."""
    bare = changed(small(with_rates=False), lambda p: replace(p, log_bytes=(None,) * len(p.replicas)))
    return made(bare, replace(QUICK, with_frontier=False))


@cache
def running_reassignment() -> SamplePlan:
    """Two partitions are being moved already."""

    def flying(p: Partition) -> Partition:
        if p.topic != "topic-00" or p.partition > 1:
            return p
        coming = next(b for b in range(6) if b not in p.replicas)
        more = {"replicas": (*p.replicas, coming), "adding": (coming,), "removing": (p.replicas[-1],)}
        return replace(p, **more, log_bytes=(*p.log_bytes, 0))  # type: ignore[arg-type]

    return made(changed(small(), flying), QUICK)


@cache
def dead_broker() -> SamplePlan:
    """Broker 5 is dead: what leaves it cannot go back."""
    snapshot = small()

    def without_5(p: Partition) -> Partition:
        alive = tuple(b for b in p.replicas if b != 5)
        return replace(p, isr=alive, leader=p.leader if p.leader != 5 else alive[0]) if 5 in p.replicas else p

    brokers = tuple(replace(b, state=BrokerState.DEAD) if b.id == 5 else b for b in snapshot.brokers)
    return made(replace(changed(snapshot, without_5), brokers=brokers), QUICK)


@cache
def not_fixable() -> SamplePlan:
    """One partition carries nearly everything, and it cannot be split."""
    rows = [row("hot", 0, [0, 1, 2], 500 * GB)] + [row("cold", i, [i % 6, (i + 1) % 6, (i + 2) % 6]) for i in range(12)]
    return made(cluster(rows, some_brokers(6, 3)), PlanOptions())


@cache
def moves_first() -> SamplePlan:
    """Fewest replicas, not fewest bytes."""
    return made(small(topics=3), replace(QUICK, within=0.1, prefer="moves"))


@cache
def time_first() -> SamplePlan:
    """Broker 2 is to go, as soon as may be."""
    return made(small(5, topics=3), replace(QUICK, remove_brokers=frozenset({2}), prefer="time"))


@cache
def few_large() -> SamplePlan:
    """Replicas so few and large that sets which do not fit on brokers prove the bound on bytes: by programs alone."""
    with searching_whole():
        return made(small(6, topics=4), QUICK)


KINDS: dict[str, Callable[[], SamplePlan]] = {
    make.__name__: make
    for make in (
        balance, drain, replication_factor_up, replication_factor_down, leaders_only, follower_order,
        preferred_election, nothing_to_do, budget, infeasible, bytes_unknown, running_reassignment, dead_broker,
        not_fixable, moves_first, time_first, few_large,
    )
}  # fmt: skip
KINDS |= {"busy": busy_plan, "plain": plain_plan}
