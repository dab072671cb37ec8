"""What a change does is what a new simulation of the whole placement says."""

from __future__ import annotations

import numpy as np

from kafka_rebalance.planner.params import SurviveParams
from kafka_rebalance.planner.survive import LossState, Means, changes_for
from tests.unit.planner.survive.loss_states import state_of, three, tight


def simulated(state: LossState) -> float:
    """Excess of all brokers, loss by loss, partition by partition."""
    arrays, total = state.arrays, 0.0
    for lost in range(arrays.groups):
        load = np.zeros((len(arrays.group), len(arrays.guarded)))
        for row in range(len(state.lists)):
            members = [int(b) for b in state.lists[row] if b >= 0]
            leader = int(state.leader[row])
            for broker in members:
                load[broker] += arrays.follower[row, arrays.guarded]
            load[leader] += arrays.extra[row, arrays.guarded]
            if arrays.group[leader] == lost:
                heir = next((b for b in members if arrays.group[b] != lost), None)
                if heir is not None:
                    load[heir] += arrays.extra[row, arrays.guarded]
        over = np.maximum(load / arrays.capacity - 1, 0.0)
        total += float(over[arrays.group != lost].sum())
    return total


def test_three_brokers_by_hand() -> None:
    """Each sends 40 of 60; all that 0 leads goes on with 1: 80 without 0, a third too much."""
    snapshot, options = three([[0, 1, 2], [0, 1, 2], [1, 2, 0], [2, 0, 1]], [20.0, 20.0, 40.0, 40.0], 60.0)
    state = state_of(snapshot, options)
    assert np.allclose(state.excess, [20 / 60, 20 / 60, 20 / 60])
    assert state.ratios(1)[:, 0].tolist() == [80 / 60, -1.0, 40 / 60]


def test_every_change_does_what_a_new_simulation_says() -> None:
    checked = 0
    for seed in range(12):
        state = state_of(*tight(seed))
        assert np.isclose(state.total, simulated(state))
        draw = np.random.default_rng(seed)
        for _ in range(6):
            if not state.total:
                break
            broker = int(draw.choice(np.flatnonzero(state.excess > 0)))
            changes = changes_for(state, broker, Means(int(draw.integers(3))), SurviveParams())
            if not len(changes):
                continue
            effect, at = state.effect(changes), int(draw.integers(len(changes)))
            before = state.total
            state.apply(changes.taken(slice(at, at + 1)))
            assert np.isclose(state.total - before, effect.excess[at], atol=1e-9)
            assert np.isclose(state.total, simulated(state), atol=1e-9)
            checked += 1
    assert checked > 20


def test_a_copy_changes_apart() -> None:
    state = state_of(*tight(4))
    other = state.copy()
    broker = int(other.excess.argmax())
    changes = changes_for(other, broker, Means.LEADERS, SurviveParams())
    other.apply(changes.taken(slice(0, 1)))
    assert (other.lists != state.lists).any()
    before = state.total
    state.take_over(other)
    assert state.total == other.total != before
