"""The planner's input as plain arrays: brokers, partitions, what each carries, and what is allowed.

Brokers, partitions, topics and racks are indices here; names are only kept for messages. B brokers, P partitions,
D resources, W = the longest replica list, now or in the target. Loads are absolute (bytes, bytes/s, percent, counts).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from kafka_rebalance.arrays import NOBODY, Flags, Floats, Ints
from kafka_rebalance.cluster_arrays.broker_sets import BrokerSets, everywhere
from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.resources import RESOURCES


@dataclass(frozen=True, slots=True)
class Budget:
    """Upper limits of a plan's costs; ``None`` = no limit. ``max_broker_bytes``: what each broker receives, and what it
    sends of what it leads today.
    """

    max_bytes: float | None = None
    max_replica_moves: int | None = None
    max_leader_changes: int | None = None
    max_broker_bytes: float | None = None

    @property
    def is_limited(self) -> bool:
        """At least one cost has a limit."""
        limits = (self.max_bytes, self.max_replica_moves, self.max_leader_changes, self.max_broker_bytes)
        return any(limit is not None for limit in limits)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Problem:
    """One cluster and what is wanted of it. Raises InvalidInputError where the arrays contradict each other.

    Load of a broker in resource d = sum of ``follower_load[p, d]`` over the replicas it holds, plus
    ``leader_extra[p, d]`` over the partitions it leads. With ``own_disk`` the disk column of a replica that stays
    where it is counts ``own_disk[p, j]`` in place of ``follower_load[p, disk]`` (replica sizes may differ); a new copy
    always has the leader's size.

    resources      names of the D columns, a subset of RESOURCES in that order; unmeasured ones are left out
    broker_ids     int64[B], Kafka's ids, for messages
    rack           int32[B]; NOBODY = no rack known, such a broker never violates a rack rule
    stays          bool[B]: part of the cluster afterwards; others are drained: nothing may be left on them
    takes_replicas bool[B]: may receive replicas (false: drained, or excluded for replicas)
    takes_leaders  bool[B]: may receive leadership (false: drained, demoted, or excluded for leaders)
    keeps_leaders  bool[B]: may go on leading what it leads (false: drained or demoted)
    is_new         bool[B]: just added; for reports only
    capacity       float64[B, D], 1 where unknown: level = load / capacity
    band_low/high  float64[B, D]: the band asked for, as absolute load (``bands.py`` builds it)
    limit          float64[B, D]: hard capacity, inf where unknown; a plan never lifts a broker above it
    cap            float64[B, D] or None: what a broker may carry after the plan at most, inf where nothing was asked
    band_rank      int32[D] or None (all alike): bands of a higher rank give way to those of a lower one
    replicas       int32[P, W], Kafka's order (preferred leader first), padded with NOBODY
    leader         int32[P], today's leader, NOBODY where there is none
    preferred      int32[P] or None (as ``leader``): who leads today's list once preferred replicas are elected
    topic          int32[P]
    follower_load  float64[P, D], what every replica carries
    leader_extra   float64[P, D], what the leader carries on top
    move_bytes     float64[P], bytes that one new copy costs (the leader's replica size)
    own_disk       float64[P, W] or None (every replica has the leader's size)
    must_leave     bool[P, W] or None: replicas that cannot stay where they are (offline dirs, outside of their set)
    broker_sets    where each partition's replicas may be, None: anywhere; what is elsewhere is in ``must_leave``
    pinned         bool[P]: never touched, still counted (excluded topic, mid-reassignment)
    target_rf      int32[P]
    moves_replicas false: leaders only
    elects_preferred  true: the first replica that may lead becomes the leader; no other choice of leaders
    name_of        partition row → "topic-partition", for messages
    rack_names     by rack index, for messages
    """

    resources: tuple[str, ...]
    broker_ids: npt.NDArray[np.int64]
    rack: Ints
    stays: Flags
    takes_replicas: Flags
    takes_leaders: Flags
    keeps_leaders: Flags
    is_new: Flags
    capacity: Floats
    band_low: Floats
    band_high: Floats
    limit: Floats
    replicas: Ints
    leader: Ints
    topic: Ints
    follower_load: Floats
    leader_extra: Floats
    move_bytes: Floats
    pinned: Flags
    target_rf: Ints
    cap: Floats | None = None
    band_rank: Ints | None = None
    own_disk: Floats | None = None
    must_leave: Flags | None = None
    preferred: Ints | None = None
    broker_sets: BrokerSets | None = None
    moves_replicas: bool = True
    elects_preferred: bool = False
    budget: Budget = field(default_factory=Budget)
    name_of: Callable[[int], str] = "partition row {}".format
    rack_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _require_shapes(self)
        _require_sane_replicas(self)
        _require_sane_loads(self)

    @property
    def broker_count(self) -> int:
        """B."""
        return len(self.broker_ids)

    @property
    def partition_count(self) -> int:
        """P."""
        return len(self.replicas)

    @property
    def sets(self) -> BrokerSets:
        """Where partitions may be, also where that is anywhere."""
        return self.broker_sets or everywhere(self.partition_count, self.broker_count)

    @property
    def is_confined(self) -> Flags:
        """bool[P]: may be on some brokers alone."""
        return self.sets.is_confined

    def column(self, resource: str) -> int | None:
        """Index of a resource among the D columns, None where it is not balanced."""
        return self.resources.index(resource) if resource in self.resources else None

    def broker_name(self, broker: int) -> str:
        """For messages."""
        return f"broker {self.broker_ids[broker]}"

    def rack_name(self, rack: int) -> str:
        """Return the rack's name, its number where it has none."""
        return self.rack_names[rack] if rack < len(self.rack_names) else str(rack)


def _require_shapes(problem: Problem) -> None:
    brokers, partitions, resources = len(problem.broker_ids), len(problem.replicas), len(problem.resources)
    width = problem.replicas.shape[1] if problem.replicas.ndim == 2 else -1
    per_broker = ("rack", "stays", "takes_replicas", "takes_leaders", "keeps_leaders", "is_new")
    expected: dict[str, tuple[int, ...]] = dict.fromkeys(per_broker, (brokers,))
    expected |= dict.fromkeys(("capacity", "band_low", "band_high", "limit", "cap"), (brokers, resources))
    expected["band_rank"] = (resources,)
    expected |= dict.fromkeys(("leader", "preferred", "topic", "move_bytes", "pinned", "target_rf"), (partitions,))
    expected |= dict.fromkeys(("follower_load", "leader_extra"), (partitions, resources))
    expected |= dict.fromkeys(("replicas", "own_disk", "must_leave"), (partitions, width))
    for name, shape in expected.items():
        array = getattr(problem, name)
        if array is not None and array.shape != shape:
            raise InvalidInputError.at(f"problem.{name}", f"shape {array.shape}", f"expected {shape}")
    sets = problem.broker_sets
    if sets is not None and (sets.of_partition.shape != (partitions,) or sets.brokers.shape[1:] != (brokers,)):
        raise InvalidInputError.at("problem.broker_sets", "are not of these partitions and brokers")
    if tuple(resource for resource in RESOURCES if resource in problem.resources) != problem.resources:
        raise InvalidInputError.at("problem.resources", f"{problem.resources}", f"a subset of {RESOURCES}, in order")
    if brokers == 0:
        raise InvalidInputError.at("problem.broker_ids", "no brokers", "a plan needs at least one")


def _require_sane_replicas(problem: Problem) -> None:
    if problem.partition_count == 0:
        return
    replicas = problem.replicas
    width = replicas.shape[1]
    if replicas.min() < NOBODY or replicas.max() >= problem.broker_count:
        raise InvalidInputError.at("problem.replicas", "a broker index is out of range")
    is_filled = replicas >= 0
    if not is_filled[:, 0].all() or (is_filled[:, 1:] & ~is_filled[:, :-1]).any():
        raise InvalidInputError.at("problem.replicas", "a row is empty or has a hole", "padding stands at the end")
    for left in range(width):
        for right in range(left + 1, width):
            twice = np.flatnonzero((replicas[:, left] == replicas[:, right]) & is_filled[:, right])
            if len(twice):
                row = int(twice[0])
                broker = problem.broker_name(int(replicas[row, left]))
                raise InvalidInputError.at(problem.name_of(row), f"{broker} stands twice in its replicas")
    if problem.target_rf.min() < 1 or problem.target_rf.max() > width:
        raise InvalidInputError.at("problem.target_rf", "a replication factor is below 1 or above the array's width")


def _require_sane_loads(problem: Problem) -> None:
    for name in ("follower_load", "leader_extra", "move_bytes", "own_disk"):
        array = getattr(problem, name)
        if array is not None and array.size and not (np.isfinite(array).all() and array.min() >= 0):
            raise InvalidInputError.at(f"problem.{name}", "a load is negative or not a number", "leave it out")
    if not (np.isfinite(problem.capacity).all() and problem.capacity.min(initial=1.0) > 0):
        raise InvalidInputError.at("problem.capacity", "a capacity is not positive", "1 where unknown")
    if (problem.takes_replicas & ~problem.stays).any() or (problem.keeps_leaders & ~problem.stays).any():
        raise InvalidInputError.at("problem.stays", "a drained broker may receive or lead", "clear its other flags")
