"""Lag that is at few members or partitions, and partitions whose commits do not move while they are written."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kafka_rebalance.arrays import NOBODY, Flags, Floats, Longs
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.findings.context import MOST_NAMED, FindingContext, Remedy, finding, threshold
from kafka_rebalance.findings.finding import Confidence, Finding, Severity
from kafka_rebalance.groups.group_input import GroupInput
from kafka_rebalance.scoring.assignment_scores import per_member
from kafka_rebalance.scoring.drain import COMMIT_INTERVAL_S
from kafka_rebalance.snapshot.load import LoadKind
from kafka_rebalance.snapshot.model import Member


def lag_concentrated(context: FindingContext) -> Iterator[Finding]:
    """Few members, or few partitions of a topic, are far behind while the others are not."""
    for group_input in context.judged_inputs:
        group, reader, rates = group_input.group, group_input.reader, group_input.rates
        lag = known_lag(context, group_input)
        late, is_of_members = concentrated(group_input, lag)
        total, in_all = float(lag[late].sum()), float(np.nansum(lag[reader != NOBODY]))
        if not late.any() or total < threshold("lag_concentrated", "share_of_lag_ratio") * in_all:
            continue
        seconds = seconds_behind(total, rates.in_messages_per_s[late])
        if seconds is not None and seconds < threshold("lag_concentrated", "behind_seconds"):
            continue
        owners = [group.members[number] for number in sorted(set(reader[late].tolist()))]
        names = [context.snapshot.name_of(row) for row in context.rows_of(group_input)[late].tolist()]
        unknown = int((np.isnan(lag) & (reader != NOBODY)).sum())
        working = len(set(reader[reader != NOBODY].tolist()))
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
                    read_partitions=int((reader != NOBODY).sum()),
                    has_rates=context.has_rates_of_window,
                ),
                gain=total / in_all,
            ),
            confidence=Confidence.MEASURED,
        )


def partition_not_read(context: FindingContext) -> Iterator[Finding]:
    """Commits of partitions that have a reader did not move between two snapshots, while messages were written."""
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
    """Return the lag of each partition; 0 where there is no commit and no message either, ``nan`` where unknown."""
    table, rows, lag = context.snapshot.partitions, context.rows_of(group_input), group_input.rates.lag_messages
    end = table.end_offset[rows]
    is_empty = (end == 0) | ((end > 0) & (end == table.start_offset[rows]))
    return np.where(np.isnan(lag) & is_empty, 0.0, lag)


def standing_rows(context: FindingContext, group_input: GroupInput) -> Flags:
    """Return which partitions have a reader, are written and behind, and were not read between the two snapshots.

    Two proofs that this is no slow poll. It is behind by more than a member may take between two polls
    (max.poll.interval.ms, 5 minutes by default). Or messages waited there at the first snapshot, and its member has
    since read what was written later to its other partitions: a client fetches in turn.
    """
    rates, reader = group_input.rates, group_input.reader
    column = context.snapshot.loads.column(LoadKind.IN_MESSAGES_PER_S)
    if not context.has_rates_of_window or column is None:
        return np.zeros(len(rates.lag_messages), dtype=np.bool_)
    written, lag = rates.in_messages_per_s, rates.lag_messages
    is_unread = (reader != NOBODY) & (rates.read_messages_per_s == 0) & (written > 0) & (lag > 0)
    is_behind = lag >= threshold("partition_not_read", "behind_seconds") * written
    if column.window_s is None:
        return np.asarray(is_unread & is_behind)
    in_window = written * column.window_s
    least = np.maximum(threshold("partition_not_read", "least_waiting_messages"), COMMIT_INTERVAL_S * written)
    has_waited = is_unread & (lag - in_window >= least)
    # Less is left than was written since: it was read past the end that it had at the first snapshot.
    is_read_on = (rates.read_messages_per_s > 0) & (lag < in_window)
    is_left = has_waited & np.isin(reader, reader[is_read_on])
    for member in np.unique(reader[is_left]).tolist():
        others = (reader == member) & ~has_waited & (written > 0)
        is_left[reader == member] &= bool(is_read_on[others].all())
    return np.asarray(is_unread & (is_behind | is_left))


def concentrated(group_input: GroupInput, lag: Floats) -> tuple[Flags, bool]:
    """Return the partitions that hold the lag of few members or, else, of few partitions; and whether it is members."""
    reader = group_input.reader
    is_read = reader != NOBODY
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


def seconds_behind(lag: float, in_messages_per_s: Floats) -> float | None:
    """Return how long the writers took for ``lag`` messages; None where that is unknown."""
    rate = float(in_messages_per_s.sum())
    return lag / rate if rate > 0 and not np.isnan(lag) else None


def _far_behind(lags: Floats) -> Flags:
    """The most of them, half at most, that are each many times further behind than any other; ``nan`` is left out."""
    least, times = (threshold("lag_concentrated", name) for name in ("least_lag_messages", "times_others_lag_ratio"))
    known: Longs = np.flatnonzero(~np.isnan(lags))
    order = known[np.argsort(-lags[known], kind="stable")]
    flags = np.zeros(len(lags), dtype=np.bool_)
    for count in range(len(order) // 2, 0, -1):
        last, next_one = float(lags[order[count - 1]]), float(lags[order[count]])
        if last >= least and last >= times * max(next_one, 1.0):
            flags[order[:count]] = True
            break
    return flags


def _members(members: list[Member]) -> tuple[tuple[str, str | None], ...]:
    """Return name and host of the first ones."""
    return tuple((member.instance_id or member.id, member.host or None) for member in members[:MOST_NAMED])


__all__ = ["concentrated", "known_lag", "lag_concentrated", "partition_not_read", "seconds_behind", "standing_rows"]
