"""Why a move is made that a topic's leaders rest on: which broker leads too few partitions without it."""

from __future__ import annotations

import numpy as np

from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.plans.draft import Draft, in_problem_rows
from kafka_rebalance.plans.explain.moves import MoveFacts
from kafka_rebalance.plans.request import PlanRequest
from kafka_rebalance.plans.topic_leaders.keep import topic_demands


def explain_topic_leaders(plan_request: PlanRequest, problem: Problem, draft: Draft, why: MoveFacts) -> None:
    """Overwrite the facts of moves without which a broker leads too few partitions of a topic. O(P + M)."""
    if not plan_request.options.min_topic_leaders or not len(draft):
        return
    demands = topic_demands(plan_request)
    demand = demands.of_rows(problem.topic)
    _, leader = in_problem_rows(draft, problem.replicas, problem.leader)
    led = demand.led(leader)
    for move in np.flatnonzero(draft.changes_leader).tolist():
        topic, broker = int(demand.of_partition[draft.problem_row[move]]), int(draft.leader_to[move])
        if topic < 0 or not 0 < led[topic, broker] <= demand.need[topic, broker]:
            continue
        least = int(demands.least[topic])
        of = {
            "broker": int(plan_request.brokers.arrays.ids[broker]),
            "topic": plan_request.snapshot.topics[int(demands.topics[topic])].name,
            "wanted": least,
        }
        why.reasons[move] = fact(FactCode.HAS_TOPIC_LEADERS, **of)
        why.worse_without[move] = fact(FactCode.LEADS_TOO_FEW, **of, leaders=least - 1)
