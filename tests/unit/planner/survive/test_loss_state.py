from __future__ import annotations

from dataclasses import replace

import numpy as np

from kafka_assignors.arrays import Floats, Ints
from kafka_rebalance.planner.params import SurviveParams
from kafka_rebalance.planner.survive import LossArrays, LossState, Means, changes_for
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
    """Each sends 40 of 60; 1 takes over all of 0: 80 without 0, a third too much."""
    snapshot, options = three([[0, 1, 2], [0, 1, 2], [1, 2, 0], [2, 0, 1]], [20.0, 20.0, 40.0, 40.0], 60.0)
    state = state_of(snapshot, options)
    assert np.allclose(state.excess, [20 / 60, 20 / 60, 20 / 60])
    assert state.ratios(1)[:, 0].tolist() == [80 / 60, -1.0, 40 / 60]


def test_a_lost_leader_is_succeeded_by_the_first_replica_that_serves_elsewhere() -> None:
    snapshot, options = three([[0, 1, 2]], [20.0], 60.0)
    arrays = replace(state_of(snapshot, options).arrays, serves=np.array([True, False, True]))
    lists = np.array([[0, 1, 2], [0, 1, -1], [2, 0, 1], [1, 0, 2]], dtype=np.int32)
    lost, heirs = arrays.heirs(lists, np.array([0, 0, 2, -1], dtype=np.int32))
    assert lost.tolist() == [0, 0, 2, -1]
    assert heirs.tolist() == [2, -1, 0, -1]


def carried(state: LossState, lists: Ints, leader: Ints) -> Floats:
    """float64[B, D], replica by replica."""
    arrays, load = state.arrays, np.zeros_like(state.load)
    for row, members in enumerate(lists.tolist()):
        for broker in members:
            if broker >= 0:
                load[broker] += arrays.follower[row]
        load[leader[row]] += arrays.extra[row]
    return load


def outside(arrays: LossArrays, load: Floats) -> float:
    """Distance from the bands, summed over remaining brokers."""
    total = 0.0
    for broker in np.flatnonzero(arrays.stays).tolist():
        for d, value in enumerate(load[broker].tolist()):
            nearest = min(max(value, arrays.low[broker, d]), arrays.high[broker, d])
            total += abs(value - nearest) / arrays.scale[d]
    return total


def test_every_change_does_what_a_new_simulation_says() -> None:
    """Excess, loads and distance from the bands for each change; lawful changes lift no broker above a limit."""
    checked, lawful = 0, 0
    for seed in range(12):
        state = state_of(*tight(seed))
        assert np.isclose(state.total, simulated(state))
        draw = np.random.default_rng(seed)
        limit = state.load * draw.choice([0.5, 1.0, 1.1], state.load.shape)
        state.arrays = replace(state.arrays, limit=limit, stays=draw.random(len(limit)) < 0.8)
        for _ in range(6):
            if not state.total:
                break
            broker = int(draw.choice(np.flatnonzero(state.excess > 0)))
            changes = changes_for(state, broker, Means(int(draw.integers(3))), SurviveParams())
            if not len(changes):
                continue
            effect, at = state.effect(changes), int(draw.integers(len(changes)))
            before = state.lists.copy(), state.leader.copy()
            excess, load, off = state.total, state.load.copy(), outside(state.arrays, state.load)
            state.apply(changes.take(slice(at, at + 1)))
            assert np.isclose(state.total - excess, effect.excess[at], atol=1e-9)
            assert np.isclose(state.total, simulated(state), atol=1e-9)
            assert np.allclose(state.load - load, carried(state, state.lists, state.leader) - carried(state, *before))
            assert np.isclose(outside(state.arrays, state.load) - off, effect.outside[at], atol=1e-9)
            is_above = (state.load > np.maximum(state.arrays.limit, load) * (1 + 1e-9)).any(axis=1)
            assert effect.is_lawful[at] == ~(is_above & state.arrays.stays).any()
            checked, lawful = checked + 1, lawful + bool(effect.is_lawful[at])
    assert checked > 20
    assert 5 < lawful < checked - 5


def test_a_copy_changes_apart() -> None:
    state = state_of(*tight(4))
    other = state.copy()
    broker = int(other.excess.argmax())
    changes = changes_for(other, broker, Means.LEADERS, SurviveParams())
    other.apply(changes.take(slice(0, 1)))
    assert (other.lists != state.lists).any()
    before = state.total
    state.take_over(other)
    assert state.total == other.total != before
