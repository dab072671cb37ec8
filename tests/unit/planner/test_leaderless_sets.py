from __future__ import annotations

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.planner.replicas.search import send_for_leaders
from kafka_rebalance.plans.request import build_request
from kafka_rebalance.snapshot.model import Broker
from tests.unit.planner.sample_clusters import GB, cluster, row

UNPLACED = 4


def sent(demoted: set[int], **more: object) -> list[list[int]]:
    """Brokers 0 to 3 in racks x, y, x, z; partitions on 1 and 0, on 1 alone, on 2 and 3."""
    known = [Broker(id=number, rack=rack) for number, rack in enumerate("xyxz")]
    rows = [row("t", 0, [1, 0], GB), row("t", 1, [1], GB), row("t", 2, [2, 3], GB)]
    options = PlanOptions(within=0.3, demote_brokers=frozenset(demoted), **more)
    problem = build_request(cluster(rows, known), options).problem(options.band)
    replicas = problem.replicas.copy()
    send_for_leaders(problem, replicas, UNPLACED)
    return replicas.tolist()


def test_one_replica_goes_where_none_may_lead() -> None:
    """With 3 open, rack z is free for t-0 and t-1: the first replica goes. t-2 has a possible leader."""
    assert sent({0, 1, 2}) == [[UNPLACED, 0], [UNPLACED, -1], [2, 3]]


def test_the_replica_in_the_only_open_rack_goes() -> None:
    """With 2 open, t-0 can be led only in rack x, where its second replica is."""
    assert sent({0, 1, 3}) == [[1, UNPLACED], [UNPLACED, -1], [2, 3]]


def test_nothing_goes_where_somebody_may_lead_or_nobody_can_be_had() -> None:
    today = [[1, 0], [1, -1], [2, 3]]
    assert sent(set()) == today
    assert sent({0, 1, 2, 3}) == today
    assert sent({0, 1, 2}, leaders_only=True) == today
    assert sent({0, 1, 2}, exclude_topics=("t",)) == today
