"""Leaders of topics on each broker: of a placement that lacks some, the nearest one found that lacks none.

Promises, in order: the budget is kept; no hard rule is broken that was kept; where a placement of a small cluster
has all leaders that are asked for, it is found, and where none has, that is proved; bands are left no further than
needed; few bytes, then few leader changes.

How: on small clusters every way to place every partition is decided at once in whole numbers. On larger ones, topic
by topic an assignment (as few copies as the topic's lists allow); what limits or the budget forbid is decided once more
in whole numbers, for the topic and then for the cluster where that is not too large. What that left further outside
bands is mended by other leaders: rounds of single changes, then all at once in whole numbers where they are few.

Example: t has 4 partitions on brokers 0, 1, 2, led by 0, 0, 1, 1, one each is asked for. 2 holds a replica of one
that 0 leads: it leads that one, and nothing is copied.

Complexity: one assignment or two a topic; a round looks at all leaders; programs as told by ``TopicLeaderParams``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kafka_rebalance.arrays import Ints, Longs
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.params import DEFAULTS, TopicLeaderParams
from kafka_rebalance.planner.tolerances import BAND_TOLERANCE, GAIN_TOLERANCE
from kafka_rebalance.planner.topic_leaders.assignment import assigned
from kafka_rebalance.planner.topic_leaders.choices import (
    Choices,
    all_choices,
    joined,
    other_leaders,
    other_replicas,
)
from kafka_rebalance.planner.topic_leaders.demand import LeaderDemand
from kafka_rebalance.planner.topic_leaders.placement import LedPlacement
from kafka_rebalance.planner.topic_leaders.program import decide


@dataclass(frozen=True, slots=True, eq=False)
class Led:
    """``lists`` int32[P, W] led by ``leader`` int32[P]; ``lacking`` leaders; ``is_proved``: no placement within what
    may be spent lacks fewer.
    """

    lists: Ints
    leader: Ints
    lacking: int
    is_proved: bool


def with_least_leaders(
    problem: Problem,
    demand: LeaderDemand,
    lists: Ints,
    leader: Ints,
    params: TopicLeaderParams = DEFAULTS.topic_leaders,
) -> Led:
    """The placement nearest to ``lists`` int32[P, W] led by ``leader`` int32[P] that lacks the fewest leaders found."""
    placement = LedPlacement(problem, lists, leader, params.move_worth)
    was_outside = placement.outside()
    rows = np.flatnonzero(~problem.pinned & (leader >= 0))
    is_proved = False
    if demand.lacking(placement.leader).any():
        is_proved = _all_at_once(placement, demand, rows, params, params.few_choices)
    if demand.lacking(placement.leader).any() and not is_proved:
        _by_topic(placement, demand, rows, params)
        if demand.lacking(placement.leader).any():
            is_proved = _all_at_once(placement, demand, rows, _quick(params), params.all_choices)
        if placement.outside() > was_outside + BAND_TOLERANCE:
            _mend_bands(placement, demand, rows, params)
    return Led(placement.lists, placement.leader, int(demand.lacking(placement.leader).sum()), is_proved)


def _all_at_once(
    placement: LedPlacement, demand: LeaderDemand, rows: Longs, params: TopicLeaderParams, most: int
) -> bool:
    """Every way to place every partition, where these are no more than ``most``; whether no fewer can be lacking."""
    every = all_choices(placement.problem, rows, placement.lists, placement.leader, most)
    chosen = None if every is None else decide(placement, demand, every, params)
    if every is None or chosen is None:
        return False
    placement.apply(every.taken(chosen.made))
    return bool(demand.lacking(placement.leader).sum() <= chosen.least_lacking)


def _quick(params: TopicLeaderParams) -> TopicLeaderParams:
    return replace(params, program_nodes=params.mend_nodes, program_gap=params.mend_gap)


def _by_topic(placement: LedPlacement, demand: LeaderDemand, rows: Longs, params: TopicLeaderParams) -> None:
    """Those topics that lack something, each by an assignment; what limits forbade once more in whole numbers."""
    is_free = np.zeros(len(placement.leader), dtype=np.bool_)
    is_free[rows] = True
    rows_of = demand.rows_by_topic()
    for topic in np.flatnonzero(demand.lacking(placement.leader).any(axis=1)).tolist():
        every = rows_of[topic]
        mine = every[is_free[every]]
        need = demand.lacking_of(topic, placement.leader[every[~is_free[every]]])
        for _ in range(params.assignments):
            made = _made_one_by_one(placement, assigned(placement, need, mine, params))
            short = np.flatnonzero(demand.lacking_of(topic, placement.leader[every]))
            if not made or not len(short):
                break
        if len(short):
            choices = _choices_of(placement, mine, short)
            chosen = decide(placement, demand, choices, params) if len(choices) <= params.topic_choices else None
            if chosen is not None:
                placement.apply(choices.taken(chosen.made))


def _made_one_by_one(placement: LedPlacement, choices: Choices) -> bool:
    """Each that limits and budget still allow; whether any was made."""
    if placement.allows_all(choices):
        placement.apply(choices)
        return bool(len(choices))
    is_made = False
    for at in range(len(choices)):
        one = choices.taken(slice(at, at + 1))
        if placement.effect(one)[1].all():
            placement.apply(one)
            is_made = True
    return is_made


def _mend_bands(placement: LedPlacement, demand: LeaderDemand, rows: Longs, params: TopicLeaderParams) -> None:
    """Other leaders of any partitions, none lacking that is there: by rounds, then at once where these are few."""
    for _ in range(params.mend_rounds):
        if not _round(placement, demand, rows):
            break
    choices = other_leaders(placement.problem, rows, placement.lists, placement.leader)
    if demand.lacking(placement.leader).any() or len(choices) > params.topic_choices:
        return
    chosen = decide(placement, demand, choices, _quick(params))
    if chosen is not None:
        placement.apply(choices.taken(chosen.made))


def _round(placement: LedPlacement, demand: LeaderDemand, rows: Longs) -> bool:
    """Changes of leaders that each bring brokers nearer to bands, no two of one broker."""
    topic, leader = demand.of_partition[rows], placement.leader[rows]
    spare = (demand.led(placement.leader) > demand.need)[np.maximum(topic, 0), leader] if len(demand.need) else True
    choices = other_leaders(placement.problem, rows[(topic < 0) | spare], placement.lists, placement.leader)
    old, outside = placement.leader[choices.rows], placement.outside_of_brokers() > BAND_TOLERANCE
    choices = choices.taken(outside[old] | outside[choices.leaders])
    harm, may = placement.effect(choices)
    order = np.flatnonzero(may & (harm < -GAIN_TOLERANCE))
    order = order[np.argsort(harm[order], kind="stable")]
    touched: set[int] = set()
    made = []
    for at in order.tolist():
        pair = {int(placement.leader[choices.rows[at]]), int(choices.leaders[at])}
        if not pair & touched:
            touched |= pair
            made.append(at)
    return _made_one_by_one(placement, choices.taken(np.array(made, dtype=np.int64)))


def _choices_of(placement: LedPlacement, mine: Longs, short: Longs) -> Choices:
    """Other leaders of a topic's partitions, and copies to those who lack leaders."""
    problem, lists, leader = placement.problem, placement.lists, placement.leader
    found = [other_leaders(problem, mine, lists, leader)]
    if problem.moves_replicas:
        found += [other_replicas(problem, mine, lists, leader, broker) for broker in short.tolist()]
    return joined(found, lists.shape[1])
