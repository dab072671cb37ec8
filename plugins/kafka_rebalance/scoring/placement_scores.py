"""Scores of a placement: evenness of a topic, of the whole cluster, and after a failure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kafka_assignors.arrays import ABSENT, Flags, Floats, Ints, Longs
from kafka_assignors.kernels.decorators import inner_kernel, kernel
from kafka_rebalance.facts import Fact
from kafka_rebalance.resources import UNITS
from kafka_rebalance.scoring.assignment_scores import plain_mean

# The figures of one topic's placement, counted by a kernel: a large cluster needs 100,000 of them.
#
# Brokers are found by their place in ``ids`` (ascending); one that is not among them carries nothing and counts as rack
# ``racks``. Sizes add up in the order of partitions and their lists. O(P·W² + P·W·log brokers + brokers).


class Lists(NamedTuple):
    """``replicas`` int32[P, W], padded with ABSENT, and ``leaders`` int32[P]."""

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
    """Where ``broker`` stands in ``ids``, ABSENT where it does not."""
    at = int(np.searchsorted(ids, broker))
    return at if at < len(ids) and ids[at] == broker else ABSENT


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


# What is scored of one topic's placement: how even its replicas, leaders and bytes lie, and what it would move.


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
    """P partitions of a topic: ``replicas`` int32[P, W], padded with ABSENT, ``leaders`` int32[P] (ABSENT: none),
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


# What is scored of a cluster: every broker, rack and resource, as rows (their fields are the store's columns).


@dataclass(frozen=True, slots=True)
class BrokerScore:
    """One broker and resource. ``over_mean`` = level / plain mean; ``fair_share`` is the level that racks allow."""

    broker: int
    rack: str | None
    resource: str
    unit: str
    load: float
    capacity: float | None
    level: float
    over_mean: float
    fair_share: float | None
    source: str | None
    stays: bool


@dataclass(frozen=True, slots=True)
class RackScore:
    """One rack and resource: the sum over its brokers that stay."""

    rack: str
    resource: str
    unit: str
    brokers: int
    load: float
    capacity: float | None
    level: float
    over_mean: float


@dataclass(frozen=True, slots=True)
class ResourceScore:
    """One resource of the whole cluster, over the brokers that stay."""

    resource: str
    unit: str
    source: str | None
    known_share: float | None
    total: float
    plain_mean: float
    skew: float
    worst_broker: int | None


@dataclass(frozen=True, slots=True)
class ClusterScores:
    """All scores of a cluster; ``left_out`` says why a resource has none."""

    brokers: tuple[BrokerScore, ...]
    racks: tuple[RackScore, ...]
    resources: tuple[ResourceScore, ...]
    left_out: Mapping[str, Fact] = field(default_factory=dict)

    def resource(self, name: str) -> ResourceScore | None:
        """The score of one resource, ``None`` where it was not measured."""
        return next((resource for resource in self.resources if resource.resource == name), None)

    def of_resource(self, name: str) -> tuple[BrokerScore, ...]:
        """One resource's broker scores."""
        return tuple(broker for broker in self.brokers if broker.resource == name)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BrokerLoads:
    """B brokers, D resources. ``load``, ``fair_share`` (as load; nan where undefined) and ``capacity`` float64[B, D].

    ``has_capacity`` bool[D]: the capacities of this resource are known; else they are 1 each. ``rack`` by broker.
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
    """Scores of all brokers, racks and resources. O(B·D)."""
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


# What each broker would carry if another one, or a whole rack, were lost.
#
# Kafka's controller hands the leadership of a partition to the first replica of its list that is alive and in sync;
# nothing else decides. So followers' loads stay where they are, and what a leader carries on top moves to its
# successor.
# Example: broker 0 leads A [0, 1, 2] and B [0, 1, 2], each with an outgoing rate of 10 MB/s. Without broker 0 broker 1
# sends 20 MB/s more; with B in the order [0, 2, 1] brokers 1 and 2 send 10 MB/s more each.
#
# Complexity: O(P·W) for the successors of all brokers at once, then one sum over (lost, successor) pairs a resource.


def successors(replicas: Ints, is_able: Flags, leader: Ints, group: Ints) -> Ints:
    """int32[P]: who leads each partition once all brokers of its leader's ``group`` are lost; ABSENT where nobody can.

    ``replicas`` int32[P, W] in Kafka's order, padded with ABSENT; ``is_able`` bool[P, W]: alive and in sync; ``group``
    int32[B]: one number for the brokers that are lost together (each its own: single brokers), ABSENT: never lost.
    """
    able = is_able & (replicas != ABSENT) & (group[replicas] != group[leader][:, None])
    first = able.argmax(axis=1)
    found = able.any(axis=1) & (leader != ABSENT) & (group[leader] != ABSENT)
    return np.where(found, replicas[np.arange(len(replicas)), first], ABSENT).astype(np.int32)


def moved_loads(leader: Ints, successor: Ints, group: Ints, carried: Floats, groups: int) -> Floats:
    """float64[groups, B]: what each broker gets on top when a group is lost; ``carried`` float64[P] goes along."""
    moves = np.flatnonzero(successor != ABSENT)
    brokers = len(group)
    pair = group[leader[moves]].astype(np.int64) * brokers + successor[moves]
    sums = np.bincount(pair, weights=carried[moves], minlength=groups * brokers)
    return np.asarray(sums.reshape(groups, brokers), dtype=np.float64)


def left_leaderless(leader: Ints, successor: Ints, group: Ints, groups: int) -> Ints:
    """int32[groups]: partitions without a leader once a group is lost."""
    lost = (leader != ABSENT) & (successor == ABSENT) & (group[leader] != ABSENT)
    return np.bincount(group[leader[lost]], minlength=groups).astype(np.int32)


# What the loss of one broker, or of one whole rack, would come to: the worst of each kind, as a plan tells it.


@dataclass(frozen=True, slots=True)
class Takeover:
    """``broker`` takes over ``leaders`` once ``lost`` (a broker's id or a rack) is gone; ``even_leaders`` each would be
    even over all brokers that hold, in sync, something that the lost ones lead.
    """

    lost: str
    broker: int
    leaders: int
    even_leaders: int


@dataclass(frozen=True, slots=True)
class LoadAfterLoss:
    """What ``broker`` would carry of ``resource`` once ``lost`` is gone, beside its ``capacity``, in one unit."""

    lost: str
    broker: int
    resource: str
    load: float
    capacity: float

    @property
    def ratio(self) -> float:
        """Load over capacity."""
        return self.load / self.capacity


@dataclass(frozen=True, slots=True)
class WorstLoss:
    """``takeover``: the one furthest above even, None where no leader is taken over; ``load``: the highest over
    capacity, None where no capacity is known that a leader needs.
    """

    takeover: Takeover | None
    load: LoadAfterLoss | None


@dataclass(frozen=True, slots=True)
class Losses:
    """Of single brokers, and of racks (None: there is only one, or none is known)."""

    broker: WorstLoss | None
    rack: WorstLoss | None


@dataclass(frozen=True, slots=True)
class AfterFailure:
    """As replicas stand, and once the plan is done."""

    before: Losses
    after: Losses

    def document(self) -> dict[str, Any]:
        """Its JSON object."""
        return asdict(self)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> AfterFailure:
        """The way back. Raises KeyError or TypeError where it is not one."""
        return cls(**{time: Losses(**_losses(document[time])) for time in ("before", "after")})


def _losses(document: Mapping[str, Any]) -> dict[str, WorstLoss | None]:
    return {kind: None if document[kind] is None else _worst(document[kind]) for kind in ("broker", "rack")}


def _worst(document: Mapping[str, Any]) -> WorstLoss:
    takeover, load = document["takeover"], document["load"]
    return WorstLoss(
        None if takeover is None else Takeover(**takeover), None if load is None else LoadAfterLoss(**load)
    )
