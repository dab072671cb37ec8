"""Brokers of a snapshot under what is wished of them: states, capacities, limits, as the planner's arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from kafka_rebalance.arrays import NOBODY, Flags, Floats, Ints
from kafka_rebalance.cluster_arrays.assemble import Brokers
from kafka_rebalance.cluster_arrays.params import DEFAULTS
from kafka_rebalance.errors import UsageError
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.resources import BALANCED, TABLE
from kafka_rebalance.snapshot.model import Broker, BrokerState, Capacity, ClusterSnapshot, LogDir

_CAPACITY_FIELDS = {row.name: row.capacity for row in TABLE if row.capacity is not None}


@dataclass(frozen=True, slots=True, eq=False)
class BrokerArrays:
    """``brokers`` in the order of the arrays (by id, added ones last); ``capacity`` only where every one is known."""

    brokers: tuple[Broker, ...]
    arrays: Brokers
    usable_bytes: Floats  # float64[B]: what the volumes under the log dirs still offer, inf where unknown
    unplaced_bytes: Floats  # float64[B]: stray logs and copies between dirs, which are no replicas and take disk
    notes: tuple[Fact, ...]

    @property
    def index_of(self) -> dict[int, int]:
        """Kafka's id → index."""
        return {broker.id: index for index, broker in enumerate(self.brokers)}

    def indices(self, broker_ids: npt.ArrayLike) -> Ints:
        """int32: the index of each id, NOBODY for one that is no broker's. Ids may be as large as Kafka allows."""
        wanted, known = np.asarray(broker_ids, dtype=np.int64), np.asarray(self.arrays.ids, dtype=np.int64)
        if not len(known):
            return np.full(wanted.shape, NOBODY, dtype=np.int32)
        order = np.argsort(known)
        at = order[np.minimum(np.searchsorted(known, wanted, sorter=order), len(known) - 1)]
        return np.asarray(np.where(known[at] == wanted, at, NOBODY), dtype=np.int32)


def build_broker_arrays(snapshot: ClusterSnapshot, options: PlanOptions) -> BrokerArrays:
    """The brokers after removing, adding, demoting and excluding.

    Raises UsageError for a broker that is to be removed, demoted or excluded and that is not in the cluster.
    """
    brokers = _brokers(snapshot, options)
    stays = np.array([broker.state.stays for broker in brokers], dtype=np.bool_)
    excluded = np.array([broker.id in options.exclude_brokers for broker in brokers], dtype=np.bool_)
    cordoned = np.array([broker.is_cordoned for broker in brokers], dtype=np.bool_)
    # By the snapshot: who demotes a broker that was not heard does not make it heard.
    not_heard = {broker.id for broker in snapshot.brokers if broker.state.is_unheard}
    unheard = np.array([broker.id in not_heard for broker in brokers], dtype=np.bool_)
    demoted = np.array([broker.state is BrokerState.DEMOTED for broker in brokers], dtype=np.bool_)
    capacity, notes = _capacities(brokers, options, stays)
    arrays = Brokers(
        ids=np.array([broker.id for broker in brokers], dtype=np.int64),
        rack=_racks(brokers),
        rack_names=_rack_names(brokers),
        stays=stays,
        takes_replicas=stays & ~excluded & ~cordoned & ~unheard,
        takes_leaders=stays & ~excluded & ~demoted & ~unheard,
        keeps_leaders=stays & ~demoted,
        is_new=np.array([broker.state is BrokerState.NEW for broker in brokers], dtype=np.bool_),
        capacity=capacity,
    )
    usable, unplaced = [usable_bytes(broker.log_dirs) for broker in brokers], snapshot.unplaced_bytes
    return BrokerArrays(
        brokers=brokers,
        arrays=arrays,
        usable_bytes=np.array([np.inf if free_bytes is None else free_bytes for free_bytes in usable]),
        unplaced_bytes=np.array([float(unplaced.get(broker.id, 0)) for broker in brokers]),
        notes=notes,
    )


def require_brokers_known(snapshot: ClusterSnapshot, options: PlanOptions) -> None:
    """Raises UsageError for a broker or a rack that is to be removed, demoted or excluded and that is not there."""
    known = {broker.id for broker in snapshot.brokers}
    _require_racks_known(snapshot, options)
    for words, ids in (
        ("remove", options.remove_brokers),
        ("demote", options.demote_brokers),
        ("exclude", options.exclude_brokers),
    ):
        unknown = sorted(ids - known - options.add_brokers.keys())
        if unknown:
            hint = f"its brokers: {', '.join(map(str, sorted(known)[: DEFAULTS.most_named]))}"
            hint += f" and {len(known) - DEFAULTS.most_named:,} more" if len(known) > DEFAULTS.most_named else ""
            raise UsageError.at(f"--{words}-broker {unknown[0]}", f"broker {unknown[0]} is not in the cluster", hint)


def _require_racks_known(snapshot: ClusterSnapshot, options: PlanOptions) -> None:
    rack_of = {broker.id: broker.rack for broker in snapshot.brokers}
    known = sorted({rack for rack in rack_of.values() if rack is not None})
    for rack in sorted(options.remove_racks - set(known)):
        hint = f"its racks: {', '.join(known[: DEFAULTS.most_named])}" if known else "no broker tells its rack"
        raise UsageError.at(f"--remove-rack {rack}", f"rack {rack!r} is not in the cluster", hint)
    for broker in sorted(options.add_brokers.keys() & rack_of.keys()):
        if rack_of[broker] in options.remove_racks:
            raise UsageError.at(f"--add-broker {broker}", f"stands on rack {rack_of[broker]}, which is to be removed")


def volume_bytes(log_dirs: tuple[LogDir, ...]) -> float | None:
    """Total bytes under the log dirs, None where one does not tell.

    Totals are those of volumes: two dirs that tell the same total and the same usable bytes share one.
    """
    told = {(log_dir.total_bytes, log_dir.usable_bytes) for log_dir in log_dirs}
    totals = [total for total, _ in told if total is not None]
    return float(sum(totals)) if told and len(totals) == len(told) and sum(totals) > 0 else None


def usable_bytes(log_dirs: tuple[LogDir, ...]) -> float | None:
    """Usable bytes under the log dirs, None where one does not tell."""
    told = {(log_dir.total_bytes, log_dir.usable_bytes) for log_dir in log_dirs}
    usable = [free for _, free in told if free is not None]
    return float(sum(usable)) if told and len(usable) == len(told) else None


def _brokers(snapshot: ClusterSnapshot, options: PlanOptions) -> tuple[Broker, ...]:
    require_brokers_known(snapshot, options)
    known = {broker.id: broker for broker in snapshot.brokers}
    result = []
    for broker_id in sorted(known):
        broker = known[broker_id]
        if options.is_removed(broker_id, broker.rack) and broker.state.stays:
            broker = replace(broker, state=BrokerState.DRAINING)
        elif broker_id in options.demote_brokers and broker.state.stays:
            broker = replace(broker, state=BrokerState.DEMOTED)
        result.append(broker)
    added = sorted(options.add_brokers.keys() - known.keys())
    result += [
        Broker(id=new_broker, rack=options.add_brokers[new_broker], state=BrokerState.NEW) for new_broker in added
    ]
    return tuple(result)


def _rack_names(brokers: tuple[Broker, ...]) -> tuple[str, ...]:
    """In the order of rack indices."""
    return tuple(sorted({broker.rack for broker in brokers if broker.rack is not None}))


def _racks(brokers: tuple[Broker, ...]) -> Ints:
    index = {name: number for number, name in enumerate(_rack_names(brokers))}
    return np.array([NOBODY if b.rack is None else index[b.rack] for b in brokers], dtype=np.int32)


def _capacities(
    brokers: tuple[Broker, ...], options: PlanOptions, stays: Flags
) -> tuple[dict[str, Floats], tuple[Fact, ...]]:
    """Capacities that every broker has, and one note on what is assumed for the rest."""
    capacity: dict[str, Floats] = {}
    notes: list[Fact] = []
    # Those that nobody could ask: one that is not there yet, one that was not heard.
    unasked = np.array([b.state is BrokerState.NEW or b.state.is_unheard for b in brokers], dtype=np.bool_)
    equal = []
    for resource, name in _CAPACITY_FIELDS.items():
        if resource not in BALANCED and resource not in options.headroom:
            continue
        values = np.array([_capacity_of(broker, name, options) for broker in brokers])
        known = ~np.isnan(values)
        missing = np.flatnonzero(~known & stays & ~unasked)
        if not known.any() or len(missing):
            equal.append(resource)
            continue
        capacity[resource] = np.where(known, values, float(values[known].mean()))
        notes += [
            fact(FactCode.CAPACITY_ASSUMED_MEAN, resource=resource, broker=brokers[b].id)
            for b in np.flatnonzero(~known & stays).tolist()
        ]
    if equal:
        notes.append(fact(FactCode.CAPACITIES_ASSUMED_EQUAL, resources=tuple(equal)))
    return capacity, tuple(notes)


def _capacity_of(broker: Broker, name: str, options: PlanOptions) -> float:
    given = getattr(options.capacities.get(broker.id, Capacity()), name)
    value = given if given is not None else getattr(broker.capacity, name)
    if value is None and name == "disk_bytes":
        value = volume_bytes(broker.log_dirs)
    return float("nan") if value is None else float(value)
