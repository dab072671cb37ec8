from __future__ import annotations

from dataclasses import replace

import numpy as np

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.document import plan_from_document
from kafka_rebalance.plans.draft import draft_of, outcome_of
from kafka_rebalance.plans.failures import after_failure_of
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import to_document
from kafka_rebalance.plans.request import build_request
from kafka_rebalance.scoring.scores import AfterFailure, LoadAfterLoss, Takeover, WorstLoss
from kafka_rebalance.snapshot.figures import LoadKind
from kafka_rebalance.snapshot.model import BrokerState, Capacity, ClusterSnapshot
from kafka_rebalance.verify.verification import verify_plan
from tests.unit.planner.sample_clusters import brokers, cluster, random_cluster, row

MB = 10**6


def sending(lists: list[tuple[int, ...]], capacity: float | None = 60.0 * MB, **more: object) -> ClusterSnapshot:
    """Each partition sends 10 MB/s, of which nothing is written; no rack."""
    count = 1 + max(max(replicas) for replicas in lists)
    rates = {LoadKind.IN_BYTES_PER_S: [0.0] * len(lists), LoadKind.OUT_BYTES_PER_S: [10.0 * MB] * len(lists)}
    rows = [row("t", number, replicas, **more) for number, replicas in enumerate(lists)]
    nodes = [replace(broker, capacity=Capacity(out_bytes_per_s=capacity)) for broker in brokers(count)]
    return cluster(rows, nodes, rates=rates)


def after_failure(snapshot: ClusterSnapshot, after: list[list[int]] | None = None, **options: object) -> AfterFailure:
    """For a plan with the lists ``after``, or none, led by the first."""
    plan_request = build_request(snapshot, PlanOptions(**options))  # type: ignore[arg-type]
    today = plan_request.partitions.placement
    lists = today.replicas if after is None else np.array(after, dtype=np.int32)
    draft = draft_of(plan_request, lists, today.leader if after is None else lists[:, 0].copy())
    failure = after_failure_of(plan_request, draft, outcome_of(plan_request, draft))
    assert failure is not None
    return failure


def test_the_worked_example_of_the_module() -> None:
    """Broker 1 sends 50 of 60 MB/s and takes over two with 10 each; with one of them at 2, one."""
    lists = [(0, 1, 2)] * 2 + [(1, 0, 2)] * 5
    failure = after_failure(sending(lists), [[0, 1, 2], [0, 2, 1]] + [[1, 0, 2]] * 5)
    assert failure.before.rack is None
    assert failure.before.broker == WorstLoss(
        Takeover("1", 0, 5, 3), LoadAfterLoss("0", 1, "out", 70.0 * MB, 60.0 * MB)
    )
    assert failure.after.broker is not None
    assert failure.after.broker.load == LoadAfterLoss("1", 0, "out", 70.0 * MB, 60.0 * MB)


def test_without_a_capacity_leaders_are_counted_alone() -> None:
    (worst,) = {after_failure(sending([(0, 1, 2)] * 4, capacity=None)).before.broker}
    assert worst == WorstLoss(Takeover("0", 1, 4, 2), None)


def test_who_is_behind_or_out_of_service_takes_nothing_over() -> None:
    behind = after_failure(sending([(0, 1, 2)] * 4, capacity=None, isr=(0, 2))).before.broker
    assert behind is not None
    assert behind.takeover == Takeover("0", 2, 4, 4)
    snapshot = sending([(0, 1, 2)] * 4, capacity=None)
    silent = tuple(replace(b, state=BrokerState.SILENT) if b.id == 1 else b for b in snapshot.brokers)
    failure = after_failure(replace(snapshot, brokers=silent)).before.broker
    assert failure is not None
    assert failure.takeover == Takeover("0", 2, 4, 4)


def test_all_losses_are_one_loss_after_the_other_on_random_clusters() -> None:
    """200 clusters with replicas behind and other lists afterwards, of 5 brokers on 3 racks."""
    random, seen = np.random.default_rng(5), 0
    for case in range(200):
        count = int(random.integers(1, 15))
        lists = [tuple(random.permutation(5)[:3].tolist()) for _ in range(count)]
        rows = [
            row("t", p, replicas, isr=replicas if random.random() < 0.7 else replicas[:2])
            for p, replicas in enumerate(lists)
        ]
        out = (random.integers(1, 9, count) * MB).astype(float).tolist()
        nodes = [replace(b, capacity=Capacity(out_bytes_per_s=20.0 * MB)) for b in brokers(5, 3)]
        rates = {LoadKind.IN_BYTES_PER_S: [0.0] * count, LoadKind.OUT_BYTES_PER_S: out}
        after = [list(replicas) for replicas in lists]
        for replicas, today in zip(after, rows, strict=True):
            if len(today.isr) == 3:  # a partition with a replica behind stays as it is
                replicas[2] = int(random.choice([b for b in range(5) if b not in replicas[:2]]))
        failure = after_failure(cluster(rows, nodes, rates=rates), after)
        for losses, now in ((failure.before, [list(replicas) for replicas in lists]), (failure.after, after)):
            can = [[b for b in new if b in r.isr or b not in r.replicas] for new, r in zip(now, rows, strict=True)]
            for worst, groups in ((losses.broker, [{b} for b in range(5)]), (losses.rack, [{0, 3}, {1, 4}, {2}])):
                assert worst is not None
                excess, highest = simulated(now, can, out, groups)
                result = 0 if worst.takeover is None else worst.takeover.leaders - worst.takeover.even_leaders
                assert result == excess, case
                assert worst.load is not None
                assert np.isclose(worst.load.ratio, highest / (20 * MB)), case
                seen += excess > 0
    assert seen > 200


def simulated(
    lists: list[list[int]], can: list[list[int]], out: list[float], groups: list[set[int]]
) -> tuple[int, float]:
    """The most leaders above even that a broker takes over, and the highest rate of one, over all ``groups``."""
    excess, highest = 0, 0.0
    for lost in groups:
        sent, taken, could = np.zeros(5), np.zeros(5, dtype=np.int64), set()
        for replicas, able, rate in zip(lists, can, out, strict=True):
            left = [b for b in able if b not in lost]
            if replicas[0] not in lost:
                sent[replicas[0]] += rate
            elif left:
                sent[left[0]] += rate
                taken[left[0]] += 1
                could |= set(left)
        excess = max(excess, int(taken.max()) - -(-int(taken.sum()) // max(len(could), 1)))
        highest = max(highest, *(sent[b] for b in range(5) if b not in lost))
    return excess, highest


def test_verify_follows_it_and_it_can_be_read_back() -> None:
    snapshot = random_cluster(3, broker_count=6, topics=4)
    capacity = Capacity(out_bytes_per_s=10.0**9, cpu_percent=90.0, in_bytes_per_s=10.0**9)
    snapshot = replace(snapshot, brokers=tuple(replace(b, capacity=capacity) for b in snapshot.brokers))
    for options in (PlanOptions(within=0.2, with_frontier=False), PlanOptions(leaders_only=True, with_frontier=False)):
        document = to_document(make_plan(snapshot, options))
        assert document["after_failure"]["after"]["rack"]["load"] is not None
        assert to_document(plan_from_document(document)) == document
        verification = verify_plan(document, snapshot)
        assert verification.is_right, verification.wrong
