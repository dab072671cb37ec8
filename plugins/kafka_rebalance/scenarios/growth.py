"""More of the same: what is written, read and stored of some topics, times a factor."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kafka_rebalance.arrays import Flags, Floats
from kafka_rebalance.scenarios.fitting import matching, require_pattern
from kafka_rebalance.snapshot.load import LoadColumn, LoadKind, PartitionLoads
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.snapshot.partition_table import UNKNOWN_BYTES, PartitionTable

LARGEST_FACTOR = 1e6


@dataclass(frozen=True, slots=True)
class Growth:
    """Rates and CPU times ``rates``, stored bytes times ``sizes``, of topics whose whole name matches ``topics``.

    1 leaves everything as it is; what is unknown stays unknown. What groups were seen to read stays, too: it shows
    what their members can read, and no member reads faster for it.
    """

    topics: str = ".*"
    rates: float = 1.0
    sizes: float = 1.0

    def __post_init__(self) -> None:
        require_pattern("growth, topics", self.topics)

    def applied(self, snapshot: ClusterSnapshot, seed: int) -> ClusterSnapshot:
        """Raises InvalidInputError where no topic has such a name, or where a figure gets larger than one can be."""
        del seed  # nothing is drawn
        names = matching("topic", self.topics, (topic.name for topic in snapshot.topics))
        grows = np.array([topic.name in names for topic in snapshot.topics], dtype=np.bool_)
        rows: Flags = grows[snapshot.partitions.topic]
        columns = {
            kind: LoadColumn(
                _times(column.values, rows, self.sizes if kind is LoadKind.LOG_BYTES else self.rates),
                column.source,
                column.window_s,
            )
            for kind, column in snapshot.loads.columns.items()
        }
        return replace(
            snapshot, partitions=_larger(snapshot.partitions, rows, self.sizes), loads=PartitionLoads(columns)
        )


def _times(values: Floats, rows: Flags, factor: float) -> Floats:
    return np.where(rows, values * factor, values)


def _larger(table: PartitionTable, rows: Flags, factor: float) -> PartitionTable:
    sizes = table.replica_log_bytes
    grows = rows[table.row_of_replica] & (sizes != UNKNOWN_BYTES)
    if factor == 1.0 or not grows.any():
        return table
    # Above LARGEST_BYTES the snapshot refuses the size: an int64 must hold it until then.
    grown = np.minimum(np.rint(sizes[grows] * factor), _LARGEST_EXACT)
    larger = sizes.copy()
    larger[grows] = grown.astype(np.int64)
    return replace(table, replica_log_bytes=larger)


_LARGEST_EXACT = 2.0**62
