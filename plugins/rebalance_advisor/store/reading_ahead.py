"""What is saved of a reading, made in a thread beside: its tables' columns, its id, its scores, while Postgres reads.

Most of it is work of Arrow and numpy, which leave Python to others meanwhile. The id, pure Python, comes once Postgres
has enough to do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from kafka_rebalance.scoring.placement_scores import ClusterScores
from kafka_rebalance.scoring.snapshot_scores import score_cluster
from kafka_rebalance.snapshot.codec import snapshot_id
from kafka_rebalance.snapshot.model import ClusterSnapshot
from rebalance_advisor.store.load_history import ReadingHistory, reading_history
from rebalance_advisor.store.rows.committed_rows import committed_offsets, lag_columns, offset_columns
from rebalance_advisor.store.rows.snapshot_rows import TABLES, Columns


@dataclass(frozen=True, slots=True)
class ReadingAhead:
    """Each is there once its turn has come, in this order; what it raised is raised where it is asked for."""

    columns: Mapping[str, Future[Columns]]
    snapshot_id: Future[str]
    scores: Future[ClusterScores]
    history: Future[ReadingHistory | None]


@contextmanager
def reading_ahead(snapshot: ClusterSnapshot) -> Iterator[ReadingAhead]:
    """Begins at once; what has not begun by the end of the block is given up."""
    pool = ThreadPoolExecutor(1, thread_name_prefix="reading")
    try:
        columns = {table: pool.submit(columns_of, snapshot) for table, columns_of in TABLES.items()}
        committed = pool.submit(committed_offsets, snapshot)  # a pool of one: done when the next two begin
        columns["committed_offset"] = pool.submit(lambda: offset_columns(snapshot, committed.result()))
        columns["group_lag"] = pool.submit(lambda: lag_columns(snapshot, committed.result()))
        yield ReadingAhead(
            columns=columns,
            snapshot_id=pool.submit(snapshot_id, snapshot),
            scores=pool.submit(score_cluster, snapshot),
            history=pool.submit(reading_history, snapshot),
        )
    finally:
        pool.shutdown(cancel_futures=True)
