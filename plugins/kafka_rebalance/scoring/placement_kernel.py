"""The figures of one topic's placement, counted by a kernel: 100,000 of them are asked of a large cluster.

Brokers are found by their place in ``ids`` (ascending); one that is not among them carries nothing and counts as rack
``racks``. Sizes add up in the order of partitions and their lists. O(P·W² + P·W·log brokers + brokers).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kafka_rebalance.arrays import NOBODY, Floats, Ints, Longs
from kafka_rebalance.kernels.decorators import inner_kernel, kernel


class Lists(NamedTuple):
    """``replicas`` int32[P, W], padded with NOBODY, and ``leaders`` int32[P]."""

    replicas: Ints
    leaders: Ints


class Places(NamedTuple):
    """``ids`` int64[B], ascending; ``rack`` int64[B], from 0 to ``racks``."""

    ids: Longs
    rack: Longs
    racks: int


class PlacementFigures(NamedTuple):
    """``disk_skew`` and ``bytes_to_move`` are ``nan`` where a size that counts is unknown."""

    replica_skew: float
    leader_skew: float
    disk_skew: float
    replica_moves: int
    leader_changes: int
    bytes_to_move: float
    rack_violations: int


@kernel
def placement_figures(today: Lists, placed: Lists, log_bytes: Floats, places: Places) -> PlacementFigures:
    """Of ``placed``, and of what moves to it from ``today``; ``log_bytes`` float64[P]: the leader's replica."""
    brokers = len(places.ids)
    counts, leads, sizes = np.zeros(brokers), np.zeros(brokers), np.zeros(brokers)
    racks_seen = np.zeros(placed.replicas.shape[1], np.int64)
    moves, changes, violations, moved_bytes = 0, 0, 0, 0.0
    for row in range(len(placed.replicas)):
        added, held, distinct = 0, 0, 0
        for broker in placed.replicas[row]:
            if broker == NOBODY:
                continue
            held += 1
            at = _place(places.ids, broker)
            rack = np.int64(places.racks)
            if at >= 0:
                counts[at] += 1
                sizes[at] += log_bytes[row]
                rack = places.rack[at]
            if not _is_in(racks_seen[:distinct], rack):
                racks_seen[distinct] = rack
                distinct += 1
            if not _is_in(today.replicas[row], broker):
                added += 1
        if added > 0:
            moves += added
            moved_bytes += added * log_bytes[row]
        changes += today.leaders[row] != placed.leaders[row]
        violations += distinct < min(held, places.racks)
        at = _place(places.ids, placed.leaders[row])
        if at >= 0:
            leads[at] += 1
    return PlacementFigures(_skew(counts), _skew(leads), _skew(sizes), moves, changes, moved_bytes, violations)


@inner_kernel
def _place(ids: Longs, broker: int) -> int:
    """Where ``broker`` stands in ``ids``, NOBODY where it does not."""
    at = int(np.searchsorted(ids, broker))
    return at if at < len(ids) and ids[at] == broker else NOBODY


@inner_kernel
def _is_in(values: Longs, wanted: int) -> bool:
    for value in values:  # noqa: SIM110 a kernel has no generators
        if value == wanted:
            return True
    return False


@inner_kernel
def _skew(load: Floats) -> float:
    """As ``levels.skew``; ``nan`` where a load is."""
    total, highest = 0.0, 0.0
    for value in load:
        total += value
        highest = max(highest, value)
    if np.isnan(total):
        return np.nan
    return highest / (total / len(load)) if total > 0 else 0.0
