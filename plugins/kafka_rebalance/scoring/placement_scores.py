"""What is scored of one topic's placement: how even its replicas, leaders and bytes lie, and what it would move."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kafka_rebalance.arrays import NOBODY, Floats, Ints, Longs
from kafka_rebalance.scoring.levels import known_skew, skew
from kafka_rebalance.scoring.movement import replica_movement

CURRENT = "current"


@dataclass(frozen=True, slots=True)
class TopicPlacementScore:
    """One placement of one topic: today's (``placer`` "current", seed 0) or what a placer would draw with ``seed``.

    Skews are the highest broker over the mean of all brokers that may hold the topic: a topic with fewer replicas than
    brokers cannot come to 1. Fields are the store's columns; ``None`` is unknown.
    """

    topic: str
    placer: str
    seed: int
    replica_skew: float
    leader_skew: float
    disk_skew: float | None
    replica_moves: int
    leader_changes: int
    bytes_to_move: int | None
    rack_violations: int | None


@dataclass(frozen=True, slots=True, eq=False)
class TopicPlacement:
    """P partitions of a topic: ``replicas`` int32[P, W], padded with NOBODY, ``leaders`` int32[P] (NOBODY: none),
    ``log_bytes`` float64[P] of the leader's replica (``nan``: unknown).
    """

    topic: str
    replicas: Ints
    leaders: Ints
    log_bytes: Floats


@dataclass(frozen=True, slots=True, eq=False)
class ByBrokerId:
    """A number for each broker of ``ids`` (ascending), ``other`` for any other id, NOBODY for NOBODY. Ids may be as
    large as Kafka allows, so no array runs over them: ``column[ids]`` looks each one up.
    """

    ids: Longs
    values: Longs
    other: int

    def __getitem__(self, wanted: npt.NDArray[np.integer[Any]]) -> Longs:
        if not len(self.ids):
            return np.asarray(np.where(wanted == NOBODY, NOBODY, self.other), dtype=np.int64)
        at = np.minimum(np.searchsorted(self.ids, wanted), len(self.ids) - 1)
        found = np.where(self.ids[at] == wanted, self.values[at], self.other)
        return np.asarray(np.where(wanted == NOBODY, NOBODY, found), dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class BrokerField:
    """The brokers that may hold a topic. ``place``: index of each, NOBODY for others. ``rack``: index of its rack,
    ``racks`` for a broker that is not in the field (it counts as a rack of its own); ``racks`` is ``None`` where a rack
    is unknown.
    """

    count: int
    place: ByBrokerId
    rack: ByBrokerId
    racks: int | None


def broker_field(rack_of: Mapping[int, str | None]) -> BrokerField:
    """The field of the brokers in ``rack_of``."""
    names = sorted({rack for rack in rack_of.values() if rack is not None})
    index = {name: number for number, name in enumerate(names)}
    ids = np.array(sorted(rack_of), dtype=np.int64)
    racks = np.array([index.get(rack_of[broker] or "", len(names)) for broker in ids.tolist()], dtype=np.int64)
    place, rack = ByBrokerId(ids, np.arange(len(ids)), NOBODY), ByBrokerId(ids, racks, len(names))
    are_known = bool(names) and None not in rack_of.values()
    return BrokerField(len(rack_of), place, rack, len(names) if are_known else None)


def score_placement(
    today: TopicPlacement, placed: TopicPlacement, field: BrokerField, placer: str, seed: int
) -> TopicPlacementScore:
    """Score ``placed`` on the brokers of ``field``, and what moves from ``today`` to it. O(P·W² + brokers)."""
    place = field.place[placed.replicas]
    is_there = place != NOBODY
    leads = field.place[placed.leaders]
    counts = _sums(place[is_there], None, field.count)
    sizes = _sums(place[is_there], np.repeat(placed.log_bytes, is_there.sum(axis=1)), field.count)
    movement = replica_movement(today.replicas, placed.replicas, today.leaders, placed.leaders, today.log_bytes)
    return TopicPlacementScore(
        topic=today.topic,
        placer=placer,
        seed=seed,
        replica_skew=skew(counts),
        leader_skew=skew(_sums(leads[leads != NOBODY], None, field.count)),
        disk_skew=known_skew(sizes),
        replica_moves=movement.replica_moves,
        leader_changes=movement.leader_changes,
        bytes_to_move=movement.bytes_to_move,
        rack_violations=rack_violations(placed.replicas, field),
    )


def rack_violations(replicas: Ints, field: BrokerField) -> int | None:
    """Partitions whose replicas share a rack though there are racks enough; ``None`` where a rack is unknown."""
    if field.racks is None:
        return None
    racks = np.sort(field.rack[replicas], axis=1)
    is_new = np.ones(racks.shape, dtype=np.bool_)
    is_new[:, 1:] = racks[:, 1:] != racks[:, :-1]
    distinct = (is_new & (racks != NOBODY)).sum(axis=1)
    return int((distinct < np.minimum((replicas != NOBODY).sum(axis=1), field.racks)).sum())


def _sums(place: Longs, weights: Floats | None, count: int) -> Floats:
    return np.bincount(place, weights=weights, minlength=count).astype(np.float64)
