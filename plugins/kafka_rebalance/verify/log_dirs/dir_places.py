"""Brokers' disks and dirs as the snapshot has them: what each holds before and after the claimed moves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from kafka_rebalance.snapshot.model import Broker, ClusterSnapshot, LogDir, Partition


@dataclass(slots=True)
class Place:
    """A disk with its dirs that stay, or one dir that is to be emptied; ``sizes`` of replicas that may move, by
    partition row. ``disk``: number of the volume at its broker.
    """

    dirs: list[LogDir]
    is_removed: bool
    disk: int
    sizes: dict[int, int] = field(default_factory=dict)

    @property
    def held(self) -> int:
        """Bytes of replicas that may move."""
        return sum(self.sizes.values())

    @property
    def is_open(self) -> bool:
        """Something may move there."""
        return not self.is_removed and any(not one.is_cordoned for one in self.dirs)


@dataclass(slots=True)
class BrokerDisks:
    """``places`` in the order of the broker's dirs; ``total`` and ``usable`` bytes by disk, empty where not known."""

    broker: Broker
    places: list[Place]
    total: list[int]
    usable: list[int]
    unmovable_by_path: dict[str, int] = field(default_factory=dict)  # replicas; "" where the dir is unknown
    path_of: dict[int, str] = field(default_factory=dict)  # of replicas that may move, by partition row

    def place_at(self, path: str) -> Place | None:
        """The place that holds a dir."""
        return next((place for place in self.places if any(one.path == path for one in place.dirs)), None)

    def used(self, disk: int) -> int:
        """By whomever; where sizes are not known, what its replicas hold."""
        if self.total:
            return max(self.total[disk] - self.usable[disk], 0)
        return sum(place.held for place in self.places if place.disk == disk)

    def others(self, disk: int) -> int:
        """What is on a disk beside replicas that may move."""
        return max(self.used(disk) - sum(place.held for place in self.places if place.disk == disk), 0)


def disks_of(snapshot: ClusterSnapshot, parameters: dict[str, Any]) -> dict[int, BrokerDisks]:
    """By broker: all that have several dirs and were heard."""
    found = {}
    for broker in snapshot.brokers:
        if len(broker.log_dirs) > 1 and broker.state.is_heard:
            found[broker.id] = _places(broker, set(parameters["remove_log_dirs"].get(str(broker.id), ())))
    for row, partition in enumerate(snapshot.each_partition()):
        for number, replica in enumerate(partition.replicas):
            if replica in found:
                _put(found[replica], row, partition, number)
    return found


def _places(broker: Broker, removed: set[str]) -> BrokerDisks:
    working = [one for one in broker.log_dirs if one.error is None]
    is_known = all(one.total_bytes and one.usable_bytes is not None for one in working)
    disks: list[Any] = []
    places: dict[Any, Place] = {}
    for one in working:
        disk = (one.total_bytes, one.usable_bytes) if is_known else one.path
        if disk not in disks:
            disks.append(disk)
        key = (one.path, disk) if one.path in removed else disk
        places.setdefault(key, Place([], one.path in removed, disks.index(disk))).dirs.append(one)
    total, usable = ([disk[n] for disk in disks] if is_known else [] for n in (0, 1))
    return BrokerDisks(broker, list(places.values()), total, usable)


def _put(disks: BrokerDisks, row: int, partition: Partition, number: int) -> None:
    index = partition.log_dirs[number] if partition.log_dirs else None
    size = partition.log_bytes[number] if partition.log_bytes else None
    path = "" if index is None else disks.broker.log_dirs[index].path
    place = disks.place_at(path)
    if place is not None and size is not None and may_move(partition):
        place.sizes[row], disks.path_of[row] = size, path
    else:
        disks.unmovable_by_path[path] = disks.unmovable_by_path.get(path, 0) + 1


def may_move(partition: Partition) -> bool:
    """Nobody moves it, none of its replicas is offline, and none is an observer."""
    busy = (partition.adding, partition.removing, partition.future, partition.observers, partition.offline)
    return not any(busy)
