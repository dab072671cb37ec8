"""Brokers that are lost, with a rack or alone, and brokers that are added.

Lost brokers: what is placed on them stays placed there, out of sync; what they led goes to the next replica in list
order that is in sync and in service, to nobody where there is none (no unclean election; Kafka keeps the last leader
in the ISR then).

Example: replicas [1, 2, 3], ISR 1, 3, leader 1. Broker 1 is lost: 3 leads, the ISR is 3. Brokers 1 and 3 are lost:
nobody leads, the ISR is 1.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from kafka_rebalance.arrays import Flags
from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.scenarios.fitting import require_known
from kafka_rebalance.snapshot.model import Broker, BrokerState, ClusterSnapshot, Group, LogDir
from kafka_rebalance.snapshot.partition_table import NO_LEADER, PartitionTable
from kafka_rebalance.snapshot.ranges import LARGEST_INT32


@dataclass(frozen=True, slots=True)
class RackLost:
    """Every broker of a rack is dead, and so is every member that said it is there."""

    rack: str

    def applied(self, snapshot: ClusterSnapshot, seed: int) -> ClusterSnapshot:
        """Raises InvalidInputError where no broker and no member is in the rack."""
        del seed  # nothing is drawn
        of_brokers = {broker.rack for broker in snapshot.brokers if broker.rack is not None}
        of_members = {member.rack for group in snapshot.groups for member in group.members if member.rack is not None}
        require_known("rack", (self.rack,), of_brokers | of_members)
        groups = tuple(_without_rack(group, self.rack) for group in snapshot.groups)
        lost = frozenset(broker.id for broker in snapshot.brokers if broker.rack == self.rack)
        return _without_brokers(replace(snapshot, groups=groups), lost)


@dataclass(frozen=True, slots=True)
class BrokersLost:
    """Some brokers are dead."""

    ids: tuple[int, ...]

    def applied(self, snapshot: ClusterSnapshot, seed: int) -> ClusterSnapshot:
        """Raises InvalidInputError for a broker that is not there."""
        del seed  # nothing is drawn
        require_known("broker", self.ids, (broker.id for broker in snapshot.brokers))
        return _without_brokers(snapshot, frozenset(self.ids))


@dataclass(frozen=True, slots=True)
class BrokersAdded:
    """Empty brokers, each with the capacity and the log dirs of broker ``like`` (the first in service).

    ``count`` of them with the next free ids, or those of ``ids``. ``racks`` in turn; left out, each goes to the rack
    that has the fewest brokers in service.
    """

    count: int | None = None
    ids: tuple[int, ...] = ()
    racks: tuple[str, ...] = ()
    like: int | None = None

    def __post_init__(self) -> None:
        if (self.count is None) is not bool(self.ids):
            raise InvalidInputError.at("brokers_added", "expected either a count or ids")

    def applied(self, snapshot: ClusterSnapshot, seed: int) -> ClusterSnapshot:
        """Raises InvalidInputError for an id that is there already, and for a ``like`` that is not."""
        del seed  # nothing is drawn
        there = {broker.id for broker in snapshot.brokers}
        like = self._like(snapshot)
        first = max(there, default=-1) + 1
        ids = self.ids or tuple(range(first, first + (self.count or 0)))
        if taken := sorted(there & set(ids)):
            raise InvalidInputError.at(f"broker {taken[0]}", "is in the cluster already", "give another id, or a count")
        if ids[-1] > LARGEST_INT32:
            raise InvalidInputError.at("brokers_added", f"no id above {first - 1} is free", "give ids")
        racks = Counter({broker.rack: 0 for broker in snapshot.brokers if broker.rack is not None})
        racks.update(broker.rack for broker in snapshot.brokers if broker.rack is not None and broker.state.is_heard)
        added: list[Broker] = []
        for number, broker in enumerate(ids):
            rack = self.racks[number % len(self.racks)] if self.racks else _emptiest(racks)
            if rack is not None:
                racks[rack] += 1
            added.append(_empty_like(like, broker, rack))
        return replace(snapshot, brokers=(*snapshot.brokers, *added))

    def _like(self, snapshot: ClusterSnapshot) -> Broker:
        by_id = {broker.id: broker for broker in snapshot.brokers}
        if self.like is not None:
            require_known("broker", (self.like,), by_id)
            return by_id[self.like]
        heard = [broker.id for broker in snapshot.brokers if broker.state.is_heard]
        if not heard:
            raise InvalidInputError.at("brokers_added", "no broker is in service that a new one could be like")
        return by_id[min(heard)]


def _emptiest(racks: Counter[str]) -> str | None:
    return min(racks, key=lambda rack: (racks[rack], rack), default=None)


def _empty_like(like: Broker, broker: int, rack: str | None) -> Broker:
    dirs = tuple(LogDir(one.path, one.total_bytes, one.total_bytes) for one in like.log_dirs)
    return Broker(
        broker, rack, state=BrokerState.NEW, log_dirs=dirs, capacity=like.capacity, configs=dict(like.configs)
    )


def _without_rack(group: Group, rack: str) -> Group:
    return replace(group, members=tuple(member for member in group.members if member.rack != rack))


def _without_brokers(snapshot: ClusterSnapshot, lost: frozenset[int]) -> ClusterSnapshot:
    brokers = tuple(
        replace(broker, state=BrokerState.DEAD, is_controller=False) if broker.id in lost else broker
        for broker in snapshot.brokers
    )
    groups = tuple(
        replace(group, coordinator=None) if group.coordinator in lost else group for group in snapshot.groups
    )
    serving = frozenset(broker.id for broker in brokers if not broker.state.is_gone)
    return replace(
        snapshot, brokers=brokers, groups=groups, partitions=_led_by_others(snapshot.partitions, lost, serving)
    )


def _led_by_others(table: PartitionTable, lost: frozenset[int], serving: frozenset[int]) -> PartitionTable:
    owner = table.row_of_replica
    is_lost = np.isin(table.replicas, list(lost))
    leads = table.replicas == table.leader[owner]
    may_lead = np.isin(table.replicas, list(serving)) & ~_observes(table)
    if table.in_sync is not None:
        may_lead &= table.in_sync
    leader, has_lost = table.leader.copy(), np.isin(table.leader, list(lost))
    leader[has_lost] = NO_LEADER
    cells = np.flatnonzero(may_lead & has_lost[owner])
    rows, first = np.unique(owner[cells], return_index=True)  # cells stand in list order: the first of a row leads
    leader[rows] = table.replicas[cells[first]]
    in_sync = table.in_sync
    if in_sync is not None:
        was_leader = leads & has_lost[owner]
        in_sync = in_sync & ~is_lost
        still = np.zeros(len(table), dtype=np.bool_)
        still[owner[in_sync]] = True
        in_sync |= was_leader & ~still[owner]
    return replace(table, leader=leader, in_sync=in_sync)


def _observes(table: PartitionTable) -> Flags:
    """bool[R]: the replica is an observer, which leads nothing."""
    observes = np.zeros(len(table.replicas), dtype=np.bool_)
    for row, brokers in table.observers.items():
        cells = slice(int(table.offsets[row]), int(table.offsets[row + 1]))
        observes[cells] = np.isin(table.replicas[cells], brokers)
    return observes
