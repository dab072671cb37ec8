"""What is scored of one topic's placement: how even its replicas, leaders and bytes lie, and what it would move."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import Floats, Ints
from kafka_rebalance.scoring.placement_kernel import Lists, Places, placement_figures

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
class BrokerField:
    """The brokers that may hold a topic. A broker that is not among them counts as a rack of its own; ``knows_racks``
    is false where a rack is unknown.
    """

    places: Places
    knows_racks: bool


def broker_field(rack_of: Mapping[int, str | None]) -> BrokerField:
    """The field of the brokers in ``rack_of``."""
    names = sorted({rack for rack in rack_of.values() if rack is not None})
    index = {name: number for number, name in enumerate(names)}
    ids = np.array(sorted(rack_of), dtype=np.int64)
    racks = np.array([index.get(rack_of[broker] or "", len(names)) for broker in ids.tolist()], dtype=np.int64)
    return BrokerField(Places(ids, racks, len(names)), bool(names) and None not in rack_of.values())


def score_placement(
    today: TopicPlacement, placed: TopicPlacement, field: BrokerField, placer: str, seed: int
) -> TopicPlacementScore:
    """Score ``placed`` on the brokers of ``field``, and what moves from ``today`` to it. O(P·W² + brokers).

    Every broker that is new in a list is one move, as large as the leader's replica; an order that changes moves
    nothing, a new leader is a leader change. A rack rule is broken where replicas share a rack though there are enough.
    """
    lists, new_lists = Lists(today.replicas, today.leaders), Lists(placed.replicas, placed.leaders)
    found = placement_figures(lists, new_lists, today.log_bytes, field.places)
    return TopicPlacementScore(
        topic=today.topic,
        placer=placer,
        seed=seed,
        replica_skew=float(found.replica_skew),
        leader_skew=float(found.leader_skew),
        disk_skew=None if math.isnan(found.disk_skew) else float(found.disk_skew),
        replica_moves=int(found.replica_moves),
        leader_changes=int(found.leader_changes),
        bytes_to_move=None if math.isnan(found.bytes_to_move) else round(found.bytes_to_move),
        rack_violations=int(found.rack_violations) if field.knows_racks else None,
    )
