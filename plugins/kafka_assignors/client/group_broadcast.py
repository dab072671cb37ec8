"""Seed article 001's GroupBroadcast: every member reads every partition of its topics. O(output).

Promise: completeness for each member. Members share offsets and the last commit wins: after a restart or rebalance
messages are read twice or never (``shared_offsets`` counts such partitions). A cooperative group refuses it. A topic
listed twice gives its partitions twice; one without metadata is a NullPointerException. Example: t with 2 partitions, u
with 1; c1 reads t, u, c2 reads t: c1 gets t-0 t-1 u-0, c2 t-0 t-1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_assignors.contract import Assignment, AssignmentRequest
from kafka_assignors.errors import AssignorError
from kafka_assignors.orders import member_walk, topic_walk


@dataclass(frozen=True, slots=True)
class GroupBroadcastAssignor:
    name: str = "broadcast"
    versions: str = "seed article 001"

    def assign(self, request: AssignmentRequest) -> Assignment:
        topics, members = request.topics, request.members
        listed = members.subscription_topics
        if (topics.partition_counts[listed] < 0).any():
            missing = topics.names[int(listed[topics.partition_counts[listed] < 0][0])]
            raise AssignorError("java.lang.NullPointerException", f"no metadata for the subscribed topic {missing!r}")
        # In the order of the map of topics, each as often as listed.
        walk = topic_walk(request, member_walk(request))
        position = np.full(len(topics), len(topics), np.int64)
        position[walk] = np.arange(len(walk))
        readers = np.repeat(np.arange(len(members)), np.diff(members.subscription_offsets))
        ordered = listed[np.lexsort((position[listed], readers))]
        counts = topics.partition_counts[ordered].astype(np.int64)
        ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        partitions = np.arange(ends[-1]) - np.repeat(ends[:-1], counts)
        return Assignment.of(
            ends[members.subscription_offsets], np.repeat(ordered, counts), partitions.astype(np.int32)
        )


def shared_offsets(request: AssignmentRequest, assignment: Assignment) -> int:
    """Partitions with more than one reader."""
    readers = np.repeat(np.arange(len(request.members)), assignment.counts)
    rows = request.topics.first_row[assignment.topics] + assignment.partitions
    pairs = np.unique(np.stack([rows, readers]), axis=1)
    return int((np.bincount(pairs[0].astype(np.int64), minlength=1) > 1).sum())
