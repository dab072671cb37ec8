"""Clusters in trouble, and a slow judge of plans for them that knows Kafka's rules and nothing of the planner.

Replicas lag, brokers are dead or were not heard, leaders are not the first of their lists, reassignments run or are
stuck, ``min.insync.replicas`` goes from 1 to the replication factor, some brokers have no rack.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.snapshot.model import BrokerState, ClusterSnapshot
from kafka_rebalance.snapshot.partition_table import Partition
from tests.unit.planner.sample_clusters import GB, brokers, cluster

OPTIONS = ("plain", "plain", "remove", "fewer", "more", "demote", "leaders", "elect", "exclude", "budget", "add")
_OUT = (
    BrokerState.DEAD, BrokerState.UNRESPONSIVE, BrokerState.SILENT, BrokerState.REFUSED, BrokerState.FENCED,
)  # fmt: skip


def unhealthy_cluster(seed: int) -> tuple[ClusterSnapshot, PlanOptions]:
    """3 to 7 brokers, 4 to 20 partitions of up to 4 replicas, and the options."""
    draw = np.random.default_rng(seed)
    count = int(draw.integers(3, 8))
    states = dict.fromkeys(range(count), BrokerState.ALIVE)
    for number in draw.permutation(count)[: int(draw.integers(0, 3))].tolist()[: count - 2]:
        states[number] = _OUT[int(draw.integers(0, len(_OUT)))]
    alive = [number for number, state in states.items() if state is BrokerState.ALIVE]
    rows = [_partition(draw, p, count, alive) for p in range(int(draw.integers(4, 21)))]
    known = brokers(count, int(draw.choice([0, 2, 3])))
    if draw.random() < 0.2:
        known = [replace(broker, rack=None) if draw.random() < 0.4 else broker for broker in known]
    snapshot = cluster(rows, [replace(broker, state=states[broker.id]) for broker in known])
    topics = tuple(
        replace(topic, configs={"min.insync.replicas": str(int(draw.integers(1, 4)))}) for topic in snapshot.topics
    )
    return replace(snapshot, topics=topics), _options(draw, count, alive)


def _partition(draw: np.random.Generator, p: int, count: int, alive: list[int]) -> Partition:
    factor = int(draw.integers(1, min(count, 4) + 1))
    replicas = draw.permutation(count)[:factor].tolist()
    there = [broker for broker in replicas if broker in alive]
    in_sync = [broker for broker in there if draw.random() < 0.8] or there[:1]
    size = int(GB * draw.lognormal(0, 0.7)) + 1
    shape: dict[str, Any] = {"leader": None, "isr": tuple(replicas[:1])}  # no leader: the last ISR known
    if in_sync:
        leader = in_sync[0] if draw.random() < 0.7 else in_sync[int(draw.integers(0, len(in_sync)))]
        shape = {"leader": leader, "isr": tuple(in_sync)}
    free = [broker for broker in range(count) if broker not in replicas]
    if in_sync and free and draw.random() < 0.08:  # runs, or is stuck where its broker is out of service
        coming = free[int(draw.integers(0, len(free)))]
        replicas, shape["adding"] = [*replicas, coming], (coming,)
    return Partition(
        topic=f"t{p % 3}", partition=p, replicas=tuple(replicas), log_bytes=(size,) * len(replicas), **shape
    )


def _options(draw: np.random.Generator, count: int, alive: list[int]) -> PlanOptions:
    first = frozenset({alive[int(draw.integers(0, len(alive)))]})
    changes: dict[str, dict[str, Any]] = {
        "remove": {"remove_brokers": first},
        "fewer": {"replication_factor": int(draw.integers(1, 3))},
        "more": {"replication_factor": int(draw.integers(2, 4))},
        "demote": {"demote_brokers": first},
        "leaders": {"leaders_only": True},
        "elect": {"preferred_election": True},
        "exclude": {"exclude_topics": ("t0",)},
        "budget": {"max_leader_changes": int(draw.integers(0, 4)), "max_moves": int(draw.integers(0, 5))},
        "add": {"add_brokers": {count: None}},
    }
    return PlanOptions(with_frontier=False) if (name := OPTIONS[int(draw.integers(0, len(OPTIONS)))]) == "plain" else (
        PlanOptions(with_frontier=False, **changes[name])
    )  # fmt: skip


def faults_of(document: dict[str, Any], snapshot: ClusterSnapshot, options: PlanOptions) -> list[str]:
    """What Kafka or its operator would hold against the plan, one sentence each."""
    faults: list[str] = []
    heard = {broker.id for broker in snapshot.brokers if broker.state.is_responsive} | options.add_brokers.keys()
    by_name = {(row.topic, row.partition): row for row in snapshot.each_partition()}
    for move in document["moves"]:
        row = by_name[move["topic"], move["partition"]]
        name, in_sync = f"{row.topic}-{row.partition}", set(row.isr or ())
        was, will_be = set(move["from"]), set(move["to"])
        lagging = was - in_sync
        if row.adding or row.removing:
            faults.append(f"{name} moves while it is being reassigned")
        if row.leader is None:
            faults.append(f"{name} moves without a leader to copy from")
        if was != will_be and will_be & lagging:
            faults.append(f"{name}: {move['to']} waits for {sorted(will_be & lagging)}, out of sync in {move['from']}")
        if (was - will_be) & in_sync and will_be & lagging:
            faults.append(f"{name}: {move['to']} drops a replica in sync and keeps one that lags")
        if move["leader_to"] in lagging or move["to"][0] in lagging:
            faults.append(f"{name}: {move['leader_to']} leads from outside the ISR {sorted(in_sync)}")
        if move["leader_to"] != move["to"][0]:
            faults.append(f"{name}: {move['leader_to']} leads, {move['to'][0]} is preferred")
        if gone := (will_be - was) - heard:
            faults.append(f"{name}: gives {sorted(gone)} a replica, which the reading did not hear")
        if move["leader_to"] != move["leader_from"] and move["leader_to"] not in heard:
            faults.append(f"{name}: gives {move['leader_to']} the lead, which the reading did not hear")
    if not any(set(move["from"]) != set(move["to"]) for move in document["moves"]):
        faults += _preferred_faults(document, snapshot, options)
    return faults


def _preferred_faults(document: dict[str, Any], snapshot: ClusterSnapshot, options: PlanOptions) -> list[str]:
    """Of a plan that moves no replica: first replicas of lists less even than they were, and nothing asks for it."""
    if options.demote_brokers or options.preferred_election:
        return []
    stays = [broker.id for broker in snapshot.brokers if not broker.state.is_gone]
    first = {  # where the first is gone for good, the present leader
        (row.topic, row.partition): row.replicas[0] if row.replicas[0] in stays else row.leader
        for row in snapshot.each_partition()
    }
    was = Counter(first.values())
    will_be = Counter((first | {(m["topic"], m["partition"]): m["to"][0] for m in document["moves"]}).values())
    spread = [max(count[b] for b in stays) - min(count[b] for b in stays) for count in (was, will_be)]
    if spread[1] > max(spread[0], 1):
        return [f"first replicas were {spread[0]} apart, {spread[1]} afterwards"]
    return []
