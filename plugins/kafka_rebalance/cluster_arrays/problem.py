"""The planner's input as arrays of indices. B brokers, P partitions, D resources, W = longest replica list, now or in
the target. Loads are absolute (bytes, bytes/s, percent, counts).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kafka_assignors.arrays import ABSENT, Flags, Floats, Ints, Longs
from kafka_assignors.errors import InvalidInputError
from kafka_assignors.kernels import kernel
from kafka_rebalance.options.values import TopicBrokers
from kafka_rebalance.parameters import Parameters, number
from kafka_rebalance.resources import BALANCED, RESOURCES, TABLE, Carrier, Resource
from kafka_rebalance.snapshot.figures import LoadKind
from kafka_rebalance.snapshot.model import Broker


@dataclass(frozen=True, slots=True, eq=False)
class BrokerSets:
    """``of_partition`` int32[P] is a row of ``brokers`` bool[S, B]; row 0 allows all. Rules for a topic intersect."""

    of_partition: Ints
    brokers: Flags

    @property
    def is_confined(self) -> Flags:
        return np.asarray(self.of_partition > 0)

    def taken(self, rows: Longs) -> BrokerSets:
        return BrokerSets(self.of_partition[rows], self.brokers)

    def outside(self, replicas: Ints) -> Flags:
        there = replicas >= 0
        return np.asarray(there & ~self.brokers[self.of_partition[:, None], np.where(there, replicas, 0)])

    def racks_open(self, rack: Ints, takes: Flags) -> Longs:
        """Racks with an allowed broker of ``takes``; ``rack`` int[B] distinct."""
        counts = [len(np.unique(rack[takes & may])) for may in self.brokers]
        return np.asarray(np.array(counts, dtype=np.int64)[self.of_partition])

    def rack_sizes(self, rack: Ints, stays: Flags) -> Longs:
        """Brokers of each set that stay, int64[S, K]."""
        racks = int(rack.max(initial=0)) + 1
        return np.stack([np.bincount(rack[stays & may], minlength=racks) for may in self.brokers]).astype(np.int64)


def everywhere(partitions: int, brokers: int) -> BrokerSets:
    return BrokerSets(np.zeros(partitions, dtype=np.int32), np.ones((1, brokers), dtype=np.bool_))


def broker_sets_of(
    rules: Sequence[TopicBrokers], names: Sequence[str], topic: Longs, brokers: Sequence[Broker]
) -> BrokerSets | None:
    """None without rules; ``topic`` -1: anywhere. O(topics · rules · B)."""
    if not rules:
        return None
    sets: dict[tuple[bool, ...], int] = {tuple(True for _ in brokers): 0}
    of_topic = np.zeros(len(names) + 1, dtype=np.int32)  # the last one is for -1
    for at, name in enumerate(names):
        mine = [rule for rule in rules if rule.covers(name)]
        may = tuple(all(rule.allows(broker.id, broker.rack) for rule in mine) for broker in brokers)
        # A rule that allows all brokers confines nothing.
        of_topic[at] = sets.setdefault(may, len(sets))
    return BrokerSets(np.asarray(of_topic[topic], dtype=np.int32), np.array(list(sets), dtype=np.bool_))


@dataclass(frozen=True, slots=True)
class Budget:
    """None: no limit. ``max_broker_bytes``: received, and sent as today's leader."""

    max_bytes: float | None = None
    max_replica_moves: int | None = None
    max_leader_changes: int | None = None
    max_broker_bytes: float | None = None

    @property
    def is_limited(self) -> bool:
        limits = (self.max_bytes, self.max_replica_moves, self.max_leader_changes, self.max_broker_bytes)
        return any(limit is not None for limit in limits)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Problem:
    """One cluster and the goals of a plan. Raises InvalidInputError on contradictory arrays.

    Load of a broker in resource d = sum of ``follower_load[p, d]`` over its replicas plus ``leader_extra[p, d]`` over
    its leaderships. With ``own_disk`` a replica that stays counts ``own_disk[p, j]`` as disk.

    resources      names of the D columns in the order of RESOURCES, without unmeasured ones
    rack           int32[B]; ABSENT = unknown, never violates a rack rule
    stays          bool[B]; false: drained, must be empty
    takes_replicas bool[B]; false: drained, or excluded for replicas
    takes_leaders  bool[B]; false: drained, demoted, or excluded for leaders
    keeps_leaders  bool[B]; false: drained or demoted
    capacity       float64[B, D], 1 where unknown: level = load / capacity
    band_low/high  float64[B, D], absolute load (``bands.py``)
    limit          float64[B, D]: hard capacity, inf where unknown; no plan lifts a broker above it
    cap            float64[B, D]: highest load after the plan, inf where not given
    band_rank      int32[D] or None (all alike): higher ranks yield to lower ones
    replicas       int32[P, W], preferred leader first, padded with ABSENT
    leader         int32[P], ABSENT where there is none
    preferred      int32[P] or None (as ``leader``): leader of today's list after preferred election
    follower_load  float64[P, D], as ``leader_extra``
    move_bytes     float64[P], bytes of a new copy (the leader's replica size)
    own_disk       float64[P, W] or None (the leader's size)
    must_leave     bool[P, W]: replicas that cannot stay (offline dirs, forbidden brokers)
    broker_sets    None: all allowed; replicas elsewhere are in ``must_leave``
    pinned         bool[P]: never changed, still counted (excluded topic, mid-reassignment)
    moves_replicas false: leaders only
    elects_preferred  the first replica that may lead becomes leader
    name_of        partition row → "topic-partition"
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
        return len(self.broker_ids)

    @property
    def partition_count(self) -> int:
        return len(self.replicas)

    @property
    def sets(self) -> BrokerSets:
        return self.broker_sets or everywhere(self.partition_count, self.broker_count)

    @property
    def is_confined(self) -> Flags:
        return self.sets.is_confined

    def column(self, resource: str) -> int | None:
        """Index, None where it is not balanced."""
        return self.resources.index(resource) if resource in self.resources else None

    def broker_name(self, broker: int) -> str:
        return f"broker {self.broker_ids[broker]}"

    def rack_name(self, rack: int) -> str:
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
    if replicas.min() < ABSENT or replicas.max() >= problem.broker_count:
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


class Carried(NamedTuple):
    """``follower`` and ``extra`` float64[P, D] in any unit.

    ``own`` float64[P, W]: disk of today's replica beyond the leader's (float64[0, 0]: unknown), for ``disk_column``.
    """

    follower: Floats
    extra: Floats
    own: Floats
    disk_column: int


def broker_loads(problem: Problem, replicas: Ints, leader: Ints) -> Floats:
    """Loads float64[B, D]; ``leader`` -1: none. O(P·W·D)."""
    load = np.zeros((problem.broker_count, len(problem.resources)))
    led = (replicas == leader[:, None]) & (replicas >= 0)
    replica_index = np.where(led.any(axis=1), led.argmax(axis=1), -1).astype(np.int32)
    disk = problem.column("disk")
    own = np.zeros((0, 0))
    if problem.own_disk is not None and disk is not None:
        own = problem.own_disk - problem.move_bytes[:, None]
    carried = Carried(problem.follower_load, problem.leader_extra, own, -1 if disk is None else disk)
    sum_loads(replicas, problem.replicas, replica_index, carried, load)
    return load


@kernel
def sum_loads(replicas: Ints, original: Ints, leader_index: Ints, carried: Carried, load: Floats) -> None:
    follower, extra, own, disk_column = carried
    for p in range(replicas.shape[0]):
        for j in range(replicas.shape[1]):
            b = replicas[p, j]
            if b < 0:
                continue
            for d in range(load.shape[1]):
                load[b, d] += follower[p, d]
            if leader_index[p] == j:
                for d in range(load.shape[1]):
                    load[b, d] += extra[p, d]
            if own.shape[0] > 0:
                for i in range(original.shape[1]):
                    if original[p, i] == b:
                        load[b, disk_column] += own[p, i]


@dataclass(frozen=True, kw_only=True)
class CpuParams(Parameters):
    """CPU cost of a byte, as in Cruise Control's ModelUtils: written to a leader, sent by it, replicated."""

    leader_in: float = number(0.7, least=0.0)
    leader_out: float = number(0.15, least=0.0)
    follower_in: float = number(0.15, least=0.0)


@dataclass(frozen=True, kw_only=True)
class ModelParams(Parameters):
    """``least_known``: share of partitions with a known metric, for a balanced resource."""

    least_known: float = number(0.9, least=0.0, most=1.0)
    most_named: int = number(20, least=1)
    cpu: CpuParams = CpuParams()


DEFAULTS = ModelParams()


# As in the scores.


_FIELD_OF = {
    LoadKind.LOG_BYTES: "disk_bytes",
    LoadKind.IN_BYTES_PER_S: "in_bytes_per_s",
    LoadKind.OUT_BYTES_PER_S: "out_bytes_per_s",
    LoadKind.CPU_PERCENT: "cpu_percent",
}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class MeasuredLoads:
    """float64[P] each, None if not measured, of the leader; out is what consumers fetch."""

    disk_bytes: Floats | None = None
    in_bytes_per_s: Floats | None = None
    out_bytes_per_s: Floats | None = None
    cpu_percent: Floats | None = None

    @classmethod
    def by_kind(cls, figures: Mapping[LoadKind, Floats]) -> MeasuredLoads:
        return cls(**{_FIELD_OF[kind]: values for kind, values in figures.items()})

    def of(self, kind: LoadKind) -> Floats | None:
        values: Floats | None = getattr(self, _FIELD_OF[kind])
        return values

    def taken(self, rows: Longs) -> MeasuredLoads:
        columns = {kind: values for kind in _FIELD_OF if (values := self.of(kind)) is not None}
        return MeasuredLoads.by_kind({kind: values[rows] for kind, values in columns.items()})


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    resources: tuple[str, ...]
    follower_load: Floats
    leader_extra: Floats


def columns_of(
    loads: MeasuredLoads, rf: Ints, resources: Collection[str] = BALANCED, cpu: CpuParams = DEFAULTS.cpu
) -> Columns:
    """Out grows with ``rf``; the follower's share of CPU shrinks."""
    measured_rows = [
        row for row in TABLE if row.name in resources and all(loads.of(kind) is not None for kind in row.rests_on)
    ]
    carried = [_replica_and_leader_load(row, loads, rf, cpu) for row in measured_rows]
    follower = np.stack([per_replica for per_replica, _ in carried], axis=1) if carried else np.zeros((len(rf), 0))
    extra = np.stack([per_leader for _, per_leader in carried], axis=1) if carried else np.zeros((len(rf), 0))
    names = tuple(row.name for row in measured_rows)
    return Columns(names, np.ascontiguousarray(follower), np.ascontiguousarray(extra))


def _replica_and_leader_load(row: Resource, loads: MeasuredLoads, rf: Ints, cpu: CpuParams) -> tuple[Floats, Floats]:
    nothing, amount = np.zeros(len(rf)), _amount(row, loads, rf)
    if row.carrier is Carrier.REPLICAS:
        return amount, nothing
    if row.carrier is Carrier.LEADER:
        return nothing, amount
    return _split_cpu(amount, loads, rf, cpu)


def _amount(row: Resource, loads: MeasuredLoads, rf: Ints) -> Floats:
    if row.load is None:
        return np.ones(len(rf))
    measured = _require(loads, row.load)
    return measured + _require(loads, LoadKind.IN_BYTES_PER_S) * (rf - 1) if row.copies_sent else measured


def _split_cpu(amount: Floats, loads: MeasuredLoads, rf: Ints, cpu: CpuParams) -> tuple[Floats, Floats]:
    in_rate = _require(loads, LoadKind.IN_BYTES_PER_S)
    leader_out = _require(loads, LoadKind.OUT_BYTES_PER_S) + in_rate * (rf - 1)
    cost = cpu.leader_in * in_rate + cpu.leader_out * leader_out
    share = np.divide(cpu.follower_in * in_rate, cost, out=np.zeros_like(cost), where=cost > 0)
    follower = amount * np.minimum(share, 1.0)
    return follower, amount - follower


def _require(loads: MeasuredLoads, kind: LoadKind) -> Floats:
    values = loads.of(kind)
    if values is None:
        raise InvalidInputError.at(f"loads.{kind.value}", "is not known", "ask for its resource only where it is")
    return values
