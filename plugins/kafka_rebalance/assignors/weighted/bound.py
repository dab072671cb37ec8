"""What no assignment can beat: a lower bound on the heaviest member, and on what must move for a given maximum."""

from __future__ import annotations

import numpy as np

from kafka_rebalance.arrays import Flags, Floats, Ints
from kafka_rebalance.assignors.contract import AssignmentRequest

MAX_AUDIENCES = 512


def heaviest_member_bound(weights: Floats, topic_of: Ints, may_read: Flags) -> float:
    """Lower bound on the highest load of any complete assignment of the rows that somebody may read.

    Each term is proved in one line, and the largest holds:
    - some member reads the heaviest row;
    - the rows that only members of an audience A may read weigh s together, so some member of A reads s / size of A;
    - of the kn+1 heaviest rows some member reads k+1, which weigh at least the k+1 lightest of them.

    Example: weights [4, 3, 3, 2], 2 members: 12 / 2 = 6; heaviest 4; of the 3 heaviest one member reads two: 3 + 3 = 6.
    O(P log P + audiences² · members). Source: PLANNER §2.5.
    """
    readable: Flags = np.asarray(may_read.any(axis=0), dtype=np.bool_)
    rows = weights[readable[topic_of]] if len(topic_of) else weights
    if len(rows) == 0:
        return 0.0
    readers = int(may_read.any(axis=1).sum())
    return max(float(rows.max()), _pigeonhole(rows, readers), _audience_share(weights, topic_of, may_read))


def least_skew(request: AssignmentRequest, weights: Floats) -> float | None:
    """No complete assignment of ``request``, its partitions weighing ``weights`` float64[P], has a smaller skew.

    ``None`` where a weight is unknown, 0 where nothing weighs anything.
    """
    members, topics = request.members, request.topics
    if len(weights) == 0 or not len(members):
        return 0.0
    if np.isnan(weights).any():
        return None
    may_read = np.zeros((len(members), len(topics)), dtype=np.bool_)
    of_members = np.repeat(np.arange(len(members)), np.diff(members.subscription_offsets))
    may_read[of_members, members.subscription_topics] = True
    may_read[:, ~topics.has_metadata] = False
    topic_of = np.repeat(np.arange(len(topics), dtype=np.int32), np.maximum(topics.partition_counts, 0))
    readable: Flags = np.asarray(may_read.any(axis=0), dtype=np.bool_)
    total = float(weights[readable[topic_of]].sum())
    return heaviest_member_bound(weights, topic_of, may_read) * len(members) / total if total > 0 else 0.0


def _pigeonhole(rows: Floats, readers: int) -> float:
    heavy_first = np.sort(rows)[::-1]
    sums = np.concatenate((np.zeros(1), np.cumsum(heavy_first)))
    k = np.arange(1, (len(rows) - 1) // readers + 1)
    if len(k) == 0:
        return 0.0
    return float((sums[k * readers + 1] - sums[k * readers - k]).max())


def _audience_share(weights: Floats, topic_of: Ints, may_read: Flags) -> float:
    """Largest s / size of A over the audiences of topics, and over everybody."""
    by_topic = np.bincount(topic_of, weights=weights, minlength=may_read.shape[1])
    packed = np.packbits(may_read, axis=0).T
    sum_of: dict[bytes, float] = {}
    example: dict[bytes, int] = {}
    for topic, weight in enumerate(by_topic.tolist()):
        key = packed[topic].tobytes()
        sum_of[key] = sum_of.get(key, 0.0) + weight
        example.setdefault(key, topic)
    audiences = may_read[:, list(example.values())]
    sizes = audiences.sum(axis=0)
    sums = np.where(sizes == 0, 0.0, np.array(list(sum_of.values())))
    best = float(sums.sum()) / max(int(may_read.any(axis=1).sum()), 1)
    if 1 < len(sums) <= MAX_AUDIENCES:
        inside = (~audiences).astype(np.float32).T @ audiences.astype(np.float32) == 0  # [A, S]: S is part of A
        shares = (inside @ sums)[sizes > 0] / sizes[sizes > 0]
        best = max(best, float(shares.max(initial=0.0)))
    return best
