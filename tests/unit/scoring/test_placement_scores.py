from __future__ import annotations

from collections import Counter

import numpy as np

from kafka_assignors.arrays import ABSENT
from kafka_rebalance.scoring.placement_scores import (
    Lists,
    Places,
    TopicPlacement,
    broker_field,
    placement_figures,
    score_placement,
)
from kafka_rebalance.scoring.scores import TopicPlacementScore
from tests.sample import for_each

NAN = float("nan")


def placement(replicas, leaders, sizes):
    ints, floats = np.array(leaders, dtype=np.int32), np.array(sizes, dtype=np.float64)
    return TopicPlacement("t", np.array(replicas, dtype=np.int32), ints, floats)


def test_a_placement_is_scored_over_all_brokers_that_may_hold_it():
    field = broker_field({1: "a", 2: "b", 3: "a"})
    today = placement([[1, 2], [1, 3], [1, 2]], [1, 1, 2], [10, 20, 30])
    score = score_placement(today, today, field, "current", 0)
    assert score.replica_skew == 3 / (6 / 3)
    assert score.leader_skew == 2 / (3 / 3)
    assert score.disk_skew == 60 / (120 / 3)
    assert (score.replica_moves, score.leader_changes, score.bytes_to_move) == (0, 0, 0)
    assert score.rack_violations == 1


def test_a_broker_that_is_gone_carries_nothing_and_is_a_rack_of_its_own():
    field = broker_field({1: "a", 2: "b"})
    gone = placement([[9, 1], [1, 2]], [9, 1], [10, 20])
    score = score_placement(gone, gone, field, "current", 0)
    assert score.replica_skew == 2 / (3 / 2)
    assert score.leader_skew == 1 / (1 / 2)
    assert score.rack_violations == 0


def test_without_racks_nothing_is_violated_that_we_know_of():
    field = broker_field({1: None, 2: "a"})
    today = placement([[1, 2]], [1], [1])
    assert score_placement(today, today, field, "current", 0).rack_violations is None


def test_nobody_there_and_nothing_carried_have_skew_0():
    today = placement([[1, 2]], [1], [1])
    score = score_placement(today, today, broker_field({}), "current", 0)
    assert (score.replica_skew, score.leader_skew, score.disk_skew, score.rack_violations) == (0, 0, 0, None)


def test_replicas_move_once_for_each_broker_that_is_new_in_a_list():
    field = broker_field(dict.fromkeys(range(1, 7)))
    before = placement([[1, 2], [1, 2], [3, ABSENT]], [1, 1, 3], [100, 10, 1])
    after = placement([[2, 1, -1], [1, 4, 5], [3, 6, -1]], [2, 1, 3], [100, 10, 1])
    score = score_placement(before, after, field, "striped", 1)
    assert (score.replica_moves, score.bytes_to_move, score.leader_changes) == (3, 2 * 10 + 1, 1)


def test_bytes_are_unknown_where_the_size_of_what_moves_is():
    field = broker_field(dict.fromkeys(range(4)))
    before = placement([[1], [2]], [1, 2], [NAN, 5])
    moved = score_placement(before, placement([[1], [3]], [1, 3], [NAN, 5]), field, "striped", 1)
    assert (moved.bytes_to_move, moved.disk_skew) == (5, None)
    moved = score_placement(before, placement([[3], [2]], [3, 2], [NAN, 5]), field, "striped", 1)
    assert moved.bytes_to_move is None


def test_a_kernel_finds_brokers_by_their_ids_however_large() -> None:
    ids = np.array([4, 9, 2**31 - 1], dtype=np.int64)
    places = Places(ids, np.array([0, 1, 0], dtype=np.int64), 2)
    lists = Lists(np.array([[2**31 - 1, 4], [5, 9]], dtype=np.int32), np.array([4, ABSENT], dtype=np.int32))
    result = placement_figures(lists, lists, np.array([6.0, 3.0]), places)
    assert (result.replica_skew, result.leader_skew, result.disk_skew) == (1.0, 3.0, 6 / 5)
    assert (result.replica_moves, result.leader_changes, result.bytes_to_move) == (0, 0, 0)
    assert result.rack_violations == 1, "the first row is in one rack; who is unknown is a rack of its own"


@for_each("seed", range(200))
def test_random_placements_have_the_obvious_scores(seed: int) -> None:
    draw = np.random.default_rng(seed)
    known = {int(broker): f"rack-{broker % 4}" for broker in draw.choice(2**31 - 1, int(draw.integers(1, 9)), False)}
    if draw.random() < 0.2:
        known[next(iter(known))] = None
    everybody = [*known, 7, 11]  # two that are gone
    partitions = int(draw.integers(1, 12))

    def random_lists(width: int) -> list[list[int]]:
        rows = [draw.permutation(everybody)[: draw.integers(1, width + 1)].tolist() for _ in range(partitions)]
        return [row + [ABSENT] * (width - len(row)) for row in rows]

    before, after = random_lists(2), random_lists(3)
    sizes = draw.integers(0, 1000, partitions).astype(np.float64)
    sizes[draw.random(partitions) < 0.1] = NAN
    leads = [[int(row[0]) if draw.random() < 0.9 else ABSENT for row in rows] for rows in (before, after)]
    today, placed = (placement(rows, led, sizes) for rows, led in zip((before, after), leads, strict=True))
    assert score_placement(today, placed, broker_field(known), "striped", seed) == obvious(
        before, after, leads, sizes, known, seed
    )


def obvious(before, after, leads, sizes, rack_of, seed):
    """By counters and sets."""
    counts, led, disks = Counter(), Counter(leads[1]), Counter()
    moves, moved_bytes, violations = 0, 0.0, 0
    are_known = None not in rack_of.values()
    racks = {rack for rack in rack_of.values() if rack is not None}
    for was, padded, size in zip(before, after, sizes.tolist(), strict=True):
        row = [broker for broker in padded if broker != ABSENT]
        counts.update(row)
        for broker in row:
            disks[broker] += size
        added = len(set(row) - set(was))
        moves += added
        moved_bytes += added * size if added else 0
        violations += len({rack_of.get(broker, "none of ours") for broker in row}) < min(len(row), len(racks))

    def skew(of):
        loads = [of[broker] for broker in rack_of]
        return None if np.isnan(sum(loads)) else max(loads) / (sum(loads) / len(loads)) if sum(loads) else 0.0

    return TopicPlacementScore(
        "t", "striped", seed, skew(counts), skew(led), skew(disks), moves,
        sum(was != now for was, now in zip(*leads, strict=True)),
        None if np.isnan(moved_bytes) else round(moved_bytes), violations if are_known else None,
    )  # fmt: skip
