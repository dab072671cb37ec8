"""Why a move is made that a topic's leaders rest on: who would lead too few without it."""

from __future__ import annotations

import numpy as np

from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.plans.draft import Draft, in_problem_rows
from kafka_rebalance.plans.request import PlanRequest
from kafka_rebalance.plans.topic_leaders.keep import topic_demands


def with_leader_texts(
    plan_request: PlanRequest, problem: Problem, draft: Draft, texts: tuple[list[str], list[str]]
) -> None:
    """Overwrite the reasons and consequences of moves that make a broker lead no more than it has to. O(P + M)."""
    if not plan_request.options.min_topic_leaders or not len(draft):
        return
    reasons, worse_without = texts
    demands = topic_demands(plan_request)
    demand = demands.of_rows(problem.topic)
    _, leader = in_problem_rows(draft, problem.replicas, problem.leader)
    led = demand.led(leader)
    for move in np.flatnonzero(draft.changes_leader).tolist():
        topic, broker = int(demand.of_partition[draft.problem_row[move]]), int(draft.leader_to[move])
        if topic < 0 or not 0 < led[topic, broker] <= demand.need[topic, broker]:
            continue
        name, least = plan_request.snapshot.topics[int(demands.topics[topic])].name, int(demands.least[topic])
        number = int(plan_request.brokers.arrays.ids[broker])
        reasons[move] = f"broker {number} leads {least:,} partitions of {name}, as was asked for"
        worse_without[move] = f"broker {number} would lead {least - 1:,} partitions of {name}, {least:,} are asked for"
