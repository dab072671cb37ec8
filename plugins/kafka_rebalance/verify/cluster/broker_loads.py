"""What each broker carries under a placement (DESIGN §9), and what is derived from it: mean, skew, topic excess."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kafka_rebalance.snapshot.model import BrokerState, LogDir
from kafka_rebalance.snapshot.ranges import Capacity
from kafka_rebalance.verify.cluster.arrays import (
    CAPACITY_FIELDS,
    ClusterArrays,
    Flags,
    Floats,
    Ints,
)
from kafka_rebalance.verify.cluster.resource_weights import known_resources, weights_of

_UNKNOWN = Capacity()


def loads_of(cluster: ClusterArrays, placement: Ints, leader: Ints, own_bytes: Floats) -> dict[str, Floats]:
    """float64[B] of each resource that is known.

    ``placement`` int32[P, W'] broker indices or -1, ``leader`` int32[P], ``own_bytes`` float64[P, W'] the size of each
    replica (nan: as the leader's). What is unknown of one partition is not counted.
    """
    rf = (placement >= 0).sum(axis=1)
    result = {}
    for name in known_resources(cluster):
        per_replica, per_leader = weights_of(name, rf, cluster)
        weight = np.repeat(per_replica[:, None], placement.shape[1], axis=1)
        if name == "disk":
            weight = np.where(np.isnan(own_bytes), weight, own_bytes)
        result[name] = _spread(cluster, placement, weight) + _lead(cluster, leader, per_leader)
    return result


def capacities_of(
    cluster: ClusterArrays, wished: Mapping[int, Capacity], headroom: frozenset[str] = frozenset()
) -> dict[str, Floats | None]:
    """float64[B] of each resource, None where not every broker that stays has one: then all are taken as equal.

    Of potential_out it is that of out, where a ``headroom`` is asked of it: nobody is to lead all that it holds else.
    A capacity that was given goes before the snapshot's; disk falls back to the sum of the volumes of the log dirs. A
    broker that does not exist yet and of which nothing is said is taken as the mean of the others.
    """
    result: dict[str, Floats | None] = dict.fromkeys(known_resources(cluster))
    for resource, field in CAPACITY_FIELDS.items():
        if resource not in result or (resource == "potential_out" and resource not in headroom):
            continue
        values = np.full(len(cluster.ids), np.nan)
        for b, broker in enumerate(cluster.brokers):
            claimed = getattr(wished.get(broker.id, _UNKNOWN), field)
            if claimed is None:
                claimed = getattr(broker.capacity, field)
            if claimed is None and resource == "disk":
                claimed = _volumes(broker.log_dirs)
            values[b] = np.nan if claimed is None else claimed
        result[resource] = _filled(cluster, values)
    return result


def hard_limits(
    cluster: ClusterArrays, capacities: dict[str, Floats | None], before: dict[str, Floats]
) -> dict[str, Floats]:
    """float64[B]: what a broker can carry at all; inf where unknown.

    Of a disk Kafka can have what it holds already and what its volumes still offer: others may write to them too. What
    is no replica takes room of the capacity.
    """
    nothing = np.full(len(cluster.ids), np.inf)
    limits = {name: nothing if values is None else values for name, values in capacities.items()}
    if "disk" in limits:
        usable = [_volumes(broker.log_dirs, usable=True) for broker in cluster.brokers]
        offered = np.array([np.inf if free_bytes is None else free_bytes for free_bytes in usable])
        room = np.maximum(limits["disk"] - cluster.unplaced_bytes, 0.0)
        limits["disk"] = np.minimum(room, before["disk"] - cluster.unfinished_bytes + offered)
    return limits


def plain_mean(load: Floats, capacity: Floats | None, stays: Flags) -> float:
    """Load of the brokers that stay over the sum of their capacities."""
    total_capacity = float(stays.sum()) if capacity is None else float(capacity[stays].sum())
    return float(load[stays].sum()) / total_capacity if total_capacity > 0 else 0.0


def skew_of(load: Floats, capacity: Floats | None, stays: Flags) -> float:
    """Highest level over the plain mean; 0 where there is no load."""
    mean = plain_mean(load, capacity, stays)
    level = load if capacity is None else load / capacity
    return float(level[stays].max()) / mean if mean > 0 else 0.0


def topic_excess(cluster: ClusterArrays, placement: Ints) -> int:
    """Replicas of one topic on one broker above ⌈topic's replicas / brokers that stay⌉, summed."""
    row, column = np.nonzero(placement >= 0)
    if len(row) == 0:
        return 0
    topic = cluster.topic[row].astype(np.int64)
    pairs, count = np.unique(topic * len(cluster.ids) + placement[row, column], return_counts=True)
    replicas = np.bincount(topic)
    share = -(-replicas // max(int(cluster.stays.sum()), 1))
    return int(np.maximum(count - share[pairs // len(cluster.ids)], 0).sum())


def _spread(cluster: ClusterArrays, placement: Ints, weight: Floats) -> Floats:
    there = placement >= 0
    return np.bincount(placement[there], weights=weight[there], minlength=len(cluster.ids)).astype(np.float64)


def _lead(cluster: ClusterArrays, leader: Ints, weight: Floats) -> Floats:
    led = leader >= 0
    return np.bincount(leader[led], weights=weight[led], minlength=len(cluster.ids)).astype(np.float64)


def _volumes(log_dirs: tuple[LogDir, ...], *, usable: bool = False) -> float | None:
    """Total or usable bytes of the volumes under the log dirs: dirs that tell the same of both share one volume."""
    reported = {(log_dir.total_bytes, log_dir.usable_bytes) for log_dir in log_dirs}
    chosen = [pair[1] if usable else pair[0] for pair in reported]
    if not chosen or any(figure is None for figure in chosen):
        return None
    total = float(sum(figure for figure in chosen if figure is not None))
    return total if usable or total > 0 else None


def _filled(cluster: ClusterArrays, values: Floats) -> Floats | None:
    known = ~np.isnan(values)
    if not known.any():
        return None
    unasked = np.array([b.state is BrokerState.NEW or b.state.is_unheard for b in cluster.brokers], dtype=np.bool_)
    if (~known & cluster.stays & ~unasked).any():
        return None
    # One number for all who were not asked: those added or not heard, and those that leave and no longer count.
    return np.where(known, values, float(values[known].mean()))
