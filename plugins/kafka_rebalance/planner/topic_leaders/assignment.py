"""Who leads which partition of one topic: the leaders that each broker needs, each with a partition of its own.

Promises, in order: as few copies as the lists allow; as few leaders lacking as that leaves; little harm to bands, few
bytes, few changes, each change weighed by itself. Partitions that no broker needs keep their leaders.

How: an assignment of needed leaders to partitions at least cost. Staying costs nothing, a replica that takes the lead a
little, and what may not be more than all else. What is not covered so needs a copy each (a maximum matching leaves as
few as can be), so a second assignment may copy to those brokers alone.

Example: lists [0, 1], [0], [1, 2], led by 0, 0, 1, one each is needed. 2 can only lead the third, then 1 leads the
first and 0 the second: two changes, no copy.

O(n³) at worst for n needed leaders (``scipy.optimize.linear_sum_assignment``), the effect of each way beside.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from kafka_rebalance.arrays import Flags, Floats, Longs
from kafka_rebalance.planner.params import TopicLeaderParams
from kafka_rebalance.planner.topic_leaders.choices import Choices, joined, other_leaders, other_replicas
from kafka_rebalance.planner.topic_leaders.placement import LedPlacement


def assigned(placement: LedPlacement, need: Longs, mine: Longs, params: TopicLeaderParams) -> Choices:
    """Choices for the partitions ``mine`` int64[K] of a topic, each of another one, so that broker b leads ``need[b]``
    of them (int64[B]); some may lack leaders after them.
    """
    problem, lists, leader = placement.problem, placement.lists, placement.leader
    needed = np.repeat(np.arange(problem.broker_count), need)
    choices = other_leaders(problem, mine, lists, leader)
    cost, best = _costs(placement, mine, choices, params)
    taken = _solved(cost, needed, params)
    short = np.unique(needed[~_is_kept(cost, needed, taken, params)])
    if len(short) and problem.moves_replicas:
        copies = [other_replicas(problem, mine, lists, leader, broker) for broker in short.tolist()]
        choices = joined([choices, *copies], lists.shape[1])
        cost, best = _costs(placement, mine, choices, params)
        taken = _solved(cost, needed, params)
    made = best[needed, taken][_is_kept(cost, needed, taken, params)]
    return choices.taken(made[made >= 0])


def _costs(placement: LedPlacement, mine: Longs, choices: Choices, params: TopicLeaderParams) -> tuple[Floats, Longs]:
    """float64[B, K] of broker b leading ``mine[k]``, and int64[B, K] the cheapest choice for it, -1: it leads today."""
    shape = (placement.problem.broker_count, len(mine))
    harm, may = placement.effect(choices)
    costs = placement.costs(choices)
    price = np.clip(harm, 0.0, params.most_harm) + params.leader_worth + costs.worth
    price += np.maximum(costs.copies, 0) * params.copy_worth
    cost, best = np.full(shape, params.may_not), np.full(shape, -1, dtype=np.int64)
    order = np.flatnonzero(may)[np.argsort(-price[may], kind="stable")]  # the cheapest comes last, and stays
    column = np.searchsorted(mine, choices.rows[order])
    cost[choices.leaders[order], column], best[choices.leaders[order], column] = price[order], order
    cost[placement.leader[mine], np.arange(len(mine))] = 0.0
    best[placement.leader[mine], np.arange(len(mine))] = -1
    return cost, best


def _solved(cost: Floats, needed: Longs, params: TopicLeaderParams) -> Longs:
    """int64[N]: which partition each needed leader gets; where there are fewer partitions, one that it may not."""
    padded = np.full((len(needed), max(cost.shape[1], len(needed))), params.may_not)
    padded[:, : cost.shape[1]] = cost[needed]
    columns = np.asarray(linear_sum_assignment(padded)[1], dtype=np.int64)
    return np.asarray(np.minimum(columns, cost.shape[1] - 1))


def _is_kept(cost: Floats, needed: Longs, taken: Longs, params: TopicLeaderParams) -> Flags:
    """bool[N]: by a way that there is, and by the first of those that name the same partition."""
    is_first = np.zeros(len(taken), dtype=np.bool_)
    is_possible = cost[needed, taken] < params.may_not
    _, first = np.unique(np.where(is_possible, taken, -1), return_index=True)
    is_first[first] = True
    return np.asarray(is_possible & is_first)
