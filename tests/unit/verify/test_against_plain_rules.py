from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kafka_rebalance.cluster_arrays.bands import fair_shares
from kafka_rebalance.snapshot.model import BrokerState, ClusterSnapshot
from kafka_rebalance.snapshot.partition_table import partition_table
from kafka_rebalance.verify.bounds import price_bound, touchable
from kafka_rebalance.verify.cluster import ClaimedMoves, ClusterArrays, distinct_racks, is_spread_evenly
from kafka_rebalance.verify.faults import FaultList
from kafka_rebalance.verify.loads import fair_share_of, requested_band, resources_in_play, target_factors
from kafka_rebalance.verify.moves import check_moves, check_result
from tests.sample import for_each
from tests.unit.planner.sample_clusters import GB, brokers, cluster, random_cluster, row
from tests.unit.verify.hand_claims import arrays, claims, parameters
from tests.unit.verify.plain_rules import is_even, may_be_touched, plain_price_bound, plain_result, plain_targets

REQUESTS: tuple[dict[str, Any], ...] = (
    {}, {"remove_brokers": [1]}, {"demote_brokers": [2], "exclude_topics": ["topic-01"]},
    {"exclude_brokers": [0], "replication_factor": 2}, {"replication_factor": 4}, {"remove_brokers": [0, 3]},
)  # fmt: skip


REQUESTED: tuple[dict[str, Any], ...] = (
    {}, {"replication_factor": 2}, {"leaders_only": True}, {"max_moves": 9, "replication_factor": 1},
)  # fmt: skip


def troubled(seed: int) -> ClusterSnapshot:
    """5 brokers in 2 or 3 racks, one dead; replicas of other size, offline or unknown; different factors."""
    draw = np.random.default_rng(seed)
    snapshot = random_cluster(seed, broker_count=5, racks=2 + seed % 2, topics=2)
    rows = []
    for partition in snapshot.each_partition():
        sizes: list[int | None] = [int(size * draw.uniform(0.5, 1.5)) for size in partition.log_bytes if size]
        kind = int(draw.integers(12))
        if kind == 0:
            sizes = [None] * len(sizes)
        changes: dict[str, Any] = {"log_bytes": tuple(sizes)}
        if kind == 1:
            changes |= {"offline": partition.replicas[-1:], "isr": partition.replicas[:-1]}
        if kind == 2:
            changes |= {"leader": None, "isr": ()}
        if kind == 3 and len(partition.replicas) > 1:
            changes |= {"removing": partition.replicas[-1:]}
        if kind == 4 and len(partition.replicas) > 1:
            changes |= {
                "replicas": partition.replicas[:-1],
                "isr": partition.replicas[:-1],
                "log_bytes": tuple(sizes)[:-1],
            }
        rows.append(replace(partition, **changes))
    index = {topic.name: number for number, topic in enumerate(snapshot.topics)}
    states = {4: BrokerState.DEAD} if seed % 3 == 0 else {}
    known = tuple(replace(broker, state=states.get(broker.id, broker.state)) for broker in snapshot.brokers)
    return replace(snapshot, brokers=known, partitions=partition_table(rows, index))


@for_each("seed", range(12))
def test_prices_prove_what_plain_loops_find(seed: int) -> None:
    snapshot, asked = troubled(seed), REQUESTS[seed % len(REQUESTS)]
    known, given = arrays(snapshot, **asked), parameters(**asked)
    draw = np.random.default_rng(seed)
    bands, prices = {}, {}
    for name in resources_in_play(known, given):
        outcome = {"resource": name, "basis": "fair_share", "band_asked": [0.8, 1.2]}
        bands[name] = requested_band(outcome, np.full(5, 1e9), None, known, given)[0]
        prices[name] = draw.choice([-2.0, 0.0, 0.5, 3.0], 5)
    some = dict(list(prices.items())[: 1 + seed % 4])
    for chosen in (some, {"leaders": prices["leaders"]}, {}):
        result = price_bound(known, given, bands, chosen)
        assert result == pytest.approx(plain_price_bound(known, given, bands, chosen), rel=1e-9, abs=1e-3)
    rf = target_factors(known, given)
    expected = [may_be_touched(known, p, factor) for p, factor in enumerate(rf.tolist())]
    assert touchable(known, rf).tolist() == expected


def test_a_partition_counts_alone_whose_copies_cannot_all_be_placed() -> None:
    """RF 3 on two brokers that take replicas: two copies of 1 GB are counted, the third cannot be made."""
    snapshot = cluster([row("t", 0, (0,), GB)], brokers(3, b0=BrokerState.DRAINING))
    asked = parameters(replication_factor=3)
    assert price_bound(arrays(snapshot), asked, {}, {}) == 2 * GB


def random_racks(seed: int) -> ClusterArrays:
    """7 brokers in 3 racks of different sizes, some closed; 40 partitions of 1 to 5 replicas, some offline."""
    draw = np.random.default_rng(seed)
    known = [replace(b, rack=f"r{draw.integers(3)}") for b in brokers(7)]
    rows = []
    for p in range(40):
        held = draw.permutation(7)[: draw.integers(1, 6)].tolist()
        rows.append(row("t", p, held, GB, offline=tuple(held[-1:]) if p % 4 == 0 else ()))
    closed = draw.permutation(7)[: seed % 4].tolist()
    return arrays(cluster(rows, known), exclude_brokers=sorted(closed))


@for_each("seed", range(8))
def test_racks_are_even_where_no_replica_could_go_to_an_emptier_one(seed: int) -> None:
    known, draw = random_racks(seed), np.random.default_rng(seed)
    placed = np.full((40, 5), -1, dtype=np.int32)
    for p in range(40):
        width = int(draw.integers(1, 6))
        placed[p, :width] = draw.permutation(7)[:width]
    lists = [[broker for broker in line if broker >= 0] for line in placed.tolist()]
    even = is_spread_evenly(known, np.arange(40), placed)
    assert even.tolist() == [is_even(known, p, held) for p, held in enumerate(lists)]
    assert {True, False} == set(even.tolist())
    assert distinct_racks(known, placed).tolist() == [len({int(known.rack[b]) for b in held}) for held in lists]
    some = np.array([3, 8, 17])
    assert is_spread_evenly(known, some, placed[some]).tolist() == even[some].tolist()


def claimed_at_random(draw: np.random.Generator) -> tuple[list[dict[str, Any]], ClusterArrays, ClaimedMoves]:
    """Up to 12 partitions on 6 brokers in 2 or 3 racks, half of them moved anywhere; flags as they fall."""
    racks, count = int(draw.integers(2, 4)), int(draw.integers(4, 13))
    lists = [draw.permutation(6)[: draw.integers(1, 4)].tolist() for _ in range(count)]
    snapshot = cluster([row("t", p, held, GB) for p, held in enumerate(lists)], brokers(6, racks=racks))
    moves = []
    for p in sorted(draw.choice(count, count // 2, replace=False).tolist()):
        to = draw.permutation(6)[: draw.integers(1, 4)].tolist()
        leader = to[0] if draw.random() < 0.8 else int(draw.integers(6))
        moves.append({"topic": "t", "partition": p, "from": lists[p], "to": to, "leader_from": lists[p][0],
                      "leader_to": leader, "kind": "replica"})  # fmt: skip
    known = arrays(snapshot)

    def some(*shape: int) -> Any:
        return draw.random(shape) < draw.choice([0.1, 0.5, 0.8])

    def few() -> Any:
        return draw.random(count) < 0.05

    there, stays = known.now >= 0, ~some(6)
    may_be_on = np.stack([np.ones(6, dtype=np.bool_), ~some(6)])
    place_rule = draw.integers(0, 2, count).astype(np.int32)
    outside = there & ~may_be_on[place_rule[:, None], known.now]
    flagged = replace(
        known, stays=stays, takes_replicas=stays & ~some(6), takes_leaders=stays & ~some(6),
        keeps_leaders=stays & ~some(6), must_leave=there & (some(*there.shape) | outside),
        behind=there & some(*there.shape), excluded=few(), in_flight=few(), leaderless=few(),
        waiting=few(), short=few(), unknown=few(),
        may_be_on=may_be_on, place_rule=place_rule,
    )  # fmt: skip
    return moves, flagged, claims(*moves, snapshot=snapshot)


def test_random_moves_break_the_rules_that_plain_loops_say() -> None:
    draw, seen = np.random.default_rng(32), Counter[str]()
    for case in range(150):
        moves, known, claimed = claimed_at_random(draw)
        given = parameters(**REQUESTED[case % len(REQUESTED)])
        faults, result = FaultList(), FaultList()
        check_moves(moves, claimed, known, given, faults)
        check_result(claimed, known, given, "rebalance", result)
        by_move = plain_targets(known, claimed, given)
        assert {code: faults.counts.get(code, 0) for code in by_move} == by_move, case
        assert result.counts == plain_result(known, claimed, given), case
        seen.update(result.counts)
        seen.update({f"move {code}": count for code, count in by_move.items()})
    assert min(seen.values()) >= 8, seen
    assert len(seen) >= 14, seen


@for_each("seed", range(60))
def test_fair_shares_of_two_authors_are_the_same(seed: int) -> None:
    """The verifier's rising water and the planner's decomposition share no line, and may differ by rounding alone."""
    draw = np.random.default_rng(seed)
    count = int(draw.integers(1, 9))
    known = [replace(b, rack=f"r{draw.integers(4)}" if draw.random() < 0.9 else None) for b in brokers(count)]
    known_arrays = arrays(cluster([row("t", 0, (0,), GB)], known))
    factor = draw.integers(0, min(count, 4) + 1, 30)
    follower = draw.lognormal(0, 1, 30)
    carried = draw.lognormal(0, 0.7 * (seed % 4), count) * (draw.random(count) < 0.8)
    expected = fair_shares(
        rack=known_arrays.rack.astype(np.int32),
        capacity=carried[:, None],
        may_carry=(carried > 0)[:, None],
        may_lead=np.ones(count, dtype=np.bool_),
        target_rf=factor.astype(np.int32),
        follower_load=(follower * (factor > 0))[:, None],
        leader_extra=np.zeros((30, 1)),
    )[:, 0]
    result = fair_share_of(known_arrays, factor, follower, carried)
    assert result == pytest.approx(expected, rel=1e-7, abs=1e-9)
    assert fair_share_of(known_arrays, factor, follower, np.zeros(count)).tolist() == [0.0] * count
