"""Bytes across racks, and the share that members can read in their rack.

    replication of a partition = in-rate x followers in another rack than the leader's
    reads of a group           = in-rate of each partition with its reader in another rack than its leader,
                                 of a group that keeps up; several readers of one partition share it alike
    same_rack_ratio            = share that is read by members with a replica in their rack
    leader_in_rack_ratio       = share that is read by members in the leader's rack

A leader whose broker selects replicas by rack (KIP-392) redirects a reader to a replica in its rack: no crossing.
Producers' racks are unknown and left out.
Example: 10 bytes/s, leader in a, followers in b and c: 20 bytes/s replicate across racks; a reader in b fetches 10
across, or 0 with a selector.

Ratios are of the bytes written a second, or of partitions if a rate is unknown or nothing is written. Members without a
rack are left out. O(R + changed + assigned partitions); O(P · RF) a kernel call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from kafka_assignors.arrays import ABSENT, Floats, Ints, Longs
from kafka_assignors.kernels import kernel
from kafka_rebalance.snapshot.figures import LoadKind
from kafka_rebalance.snapshot.model import Broker, ClusterSnapshot, Group

SELECTOR = "replica.selector.class"
BY_RACK = "RackAwareReplicaSelector"


@dataclass(frozen=True, slots=True)
class Placed:
    leader: int
    replicas: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PlacementChange:
    """Partitions placed elsewhere, by row, and added brokers."""

    placed: Mapping[int, Placed] = field(default_factory=dict)
    added_brokers: Mapping[int, str | None] = field(default_factory=dict)


NO_CHANGE = PlacementChange()


@dataclass(frozen=True, slots=True)
class RackTraffic:
    """Bytes/s across racks.

    replication  by topic
    reads        by group with a known member rack, with today's selectors; from leaders where unknown
    reads_without_replica  rest of reads if brokers serve each member in its rack
    read_by_known          of groups with all racks, rates and leaders known, one reader each
    unknown_partitions     rate, leader or a rack unknown
    unknown_groups         readers without any rack; ``unknown_members``: of groups where others have one
    is_selector_told       every leading broker reports whether it selects by rack
    is_selecting           all do, or none; None: they differ
    """

    replication: Mapping[str, float]
    reads: Mapping[str, float]
    reads_without_replica: Mapping[str, float]
    read_by_known: Mapping[str, float]
    unknown_partitions: int
    unknown_groups: int
    unknown_members: int
    is_selector_told: bool
    is_selecting: bool | None


def rack_traffic(snapshot: ClusterSnapshot, change: PlacementChange = NO_CHANGE) -> RackTraffic:
    table, names = snapshot.partitions, [topic.name for topic in snapshot.topics]
    places = _Places.of(snapshot, change)
    rate = snapshot.loads.values(LoadKind.IN_BYTES_PER_S, len(table))
    sent = rate * places.followers_elsewhere()
    by_topic = np.bincount(table.topic, weights=np.nan_to_num(sent), minlength=len(names))
    reading = [group for group in snapshot.groups if any(member.assigned for member in group.members)]
    with_racks = [group for group in reading if any(member.rack for member in group.members if member.assigned)]
    reads_of = {group.id: _reads(group, snapshot, rate, places) for group in with_racks}
    return RackTraffic(
        replication={name: float(by_topic[i]) for i, name in enumerate(names) if by_topic[i] > 0},
        reads={group: reads.across for group, reads in reads_of.items()},
        reads_without_replica={group: reads.without_replica for group, reads in reads_of.items()},
        read_by_known={group: reads.total for group, reads in reads_of.items() if reads.is_all_known},
        unknown_partitions=int(np.isnan(sent).sum()),
        unknown_groups=len(reading) - len(with_racks),
        unknown_members=sum(
            bool(member.assigned) and not member.rack for group in with_racks for member in group.members
        ),
        is_selector_told=all(broker.configs for broker in places.leading),
        is_selecting=places.is_selecting,
    )


def _is_by_rack(broker: Broker) -> bool:
    return broker.configs.get(SELECTOR, "").rpartition(".")[2] == BY_RACK


def followers_elsewhere(leader: int | None, replicas: Sequence[int], rack_of: Mapping[int, str]) -> float:
    racks = [rack_of.get(broker) for broker in replicas]
    here = None if leader is None else rack_of.get(leader)
    if here is None or None in racks:
        return float("nan")
    return float(sum(rack != here for rack in racks))


@dataclass(frozen=True, slots=True, eq=False)
class _Places:
    snapshot: ClusterSnapshot
    placed: Mapping[int, Placed]
    rack_of: Mapping[int, str]
    leading: tuple[Broker, ...]
    selecting: frozenset[int]

    @classmethod
    def of(cls, snapshot: ClusterSnapshot, change: PlacementChange) -> _Places:
        """Places; an added broker selects by rack if all leading ones do."""
        racks = {broker.id: broker.rack for broker in snapshot.brokers} | dict(change.added_brokers)
        ids = set(np.unique(snapshot.partitions.leader).tolist())
        leading = tuple(broker for broker in snapshot.brokers if broker.id in ids)
        selecting = {broker.id for broker in snapshot.brokers if _is_by_rack(broker)}
        if leading and all(broker.id in selecting for broker in leading):
            selecting |= set(change.added_brokers)
        rack_of = {broker: rack for broker, rack in racks.items() if rack}
        return cls(snapshot, change.placed, rack_of, leading, frozenset(selecting))

    @property
    def is_selecting(self) -> bool | None:
        values = {broker.id in self.selecting for broker in self.leading}
        return values.pop() if len(values) == 1 else None

    def row(self, row: int) -> Placed:
        if row in self.placed:
            return self.placed[row]
        table = self.snapshot.partitions
        return Placed(
            int(table.leader[row]), tuple(table.replicas[table.offsets[row] : table.offsets[row + 1]].tolist())
        )

    def followers_elsewhere(self) -> Floats:
        table = self.snapshot.partitions
        code_of = {rack: code for code, rack in enumerate(sorted(set(self.rack_of.values())))}
        brokers = sorted(self.rack_of)
        codes = np.array([code_of[self.rack_of[broker]] for broker in brokers], dtype=np.int64)

        def rack_codes(ids: np.ndarray) -> Longs:
            if not brokers:
                return np.full(len(ids), -1, dtype=np.int64)
            index = np.minimum(np.searchsorted(brokers, ids), len(brokers) - 1)
            rack_code: Longs = np.where(np.asarray(brokers)[index] == ids, codes[index], -1)
            return rack_code

        row_of = np.repeat(np.arange(len(table)), np.diff(table.offsets))
        here, there = rack_codes(table.leader), rack_codes(table.replicas)
        counts: Floats = np.bincount(row_of, weights=there != here[row_of], minlength=len(table)).astype(np.float64)
        counts[here < 0] = np.nan
        counts[row_of[there < 0]] = np.nan
        for row, placed in self.placed.items():
            counts[row] = followers_elsewhere(placed.leader, placed.replicas, self.rack_of)
        return counts


@dataclass(slots=True)
class _Reads:
    total: float = 0.0
    across: float = 0.0
    without_replica: float = 0.0
    is_all_known: bool = True


def _reads(group: Group, snapshot: ClusterSnapshot, rate: Floats, places: _Places) -> _Reads:
    reads = _Reads()
    for row, racks in _readers(group, snapshot).items():
        placed, part = places.row(row), float(rate[row]) / len(racks)
        leader = places.rack_of.get(placed.leader)
        reads.is_all_known &= len(racks) == 1 and "" not in racks and leader is not None and not np.isnan(part)
        if leader is None or np.isnan(part):
            continue
        held = {places.rack_of.get(broker) for broker in placed.replicas}
        elsewhere = part * sum(rack not in ("", leader) for rack in racks)
        unserved = part * sum(rack not in ("", leader) and rack not in held for rack in racks)
        reads.total += part * len(racks)
        reads.across += unserved if placed.leader in places.selecting else elsewhere
        reads.without_replica += unserved
    return reads


def _readers(group: Group, snapshot: ClusterSnapshot) -> dict[int, list[str]]:
    table, index = snapshot.partitions, {topic.name: i for i, topic in enumerate(snapshot.topics)}
    readers: dict[int, list[str]] = {}
    for member in group.members:
        for topic, partitions in member.assigned:
            if topic in index:
                for row in _rows(table.topic, table.partition, index[topic], partitions):
                    readers.setdefault(row, []).append(member.rack or "")
    return readers


def _rows(topic: np.ndarray, partition: np.ndarray, number: int, numbers: Sequence[int]) -> list[int]:
    begin, end = np.searchsorted(topic, [number, number + 1]).tolist()
    rows: Longs = begin + np.searchsorted(partition[begin:end], np.asarray(numbers))
    return [
        row
        for row, number_there in zip(rows.tolist(), numbers, strict=True)
        if row < end and partition[row] == number_there
    ]


NO_RACK = -1


@dataclass(frozen=True, slots=True, eq=False)
class RackCodes:
    """Racks as numbers. Replicas of p: ``offsets[p]`` to ``offsets[p + 1]``."""

    offsets: Longs
    of_replica: Ints
    of_leader: Ints | None
    of_member: Ints


@dataclass(frozen=True, slots=True)
class RackRatios:
    """``None``: no member with a rack reads, or leaders are unknown."""

    same_rack_ratio: float | None
    leader_in_rack_ratio: float | None


def rack_codes(
    offsets: Longs,
    racks: Sequence[str | None],
    leader_racks: Sequence[str | None],
    member_racks: Sequence[str | None],
) -> RackCodes:
    code_of: dict[str | None, int] = {None: NO_RACK, "": NO_RACK}
    for rack in member_racks:
        code_of.setdefault(rack, len(code_of))

    def codes(names: Sequence[str | None]) -> Ints:
        return np.array([code_of.get(name, NO_RACK) for name in names], dtype=np.int32)

    return RackCodes(offsets, codes(racks), codes(leader_racks) if leader_racks else None, codes(member_racks))


def rack_ratios(reader: Ints, codes: RackCodes, in_bytes_per_s: Floats) -> RackRatios:
    leaders = codes.of_replica[:0] if codes.of_leader is None else codes.of_leader
    same, led = read_in_rack(reader, codes.offsets, codes.of_replica, leaders, codes.of_member, in_bytes_per_s)
    if np.isnan(same):
        return RackRatios(None, None)
    return RackRatios(same, None if codes.of_leader is None else led)


@kernel
def read_in_rack(
    reader: Ints, offsets: Longs, of_replica: Ints, of_leader: Ints, of_member: Ints, in_bytes_per_s: Floats
) -> tuple[float, float]:
    """Both ratios, ``nan`` where no member with a rack reads; without ``of_leader`` its ratio is 0."""
    counted, same, led = 0, 0, 0
    rate, same_rate, led_rate = 0.0, 0.0, 0.0
    for row in range(len(reader)):
        rack = NO_RACK if reader[row] == ABSENT else of_member[reader[row]]
        if rack == NO_RACK or offsets[row] == offsets[row + 1]:
            continue
        counted += 1
        rate += in_bytes_per_s[row]
        for replica in range(offsets[row], offsets[row + 1]):
            if of_replica[replica] == rack:
                same += 1
                same_rate += in_bytes_per_s[row]
                break
        if len(of_leader) and of_leader[row] == rack:
            led += 1
            led_rate += in_bytes_per_s[row]
    if counted == 0:
        return np.nan, np.nan
    if rate > 0:  # false for nan
        return same_rate / rate, led_rate / rate
    return same / counted, led / counted
