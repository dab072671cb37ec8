from __future__ import annotations

from dataclasses import replace

import numpy as np

from kafka_rebalance.options.values import TopicBrokers
from kafka_rebalance.planner.params import SurviveParams
from kafka_rebalance.planner.survive import Means, all_changes, arranged, changes_for, joined, receivers
from tests.unit.planner.survive.loss_states import state_of, three, tight

PARAMS = SurviveParams()


def lists_of(means: Means, **options: object) -> set[tuple[int, ...]]:
    """For broker 1, standby of broker 0's only partition; broker 3 has room."""
    snapshot, plain = three([[0, 1, 2], [1, 2, 0]], [40.0, 30.0], 60.0, count=4)
    state = state_of(snapshot, replace(plain, **options))  # type: ignore[arg-type]
    change = changes_for(state, 1, means, PARAMS)
    return {tuple(replicas) for row, replicas in zip(change.rows, change.lists.tolist(), strict=True) if row == 0}


def test_orders_then_leaders_then_replicas() -> None:
    assert lists_of(Means.ORDERS) == {(0, 2, 1)}
    assert lists_of(Means.LEADERS) == {(0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)}
    more = lists_of(Means.REPLICAS) - lists_of(Means.LEADERS)
    assert {frozenset(replicas) for replicas in more} == {frozenset({0, 2, 3})}
    assert (0, 3, 2) in more


def test_who_may_not_lead_or_receive_does_not() -> None:
    demoted = lists_of(Means.LEADERS, demote_brokers=frozenset({2}))
    assert demoted == {(0, 2, 1), (1, 0, 2), (1, 2, 0)}
    closed = lists_of(Means.REPLICAS, exclude_brokers=frozenset({3}))
    assert all(3 not in replicas for replicas in closed)
    assert lists_of(Means.REPLICAS, exclude_topics=("t",)) == set()


def test_arrangements_of_short_lists() -> None:
    lists = np.array([[4, 5, -1], [6, -1, -1]], dtype=np.int32)
    result = arranged(np.array([0, 1]), lists)
    assert {tuple(replicas) for replicas in result.lists.tolist()} == {(4, 5, -1), (5, 4, -1), (6, -1, -1)}
    assert result.leaders.tolist() == result.lists[:, 0].tolist()
    assert len(joined([result, result])) == 2 * len(result)


def test_those_with_most_room_receive() -> None:
    state = state_of(*tight(7))
    broker = int(state.excess.argmax())
    chosen = receivers(state, broker, 2)
    assert broker not in chosen
    level = [state.ratios(other).max() for other in range(len(state.excess))]
    assert level[chosen[0]] == min(value for other, value in enumerate(level) if other != broker)


def test_topics_that_may_be_on_some_brokers_stay_there() -> None:
    confined = (TopicBrokers("t", frozenset({0, 1, 2})),)
    assert lists_of(Means.REPLICAS, topic_brokers=confined) == lists_of(Means.LEADERS)
    snapshot, plain = three([[0, 1]] * 2, [40.0, 30.0], 60.0, count=4)
    state = state_of(snapshot, replace(plain, topic_brokers=confined))
    every = all_changes(state, Means.REPLICAS, 1000)
    assert every is not None
    pairs = {tuple(sorted(line)) for line in every.lists.tolist()}
    assert pairs == {(0, 1), (0, 2), (1, 2)}


def test_of_many_partitions_half_are_the_heaviest_and_the_others_are_spread_down_to_the_lightest() -> None:
    """Broker 0's partitions, with standby 1, send 1 to 9."""
    snapshot, options = three([[0, 1, 2]] * 9, [float(n) for n in range(1, 10)], 30.0)
    state = state_of(snapshot, options)
    for most, rows in ((9, range(9)), (4, (8, 7, 6, 0)), (3, (8, 7, 0)), (5, (8, 7, 6, 3, 0))):
        change = changes_for(state, 1, Means.ORDERS, replace(PARAMS, partitions=most))
        assert set(change.rows.tolist()) == set(rows)
