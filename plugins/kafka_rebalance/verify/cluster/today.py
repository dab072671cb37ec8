"""What today's placement breaks by itself: without a broken hard rule staying put is always possible."""

from __future__ import annotations

import numpy as np

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.verify.cluster.arrays import ClusterArrays, Flags
from kafka_rebalance.verify.cluster.broker_loads import hard_limits
from kafka_rebalance.verify.cluster.caps import cap_of
from kafka_rebalance.verify.cluster.outcomes import SLACK, Levels
from kafka_rebalance.verify.cluster.rack_spread import distinct_racks
from kafka_rebalance.verify.cluster.resource_bands import wanted_rf
from kafka_rebalance.verify.cluster.resource_weights import weights_of


def must_change(cluster: ClusterArrays, parameters: PlanOptions) -> bool:
    """Some replica or leader cannot stay where it is, or a replication factor or a rack rule asks for another set."""
    free = ~cluster.left_alone
    if (free & (~cluster.keeps_leaders[cluster.leader] | ~cluster.keeps_leaders[cluster.preferred])).any():
        return True
    return parameters.moves_replicas and _must_move(cluster, parameters, free)


def waits_for_sync(cluster: ClusterArrays, parameters: PlanOptions) -> bool:
    """Something has to move, and its partition waits for a replica that is out of sync."""
    return parameters.moves_replicas and _must_move(cluster, parameters, cluster.waiting)


def waits_for_reassignment(cluster: ClusterArrays, parameters: PlanOptions) -> bool:
    """A running reassignment ends with a replica on a broker that is gone or has to be empty."""
    stuck = (cluster.now >= 0) & ~cluster.stays[cluster.now] & cluster.in_flight[:, None]
    return parameters.moves_replicas and bool(stuck.any())


def _must_move(cluster: ClusterArrays, parameters: PlanOptions, free: Flags) -> bool:
    there = (cluster.now >= 0) & free[:, None]
    if (there & (~cluster.stays[cluster.now] | cluster.must_leave)).any():
        return True
    count = (cluster.now >= 0).sum(axis=1)
    rf = count if parameters.replication_factor is None else np.full(len(count), parameters.replication_factor)
    open_racks = len(np.unique(cluster.rack[cluster.takes_replicas]))
    shares = distinct_racks(cluster, cluster.now) < np.minimum(rf, open_racks)
    return bool((free & ((count != rf) | shares)).any())


def _asks_beyond_its_budget(cluster: ClusterArrays, parameters: PlanOptions) -> bool:
    """An election that a limit on leader changes cuts short, or a limit on bytes where sizes are not known."""
    off = ~cluster.left_alone & (cluster.leader != cluster.now[:, 0])
    if parameters.preferred_election and parameters.max_leader_changes is not None and bool(off.any()):
        return int(off.sum()) > parameters.max_leader_changes
    return parameters.max_move_bytes is not None and bool(np.isnan(cluster.size).any())


def is_above_a_cap(cluster: ClusterArrays, parameters: PlanOptions, levels: Levels) -> bool:
    """Some broker that stays carries more than its cap today."""
    for name, load in levels.before.items():
        cap = cap_of(name, levels.capacity.get(name), len(cluster.ids), parameters)
        if cap is not None and (cluster.stays & (load > cap * (1 + SLACK))).any():
            return True
    return False


def breaks_a_hard_rule(cluster: ClusterArrays, parameters: PlanOptions, levels: Levels) -> bool:
    """Staying put is not lawful: only then can a job be infeasible."""
    there = cluster.now >= 0
    on_leaving = (there & ~cluster.stays[cluster.now]).any()
    if on_leaving or must_change(cluster, parameters) or _asks_beyond_its_budget(cluster, parameters):
        return True
    if is_above_a_cap(cluster, parameters, levels):
        return True
    limits = hard_limits(cluster, levels.capacity, levels.before)
    for name, limit in limits.items():
        rf = wanted_rf(cluster, parameters)
        per_replica, per_leader = weights_of(name, rf, cluster)
        total_capacity = float(limit[cluster.stays].sum())
        if (cluster.stays & (levels.before[name] > limit * (1 + SLACK))).any():
            return True
        if float((per_replica * rf).sum() + per_leader.sum()) > total_capacity * (1 - SLACK):
            return True
        cap = cap_of(name, levels.capacity.get(name), len(cluster.ids), parameters)
        if cap is None:
            continue
        if float((per_replica * rf).sum() + per_leader.sum()) > float(cap[cluster.stays].sum()) * (1 - SLACK):
            return True
    return False
