"""How evenly each topic lies: replicas above ⌈topic's replicas / brokers that stay⌉ on one broker, summed up.

Large topics keep a row of counts per broker; small ones are counted from their few replicas when asked, so that
100,000 tiny topics on 1,000 brokers need no table of 10⁸ cells.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kafka_rebalance.arrays import Flags, Ints
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.kernels.by_reference import ByReference
from kafka_rebalance.kernels.decorators import inner_kernel, kernel


@dataclass(frozen=True, eq=False)
class TopicSpread(ByReference):
    """Counts by topic and broker; T topics, ``row`` -1 for small topics."""

    topic: Ints  # int32[P]
    row: Ints  # int32[T]
    table: Ints  # int32[rows, B+1]
    limit: Ints  # int32[T]: ⌈replicas / brokers that stay⌉
    start: npt.NDArray[np.int64]  # int64[T+1] into members
    members: Ints  # int32[P], partitions by topic


def topic_spread(problem: Problem, replicas: Ints, small_topic: int) -> TopicSpread:
    """Counts of ``replicas`` (int32[P, W], with unplaced ones); limits are those of the target replication factor.

    Topics with more replicas than ``small_topic`` have a row in the table.
    """
    topics = int(problem.topic.max(initial=-1)) + 1
    members = np.argsort(problem.topic, kind="stable").astype(np.int32)
    start = np.zeros(topics + 1, dtype=np.int64)
    np.cumsum(np.bincount(problem.topic, minlength=topics), out=start[1:])
    wanted = np.bincount(problem.topic, weights=problem.target_rf, minlength=topics)
    has_row = wanted > small_topic
    row = np.where(has_row, np.cumsum(has_row) - 1, -1).astype(np.int32)
    table = np.zeros((int(has_row.sum()), problem.broker_count + 1), dtype=np.int32)
    _count(replicas, problem.topic, row, table)
    return TopicSpread(np.ascontiguousarray(problem.topic), row, table, topic_limit(problem), start, members)


def topic_limit(problem: Problem) -> Ints:
    """int32[T]: how many replicas of a topic one broker may hold before they count as too many."""
    wanted = np.bincount(problem.topic, weights=problem.target_rf, minlength=int(problem.topic.max(initial=-1)) + 1)
    return np.asarray(np.ceil(wanted / max(1, int(problem.stays.sum()))), dtype=np.int32)


def topic_excess(topic: Ints, replicas: Ints, stays: Flags) -> int:
    """Replicas above their topic's limit, all brokers counted; int32[P], int32[P, W], bool[B]. O(P·W log P)."""
    is_there = replicas >= 0
    counts = is_there.sum(axis=1)
    total = np.bincount(topic, weights=counts)
    limit = np.ceil(total / max(1, int(stays.sum()))).astype(np.int64)
    key = np.repeat(topic.astype(np.int64), counts) * len(stays) + replicas[is_there]
    pair, held = np.unique(key, return_counts=True)
    return int(np.maximum(held - limit[pair // len(stays)], 0).sum())


@kernel
def _count(replicas: Ints, topic: Ints, row: Ints, table: Ints) -> None:
    for p in range(replicas.shape[0]):
        r = row[topic[p]]
        if r >= 0:
            for j in range(replicas.shape[1]):
                if replicas[p, j] >= 0:
                    table[r, replicas[p, j]] += 1


@inner_kernel
def held_of_topic(spread: TopicSpread, replicas: Ints, t: int, broker: int) -> int:
    """Replicas of topic ``t`` on ``broker``."""
    if spread.row[t] >= 0:
        return int(spread.table[spread.row[t], broker])
    held = 0
    for i in range(spread.start[t], spread.start[t + 1]):
        p = spread.members[i]
        for j in range(replicas.shape[1]):
            if replicas[p, j] == broker:
                held += 1
    return held


@inner_kernel
def excess_change(spread: TopicSpread, replicas: Ints, p: int, source: int, target: int) -> int:
    """Change of the excess when a replica of ``p`` goes from ``source`` to ``target``: -1, 0 or 1."""
    t = spread.topic[p]
    gained = 1 if held_of_topic(spread, replicas, t, target) >= spread.limit[t] else 0
    lost = 1 if held_of_topic(spread, replicas, t, source) > spread.limit[t] else 0
    return gained - lost
