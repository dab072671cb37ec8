"""Save a snapshot atomically and once, with lags, levels and roll-ups.

A thread prepares columns, scores and (last, pure Python) the id while Postgres reads. Levels equal
``scoring.score_cluster``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

import numpy as np
from psycopg import Rollback
from psycopg.errors import UniqueViolation
from psycopg.types.json import Jsonb

from kafka_assignors.arrays import Flags, Floats, Longs
from kafka_rebalance.scoring.scores import ClusterScores
from kafka_rebalance.snapshot import codec
from kafka_rebalance.snapshot.codec import snapshot_id
from kafka_rebalance.snapshot.group import UNKNOWN_LAG, lag_messages
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.snapshot.partition_table import UNKNOWN_OFFSET
from kafka_rebalance.snapshot.times import optional_time_text
from rebalance_advisor.garbage_collection import without_collector
from rebalance_advisor.store.load_history import ReadingHistory, reading_history, save_load_history
from rebalance_advisor.store.prune import clear_reading
from rebalance_advisor.store.rows import arrow_columns
from rebalance_advisor.store.rows.copy_rows import Column, constant, copy_columns, flag, plain, text
from rebalance_advisor.store.rows.snapshot_rows import TABLES, Columns, counts, headed, row_count
from rebalance_advisor.store.schema.connection import Connection, StoreError, named
from rebalance_advisor.store.statistics import analyze_copied

LARGEST_BIGINT = 2**63 - 1
_NO_TOPIC = -1
_PARTITION_BITS = 32


@dataclass(frozen=True, slots=True, eq=False)
class CommittedOffsets:
    """C committed offsets in N runs of one group and topic.

    ``begins`` int64[N+1]: start of each run; ``group`` int64[N]; ``position`` int64[N]: the run's number in its group;
    ``topics`` by run. ``partition``, ``offset`` int64[C]; ``lag`` int64[C] from the broker, or UNKNOWN_LAG;
    ``read_messages_per_s`` float64[C].
    """

    begins: Longs
    group: Longs
    position: Longs
    topics: tuple[str, ...]
    partition: Longs
    offset: Longs
    lag: Longs
    read_messages_per_s: Floats


def committed_offsets(snapshot: ClusterSnapshot) -> CommittedOffsets:
    commits = [commit for group in snapshot.groups for commit in group.committed]
    counts = np.array([len(group.committed) for group in snapshot.groups], dtype=np.int64)
    ends = np.cumsum(counts)
    names = [commit.topic for commit in commits]
    changes = np.fromiter((name != next_name for name, next_name in pairwise(names)), np.bool_, max(len(names) - 1, 0))
    is_first = np.concatenate([np.ones(min(len(names), 1), dtype=np.bool_), changes])
    is_first[(ends - counts)[counts > 0]] = True
    begins = np.flatnonzero(is_first)
    group = np.searchsorted(ends, begins, side="right")
    first_run = np.searchsorted(group, np.arange(len(counts)))
    lags = [commit.lag for commit in commits]
    reads = [commit.read_messages_per_s for commit in commits]
    return CommittedOffsets(
        begins=np.append(begins, len(commits)),
        group=group,
        position=np.arange(len(begins)) - first_run[group],
        topics=tuple(names[begin] for begin in begins.tolist()),
        partition=np.fromiter((commit.partition for commit in commits), np.int64, len(commits)),
        offset=np.fromiter((commit.offset for commit in commits), np.int64, len(commits)),
        lag=np.array([UNKNOWN_LAG if lag is None else lag for lag in lags], dtype=np.int64),
        read_messages_per_s=np.array(reads, dtype=np.float64),
    )


def offset_columns(snapshot: ClusterSnapshot, committed: CommittedOffsets) -> dict[str, Column]:
    """A row for each run, which keeps their order."""
    ids = [group.id for group in snapshot.groups]
    lags = arrow_columns.arrays(committed.lag, committed.begins, has_unknown=True)
    reads = arrow_columns.real_arrays(committed.read_messages_per_s, committed.begins)
    return {
        "group_id": text(ids[group] for group in committed.group.tolist()),
        "position": plain(committed.position.tolist()),
        "topic": text(committed.topics),
        "partitions": arrow_columns.arrays(committed.partition, committed.begins),
        "offsets": arrow_columns.arrays(committed.offset, committed.begins),
        "lags": _where_some(lags, committed.lag != UNKNOWN_LAG, committed.begins),
        "read_messages_per_s": _where_some(reads, ~np.isnan(committed.read_messages_per_s), committed.begins),
    }


def lag_columns(snapshot: ClusterSnapshot, committed: CommittedOffsets) -> dict[str, Column]:
    """Sums of known lags; no row without one or above bigint."""
    lag = _lags(snapshot, committed)
    is_known = lag != UNKNOWN_LAG
    groups = len(snapshot.groups)
    of_group = np.repeat(committed.group, np.diff(committed.begins))[is_known]
    total = np.zeros(groups, dtype=np.int64)
    np.add.at(total, of_group, lag[is_known])
    # Float sums do not wrap.
    rough = np.bincount(of_group, lag[is_known].astype(np.float64), groups)
    with_lag = np.flatnonzero((np.bincount(of_group, minlength=groups) > 0) & (rough < LARGEST_BIGINT)).tolist()
    return {
        "group_id": text(snapshot.groups[group].id for group in with_lag),
        "lag_messages": arrow_columns.whole(total[with_lag]),
    }


def _lags(snapshot: ClusterSnapshot, committed: CommittedOffsets) -> Longs:
    """int64[C]; UNKNOWN_LAG without broker lag and end offset."""
    table, runs = snapshot.partitions, np.diff(committed.begins)
    index = {topic.name: number for number, topic in enumerate(snapshot.topics)}
    topic = np.array([index.get(name, _NO_TOPIC) for name in committed.topics], dtype=np.int64)
    keys = (table.topic.astype(np.int64) << _PARTITION_BITS) + table.partition
    key = (np.repeat(topic, runs) << _PARTITION_BITS) + committed.partition
    row = np.searchsorted(keys, key)
    is_listed = np.append(keys, _NO_TOPIC)[row] == key
    end = np.where(is_listed, np.append(table.end_offset, UNKNOWN_OFFSET)[np.where(is_listed, row, 0)], UNKNOWN_OFFSET)
    return lag_messages(committed.lag, end, committed.offset)


def _where_some(column: Any, is_known: Flags, begins: Longs) -> Column:
    if not is_known.any():
        return constant(None, len(begins) - 1)
    import pyarrow as pa
    import pyarrow.compute as pc

    has_some = np.logical_or.reduceat(is_known, begins[:-1])
    chosen: Column = pc.if_else(pa.array(has_some), column, arrow_columns.NULL)
    return chosen


@dataclass(frozen=True, slots=True)
class ReadingAhead:
    columns: Mapping[str, Future[Columns]]
    snapshot_id: Future[str]
    scores: Future[ClusterScores]
    history: Future[ReadingHistory | None]


@contextmanager
def reading_ahead(snapshot: ClusterSnapshot) -> Iterator[ReadingAhead]:
    """Pending work is cancelled at the end of the block."""
    from kafka_rebalance.scoring.snapshot_scores import score_cluster  # with numba, which only who saves needs

    pool = ThreadPoolExecutor(1, thread_name_prefix="reading")
    try:
        columns = {table: pool.submit(columns_of, snapshot) for table, columns_of in TABLES.items()}
        committed = pool.submit(committed_offsets, snapshot)  # pool of one: done before the next two
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


_BROKER = {name: name for name in ("broker", "rack", "resource", "unit", "load", "capacity", "level")} | {
    "level_to_mean_ratio": "over_mean", "remains_in_cluster": "stays",
}  # fmt: skip
_RESOURCE = {name: name for name in ("resource", "unit", "total", "skew", "worst_broker")}
_ROLL_UPS = ("roll_up_skew_hour", "roll_up_skew_day", "roll_up_broker_day", "roll_up_lag_hour", "roll_up_lag_day")


def save_levels(connection: Connection, scores: ClusterScores, snapshot_key: int, moment: object) -> None:
    """In the caller's transaction; ``moment``: time of the rows."""
    head = (snapshot_key, str(moment))
    tables = {
        "broker_level": _columns(scores.brokers, _BROKER, *head),
        "resource_skew": _columns(scores.resources, _RESOURCE, *head),
    }
    copied = {table: copy_columns(connection, table, columns) for table, columns in tables.items()}
    analyze_copied(connection, copied, moment)


def roll_up(connection: Connection, snapshot_id: str) -> None:
    """Recompute hour and day from passed snapshots, in the caller's transaction; pruned ones keep their share."""
    row = connection.execute(named("lock_roll_ups"), {"snapshot_id": snapshot_id}).fetchone()
    if row is None:
        return
    keys = {"cluster": row[0], "captured_at": row[1]}
    for query in _ROLL_UPS:
        connection.execute(named(query), keys)


def _columns(
    rows: tuple[Any, ...], attributes: dict[str, str], snapshot_key: int, captured_at: str
) -> dict[str, Column]:
    columns: dict[str, Column] = {
        "snapshot_key": constant(snapshot_key, len(rows)), "captured_at": constant(captured_at, len(rows))
    }  # fmt: skip
    for name, attribute in attributes.items():
        values = [getattr(row, attribute) for row in rows]
        as_column = text if name in ("rack", "resource", "unit") else flag if name == "remains_in_cluster" else plain
        columns[name] = as_column(values)
    return columns


def save_snapshot(connection: Connection, snapshot: ClusterSnapshot) -> str:
    """Raises StoreError for values that Postgres cannot hold."""
    captured_at = optional_time_text(snapshot.captured_at)
    with without_collector(), reading_ahead(snapshot) as ahead:
        known_id = None
        if _may_be_there(connection, snapshot.cluster, captured_at):  # rare; the id costs a third of a save
            known_id = ahead.snapshot_id.result()
            if connection.execute(named("find_snapshot"), {"snapshot_id": known_id}).fetchone() is not None:
                return known_id
        # In their own transaction, because others may wait for the same week.
        moment = _ensure_week(connection, captured_at)
        with connection.transaction():
            _save(connection, snapshot, ahead, known_id, moment)
        return ahead.snapshot_id.result()


def _may_be_there(connection: Connection, cluster: str, captured_at: str | None) -> bool:
    """False for a new moment: a new snapshot."""
    if captured_at is None:
        return True
    keys = {"cluster": cluster, "captured_at_text": captured_at}
    return connection.execute(named("find_moment"), keys).fetchone() is not None


def _save(
    connection: Connection, snapshot: ClusterSnapshot, ahead: ReadingAhead, known_id: str | None, moment: object
) -> None:
    """Unless another process saved it. The id is computed while rows are copied."""
    row = {
        "snapshot_id": known_id, "captured_at": moment, "captured_at_text": optional_time_text(snapshot.captured_at),
        "source": snapshot.source, "cluster": snapshot.cluster, "cluster_id": snapshot.cluster_id,
        "kafka_version": snapshot.kafka_version,
        "features": Jsonb(dict(snapshot.features)) if snapshot.features else None,
        "quotas": Jsonb([codec.quota_document(quota) for quota in snapshot.quotas]) if snapshot.quotas else None,
    }  # fmt: skip
    inserted = connection.execute(named("insert_snapshot"), row | counts(snapshot)).fetchone()
    if inserted is None:
        return
    snapshot_key, was_pruned = int(inserted[0]), bool(inserted[1])
    if was_pruned:
        clear_reading(connection, snapshot_key, moment)
    _copy(connection, snapshot.cluster, ahead, snapshot_key, moment)
    if known_id is None:
        keys = {"snapshot_key": snapshot_key, "snapshot_id": ahead.snapshot_id.result()}
        try:
            connection.execute(named("name_snapshot"), keys)
        except UniqueViolation as error:
            raise Rollback from error  # the other process was first


def _copy(connection: Connection, cluster: str, ahead: ReadingAhead, snapshot_key: int, moment: object) -> None:
    copied = {}
    for table, made in ahead.columns.items():
        if row_count(columns := made.result()):
            copied[table] = copy_columns(connection, table, headed(table, columns, snapshot_key, str(moment)))
    analyze_copied(connection, copied, moment)
    history = ahead.history.result()
    if history is not None:
        save_load_history(connection, cluster, history, snapshot_key)
    save_levels(connection, ahead.scores.result(), snapshot_key, moment)


def latest_snapshot_id(connection: Connection, cluster: str, before: datetime | None = None) -> str | None:
    """Skip snapshots that the input gate refused."""
    row = connection.execute(named("latest_snapshot"), {"cluster": cluster, "before": before}).fetchone()
    return None if row is None else str(row[0])


def mark_snapshot(connection: Connection, snapshot_id: str, *, is_blocked: bool) -> None:
    """A passed snapshot counts into its hour and day."""
    with connection.transaction():
        result = connection.execute(named("mark_snapshot"), {"snapshot_id": snapshot_id, "is_blocked": is_blocked})
        if result.rowcount == 0:
            raise StoreError(f"no snapshot {snapshot_id} is stored")
        if not is_blocked:
            roll_up(connection, snapshot_id)


def _ensure_week(connection: Connection, captured_at: str | None) -> object:
    row = connection.execute(named("ensure_week_of"), {"captured_at_text": captured_at}).fetchone()
    assert row is not None
    return row[0]
