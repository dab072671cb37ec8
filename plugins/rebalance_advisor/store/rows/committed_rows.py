"""Committed offsets as rows, one for each run of offsets of one topic, and how far each group is behind in all.

The offsets of all groups lie one after the other in arrays: 100,000 of them are a few passes of numpy and Arrow.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from kafka_assignors.arrays import Flags, Floats, Longs
from kafka_rebalance.snapshot.group import UNKNOWN_LAG, lag_messages
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.snapshot.partition_table import UNKNOWN_OFFSET
from rebalance_advisor.store.rows import arrow_columns
from rebalance_advisor.store.rows.copy_rows import Column, constant, plain, text

LARGEST_BIGINT = 2**63 - 1
_NO_TOPIC = -1
_PARTITION_BITS = 32


@dataclass(frozen=True, slots=True, eq=False)
class CommittedOffsets:
    """All of a snapshot, in its order, C of them in N runs of one group and topic.

    ``begins`` int64[N+1]: where each run begins, and the end; along the runs ``group`` int64[N] (index into the
    snapshot's groups), ``place`` int64[N] (which run of its group) and ``topics``. Along the offsets ``partition``,
    ``offset`` int64[C], ``lag`` int64[C] as the broker told it (UNKNOWN_LAG) and ``read_messages_per_s`` float64[C].
    """

    begins: Longs
    group: Longs
    place: Longs
    topics: tuple[str, ...]
    partition: Longs
    offset: Longs
    lag: Longs
    read_messages_per_s: Floats


def committed_offsets(snapshot: ClusterSnapshot) -> CommittedOffsets:
    """O(offsets)."""
    commits = [commit for group in snapshot.groups for commit in group.committed]
    counts = np.array([len(group.committed) for group in snapshot.groups], dtype=np.int64)
    ends = np.cumsum(counts)
    names = [commit.topic for commit in commits]
    changes = np.fromiter((one != next_one for one, next_one in pairwise(names)), np.bool_, max(len(names) - 1, 0))
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
        place=np.arange(len(begins)) - first_run[group],
        topics=tuple(names[begin] for begin in begins.tolist()),
        partition=np.fromiter((commit.partition for commit in commits), np.int64, len(commits)),
        offset=np.fromiter((commit.offset for commit in commits), np.int64, len(commits)),
        lag=np.array([UNKNOWN_LAG if lag is None else lag for lag in lags], dtype=np.int64),
        read_messages_per_s=np.array(reads, dtype=np.float64),
    )


def offset_columns(snapshot: ClusterSnapshot, committed: CommittedOffsets) -> dict[str, Column]:
    """Of ``committed_offset``: a run a row, so that their order is kept."""
    ids = [group.id for group in snapshot.groups]
    lags = arrow_columns.arrays(committed.lag, committed.begins, has_unknown=True)
    reads = arrow_columns.real_arrays(committed.read_messages_per_s, committed.begins)
    return {
        "group_id": text(ids[group] for group in committed.group.tolist()),
        "position": plain(committed.place.tolist()),
        "topic": text(committed.topics),
        "partitions": arrow_columns.arrays(committed.partition, committed.begins),
        "offsets": arrow_columns.arrays(committed.offset, committed.begins),
        "lags": _where_some(lags, committed.lag != UNKNOWN_LAG, committed.begins),
        "read_messages_per_s": _where_some(reads, ~np.isnan(committed.read_messages_per_s), committed.begins),
    }


def lag_columns(snapshot: ClusterSnapshot, committed: CommittedOffsets) -> dict[str, Column]:
    """Of ``group_lag``: the sum over the offsets whose lag is known; no row where none is, or the sum is no bigint."""
    lag = _lags(snapshot, committed)
    known = lag != UNKNOWN_LAG
    groups = len(snapshot.groups)
    of_group = np.repeat(committed.group, np.diff(committed.begins))[known]
    total = np.zeros(groups, dtype=np.int64)
    np.add.at(total, of_group, lag[known])
    # In floats it does not wrap, and tells what is too large.
    rough = np.bincount(of_group, lag[known].astype(np.float64), groups)
    told = np.flatnonzero((np.bincount(of_group, minlength=groups) > 0) & (rough < LARGEST_BIGINT)).tolist()
    return {
        "group_id": text(snapshot.groups[group].id for group in told),
        "lag_messages": arrow_columns.whole(total[told]),
    }


def _lags(snapshot: ClusterSnapshot, committed: CommittedOffsets) -> Longs:
    """Return int64[C]; UNKNOWN_LAG where neither the broker nor the end of the partition tells."""
    table, runs = snapshot.partitions, np.diff(committed.begins)
    index = {topic.name: number for number, topic in enumerate(snapshot.topics)}
    topic = np.array([index.get(name, _NO_TOPIC) for name in committed.topics], dtype=np.int64)
    keys = (table.topic.astype(np.int64) << _PARTITION_BITS) + table.partition
    wanted = (np.repeat(topic, runs) << _PARTITION_BITS) + committed.partition
    row = np.searchsorted(keys, wanted)
    found = np.append(keys, _NO_TOPIC)[row] == wanted
    end = np.where(found, np.append(table.end_offset, UNKNOWN_OFFSET)[np.where(found, row, 0)], UNKNOWN_OFFSET)
    return lag_messages(committed.lag, end, committed.offset)


def _where_some(column: Any, known: Flags, begins: Longs) -> Column:
    """NULL in rows of whose elements none is known."""
    if not known.any():
        return constant(None, len(begins) - 1)
    import pyarrow as pa
    import pyarrow.compute as pc

    has_some = np.logical_or.reduceat(known, begins[:-1])
    chosen: Column = pc.if_else(pa.array(has_some), column, arrow_columns.NULL)
    return chosen
