from __future__ import annotations

import numpy as np

from kafka_assignors.arrays import Ints, Longs
from kafka_assignors.kernels import inner_kernel, kernel, wraps_around


@kernel
def subscribers_by_topic(
    order: Longs,
    offsets: Longs,
    topics: Ints,
    topic_count: int,
    once: bool,  # noqa: FBT001
) -> tuple[Longs, Ints]:
    """Starts int64[T+1] and members int32: subscribers of each topic, in ``order``.

    O(subscriptions). ``once``: a topic listed twice counts once.
    """
    starts = np.zeros(topic_count + 1, np.int64)
    last = np.full(topic_count, -1, np.int32)
    for member in order:
        for at in range(offsets[member], offsets[member + 1]):
            topic = topics[at]
            if not (once and last[topic] == member):
                last[topic] = member
                starts[topic + 1] += 1
    for topic in range(topic_count):
        starts[topic + 1] += starts[topic]
    fill = starts[:-1].copy()
    for topic in range(topic_count):
        last[topic] = -1
    members = np.empty(starts[-1], np.int32)
    for member in order:
        for at in range(offsets[member], offsets[member + 1]):
            topic = topics[at]
            if not (once and last[topic] == member):
                last[topic] = member
                members[fill[topic]] = member
                fill[topic] += 1
    return starts, members


@kernel
@wraps_around
def same_readers(starts: Longs, members: Ints) -> Ints:
    """int32[T]: first topic with exactly the same subscribers, or itself. O(T · distinct lists)."""
    topic_count = len(starts) - 1
    first = np.empty(topic_count, np.int32)
    heads = np.empty(topic_count, np.int32)
    marks = np.empty(topic_count, np.int64)
    distinct = 0
    for topic in range(topic_count):
        mark = starts[topic + 1] - starts[topic]
        for at in range(starts[topic], starts[topic + 1]):
            mark = mark * np.int64(6364136223846793005) + members[at] + 1
        first[topic] = topic
        for d in range(distinct):
            if marks[d] == mark and _equal(starts, members, heads[d], topic):
                first[topic] = heads[d]
                break
        if first[topic] == topic:
            heads[distinct] = topic
            marks[distinct] = mark
            distinct += 1
    return first


@inner_kernel
def _equal(starts: Longs, members: Ints, topic: int, other: int) -> bool:
    length = starts[topic + 1] - starts[topic]
    if length != starts[other + 1] - starts[other]:
        return False
    for i in range(length):  # noqa: SIM110 (numba knows no generators)
        if members[starts[topic] + i] != members[starts[other] + i]:
            return False
    return True
