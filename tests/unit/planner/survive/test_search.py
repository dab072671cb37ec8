from __future__ import annotations

import numpy as np
import pytest

from kafka_rebalance.planner.params import SurviveParams
from kafka_rebalance.planner.survive import Allowance, Change, survive
from tests.unit.planner.survive.exact_survival import can_survive
from tests.unit.planner.survive.loss_states import state_of, three, tight
from tests.unit.planner.survive.test_loss_state import simulated


def test_new_orders_are_enough_where_they_are() -> None:
    """2 takes over half of 0's partitions: no leader change, no copy."""
    lists = [[0, 1, 2], [0, 1, 2], [1, 2, 0], [1, 0, 2], [2, 0, 1], [2, 1, 0]]
    state = state_of(*three(lists, [20.0] * 6, 60.0))
    before = state.copy()
    result = survive(state, Allowance()).state
    assert (result.total, simulated(result)) == (0.0, 0.0)
    assert (result.leader == before.leader).all()
    assert int((result.lists != before.lists).any(axis=1).sum()) == 1


def test_what_may_be_spent_is_not_exceeded() -> None:
    for seed in range(12):
        state = state_of(*tight(seed))
        today = state.arrays.today
        result = survive(state, Allowance(replica_moves=1, leader_changes=2)).state
        rows = np.arange(len(today))
        assert int(result.arrays.copies(rows, result.lists).sum()) <= 1
        assert int((result.leader != result.arrays.today_leader).sum()) <= 2


def test_no_single_change_that_is_left_is_needless() -> None:
    checked = 0
    for seed in range(10):
        snapshot, options = tight(seed, most_topics=3)
        state = state_of(snapshot, options)
        start = state.copy()
        result = survive(state, Allowance(moves_replicas=not options.leaders_only)).state
        if result.total or not start.total:
            continue
        rows = np.flatnonzero((result.lists != start.lists).any(axis=1))
        effect = result.effect(Change(rows, start.lists[rows], start.leader[rows]))
        is_needless = effect.is_lawful & (effect.excess <= 0) & (effect.outside <= 1e-12)
        copies = result.arrays.copies(rows, start.lists[rows])
        assert not (is_needless & (copies == 0)).any(), seed
        checked += len(rows)
    assert checked


def compare(seeds: range, most_partitions: int) -> list[bool]:
    """Survivors among the decided clusters, by the search and by the exact model."""
    survives = []
    for seed in seeds:
        snapshot, options = tight(seed)
        if len(snapshot.partitions) > most_partitions:
            continue
        state = state_of(snapshot, options)
        exact = can_survive(state, moves_replicas=not options.leaders_only)
        survived = survive(state, Allowance(moves_replicas=not options.leaders_only))
        result = not survived.state.total
        assert exact is None or result is exact, seed
        assert not (survived.is_proved and exact), seed
        assert simulated(survived.state) < 1e-6 or not result
        survives.append(result)
    return survives


def test_small_clusters_survive_exactly_where_they_can() -> None:
    survives = compare(range(60), 7)
    assert 3 <= sum(survives) < len(survives)


def test_nothing_is_proved_where_programs_are_too_large() -> None:
    """The search goes as far as single steps, without proof."""
    open_cases = 0
    for seed in range(5):
        snapshot, options = tight(seed)
        allowance = Allowance(moves_replicas=not options.leaders_only)
        most = state_of(snapshot, options).total
        result = survive(state_of(snapshot, options), allowance, SurviveParams(program_cells=0))
        assert not result.is_proved
        assert result.state.total <= most
        open_cases += result.state.total > 0
    assert open_cases


@pytest.mark.matrix
def test_many_small_clusters_survive_exactly_where_they_can() -> None:
    assert len(compare(range(60, 800), 14)) > 200
