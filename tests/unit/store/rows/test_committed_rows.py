from __future__ import annotations

from itertools import groupby

import numpy as np
import pytest

from kafka_rebalance.snapshot.model import (
    Broker,
    ClusterSnapshot,
    CommittedOffset,
    Group,
    Partition,
    Topic,
    partition_table,
)
from rebalance_advisor.store.snapshot_save import committed_offsets, lag_columns, offset_columns
from tests.sample import for_each

NULL = r"\N"
ENDS = {("t", 0): 9, ("t", 1): None, ("u", 3): 20}


def cluster(*groups: Group) -> ClusterSnapshot:
    """Topics u and t; the end of t-1 is unknown, u has a partition 3 alone."""
    rows = [Partition(topic, number, (1,), 1, (1,), (7,), 0, end) for (topic, number), end in ENDS.items()]
    return ClusterSnapshot("c", (Broker(1),), (Topic("u"), Topic("t")), partition_table(rows, {"u": 0, "t": 1}), groups)


def group(name: str, *committed: CommittedOffset) -> Group:
    return Group(name, committed=committed)


def written(snapshot: ClusterSnapshot) -> dict[str, list[str]]:
    columns = offset_columns(snapshot, committed_offsets(snapshot))
    return {name: list(map(str, cells)) for name, cells in columns.items()}


def lags(snapshot: ClusterSnapshot) -> dict[str, int]:
    columns = lag_columns(snapshot, committed_offsets(snapshot))
    return {
        str(group_id): int(str(lag)) for group_id, lag in zip(columns["group_id"], columns["lag_messages"], strict=True)
    }


def test_a_row_is_a_run_of_one_topic_in_one_group() -> None:
    """The same topic ends one group and begins the next, and comes twice in one; rates of u are unknown."""
    first = group("g", CommittedOffset("t", 0, 5), CommittedOffset("t", 1, 6, 2, 0.5), CommittedOffset("u", 3, 7))
    result = written(cluster(first, group("empty"), group("h", CommittedOffset("u", 3, 8), CommittedOffset("t", 1, 4))))
    assert result == {
        "group_id": ["g", "g", "h", "h"],
        "position": ["0", "1", "0", "1"],
        "topic": ["t", "u", "u", "t"],
        "partitions": ["{0,1}", "{3}", "{3}", "{1}"],
        "offsets": ["{5,6}", "{7}", "{8}", "{4}"],
        "lags": ["{NULL,2}", NULL, NULL, NULL],
        "read_messages_per_s": ["{NULL,0.5}", NULL, NULL, NULL],
    }


def test_no_offsets_are_no_rows() -> None:
    for snapshot in (cluster(), cluster(group("g"))):
        assert set(map(tuple, written(snapshot).values())) == {()}
        assert lags(snapshot) == {}


@pytest.mark.parametrize(
    ("commit", "lag"),
    [
        (CommittedOffset("t", 0, 5), 4),
        (CommittedOffset("t", 0, 12), 0),  # committed after the end was read
        (CommittedOffset("t", 0, 5, lag=3), 3),  # the broker's value
        (CommittedOffset("t", 1, 5), None),  # its end is unknown: no lag, and not none
        (CommittedOffset("t", 1, 5, lag=0), 0),
        (CommittedOffset("u", 0, 5), None),  # no such partition
        (CommittedOffset("u", 4, 5), None),
        (CommittedOffset("gone", 0, 5), None),
    ],
)
def test_the_lag_of_one_offset(commit: CommittedOffset, lag: int | None) -> None:
    assert lags(cluster(group("g", commit))) == ({} if lag is None else {"g": lag})


def test_what_is_unknown_adds_nothing_and_what_is_too_large_for_the_column_is_no_row() -> None:
    known = group("known", CommittedOffset("t", 0, 5), CommittedOffset("t", 1, 5), CommittedOffset("u", 3, 10))
    huge = group("huge", *(CommittedOffset("t", 0, 0, lag=2**62) for _ in range(2)))
    assert lags(cluster(huge, known)) == {"known": 14}


@for_each("seed", range(60))
def test_random_groups_as_the_plain_definitions_have_them(seed: int) -> None:
    draw = np.random.default_rng(seed)

    def commit() -> CommittedOffset:
        topic, number = ("t", "u", "gone")[draw.integers(3)], int(draw.integers(5))
        lag = int(draw.integers(100)) if draw.random() < 0.3 else None
        rate = float(draw.random()) if draw.random() < 0.3 else None
        return CommittedOffset(topic, number, int(draw.integers(25)), lag, rate)

    groups = [group(f"g{n}", *(commit() for _ in range(draw.integers(8)))) for n in range(draw.integers(6))]
    snapshot = cluster(*groups)
    runs = [
        (item.id, position, list(run))
        for item in groups
        for position, (_, run) in enumerate(groupby(item.committed, key=lambda commit: commit.topic))
    ]
    result = written(snapshot)
    assert result["group_id"] == [name for name, _, _ in runs]
    assert result["position"] == [str(position) for _, position, _ in runs]
    for column, field in (("lags", "lag"), ("read_messages_per_s", "read_messages_per_s"), ("offsets", "offset")):
        values = [[getattr(commit, field) for commit in run] for _, _, run in runs]
        assert [read(cell) for cell in result[column]] == [None if set(row) == {None} else row for row in values]
    assert lags(snapshot) == expected_lags(groups)


def read(cell: str) -> list[float | None] | None:
    if cell == NULL:
        return None
    return [None if part == "NULL" else float(part) for part in cell.strip("{}").split(",")]


def expected_lags(groups: list[Group]) -> dict[str, int]:
    lag_of_group = {}
    for item in groups:
        known = [lag for commit in item.committed if (lag := lag_of(commit)) is not None]
        if known:
            lag_of_group[item.id] = sum(known)
    return lag_of_group


def lag_of(commit: CommittedOffset) -> int | None:
    end = ENDS.get((commit.topic, commit.partition))
    if commit.lag is not None:
        return commit.lag
    return None if end is None else max(0, end - commit.offset)
