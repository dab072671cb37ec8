"""Partitions that no member of their group has, and groups that are read by a program that does not join them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from kafka_rebalance.arrays import NOBODY, Flags, Longs
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.findings.consumers.lag_rules import known_lag, seconds_behind
from kafka_rebalance.findings.context import MOST_NAMED, FindingContext, Remedy, finding, threshold
from kafka_rebalance.findings.finding import Confidence, Finding, Severity
from kafka_rebalance.groups.group_input import GroupInput
from kafka_rebalance.snapshot.load import LoadKind
from kafka_rebalance.snapshot.model import CommittedOffset, Group
from kafka_rebalance.snapshot.partition_table import UNKNOWN_OFFSET


def unread_partitions(context: FindingContext) -> Iterator[Finding]:
    """Partitions of topics that the group reads or subscribes to, which no member has."""
    for group_input in context.judged_inputs:
        group, rates = group_input.group, group_input.rates
        rows = context.rows_of(group_input)
        lag = known_lag(context, group_input)
        unread = unread_rows(group_input) & _is_shown(context, rows)
        if not unread.any():
            continue
        names = [context.snapshot.name_of(row) for row in rows[unread].tolist()]
        committed = {(commit.topic, commit.partition) for commit in group.committed}
        new = [name for name in names if _is_new(group_input, name, committed)]
        waiting = float(lag[unread & (lag > 0)].sum())
        written = rates.in_messages_per_s[unread]
        is_written = bool((written > 0).any())
        is_empty = not is_written and bool((lag[unread] == 0).all())
        severity = Severity.HIGH if waiting or is_written else Severity.LOW if is_empty else Severity.MEDIUM
        seconds = seconds_behind(waiting, written) if waiting else None
        unknown = int(np.isnan(lag[unread]).sum())
        yield finding(
            "unread_partitions",
            severity,
            group.id,
            {
                "unread_partitions": len(names),
                "partition_names": tuple(names),
                "new_partitions": len(new),
                "partitions_of_unknown_lag": unknown,
                "partitions": len(rows),
                "members": len(group.members),
                "assignor": group.protocol,
                "lag_messages": None if unknown == len(names) else int(waiting),
                "lag_seconds": seconds,
                "in_messages_per_s": None if np.isnan(written).any() else float(written.sum()),
            },
            Remedy(
                fact(
                    FactCode.UNREAD_PARTITIONS,
                    partitions=tuple(names[:MOST_NAMED]),
                    partition_count=len(names),
                    lag_messages=int(waiting),
                    lag_seconds=seconds,
                    are_new=len(new) == len(names),
                ),
                cost=fact(FactCode.ONE_REBALANCE),
                gain=len(names) / len(rows),
            ),
        )


def topic_without_reader(context: FindingContext) -> Iterator[Finding]:
    """The group committed offsets of topics that none of its members reads now, and messages wait behind these."""
    messages, table = context.snapshot.load(LoadKind.IN_MESSAGES_PER_S), context.snapshot.partitions
    judged = {group_input.group.id: group_input for group_input in context.judged_inputs}
    for group in context.snapshot.groups:
        known = judged.get(group.id)
        if known is None or (known.reader == NOBODY).all():
            continue  # a group of which no member has a partition has not begun to read
        current = _current_topics(known)
        late = [
            (commit, row)
            for commit, row in _commits_with_rows(context, group)
            if commit.topic not in current and table.end_offset[row] > commit.offset
        ]
        if not late:
            continue
        topics = sorted({commit.topic for commit, _ in late})
        lag = sum(int(table.end_offset[row]) - commit.offset for commit, row in late)
        seconds = seconds_behind(lag, messages[[row for _, row in late]])
        yield finding(
            "topic_without_reader",
            Severity.LOW,
            group.id,
            {
                "topics": len(topics),
                "topic_names": tuple(topics),
                "partitions": len(late),
                "members": len(group.members),
                "lag_messages": lag,
                "lag_seconds": seconds,
            },
            Remedy(
                fact(
                    FactCode.TOPIC_WITHOUT_READER,
                    topics=tuple(topics[:MOST_NAMED]),
                    topic_count=len(topics),
                    lag_messages=lag,
                    lag_seconds=seconds,
                ),
                gain=0.0,
            ),
        )


def read_without_joining(context: FindingContext) -> Iterator[Finding]:
    """The commits of a group without members moved between two snapshots."""
    messages, table = context.snapshot.load(LoadKind.IN_MESSAGES_PER_S), context.snapshot.partitions
    for group in context.snapshot.groups:
        if group.members or group.member_count or group.state != "Empty" or not group.type.has_strategy:
            continue
        read = [
            _Read(commit, row, float(commit.read_messages_per_s))
            for commit, row in _commits_with_rows(context, group)
            if commit.read_messages_per_s is not None
        ]
        rate = sum(one.messages_per_s for one in read)
        if not rate > 0:
            continue
        rows = [one.row for one in read]
        ends = table.end_offset[rows]
        lag = (
            None
            if (ends == UNKNOWN_OFFSET).any()
            else sum(max(0, int(end) - one.commit.offset) for one, end in zip(read, ends.tolist(), strict=True))
        )
        written = float(messages[rows].sum()) if context.has_rates_of_window else float("nan")
        seconds = None if lag is None else seconds_behind(lag, np.array([written]))
        ratio = rate / written if written > 0 else None
        is_slow = ratio is not None and ratio < threshold("lag_growing", "read_ratio")
        is_late = seconds is not None and seconds >= threshold("read_without_joining", "behind_seconds")
        topics = sorted({one.commit.topic for one in read if one.messages_per_s > 0})
        yield finding(
            "read_without_joining",
            Severity.HIGH if is_slow and is_late else Severity.INFO,
            group.id,
            {
                "partitions": len(read),
                "topic_names": tuple(topics),
                "read_messages_per_s": rate,
                "in_messages_per_s": None if np.isnan(written) else written,
                "read_ratio": ratio,
                "lag_messages": lag,
                "lag_seconds": seconds,
            },
            Remedy(
                fact(
                    FactCode.READ_WITHOUT_JOINING,
                    topics=tuple(topics[:MOST_NAMED]),
                    topic_count=len(topics),
                    read_ratio=ratio if is_slow else None,
                    lag_messages=lag,
                    lag_seconds=seconds,
                ),
                gain=1 - ratio if is_slow and ratio is not None else 0.0,
            ),
            confidence=Confidence.ESTIMATED,
        )


def unread_rows(group_input: GroupInput) -> Flags:
    """Return the partitions without a reader of topics that a member reads or subscribes to."""
    current = _current_topics(group_input)
    counts = np.maximum(group_input.partition_counts, 0)
    is_current = np.repeat(np.array([topic in current for topic in group_input.topics], dtype=np.bool_), counts)
    return np.asarray(is_current & (group_input.reader == NOBODY))


def _is_shown(context: FindingContext, rows: Longs) -> Flags:
    """A group table that was cut leaves out rows of partitions that members read: those are no finding."""
    table = context.snapshot.partitions
    return np.asarray((table.replica_counts[rows] > 0) | (table.end_offset[rows] != UNKNOWN_OFFSET))


class _Read(NamedTuple):
    commit: CommittedOffset
    row: int
    messages_per_s: float


def _current_topics(group_input: GroupInput) -> set[str]:
    """Topics that a member reads or subscribes to; what it owned when it joined may be past."""
    members = group_input.group.members
    return {topic for member in members for topic in (*(member.subscription or ()), *(t for t, _ in member.assigned))}


def _commits_with_rows(context: FindingContext, group: Group) -> Iterator[tuple[CommittedOffset, int]]:
    for commit in group.committed:
        row = context.row_of.get((commit.topic, commit.partition))
        if row is not None:
            yield commit, row


def _is_new(group_input: GroupInput, name: str, committed: set[tuple[str, int]]) -> bool:
    """Never committed, and above all partitions of its topic that have a reader: added after the last rebalance."""
    topic, _, number = name.rpartition("-")
    place = group_input.topics.index(topic)
    readers = group_input.reader[group_input.first_row[place] : group_input.first_row[place + 1]]
    read = np.flatnonzero(readers != NOBODY)
    return (topic, int(number)) not in committed and len(read) > 0 and int(number) > int(read[-1])


__all__ = ["read_without_joining", "topic_without_reader", "unread_partitions", "unread_rows"]
