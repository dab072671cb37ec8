"""KRaft's StripedReplicaPlacer: what a controller does when a topic is created or gets partitions (Kafka 3.0+).

Promises, in this order: no broker twice in a partition; the first replica (the leader) is not fenced; replicas go
round the racks, unfenced brokers before fenced ones in each; leaders stripe over racks and brokers. Brokers without
rack make up a rack of their own. Racks of different sizes are not evened out.

Each rack keeps its brokers sorted, from a random offset; a partition's leader comes from the next rack in order, its
followers from the racks after it. When as many partitions are placed as there are unfenced brokers, racks and brokers
are shuffled. The draws come rack by rack in the order of a Java HashMap: that order is part of the answer.

Example: brokers 0, 1, 2 without racks and offset 0 give [0, 1, 2], [1, 2, 0], [2, 0, 1], then shuffled ones.

Adding partitions to a topic calls it afresh: the new stripe does not continue the old one.
Complexity: O(n · rf) for n partitions, and O(B) draws for each B partitions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kafka_rebalance.arrays import Ints, Longs
from kafka_rebalance.java.hash_order import DEFAULT_CAPACITY, put_order
from kafka_rebalance.java.keys import optional_hash
from kafka_rebalance.java.seeded_random import State, next_int, shuffle
from kafka_rebalance.java.strings import compare_key
from kafka_rebalance.kernels.decorators import inner_kernel, kernel
from kafka_rebalance.placement.brokers import INVALID_REPLICATION_FACTOR, PlacementBroker, PlacementError

# Of each broker list: next place in this epoch, first broker of this epoch, last epoch in which it was asked.
_INDEX, _OFFSET, _EPOCH = range(3)


@dataclass(frozen=True, slots=True, eq=False)
class StripedField:
    """Brokers as the placer keeps them, before anything is drawn: prepared once for many placements.

    List 2·rack holds the fenced, list 2·rack + 1 the unfenced brokers of a rack, sorted: list i is
    ``stripe[starts[i]:starts[i + 1]]``. ``map_order``: racks as Java's HashMap walks them; ``sorted_racks``: by name.
    """

    starts: Longs
    stripe: Ints
    map_order: Longs
    sorted_racks: Ints
    unfenced: int
    total: int


def striped_field(brokers: Sequence[PlacementBroker]) -> StripedField:
    """``brokers`` in the order in which the controller lists them: it decides only the order of equal hash bins."""
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
    """int32[partitions, replication_factor]: replicas of each partition, leader first.

    ``random`` (``java_random(seed)``) moves on as Java's would. Raises PlacementError (InvalidReplicationFactor).
    """
    return place_on_field(striped_field(brokers), partitions, replication_factor, random)


def place_on_field(field: StripedField, partitions: int, replication_factor: int, random: State) -> Ints:
    """``place_striped`` on prepared brokers; the field stays as it is."""
    state, rack_offset = _set_up(random, field.map_order, field.starts)
    _refuse(replication_factor, field.unfenced, field.total)
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
    """Sorted brokers of list 2·rack (fenced) and 2·rack + 1 (unfenced)."""
    lists: list[list[int]] = [[] for _ in range(2 * len(racks))]
    for broker in sorted(brokers, key=lambda broker: broker.id):
        lists[2 * rack_of[broker.rack] + (not broker.is_fenced)].append(broker.id)
    return lists


def _optional_key(rack: str | None) -> tuple[bool, bytes]:
    """No rack sorts before any name, even the empty one."""
    return rack is not None, compare_key(rack or "")


def _refuse(replication_factor: int, unfenced: int, total: int) -> None:
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
    """The lists of a ``StripedField`` and where each stands, int64[lists, 3]."""

    starts: Longs
    stripe: Ints
    state: Longs


@kernel
def _set_up(random: State, map_order: Longs, starts: Longs) -> tuple[Longs, np.int64]:
    """Draw every list's offset, fenced before unfenced, then the rack's: state int64[lists, 3] and that offset."""
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
    """``RackList.place`` for each partition in turn: fills ``placed`` int32[partitions, replication factor]."""
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
                # The leader's rack is passed over the first time only.
                leader_at = -1
            else:
                broker = _next(2 * racks[at] + 1, epoch, lists)
                if broker < 0:
                    broker = _next(2 * racks[at], epoch, lists)
            at = (at + 1) % len(racks)
        replicas[i] = broker


@inner_kernel
def _next(stripe_list: int, epoch: int, lists: _BrokerLists) -> int:
    """``BrokerList.next``: the list's next broker in this epoch, -1 when all had their turn."""
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
