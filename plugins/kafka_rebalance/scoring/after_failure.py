"""What each broker would carry if another one, or a whole rack, were lost.

Kafka's controller hands the leadership of a partition to the first replica of its list that is alive and in sync;
nothing else decides. So followers' loads stay where they are, and what a leader carries on top moves to its successor.
Example: broker 0 leads A [0, 1, 2] and B [0, 1, 2], each with an outgoing rate of 10 MB/s. Without broker 0 broker 1
sends 20 MB/s more; with B in the order [0, 2, 1] brokers 1 and 2 send 10 MB/s more each.

Complexity: O(P·W) for the successors of all brokers at once, then one sum over (lost, successor) pairs a resource.
"""

from __future__ import annotations

import numpy as np

from kafka_rebalance.arrays import NOBODY, Flags, Floats, Ints


def successors(replicas: Ints, is_able: Flags, leader: Ints, group: Ints) -> Ints:
    """int32[P]: who leads each partition once all brokers of its leader's ``group`` are lost; NOBODY where nobody can.

    ``replicas`` int32[P, W] in Kafka's order, padded with NOBODY; ``is_able`` bool[P, W]: alive and in sync; ``group``
    int32[B]: one number for the brokers that are lost together (each its own: single brokers), NOBODY: never lost.
    """
    able = is_able & (replicas != NOBODY) & (group[replicas] != group[leader][:, None])
    first = able.argmax(axis=1)
    found = able.any(axis=1) & (leader != NOBODY) & (group[leader] != NOBODY)
    return np.where(found, replicas[np.arange(len(replicas)), first], NOBODY).astype(np.int32)


def moved_loads(leader: Ints, successor: Ints, group: Ints, carried: Floats, groups: int) -> Floats:
    """float64[groups, B]: what each broker gets on top when a group is lost; ``carried`` float64[P] goes along."""
    moves = np.flatnonzero(successor != NOBODY)
    brokers = len(group)
    pair = group[leader[moves]].astype(np.int64) * brokers + successor[moves]
    sums = np.bincount(pair, weights=carried[moves], minlength=groups * brokers)
    return np.asarray(sums.reshape(groups, brokers), dtype=np.float64)


def left_leaderless(leader: Ints, successor: Ints, group: Ints, groups: int) -> Ints:
    """int32[groups]: partitions that nobody leads once a group is lost."""
    lost = (leader != NOBODY) & (successor == NOBODY) & (group[leader] != NOBODY)
    return np.bincount(group[leader[lost]], minlength=groups).astype(np.int32)
