from __future__ import annotations

import numpy as np

from kafka_rebalance.planner.params import SurviveParams
from kafka_rebalance.planner.survive import Allowance, Costs, Means, all_changes, best_choice, survive
from tests.unit.planner.survive.loss_states import state_of, three, tight

PARAMS = SurviveParams()


def free(count: int, size: float = 0.0, *, copies: int | None = None) -> Costs:
    """No costs, or one copy a change with at most ``copies``."""
    first = np.full(count, 0 if copies is None else 1, dtype=np.int64)
    left = (np.inf if copies is None else float(copies), np.inf, np.inf)
    return Costs(first, first * size, np.zeros(count, dtype=np.int64), left)


def test_two_that_change_places_help_though_neither_does_alone() -> None:
    """1 takes over 30 and 20, 2 takes over 20 and 10, each has room for 40: 20 and 10 are swapped."""
    lists = [[0, 1, 2]] * 2 + [[0, 2, 1]] * 2
    snapshot, options = three(lists, [30.0, 20.0, 20.0, 10.0], 80.0)
    state = state_of(snapshot, options)
    state.arrays.capacity[1:, 0] = 40.0
    again = type(state).of(state.arrays, (state.lists, state.leader), state.load, state.takeover_load)
    changes = all_changes(again, Means.LEADERS, 1000)
    assert changes is not None
    orders = changes.take(changes.leaders == 0)
    assert (again.effect(orders).excess >= -1e-12).sum() >= 2
    chosen = best_choice(again, orders, free(len(orders)), PARAMS)
    assert chosen is not None
    for at in chosen.changes:
        again.apply(orders.take(slice(at, at + 1)))
    assert again.total == 0


def test_a_budget_is_kept() -> None:
    lists = [[0, 1, 2]] * 4
    snapshot, options = three(lists, [20.0] * 4, 45.0)
    state = state_of(snapshot, options)
    changes = all_changes(state, Means.LEADERS, 1000)
    assert changes is not None
    for copies in (0, 1, 2):
        chosen = best_choice(state, changes, free(len(changes), copies=copies), PARAMS)
        assert chosen is not None
        assert len(chosen.changes) <= copies


def test_too_many_changes_are_left_to_the_search() -> None:
    state = state_of(*tight(1, most_topics=6))
    assert all_changes(state, Means.REPLICAS, 10) is None
    changes = all_changes(state, Means.LEADERS, 10**6)
    assert changes is not None
    arrays = state.arrays
    cells = len(changes) * PARAMS.touched_brokers * arrays.groups * len(arrays.guarded)
    assert len(arrays.guarded) > 1
    assert best_choice(state, changes, free(len(changes)), SurviveParams(program_cells=cells)) is not None
    assert best_choice(state, changes, free(len(changes)), SurviveParams(program_cells=cells - 1)) is None


def test_what_cannot_be_survived_is_proved() -> None:
    """Three times 40 on three brokers of 50: after a loss one broker has at least 80."""
    snapshot, options = three([[0, 1, 2], [1, 2, 0], [2, 0, 1]], [40.0] * 3, 50.0)
    survived = survive(state_of(snapshot, options), Allowance())
    assert survived.is_proved
    assert survived.state.total > 0
