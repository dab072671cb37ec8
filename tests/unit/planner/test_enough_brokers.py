from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.planner.replicas.search import require_enough_brokers
from tests.unit.planner.hand_problems import hand_problem

ROWS = [((0, 1), 1.0), ((1, 0), 2.0), ((0,), 3.0)]


def cause_of(problem) -> tuple[Fact, ...]:
    with pytest.raises(InfeasibleError) as refusal:
        require_enough_brokers(problem)
    return refusal.value.facts


def test_the_amount_that_is_lacking_is_told_for_all_that_lack_it() -> None:
    factors = np.array([4, 4, 1], dtype=np.int32)
    assert cause_of(hand_problem(ROWS, 3, leaving=[2], target_rf=factors)) == (
        fact(
            FactCode.TOO_FEW_BROKERS, replication_factor=4, brokers=2, lacking=2, partitions=2,
            partition="partition row 0", is_confined=False,
        ),
        fact(FactCode.ADD_BROKERS, brokers=2, is_confined=False, or_replication_factor=2),
    )  # fmt: skip


def test_what_may_not_come_back_is_one_broker_less_and_what_stays_on_a_closed_one_counts() -> None:
    problem = hand_problem(ROWS, 3, no_receivers=[0])  # brokers 1 and 2 take replicas, broker 0 keeps its own
    require_enough_brokers(replace(problem, target_rf=np.array([3, 3, 3], dtype=np.int32), replicas=np.array(
        [[0, 1, -1], [1, 0, -1], [0, -1, -1]], dtype=np.int32)))  # fmt: skip
    offline = np.array([[False, False], [True, False], [False, False]])
    cause, _ = cause_of(replace(hand_problem(ROWS, 2), must_leave=offline))
    assert (cause.args["replication_factor"], cause.args["brokers"], cause.args["lacking"]) == (2, 1, 1)
    assert (cause.args["partitions"], cause.args["partition"]) == (1, "partition row 1")


def test_what_may_not_be_touched_on_a_broker_that_leaves_is_counted() -> None:
    problem = hand_problem(ROWS, 3, leaving=[0])
    pinned = replace(problem, pinned=np.ones(3, dtype=np.bool_))
    reason = fact(FactCode.IMMOVABLE_ON_LEAVING_BROKER, broker=0, partitions=3, partition="partition row 0")
    assert cause_of(pinned) == (reason, fact(FactCode.LET_MOVE, broker=0, partitions=3))


def test_random_factors_lack_what_counting_by_hand_says() -> None:
    """And for how many partitions. Pinned partitions lack nothing, and may block a broker."""
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
            args = cause_of(problem)[0].args
            assert (args["lacking"], args["partitions"]) == (lacking, alike), seed
        elif stuck:
            assert cause_of(problem)[0].code is FactCode.IMMOVABLE_ON_LEAVING_BROKER, seed
        else:
            require_enough_brokers(problem)
        seen["lacking" if lacking > 0 else "stuck" if stuck else "enough"] += 1
    assert min(seen[kind] for kind in ("lacking", "stuck", "enough")) >= 10, seen
