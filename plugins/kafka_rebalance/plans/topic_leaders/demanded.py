"""What ``--min-topic-leaders`` asks of which broker, from options and snapshot.

Of each topic that may be touched and that a rule's pattern matches, every eligible broker leads ``n`` partitions at
the least: the largest number of those rules. Eligible is who stays, may receive leadership and replicas, and may hold
the topic (``--topic-brokers``). Where the topic's led partitions are fewer than ``n`` for each, as many as there are
for each: led partitions over eligible brokers, rounded down. Example: ``t.*=2``, 5 partitions, 4 brokers: one each.

O(P + topics · (rules + B)).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import NOBODY, Flags, Ints, Longs
from kafka_rebalance.planner.topic_leaders.demand import LeaderDemand
from kafka_rebalance.plans.request import PlanRequest


@dataclass(frozen=True, slots=True, eq=False)
class TopicDemands:
    """T topics that something is asked of: ``topics`` int64[T] in the snapshot, ``asked`` and ``least`` int64[T]
    leaders on each of ``eligible`` bool[T, B]; ``least`` is below ``asked`` where there are too few.
    """

    topics: Longs
    asked: Longs
    least: Longs
    eligible: Flags

    @property
    def need(self) -> Longs:
        """int64[T, B]."""
        return np.asarray(self.least[:, None] * self.eligible)

    def of_rows(self, topic_of_row: Ints) -> LeaderDemand:
        """Of partitions whose topics are ``topic_of_row`` int32[P]."""
        number = np.full(int(max(topic_of_row.max(initial=0), self.topics.max(initial=0))) + 1, NOBODY, np.int32)
        number[self.topics] = np.arange(len(self.topics))
        return LeaderDemand(self.need, number[topic_of_row])


def topic_demands(plan_request: PlanRequest) -> TopicDemands:
    """Those of the options; no topic where nothing is asked."""
    options, arrays = plan_request.options, plan_request.brokers.arrays
    placement, names = plan_request.partitions.placement, [topic.name for topic in plan_request.snapshot.topics]
    open_to = arrays.takes_leaders & arrays.takes_replicas
    led = np.bincount(placement.topic[placement.leader != NOBODY], minlength=len(names))
    rows = []
    for number, name in enumerate(names if options.min_topic_leaders else ()):
        asked = max((rule.leaders for rule in options.min_topic_leaders if rule.covers(name)), default=0)
        if not asked or not options.is_topic_allowed(name):
            continue
        mine = [rule for rule in options.topic_brokers if rule.covers(name)]
        may = [all(rule.allows(broker.id, broker.rack) for rule in mine) for broker in plan_request.brokers.brokers]
        eligible = open_to & np.array(may, dtype=np.bool_)
        least = min(asked, int(led[number]) // max(int(eligible.sum()), 1))
        rows.append((number, asked, least, eligible))
    return TopicDemands(
        np.array([row[0] for row in rows], dtype=np.int64),
        np.array([row[1] for row in rows], dtype=np.int64),
        np.array([row[2] for row in rows], dtype=np.int64),
        np.array([row[3] for row in rows], dtype=np.bool_).reshape(len(rows), len(arrays.ids)),
    )
