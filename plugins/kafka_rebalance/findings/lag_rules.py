"""Findings on lag and reading."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from kafka_assignors.arrays import ABSENT, Flags, Floats, Longs
from kafka_assignors.releases import Client, release_of
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.findings.context import MOST_NAMED, FindingContext, Remedy, finding, threshold
from kafka_rebalance.findings.finding import Confidence, Finding, Severity
from kafka_rebalance.groups.group_input import GroupInput
from kafka_rebalance.groups.member_clients import group_client, set_strategy, strategies_of
from kafka_rebalance.groups.strategies import OWN
from kafka_rebalance.groups.subscriptions import SubscriptionBasis
from kafka_rebalance.scoring.assignment_scores import per_member
from kafka_rebalance.scoring.drain import COMMIT_INTERVAL_S, seconds_behind
from kafka_rebalance.snapshot.figures import LoadKind
from kafka_rebalance.snapshot.model import CommittedOffset, Group, GroupType, Member
from kafka_rebalance.snapshot.partition_table import UNKNOWN_OFFSET


def lag_concentrated(context: FindingContext) -> Iterator[Finding]:
    """Few members, or few partitions of a topic, are far behind the others."""
    for group_input in context.judged_inputs:
        group, reader, rates = group_input.group, group_input.reader, group_input.rates
        lag = known_lag(context, group_input)
        late, is_of_members = find_concentration(group_input, lag)
        total, in_all = float(lag[late].sum()), float(np.nansum(lag[reader != ABSENT]))
        if not late.any() or total < threshold("lag_concentrated", "share_of_lag_ratio") * in_all:
            continue
        seconds = seconds_behind(total, rates.in_messages_per_s[late])
        if seconds is not None and seconds < threshold("lag_concentrated", "behind_seconds"):
            continue
        owners = [group.members[number] for number in sorted(set(reader[late].tolist()))]
        names = [context.snapshot.name_of(row) for row in context.rows_of(group_input)[late].tolist()]
        unknown = int((np.isnan(lag) & (reader != ABSENT)).sum())
        working = len(set(reader[reader != ABSENT].tolist()))
        is_late = seconds is None or seconds >= threshold("lag_concentrated", "medium_behind_seconds")
        yield finding(
            "lag_concentrated",
            Severity.MEDIUM if is_late else Severity.LOW,
            group.id,
            {
                "assignor": group.protocol,
                "concentrated_at": "members" if is_of_members else "partitions",
                "members_behind": len(owners),
                "member_ids": tuple(member.id for member in owners),
                "members": len(group.members),
                "partitions_behind": len(names),
                "partition_names": tuple(names),
                "partitions": len(lag),
                "partitions_of_unknown_lag": unknown,
                "lag_messages": int(total),
                "lag_seconds": seconds,
                "share_of_lag_ratio": total / in_all,
            },
            Remedy(
                fact(
                    FactCode.LAG_CONCENTRATED,
                    share_of_lag=total / in_all,
                    is_all_known=not unknown,
                    lag_messages=int(total),
                    lag_seconds=seconds,
                    is_at_members=is_of_members,
                    members_behind=len(owners),
                    members=_members(owners),
                    working_members=working,
                    partitions_behind=len(names),
                    partitions=tuple(names[:MOST_NAMED]),
                    read_partitions=int((reader != ABSENT).sum()),
                    has_rates=context.has_rates_of_window,
                ),
                gain=total / in_all,
            ),
            confidence=Confidence.MEASURED,
        )


def partition_not_read(context: FindingContext) -> Iterator[Finding]:
    """Commits of partitions with a reader did not move between two snapshots, despite writes."""
    column = context.snapshot.loads.column(LoadKind.IN_MESSAGES_PER_S)
    for group_input in context.judged_inputs:
        group, reader, rates = group_input.group, group_input.reader, group_input.rates
        standing = standing_rows(context, group_input)
        if not standing.any():
            continue
        owners = sorted(set(reader[standing].tolist()))
        beside = np.isin(reader, owners) & (rates.read_messages_per_s > 0)
        window_s = None if column is None else column.window_s
        written, lag = rates.in_messages_per_s[standing], rates.lag_messages[standing]
        longest_s = float((lag / written).max())
        names = [context.snapshot.name_of(row) for row in context.rows_of(group_input)[standing].tolist()]
        is_long = window_s is None or window_s >= threshold("partition_not_read", "behind_seconds")
        members = [group.members[number] for number in owners]
        waiting = int(lag.sum())
        yield finding(
            "partition_not_read",
            Severity.HIGH if is_long or beside.any() else Severity.MEDIUM,
            group.id,
            {
                "partitions_not_read": len(names),
                "partition_names": tuple(names),
                "partitions": len(reader),
                "member_ids": tuple(member.id for member in members),
                "members": len(group.members),
                "lag_messages": waiting,
                "lag_seconds": longest_s,
                "in_messages_per_s": float(written.sum()),
                "window_seconds": window_s,
                "partitions_that_their_members_read": int(beside.sum()),
            },
            Remedy(
                fact(
                    FactCode.PARTITION_NOT_READ,
                    partitions=tuple(names[:MOST_NAMED]),
                    partition_count=len(names),
                    window_seconds=window_s,
                    in_messages_per_s=float(written.sum()),
                    members=_members(members),
                    member_count=len(members),
                    reads_others=bool(beside.any()),
                    lag_messages=waiting,
                    lag_seconds=longest_s,
                ),
                cost=fact(FactCode.ONE_REBALANCE),
                gain=1.0,
                changes=len(members),
            ),
            confidence=Confidence.MEASURED,
        )


def known_lag(context: FindingContext, group_input: GroupInput) -> Floats:
    """Return the lag of each partition; 0 without commit and messages."""
    table, rows, lag = context.snapshot.partitions, context.rows_of(group_input), group_input.rates.lag_messages
    end = table.end_offset[rows]
    is_empty = (end == 0) | ((end > 0) & (end == table.start_offset[rows]))
    return np.where(np.isnan(lag) & is_empty, 0.0, lag)


def standing_rows(context: FindingContext, group_input: GroupInput) -> Flags:
    """Return partitions with a reader that are written, behind and not read between the two snapshots.

    Two proofs against a slow poll: it is behind by more than max.poll.interval.ms (default 5 minutes). Or messages
    waited at the first snapshot, and its member has since read its other partitions: a client fetches in turn.
    """
    rates, reader = group_input.rates, group_input.reader
    column = context.snapshot.loads.column(LoadKind.IN_MESSAGES_PER_S)
    if not context.has_rates_of_window or column is None:
        return np.zeros(len(rates.lag_messages), dtype=np.bool_)
    written, lag = rates.in_messages_per_s, rates.lag_messages
    is_unread = (reader != ABSENT) & (rates.read_messages_per_s == 0) & (written > 0) & (lag > 0)
    is_behind = lag >= threshold("partition_not_read", "behind_seconds") * written
    if column.window_s is None:
        return np.asarray(is_unread & is_behind)
    in_window = written * column.window_s
    least = np.maximum(threshold("partition_not_read", "least_waiting_messages"), COMMIT_INTERVAL_S * written)
    has_waited = is_unread & (lag - in_window >= least)
    # Read past the first snapshot's end: less is left than was written since.
    is_read_on = (rates.read_messages_per_s > 0) & (lag < in_window)
    is_left = has_waited & np.isin(reader, reader[is_read_on])
    for member in np.unique(reader[is_left]).tolist():
        others = (reader == member) & ~has_waited & (written > 0)
        is_left[reader == member] &= bool(is_read_on[others].all())
    return np.asarray(is_unread & (is_behind | is_left))


def find_concentration(group_input: GroupInput, lag: Floats) -> tuple[Flags, bool]:
    """Return the lagging partitions of few members, else few partitions; and whether it is members."""
    reader = group_input.reader
    is_read = reader != ABSENT
    of_member = per_member(reader, lag, len(group_input.group.members))
    of_member[np.bincount(reader[is_read], minlength=len(of_member)) == 0] = np.nan
    members = np.flatnonzero(_far_behind(of_member))
    held = is_read & np.isin(reader, members)
    others = lag[is_read & ~held & ~np.isnan(lag)]
    if held.any() and bool(lag[held].min() > others.max(initial=0.0)):
        return held, True
    late = np.zeros(len(lag), dtype=np.bool_)
    for first, end in zip(group_input.first_row[:-1].tolist(), group_input.first_row[1:].tolist(), strict=True):
        late[first:end] = _far_behind(np.where(is_read[first:end], lag[first:end], np.nan))
    return (late, False) if late.any() else (held, True)


def _far_behind(lags: Floats) -> Flags:
    """Return the largest set of at most half, each many times further behind than any other; without ``nan``."""
    least, times = (threshold("lag_concentrated", name) for name in ("least_lag_messages", "times_others_lag_ratio"))
    with_lag: Longs = np.flatnonzero(~np.isnan(lags))
    order = with_lag[np.argsort(-lags[with_lag], kind="stable")]
    flags = np.zeros(len(lags), dtype=np.bool_)
    for count in range(len(order) // 2, 0, -1):
        last, next_one = float(lags[order[count - 1]]), float(lags[order[count]])
        if last >= least and last >= times * max(next_one, 1.0):
            flags[order[:count]] = True
            break
    return flags


def _members(members: list[Member]) -> tuple[tuple[str, str | None], ...]:
    return tuple((member.instance_id or member.id, member.host or None) for member in members[:MOST_NAMED])


def commit_out_of_range(context: FindingContext) -> Iterator[Finding]:
    """A commit is outside the log."""
    is_of_dumps = context.snapshot.source == "dumps"
    gaps = context.snapshot.coverage
    older_ends = {gap.subject for gap in gaps if gap.reason.code is FactCode.END_OFFSETS_OLDER}
    for group in context.snapshot.groups:
        if group.type is GroupType.SHARE:
            continue  # its start follows the log's once a member reads
        beyond, below, lost = _out_of_range(context, group)
        beyond = [] if group.id in older_ends else beyond
        if not beyond and not below:
            continue
        example = (beyond or below)[0]
        yield finding(
            "commit_out_of_range",
            Severity.HIGH if beyond else Severity.MEDIUM,
            group.id,
            {"commits_beyond_end": len(beyond), "commits_below_start": len(below), "messages_deleted_unread": lost,
             "example": example},
            Remedy(
                fact(
                    FactCode.COMMIT_OUT_OF_RANGE,
                    group=group.id,
                    beyond_end=len(beyond),
                    below_start=len(below),
                    messages_deleted=lost,
                    example=example,
                ),
                gain=1.0,
            ),
            confidence=Confidence.ESTIMATED if is_of_dumps else Confidence.STRUCTURAL,
        )  # fmt: skip


def _out_of_range(context: FindingContext, group: Group) -> tuple[list[str], list[str], int]:
    table = context.snapshot.partitions
    beyond, below, lost = [], [], 0
    for commit in group.committed:
        row = context.row_of.get((commit.topic, commit.partition))
        if row is None:
            continue
        start, end = int(table.start_offset[row]), int(table.end_offset[row])
        if end != UNKNOWN_OFFSET and commit.offset > end:
            beyond.append(f"{commit.topic}-{commit.partition}")
        elif start != UNKNOWN_OFFSET and commit.offset < start:
            below.append(f"{commit.topic}-{commit.partition}")
            lost += start - commit.offset
    return beyond, below, lost


_STICKY = ("sticky", "cooperative-sticky")
_SPREADS_TOPICS = "3.7.1"  # first Java release that sorts owned partitions by number


def group_hot_partition(context: FindingContext) -> Iterator[Finding]:
    """One partition alone exceeds a member's share: its reader is the fullest."""
    for group_input in context.chosen_inputs:
        group, rates = group_input.group, group_input.rates.in_bytes_per_s
        readers = min(len(group.members), len(rates))
        total = float(rates.sum()) if readers > 1 else 0.0
        if not total > 0:
            continue
        row = int(np.argmax(rates))
        hottest, mean = float(rates[row]), total / readers
        times = hottest / mean
        if times < threshold("group_hot_partition", "times_mean_ratio"):
            continue
        is_most = hottest / total >= threshold("group_hot_partition", "medium_share_ratio")
        partition, fewest = _name_of(group_input, row), math.ceil(total / hottest)
        yield finding(
            "group_hot_partition",
            Severity.MEDIUM if is_most else Severity.LOW,
            group.id,
            {
                "partition": partition,
                "assignor": group.protocol,
                "members": len(group.members),
                "partitions": len(rates),
                "in_bytes_per_s": hottest,
                "mean_member_in_bytes_per_s": mean,
                "times_mean_ratio": times,
                "share_of_group_ratio": hottest / total,
                "members_that_suffice": fewest,
            },
            Remedy(
                fact(
                    FactCode.GROUP_HOT_PARTITION,
                    partition=partition,
                    in_bytes_per_s=hottest,
                    share_of_group=hottest / total,
                    times_mean=times,
                    members_that_suffice=fewest,
                    members=len(group.members),
                ),
                cost=fact(FactCode.CHANGES_KEYS),
                gain=1 - 1 / times,
            ),
            confidence=context.confidence(LoadKind.IN_BYTES_PER_S),
        )


def uneven_by_rate(context: FindingContext) -> Iterator[Finding]:
    """Even by count, but one member reads far more: no Kafka strategy uses rates."""
    for replay in context.chosen_replays:
        today, best = replay.today, replay.score(OWN)
        if replay.advised is not None:
            continue
        if best is None or not best.skew_rate or today.skew_rate is None:
            continue
        gained = today.skew_rate / best.skew_rate
        if gained < threshold("uneven_by_rate", "skew_gain_ratio"):
            continue
        is_twice = gained >= threshold("uneven_by_rate", "medium_gain_ratio")
        yield finding(
            "uneven_by_rate",
            Severity.MEDIUM if is_twice else Severity.LOW,
            replay.group_id,
            {
                "assignor": today.assignor,
                "members": today.members,
                "partitions": today.partitions,
                "skew_count": today.skew_count,
                "skew_rate": today.skew_rate,
                "best_skew_rate": best.skew_rate,
            },
            Remedy(
                fact(
                    FactCode.UNEVEN_BY_RATE,
                    strategy=today.assignor,
                    skew_rate=today.skew_rate,
                    best_skew_rate=best.skew_rate,
                ),
                cost=fact(FactCode.NEEDS_CUSTOM_ASSIGNOR),
                gain=1 - best.skew_rate / today.skew_rate,
            ),
            confidence=context.confidence(LoadKind.IN_BYTES_PER_S),
        )


def uneven_per_topic(context: FindingContext) -> Iterator[Finding]:
    """Even by count, but one member has most of a topic.

    Sticky strategies count partitions of all topics alike (KAFKA-16277). Reported unless rates prove it harmless.
    """
    judged = {group_input.group.id: group_input for group_input in context.judged_inputs}
    for replay in context.chosen_replays:
        group_input, today = judged.get(replay.group_id), replay.today
        if group_input is None or replay.advised is not None:
            continue
        if (today.skew_count or math.inf) >= threshold("uneven_per_topic", "most_count_ratio"):
            continue
        if today.skew_rate is not None and today.skew_rate < threshold("uneven_per_topic", "most_count_ratio"):
            continue
        worst = _most_of_a_topic(group_input)
        if worst is None or worst.has / worst.even_part < threshold("uneven_per_topic", "times_even_ratio"):
            continue
        member = group_input.group.members[worst.member]
        is_server = group_input.group.type is GroupType.CONSUMER
        by_topic = replay.score("range")
        has_range = (
            by_topic is not None
            and by_topic.error is None
            and (is_server or "range" in strategies_of(group_input.group))
            and today.assignor != "range"
            and (by_topic.skew_count or math.inf) < threshold("uneven_per_topic", "most_count_ratio")
        )
        yield finding(
            "uneven_per_topic",
            Severity.LOW,
            replay.group_id,
            {
                "assignor": today.assignor,
                "topic": worst.topic,
                "member_id": member.id,
                "partitions_of_topic": worst.partitions,
                "partitions_of_topic_at_member": worst.has,
                "even_partitions_of_topic": worst.even_part,
                "times_even_ratio": worst.has / worst.even_part,
                "skew_count": today.skew_count,
                "skew_rate": today.skew_rate,
                "members": today.members,
                "partitions": today.partitions,
                "idle_members": today.idle_members,
                "advised_idle_members": today.idle_members,
            },
            Remedy(
                fact(
                    FactCode.UNEVEN_PER_TOPIC,
                    strategy=today.assignor,
                    member=member.instance_id or member.id,
                    topic=worst.topic,
                    partitions=worst.partitions,
                    partitions_at_member=worst.has,
                    even_partitions=worst.even_part,
                    way=(
                        fact(FactCode.USE_RANGE, setting=set_strategy(group_input.group, "range"))
                        if has_range
                        else _way_to_share(group_input.group)
                    ),
                ),
                cost=fact(FactCode.ONE_REBALANCE),
                gain=1 - worst.even_part / worst.has,
            ),
            confidence=(Confidence.STRUCTURAL if replay.basis is SubscriptionBasis.GIVEN else Confidence.ESTIMATED),
        )


def _way_to_share(group: Group) -> Fact:
    """Return a Java release that spreads topics, else a group for the topic."""
    client = group_client(group)
    is_java = client.client in (Client.JAVA, None) and not (client.client is None and client.program)
    is_fixed = bool(client.first) and release_of(client.first) >= release_of(_SPREADS_TOPICS)
    upgrade_helps = is_java and not is_fixed and group.type is not GroupType.CONSUMER and group.protocol in _STICKY
    return fact(FactCode.GIVE_TOPIC_OWN_GROUP, java_release=_SPREADS_TOPICS if upgrade_helps else None)


class _TopicShare(NamedTuple):
    topic: str
    member: int
    partitions: int
    has: int
    even_part: int


def _most_of_a_topic(group_input: GroupInput) -> _TopicShare | None:
    """Return the topic with a member furthest over its even share; ties: the most lag."""
    members = group_input.group.members
    shares: list[tuple[float, float, _TopicShare]] = []
    for index, topic in enumerate(group_input.topics):
        span = slice(int(group_input.first_row[index]), int(group_input.first_row[index + 1]))
        readers, lag = group_input.reader[span], float(np.nansum(group_input.rates.lag_messages[span]))
        readers = readers[readers != ABSENT]
        may_read = [
            m.subscription is None or m.subscribed_regex is not None or topic in m.subscription for m in members
        ]
        if len(readers) > 1 and sum(may_read) > 1:
            counts = np.bincount(readers, minlength=len(members))
            even_part = math.ceil(len(readers) / sum(may_read))
            share = _TopicShare(topic, int(counts.argmax()), len(readers), int(counts.max()), even_part)
            shares.append((share.has / even_part, lag, share))
    return max(shares)[-1] if shares else None


def _name_of(group_input: GroupInput, row: int) -> str:
    first = group_input.first_row
    topic = int(np.searchsorted(first, row, side="right")) - 1
    return f"{group_input.topics[topic]}-{row - int(first[topic])}"


def unread_partitions(context: FindingContext) -> Iterator[Finding]:
    """Partitions of topics of the group that no member has."""
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
    """Messages wait in committed topics that no member reads now."""
    messages, table = context.snapshot.load(LoadKind.IN_MESSAGES_PER_S), context.snapshot.partitions
    judged = {group_input.group.id: group_input for group_input in context.judged_inputs}
    for group in context.snapshot.groups:
        judged_input = judged.get(group.id)
        if judged_input is None or (judged_input.reader == ABSENT).all():
            continue  # a group without partitions has not begun to read
        current = _current_topics(judged_input)
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
    """Commits of a group without members moved between two snapshots."""
    messages = context.snapshot.load(LoadKind.IN_MESSAGES_PER_S)
    for group in context.snapshot.groups:
        read = _reads_without_members(context, group)
        rate = sum(partition_read.messages_per_s for partition_read in read)
        if not rate > 0:
            continue
        lag = _lag(context, read)
        written = (
            float(messages[[partition_read.row for partition_read in read]].sum())
            if context.has_rates_of_window
            else math.nan
        )
        seconds = None if lag is None else seconds_behind(lag, np.array([written]))
        ratio = rate / written if written > 0 else math.nan
        is_slow = ratio < threshold("lag_growing", "read_ratio")
        is_late = seconds is not None and seconds >= threshold("read_without_joining", "behind_seconds")
        topics = sorted({partition_read.commit.topic for partition_read in read if partition_read.messages_per_s > 0})
        yield finding(
            "read_without_joining",
            Severity.HIGH if is_slow and is_late else Severity.INFO,
            group.id,
            {
                "partitions": len(read),
                "topic_names": tuple(topics),
                "read_messages_per_s": rate,
                "in_messages_per_s": _none_if_nan(written),
                "read_ratio": _none_if_nan(ratio),
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
                gain=1 - ratio if is_slow else 0.0,
            ),
            confidence=Confidence.ESTIMATED,
        )


def _reads_without_members(context: FindingContext, group: Group) -> list[_Read]:
    """Return the measured reads of an empty group; none of a group with members."""
    if group.members or group.member_count or group.state != "Empty" or not group.type.has_strategy:
        return []
    return [
        _Read(commit, row, float(commit.read_messages_per_s))
        for commit, row in _commits_with_rows(context, group)
        if commit.read_messages_per_s is not None
    ]


def _none_if_nan(value: float) -> float | None:
    return None if math.isnan(value) else value


def _lag(context: FindingContext, read: Sequence[_Read]) -> int | None:
    ends: list[int] = context.snapshot.partitions.end_offset[[partition_read.row for partition_read in read]].tolist()
    if UNKNOWN_OFFSET in ends:
        return None
    return sum(max(0, end - partition_read.commit.offset) for partition_read, end in zip(read, ends, strict=True))


def unread_rows(group_input: GroupInput) -> Flags:
    current = _current_topics(group_input)
    counts = np.maximum(group_input.partition_counts, 0)
    is_current = np.repeat(np.array([topic in current for topic in group_input.topics], dtype=np.bool_), counts)
    return np.asarray(is_current & (group_input.reader == ABSENT))


def _is_shown(context: FindingContext, rows: Longs) -> Flags:
    table = context.snapshot.partitions
    return np.asarray((table.replica_counts[rows] > 0) | (table.end_offset[rows] != UNKNOWN_OFFSET))


class _Read(NamedTuple):
    commit: CommittedOffset
    row: int
    messages_per_s: float


def _current_topics(group_input: GroupInput) -> set[str]:
    members = group_input.group.members
    return {topic for member in members for topic in (*(member.subscription or ()), *(t for t, _ in member.assigned))}


def _commits_with_rows(context: FindingContext, group: Group) -> Iterator[tuple[CommittedOffset, int]]:
    for commit in group.committed:
        row = context.row_of.get((commit.topic, commit.partition))
        if row is not None:
            yield commit, row


def _is_new(group_input: GroupInput, name: str, committed: set[tuple[str, int]]) -> bool:
    """Whether it was added later: never committed, above all partitions with a reader."""
    topic, _, number = name.rpartition("-")
    index = group_input.topics.index(topic)
    readers = group_input.reader[group_input.first_row[index] : group_input.first_row[index + 1]]
    read = np.flatnonzero(readers != ABSENT)
    return (topic, int(number)) not in committed and len(read) > 0 and int(number) > int(read[-1])
