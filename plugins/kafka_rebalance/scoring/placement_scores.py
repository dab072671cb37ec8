"""Scores of a placement: of a topic, of the cluster, and after a failure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kafka_assignors.arrays import ABSENT, Flags, Floats, Ints, Longs
from kafka_assignors.kernels import inner_kernel, kernel
from kafka_rebalance.facts import Fact
from kafka_rebalance.resources import UNITS
from kafka_rebalance.scoring.scores import (
    BrokerScore,
    ClusterScores,
    RackScore,
    ResourceScore,
    TopicPlacementScore,
    plain_mean,
)

# Unknown brokers carry nothing. O(P·W² + P·W·log brokers + brokers).


class Lists(NamedTuple):
    replicas: Ints
    leaders: Ints


class Places(NamedTuple):
    """``ids`` ascending; ``rack`` from 0 to ``racks``."""

    ids: Longs
    rack: Longs
    racks: int


class PlacementFigures(NamedTuple):
    """``disk_skew`` and ``bytes_to_move`` are ``nan`` where a size is unknown."""

    replica_skew: float
    leader_skew: float
    disk_skew: float
    replica_moves: int
    leader_changes: int
    bytes_to_move: float
    rack_violations: int


@kernel
def placement_figures(today: Lists, placed: Lists, log_bytes: Floats, places: Places) -> PlacementFigures:
    brokers = len(places.ids)
    counts, leads, sizes = np.zeros(brokers), np.zeros(brokers), np.zeros(brokers)
    racks_seen = np.zeros(placed.replicas.shape[1], np.int64)
    moves, changes, violations, moved_bytes = 0, 0, 0, 0.0
    for row in range(len(placed.replicas)):
        added, held, distinct = 0, 0, 0
        for broker in placed.replicas[row]:
            if broker == ABSENT:
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
    at = int(np.searchsorted(ids, broker))
    return at if at < len(ids) and ids[at] == broker else ABSENT


@inner_kernel
def _is_in(values: Longs, element: int) -> bool:
    for value in values:  # noqa: SIM110 a kernel has no generators
        if value == element:
            return True
    return False


@inner_kernel
def _skew(load: Floats) -> float:
    total, highest = 0.0, 0.0
    for value in load:
        total += value
        highest = max(highest, value)
    if np.isnan(total):
        return np.nan
    return highest / (total / len(load)) if total > 0 else 0.0


CURRENT = "current"


@dataclass(frozen=True, slots=True, eq=False)
class TopicPlacement:
    """``replicas`` int32[P, W], padded with ABSENT; ``log_bytes`` of the leader's replica."""

    topic: str
    replicas: Ints
    leaders: Ints
    log_bytes: Floats


@dataclass(frozen=True, slots=True, eq=False)
class BrokerField:
    """Allowed brokers; others count as one more rack. ``knows_racks``: all racks are known."""

    places: Places
    knows_racks: bool


def broker_field(rack_of: Mapping[int, str | None]) -> BrokerField:
    names = sorted({rack for rack in rack_of.values() if rack is not None})
    index = {name: number for number, name in enumerate(names)}
    ids = np.array(sorted(rack_of), dtype=np.int64)
    racks = np.array([index.get(rack_of[broker] or "", len(names)) for broker in ids.tolist()], dtype=np.int64)
    return BrokerField(Places(ids, racks, len(names)), bool(names) and None not in rack_of.values())


def score_placement(
    today: TopicPlacement, placed: TopicPlacement, field: BrokerField, placer: str, seed: int
) -> TopicPlacementScore:
    """A broker new in a list is a move of the leader's size. Replicas that share a rack though there are enough racks
    violate the rack rule. O(P·W² + brokers).
    """
    lists, new_lists = Lists(today.replicas, today.leaders), Lists(placed.replicas, placed.leaders)
    figures = placement_figures(lists, new_lists, today.log_bytes, field.places)
    return TopicPlacementScore(
        topic=today.topic,
        placer=placer,
        seed=seed,
        replica_skew=float(figures.replica_skew),
        leader_skew=float(figures.leader_skew),
        disk_skew=None if math.isnan(figures.disk_skew) else float(figures.disk_skew),
        replica_moves=int(figures.replica_moves),
        leader_changes=int(figures.leader_changes),
        bytes_to_move=None if math.isnan(figures.bytes_to_move) else round(figures.bytes_to_move),
        rack_violations=int(figures.rack_violations) if field.knows_racks else None,
    )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BrokerLoads:
    """``load``, ``fair_share`` (as load; nan: undefined) and ``capacity`` float64[B, D]; ``has_capacity`` bool[D]: else
    1 each.
    """

    broker_ids: npt.NDArray[np.int64]
    rack: tuple[str | None, ...]
    stays: Flags
    resources: tuple[str, ...]
    load: Floats
    capacity: Floats
    has_capacity: Flags
    fair_share: Floats
    sources: Mapping[str, str]
    known_shares: Mapping[str, float]


def scores_of(loads: BrokerLoads, left_out: Mapping[str, Fact]) -> ClusterScores:
    brokers: list[BrokerScore] = []
    racks: list[RackScore] = []
    resources: list[ResourceScore] = []
    for d, resource in enumerate(loads.resources):
        mean = plain_mean(loads.load[loads.stays, d], loads.capacity[loads.stays, d])
        brokers += _broker_scores(loads, d, mean)
        racks += _rack_scores(loads, d, mean)
        resources.append(_resource_score(loads, d, resource, mean))
    return ClusterScores(tuple(brokers), tuple(racks), tuple(resources), dict(left_out))


def _broker_scores(loads: BrokerLoads, d: int, mean: float) -> list[BrokerScore]:
    resource = loads.resources[d]
    level = loads.load[:, d] / loads.capacity[:, d]
    fair = loads.fair_share[:, d] / loads.capacity[:, d]
    return [
        BrokerScore(
            broker=int(broker),
            rack=loads.rack[b],
            resource=resource,
            unit=UNITS[resource],
            load=float(loads.load[b, d]),
            capacity=float(loads.capacity[b, d]) if loads.has_capacity[d] else None,
            level=float(level[b]),
            over_mean=float(level[b]) / mean if mean > 0 else 0.0,
            fair_share=None if np.isnan(fair[b]) else float(fair[b]),
            source=loads.sources.get(resource),
            stays=bool(loads.stays[b]),
        )
        for b, broker in enumerate(loads.broker_ids)
    ]


def _rack_scores(loads: BrokerLoads, d: int, mean: float) -> list[RackScore]:
    names = sorted({rack for rack, stays in zip(loads.rack, loads.stays, strict=True) if rack is not None and stays})
    scores = []
    for name in names:
        inside = np.array([rack == name for rack in loads.rack]) & loads.stays
        load, capacity = float(loads.load[inside, d].sum()), float(loads.capacity[inside, d].sum())
        scores.append(
            RackScore(
                rack=name,
                resource=loads.resources[d],
                unit=UNITS[loads.resources[d]],
                brokers=int(inside.sum()),
                load=load,
                capacity=capacity if loads.has_capacity[d] else None,
                level=load / capacity,
                over_mean=load / capacity / mean if mean > 0 else 0.0,
            )
        )
    return scores


def _resource_score(loads: BrokerLoads, d: int, resource: str, mean: float) -> ResourceScore:
    staying = np.flatnonzero(loads.stays)
    level = loads.load[staying, d] / loads.capacity[staying, d]
    worst = int(staying[level.argmax()]) if len(staying) else None
    return ResourceScore(
        resource=resource,
        unit=UNITS[resource],
        source=loads.sources.get(resource),
        known_share=loads.known_shares.get(resource),
        total=float(loads.load[staying, d].sum()),
        plain_mean=mean,
        skew=float(level.max()) / mean if mean > 0 else 0.0,
        worst_broker=None if worst is None else int(loads.broker_ids[worst]),
    )


# Loads after the loss of a broker or a rack.
#
# Kafka's controller makes the first live, in-sync replica of a list the leader. Follower loads stay; the leader's extra
# load moves. Example: broker 0 leads A and B, both [0, 1, 2], 10 MB/s out each. After its loss broker 1 sends 20 MB/s
# more; with B as [0, 2, 1] brokers 1 and 2 send 10 MB/s more each.


def successors(replicas: Ints, is_able: Flags, leader: Ints, group: Ints) -> Ints:
    """Leaders int32[P] after the loss of the leader's ``group``, or ABSENT.

    ``is_able`` bool[P, W]: alive and in sync. ``group`` int32[B]: brokers lost together, ABSENT: never lost.
    """
    able = is_able & (replicas != ABSENT) & (group[replicas] != group[leader][:, None])
    first = able.argmax(axis=1)
    has_successor = able.any(axis=1) & (leader != ABSENT) & (group[leader] != ABSENT)
    return np.where(has_successor, replicas[np.arange(len(replicas)), first], ABSENT).astype(np.int32)


def moved_loads(leader: Ints, successor: Ints, group: Ints, carried: Floats, groups: int) -> Floats:
    moves = np.flatnonzero(successor != ABSENT)
    brokers = len(group)
    pair = group[leader[moves]].astype(np.int64) * brokers + successor[moves]
    sums = np.bincount(pair, weights=carried[moves], minlength=groups * brokers)
    return np.asarray(sums.reshape(groups, brokers), dtype=np.float64)


def left_leaderless(leader: Ints, successor: Ints, group: Ints, groups: int) -> Ints:
    lost = (leader != ABSENT) & (successor == ABSENT) & (group[leader] != ABSENT)
    return np.bincount(group[leader[lost]], minlength=groups).astype(np.int32)
