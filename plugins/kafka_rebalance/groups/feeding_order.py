"""In which order a group's members are put into the map that its strategy walks, as far as a reading tells it.

Kafka's strategies walk a Java HashMap of members; of two in one bin the one that was put first comes first.

- KIP-848: the coordinator fills it from its ``TimelineHashMap``, whose order follows from the ids.
- Classic, brokers up to 3.9: the leader fills it from JoinGroup's answer, which comes in the order of Scala's map.
- Classic, brokers from 4.0 on: JoinGroup's answer has the members of a bin as they joined, which no reading tells.
  They are taken in the order of the snapshot, that of their ids.

Of the tables the sizes for today's members are taken: one that held more members before may be larger.
"""

from __future__ import annotations

import numpy as np

from kafka_rebalance.arrays import Longs
from kafka_rebalance.coordinator.release import Coordinator, coordinator_of
from kafka_rebalance.coordinator.timeline_map import TimelineMap
from kafka_rebalance.releases import Release
from kafka_rebalance.scala.mutable_map import ScalaMutableMap
from kafka_rebalance.snapshot.model import Member


def feeding_order(members: tuple[Member, ...], release: Release, *, is_server: bool) -> Longs | None:
    """int64[M]: positions of ``members`` as they are put; None: as they stand. ``release``: of the brokers or ()."""
    ids = [member.id for member in members]
    if len(set(ids)) < len(ids):
        return None  # a dump may name two alike: no coordinator would
    if is_server:
        order = TimelineMap.settled(ids).order()
    elif release and coordinator_of(release) is Coordinator.SCALA:
        order = ScalaMutableMap.of(ids).order()
    else:
        return None
    place = {name: number for number, name in enumerate(ids)}
    return np.array([place[name] for name in order], dtype=np.int64)
