"""Groups for scenarios, written as people would say them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kafka_rebalance.groups.group_input import GroupInput
from kafka_rebalance.groups.scenarios import GroupState
from kafka_rebalance.scoring.assignment_scores import PartitionRates
from kafka_rebalance.snapshot.model import Group, Member


def state(members: Sequence[Member], counts: Mapping[str, int], protocol: str = "range") -> GroupState:
    """``counts``: topic → partitions, sorted. Partition number i (from 0 on) is written with i + 1 bytes/s."""
    total = sum(max(count, 0) for count in counts.values())
    rates = PartitionRates(np.arange(1.0, total + 1), np.full(total, 10.0), np.full(total, 100.0), np.full(total, 7.0))
    group = Group("g", protocol=protocol, state="Stable", members=tuple(members))
    topics = tuple(counts)
    given = GroupInput(group, topics, np.array([counts[topic] for topic in topics], np.int32), rates)
    return GroupState(
        given, tuple(tuple(topics.index(name) for name in member.subscription or ()) for member in members)
    )


def reading(name: str, *topics: str, **said: str) -> Member:
    """A member that subscribes to these."""
    return Member(name, subscription=topics, **said)  # type: ignore[arg-type]
