"""Kafka's own placers: StripedReplicaPlacer (KRaft), AdminUtils, ``--generate``.

**StripedReplicaPlacer**, new topics and added partitions since 3.0. Promises, in order: distinct brokers; the leader is
not fenced; replicas rotate over racks, unfenced brokers first in each; leaders stripe over racks and brokers. Brokers
without a rack form one. Each rack's brokers are sorted, from a random offset; the leader comes from the next rack,
followers from the racks after it. After as many partitions as unfenced brokers, racks and brokers are shuffled. Draws
follow the order of a Java HashMap of racks. Added partitions start a new stripe. Example: brokers 0, 1, 2 without racks
and offset 0 give [0, 1, 2], [1, 2, 0], [2, 0, 1], then shuffled ones.

**AdminUtils**, ZooKeeper clusters and ``--generate`` until 4.0 (removed in 4.1, KAFKA-18798). Promises, in order:
distinct brokers; with racks, as many as possible; leaders round robin, followers shifted, the shift grows by one when
all brokers led once. Without racks brokers keep the given order (topic creation sorts by id). With racks: racks by
name, brokers by id, one of each rack in turn. Partition p starts at (p + start) mod n; replica j is 1 + (shift + j) mod
(n − 1) places behind; used racks are skipped while another has none. ``fixed_start_index`` sets start and shift; else
both are drawn, in this order. Example: brokers 0–4 from index 0: partition 0 → [0, 1, 2], 1 → [1, 2, 3], …, 5 → [0, 2,
3] (shift 1).

**kafka-reassign-partitions --generate**: since 4.1 one StripedReplicaPlacer and Random for the whole run, before one
call of AdminUtils a topic. Topics come in the order of a HashMap filled by ``computeIfAbsent`` over the HashMap of
present partitions; the partition met first sets the replication factor; new replicas go to partitions 0 … count − 1.
Present replicas are ignored. The placers are O(n · rf).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kafka_assignors.arrays import Ints, Longs
from kafka_assignors.errors import AssignorError
from kafka_assignors.java.hash_order import COMPUTE_IF_ABSENT, DEFAULT_CAPACITY, order_after, put_order
from kafka_assignors.java.keys import optional_hash, topic_partition_hashes
from kafka_assignors.java.seeded_random import State, next_int, shuffle
from kafka_assignors.java.strings import compare_key, hash_codes
from kafka_assignors.kernels import inner_kernel, kernel
from kafka_assignors.string_column import StringColumn

INVALID_PARTITIONS = "org.apache.kafka.common.errors.InvalidPartitionsException"
INVALID_REPLICATION_FACTOR = "org.apache.kafka.common.errors.InvalidReplicationFactorException"
ADMIN_OPERATION = "org.apache.kafka.server.common.AdminOperationException"


class PlacementError(AssignorError):
    """Refusal as by Kafka's placer; ``java_class`` is its exception."""


@dataclass(frozen=True, slots=True)
class PlacementBroker:
    id: int
    rack: str | None = None
    is_fenced: bool = False


# next place in this epoch, first broker of it, last epoch of use
_INDEX, _OFFSET, _EPOCH = range(3)


@dataclass(frozen=True, slots=True, eq=False)
class StripedField:
    """Brokers before any draw.

    List 2·rack holds the fenced, 2·rack + 1 the unfenced brokers of a rack, sorted: list i is
    ``stripe[starts[i]:starts[i + 1]]``. ``map_order``: racks as Java's HashMap iterates; ``sorted_racks``: by name.
    """

    starts: Longs
    stripe: Ints
    map_order: Longs
    sorted_racks: Ints
    unfenced: int
    total: int


def striped_field(brokers: Sequence[PlacementBroker]) -> StripedField:
    """Return the field; ``brokers`` in the controller's order decide equal hash bins."""
    racks, rack_of = _racks(brokers)
    lists = _broker_lists(brokers, racks, rack_of)
    starts = np.zeros(len(lists) + 1, np.int64)
    np.cumsum([len(row) for row in lists], out=starts[1:])
    hashes = np.array([optional_hash(rack) for rack in racks], np.int32)
    return StripedField(
        starts=starts,
        stripe=np.array([broker for row in lists for broker in row], np.int32),
        map_order=put_order(hashes, DEFAULT_CAPACITY),
        sorted_racks=np.array(sorted(range(len(racks)), key=lambda rack: _optional_key(racks[rack])), np.int32),
        unfenced=sum(not broker.is_fenced for broker in brokers),
        total=len(brokers),
    )


def place_striped(brokers: Sequence[PlacementBroker], partitions: int, replication_factor: int, random: State) -> Ints:
    """Return replicas, leader first. Advances ``random`` as Java. Raises PlacementError."""
    return place_on_field(striped_field(brokers), partitions, replication_factor, random)


def place_on_field(field: StripedField, partitions: int, replication_factor: int, random: State) -> Ints:
    state, rack_offset = _set_up(random, field.map_order, field.starts)
    _refuse_striped(replication_factor, field.unfenced, field.total)
    placed = np.empty((partitions, replication_factor), np.int32)
    lists = _BrokerLists(field.starts, field.stripe.copy(), state)
    _place_all(placed, random, field.unfenced, field.map_order, field.sorted_racks.copy(), rack_offset, lists)
    return placed


def _racks(brokers: Sequence[PlacementBroker]) -> tuple[list[str | None], dict[str | None, int]]:
    racks = list(dict.fromkeys(broker.rack for broker in brokers))
    return racks, {rack: i for i, rack in enumerate(racks)}


def _broker_lists(
    brokers: Sequence[PlacementBroker], racks: list[str | None], rack_of: dict[str | None, int]
) -> list[list[int]]:
    lists: list[list[int]] = [[] for _ in range(2 * len(racks))]
    for broker in sorted(brokers, key=lambda broker: broker.id):
        lists[2 * rack_of[broker.rack] + (not broker.is_fenced)].append(broker.id)
    return lists


def _optional_key(rack: str | None) -> tuple[bool, bytes]:
    """No rack sorts before any name, even the empty one."""
    return rack is not None, compare_key(rack or "")


def _refuse_striped(replication_factor: int, unfenced: int, total: int) -> None:
    if replication_factor <= 0:
        raise PlacementError(
            INVALID_REPLICATION_FACTOR,
            f"Invalid replication factor {replication_factor}: the replication factor must be positive.",
        )
    if unfenced == 0:
        raise PlacementError(INVALID_REPLICATION_FACTOR, "All brokers are currently fenced.")
    if replication_factor > total:
        raise PlacementError(
            INVALID_REPLICATION_FACTOR,
            f"The target replication factor of {replication_factor} cannot be reached because only {total} broker(s)"
            " are registered.",
        )


class _BrokerLists(NamedTuple):
    starts: Longs
    stripe: Ints
    state: Longs


@kernel
def _set_up(random: State, map_order: Longs, starts: Longs) -> tuple[Longs, np.int64]:
    """Draw every list's offset, fenced before unfenced, then the rack's."""
    state = np.zeros((len(starts) - 1, 3), np.int64)
    for rack in map_order:
        for stripe_list in (2 * rack, 2 * rack + 1):
            if starts[stripe_list + 1] > starts[stripe_list]:
                state[stripe_list, _OFFSET] = next_int(random, starts[stripe_list + 1] - starts[stripe_list])
    rack_offset = np.int64(0)
    if len(map_order):
        rack_offset = next_int(random, len(map_order))
    return state, rack_offset


@kernel
def _place_all(
    placed: Ints, random: State, unfenced: int, map_order: Longs, racks: Ints, offset: int, lists: _BrokerLists
) -> None:
    starts, stripe = lists.starts, lists.stripe
    epoch = 0
    for partition in range(len(placed)):
        if epoch == unfenced and unfenced > 1:
            shuffle(random, racks)
            for rack in map_order:
                shuffle(random, stripe[starts[2 * rack] : starts[2 * rack + 1]])
                shuffle(random, stripe[starts[2 * rack + 1] : starts[2 * rack + 2]])
            epoch = 0
        if offset == len(racks):
            offset = 0
        _place_one(placed[partition], racks, offset, epoch, lists)
        epoch += 1
        offset += 1


@inner_kernel
def _place_one(replicas: Ints, racks: Ints, offset: int, epoch: int, lists: _BrokerLists) -> None:
    leader_at = offset
    replicas[0] = _next(2 * racks[leader_at] + 1, epoch, lists)
    while replicas[0] < 0:
        leader_at = (leader_at + 1) % len(racks)
        replicas[0] = _next(2 * racks[leader_at] + 1, epoch, lists)
    at = offset
    for i in range(1, len(replicas)):
        broker = -1
        while broker < 0:
            if at == leader_at:
                # The leader's rack is skipped only the first time.
                leader_at = -1
            else:
                broker = _next(2 * racks[at] + 1, epoch, lists)
                if broker < 0:
                    broker = _next(2 * racks[at], epoch, lists)
            at = (at + 1) % len(racks)
        replicas[i] = broker


@inner_kernel
def _next(stripe_list: int, epoch: int, lists: _BrokerLists) -> int:
    """``BrokerList.next``: -1 when all had their turn."""
    starts, stripe, state = lists
    size = starts[stripe_list + 1] - starts[stripe_list]
    if size == 0:
        return -1
    if state[stripe_list, _EPOCH] != epoch:
        state[stripe_list, _EPOCH] = epoch
        state[stripe_list, _INDEX] = 0
        state[stripe_list, _OFFSET] = (state[stripe_list, _OFFSET] + 1) % size
    if state[stripe_list, _INDEX] >= size:
        return -1
    broker = stripe[starts[stripe_list] + (state[stripe_list, _INDEX] + state[stripe_list, _OFFSET]) % size]
    state[stripe_list, _INDEX] += 1
    return int(broker)


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
    """Row i is partition max(0, start_partition) + i, preferred leader first. Raises PlacementError."""
    _refuse_alternating(brokers, partitions, replication_factor)
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


def rack_alternated(brokers: Sequence[PlacementBroker]) -> list[int]:
    by_rack: dict[str, list[int]] = {}
    for broker in sorted(brokers, key=lambda broker: broker.id):
        by_rack.setdefault(broker.rack or "", []).append(broker.id)
    racks = [by_rack[rack] for rack in sorted(by_rack, key=compare_key)]
    longest = max(map(len, racks), default=0)
    return [rack[i] for i in range(longest) for rack in racks if i < len(rack)]


def _refuse_alternating(brokers: Sequence[PlacementBroker], partitions: int, replication_factor: int) -> None:
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
        # Also for the first one, if a multiple of the number of brokers.
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
                broker = _follower(first, shift * rack_count, k, brokers)
                k += 1
                is_new_rack = rack_used[racks[broker]] != i
                if (is_new_rack or used_racks == rack_count) and broker_used[broker] != i:
                    break
            places[i, j] = broker
            used_racks += is_new_rack
            rack_used[racks[broker]] = broker_used[broker] = i
    return places


@dataclass(frozen=True, slots=True, eq=False)
class ListedPartitions:
    """Partitions as the tool read them; ``topics``: index into names."""

    names: StringColumn
    topics: Ints
    partitions: Ints
    replica_counts: Ints


@dataclass(frozen=True, slots=True, eq=False)
class TopicProposal:
    """``replicas`` int32[count, rf] of partitions 0 … count − 1; ``first_partition`` set the rf."""

    topic: int
    first_partition: int
    replicas: Ints


def propose_striped(brokers: Sequence[PlacementBroker], listed: ListedPartitions, random: State) -> list[TopicProposal]:
    """Proposals of ``--generate`` since 4.1, in Java's order. Raises PlacementError."""
    proposals = []
    for topic, rows in _topics_in_order(listed):
        replicas = place_striped(brokers, len(rows), int(listed.replica_counts[rows[0]]), random)
        proposals.append(TopicProposal(topic, int(listed.partitions[rows[0]]), replicas))
    return proposals


def _topics_in_order(listed: ListedPartitions) -> list[tuple[int, Longs]]:
    name_hashes = hash_codes(listed.names.data, listed.names.offsets)
    visit_order = put_order(topic_partition_hashes(name_hashes[listed.topics], listed.partitions), DEFAULT_CAPACITY)
    topics = listed.topics[visit_order]
    steps = np.full(len(topics), COMPUTE_IF_ABSENT, np.int8)
    by_topic = np.argsort(topics, kind="stable")
    bounds = np.searchsorted(topics[by_topic], np.arange(len(listed.names) + 1))
    return [
        (int(topic), visit_order[by_topic[bounds[topic] : bounds[topic + 1]]])
        for topic in order_after(name_hashes, steps, topics, DEFAULT_CAPACITY)
    ]
