"""The places of one broker between which replicas may move: each disk that stays, and each dir that is emptied."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import Flags, Longs
from kafka_rebalance.snapshot.model import Broker, LogDir
from kafka_rebalance.snapshot.partition_table import UNKNOWN_DIR, PartitionTable


@dataclass(frozen=True, slots=True, eq=False)
class BrokerPlaces:
    """D places on V volumes; dirs that tell the same total and the same usable bytes share one volume.

    ``dirs``: the log dirs of each place, one where it is emptied; ``is_removed`` bool[D]; ``volume_of`` int64[D];
    ``total_bytes``, ``usable_bytes`` int64[V], both 0 where ``knows_sizes`` is false (then each dir is a volume).
    ``cells`` int64[R]: where in the partition table the replicas stand that may move; ``place_of``, ``size_bytes``
    int64[R]; ``dir_of`` int64[R]: its number among the broker's dirs. ``knows_places``: it is known of
    at least one of its replicas in which dir it is. ``stuck``: replicas that may not move and might
    be in a dir that is to be emptied, by table cell.
    """

    broker: Broker
    dirs: tuple[tuple[LogDir, ...], ...]
    is_removed: Flags
    volume_of: Longs
    total_bytes: Longs
    usable_bytes: Longs
    knows_sizes: bool
    knows_places: bool
    cells: Longs
    place_of: Longs
    dir_of: Longs
    size_bytes: Longs
    stuck: Longs

    @property
    def may_receive(self) -> Flags:
        """bool[D]: stays, and one of its dirs is not cordoned."""
        is_open = [any(not log_dir.is_cordoned for log_dir in dirs) for dirs in self.dirs]
        return np.array(is_open, dtype=np.bool_) & ~self.is_removed

    @property
    def used_bytes(self) -> Longs:
        """int64[V], by whomever; where sizes are not known, what its replicas hold."""
        if self.knows_sizes:
            known: Longs = np.maximum(self.total_bytes - self.usable_bytes, 0)
            return known
        used = np.zeros(len(self.total_bytes), dtype=np.int64)
        np.add.at(used, self.volume_of, self.held_bytes(self.place_of))
        return used

    def held_bytes(self, place_of: Longs) -> Longs:
        """int64[D]: what movable replicas hold of each place."""
        held = np.zeros(len(self.dirs), dtype=np.int64)
        np.add.at(held, place_of, self.size_bytes)
        return held


def broker_places(broker: Broker, table: PartitionTable, removed: frozenset[str]) -> BrokerPlaces | None:
    """``None`` where fewer than two places are left. O(replicas)."""
    working = [log_dir for log_dir in broker.log_dirs if log_dir.error is None]
    knows_sizes = all(log_dir.total_bytes and log_dir.usable_bytes is not None for log_dir in working)
    told = {log_dir.path: _told(log_dir) if knows_sizes else log_dir.path for log_dir in working}
    volumes = list(dict.fromkeys(told.values()))
    keys = [(log_dir.path, told[log_dir.path]) if log_dir.path in removed else ("", told[log_dir.path])
            for log_dir in working]  # fmt: skip
    places = list(dict.fromkeys(keys))
    if len(places) < 2:
        return None
    place_of_path = {log_dir.path: places.index(key) for log_dir, key in zip(working, keys, strict=True)}
    place_of_dir = np.array([place_of_path.get(one.path, UNKNOWN_DIR) for one in broker.log_dirs], dtype=np.int64)
    cells, is_movable = _cells(broker.id, table)
    dir_of = np.full(len(cells), UNKNOWN_DIR) if table.log_dir is None else table.log_dir[cells]
    place_of = np.where(dir_of == UNKNOWN_DIR, UNKNOWN_DIR, place_of_dir[dir_of])
    is_movable &= place_of != UNKNOWN_DIR
    is_removed = np.array([bool(path) for path, _ in places], dtype=np.bool_)
    is_stuck = ~is_movable & ((dir_of == UNKNOWN_DIR) | is_removed[place_of] & (place_of != UNKNOWN_DIR))
    sizes = np.array(volumes if knows_sizes else [(0, 0)] * len(volumes), dtype=np.int64).reshape(-1, 2)
    return BrokerPlaces(
        broker=broker,
        dirs=tuple(tuple(d for d, key in zip(working, keys, strict=True) if key == place) for place in places),
        is_removed=is_removed,
        volume_of=np.array([volumes.index(volume) for _, volume in places], dtype=np.int64),
        total_bytes=sizes[:, 0],
        usable_bytes=sizes[:, 1],
        knows_sizes=knows_sizes,
        knows_places=not len(cells) or bool((dir_of != UNKNOWN_DIR).any()),
        cells=cells[is_movable],
        place_of=place_of[is_movable],
        dir_of=dir_of[is_movable].astype(np.int64),
        size_bytes=table.replica_log_bytes[cells[is_movable]],
        stuck=cells[is_stuck],
    )


def _told(log_dir: LogDir) -> tuple[int | None, int | None]:
    return log_dir.total_bytes, log_dir.usable_bytes


def _cells(broker: int, table: PartitionTable) -> tuple[Longs, Flags]:
    """The broker's replicas, and which of them may move: of known size, moved by nobody now, without observers."""
    cells = np.flatnonzero(table.replicas == broker).astype(np.int64)
    rows = np.searchsorted(table.offsets, cells, side="right") - 1
    busy = sorted({*table.adding, *table.removing, *table.future, *table.observers, *table.offline})
    return cells, (table.replica_log_bytes[cells] >= 0) & ~np.isin(rows, busy)
