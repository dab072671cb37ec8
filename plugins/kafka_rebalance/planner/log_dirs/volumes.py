"""The volumes under one broker's log dirs, and its replicas on them, as a problem of its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import Flags, Longs
from kafka_rebalance.planner.log_dirs.problem import LogDirProblem
from kafka_rebalance.snapshot.model import Broker, LogDir
from kafka_rebalance.snapshot.partition_table import UNKNOWN_DIR, PartitionTable


@dataclass(frozen=True, slots=True, eq=False)
class BrokerVolumes:
    """V volumes whose dirs work. Two dirs that tell the same total and the same usable bytes share one.

    ``dirs``: the log dirs of each; ``total_bytes``, ``used_bytes`` int64[V], by whomever; ``cells`` int64[R]: where in
    the partition table the replicas stand that may move, ``volume_of`` int64[R], ``size_bytes`` int64[R]. Of unknown
    size or dir, on a dir that failed, or on the way already: these stay where they are and are not among them.
    """

    dirs: tuple[tuple[LogDir, ...], ...]
    total_bytes: Longs
    used_bytes: Longs
    cells: Longs
    volume_of: Longs
    size_bytes: Longs

    @property
    def may_receive(self) -> Flags:
        """bool[V]: at least one of its dirs is not cordoned."""
        return np.array([any(not one.is_cordoned for one in group) for group in self.dirs], dtype=np.bool_)

    def problem(self, most_used_ratio: float) -> LogDirProblem:
        """No volume more than ``most_used_ratio`` full: what is not movable of it counts as it is."""
        here = np.zeros(len(self.dirs), dtype=np.int64)
        np.add.at(here, self.volume_of, self.size_bytes)
        others = np.maximum(self.used_bytes - here, 0)
        most = np.floor(most_used_ratio * self.total_bytes).astype(np.int64)
        return LogDirProblem(
            size_bytes=np.maximum(self.size_bytes, 1),
            dir_of=self.volume_of,
            floor_bytes=np.zeros(len(self.dirs), dtype=np.int64),
            ceiling_bytes=np.maximum(most - others, 0),
            may_receive=self.may_receive,
        )

    def target_path(self, volume: int) -> str:
        """The dir of a volume that takes what moves there: its first that is not cordoned."""
        return next(one.path for one in self.dirs[volume] if not one.is_cordoned)


def broker_volumes(broker: Broker, table: PartitionTable) -> BrokerVolumes | None:
    """``None`` where it has fewer than two volumes that work, or one of them does not tell its sizes. O(replicas)."""
    working = [one for one in broker.log_dirs if one.error is None]
    if any(not one.total_bytes or one.usable_bytes is None for one in working):
        return None
    told = list(dict.fromkeys((one.total_bytes, one.usable_bytes) for one in working))
    if len(told) < 2:
        return None
    number = {sizes: volume for volume, sizes in enumerate(told)}
    volume_of_dir = np.array(
        [UNKNOWN_DIR if one.error else number[one.total_bytes, one.usable_bytes] for one in broker.log_dirs],
        dtype=np.int64,
    )
    cells = _movable(broker.id, table)
    places = np.zeros(0, dtype=np.int64) if table.log_dir is None else volume_of_dir[table.log_dir[cells]]
    is_working = places != UNKNOWN_DIR
    cells = cells[is_working]
    sizes = np.array(told, dtype=np.int64)
    return BrokerVolumes(
        dirs=tuple(tuple(one for one in working if (one.total_bytes, one.usable_bytes) == sizes) for sizes in told),
        total_bytes=sizes[:, 0],
        used_bytes=np.maximum(sizes[:, 0] - sizes[:, 1], 0),
        cells=cells,
        volume_of=places[is_working],
        size_bytes=table.replica_log_bytes[cells],
    )


def _movable(broker: int, table: PartitionTable) -> Longs:
    """Where in the table its replicas stand whose dir and size are known and that nobody moves now."""
    if table.log_dir is None:
        return np.zeros(0, dtype=np.int64)
    is_mine = (table.replicas == broker) & (table.log_dir >= 0) & (table.replica_log_bytes >= 0)
    cells = np.flatnonzero(is_mine).astype(np.int64)
    rows = np.searchsorted(table.offsets, cells, side="right") - 1
    on_the_way = sorted({*table.adding, *table.removing, *table.future})
    return cells[~np.isin(rows, on_the_way)]
