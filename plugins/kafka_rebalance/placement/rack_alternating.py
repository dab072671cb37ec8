"""AdminUtils: how ZooKeeper clusters placed replicas, and ``--generate`` until 4.0 (class removed in 4.1, KAFKA-18798).

Promises, in this order: no broker twice in a partition; with racks, as many different racks as there can be; leaders
round robin over the brokers, followers shifted, the shift growing by one each time all brokers led once.

Without racks the brokers stand in the given order (topic creation sorts them by id). With racks they alternate: racks
by name, brokers by id in each, one of each rack in turn. Partition p starts at (p + start) mod n; replica j stands
1 + (shift + j) mod (n − 1) behind it; with racks, candidates whose rack has a replica are passed over while another
rack has none.

Example: brokers 0–4 from index 0: partition 0 → [0, 1, 2], 1 → [1, 2, 3], …, 5 → [0, 2, 3] (shift 1).

``fixed_start_index`` sets both start and shift; else both are drawn, in this order. Partitions added to a topic
(ZooKeeper) continue: see ``place_added_partitions``. Complexity: O(n · rf), with racks times brokers passed over.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kafka_rebalance.arrays import Ints
from kafka_rebalance.java.seeded_random import State, next_int
from kafka_rebalance.java.strings import compare_key
from kafka_rebalance.kernels.decorators import inner_kernel, kernel
from kafka_rebalance.placement.brokers import (
    ADMIN_OPERATION,
    INVALID_PARTITIONS,
    INVALID_REPLICATION_FACTOR,
    PlacementBroker,
    PlacementError,
)

DRAWN = -1


def place_alternating(
    brokers: Sequence[PlacementBroker],
    partitions: int,
    replication_factor: int,
    random: State,
    *,
    fixed_start_index: int = DRAWN,
    start_partition: int = DRAWN,
) -> Ints:
    """int32[partitions, replication_factor]: row i is partition max(0, start_partition) + i, preferred leader first.

    Raises PlacementError: InvalidPartitions, InvalidReplicationFactor, and AdminOperation when some brokers have racks
    and others have not.
    """
    _refuse(brokers, partitions, replication_factor)
    has_racks = any(broker.rack is not None for broker in brokers)
    if has_racks and any(broker.rack is None for broker in brokers):
        raise PlacementError(
            ADMIN_OPERATION, "Not all brokers have rack information for replica rack aware assignment."
        )
    ids = rack_alternated(brokers) if has_racks else [broker.id for broker in brokers]
    rack_of = {broker.id: broker.rack for broker in brokers}
    names = {rack: i for i, rack in enumerate(dict.fromkeys(rack_of.values()))}
    racks = np.array([names[rack_of[broker]] for broker in ids], np.int32)
    start = fixed_start_index if fixed_start_index >= 0 else int(next_int(random, len(ids)))
    shift = fixed_start_index if fixed_start_index >= 0 else int(next_int(random, len(ids)))
    first = max(0, start_partition)
    places: Ints = (
        _rack_aware(partitions, replication_factor, racks, len(names), start, shift, first)
        if has_racks
        else _rack_unaware(partitions, replication_factor, len(ids), start, shift, first)
    )
    return np.array(ids, np.int32)[places]


def place_added_partitions(
    brokers: Sequence[PlacementBroker], added: int, first_replicas: Sequence[int], existing: int, random: State
) -> Ints:
    """What a ZooKeeper cluster did when a topic of ``existing`` partitions got ``added`` more.

    ``first_replicas``: replicas of partition 0. The start is the first broker whose id is at least its leader's.
    """
    ids = [broker.id for broker in brokers]
    start = max(0, next((i for i, broker in enumerate(ids) if broker >= first_replicas[0]), -1))
    return place_alternating(
        brokers, added, len(first_replicas), random, fixed_start_index=start, start_partition=existing
    )


def rack_alternated(brokers: Sequence[PlacementBroker]) -> list[int]:
    """Broker ids: racks by name, brokers by id in each, one of each rack in turn, passing over exhausted racks."""
    by_rack: dict[str, list[int]] = {}
    for broker in sorted(brokers, key=lambda broker: broker.id):
        by_rack.setdefault(broker.rack or "", []).append(broker.id)
    racks = [by_rack[rack] for rack in sorted(by_rack, key=compare_key)]
    longest = max(map(len, racks), default=0)
    return [rack[i] for i in range(longest) for rack in racks if i < len(rack)]


def _refuse(brokers: Sequence[PlacementBroker], partitions: int, replication_factor: int) -> None:
    if partitions <= 0:
        raise PlacementError(INVALID_PARTITIONS, "Number of partitions must be larger than 0.")
    if replication_factor <= 0:
        raise PlacementError(INVALID_REPLICATION_FACTOR, "Replication factor must be larger than 0.")
    if replication_factor > len(brokers):
        raise PlacementError(
            INVALID_REPLICATION_FACTOR,
            f"Replication factor: {replication_factor} larger than available brokers: {len(brokers)}.",
        )


@inner_kernel
def _follower(first: int, shift: int, j: int, brokers: int) -> int:
    """``AdminUtils.replicaIndex``."""
    return (first + 1 + (shift + j) % (brokers - 1)) % brokers


@kernel
def _rack_unaware(
    partitions: int, replication_factor: int, brokers: int, start: int, shift: int, first_partition: int
) -> Ints:
    places = np.empty((partitions, replication_factor), np.int32)
    for i in range(partitions):
        partition = first_partition + i
        # Also for the very first one, where it is a multiple of the number of brokers.
        if partition > 0 and partition % brokers == 0:
            shift += 1
        first = (partition + start) % brokers
        places[i, 0] = first
        for j in range(replication_factor - 1):
            places[i, j + 1] = _follower(first, shift, j, brokers)
    return places


@kernel
def _rack_aware(
    partitions: int,
    replication_factor: int,
    racks: Ints,
    rack_count: int,
    start: int,
    shift: int,
    first_partition: int,
) -> Ints:
    brokers = len(racks)
    places = np.empty((partitions, replication_factor), np.int32)
    # Partition in which a rack or broker was used last.
    rack_used = np.full(rack_count, -1, np.int64)
    broker_used = np.full(brokers, -1, np.int64)
    for i in range(partitions):
        partition = first_partition + i
        if partition > 0 and partition % brokers == 0:
            shift += 1
        first = (partition + start) % brokers
        places[i, 0] = first
        rack_used[racks[first]] = broker_used[first] = i
        used_racks = 1
        k = 0
        for j in range(1, replication_factor):
            while True:
                place = _follower(first, shift * rack_count, k, brokers)
                k += 1
                is_new_rack = rack_used[racks[place]] != i
                if (is_new_rack or used_racks == rack_count) and broker_used[place] != i:
                    break
            places[i, j] = place
            used_racks += is_new_rack
            rack_used[racks[place]] = broker_used[place] = i
    return places
