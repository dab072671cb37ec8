"""Per topic, each subscriber takes the next share of consecutive partitions. O(subscriptions + partitions).

With n partitions and k subscribers q = n // k, r = n % k: subscriber i gets partitions q·i + min(i, r) and the q (q + 1
for i < r) that follow. 7 partitions among 3: 0-2, 3-4, 5-6.
"""

from __future__ import annotations

import numpy as np

from kafka_assignors.arrays import ABSENT, Ints, Longs
from kafka_assignors.kernels import kernel


@kernel
def subscriber_counts(offsets: Longs, topics: Ints, topic_count: int, once: bool) -> Ints:  # noqa: FBT001
    """int32[T]; ``once``: a topic listed twice counts once."""
    counts = np.zeros(topic_count, np.int32)
    last = np.full(topic_count, -1, np.int32)
    for member in range(len(offsets) - 1):
        for at in range(offsets[member], offsets[member + 1]):
            topic = topics[at]
            if once and last[topic] == member:
                continue
            last[topic] = member
            counts[topic] += 1
    return counts


@kernel
def plain_ranges(
    order: Longs,
    offsets: Longs,
    topics: Ints,
    first_row: Longs,
    subscribers: Ints,
    once: bool,  # noqa: FBT001
) -> Ints:
    """Owners int32[P], members in ``order``."""
    topic_count = len(first_row) - 1
    owner = np.full(first_row[-1], ABSENT, np.int32)
    turn = np.zeros(topic_count, np.int32)
    last = np.full(topic_count, -1, np.int32)
    limit = np.empty(topic_count, np.int32)
    still_open = 0
    for topic in range(topic_count):
        limit[topic] = min(subscribers[topic], first_row[topic + 1] - first_row[topic])
        still_open += limit[topic] > 0
    for member in order:
        if still_open == 0:
            break
        for at in range(offsets[member], offsets[member + 1]):
            topic = topics[at]
            i = turn[topic]
            if i >= limit[topic] or (once and last[topic] == member):
                continue
            last[topic] = member
            turn[topic] = i + 1
            still_open -= i + 1 == limit[topic]
            n = first_row[topic + 1] - first_row[topic]
            share, extra = n // subscribers[topic], n % subscribers[topic]
            start = first_row[topic] + share * i + min(i, extra)
            for row in range(start, start + share + (i < extra)):
                owner[row] = member
    return owner
