from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kafka_rebalance.planner.leaders import (
    LeaderLoads,
    LeaderState,
    choose_leaders,
    count_band,
    count_flow,
    even_out,
    first_leaders,
    leader_columns,
    make_leader_state,
    set_distances,
)
from kafka_rebalance.planner.scales import candidates
from kafka_rebalance.planner.solve import settled, solve
from kafka_rebalance.planner.state import working_bands
from tests.unit.planner.hand_problems import Rows, hand_problem

# Brokers 0, 1, 2 lead 4, 1 and 1 partitions; the mean is 2.
PILED: Rows = [*[((0, 1), 1.0)] * 4, ((1, 2), 1.0), ((2, 0), 1.0)]


def bare_state(replicas: list[tuple[int, ...]], brokers: int) -> LeaderState:
    """Leaders without loads; all may lead."""
    rows = np.array(replicas, dtype=np.int32)
    nothing, empty = np.zeros((len(rows), 0)), np.zeros((brokers, 0))
    replica_index = np.zeros(len(rows), dtype=np.int32)
    return make_leader_state(
        rows,
        replica_index,
        rows[:, 0].copy(),
        np.ones(rows.shape, dtype=np.bool_),
        nothing,
        LeaderLoads(empty, empty, empty, empty),
    )


def test_drained_brokers_and_offline_replicas_may_not_lead() -> None:
    problem = hand_problem([((0, 1), 1.0), ((1, 2), 1.0)], 3, leaving=[1])
    assert candidates(problem, problem.replicas).tolist() == [[True, False], [False, True]]
    offline = np.array([[True, False], [False, False]])
    assert candidates(replace(problem, must_leave=offline), problem.replicas).tolist() == [
        [False, False], [False, True],
    ]  # fmt: skip


def test_a_partition_that_may_not_be_touched_keeps_its_leader() -> None:
    problem = hand_problem([((0, 1), 1.0), ((0, 2), 1.0)], 3, pinned=np.array([True, False]))
    assert candidates(problem, problem.replicas).tolist() == [[True, False], [True, True]]


def test_todays_leader_goes_on_unless_the_preferred_is_elected() -> None:
    problem = replace(hand_problem([((0, 1), 1.0), ((0, 2), 1.0)], 3), leader=np.array([1, 2], dtype=np.int32))
    may_lead = np.array([[True, True], [True, False]])
    assert first_leaders(problem, problem.replicas, may_lead).tolist() == [1, 0]
    preferred = replace(problem, elects_preferred=True)
    assert first_leaders(preferred, problem.replicas, may_lead).tolist() == [0, 0]


def test_counts_are_the_whole_numbers_of_a_band() -> None:
    low, high = count_band(np.array([2.2, 1.8, 0.0]), np.array([3.9, 2.2, np.inf]))
    assert (low.tolist(), high.tolist()) == ([3, 2, 0], [3, 2, 10**15])


def test_three_changes_even_out_four_one_and_one() -> None:
    """Two of broker 0's go to 1, the only possible one; 1 passes its own to 2: 2, 2, 2."""
    problem = hand_problem(PILED, 3, resources=("leaders",), moves_replicas=False)
    bands = working_bands(problem, problem.band_low, problem.band_high)
    replica_index = choose_leaders(problem, problem.replicas, bands).replica_index
    leader = problem.replicas[np.arange(6), replica_index]
    assert np.bincount(leader).tolist() == [2, 2, 2]
    assert (int((replica_index != 0).sum()), leader[4]) == (3, 2)


def test_the_search_beside_moved_replicas_reaches_the_same_counts() -> None:
    problem = hand_problem(PILED, 3, resources=("leaders",))
    bands = working_bands(problem, problem.band_low, problem.band_high)
    chosen = choose_leaders(problem, problem.replicas, bands)
    assert np.bincount(problem.replicas[np.arange(6), chosen.replica_index]).tolist() == [2, 2, 2]
    assert chosen.statistics.leaders_changed - chosen.statistics.leaders_undone == 3


@pytest.mark.parametrize(("limit", "changes"), [(8.0, 1), (7.0, 0)])
def test_no_leadership_goes_above_a_hard_limit(limit: float, changes: int) -> None:
    """Broker 0 sends three times 4 to consumers and 4 to followers, 24 of at most 18; broker 1 may send ``limit``."""
    problem = hand_problem([((0, 1), 1.0)] * 3, 2, within=0.5, resources=("out",), rates=[4.0] * 3)
    problem = replace(problem, limit=np.array([[np.inf], [limit]]))
    bands = working_bands(problem, problem.band_low, problem.band_high)
    assert int(choose_leaders(problem, problem.replicas, bands).replica_index.sum()) == changes


def test_only_what_depends_on_leaders_is_looked_at() -> None:
    problem = hand_problem(PILED, 3, resources=("disk", "in", "out", "replicas", "leaders"), rates=[1.0] * 6)
    assert [problem.resources[d] for d in leader_columns(problem)] == ["out", "leaders"]


def test_leaderships_flow_along_a_chain() -> None:
    """a leads 4, b 2, c 0; a's are on a and b, b's on b and c, 2 each: two go from a to b, two from b to c."""
    state = bare_state([(0, 1)] * 4 + [(1, 2)] * 2, 3)
    flow = count_flow(state, np.full(3, 2), np.full(3, 2), 0)
    assert flow.excess.tolist() == [2, 0, -2, 0]
    assert even_out(state, flow) == 0
    leader = state.replicas[np.arange(6), state.replica_index]
    assert np.bincount(leader).tolist() == [2, 2, 2]
    assert int((leader != state.original).sum()) == 4


def test_what_no_way_takes_is_left() -> None:
    """a's three partitions are on a alone: it may lead one, so two stay too many."""
    state = bare_state([(0,)] * 3 + [(1,)], 2)
    flow = count_flow(state, np.array([0, 0]), np.array([1, 3]), 0)
    assert even_out(state, flow) == 2


def test_distances_count_changes_on_the_way() -> None:
    state = bare_state([(0, 1)] * 4 + [(1, 2)] * 2, 3)
    flow = count_flow(state, np.full(3, 2), np.full(3, 2), 0)
    assert set_distances(state, flow, False)
    assert flow.far[:3].tolist() == [0, 1, 2]  # broker 2 is two changes away from the overloaded broker


@pytest.mark.parametrize(("pull", "counts"), [(0, [3, 0, 0]), (100, [1, 1, 1])])
def test_with_a_pull_counts_are_as_equal_as_can_be(pull: int, counts: list[int]) -> None:
    """Without it every count in 0..3 is equally good, so nothing changes."""
    state = bare_state([(0, 1), (0, 2), (0, 1)], 3)
    assert even_out(state, count_flow(state, np.zeros(3, np.int64), np.full(3, 3), pull)) == 0
    assert np.bincount(state.replicas[np.arange(3), state.replica_index], minlength=3).tolist() == counts


def test_a_leader_that_no_band_asks_for_is_taken_back_and_an_election_keeps_the_rest() -> None:
    """Lists 0, 1 and 0, 1, led by 0 and 1, one each at most. The second begins with 1: an election changes nothing."""
    problem = hand_problem([((0, 1), 1.0), ((0, 1), 1.0)], 2, within=0.0, resources=("leaders",))
    problem = replace(problem, leader=np.array([0, 1], dtype=np.int32), preferred=np.zeros(2, dtype=np.int32))
    result = replace(solve(problem), replicas=problem.replicas, leader=np.array([1, 1], dtype=np.int32))
    plan = settled(problem, result)
    assert (plan.leader.tolist(), plan.replicas.tolist()) == ([0, 1], [[0, 1], [1, 0]])
