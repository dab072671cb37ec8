"""One small cluster with one move: every part of its plan can be worked out by hand.

Brokers 0, 1, 2 hold 15, 10 and 5 GB: partitions of 6, 4 and 5 GB, two replicas each, all led by broker 0. The move
takes partition 1 (4 GB) from broker 0 to broker 2, its new leader: 11, 10 and 9 GB, leaders 2, 0 and 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.draft import Bands, Draft, Outcome, bands_of, draft_of, outcome_of
from kafka_rebalance.plans.request import PlanRequest, build_request
from kafka_rebalance.snapshot.model import ClusterSnapshot
from tests.unit.planner.sample_clusters import GB, brokers, cluster, row

ROWS = (row("t", 0, (0, 1), 6 * GB), row("t", 1, (0, 1), 4 * GB), row("t", 2, (0, 2), 5 * GB))
SNAPSHOT = cluster(ROWS, brokers(3))
MOVED = np.array([[0, 1], [2, 1], [0, 2]], dtype=np.int32)
MOVED_LEADERS = np.array([0, 2, 0], dtype=np.int32)


@dataclass(frozen=True, eq=False)
class Hand:
    """Inputs of a plan's parts."""

    plan_request: PlanRequest
    problem: Problem
    draft: Draft
    outcome: Outcome
    bands: Bands


def hand(options: PlanOptions | None = None, snapshot: ClusterSnapshot = SNAPSHOT) -> Hand:
    """The move on ``snapshot``; a band of a fifth where no options are given."""
    options = PlanOptions(within=0.2) if options is None else options
    plan_request = build_request(snapshot, options)
    problem = plan_request.problem(options.band)
    draft = draft_of(plan_request, MOVED, MOVED_LEADERS)
    return Hand(plan_request, problem, draft, outcome_of(plan_request, draft), bands_of(problem))
