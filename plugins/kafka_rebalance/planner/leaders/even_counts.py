"""Counts of leaders made even with the fewest changes, as library calls: for a placement alone, and for a problem.

What is proved is proved by prices (the dual of the flow): whoever doubts the minimum adds up, over partitions, the
cheapest of (1 if the leader changes + price of the new leader's broker), and takes off price · high (price · low where
the price is below 0) of every broker. No plan that changes leaders only costs less.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import Flags, Ints, Longs
from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.planner.leaders.count_flow import count_flow, even_out, set_distances
from kafka_rebalance.planner.leaders.leader_state import LeaderLoads, LeaderState, make_leader_state
from kafka_rebalance.planner.tolerances import UNREACHED


@dataclass(frozen=True, slots=True, eq=False)
class EvenLeaders:
    """``leader`` int32[P] brokers; ``changes`` = leaders other than today's, the fewest that lead to these counts.

    ``left``: leaderships that no choice brings into the bands, 0 where all are met; ``stuck`` bool[B] are then the
    brokers that cause it: what they lead, only they can lead. ``prices`` int64[B] prove ``changes`` (without ``pull``).
    """

    leader: Ints
    changes: int
    left: int
    stuck: Flags
    prices: Longs


def even_leaders(
    replicas: Ints, leader: Ints, low: Longs, high: Longs, *, may_lead: Flags | None = None, squares: bool = False
) -> EvenLeaders:
    """Leaders for ``replicas`` int32[P, W] (broker indices, -1 = none) with low..high int64[B] of them on each broker.

    ``leader`` int32[P] is today's (-1: nobody). ``may_lead`` bool[P, W]: who may, None = every replica. ``squares``:
    within the bands the smallest sum of squared counts first (the smallest standard deviation), then the fewest
    changes. Raises InvalidInputError where a band is empty.
    """
    wrong = np.flatnonzero((low > high) | (high < 0))
    if len(wrong):
        b = int(wrong[0])
        raise InvalidInputError.at(f"band of broker index {b}", f"{low[b]}..{high[b]} holds no count")
    allowed = replicas >= 0 if may_lead is None else may_lead & (replicas >= 0)
    is_today = (replicas == leader[:, None]) & allowed
    replica_index = np.where(is_today.any(axis=1), is_today.argmax(axis=1), allowed.argmax(axis=1)).astype(np.int32)
    return _evened(_bare_state(replicas, replica_index, leader, allowed, len(low)), low, high, squares=squares)


def even_out_counts(state: LeaderState, low: Longs, high: Longs) -> int:
    """Change ``state`` to even counts with the fewest changes. Returns what stays outside. The start must be today's
    leader wherever that may lead.
    """
    return int(even_out(state, count_flow(state, low, high, 0)))


def _evened(state: LeaderState, low: Longs, high: Longs, *, squares: bool) -> EvenLeaders:
    flow = count_flow(state, low, high, len(state.replica_index) + 1 if squares else 0)
    left = int(even_out(state, flow))
    stuck = flow.far[:-1] < UNREACHED if left else np.zeros(len(low), dtype=np.bool_)
    set_distances(state, flow, True)
    chosen = state.replicas[np.arange(len(state.replica_index)), state.replica_index]
    return EvenLeaders(chosen, int((chosen != state.original).sum()), left, stuck, flow.far[-1] - flow.far[:-1])


def _bare_state(replicas: Ints, replica_index: Ints, original: Ints, may_lead: Flags, brokers: int) -> LeaderState:
    """A leader state that carries no loads but the lists of who leads what."""
    nothing, empty = np.zeros((len(replicas), 0)), np.zeros((brokers, 0))
    rows, today = (np.ascontiguousarray(matrix, dtype=np.int32) for matrix in (replicas, original))
    return make_leader_state(
        rows, replica_index, today, np.ascontiguousarray(may_lead), nothing, LeaderLoads(empty, empty, empty, empty)
    )
