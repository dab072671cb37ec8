"""Checks of new topics' placements, from the snapshot alone: Kafka's rules, disk room, loads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.snapshot.codec import snapshot_id
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.verify.cluster import ClusterArrays, cluster_arrays
from kafka_rebalance.verify.document import read_parameters
from kafka_rebalance.verify.faults import FaultList
from kafka_rebalance.verify.loads import hard_limits, limits_of, loads_of

_ROUNDING = 1e-6
_PARAMETERS = ("exclude_brokers", "capacities")


def check_new_topics(document: Mapping[str, Any], snapshot: ClusterSnapshot) -> list[str]:
    faults = FaultList()
    options = {name: document[name] for name in _PARAMETERS}
    parameters = read_parameters(PlanOptions(moves_per_broker=1).document() | options, faults)
    if parameters is None:
        return [str(fault) for fault in faults.faults]
    cluster = cluster_arrays(snapshot, parameters)
    wrong = [] if document["snapshot_id"] == snapshot_id(snapshot) else ["snapshot_id: is of another reading"]
    names = [topic["topic"] for topic in document["topics"]]
    existing = {topic.name for topic in snapshot.topics}
    wrong += [
        f"{name}: is in the cluster, or stands twice" for name in names if name in existing or names.count(name) > 1
    ]
    for topic in document["topics"]:
        wrong += _wrong_places(topic, cluster)
    return wrong or _wrong_loads(document, cluster, parameters)


def _wrong_places(topic: Mapping[str, Any], cluster: ClusterArrays) -> list[str]:
    name, factor, index = topic["topic"], topic["replication_factor"], cluster.index_of
    wrong = [] if len(topic["assignment"]) == topic["partitions"] else [f"{name}: not every partition has a place"]
    takes = cluster.takes_replicas
    racks_open = len(np.unique(cluster.rack[takes]))
    for p, replicas in enumerate(topic["assignment"]):
        if len(replicas) != factor or len(set(replicas)) != factor or not index.keys() >= set(replicas):
            wrong.append(f"{name}-{p}: {replicas} are not {factor} brokers of the cluster")
            continue
        at = [index[broker] for broker in replicas]
        if not takes[at].all() or not cluster.takes_leaders[at[0]]:
            wrong.append(f"{name}-{p}: one of {replicas} takes no replicas, or the first no leaders")
        racks = Counter(cluster.rack[at].tolist())
        if len(racks) < min(factor, racks_open):
            wrong.append(f"{name}-{p}: on {len(racks)} racks, there could be {min(factor, racks_open)}")
    return wrong


def _wrong_loads(document: Mapping[str, Any], cluster: ClusterArrays, parameters: PlanOptions) -> list[str]:
    today = loads_of(cluster, cluster.now, cluster.leader, cluster.own_bytes)
    limits = hard_limits(cluster, limits_of(cluster, parameters.capacities), today)
    wrong = []
    for name, before in document["before"].items():
        after = today[name].copy()
        for topic in document["topics"]:
            _add(after, name, topic, cluster.index_of)
        for field, loads in (("before", today[name]), ("after", after)):
            claimed = document[field].get(name, {})
            for b, broker in enumerate(cluster.ids.tolist()):
                value = claimed.get(str(broker))
                if value is None or abs(value - loads[b]) > _ROUNDING * max(1.0, abs(float(loads[b]))):
                    wrong.append(f"{field}.{name}: broker {broker} carries {loads[b]:g}, it says {value}")
        over = after > np.maximum(limits.get(name, np.full(len(after), np.inf)), today[name]) * (1 + _ROUNDING)
        if name == "disk" and over.any():
            wrong.append(f"disk: broker {cluster.ids[over.argmax()]} would be above what it can hold")
        if len(before) != len(cluster.ids):
            wrong.append(f"before.{name}: tells of other brokers")
    return wrong


def _add(loads: Any, name: str, topic: Mapping[str, Any], index: Mapping[int, int]) -> None:
    rate = (topic["in_bytes_per_s"] or 0) / topic["partitions"]
    size = (topic["log_bytes"] or 0) / topic["partitions"]
    copied = rate * (topic["replication_factor"] - 1)
    per_replica = {"replicas": 1, "disk": size, "in": rate}.get(name, 0)
    per_leader = {"leaders": 1, "out": copied}.get(name, 0)
    for replicas in topic["assignment"]:
        for broker in replicas:
            loads[index[broker]] += per_replica
        loads[index[replicas[0]]] += per_leader
