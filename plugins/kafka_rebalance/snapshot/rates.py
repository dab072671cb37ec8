"""Rates measured between two snapshots of one cluster.

Promises, in this order
1. Nothing is invented: an unknown rate is ``nan``. A recreated topic (other topic id, end offset that fell, start
   offset 0 again) has no rate in this window.
2. A rate is a lower bound: log dirs grow only by written bytes, and groups that never commit are invisible. (A group
   reset forward looks as if it had read.) Reads without visible commits (``UnreadGroup``) make bytes read unknown.
3. Given rates (Prometheus, a file) stay.

For one partition over ``window_s`` seconds::

    in_messages_per_s = (end - end before) / window
    in_bytes_per_s    = (size - size before) / window      of the current leader's replica
    out_bytes_per_s   = sum over groups of (committed - committed before) x bytes a message / window

The size grows too little after deletion: retention (the start offset moved or is unknown), compaction, tiering, or a
replica that shrank. Then the greater of two lower bounds counts: the growth, and messages x bytes a message, where
bytes a message = size / (end - start), of a tiered topic those on disk. With an unknown start and an unchanged size the
rate is unknown.
Example: 100 s apart, size 1,000 → 6,000 bytes, end offset 10 → 60, one group's commit 10 → 50: 50 bytes/s and 0.5
messages/s in, 100 bytes a message, 40 bytes/s out.

A group's read rate (``with_read_rates``) is unknown with: no earlier commit, a commit that fell or is beyond the end, a
recreated topic, retention past the older commit (a possible reset), members in only one of the snapshots, less than
SHORTEST_WINDOW_S between them, a share group (no commits). A group without members reads nothing.

Complexity: O((P + R) log R) for P partitions and R replicas, O(C log P) for C commits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from kafka_assignors.arrays import Flags, Floats, Ints, Longs
from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.snapshot.coverage import Right, missing_rights
from kafka_rebalance.snapshot.figures import LARGEST_RATE, LoadKind, LoadSource
from kafka_rebalance.snapshot.group import CommittedOffset, Group, GroupType
from kafka_rebalance.snapshot.model import ClusterSnapshot, CoverageGap
from kafka_rebalance.snapshot.partition_table import UNKNOWN_OFFSET, LoadColumn, PartitionLoads, PartitionTable
from kafka_rebalance.snapshot.times import time_text

NO_COMMIT = -1
SHORTEST_WINDOW_S = 30.0  # consumers commit every 5 s: one commit is a sixth of it


@dataclass(frozen=True, slots=True, eq=False)
class CommitColumns:
    """All commits of a snapshot, with those of an older one.

    int64[C] each: ``row`` of the partition (-1: not in the cluster), ``offset`` now and ``before`` (NO_COMMIT).
    """

    row: Longs
    offset: Longs
    before: Longs


def commit_columns(older: ClusterSnapshot, newer: ClusterSnapshot) -> CommitColumns:
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
    table = snapshot.partitions
    if not len(table) or not commits:
        return np.full(len(commits), -1, dtype=np.int64)
    index = {topic.name: number for number, topic in enumerate(snapshot.topics)}
    topics = np.array([index.get(commit.topic, -1) for commit in commits], dtype=np.int64)
    commit_keys = topics << 32 | np.array([commit.partition for commit in commits], dtype=np.int64)
    keys = table.topic.astype(np.int64) << 32 | table.partition
    position = np.minimum(np.searchsorted(keys, commit_keys), len(keys) - 1)
    return np.where(keys[position] == commit_keys, position, -1)


def with_read_rates(
    older: ClusterSnapshot, newer: ClusterSnapshot, commits: CommitColumns, row_before: Longs, window_s: float
) -> tuple[Group, ...]:
    """Return groups with read rates; an unknown rate keeps its earlier value.

    ``row_before`` int64[P]: the older row of each partition, -1 where it is new or recreated.
    """
    if window_s < SHORTEST_WINDOW_S:
        return newer.groups
    read = _read_messages(newer, commits, row_before)
    read[~_seen_reading(older, newer)] = np.nan
    read /= window_s
    rates, is_plausible = read.tolist(), (read <= LARGEST_RATE).tolist()
    groups, first = [], 0
    for group in newer.groups:
        span = slice(first, first + len(group.committed))
        first = span.stop
        if any(is_plausible[span]):
            rows = zip(group.committed, rates[span], is_plausible[span], strict=True)
            committed = tuple(_with_rate(commit, rate) if is_known else commit for commit, rate, is_known in rows)
            groups.append(replace(group, committed=committed))
        else:
            groups.append(group)
    return tuple(groups)


def _read_messages(newer: ClusterSnapshot, commits: CommitColumns, row_before: Longs) -> Floats:
    messages = np.full(len(commits.row), np.nan)
    there = np.flatnonzero((commits.row >= 0) & (commits.before != NO_COMMIT))
    there = there[row_before[commits.row[there]] >= 0]
    row, before = commits.row[there], commits.before[there]
    start, end = newer.partitions.start_offset[row], newer.partitions.end_offset[row]
    reached = np.where(end < 0, commits.offset[there], np.minimum(commits.offset[there], end))
    is_usable = (commits.offset[there] >= before) & (reached >= before) & (start <= before)
    messages[there[is_usable]] = (reached - before)[is_usable]
    return messages


def _seen_reading(older: ClusterSnapshot, newer: ClusterSnapshot) -> Flags:
    had_members = {group.id: bool(group.members) for group in older.groups}
    is_seen = [
        had_members.get(group.id) is bool(group.members) and group.type is not GroupType.SHARE for group in newer.groups
    ]
    return np.repeat(np.array(is_seen, dtype=np.bool_), [len(group.committed) for group in newer.groups])


def _with_rate(commit: CommittedOffset, rate: float) -> CommittedOffset:
    return CommittedOffset(commit.topic, commit.partition, commit.offset, commit.lag, rate)


_NO_MEMBERS = ("Empty", "Dead")
_COMMITS = (FactCode.LACKS_COMMITS, FactCode.LACKS_OFFSETS, FactCode.LACKS_GROUP)


class UnreadCause(StrEnum):
    SHARE_GROUP = "share_group"  # commits no offsets
    COMMITS_IN_PART = "commits_in_part"
    COMMITS_NOT_READ = "commits_not_read"
    SOME_COMMITS_NOT_READ = "some_commits_not_read"


@dataclass(frozen=True, slots=True)
class UnreadGroup:
    """A group whose reads of ``topics`` are invisible; None: of any topic."""

    group: str
    topics: frozenset[str] | None
    cause: UnreadCause
    group_type: GroupType


def may_hide_groups(snapshot: ClusterSnapshot) -> bool:
    return Right.DESCRIBE_CLUSTER in missing_rights(snapshot.coverage) or any(
        gap.lacks(FactCode.LACKS_GROUPS, FactCode.LACKS_GROUPS_OF_BROKER) for gap in snapshot.coverage
    )


def unread_groups(snapshot: ClusterSnapshot) -> tuple[UnreadGroup, ...]:
    gaps: dict[str, list[CoverageGap]] = {}
    untold = set()
    for gap in snapshot.coverage:
        if gap.subject_type == "group":
            gaps.setdefault(gap.subject, []).append(gap)
        elif gap.subject_type == "broker" and gap.lacks(FactCode.LACKS_COMMITS_OF_GROUPS):
            untold.add(gap.subject)
    candidates = (
        _unread_group(group, gaps.get(group.id, []), snapshot, is_untold=str(group.coordinator) in untold)
        for group in snapshot.groups
    )
    return tuple(unread for unread in candidates if unread is not None)


def _unread_group(
    group: Group, gaps: list[CoverageGap], snapshot: ClusterSnapshot, *, is_untold: bool
) -> UnreadGroup | None:
    """``is_untold``: its coordinator did not report all commits."""
    if group.state in _NO_MEMBERS and not group.members:
        return None
    has_no_commits = any(gap.lacks(*_COMMITS) for gap in gaps) or (is_untold and not group.committed)
    named = _topic_names(group)
    if group.type is GroupType.SHARE:
        return UnreadGroup(group.id, named if group.members else None, UnreadCause.SHARE_GROUP, group.type)
    if group.type in (GroupType.STREAMS, GroupType.UNKNOWN):
        committed = {commit.topic for commit in group.committed}
        own = {topic.name for topic in snapshot.topics if topic.name.startswith(f"{group.id}-")}
        topics = frozenset(named | committed | own)
        unread_topics = topics if committed or group.members else None
        return UnreadGroup(group.id, unread_topics, UnreadCause.COMMITS_IN_PART, group.type)
    if has_no_commits:
        return UnreadGroup(group.id, named or None, UnreadCause.COMMITS_NOT_READ, group.type)
    partly = frozenset(gap.what.args["topic"] for gap in gaps if gap.what.code is FactCode.LACKS_COMMIT)
    return UnreadGroup(group.id, partly, UnreadCause.SOME_COMMITS_NOT_READ, group.type) if partly else None


def _topic_names(group: Group) -> frozenset[str]:
    subscribed = {topic for member in group.members for topic in member.subscription or ()}
    parts = (part for member in group.members for part in (member.assigned, member.target))
    return frozenset(subscribed | {topic for part in parts for topic, _ in part or ()})


_BETTER_SOURCES = (LoadSource.PROMETHEUS, LoadSource.GIVEN)


def measure_rates(older: ClusterSnapshot, newer: ClusterSnapshot) -> ClusterSnapshot:
    """Return ``newer`` with loads and read rates since ``older``.

    Raises InvalidInputError for two clusters, a missing time, or times not in order.
    """
    window_s = window_between(older, newer)
    row_before = _rows_before(older, newer)
    messages = _delta(older.partitions.end_offset, newer.partitions.end_offset, row_before)
    in_bytes, message_bytes, in_source = _written_bytes(older, newer, row_before, messages)
    commits = commit_columns(older, newer)
    read = _read(older, newer, commits, row_before, message_bytes)
    measured = {
        LoadKind.IN_MESSAGES_PER_S: (messages, LoadSource.OFFSETS_TIMES_MESSAGE_SIZE),
        LoadKind.IN_BYTES_PER_S: (in_bytes, in_source),
        LoadKind.OUT_BYTES_PER_S: (read, LoadSource.OFFSETS_TIMES_MESSAGE_SIZE),
    }
    columns = dict(newer.loads.columns)
    for kind, (amount, source) in measured.items():
        column = newer.loads.column(kind)
        if (column is not None and column.source in _BETTER_SOURCES) or np.isnan(amount).all():
            continue
        columns[kind] = LoadColumn(amount / window_s, source, window_s)
    gaps = [*_gaps(older, newer, row_before, in_bytes), *_unread_gaps(older, newer)]
    groups = with_read_rates(older, newer, commits, row_before, window_s)
    return replace(newer, groups=groups, loads=PartitionLoads(columns), coverage=(*newer.coverage, *gaps))


def _gaps(older: ClusterSnapshot, newer: ClusterSnapshot, row_before: Longs, in_bytes: Floats) -> list[CoverageGap]:
    column = newer.loads.column(LoadKind.IN_BYTES_PER_S)
    if column is not None and column.source in _BETTER_SOURCES:
        return []
    unseen = (row_before >= 0) & _retention_unknown(older, newer, row_before)
    unknown, partial = int((unseen & np.isnan(in_bytes)).sum()), int((unseen & (in_bytes > 0)).sum())
    if not unknown and not partial:
        return []
    reason = fact(
        FactCode.RETENTION_NOT_SEEN,
        unseen=int(unseen.sum()),
        partitions=len(newer.partitions),
        without_rate=unknown,
        with_lower_bound=partial,
    )
    return [CoverageGap("cluster", newer.cluster, fact(FactCode.LACKS_RATES), reason)]


def window_between(older: ClusterSnapshot, newer: ClusterSnapshot) -> float:
    ids = {older.cluster_id, newer.cluster_id} - {None}
    if len(ids) > 1:
        raise InvalidInputError.at(
            "rates", f"the snapshots are of two clusters, {older.cluster_id} and {newer.cluster_id}"
        )
    if older.captured_at is None or newer.captured_at is None:
        raise InvalidInputError.at("rates", "a snapshot has no time", "say when each was taken (captured_at)")
    window_s = (newer.captured_at - older.captured_at).total_seconds()
    if window_s <= 0:
        problem = f"{time_text(newer.captured_at)} is not after {time_text(older.captured_at)}"
        raise InvalidInputError.at("rates", problem, "give the older snapshot first")
    return window_s


@dataclass(frozen=True, slots=True, eq=False)
class NamedPartitions:
    """P partitions: ``topic`` int32[P] indexes ``names`` and ``ids`` (None: unknown); ``partition`` int32[P]."""

    names: tuple[str, ...]
    ids: tuple[str | None, ...]
    topic: Ints
    partition: Ints

    def __len__(self) -> int:
        return len(self.topic)


def named_partitions(snapshot: ClusterSnapshot) -> NamedPartitions:
    names = tuple(topic.name for topic in snapshot.topics)
    ids = tuple(topic.topic_id for topic in snapshot.topics)
    return NamedPartitions(names, ids, snapshot.partitions.topic, snapshot.partitions.partition)


def rows_of_same(before: NamedPartitions, now: ClusterSnapshot) -> Longs:
    """Return int64[P]: the row in ``before`` of each partition of ``now``, -1 for none.

    A recreated topic has another id.
    """
    index = {topic.name: i for i, topic in enumerate(now.topics)}
    topic_now = np.full(len(before.names), -1, dtype=np.int64)
    for number, (name, topic_id) in enumerate(zip(before.names, before.ids, strict=True)):
        matched_topic = index.get(name)
        if matched_topic is not None and (None in (topic_id, now.topics[matched_topic].topic_id)
                                  or topic_id == now.topics[matched_topic].topic_id):  # fmt: skip
            topic_now[number] = matched_topic
    if not len(before) or not len(now.partitions):
        return np.full(len(now.partitions), -1, dtype=np.int64)
    topics = topic_now[before.topic]
    rows = np.flatnonzero(topics >= 0)
    keys = topics[rows] << 32 | before.partition[rows]
    keys_now = now.partitions.topic.astype(np.int64) << 32 | now.partitions.partition
    return _look_up(keys, rows, keys_now)


def _look_up(keys: Longs, values: Longs, sought: Longs) -> Longs:
    if not len(keys):
        return np.full(len(sought), -1, dtype=np.int64)
    order = np.argsort(keys, kind="stable")
    position = np.minimum(np.searchsorted(keys[order], sought), len(keys) - 1)
    return np.where(keys[order][position] == sought, values[order][position], -1)


def _rows_before(older: ClusterSnapshot, newer: ClusterSnapshot) -> Longs:
    row_before = rows_of_same(named_partitions(older), newer)
    ends = _delta(older.partitions.end_offset, newer.partitions.end_offset, row_before)
    # The end offset fell, or the log begins again: recreated under the same name.
    was_shorter = (row_before >= 0) & np.isnan(ends) & _both_known(older, newer, row_before)
    row_before[was_shorter | _begins_anew(older, newer, row_before)] = -1
    return row_before


def _begins_anew(older: ClusterSnapshot, newer: ClusterSnapshot, row_before: Longs) -> Flags:
    """bool[P]: a start offset is 0 again. A new leader may lag behind deletion a little, but not to 0."""
    before = older.partitions.start_offset
    if not len(before):
        return np.zeros(len(row_before), dtype=np.bool_)
    return np.asarray((row_before >= 0) & (before[row_before] > 0) & (newer.partitions.start_offset == 0))


def _both_known(older: ClusterSnapshot, newer: ClusterSnapshot, row_before: Longs) -> Flags:
    before = older.partitions.end_offset
    has_before = before[row_before] >= 0 if len(before) else np.zeros(len(row_before), dtype=np.bool_)
    return has_before & (newer.partitions.end_offset >= 0)


def _delta(before: Longs, now: Longs, row_before: Longs) -> Floats:
    if not len(before):
        return np.full(len(now), np.nan)
    earlier = np.where(row_before >= 0, before[row_before], UNKNOWN_OFFSET)
    is_known = (earlier >= 0) & (now >= earlier)
    return np.where(is_known, (now - earlier).astype(np.float64), np.nan)


def _written_bytes(
    older: ClusterSnapshot, newer: ClusterSnapshot, row_before: Longs, messages: Floats
) -> tuple[Floats, Floats, LoadSource]:
    """Return bytes written, bytes a message, and the source of most bytes."""
    size_before = _size_before(older, newer.partitions, row_before)
    size = newer.partitions.leader_log_bytes
    growth = size - size_before
    # A log that received messages grows. If not, data was deleted, or the dump of sizes is older.
    shrinks = _may_shrink(older, newer, row_before) | (growth < 0) | ((growth == 0) & (messages > 0))
    begins, ends = newer.partitions.first_on_disk, newer.partitions.end_offset  # of the part that the size covers
    span = np.where((begins >= 0) & (ends > begins), (ends - begins).astype(np.float64), np.nan)
    average = size / span
    with np.errstate(divide="ignore", invalid="ignore"):
        exact = np.where(~shrinks & (growth > 0) & (messages > 0), growth / messages, np.nan)
        at_least = np.where((growth > 0) & (messages > 0), growth / messages, np.nan)
    message_bytes = np.where(np.isnan(exact), np.where(np.isnan(average), at_least, average), exact)
    estimate = np.where(messages == 0, 0.0, messages * message_bytes)
    bound = np.fmax(np.where(growth > 0, growth, np.nan), estimate)
    trusted = ~shrinks & ~np.isnan(growth)
    written = np.where(trusted, growth, bound)
    is_estimated = ~trusted & (estimate > np.where(growth > 0, growth, 0.0))
    rests_on_growth = np.nansum(written[~is_estimated]) >= np.nansum(written[is_estimated])
    source = LoadSource.LOG_DIR_GROWTH if rests_on_growth else LoadSource.OFFSETS_TIMES_MESSAGE_SIZE
    return written, message_bytes, source


def _size_before(older: ClusterSnapshot, now: PartitionTable, row_before: Longs) -> Floats:
    """float64[P]: earlier size of the current leader's replica.

    ``nan`` where it was absent, being added, or out of sync (after a loss it copies whole logs).
    """
    before = older.partitions
    result = np.full(len(now), np.nan)
    if not len(before):
        return result
    cell_keys = before.row_of_replica << 32 | before.replicas
    cells = np.arange(len(before.replicas), dtype=np.int64)
    leader_keys = np.where((row_before >= 0) & (now.leader >= 0), row_before << 32 | now.leader, -1)
    cell = _look_up(cell_keys, cells, leader_keys)
    sizes = np.where(before.replica_log_bytes < 0, np.nan, before.replica_log_bytes.astype(np.float64))
    if before.in_sync is not None:
        sizes[~before.in_sync & (before.replicas != before.leader[before.row_of_replica])] = np.nan
    result[cell >= 0] = sizes[cell[cell >= 0]]
    for row in np.flatnonzero(cell >= 0).tolist() if before.adding else ():
        if int(now.leader[row]) in before.adding.get(int(row_before[row]), ()):
            result[row] = np.nan
    return result


def _may_shrink(older: ClusterSnapshot, newer: ClusterSnapshot, row_before: Longs) -> Flags:
    shrinking_topics = np.array(
        [
            "compact" in topic.configs.get("cleanup.policy", "")
            or topic.configs.get("remote.storage.enable", "false") == "true"
            for topic in newer.topics
        ],
        dtype=np.bool_,
    )
    by_topic = (
        shrinking_topics[newer.partitions.topic] if len(newer.topics) else np.zeros(len(newer.partitions), np.bool_)
    )
    moved = _delta(older.partitions.start_offset, newer.partitions.start_offset, row_before) > 0
    return np.asarray(by_topic | moved | _retention_unknown(older, newer, row_before), dtype=np.bool_)


def _retention_unknown(older: ClusterSnapshot, newer: ClusterSnapshot, row_before: Longs) -> Flags:
    keeps_all = np.array(
        [all(topic.configs.get(f"retention.{limit}") == "-1" for limit in ("ms", "bytes")) for topic in newer.topics],
        dtype=np.bool_,
    )
    by_topic = keeps_all[newer.partitions.topic] if len(newer.topics) else np.zeros(len(newer.partitions), np.bool_)
    moved = _delta(older.partitions.start_offset, newer.partitions.start_offset, row_before)
    return np.asarray(np.isnan(moved) & (newer.partitions.start_offset != 0) & ~by_topic, dtype=np.bool_)


def _read(
    older: ClusterSnapshot, newer: ClusterSnapshot, commits: CommitColumns, row_before: Longs, message_bytes: Floats
) -> Floats:
    """Return bytes read by committing groups, ``nan`` where the list of groups is unknown."""
    if not (older.groups and newer.groups) or may_hide_groups(older) or may_hide_groups(newer):
        return np.full(len(newer.partitions), np.nan)
    read_messages = np.where(row_before >= 0, 0.0, np.nan)
    unseen = np.zeros(len(newer.partitions), dtype=np.bool_)
    there = np.flatnonzero(commits.row >= 0)
    there = there[row_before[commits.row[there]] >= 0]
    row, before = commits.row[there], commits.before[there]
    then = row_before[row]
    # A first commit may skip data before the older snapshot.
    since = np.where(before == NO_COMMIT, older.partitions.end_offset[then], before)
    unseen[row[since < 0]] = True
    # A reset goes here: data deleted earlier, or not yet written, was not read.
    begun = np.maximum(since, older.partitions.start_offset[then])
    end = newer.partitions.end_offset[row]
    reached = np.where(end < 0, commits.offset[there], np.minimum(commits.offset[there], end))
    amount = np.where(since < 0, 0, np.maximum(0, reached - begun))
    read_messages += np.bincount(row, weights=amount, minlength=len(newer.partitions))
    read_messages[unseen & (read_messages == 0)] = np.nan
    for unread in _unread_groups(older, newer):
        read_messages[_rows_of(newer, unread.topics)] = np.nan
    return np.where(read_messages == 0, 0.0, read_messages * message_bytes)


def _unread_groups(older: ClusterSnapshot, newer: ClusterSnapshot) -> list[UnreadGroup]:
    now = unread_groups(newer)
    there = {group.id for group in newer.groups}
    unread_now = {unread.group for unread in now}
    before = (unread for unread in unread_groups(older) if unread.group in there - unread_now)
    return [*now, *before]


def _rows_of(snapshot: ClusterSnapshot, topics: frozenset[str] | None) -> Flags:
    if topics is None:
        return np.ones(len(snapshot.partitions), dtype=np.bool_)
    is_read = np.array([topic.name in topics for topic in snapshot.topics], dtype=np.bool_)
    return np.asarray(
        is_read[snapshot.partitions.topic] if len(is_read) else np.zeros(len(snapshot.partitions), np.bool_)
    )


def _unread_gaps(older: ClusterSnapshot, newer: ClusterSnapshot) -> list[CoverageGap]:
    column = newer.loads.column(LoadKind.OUT_BYTES_PER_S)
    if (column is not None and column.source in _BETTER_SOURCES) or not (older.groups and newer.groups):
        return []
    what = fact(FactCode.LACKS_LOAD, kind=LoadKind.OUT_BYTES_PER_S.value)
    if may_hide_groups(older) or may_hide_groups(newer):
        return [CoverageGap("cluster", newer.cluster, what, fact(FactCode.GROUPS_MAY_BE_HIDDEN))]
    gaps = []
    for unread in _unread_groups(older, newer):
        count = int(_rows_of(newer, unread.topics).sum())
        if count:
            reason = fact(
                FactCode.GROUP_READS_UNSEEN,
                cause=unread.cause.value,
                group_type=unread.group_type.value,
                unknown_partitions=count,
                partitions=len(newer.partitions),
            )
            gaps.append(CoverageGap("group", unread.group, what, reason))
    return gaps
