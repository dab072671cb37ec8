"""Groups whose partitions are shared badly: idle members, an uneven strategy, dead static members, growing lag."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from kafka_rebalance.amounts import seconds_in_words
from kafka_rebalance.arrays import Floats
from kafka_rebalance.findings.context import FindingContext, Remedy, finding, threshold
from kafka_rebalance.findings.finding import Confidence, Finding, Severity
from kafka_rebalance.findings.words import counted, listed
from kafka_rebalance.groups.group_input import GroupInput
from kafka_rebalance.groups.group_replay import GroupReplay
from kafka_rebalance.groups.idle_causes import find_idle_reason
from kafka_rebalance.groups.motion import MotionCode
from kafka_rebalance.groups.subscriptions import SubscriptionBasis
from kafka_rebalance.scoring.assignment_scores import GroupScore
from kafka_rebalance.scoring.drain import member_capacity
from kafka_rebalance.scoring.members_needed import members_needed
from kafka_rebalance.snapshot.load import LoadKind
from kafka_rebalance.snapshot.model import Member


def group_in_motion(context: FindingContext) -> Iterator[Finding]:
    """What is under way in a group that is not judged meanwhile, and where to look."""
    for group in context.snapshot.groups:
        motion = context.motions.get(group.id)
        if motion is None or not motion.code.is_moving or not motion.members:
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
                "members_that_hold": listed(motion.holding) or None,
                "members_that_wait": listed(motion.waiting) or None,
            },
            Remedy(f"Not judged: {motion.words}. {motion.look_at}"),
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
                Remedy(f"Not judged: {motion.words}. {motion.look_at}"),
            )


def idle_members(context: FindingContext) -> Iterator[Finding]:
    """Members without work, and why."""
    for replay in context.chosen_replays:
        today = replay.today
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
                f"{today.idle_members} of {counted(today.members, 'member')} read nothing: {reason.words}.",
                cost=reason.cost,
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
                _better_strategy(today, advised, is_rate=is_rate),
                cost=f"one rebalance in which {counted(advised.partitions_moved or 0, 'partition')} change hands; all "
                "members must name the new strategy before any drops the old one",
                gain=1 - (after or 0) / before if before else 0.0,
                changes=advised.partitions_moved or 0,
            ),
            confidence=_basis(replay),
        )


def dead_static_member(context: FindingContext) -> Iterator[Finding]:
    """A static member keeps partitions that nobody reads."""
    for group_input in context.group_inputs.values():
        dead, confidence = dead_members(context, group_input)
        if not dead:
            continue
        group, reader = group_input.group, group_input.reader
        held = np.isin(reader, [group.members.index(member) for member in dead])
        lag = group_input.rates.lag_messages[held]
        yield finding(
            "dead_static_member",
            Severity.HIGH,
            group.id,
            {
                "dead_members": len(dead),
                "instance_ids": listed([member.instance_id for member in dead], most=len(dead)),
                "partitions_unread": int(held.sum()),
                "lag_messages": None if np.isnan(lag).any() else int(lag.sum()),
                "in_messages_per_s": _sum(group_input.rates.in_messages_per_s[held]),
            },
            Remedy(
                f"Static member {listed([member.instance_id for member in dead])} keeps "
                f"{counted(int(held.sum()), 'partition')} that nobody reads: restart it under the same "
                "group.instance.id, or remove it (Admin.removeMembersFromConsumerGroup) so that others take over.",
                cost="removing it is one rebalance",
                gain=1.0,
            ),
            confidence=confidence,
        )


def lag_growing(context: FindingContext) -> Iterator[Finding]:
    """The group reads slower than its topics are written; told only where no other group reads them."""
    out, written = context.snapshot.load(LoadKind.OUT_BYTES_PER_S), context.snapshot.load(LoadKind.IN_BYTES_PER_S)
    readers = _readers_by_topic(context)
    for group_input in context.group_inputs.values():
        group = group_input.group
        if not group.members or any(len(readers[topic]) > 1 for topic in group_input.topics if topic in readers):
            continue
        rows = _rows_of(context, group_input)
        read, wrote = float(out[rows].sum()), float(written[rows].sum())
        if not wrote > 0 or np.isnan(read) or read / wrote >= threshold("lag_growing", "read_ratio"):
            continue
        lag, rate = _sum(group_input.rates.lag_messages), _sum(group_input.rates.in_messages_per_s)
        if not lag or not rate:
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
                "in_bytes_per_s": wrote,
                "read_bytes_per_s": read,
                "members": len(group.members),
                "members_needed": needed,
                "partitions": len(rows),
            },
            Remedy(
                f"It reads {read / wrote:.0%} of what is written and is {seconds_in_words(lag / rate)} behind: give it "
                f"more members (it has {len(group.members)} for {counted(len(rows), 'partition')}"
                f"{_needed_words(needed, len(rows))}) or faster ones.",
                cost="one rebalance for new members",
                gain=1 - read / wrote,
            ),
            confidence=context.confidence(LoadKind.OUT_BYTES_PER_S),
        )


def dead_members(context: FindingContext, group_input: GroupInput) -> tuple[list[Member], Confidence]:
    """Static members that read nothing of what they hold.

    Where rates were measured: all their partitions are behind, some were written, and none was read by anybody.
    Else: each of their partitions is many times further behind than any that a member outside is.
    """
    group, reader, rates = group_input.group, group_input.reader, group_input.rates
    if not group.type.has_strategy:
        return [], Confidence.MEASURED  # other members read along, or a standby of the task takes over
    static = [number for number, member in enumerate(group.members) if member.instance_id is not None]
    if not static:
        return [], Confidence.MEASURED
    rows = _rows_of(context, group_input)
    out = context.snapshot.load(LoadKind.OUT_BYTES_PER_S)[rows]
    is_measured = not (np.isnan(out).any() or np.isnan(rates.in_messages_per_s).any())
    dead = []
    for number in static:
        held = reader == number
        if not held.any() or not (rates.lag_messages[held] > 0).all():
            continue
        if is_measured:
            written = held & (rates.in_messages_per_s > 0)
            is_dead = bool(written.any()) and not (out[written] > 0).any()
        else:
            others = rates.lag_messages[~held]
            times = threshold("dead_static_member", "times_others_lag_ratio")
            is_dead = len(others) > 0 and bool(rates.lag_messages[held].min() >= times * max(others.max(), 1.0))
        if is_dead:
            dead.append(group.members[number])
    return dead, Confidence.MEASURED if is_measured else Confidence.ESTIMATED


def _better_strategy(today: GroupScore, advised: GroupScore, *, is_rate: bool) -> str:
    idle = f" and leaves {today.idle_members} of {today.members} members idle" if today.idle_members else ""
    is_even = (today.skew_count or 0.0) < threshold("assignor_uneven", "skew_gain_ratio") * (advised.skew_count or 1.0)
    if is_rate and is_even:
        words = (
            f"{today.assignor} is even by count, yet its busiest member reads {today.skew_rate:.1f} times the mean by "
            f"rate{idle}; {advised.assignor} would make it {advised.skew_rate:.1f} times: set "
            "partition.assignment.strategy to it."
        )
    else:
        words = (
            f"{today.assignor} gives the fullest member {today.skew_count:.1f} times the mean{idle}; "
            f"{advised.assignor} would give {advised.skew_count:.1f} times: set partition.assignment.strategy to it."
        )
    if today.assignor == "range":
        words += " Keep range only if the members join topics partition by partition."
    return words


def _members_to_keep_up(group_input: GroupInput, times: float) -> int | None:
    """How many members as fast as the fastest was seen to be could read what is written; None where none could.

    Where nobody saw how fast each one reads: so many ``times`` as there are.
    """
    members, rates = len(group_input.group.members), group_input.rates
    capacity = member_capacity(group_input.reader, rates.read_messages_per_s, members)
    if not math.isnan(capacity):
        return members_needed(rates, capacity, within_s=math.inf).members
    return math.ceil(round(members * times, 2)) if math.isfinite(times) else None


def _needed_words(needed: int | None, partitions: int) -> str:
    """How many members would keep up at the pace of today's; more than partitions would stand idle."""
    if needed is None:
        return ""
    if needed <= partitions:
        return f"; {needed} as fast as its fastest would keep up"
    return (
        f"; {needed} as fast as its fastest would keep up, for which it needs as many partitions: from then on keys go "
        "to other ones, so that a key's records before and after are not in order"
    )


def _basis(replay: GroupReplay) -> Confidence:
    if replay.basis is SubscriptionBasis.GIVEN or replay.is_reproduced:
        return Confidence.MEASURED
    return Confidence.ESTIMATED


def _rows_of(context: FindingContext, group_input: GroupInput) -> npt.NDArray[np.int64]:
    """Partition rows of the snapshot along the question's partitions."""
    spans = [context.topic_rows[topic] for topic in group_input.topics if topic in context.topic_rows]
    return np.concatenate([np.zeros(0, dtype=np.int64), *(np.arange(span.start, span.stop) for span in spans)])


def _readers_by_topic(context: FindingContext) -> dict[str, set[str]]:
    readers: dict[str, set[str]] = {}
    for group in context.snapshot.groups:
        for commit in group.committed:
            readers.setdefault(commit.topic, set()).add(group.id)
    return readers


def _sum(values: Floats) -> float | None:
    total = float(values.sum())
    return None if np.isnan(total) else total
