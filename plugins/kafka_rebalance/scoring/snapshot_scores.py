"""What each broker, rack and resource of a snapshot carries today, against its mean and its fair share.

The loads, capacities and fair shares are the planner's own, so that a plan's "before" and these scores are the same
numbers; ``scoring`` has the definitions.
"""

from __future__ import annotations

import numpy as np

from kafka_rebalance.arrays import Floats
from kafka_rebalance.cluster_arrays.bands import fair_shares
from kafka_rebalance.cluster_arrays.problem import Problem, broker_loads
from kafka_rebalance.cluster_arrays.snapshot_arrays import Wanted, assemble, build_broker_arrays, build_partition_arrays
from kafka_rebalance.facts import Fact
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.resources import ONLY_LEADERS, REPLICA_CARRIED, RESOURCES, TABLE
from kafka_rebalance.scoring.placement_scores import BrokerLoads, ClusterScores, scores_of
from kafka_rebalance.snapshot.model import ClusterSnapshot


def score_cluster(snapshot: ClusterSnapshot) -> ClusterScores:
    """Scores of all brokers, racks and resources of ``snapshot`` as it stands. O(replicas + brokers²)."""
    options = PlanOptions()
    brokers = build_broker_arrays(snapshot, options)
    partitions = build_partition_arrays(snapshot, brokers, options)
    if not brokers.brokers:
        return ClusterScores((), (), (), dict(partitions.left_out))
    problem = assemble(brokers.arrays, partitions.placement, Wanted(within=None, resources=RESOURCES))
    known = {
        row.name: 1 - float(np.isnan(snapshot.load(row.load)).mean())
        for row in TABLE
        if row.load is not None and len(partitions.size)
    }
    loads = BrokerLoads(
        broker_ids=problem.broker_ids,
        rack=tuple(broker.rack for broker in brokers.brokers),
        stays=problem.stays,
        resources=problem.resources,
        load=broker_loads(problem, problem.replicas, problem.leader),
        capacity=problem.capacity,
        has_capacity=np.array([name in brokers.arrays.capacity for name in problem.resources], dtype=np.bool_),
        fair_share=_fair_shares(problem),
        sources=partitions.sources,
        known_shares=known,
    )
    return scores_of(loads, partitions.left_out)


def resources_left_out(snapshot: ClusterSnapshot) -> dict[str, Fact]:
    """Resources that ``score_cluster`` has no scores of, and why. O(partitions)."""
    options = PlanOptions()
    return dict(build_partition_arrays(snapshot, build_broker_arrays(snapshot, options), options).left_out)


def _fair_shares(problem: Problem) -> Floats:
    """float64[B, D] as load; ``nan`` for brokers that leave, and for what a broker that may not lead cannot carry."""
    may_lead = problem.keeps_leaders | problem.takes_leaders
    only_leaders = np.array([name in ONLY_LEADERS for name in problem.resources], dtype=np.bool_)
    may_carry = problem.stays[:, None] & (may_lead[:, None] | ~only_leaders[None, :])
    shares = fair_shares(
        rack=problem.rack,
        capacity=problem.capacity,
        may_carry=may_carry,
        may_lead=may_lead,
        target_rf=problem.target_rf,
        follower_load=problem.follower_load,
        leader_extra=problem.leader_extra,
    )
    if not may_lead[problem.stays].all():
        # Of what both carry a follower's share and a leader's differ: the planner's band knows, one mean does not.
        of_both = [name not in REPLICA_CARRIED and name not in ONLY_LEADERS for name in problem.resources]
        may_carry = may_carry & ~np.array(of_both, dtype=np.bool_)[None, :]
    return np.where(may_carry, shares, np.nan)
