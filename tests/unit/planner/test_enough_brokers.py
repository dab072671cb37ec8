"""Too few brokers for a replication factor: how many are lacking, for how many partitions, in one sentence."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.planner.replicas.enough_brokers import require_enough_brokers
from tests.unit.planner.hand_problems import hand_problem

ROWS = [((0, 1), 1.0), ((1, 0), 2.0), ((0,), 3.0)]


def cause_of(problem) -> str:
    with pytest.raises(InfeasibleError) as refusal:
        require_enough_brokers(problem)
    return str(refusal.value)


def test_the_amount_that_is_lacking_is_told_for_all_that_lack_it() -> None:
    factors = np.array([4, 4, 1], dtype=np.int32)
    assert cause_of(hand_problem(ROWS, 3, leaving=[2], target_rf=factors)) == (
        "replication factor 4 needs as many brokers that may hold a replica, and only 2 may: 2 are lacking, for 2 "
        "partitions (partition row 0 first); add 2 brokers, or ask for replication factor 2"
    )


def test_what_may_not_come_back_is_one_broker_less_and_what_stays_on_a_closed_one_counts() -> None:
    problem = hand_problem(ROWS, 3, no_receivers=[0])  # brokers 1 and 2 take replicas, broker 0 keeps what it has
    require_enough_brokers(replace(problem, target_rf=np.array([3, 3, 3], dtype=np.int32), replicas=np.array(
        [[0, 1, -1], [1, 0, -1], [0, -1, -1]], dtype=np.int32)))  # fmt: skip
    offline = np.array([[False, False], [True, False], [False, False]])
    words = cause_of(replace(hand_problem(ROWS, 2), must_leave=offline))
    assert "replication factor 2 needs as many brokers that may hold a replica, and only 1 may: 1 is lacking" in words
    assert "for 1 partition (partition row 1)" in words


def test_what_may_not_be_touched_on_a_broker_that_leaves_is_counted() -> None:
    problem = hand_problem(ROWS, 3, leaving=[0])
    pinned = replace(problem, pinned=np.ones(3, dtype=np.bool_))
    assert cause_of(pinned).startswith("3 partitions (partition row 0 first) may not be touched, but broker 0 must be")


def test_random_factors_lack_what_counting_by_hand_says() -> None:
    """And for how many partitions. What is pinned lacks nothing, and may hold a broker back."""
    seen: Counter[str] = Counter()
    for seed in range(200):
        draw = np.random.default_rng(seed)
        count = int(draw.integers(1, 6))
        held = [tuple(draw.choice(count, int(draw.integers(1, count + 1)), replace=False).tolist()) for _ in range(4)]
        leaving = [b for b in range(count) if draw.random() < 0.3 and count > 1][: count - 1]
        factors, pinned = draw.integers(1, 6, 4).astype(np.int32), draw.random(4) < 0.3
        problem = replace(
            hand_problem([(b, 1.0) for b in held], count, leaving=leaving, target_rf=factors), pinned=pinned
        )
        most = int(factors[~pinned].max(initial=0))
        lacking, alike = most - (count - len(leaving)), int((factors[~pinned] == most).sum())
        stuck = [row for row in range(4) if pinned[row] and set(held[row]) & set(leaving)]
        if lacking > 0:
            words = cause_of(problem)
            assert f"{lacking} {'is' if lacking == 1 else 'are'} lacking" in words, seed
            assert f"for {alike} partition{'s' if alike > 1 else ''} (" in words, seed
        elif stuck:
            assert "may not be touched" in cause_of(problem), seed
        else:
            require_enough_brokers(problem)
        seen["lacking" if lacking > 0 else "stuck" if stuck else "enough"] += 1
    assert min(seen[kind] for kind in ("lacking", "stuck", "enough")) >= 10, seen
