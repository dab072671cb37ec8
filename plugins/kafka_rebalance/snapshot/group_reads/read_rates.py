"""How fast each group reads each partition: how far its commits came from one reading to the next.

Nothing is invented. A rate is unknown where a commit went backwards or is beyond the end; where there was none before;
where the topic was made anew; where retention passed the older commit, so that the group may have been set forward past
what it never read; where the group had members in one of the readings only; where the readings are less than
SHORTEST_WINDOW_S apart; and of share groups, which commit nothing.

Example: committed 10, then 50 after 100 s: 0.4 messages/s. Committed 50, then 10: unknown.

Complexity: O(P + C log P) for C commits, one Python step a commit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kafka_rebalance.arrays import Flags, Floats, Longs
from kafka_rebalance.snapshot.group import CommittedOffset, Group, GroupType
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.snapshot.ranges import LARGEST_RATE

NO_COMMIT = -1
SHORTEST_WINDOW_S = 30.0  # consumers commit every 5 s: one commit more or less is a sixth of it


@dataclass(frozen=True, slots=True, eq=False)
class CommitColumns:
    """All commits of a snapshot, group after group, beside those of an older one.

    int64[C] each: ``row`` of the partition, -1 where the cluster has none; ``offset`` now and ``before`` (NO_COMMIT).
    """

    row: Longs
    offset: Longs
    before: Longs


def commit_columns(older: ClusterSnapshot, newer: ClusterSnapshot) -> CommitColumns:
    """Commits of ``newer``, and what the same groups had committed of the same partitions in ``older``."""
    groups = {group.id: group for group in older.groups}
    before: list[int] = []
    for group in newer.groups:
        earlier = groups.get(group.id)
        offsets = {(commit.topic, commit.partition): commit.offset for commit in earlier.committed} if earlier else {}
        before += [offsets.get((commit.topic, commit.partition), NO_COMMIT) for commit in group.committed]
    commits = [commit for group in newer.groups for commit in group.committed]
    return CommitColumns(
        _rows(newer, commits),
        np.array([commit.offset for commit in commits], dtype=np.int64),
        np.array(before, dtype=np.int64),
    )


def _rows(snapshot: ClusterSnapshot, commits: list[CommittedOffset]) -> Longs:
    """int64[C]: the partition table is sorted by topic and partition."""
    table = snapshot.partitions
    if not len(table) or not commits:
        return np.full(len(commits), -1, dtype=np.int64)
    index = {topic.name: number for number, topic in enumerate(snapshot.topics)}
    topics = np.array([index.get(commit.topic, -1) for commit in commits], dtype=np.int64)
    wanted = topics << 32 | np.array([commit.partition for commit in commits], dtype=np.int64)
    keys = table.topic.astype(np.int64) << 32 | table.partition
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, place, -1)


def with_read_rates(
    older: ClusterSnapshot, newer: ClusterSnapshot, commits: CommitColumns, row_before: Longs, window_s: float
) -> tuple[Group, ...]:
    """The groups of ``newer`` with what each read; a rate that is unknown here stays as it was.

    ``row_before`` int64[P]: the older row of each newer partition, -1 where it is another one.
    """
    if window_s < SHORTEST_WINDOW_S:
        return newer.groups
    read = _read_messages(newer, commits, row_before)
    read[~_seen_reading(older, newer)] = np.nan
    read /= window_s
    rates, known = read.tolist(), (read <= LARGEST_RATE).tolist()  # nan is not
    groups, first = [], 0
    for group in newer.groups:
        span = slice(first, first + len(group.committed))
        first = span.stop
        if any(known[span]):
            rows = zip(group.committed, rates[span], known[span], strict=True)
            committed = tuple(_with_rate(commit, rate) if is_known else commit for commit, rate, is_known in rows)
            groups.append(replace(group, committed=committed))
        else:
            groups.append(group)
    return tuple(groups)


def _read_messages(newer: ClusterSnapshot, commits: CommitColumns, row_before: Longs) -> Floats:
    """float64[C], ``nan`` where the commits do not tell."""
    found = np.full(len(commits.row), np.nan)
    there = np.flatnonzero((commits.row >= 0) & (commits.before != NO_COMMIT))
    there = there[row_before[commits.row[there]] >= 0]
    row, before = commits.row[there], commits.before[there]
    start, end = newer.partitions.start_offset[row], newer.partitions.end_offset[row]
    reached = np.where(end < 0, commits.offset[there], np.minimum(commits.offset[there], end))
    is_told = (commits.offset[there] >= before) & (reached >= before) & (start <= before)
    found[there[is_told]] = (reached - before)[is_told]
    return found


def _seen_reading(older: ClusterSnapshot, newer: ClusterSnapshot) -> Flags:
    """bool[C]: of a group whose commits tell what was read: it had members in both readings, or in none."""
    had_members = {group.id: bool(group.members) for group in older.groups}
    is_seen = [
        had_members.get(group.id) is bool(group.members) and group.type is not GroupType.SHARE for group in newer.groups
    ]
    return np.repeat(np.array(is_seen, dtype=np.bool_), [len(group.committed) for group in newer.groups])


def _with_rate(commit: CommittedOffset, rate: float) -> CommittedOffset:
    return CommittedOffset(commit.topic, commit.partition, commit.offset, commit.lag, rate)
