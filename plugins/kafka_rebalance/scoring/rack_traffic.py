"""Bytes that go from one rack to another: what leaders send to followers, and what members fetch from leaders.

    replication of a partition = in-rate x followers in another rack than the leader's
    reads of a group           = in-rate of each partition whose reader is in another rack than its leader,
                                 of a group that keeps up; several readers of one partition share it alike

What producers send is not among them: nobody tells where they are. A partition whose rate, or a rack of whose brokers,
is unknown adds nothing and is counted; so is a group of whose members none says its rack.

Example: a partition of 10 bytes/s with its leader in a and followers in b and c replicates 20 bytes/s across racks; a
reader in b fetches 10 across, and none of it where brokers serve it in its rack (KIP-392), for a replica is there.
Complexity: O(R + assigned partitions).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import Floats, Longs
from kafka_rebalance.snapshot.load import LoadKind
from kafka_rebalance.snapshot.model import ClusterSnapshot, Group


@dataclass(frozen=True, slots=True)
class RackTraffic:
    """Bytes a second across racks.

    replication  of each topic; reads: of each group whose members say their racks
    reads_without_replica  what would be left of reads if brokers served each member in its own rack
    unknown_partitions     rate, leader or a rack unknown; unknown_groups: they read, and say no rack
    """

    replication: Mapping[str, float]
    reads: Mapping[str, float]
    reads_without_replica: Mapping[str, float]
    unknown_partitions: int
    unknown_groups: int


def rack_traffic(snapshot: ClusterSnapshot) -> RackTraffic:
    """Of a snapshot as it stands."""
    table, names = snapshot.partitions, [topic.name for topic in snapshot.topics]
    rack_of = racks_by_broker(snapshot)
    rate = snapshot.loads.values(LoadKind.IN_BYTES_PER_S, len(table))
    lists = np.split(table.replicas, table.offsets[1:-1]) if len(table) else []
    crossing = np.array(
        [followers_elsewhere(b, row.tolist(), rack_of) for b, row in zip(table.leader.tolist(), lists, strict=True)]
    )
    sent = rate * crossing if len(table) else np.zeros(0)
    by_topic = np.bincount(table.topic, weights=np.nan_to_num(sent), minlength=len(names))
    reads, left = {}, {}
    unknown_groups = 0
    for group in snapshot.groups:
        if not any(member.assigned for member in group.members):
            continue
        if not any(member.rack for member in group.members):
            unknown_groups += 1
            continue
        reads[group.id], left[group.id] = _reads(group, snapshot, rate, rack_of, lists)
    return RackTraffic(
        replication={name: float(by_topic[i]) for i, name in enumerate(names) if by_topic[i] > 0},
        reads=reads,
        reads_without_replica=left,
        unknown_partitions=int(np.isnan(sent).sum()),
        unknown_groups=unknown_groups,
    )


def racks_by_broker(snapshot: ClusterSnapshot) -> dict[int, str]:
    """By id, of brokers that say one."""
    return {broker.id: broker.rack for broker in snapshot.brokers if broker.rack}


def followers_elsewhere(leader: int | None, replicas: Sequence[int], rack_of: Mapping[int, str]) -> float:
    """Replicas in another rack than the leader's; ``nan`` where one of their racks, or the leader, is unknown."""
    racks = [rack_of.get(broker) for broker in replicas]
    here = None if leader is None else rack_of.get(leader)
    if here is None or None in racks:
        return float("nan")
    return float(sum(rack != here for rack in racks))


def _reads(
    group: Group, snapshot: ClusterSnapshot, rate: Floats, rack_of: Mapping[int, str], lists: Sequence[np.ndarray]
) -> tuple[float, float]:
    """What members fetch across racks, and what of it has no replica in the member's."""
    table = snapshot.partitions
    index = {topic.name: i for i, topic in enumerate(snapshot.topics)}
    readers: dict[int, list[str]] = {}
    for member in group.members:
        for topic, partitions in member.assigned:
            if topic in index:
                for row in _rows(table.topic, table.partition, index[topic], partitions):
                    readers.setdefault(row, []).append(member.rack or "")
    across, without = 0.0, 0.0
    for row, racks in readers.items():
        leader, part = rack_of.get(int(table.leader[row])), float(rate[row]) / len(racks)
        if leader is None or part != part:  # noqa: PLR0124  # nan: nobody measured it
            continue
        held = {rack_of.get(broker) for broker in lists[row].tolist()}
        across += part * sum(rack not in ("", leader) for rack in racks)
        without += part * sum(rack not in ("", leader) and rack not in held for rack in racks)
    return across, without


def _rows(topic: np.ndarray, partition: np.ndarray, number: int, wanted: Sequence[int]) -> list[int]:
    begin, end = np.searchsorted(topic, [number, number + 1]).tolist()
    place: Longs = begin + np.searchsorted(partition[begin:end], np.asarray(wanted))
    return [row for row, asked in zip(place.tolist(), wanted, strict=True) if row < end and partition[row] == asked]
