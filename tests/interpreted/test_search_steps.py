"""Each step of the search on two or three brokers: who hands over what, and where it ends."""

from dataclasses import replace

import numpy as np
import pytest

from kafka_rebalance.planner.replicas import kernels
from kafka_rebalance.planner.state import ReplicaSets, State, WorkingBands, make_state
from tests.unit.planner.hand_problems import ALL_BROKERS, THREE, hand_problem, hand_state

TWO = np.arange(2, dtype=np.int32)


def test_the_farthest_outside_come_first() -> None:
    state = hand_state(hand_problem([((0,), 16.0), ((1,), 9.0), ((2,), 5.0)], 3))  # 1.6, 0.9, 0.5
    assert kernels.worst_first(state).tolist() == [0, 2]
    problem = hand_problem([((0,), 16.0), ((1,), 8.0), ((2,), 6.0)], 3)
    stranded = hand_state(problem, replicas=[[3], [1], [2]])  # 0, 0.8, 0.6, and 1.6 on no broker
    assert kernels.worst_first(stranded).tolist() == [3, 0, 2, 1]


def test_what_would_leave_too_little_overshoots() -> None:
    state = hand_state(hand_problem(THREE, 3, within=0.05))  # 1.5 of at most 1.05
    assert not kernels.overshoots(state, 0, np.array([0.4]))
    assert kernels.overshoots(state, 0, np.array([0.6]))
    assert kernels.overshoots(state, 1, np.array([0.4]))  # 1.0 → 0.6


def test_an_excess_that_no_replicas_cover_has_the_price_of_its_resource() -> None:
    """Broker 0 may carry less than nothing of the first resource."""
    problem = hand_problem([((0,), 4.0), ((0,), 2.0), ((1,), 6.0)], 2, resources=("disk", "out"), rates=[3.0, 1.0, 4.0])
    state, prices = hand_state(problem, high=np.array([[-1.0, 9.0], [9.0, 9.0]])), np.full(2, 7.0)
    kernels.prices_of(state, 0, prices)
    assert prices.tolist() == [1.0, 0.0]


def test_push_hands_what_fits_to_who_lacks_it() -> None:
    """Broker 0 is 0.45 above 1.05: of 0.6, 0.4 and 0.5 only 0.4 does not overshoot, and broker 2 lacks it."""
    state = hand_state(hand_problem(THREE, 3, within=0.05))
    assert kernels.push_round(state, ALL_BROKERS, ALL_BROKERS[:0], 1.0, 0.2) == 1
    assert state.replicas.tolist() == [[0, 1], [2, 1], [0, 2]]
    assert state.load[:3, 0] == pytest.approx([1.1, 1.0, 0.9])
    assert kernels.push_round(state, ALL_BROKERS, ALL_BROKERS, 1.0, 0.2) == 0  # 0.05 above: all that is left overshoots


def test_push_serves_who_lacks_before_who_has_room() -> None:
    """Of 16, 6 and 2 between 4 and 12: a replica of 4 goes to broker 0, which lacks, though broker 1 has room."""
    state = hand_state(hand_problem([((2,), 4.0)] * 4 + [((1,), 6.0), ((0,), 2.0)], 3, within=0.5))
    assert kernels.push_round(state, ALL_BROKERS, np.array([1], dtype=np.int32), 1.0, 0.2) == 1
    assert sorted(state.replicas[:4, 0].tolist()) == [0, 2, 2, 2]


def test_push_stops_when_its_part_of_the_excess_is_gone() -> None:
    rows = [((0,), 2.0)] * 10 + [((1,), 5.0), ((2,), 5.0)]  # 20, 5, 5: 9 above 11
    state = hand_state(hand_problem(rows, 3))
    assert kernels.push_round(state, ALL_BROKERS, ALL_BROKERS[:0], 0.4, 0.2) == 2  # 4 of 9 are more than 0.4
    assert kernels.push_round(state, ALL_BROKERS, ALL_BROKERS[:0], 1.0, 0.2) == 2  # 12 left; one more would overshoot


def test_the_price_of_excess_is_the_cheapest_replicas() -> None:
    """0.3 too much: the largest of 0.6, 0.4 and 0.5 costs least by weight, 0.6025 for 0.6."""
    state = hand_state(hand_problem(THREE, 3, within=0.2))
    prices = np.empty(1)
    kernels.prices_of(state, 0, prices)
    assert prices == pytest.approx([0.6025 / 0.6])
    assert kernels.leaving_cost(state, 0, 0) == pytest.approx(0.6025)
    assert kernels.leaving_cost(state, 0, 2) == pytest.approx(0.05 * 0.6025)  # away from home already


def test_a_resource_without_a_top_has_no_price() -> None:
    """5, 4 and 3 come in, 5.5 may: 6.5 too many are covered by the 5 and a part of the 4, at its price by weight.

    ``--target disk=0.5..`` gives disk no top. Five replicas on three brokers cost 3/5 each, and 0.005 · 3/5 for a move.
    """
    rows = [((0,), 1.0), ((0,), 1.0), ((0,), 1.0), ((1,), 1.0), ((2,), 1.0)]
    problem = hand_problem(rows, 3, rates=[5.0, 4.0, 3.0, 2.0, 1.0], resources=("disk", "in"))
    high = problem.band_high.copy()
    high[:, 0] = np.inf
    prices = np.full(2, np.nan)
    kernels.prices_of(hand_state(problem, high=high), 0, prices)
    assert prices == pytest.approx([0.0, 0.603 / 0.8])


def test_finish_sends_what_covers_the_excess_at_the_least_cost() -> None:
    """Any of the three covers 0.3; the 4 GB cost least, and broker 2 lacks 0.3."""
    state = hand_state(hand_problem(THREE, 3, within=0.2))
    assert kernels.finish_round(state, ALL_BROKERS, ALL_BROKERS, 0.0) == 1
    assert state.replicas.tolist() == [[0, 1], [2, 1], [0, 2]]
    assert state.load[:3, 0] == pytest.approx([1.1, 1.0, 0.9])


@pytest.mark.parametrize(("step", "off"), [("push", 0.5), ("finish", 2.0), ("pull", 2.0)])
def test_the_broker_of_index_0_receives_as_any_other(step: str, off: float) -> None:
    """Brokers numbered the other way round: 5, 10 and 15. The 4 GB go from 2 to 0."""
    problem = hand_problem([((2, 1), 6.0), ((2, 1), 4.0), ((2, 0), 5.0)], 3)
    state = hand_state(problem, low=np.full((3, 1), 10 - off), high=np.full((3, 1), 10 + off))
    rounds = {
        "push": lambda: kernels.push_round(state, ALL_BROKERS, ALL_BROKERS, 1.0, 0.2),
        "finish": lambda: kernels.finish_round(state, ALL_BROKERS, ALL_BROKERS, 0.0),
        "pull": lambda: kernels.pull_round(state, ALL_BROKERS, 0.0, 0.0),
    }
    assert rounds[step]() == 1
    assert state.replicas.tolist() == [[2, 1], [0, 1], [2, 0]]


def test_finish_leaves_alone_what_no_move_helps() -> None:
    state = hand_state(hand_problem([((0,), 14.0), ((1,), 6.0)], 2))  # to hand over 14 only swaps the sides
    assert kernels.finish_round(state, TWO, TWO, 1e300) == 0


def test_pull_fetches_what_is_lacking_from_who_can_spare_it() -> None:
    """Broker 2 lacks 0.3. 0.4 of broker 0 fits better than 0.6; broker 1 would fall below its own band."""
    problem = hand_problem(THREE, 3)
    low, high = np.full((3, 1), 8.0), np.full((3, 1), 16.0)
    state = hand_state(problem, low=low, high=high)
    assert kernels.pull_round(state, ALL_BROKERS, 0.0, 0.0) == 1
    assert state.replicas.tolist() == [[0, 1], [2, 1], [0, 2]]


def test_the_gain_of_an_exchange_counts_both_sides() -> None:
    state = hand_state(hand_problem(THREE, 3, within=0.2))  # 1.5, 1.0 and 0.5, bands 0.8..1.2
    assert _exchange(state, 0, 5) == pytest.approx(0.2)  # 0.6 of broker 0 for 0.5 of broker 2
    assert _exchange(state, 5, 0) == pytest.approx(0.2)
    assert _exchange(state, 3, 5) == pytest.approx(-0.1)  # 0.4 of broker 1 for 0.5 of broker 2: 1.1 and 0.4


def test_an_exchange_weighs_each_replica_on_both_brokers() -> None:
    """Broker 0 holds 0.9 of a partition whose new copies are 0.6."""
    problem = replace(hand_problem(THREE, 3, within=0.2), own_disk=np.array([[9.0, 6.0], [4.0, 4.0], [5.0, 5.0]]))
    state = hand_state(problem)
    assert _exchange(state, 0, 5) == pytest.approx(0.4 + 0.1)  # 1.8 → 1.4, 0.5 → 0.6
    state = hand_state(problem, replicas=[[2, 1], [0, 1], [0, 2]])  # 0.9, 1.0, 1.1
    assert _exchange(state, 0, 4) == pytest.approx(-0.1)  # 0.9 comes back for 0.5: 1.3 on broker 0


def test_a_displaced_replica_fills_a_broker_unless_its_own_broker_lacks_what_it_leads() -> None:
    """Sizes differ by replica. Partition 1 is led by broker 1, which it is not from; broker 2 lacks its bytes."""
    problem = hand_problem([((0, 3), 4.0)] * 2, 4, resources=("disk", "leaders"))
    problem = replace(problem, own_disk=np.full((2, 2), 4.0))
    sets = ReplicaSets(np.array([[0, 3], [1, 3]], dtype=np.int32), problem.replicas)
    low, high = np.zeros((4, 2)), np.full((4, 2), 9.0)
    low[2, 0] = 4.0
    for least_leaders, filled in ((0.0, 2), (1.0, -1)):
        low[1, 1] = least_leaders
        state = make_state(problem, sets, np.zeros(2, dtype=np.int32), [0, 1], WorkingBands(low, high), seed=0)
        assert kernels._best_fill(state, 2, np.empty(2), kernels.displaced_replicas(state), 5) == filled


def _exchange(state: State, left_index: int, right_index: int) -> float:
    return kernels.swap_gain(state, left_index, right_index, np.empty(1), np.empty(1))


def test_a_copy_is_weighed_where_it_goes() -> None:
    """Broker 2 has 0.5 of at most 1.05: the 0.4 that broker 0 holds would be a copy of 0.6 there."""
    problem = replace(hand_problem(THREE, 3, within=0.05), own_disk=np.array([[4.0, 6.0], [4.0, 4.0], [5.0, 5.0]]))
    state, weight = hand_state(problem, low=np.zeros((3, 1))), np.array([0.4])
    assert kernels.roomy_receiver(state, 0, 0, weight, np.array([2], dtype=np.int32), 0.0, 1) == -1
    assert kernels.roomy_receiver(state, 1, 0, weight, np.array([2], dtype=np.int32), 0.0, 1) == 2


def test_the_exchange_with_the_most_relief_per_byte_is_made() -> None:
    """14 and 6: no move ends inside 9..11; 8 for 4 and 6 for 2 both do, the second copies 8 instead of 12."""
    state = hand_state(hand_problem([((0,), 8.0), ((0,), 6.0), ((1,), 4.0), ((1,), 2.0)], 2))
    assert kernels.swap_at(state, 0, TWO, 200) == 1
    assert state.replicas[:, 0].tolist() == [0, 1, 1, 0]
    assert kernels.swap_round(state, TWO, 200) == 0


def test_replicas_of_one_partition_do_not_change_places() -> None:
    state = hand_state(hand_problem([((0, 1), 6.0), ((1, 2), 4.0)], 3))
    assert not kernels.may_swap(state, 0, 2)  # partition 0 would be on broker 1 twice
    assert kernels.may_swap(state, 0, 3)  # broker 0 gives partition 0 for partition 1 of broker 2


def test_released_is_what_surely_leaves() -> None:
    """In units of 5: broker 0 takes in 12, may 5.5. The 5 and a part of the 4 cover 6.5 at the price of the 4; at that
    price the 5 is worth 1.25 times what it costs, the 4 exactly what it costs, the 3 less.
    """
    rows = [((0,), 1.0), ((0,), 1.0), ((0,), 1.0), ((1,), 1.0), ((2,), 1.0)]
    problem = hand_problem(rows, 3, rates=[5.0, 4.0, 3.0, 2.0, 1.0], resources=("disk", "in"))
    high = problem.band_high.copy()
    high[:, 0] = 100.0
    state = hand_state(problem, high=high)
    assert kernels.release(state) == 1
    assert state.replicas[:, 0].tolist() == [3, 0, 0, 1, 2]  # 3 is the void


def test_drained_brokers_are_emptied_the_heaviest_first() -> None:
    """8 goes to broker 1, which lacks 7; the 4 to broker 0, which lacks 3: both end at their mean of 10."""
    problem = hand_problem([((0,), 6.0), ((1,), 2.0), ((2,), 4.0), ((2,), 8.0)], 3, leaving=[2])
    state = hand_state(problem)
    assert kernels.evacuate(state, TWO) == 0
    assert state.replicas[:, 0].tolist() == [0, 1, 0, 1]
    assert state.load[:, 0] == pytest.approx([1.0, 1.0, 0.0, 0.0])


def test_what_finds_no_room_is_stranded() -> None:
    problem = hand_problem([((0,), 6.0), ((1,), 2.0), ((2,), 8.0)], 3, leaving=[2], disk_limit=[8.0, 8.0, 99.0])
    assert kernels.evacuate(hand_state(problem), TWO) == 1


def test_polish_sends_home_what_nobody_needs_away() -> None:
    state = hand_state(hand_problem(THREE, 3, within=0.9), replicas=[[2, 1], [0, 1], [0, 2]])
    assert kernels.polish_round(state, ALL_BROKERS, 40) == pytest.approx(0.6025)
    assert state.replicas.tolist() == [[0, 1], [0, 1], [0, 2]]


def test_polish_mends_a_return_with_what_is_away_anyway() -> None:
    """x (5) is on 1, from 0; y (5) on 0, from 2. When x goes home, y moves on to 1: one copy less, the same loads."""
    original = [((0,), 5.0), ((2,), 5.0), ((0,), 5.0), ((1,), 5.0), ((2,), 10.0)]
    state = hand_state(hand_problem(original, 3), replicas=[[1], [0], [0], [1], [2]])
    assert state.load[:3, 0] == pytest.approx([1.0, 1.0, 1.0])
    assert kernels.polish_round(state, ALL_BROKERS, 40) == pytest.approx(state.cost[0])
    assert state.replicas[:, 0].tolist() == [0, 1, 0, 1, 2]
    assert state.load[:3, 0] == pytest.approx([1.0, 1.0, 1.0])


def test_polish_sends_something_cheaper_in_its_place() -> None:
    """x (6) is on 1, from 0, where 4 and 6 are. Home alone it would make 16; with the 4 gone, 12 of at most 12.5."""
    original = [((0,), 6.0), ((0,), 4.0), ((0,), 6.0), ((1,), 4.0)]
    state = hand_state(hand_problem(original, 2, within=0.25), replicas=[[1], [0], [0], [1]])
    assert kernels.polish_round(state, TWO, 40) == pytest.approx(0.6 - 0.4)
    assert state.replicas[:, 0].tolist() == [0, 1, 0, 1]


def test_what_is_away_is_listed_by_the_broker_that_has_it() -> None:
    state = hand_state(hand_problem(THREE, 3), replicas=[[2, 1], [0, 1], [1, 2]])
    displaced = kernels.displaced_replicas(state)
    assert displaced.replica_indexes.tolist() == [4, 0]  # partition 2 on broker 1, partition 0 on broker 2
    assert displaced.start.tolist() == [0, 0, 1, 2, 2]


def test_the_leaders_own_load_counts_for_the_slot_that_leads() -> None:
    """Broker 0 leads the first partition, broker 1, by its second slot, the second: that alone sends anything there,
    and lines up with what broker 1 sends too much.
    """
    rows = [((0, 1), 1.0), ((0, 1), 1.0), ((2,), 1.0)]
    problem = hand_problem(rows, 3, rates=[9.0, 9.0, 9.0], resources=("out",))
    leads = np.array([0, 1, 0], dtype=np.int32)
    sets = ReplicaSets(problem.replicas.copy(), problem.replicas.copy())
    state = make_state(problem, sets, leads, [0], WorkingBands(problem.band_low, problem.band_high), seed=0)
    state.high[1, 0] = state.load[1, 0] / 2
    held = state.items[state.start[1] : state.start[1] + state.filled[1]].copy()
    fit, weight = np.empty(2), np.empty(1)
    kernels._rank(state, 1, held, fit, weight)
    lined_up = {int(slot): float(value) for slot, value in zip(held, fit, strict=True)}
    assert lined_up == {1: pytest.approx(0.0), 3: pytest.approx(-1.0)}
