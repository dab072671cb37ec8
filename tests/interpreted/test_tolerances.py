"""What is exactly as large as rounding is nothing: nobody is visited for it, and no random number is drawn.

Brokers 0, 1, 2 with one resource or two; loads and bands are set to the last digit (a top of 0 and a load of 1e-9).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from kafka_rebalance.planner import leaders
from kafka_rebalance.planner.leaders import LeaderLoads, LeaderState, make_leader_state
from kafka_rebalance.planner.params import BAND_TOLERANCE, GAIN_TOLERANCE
from kafka_rebalance.planner.replicas import kernels
from kafka_rebalance.planner.replicas.kernels import move
from kafka_rebalance.planner.state import State
from tests.unit.planner.hand_problems import ALL_BROKERS, hand_problem, hand_state

NOTHING = ALL_BROKERS[:0]
Cells = Sequence[Sequence[float]]


def state_of(load: Cells, low: Cells, high: Cells) -> State:
    """Three replicas of disk (and of bytes in) on three brokers; loads and bands as given, by broker and resource."""
    resources = ("disk", "in")[: len(load[0])]
    rows = [((0,), 4.0), ((0,), 4.0), ((1,), 4.0), ((2,), 4.0)]
    state = hand_state(hand_problem(rows, 3, resources=resources, rates=[4.0] * 4))
    state.load[:3], state.low[:3], state.high[:3] = load, low, high
    return state


ROUNDS: dict[str, Callable[[State], float]] = {
    "push": lambda state: kernels.push_round(state, ALL_BROKERS, ALL_BROKERS, 1.0, 0.0),
    "finish": lambda state: kernels.finish_round(state, ALL_BROKERS, ALL_BROKERS, 1e300),
    "pull": lambda state: kernels.pull_round(state, ALL_BROKERS, 1e300, 0.0),
    "swap": lambda state: kernels.swap_round(state, ALL_BROKERS, 5),
}


@pytest.mark.parametrize("name", ["finish", "pull", "swap"])
def test_a_broker_outside_by_no_more_than_rounding_is_not_visited(name: str) -> None:
    """Broker 0 is above by the tolerance, broker 2 below by it; by twice as much, they are visited."""
    for times, is_visited in ((1.0, False), (2.0, True)):
        far = times * BAND_TOLERANCE
        state = state_of([[far], [0.5], [0.0]], [[-9.0], [0.0], [far]], [[0.0], [1.0], [1.0]])
        before, draws = state.replicas.copy(), int(state.random[0])
        ROUNDS[name](state)
        touched = int(state.random[0]) != draws or (state.replicas != before).any()
        assert touched == is_visited


def test_nothing_is_released_for_rounding() -> None:
    """Two replicas, as light as rounding, cover the excess together at the price of the dear one: the cheap one is
    worth more than it costs. Where the excess is the tolerance itself, nobody asks.
    """
    for times, released in ((1.0, 0), (1.1, 1)):
        state = state_of([[times * BAND_TOLERANCE], [0.5], [0.5]], [[0.0]] * 3, [[0.0], [1.0], [1.0]])
        state.follower[:2, 0], state.cost[:2] = (0.8 * BAND_TOLERANCE, 0.4 * BAND_TOLERANCE), (0.1, 1.0)
        assert kernels.release(state) == released


@pytest.mark.parametrize("name", ["push", "finish", "pull"])
def test_who_is_outside_on_the_other_side_is_not_visited_for_rounding(name: str) -> None:
    """Broker 0 is above by the tolerance in one resource and far below in the other; broker 2 the other way round."""
    far = BAND_TOLERANCE
    is_pull = name == "pull"
    load = [[0.0, 0.0], [0.5, 0.5], [0.5, 0.5]] if is_pull else [[far, 0.0], [0.5, 0.5], [0.5, 0.5]]
    low = [[far, 0.0], [0.0, 0.0], [0.0, 0.0]] if is_pull else [[0.0, 0.5], [0.0, 0.0], [0.0, 0.0]]
    high = [[1.0, -1.0], [1.0, 1.0], [1.0, 1.0]] if is_pull else [[0.0, 1.0], [1.0, 1.0], [1.0, 1.0]]
    state = state_of(load, low, high)
    assert kernels.worst_first(state).tolist() == [0]
    before, draws = state.replicas.copy(), int(state.random[0])
    assert ROUNDS[name](state) == 0
    assert (int(state.random[0]), state.replicas.tolist()) == (draws, before.tolist())


def test_who_lacks_no_more_than_rounding_lacks_nothing() -> None:
    state = state_of([[0.0]] * 3, [[BAND_TOLERANCE], [2 * BAND_TOLERANCE], [0.0]], [[1.0]] * 3)
    assert kernels.brokers_lacking(state, ALL_BROKERS).tolist() == [1]
    assert kernels.worst_first(state).tolist() == [1]


def test_a_gain_of_no_more_than_rounding_is_none() -> None:
    """Broker 2 lacks what a replica of that size brings: at 1e-12 it is served by nothing, at twice that wholly."""
    for times, served in ((1.0, 0.0), (2.0, 1.0)):
        lack = times * GAIN_TOLERANCE
        state = state_of([[0.0]] * 3, [[0.0], [0.0], [lack]], [[1.0]] * 3)
        assert kernels.service(state, 2, np.array([lack]), np.empty(1)) == pytest.approx(served)


def test_a_receiver_may_be_taken_as_far_out_as_allowed_and_no_farther() -> None:
    """From its top of 0 by 1e-12: forbidden is only what is farther."""
    state = state_of([[0.0]] * 3, [[0.0]] * 3, [[0.0]] * 3)
    weights = [np.array([times * GAIN_TOLERANCE]) for times in (1.0, 2.0)]
    scores = [kernels.capacity_score(state, 0, 0, 2, weight, 0.0, -1e299) for weight in weights]
    assert scores[0] > -10.0
    assert scores[1] == -1e300


def test_what_mends_stops_where_only_rounding_is_left() -> None:
    """A broker outside by the tolerance needs no mending; by twice that, nothing displaced mends it."""
    displaced = kernels.Displaced(np.empty(0, np.int32), np.zeros(5, np.int64))
    journal = kernels.Journal(np.empty(2, np.int32), np.empty(2, np.int32), np.zeros(1, np.int64))
    for times, is_mended in ((1.0, True), (2.0, False)):
        state = state_of([[times * BAND_TOLERANCE], [0.0], [0.0]], [[0.0]] * 3, [[0.0], [1.0], [1.0]])
        assert kernels._mend(state, 0, displaced, ALL_BROKERS, journal, 5) == is_mended


@pytest.mark.parametrize(("times", "is_fetched"), [(1.0, False), (2.0, True)])
def test_nothing_is_fetched_that_helps_no_more_than_rounding(times: float, is_fetched: bool) -> None:
    """Broker 2 lacks what the replica brings: the tolerance, or twice that. Broker 0 is as far above its top."""
    size = times * GAIN_TOLERANCE
    state = state_of([[size], [0.0], [0.0]], [[-9.0], [-9.0], [size]], [[0.0], [9.0], [9.0]])
    state.follower[0, 0] = size
    assert kernels._helps(state, 0, 2, np.empty(1), 0.0) == is_fetched


@pytest.mark.parametrize(("times", "is_swapped"), [(1.0, True), (2.0, False)])
def test_a_cheaper_one_goes_where_that_loses_no_more_than_rounding(times: float, is_swapped: bool) -> None:
    """Partition 0 returns from broker 2 to broker 0, which stands at its top, and the cheap partition 1 goes instead:
    lighter by the tolerance, or by twice that.
    """
    lost, weight = times * GAIN_TOLERANCE, np.empty(1)
    state = state_of([[0.0]] * 3, [[-9.0]] * 3, [[9.0]] * 3)
    state.follower[:2, 0], state.cost[:2] = (2 * lost, lost), (1.0, 0.1)
    move(state, 0, 0, 2, weight)
    state.load[:3], state.high[0] = 0.0, 0.0
    assert (kernels._send_cheaper(state, 0, 0, 0, 1) > 0) == is_swapped


def leader_state_of(extra: Cells, load: Cells, low: Cells, high: Cells) -> LeaderState:
    """Partitions on brokers 0 and 1, led by broker 0 as they are today; loads and bands by broker and resource."""
    replicas = np.array([(0, 1)] * len(extra), dtype=np.int32)
    tables = [np.array(table, dtype=np.float64) for table in (load, low, high)]
    return make_leader_state(
        replicas,
        np.zeros(len(extra), dtype=np.int32),
        np.zeros(len(extra), dtype=np.int32),
        np.ones((len(extra), 2), dtype=np.bool_),
        np.array(extra, dtype=np.float64),
        LeaderLoads(*tables, np.full_like(tables[0], np.inf)),
    )


@pytest.mark.parametrize(("times", "made"), [(1.0, 0), (2.0, 1)])
def test_no_leader_changes_for_rounding(times: float, made: int) -> None:
    """Broker 0 is above its top of 0, or broker 1 below its bottom, by the tolerance or twice that."""
    far = times * BAND_TOLERANCE
    above = leader_state_of([[far]], [[far], [0.0]], [[-9.0], [-9.0]], [[0.0], [9.0]])
    below = leader_state_of([[far]], [[0.0], [0.0]], [[-9.0], [far]], [[9.0], [9.0]])
    assert leaders._farthest_first(above).tolist() == [0] * made
    assert leaders._farthest_first(below).tolist() == [1] * made
    assert leaders._give_from(above, 0, 0.0) == made
    assert leaders._fetch_to(below, 1, 0.0) == made


@pytest.mark.parametrize(("times", "is_worth_it"), [(1.0, False), (2.0, True)])
def test_a_hand_over_that_gains_no_more_than_rounding_is_worth_nothing(times: float, is_worth_it: bool) -> None:
    gain = times * GAIN_TOLERANCE
    state = leader_state_of([[gain]], [[gain], [0.0]], [[-9.0], [-9.0]], [[0.0], [9.0]])
    assert (leaders._worth(state, 0, 1, 0.0) > 0) == is_worth_it
    assert leaders._best_index(state, 0, 0.0)[0] == (1 if is_worth_it else -1)


@pytest.mark.parametrize(("times", "is_allowed"), [(1.0, True), (2.0, False)])
def test_a_side_may_lose_no_more_than_rounding(times: float, is_allowed: bool) -> None:
    """Much is gained in the second resource; in the first the receiver leaves its top, or the giver its bottom."""
    lost = times * GAIN_TOLERANCE
    taken = leader_state_of([[lost, 5.0]], [[0.0, 5.0], [0.0, 0.0]], [[-9.0, -9.0]] * 2, [[9.0, 0.0], [0.0, 9.0]])
    assert (leaders._worth(taken, 0, 1, 0.0) > 0) == is_allowed
    assert leaders._worth(taken, 0, 1, 1.0) > 0  # as far out as one is allowed here
    given = leader_state_of([[lost, 5.0]], [[0.0, 5.0], [0.0, 0.0]], [[0.0, -9.0], [-9.0, 5.0]], [[9.0, 9.0]] * 2)
    assert (leaders._fetch_worth(given, 0, 1, 0.0) > 0) == is_allowed


@pytest.mark.parametrize(("times", "undone"), [(1.0, 1), (2.0, 0)])
def test_a_change_is_taken_back_where_that_loses_no_more_than_rounding(times: float, undone: int) -> None:
    """Partition 0 was led by broker 1, whose top of 0 its return would pass."""
    lost = times * GAIN_TOLERANCE
    state = leader_state_of([[lost]], [[lost], [0.0]], [[-9.0], [-9.0]], [[9.0], [0.0]])
    state.original[0] = 1
    assert leaders._undo_needless(state) == undone


@pytest.mark.parametrize(("times", "is_passed_on"), [(1.0, False), (2.0, True)])
def test_a_chain_gains_more_than_rounding(times: float, is_passed_on: bool) -> None:
    """Broker 0 takes back what it leads of 1 for partition 1, lighter by what it is above its top."""
    far = times * BAND_TOLERANCE
    state = leader_state_of([[far], [0.0]], [[far], [0.0]], [[-9.0], [-9.0]], [[0.0], [9.0]])
    leaders.hand_over(state, 1, 1)
    assert leaders._pass_on(state, 0, 1, np.zeros(2)) == is_passed_on
