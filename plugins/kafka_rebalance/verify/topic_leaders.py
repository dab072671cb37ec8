"""Does every broker that may lead lead as many partitions of each topic as were asked for? Counted topic by topic.

Of each topic that may be touched, the largest number of the rules that match it holds for every broker that stays,
may be given replicas and the lead, and may hold the topic; where the topic's led partitions are too few for that, as
many as there are for each.

Demands: a plan that is not infeasible has all of them. Whether one that is may stay: ``verdict_rules``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.verify.cluster import ClaimedMoves, ClusterArrays, Ints
from kafka_rebalance.verify.document import is_topic_allowed, may_be_on
from kafka_rebalance.verify.faults import FaultList

_CODE = "min_topic_leaders"
_JUDGED = ("rebalance", "nothing_to_do", "not_fixable_by_moving")


@dataclass(frozen=True, slots=True)
class TooFew:
    """A broker that leads ``led`` partitions of a topic where ``least`` are asked for."""

    topic: str
    broker: int
    led: int
    least: int


def too_few_leaders(cluster: ClusterArrays, parameters: PlanOptions, leader: Ints) -> TooFew | None:
    """The first of them under ``leader`` int32[P], None where nobody leads too few.

    O(topics · (rules + B) + P log P).
    """
    if not parameters.min_topic_leaders:
        return None
    order = np.argsort(cluster.topic, kind="stable")
    first = np.searchsorted(cluster.topic[order], np.arange(len(cluster.topic_names) + 1))
    for number, name in enumerate(cluster.topic_names):
        asked = [rule.leaders for rule in parameters.min_topic_leaders if re.fullmatch(rule.pattern, name)]
        if not asked or not is_topic_allowed(parameters, name):
            continue
        rows = order[first[number] : first[number + 1]]
        eligible = [
            b
            for b, broker in enumerate(cluster.brokers)
            if cluster.takes_leaders[b] and cluster.takes_replicas[b]
            and may_be_on(parameters, name, broker.id, broker.rack)
        ]  # fmt: skip
        if not eligible or not len(rows):
            continue
        least = min(max(asked), int((cluster.leader[rows] >= 0).sum()) // len(eligible))
        for b in eligible:
            led = int((leader[rows] == b).sum())
            if led < least:
                return TooFew(name, int(cluster.ids[b]), led, least)
    return None


def check_topic_leaders(
    document: dict[str, Any],
    claimed: ClaimedMoves,
    cluster: ClusterArrays,
    parameters: PlanOptions,
    faults: FaultList,
) -> None:
    """Judge a document of the right shape by ``parameters.min_topic_leaders``."""
    if document["verdict"] not in _JUDGED:
        return
    found = too_few_leaders(cluster, parameters, claimed.leader_after)
    if found is not None:
        text = f"broker {found.broker} leads {found.led} partitions of {found.topic[:60]}, {found.least} are asked for"
        faults.add(_CODE, "plan.after", text)
