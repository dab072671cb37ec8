"""Budget search on brokers 0, 1, 2 with 15, 2 and 1 of 18: zero-width bands ask for 6 each, so 9 / 18 is outside."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from kafka_assignors.arrays import Ints
from kafka_assignors.kernels import kernel
from kafka_rebalance.cluster_arrays.problem import Budget, Problem, broker_loads
from kafka_rebalance.planner.budget import (
    BudgetState,
    Placing,
    best_leader,
    best_target,
    exchange,
    give_back,
    hand_over,
    imbalance_of,
    improve,
    is_lawful,
    is_within_budget,
    leaders_of,
    make_budget_state,
    relocate,
    run_exchange,
    search_within_budget,
    take_back,
    undo_needless,
)
from kafka_rebalance.planner.params import BudgetSearchParams
from tests.sample import for_each
from tests.unit.planner.hand_problems import Rows, hand_problem, random_problem

PILED: Rows = [((0,), 6.0), ((0,), 5.0), ((0,), 4.0), ((1,), 2.0), ((2,), 1.0)]
EXACT = BudgetSearchParams(smooth=0.0)


def piled(**budget: float) -> Problem:
    return hand_problem(PILED, 3, within=0.0, budget=Budget(**budget))  # type: ignore[arg-type]


def state_of(problem: Problem, replicas: Ints | None = None) -> BudgetState:
    placed = problem.replicas if replicas is None else replicas
    return make_budget_state(problem, placed, placed[:, 0].copy(), seed=0, params=EXACT)


@kernel
def _probe_kernel(step: int, state: BudgetState, p: int, j: int, thrift: float) -> tuple[float, int]:
    if step == 0:
        return best_target(state, p, j, thrift)
    if step == 1:
        return best_leader(state, p, thrift)
    if step == 2:
        return imbalance_of(state), int(relocate(state, p, 0, j))
    if step == 3:
        return imbalance_of(state), int(hand_over(state, p, j))
    if step == 4:
        take_back(state)
        return imbalance_of(state), int(is_within_budget(state))
    if step == 5:
        return 0.0, improve(state, thrift)
    if step == 6:
        return 0.0, int(give_back(state))
    if step == 8:
        return imbalance_of(state), int(relocate(state, p, int(thrift), j))
    if step == 9:
        return imbalance_of(state), int(is_lawful(state))
    return float(undo_needless(state)), exchange(state, 0, 1.0, 1.0)


def test_a_step_is_worth_what_it_takes_off_and_with_thrift_per_unit_of_the_budget() -> None:
    """6 to broker 2: from 9 / 18 to 4 / 18; 4 there: to 5 / 18. Per byte of 12, the 4 is the better bargain."""
    state = state_of(piled(max_bytes=12.0))
    assert _probe_kernel(0, state, 0, 0, 0.0) == (pytest.approx(5 / 18), 2)
    assert _probe_kernel(0, state, 2, 0, 0.0) == (pytest.approx(4 / 18), 1)
    assert _probe_kernel(0, state, 0, 0, 1.0) == (pytest.approx(10 / 18), 2)
    assert _probe_kernel(0, state, 2, 0, 1.0) == (pytest.approx(12 / 18), 1)
    assert _probe_kernel(0, state, 3, 0, 0.0) == (0.0, -1)
    assert _probe_kernel(1, state, 0, 0, 0.0) == (0.0, -1)
    assert _probe_kernel(0, state_of(piled(max_bytes=5.9)), 0, 0, 0.0) == (0.0, -1)


def test_a_leader_change_is_worth_more_where_more_of_them_are_allowed() -> None:
    rows: Rows = [((0, 1), 1.0)] * 4
    for allowed in (1, 2, 4):
        problem = hand_problem(rows, 2, within=0.0, resources=("leaders",), budget=Budget(max_leader_changes=allowed))
        plain, thrifty = (_probe_kernel(1, state_of(problem), 0, 0, thrift) for thrift in (0.0, 1.0))
        assert plain[1] == thrifty[1] == 1
        assert thrifty[0] == pytest.approx(allowed * plain[0])


def test_what_is_changed_is_counted_and_taken_back_to_the_last_bit_that_matters() -> None:
    """The only replica takes its leadership along: 6 bytes, 1 move, 1 leader change."""
    state = state_of(piled(max_replica_moves=1))
    assert _probe_kernel(2, state, 0, 2, 0.0) == (pytest.approx(9 / 18), 1)
    assert (state.spent.tolist(), leaders_of(state)[0], state.count[0]) == ([6.0, 1.0, 1.0], 2, 1)
    assert _probe_kernel(2, state, 0, 2, 0.0)[1] == 0
    assert _probe_kernel(3, state, 0, 0, 0.0)[1] == 0
    assert _probe_kernel(2, state, 1, 1, 0.0)[0] == pytest.approx(4 / 18)
    assert state.spent[1] == 2.0
    assert _probe_kernel(4, state, 0, 0, 0.0) == (pytest.approx(9 / 18), 1)
    assert (state.spent.tolist(), state.count[0], leaders_of(state).tolist()) == ([0.0] * 3, 0, [0, 0, 0, 1, 2])


def test_what_is_beyond_the_budget_is_given_back_where_it_costs_least() -> None:
    """Beyond one move: of 5 to broker 1 and 4 to broker 2 either is undone (5 / 18 each). Useless ones always are."""
    moved = np.array([[0], [1], [2], [1], [2]], dtype=np.int32)
    state = state_of(piled(max_replica_moves=1), moved)
    assert state.spent.tolist() == [9.0, 2.0, 2.0]
    assert _probe_kernel(6, state, 0, 0, 0.0)[1] == 1
    assert (state.spent[1], _probe_kernel(4, state, 0, 0, 0.0)[0]) == (1.0, pytest.approx(5 / 18))
    swapped = state_of(piled(), np.array([[0], [0], [0], [2], [1]], dtype=np.int32))
    assert _probe_kernel(7, swapped, 0, 0, 0.0) == (2.0, 0)


def test_the_greedy_search_goes_as_far_as_the_budget_and_the_whole_one_is_exact_here() -> None:
    """One move: 6 to 2 leaves 4 / 18. Nine bytes: 6, 6, 6. Eight: 9, 3, 6. Without leader changes nothing moves."""
    state = state_of(piled(max_replica_moves=1))
    assert _probe_kernel(5, state, 0, 0, 0.0)[1] == 1
    assert _probe_kernel(4, state, 0, 0, 0.0)[0] == pytest.approx(4 / 18)
    for budget, left in (
        ({"max_bytes": 9.0}, 0),
        ({"max_bytes": 8.0}, 3),
        ({"max_replica_moves": 1}, 4),
        ({"max_leader_changes": 0}, 9),
    ):
        problem = piled(**budget)
        today = Placing(problem.replicas, problem.leader)
        result = search_within_budget(problem, today, today)
        after = state_of(problem, result.replicas)
        assert _probe_kernel(4, after, 0, 0, 0.0)[0] == pytest.approx(left / 18), budget
    assert run_exchange(state_of(piled()), 1000, 1.0, 0.01) > 0


def test_no_broker_sends_or_receives_more_than_its_limit() -> None:
    """Broker 0 leads the three largest: with 9 it sends 5 and 4, or 6; no broker receives the 6 beside another."""
    state = state_of(piled(max_broker_bytes=5.0))
    assert _probe_kernel(0, state, 0, 0, 0.0)[1] == -1  # 6 to anybody
    assert _probe_kernel(0, state, 1, 0, 0.0)[1] in (1, 2)
    _, is_made = _probe_kernel(2, state, 1, 2, 0.0)
    assert (is_made, state.copied.tolist()) == (1, [[0.0, 0.0, 5.0], [5.0, 0.0, 0.0]])
    assert _probe_kernel(0, state, 2, 0, 0.0)[1] == -1  # 4 more would be sent by broker 0
    _, is_within = _probe_kernel(4, state, 0, 0, 0.0)
    assert (is_within, state.copied.any()) == (1, np.False_)


def test_a_broker_above_a_limit_still_takes_what_adds_nothing_there() -> None:
    """Broker 1 sends 5, its limit is 4: partition 0 sends nothing and goes there, partition 1 may not."""
    rows: Rows = [((0,), 6.0), ((0,), 6.0), ((1,), 1.0)]
    problem = hand_problem(rows, 2, within=0.0, resources=("disk", "out"), rates=[0.0, 0.1, 5.0])
    state = state_of(replace(problem, limit=np.array([[99.0, 99.0], [99.0, 4.0]])))
    assert [_probe_kernel(0, state, p, 0, 0.0)[1] for p in range(2)] == [1, -1]


def test_a_refused_step_leaves_its_place_to_the_next() -> None:
    """Partition 0 has moved where nothing may. Leader changes gain the most and are refused until it is back."""
    rows: Rows = [((0, 1), 1.0), *[((0, 2), 1.0)] * 3]
    problem = hand_problem(rows, 3, within=0.0, resources=("disk", "leaders"), budget=Budget(max_replica_moves=0))
    moved = problem.replicas.copy()
    moved[0, 1] = 2
    state = state_of(problem, moved)
    assert _probe_kernel(1, state, 1, 0, 0.0)[0] > _probe_kernel(0, state, 0, 1, 0.0)[0] > 0
    assert _probe_kernel(5, state, 0, 0, 0.0)[1] > 1
    assert state.replicas.tolist() == problem.replicas.tolist()


def test_what_is_over_a_brokers_limit_is_given_back() -> None:
    moved = np.array([[1], [2], [2], [1], [2]], dtype=np.int32)
    state = state_of(piled(max_broker_bytes=9.0), moved)
    assert state.copied.tolist() == [[0.0, 6.0, 9.0], [15.0, 0.0, 0.0]]
    assert state.over_copied.tolist() == [6.0]
    assert _probe_kernel(6, state, 0, 0, 0.0)[1] == 1
    assert (state.copied.max() <= 9.0, state.over_copied[0]) == (True, 0.0)


@for_each("seed", range(5))
def test_what_brokers_copy_is_kept_right_however_the_search_goes(seed: int) -> None:
    draw = np.random.default_rng(seed)
    rows = [(tuple(draw.permutation(5)[:2].tolist()), float(draw.integers(1, 9))) for _ in range(30)]
    problem = hand_problem(rows, 5, within=0.05, budget=Budget(max_broker_bytes=float(draw.integers(3, 30))))
    state = state_of(problem)
    _probe_kernel(5, state, 0, 0, float(seed % 2))
    run_exchange(state, 2_000, 0.1, 0.001)
    again = make_budget_state(problem, state.replicas, leaders_of(state), seed=0, params=EXACT)
    assert state.copied == pytest.approx(again.copied)
    assert state.copied.max() <= (problem.budget.max_broker_bytes or 0.0) + 1e-9
    assert state.spent[0] == pytest.approx(state.copied[0].sum())


@for_each("seed", range(3))
def test_an_exchange_bears_what_is_worse_while_it_is_warm_and_cold_none(seed: int) -> None:
    """Where no single step helps, a high temperature keeps twice as many tries as none."""
    made, draw = {}, np.random.default_rng(seed)
    rows = [(tuple(draw.permutation(5)[:2].tolist()), float(draw.integers(1, 9))) for _ in range(20)]
    for temperature in (1e6, 1e-12):
        state = state_of(hand_problem(rows, 5, within=0.0))
        _probe_kernel(5, state, 0, 0, 0.0)
        improved = _probe_kernel(4, state, 0, 0, 0.0)[0]
        made[temperature] = run_exchange(state, 300, temperature, temperature / 10)
    assert _probe_kernel(4, state, 0, 0, 0.0)[0] <= improved + 1e-12
    assert made[1e6] >= 2 * made[1e-12]


def lists_of(state: BudgetState) -> list[list[int]]:
    return [[b for b in line if b >= 0] for line in state.replicas.tolist()]


def may_lead(problem: Problem, p: int, broker: int) -> bool:
    """By definition; never the broker of an offline replica."""
    offline = set() if problem.must_leave is None else set(problem.replicas[p, problem.must_leave[p]].tolist())
    goes_on = broker == problem.leader[p] and problem.keeps_leaders[broker]
    return broker not in offline and bool(problem.takes_leaders[broker] or goes_on)


def may_go(problem: Problem, state: BudgetState, p: int, j: int, target: int) -> bool:
    """By definition: slot ``j`` of partition ``p`` may be on ``target``."""
    own = problem.replicas[p].tolist()
    offline = set() if problem.must_leave is None else set(problem.replicas[p, problem.must_leave[p]].tolist())
    receives = problem.takes_replicas[target] or (problem.stays[target] and target in own)
    is_free = target not in state.replicas[p].tolist() and target not in offline
    leads = state.leads[p] != j or may_lead(problem, p, target)
    return bool(receives and is_free and leads and problem.sets.brokers[problem.sets.of_partition[p], target])


def assert_as_made_anew(problem: Problem, state: BudgetState, start: Ints) -> None:
    """Compare all incremental state since ``start`` with a count of the whole placement."""
    again = make_budget_state(problem, state.replicas, leaders_of(state), seed=0, params=EXACT)
    unit = 1.0  # of loads: the whole load, changed by moving a replica of another size
    if problem.own_disk is not None:
        unit = float(broker_loads(problem, state.replicas, leaders_of(state)).sum())
        unit /= float(broker_loads(problem, start, start[:, 0]).sum())
    for name in ("load", "outside", "peak"):
        assert np.allclose(getattr(state, name), unit * getattr(again, name), atol=1e-12), name
    for name in ("copied", "over_copied", "spent", "count", "leads"):
        assert np.allclose(getattr(state, name), getattr(again, name), atol=1e-12), name
    assert sorted(state.changed[: state.count[0]].tolist()) == sorted(again.changed[: again.count[0]].tolist())


def away_from_offline(problem: Problem) -> Ints:
    """Today's lists with another broker in place of each offline replica's."""
    replicas = problem.replicas.copy()
    for p, j in [] if problem.must_leave is None else np.argwhere(problem.must_leave).tolist():
        others = {*range(problem.broker_count)} - {*replicas[p].tolist(), *problem.replicas[p].tolist()}
        replicas[p, j] = min(others)
    return replicas


def test_single_changes_are_made_where_the_rules_say_counted_and_taken_back() -> None:
    draw, seen = np.random.default_rng(5), np.zeros((3, 2), dtype=np.int64)
    for case in range(12):
        problem = random_problem(draw)
        limit = np.where(draw.random((5, 1)) < 0.5, 3.0, 1e300) if case % 2 else problem.limit
        budget = Budget(max_broker_bytes=float(draw.integers(0, 3)))
        own = None if case % 3 else problem.move_bytes[:, None] * draw.integers(1, 3, problem.replicas.shape)
        if problem.must_leave is not None:  # two brokers remain for leaving replicas
            problem = replace(problem, must_leave=problem.must_leave & (problem.must_leave.cumsum(axis=1) <= 2))
        problem = replace(problem, pinned=problem.leader < 0, limit=limit, budget=budget, own_disk=own)
        start = away_from_offline(problem)
        state = state_of(problem, start)
        for p in state.rows.tolist():
            before = lists_of(state)
            for j, target in product(range(len(before[p])), range(5)):
                expected = may_go(problem, state, p, j, target)
                _, is_made = _probe_kernel(8, state, p, target, float(j))
                assert bool(is_made) is expected, (case, p, j, target)
                seen[0, is_made] += 1
                if is_made:
                    assert_as_made_anew(problem, state, start)
                    is_home = target in problem.replicas[p].tolist()
                    load, peak = state.load[target, 0], state.load[target, 0] if is_home else state.peak[target]
                    is_lifted = max(load, peak) > state.limit[target, 0]
                    _, is_right = _probe_kernel(9, state, 0, 0, 0.0)
                    assert bool(is_right) is not is_lifted, (case, p, j, target)
                    seen[1, is_right] += 1
                led, other = lists_of(state)[p], int(draw.integers(problem.replicas.shape[1]))
                may = other < len(led) and bool(other != state.leads[p]) and may_lead(problem, p, led[other])
                _, is_made = _probe_kernel(3, state, p, other, 0.0)
                assert bool(is_made) is may, (case, p, other)
                seen[2, is_made] += 1
                assert_as_made_anew(problem, state, start)
                _probe_kernel(4, state, 0, 0, 0.0)
                assert lists_of(state) == before
                assert_as_made_anew(problem, state, start)
    assert seen.min() >= 10, seen


@for_each("seed", range(4))
def test_where_few_are_ranked_anew_the_search_still_ends_where_no_step_helps(seed: int) -> None:
    """Unless the ranking limit is reached."""
    draw = np.random.default_rng(seed)
    rows = [(tuple(draw.permutation(5)[:2].tolist()), float(draw.integers(1, 9))) for _ in range(20)]
    problem = hand_problem(rows, 5, within=0.05)
    made = []
    for most in (1, 1000):
        lazy = BudgetSearchParams(smooth=0.0, ranked_exactly=0, least_rankings=1, most_rankings=most)
        state = make_budget_state(problem, problem.replicas, problem.leader, seed=0, params=lazy)
        before = _probe_kernel(4, state, 0, 0, 0.0)[0]
        made.append(_probe_kernel(5, state, 0, 0, 0.0)[1])
        assert made[-1] > 0
        assert _probe_kernel(4, state, 0, 0, 0.0)[0] < before
        assert_as_made_anew(problem, state, problem.replicas)
    steps = [_probe_kernel(0, state, p, j, 0.0)[0] for p in range(20) for j in range(2)]
    assert max(steps + [_probe_kernel(1, state, p, 0, 0.0)[0] for p in range(20)]) <= 0
    assert made[0] <= made[1]


def test_leaders_alone_change_places_where_no_replica_moves() -> None:
    """0 leads partitions that receive 6, 5 and 4; its followers 1 and 2 may lead one each."""
    rows: Rows = [((0, 1), 1.0), ((0, 2), 1.0), ((0, 1), 1.0)]
    problem = hand_problem(rows, 3, within=0.0, resources=("out",), rates=[6.0, 5.0, 4.0], moves_replicas=False)
    state = state_of(problem)
    assert _probe_kernel(0, state, 0, 0, 0.0) == (0.0, -1)
    assert run_exchange(state, 300, 1.0, 0.01) > 0
    today = Placing(problem.replicas, problem.leader)
    result = search_within_budget(problem, today, today)
    assert (result.replicas == problem.replicas).all()
    assert sorted(result.leader.tolist()) == [0, 1, 2]


def test_where_nothing_may_be_touched_or_given_back_nothing_is() -> None:
    problem = piled(max_replica_moves=0)
    still = state_of(replace(problem, pinned=np.ones(5, dtype=np.bool_)))
    assert (_probe_kernel(5, still, 0, 0, 0.0)[1], run_exchange(still, 10, 1.0, 0.01)) == (0, 0)
    moved = np.array([[1], [0], [0], [1], [2]], dtype=np.int32)
    full = replace(problem, limit=np.array([[14.0], [99.0], [99.0]]))  # broker 0 cannot have its 15 again
    state = state_of(full, moved)
    assert _probe_kernel(6, state, 0, 0, 0.0)[1] == 0
    assert lists_of(state)[0] == [1]


def test_no_step_leads_where_both_copies_do_not_fit() -> None:
    """Broker 2 carries 1 of 6.5: room for 5; for 6 only after its own has left."""
    problem = replace(piled(), limit=np.array([[99.0], [2.0], [6.5]]))
    state = state_of(problem)
    assert [_probe_kernel(0, state, p, 0, 0.0)[1] for p in range(3)] == [-1, 2, 2]
    assert _probe_kernel(2, state, 4, 1, 0.0)[1] == 1
    assert _probe_kernel(0, state, 0, 0, 0.0)[1] == -1


def test_no_broker_leads_more_than_its_limit() -> None:
    """Broker 0 leads all three, broker 1 may lead none: only the third changes its leader, to broker 2."""
    rows: Rows = [((0, 1), 1.0), ((0, 1), 1.0), ((0, 2), 1.0)]
    problem = hand_problem(rows, 3, within=0.0, resources=("leaders",))
    leaders = [_probe_kernel(1, state_of(problem), p, 0, 0.0)[1] for p in range(3)]
    limited = state_of(replace(problem, limit=np.array([[9.0], [0.5], [9.0]])))
    assert (leaders, [_probe_kernel(1, limited, p, 0, 0.0)[1] for p in range(3)]) == ([1, 1, 1], [-1, -1, 1])
