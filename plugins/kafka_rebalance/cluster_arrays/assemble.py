"""From brokers, placement and measured loads to a ``Problem``: columns, fair shares and bands put together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from kafka_rebalance.arrays import NOBODY, Flags, Floats, Ints
from kafka_rebalance.cluster_arrays.bands import Bands, band_of
from kafka_rebalance.cluster_arrays.broker_sets import BrokerSets
from kafka_rebalance.cluster_arrays.fair_share import fair_shares
from kafka_rebalance.cluster_arrays.problem import Budget, Problem
from kafka_rebalance.cluster_arrays.resource_columns import Columns, MeasuredLoads, columns_of
from kafka_rebalance.options.target import Target
from kafka_rebalance.resources import BALANCED, LEADER_CARRIED, ONLY_LEADERS


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Brokers:
    """Brokers as arrays of length B; see ``Problem`` for the flags. ``capacity`` and ``limit`` are by resource."""

    ids: npt.NDArray[np.int64]
    rack: Ints
    stays: Flags
    takes_replicas: Flags
    takes_leaders: Flags
    keeps_leaders: Flags
    is_new: Flags
    capacity: Mapping[str, Floats] = field(default_factory=dict)
    limit: Mapping[str, Floats] = field(default_factory=dict)
    rack_names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Placement:
    """Today's replicas and what moves with them; see ``Problem`` for the shapes."""

    replicas: Ints
    leader: Ints
    topic: Ints
    loads: MeasuredLoads
    own_disk: Floats | None = None
    must_leave: Flags | None = None
    preferred: Ints | None = None
    broker_sets: BrokerSets | None = None
    name_of: Callable[[int], str] = "partition row {}".format


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Wanted:
    """What is asked: bands, replication factor, what to leave alone, budget.

    ``resources``: those that count, as far as they are measured; None = what is balanced by default, and the targets'.
    ``balanced``: those that have the common band; ``caps``: what each broker may carry at
    most, float64[B]; ``ranks``: bands of a higher rank give way to those of a lower one, 0 for all by default.
    """

    within: float | None = 0.10
    targets: Mapping[str, Target] = field(default_factory=dict)
    caps: Mapping[str, Floats] = field(default_factory=dict)
    ranks: Mapping[str, int] = field(default_factory=dict)
    resources: tuple[str, ...] | None = None
    balanced: Collection[str] = BALANCED
    target_rf: Ints | None = None
    pinned: Flags | None = None
    budget: Budget = field(default_factory=Budget)
    moves_replicas: bool = True
    elects_preferred: bool = False


def assemble(brokers: Brokers, placement: Placement, wanted: Wanted) -> Problem:
    """The problem of giving ``placement`` on ``brokers`` what is ``wanted``. O(P·W + B·D)."""
    today_rf = (placement.replicas >= 0).sum(axis=1).astype(np.int32)
    target_rf = today_rf if wanted.target_rf is None else wanted.target_rf
    if wanted.pinned is not None:
        target_rf = np.where(wanted.pinned, today_rf, target_rf).astype(np.int32)
    replicas, own_disk, must_leave = _widened(placement, int(target_rf.max(initial=1)))
    wanted_names = BALANCED | wanted.targets.keys() if wanted.resources is None else wanted.resources
    columns = columns_of(placement.loads, target_rf, wanted_names)
    capacity = _by_resource(brokers.capacity, columns.resources, len(brokers.ids), 1.0)
    bands = _bands(brokers, placement, wanted, columns, capacity, target_rf)
    disk = placement.loads.disk_bytes
    return Problem(
        resources=columns.resources,
        broker_ids=brokers.ids,
        rack=brokers.rack,
        stays=brokers.stays,
        takes_replicas=brokers.takes_replicas,
        takes_leaders=brokers.takes_leaders,
        keeps_leaders=brokers.keeps_leaders,
        is_new=brokers.is_new,
        capacity=capacity,
        band_low=bands.low,
        band_high=bands.high,
        limit=_by_resource(brokers.limit, columns.resources, len(brokers.ids), np.inf),
        cap=_by_resource(wanted.caps, columns.resources, len(brokers.ids), np.inf),
        band_rank=np.array([wanted.ranks.get(name, 0) for name in columns.resources], dtype=np.int32),
        replicas=replicas,
        leader=placement.leader,
        topic=placement.topic,
        follower_load=columns.follower_load,
        leader_extra=columns.leader_extra,
        move_bytes=np.zeros(len(replicas)) if disk is None else disk,
        pinned=np.zeros(len(replicas), dtype=np.bool_) if wanted.pinned is None else wanted.pinned,
        target_rf=target_rf,
        own_disk=own_disk,
        must_leave=must_leave,
        preferred=placement.preferred,
        broker_sets=placement.broker_sets,
        moves_replicas=wanted.moves_replicas,
        elects_preferred=wanted.elects_preferred,
        budget=wanted.budget,
        name_of=placement.name_of,
        rack_names=brokers.rack_names,
    )


def _widened(placement: Placement, width: int) -> tuple[Ints, Floats | None, Flags | None]:
    missing = max(0, width - placement.replicas.shape[1])
    pad = ((0, 0), (0, missing))
    replicas = np.pad(placement.replicas, pad, constant_values=NOBODY).astype(np.int32)
    own_disk = None if placement.own_disk is None else np.pad(placement.own_disk, pad)
    must_leave = None if placement.must_leave is None else np.pad(placement.must_leave, pad)
    return replicas, own_disk, must_leave


def _by_resource(values: Mapping[str, Floats], resources: tuple[str, ...], count: int, missing: float) -> Floats:
    table = [np.broadcast_to(values.get(resource, missing), count).astype(np.float64) for resource in resources]
    return np.stack(table, axis=1) if table else np.zeros((count, 0))


def _bands(
    brokers: Brokers, placement: Placement, wanted: Wanted, columns: Columns, capacity: Floats, target_rf: Ints
) -> Bands:
    """Bands around fair shares; brokers that cannot receive are never asked to hold more than they hold."""
    is_leader_carried = np.array([resource in LEADER_CARRIED for resource in columns.resources], dtype=np.bool_)
    only_leaders = np.array([resource in ONLY_LEADERS for resource in columns.resources], dtype=np.bool_)
    may_lead = brokers.keeps_leaders | brokers.takes_leaders
    may_carry = brokers.stays[:, None] & (may_lead[:, None] | ~only_leaders[None, :])
    shares = fair_shares(
        rack=brokers.rack,
        capacity=capacity,
        may_carry=may_carry,
        may_lead=may_lead,
        target_rf=target_rf,
        follower_load=columns.follower_load,
        leader_extra=columns.leader_extra,
    )
    total = (columns.follower_load * target_rf[:, None] + columns.leader_extra).sum(axis=0)
    bands = band_of(
        resources=columns.resources,
        shares=shares,
        total=total,
        capacity=capacity,
        stays=brokers.stays,
        within={name: wanted.within for name in columns.resources if name in wanted.balanced},
        targets=wanted.targets,
    )
    today = _loads_of(placement.replicas, placement.leader, columns, len(brokers.ids))
    low = np.where(brokers.takes_replicas[:, None] | only_leaders[None, :], bands.low, np.minimum(bands.low, today))
    low = np.where(~brokers.takes_leaders[:, None] & is_leader_carried[None, :], np.minimum(low, today), low)
    low = np.where(~brokers.keeps_leaders[:, None] & is_leader_carried[None, :], 0.0, low)
    high = bands.high
    for d, resource in enumerate(columns.resources):
        if resource in wanted.caps:
            low[:, d], high[:, d] = (
                np.minimum(low[:, d], wanted.caps[resource]),
                np.minimum(high[:, d], wanted.caps[resource]),
            )
    return Bands(low, high)


def _loads_of(replicas: Ints, leader: Ints, columns: Columns, broker_count: int) -> Floats:
    loads = np.zeros((broker_count, len(columns.resources)))
    for d in range(len(columns.resources)):
        for j in range(replicas.shape[1]):
            there = replicas[:, j] >= 0
            weights = columns.follower_load[there, d]
            loads[:, d] += np.bincount(replicas[there, j], weights=weights, minlength=broker_count)
        led = leader >= 0
        loads[:, d] += np.bincount(leader[led], weights=columns.leader_extra[led, d], minlength=broker_count)
    return loads
