"""Groups whose partitions are shared badly: idle members, an uneven strategy, dead static members, growing lag."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from kafka_rebalance.arrays import NOBODY, Floats
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.findings.consumers.lag_rules import seconds_behind
from kafka_rebalance.findings.context import MOST_NAMED, FindingContext, Remedy, finding, threshold
from kafka_rebalance.findings.finding import Confidence, Finding, Severity
from kafka_rebalance.groups.client_settings import learn_strategy, set_strategy, settings_of
from kafka_rebalance.groups.group_input import GroupInput
from kafka_rebalance.groups.group_replay import GroupReplay
from kafka_rebalance.groups.idle_causes import IdleCause, IdleReason, find_idle_reason
from kafka_rebalance.groups.kinds import GroupKind, kind_of
from kafka_rebalance.groups.member_clients import group_client
from kafka_rebalance.groups.motion import MotionCode
from kafka_rebalance.groups.subscriptions import SubscriptionBasis
from kafka_rebalance.scoring.assignment_scores import GroupScore
from kafka_rebalance.scoring.drain import COMMIT_INTERVAL_S, member_capacity
from kafka_rebalance.scoring.members_needed import MembersNeeded, members_needed
from kafka_rebalance.snapshot.load import LoadKind
from kafka_rebalance.snapshot.model import Group, GroupType, Member


def group_in_motion(context: FindingContext) -> Iterator[Finding]:
    """What is under way in a group that is not judged meanwhile, and where to look."""
    for group in context.snapshot.groups:
        motion = context.motions.get(group.id)
        if motion is None or not motion.code.is_moving:
            continue
        if not motion.members and motion.code is not MotionCode.REBALANCING:
            continue
        if not context.kinds[group.id].reads_partitions:
            continue
        lag = _sum(context.group_inputs[group.id].rates.lag_messages)
        is_waiting = bool(motion.holding) or (motion.code is MotionCode.REBALANCING and bool(lag))
        yield finding(
            "group_in_motion",
            Severity.MEDIUM if is_waiting else Severity.LOW,
            group.id,
            {
                "motion": motion.code.value,
                "state": motion.state,
                "members": motion.members,
                "members_that_hold": motion.holding or None,
                "members_that_wait": motion.waiting or None,
            },
            Remedy(motion.fact(FactCode.NOT_JUDGED)),
        )


def group_assignments_unknown(context: FindingContext) -> Iterator[Finding]:
    """Groups whose members are known at most by their numbers of partitions."""
    for group_id, motion in context.motions.items():
        if motion.code is MotionCode.NOT_SHOWN:
            yield finding(
                "group_assignments_unknown",
                Severity.LOW,
                group_id,
                {"state": motion.state, "members": motion.members},
                Remedy(motion.fact(FactCode.NOT_JUDGED)),
            )


def idle_members(context: FindingContext) -> Iterator[Finding]:
    """Members without work, and why."""
    for replay in context.chosen_replays:
        today, group = replay.today, context.group_inputs[replay.group_id].group
        reason = find_idle_reason(replay, context.group_inputs[replay.group_id])
        if not today.idle_members or reason is None or replay.advised is not None:
            continue  # another strategy may put them to work: assignor_uneven says so
        if replay.group_id in context.better_server_strategies:
            continue
        idle_ratio = today.idle_members / today.members
        idle = [member for member in replay.members if member.is_current and not member.partitions]
        yield finding(
            "idle_members",
            Severity.MEDIUM if idle_ratio >= threshold("idle_members", "medium_idle_ratio") else Severity.LOW,
            replay.group_id,
            {
                "idle_members": today.idle_members,
                "members": today.members,
                "partitions": today.partitions,
                "cause": reason.cause.value,
                "advised_assignor": None if reason.better is None else reason.better.assignor,
                "example": idle[0].member_id,
            },
            Remedy(
                fact(FactCode.IDLE_MEMBERS, idle_members=today.idle_members, members=today.members, why=reason.why),
                cost=_cost_of_work(reason, group),
                gain=idle_ratio,
            ),
        )


def assignor_uneven(context: FindingContext) -> Iterator[Finding]:
    """Another strategy makes the fullest member smaller."""
    for replay in context.chosen_replays:
        advised = None if replay.advised is None else replay.score(replay.advised)
        if advised is None:
            continue
        today = replay.today
        group = context.group_inputs[replay.group_id].group
        is_rate = today.skew_rate is not None and advised.skew_rate is not None
        before, after = (today.skew_rate, advised.skew_rate) if is_rate else (today.skew_count, advised.skew_count)
        yield finding(
            "assignor_uneven",
            Severity.MEDIUM if (before or 0) / (after or 1) >= 2 else Severity.LOW,
            replay.group_id,
            {
                "assignor": today.assignor,
                "advised_assignor": advised.assignor,
                "members": today.members,
                "partitions": today.partitions,
                "skew_count": today.skew_count,
                "advised_skew_count": advised.skew_count,
                "skew_rate": today.skew_rate,
                "advised_skew_rate": advised.skew_rate,
                "idle_members": today.idle_members,
                "advised_idle_members": advised.idle_members,
                "partitions_moved": advised.partitions_moved,
            },
            Remedy(
                _better_strategy(group, today, advised, is_rate=is_rate),
                cost=fact(
                    FactCode.ONE_REBALANCE,
                    partitions=advised.partitions_moved or 0,
                    way=_way(group, advised.assignor),
                ),
                gain=1 - (after or 0) / before if before else 0.0,
                changes=advised.partitions_moved or 0,
            ),
            confidence=_basis(replay),
        )


def dead_static_member(context: FindingContext) -> Iterator[Finding]:
    """A static member keeps partitions that it does not read. While its group moves all members may read nothing."""
    for group_input in context.judged_inputs:
        dead, confidence = dead_members(context, group_input)
        if not dead:
            continue
        group, reader = group_input.group, group_input.reader
        held = np.isin(reader, [group.members.index(member) for member in dead])
        lag, written = group_input.rates.lag_messages[held], group_input.rates.in_messages_per_s[held]
        seconds = seconds_behind(float(lag.sum()), written)
        names = [member.instance_id or member.id for member in dead]
        yield finding(
            "dead_static_member",
            Severity.HIGH,
            group.id,
            {
                "dead_members": len(dead),
                "instance_ids": tuple(names),
                "partitions_unread": int(held.sum()),
                "lag_messages": None if np.isnan(lag).any() else int(lag.sum()),
                "lag_seconds": seconds,
                "in_messages_per_s": _sum(written),
            },
            Remedy(
                fact(
                    FactCode.DEAD_STATIC_MEMBER,
                    members=tuple(names[:MOST_NAMED]),
                    dead_members=len(names),
                    partitions=int(held.sum()),
                    lag_seconds=seconds,
                ),
                cost=fact(FactCode.ONE_REBALANCE),
                gain=1.0,
            ),
            confidence=confidence,
        )


def lag_growing(context: FindingContext) -> Iterator[Finding]:
    """The group reads slower than its topics are written.

    By messages where it is known how fast this group reads each partition that it has; else by bytes, which are those
    of all groups: then only where no other group reads its topics.
    """
    readers = _readers_by_topic(context)
    for group in context.judged_groups:  # a group that moves lags for that, which more members would not mend
        group_input = context.group_inputs[group.id]
        rates = group_input.rates
        if not group.members:
            continue
        by_messages = _messages_written_and_read(context, group_input)
        by_bytes = _bytes_written_and_read(context, group_input, readers)
        wrote, read = by_messages or by_bytes or (0.0, 0.0)
        if not wrote > 0 or read / wrote >= threshold("lag_growing", "read_ratio"):
            continue
        has_reader = group_input.reader != NOBODY
        rows = has_reader if by_messages else np.ones(len(has_reader), dtype=np.bool_)
        lag, rate = _sum(rates.lag_messages[rows]), _sum(rates.in_messages_per_s[rows])
        if not lag or not rate or lag <= COMMIT_INTERVAL_S * rate:
            continue
        needed = _members_to_keep_up(group_input, wrote / read if read > 0 else math.inf)
        yield finding(
            "lag_growing",
            Severity.HIGH,
            group.id,
            {
                "lag_messages": int(lag),
                "lag_seconds": lag / rate,
                "read_ratio": read / wrote,
                "in_bytes_per_s": None if by_bytes is None else by_bytes[0],
                "read_bytes_per_s": None if by_bytes is None else by_bytes[1],
                "in_messages_per_s": rate,
                "read_messages_per_s": None if by_messages is None else by_messages[1],
                "members": len(group.members),
                "members_needed": needed.members,
                "hot_partition": _hot_partition(context, group_input, needed),
                "partitions": len(has_reader),
            },
            Remedy(
                fact(
                    FactCode.LAG_GROWING,
                    read_ratio=read / wrote,
                    lag_seconds=lag / rate,
                    way=_way_to_keep_up(context, group_input, needed),
                ),
                cost=fact(FactCode.ONE_REBALANCE),
                gain=1 - read / wrote,
            ),
            confidence=Confidence.MEASURED if by_messages else context.confidence(LoadKind.OUT_BYTES_PER_S),
        )


def dead_members(context: FindingContext, group_input: GroupInput) -> tuple[list[Member], Confidence]:
    """Static members that read nothing of what they hold.

    Where rates were measured: all their partitions are behind, some were written, and no group read any of them (this
    group, where its own reads are known). Else: each of their partitions is many times further behind than any that
    another member has. So several that died together do not hide each other.
    """
    group, reader, rates = group_input.group, group_input.reader, group_input.rates
    if not group.type.has_strategy:
        return [], Confidence.MEASURED  # other members read along, or a standby of the task takes over
    static = [number for number, member in enumerate(group.members) if member.instance_id is not None]
    late = [number for number in static if _is_all_behind(rates.lag_messages[reader == number])]
    if not late:
        return [], Confidence.MEASURED
    out = context.snapshot.load(LoadKind.OUT_BYTES_PER_S)[context.rows_of(group_input)]
    is_measured = not (np.isnan(out).any() or np.isnan(rates.in_messages_per_s).any())
    reads, held = rates.read_messages_per_s, np.isin(reader, late)
    if (
        context.has_rates_of_window
        and not np.isnan(reads[held]).any()
        and not np.isnan(rates.in_messages_per_s[held]).any()
    ):
        out, is_measured = reads, True
    if not is_measured:
        return [group.members[number] for number in _far_behind_all(group_input, late)], Confidence.ESTIMATED
    dead = []
    for number in late:
        written = (reader == number) & (rates.in_messages_per_s > 0)
        if written.any() and not (out[written] > 0).any():
            dead.append(group.members[number])
    return dead, Confidence.MEASURED


def _is_all_behind(lag: Floats) -> bool:
    return len(lag) > 0 and bool((lag > 0).all())


def _far_behind_all(group_input: GroupInput, late: list[int]) -> list[int]:
    """Members of ``late`` whose every partition is many times further behind than each that another member reads.

    Of several such sets the largest that is half of the working members at most, else the smallest: one that is far
    behind those that are behind, too, hides none of these.
    """
    reader, lag = group_input.reader, group_input.rates.lag_messages
    times = threshold("dead_static_member", "times_others_lag_ratio")
    least = {number: float(lag[reader == number].min()) for number in late}
    order = sorted(late, key=lambda number: -least[number])
    half = len(np.unique(reader[reader != NOBODY])) // 2
    found: list[int] = []
    for count in range(1, len(order) + 1):
        others = lag[(reader != NOBODY) & ~np.isin(reader, order[:count])]
        is_set = len(others) > 0 and least[order[count - 1]] >= times * max(float(others.max()), 1.0)
        if is_set and (count <= half or not found):
            found = order[:count]
    return sorted(found)


def _messages_written_and_read(context: FindingContext, group_input: GroupInput) -> tuple[float, float] | None:
    """Messages/s written to and read from the partitions that members have; None where one is unknown."""
    has_reader, rates = group_input.reader != NOBODY, group_input.rates
    if not context.has_rates_of_window or not group_input.group.type.has_strategy:
        return None
    wrote, read = _sum(rates.in_messages_per_s[has_reader]), _sum(rates.read_messages_per_s[has_reader])
    return None if wrote is None or read is None else (wrote, read)


def _bytes_written_and_read(
    context: FindingContext, group_input: GroupInput, readers: dict[str, set[str]]
) -> tuple[float, float] | None:
    """Bytes/s written to and read from its topics; None where unknown, and where another group reads them, too."""
    if any(len(readers[topic]) > 1 for topic in group_input.topics if topic in readers):
        return None
    rows = context.rows_of(group_input)
    wrote, read = (
        _sum(context.snapshot.load(kind)[rows]) for kind in (LoadKind.IN_BYTES_PER_S, LoadKind.OUT_BYTES_PER_S)
    )
    return None if wrote is None or read is None else (wrote, read)


def _cost_of_work(reason: IdleReason, group: Group) -> Fact:
    """Return what it costs to give idle members work, or to find out why they have none."""
    if reason.better is not None:
        moved, way = reason.better.partitions_moved or 0, _way(group, reason.better.assignor)
        return fact(FactCode.ONE_REBALANCE, partitions=moved, way=way)
    is_short = reason.cause is IdleCause.FEWER_PARTITIONS
    return fact(FactCode.MOVES_KEYS if is_short else FactCode.COSTS_NOTHING)


def _way(group: Group, advised: str) -> Fact:
    """Return how the members come to the recommended strategy."""
    if group.type is GroupType.CONSUMER:
        return fact(FactCode.RESTART_ONE_BY_ONE)
    if not group.protocol:
        return learn_strategy(group)
    if kind_of(group) is GroupKind.CONNECT_SINK:
        return fact(FactCode.RESTART_CONNECTOR)
    if settings_of(group_client(group)).can_roll(group.protocol, advised):
        return fact(FactCode.NAME_BOTH_STRATEGIES)
    return fact(FactCode.STOP_ALL_MEMBERS, today=group.protocol, advised=advised)


def _better_strategy(group: Group, today: GroupScore, advised: GroupScore, *, is_rate: bool) -> Fact:
    is_even = (today.skew_count or 0.0) < threshold("assignor_uneven", "skew_gain_ratio") * (advised.skew_count or 1.0)
    by_rate = is_rate and is_even
    return fact(
        FactCode.ASSIGNOR_UNEVEN,
        strategy=group.protocol,
        advised=advised.assignor,
        by_rate=by_rate,
        skew=today.skew_rate if by_rate else today.skew_count,
        advised_skew=advised.skew_rate if by_rate else advised.skew_count,
        idle_members=today.idle_members or 0,
        members=today.members,
        setting=set_strategy(group, advised.assignor),
        may_join_topics=today.assignor == "range",
    )


def _members_to_keep_up(group_input: GroupInput, times: float) -> MembersNeeded:
    """How many members as fast as the fastest was seen to be could read what is written; None where none could.

    Where it is unknown how fast each one reads: so many ``times`` as there are.
    """
    members, rates = len(group_input.group.members), group_input.rates
    capacity = member_capacity(group_input.reader, rates.read_messages_per_s, members)
    if not math.isnan(capacity):
        needed = members_needed(rates, capacity, within_s=math.inf)
        return needed if capacity > 0 else MembersNeeded(None)
    return MembersNeeded(math.ceil(round(members * times, 2)) if math.isfinite(times) else None)


def _way_to_keep_up(context: FindingContext, group_input: GroupInput, needed: MembersNeeded) -> Fact:
    members, partitions = len(group_input.group.members), len(group_input.reader)
    hot = _hot_partition(context, group_input, needed)
    if hot is not None:
        return fact(FactCode.HOT_PARTITION_LIMITS_GROUP, partition=hot)
    if needed.members is not None and needed.members <= members:
        return fact(FactCode.SHARE_PARTITIONS_EVENLY, members_needed=needed.members, members=members)
    if needed.hot_row is not None:
        return fact(FactCode.MEMBERS_TOO_SLOW)
    known = {"members": members, "partitions": partitions, "members_needed": needed.members}
    if members >= partitions:
        return fact(FactCode.MORE_MEMBERS_WOULD_IDLE, **known)
    return fact(FactCode.ADD_MEMBERS, kind=kind_of(group_input.group).value, **known)


def _hot_partition(context: FindingContext, group_input: GroupInput, needed: MembersNeeded) -> str | None:
    """The partition that no member can keep up with, where it receives far more than the others."""
    written = group_input.rates.in_messages_per_s
    times = threshold("group_hot_partition", "times_mean_ratio")
    if needed.hot_row is None or len(written) < 2 or written[needed.hot_row] < times * float(np.median(written)):
        return None
    return context.snapshot.name_of(int(context.rows_of(group_input)[needed.hot_row]))


def _basis(replay: GroupReplay) -> Confidence:
    if replay.basis is SubscriptionBasis.GIVEN or replay.is_reproduced:
        return Confidence.MEASURED
    return Confidence.ESTIMATED


def _readers_by_topic(context: FindingContext) -> dict[str, set[str]]:
    readers: dict[str, set[str]] = {}
    for group in context.snapshot.groups:
        for commit in group.committed:
            readers.setdefault(commit.topic, set()).add(group.id)
    return readers


def _sum(values: Floats) -> float | None:
    total = float(values.sum())
    return None if np.isnan(total) else total
