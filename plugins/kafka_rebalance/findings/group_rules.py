"""Findings on consumer groups: idle members, strategies, protocols, static members, racks, share groups, faults."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from kafka_assignors.arrays import ABSENT, Floats
from kafka_assignors.errors import EndlessReassignmentError
from kafka_assignors.releases import Client, seen_release
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.findings.context import MOST_NAMED, Evidence, FindingContext, Remedy, finding, threshold
from kafka_rebalance.findings.finding import Confidence, Finding, Severity, SubjectType
from kafka_rebalance.groups.connect_workers import ConnectReplay, ConnectScenario, replay_connect_group
from kafka_rebalance.groups.group_input import GroupInput
from kafka_rebalance.groups.group_replay import LEAST_GAIN, GroupReplay
from kafka_rebalance.groups.idle_causes import IdleCause, IdleReason, find_idle_reason
from kafka_rebalance.groups.kinds import GroupKind, kind_of
from kafka_rebalance.groups.member_clients import (
    KnownClient,
    Sureness,
    group_client,
    learn_strategy,
    member_client,
    set_strategy,
    settings_of,
    strategies_of,
)
from kafka_rebalance.groups.motion import MotionCode, motion_of
from kafka_rebalance.groups.strategies import OWN
from kafka_rebalance.groups.subscriptions import SubscriptionBasis
from kafka_rebalance.scoring.drain import (
    COMMIT_INTERVAL_S,
    MembersNeeded,
    member_capacity,
    members_needed,
    seconds_behind,
)
from kafka_rebalance.scoring.scores import GroupScore
from kafka_rebalance.snapshot.figures import LoadKind
from kafka_rebalance.snapshot.model import Group, GroupType, Member


def group_in_motion(context: FindingContext) -> Iterator[Finding]:
    """A moving group is not judged."""
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
    """Members show at most their numbers of partitions."""
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
            continue  # another strategy may help: assignor_uneven or server_assignor_uneven
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
        group = context.group_inputs[replay.group_id].group
        if advised is None or group.type is GroupType.CONSUMER:
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
                _better_strategy(group, today, advised, is_rate=is_rate),
                cost=fact(
                    FactCode.ONE_REBALANCE,
                    partitions=advised.partitions_moved or 0,
                    way=_way(group, advised.assignor),
                ),
                gain=1 - (after or 0) / before if before else 0.0,
                changes=advised.partitions_moved or 0,
            ),
            confidence=_confidence(replay),
        )


def dead_static_member(context: FindingContext) -> Iterator[Finding]:
    """A static member holds partitions that it does not read. In a moving group all may read nothing."""
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
    """The group falls behind: by messages with read rates, else by bytes if no other group reads its topics."""
    readers = _readers_by_topic(context)
    for group in context.judged_groups:  # a moving group lags for that reason
        group_input = context.group_inputs[group.id]
        rates = group_input.rates
        if not group.members:
            continue
        by_messages = _messages_written_and_read(context, group_input)
        by_bytes = _bytes_written_and_read(context, group_input, readers)
        wrote, read = by_messages or by_bytes or (0.0, 0.0)
        if not wrote > 0 or read / wrote >= threshold("lag_growing", "read_ratio"):
            continue
        has_reader = group_input.reader != ABSENT
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
    """Return static members that read nothing of their partitions.

    With rates: all their partitions are behind, some were written, and none was read (by this group, where known). Else
    each of their partitions is many times further behind than any of another member.
    """
    group, reader, rates = group_input.group, group_input.reader, group_input.rates
    if not group.type.has_strategy:
        return [], Confidence.MEASURED  # other members or a standby read on
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
    """Return members whose every partition is many times further behind than any of another reader.

    Of several such sets: the largest of at most half of the working members, else the smallest.
    """
    reader, lag = group_input.reader, group_input.rates.lag_messages
    times = threshold("dead_static_member", "times_others_lag_ratio")
    least = {number: float(lag[reader == number].min()) for number in late}
    order = sorted(late, key=lambda number: -least[number])
    half = len(np.unique(reader[reader != ABSENT])) // 2
    furthest: list[int] = []
    for count in range(1, len(order) + 1):
        others = lag[(reader != ABSENT) & ~np.isin(reader, order[:count])]
        is_set = len(others) > 0 and least[order[count - 1]] >= times * max(float(others.max()), 1.0)
        if is_set and (count <= half or not furthest):
            furthest = order[:count]
    return sorted(furthest)


def _messages_written_and_read(context: FindingContext, group_input: GroupInput) -> tuple[float, float] | None:
    has_reader, rates = group_input.reader != ABSENT, group_input.rates
    if not context.has_rates_of_window or not group_input.group.type.has_strategy:
        return None
    wrote, read = _sum(rates.in_messages_per_s[has_reader]), _sum(rates.read_messages_per_s[has_reader])
    return None if wrote is None or read is None else (wrote, read)


def _bytes_written_and_read(
    context: FindingContext, group_input: GroupInput, readers: dict[str, set[str]]
) -> tuple[float, float] | None:
    """Bytes/s; None where unknown, or where another group reads its topics."""
    if any(len(readers[topic]) > 1 for topic in group_input.topics if topic in readers):
        return None
    rows = context.rows_of(group_input)
    wrote, read = (
        _sum(context.snapshot.load(kind)[rows]) for kind in (LoadKind.IN_BYTES_PER_S, LoadKind.OUT_BYTES_PER_S)
    )
    return None if wrote is None or read is None else (wrote, read)


def _cost_of_work(reason: IdleReason, group: Group) -> Fact:
    if reason.better is not None:
        moved, way = reason.better.partitions_moved or 0, _way(group, reason.better.assignor)
        return fact(FactCode.ONE_REBALANCE, partitions=moved, way=way)
    is_short = reason.cause is IdleCause.FEWER_PARTITIONS
    return fact(FactCode.MOVES_KEYS if is_short else FactCode.COSTS_NOTHING)


def _way(group: Group, advised: str) -> Fact:
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
    """Return the number of members as fast as the fastest that could keep up; None for no number.

    Without read rates: ``times`` today's number.
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
    arguments = {"members": members, "partitions": partitions, "members_needed": needed.members}
    if members >= partitions:
        return fact(FactCode.MORE_MEMBERS_WOULD_IDLE, **arguments)
    return fact(FactCode.ADD_MEMBERS, kind=kind_of(group_input.group).value, **arguments)


def _hot_partition(context: FindingContext, group_input: GroupInput, needed: MembersNeeded) -> str | None:
    """Return the partition that no member can keep up with."""
    written = group_input.rates.in_messages_per_s
    times = threshold("group_hot_partition", "times_mean_ratio")
    if needed.hot_row is None or len(written) < 2 or written[needed.hot_row] < times * float(np.median(written)):
        return None
    return context.snapshot.name_of(int(context.rows_of(group_input)[needed.hot_row]))


def _confidence(replay: GroupReplay) -> Confidence:
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


_RUNS_OF_KINDS = ("range", "roundrobin")
_ENDLESS = EndlessReassignmentError().java_class


def sticky_endless(context: FindingContext) -> Iterator[Finding]:
    """The group's sticky strategy never returns: the next rebalance does not end."""
    for replay in context.replays:
        if replay.group_id in context.motions:
            continue
        own = replay.score(replay.today.assignor)
        if own is None or own.error is None or own.error.args.get("error") != _ENDLESS:
            continue
        today = replay.today
        yield finding(
            "sticky_endless",
            Severity.HIGH,
            replay.group_id,
            {
                "assignor": today.assignor,
                "members": today.members,
                "partitions": today.partitions,
                "idle_members": today.idle_members,
            },
            Remedy(
                fact(FactCode.STICKY_ENDLESS, strategy=today.assignor, members=today.members),
                cost=fact(FactCode.ROLLING_RESTART),
                gain=1.0,
            ),
            confidence=_subscription_confidence(replay),
        )


def shared_offsets(context: FindingContext) -> Iterator[Finding]:
    """Several members commit to the same offset: the last one wins."""
    for group in context.judged_groups:
        shared = _read_by_several(group)
        if not shared:
            continue
        topics = sorted({topic for topic, _ in shared})
        every = len({(topic, run) for member in group.members for topic, runs in member.assigned for run in runs})
        yield finding(
            "shared_offsets",
            Severity.HIGH,
            group.id,
            {
                "assignor": group.protocol,
                "members": len(group.members),
                "partitions": every,
                "shared_partitions": len(shared),
                "most_readers": max(shared.values()),
                "topics": tuple(topics),
            },
            Remedy(
                fact(
                    FactCode.SHARED_OFFSETS,
                    partitions=len(shared),
                    topics=tuple(topics[:MOST_NAMED]),
                    topic_count=len(topics),
                ),
                cost=fact(FactCode.STARTS_AT_RESET),
                gain=len(shared) / every,
            ),
        )


def mixed_static_members(context: FindingContext) -> Iterator[Finding]:
    """kafka-python 3 keeps only the last listed of static and of dynamic members."""
    for group, client in _groups_of(context, Client.KAFKA_PYTHON):
        static = sum(member.instance_id is not None for member in group.members)
        dynamic = len(group.members) - static
        # Releases before 3.0 ignore instance ids; an unknown release may be one.
        if not static or not dynamic or group.protocol not in _RUNS_OF_KINDS or not client.has("3.0"):
            continue
        idle = sum(not member.assigned for member in group.members)
        yield finding(
            "mixed_static_members",
            Severity.HIGH if client.first and idle else Severity.MEDIUM,
            group.id,
            _evidence(group, client) | {"static_members": static, "dynamic_members": dynamic, "idle_members": idle},
            Remedy(
                fact(
                    FactCode.MIXED_STATIC_MEMBERS,
                    static_members=static,
                    members=len(group.members),
                    strategy=group.protocol,
                    idle_members=idle,
                ),
                cost=fact(FactCode.ROLLING_RESTART),
                gain=idle / len(group.members),
            ),
            confidence=_sureness(client),
        )


def leader_may_crash(context: FindingContext) -> Iterator[Finding]:
    """Librdkafka's cooperative strategy reads freed memory."""
    for group, client in _groups_of(context, Client.LIBRDKAFKA):
        if group.protocol != "cooperative-sticky" or len(group.members) < 2:
            continue
        yield finding(
            "leader_may_crash",
            Severity.MEDIUM,
            group.id,
            _evidence(group, client),
            Remedy(
                fact(FactCode.LEADER_MAY_CRASH),
                cost=fact(FactCode.ROLLING_RESTART, effect="revokes_all"),
                gain=0.002,
            ),
            confidence=_sureness(client),
        )


def unknown_topic_stops_group(context: FindingContext) -> Iterator[Finding]:
    """A kafka-go leader fails on an unknown topic, and assigns nothing to the whole group."""
    existing = {topic.name for topic in context.snapshot.topics}
    for group, client in _groups_of(context, Client.KAFKA_GO):
        read = {topic for member in group.members for topic, _ in member.assigned}
        subscribed = {topic for member in group.members for topic in member.subscription or ()}
        unknown = sorted(subscribed - existing - read)
        if not unknown:
            continue
        yield finding(
            "unknown_topic_stops_group",
            Severity.MEDIUM if read else Severity.HIGH,
            group.id,
            _evidence(group, client) | {"unknown_topics": tuple(unknown[:MOST_NAMED])},
            Remedy(
                fact(
                    FactCode.UNKNOWN_TOPIC_STOPS_GROUP, topics=tuple(unknown[:MOST_NAMED]), topic_count=len(unknown),
                    is_stopped=not read,
                ),
                cost=fact(FactCode.ROLLING_RESTART),
                gain=0.0 if read else 1.0,
            ),
            confidence=_sureness(client),
        )  # fmt: skip


def _read_by_several(group: Group) -> dict[tuple[str, int], int]:
    if group.type is GroupType.SHARE:
        return {}
    readers = Counter((topic, run) for member in group.members for topic, runs in member.assigned for run in set(runs))
    return {pair: count for pair, count in readers.items() if count > 1}


def _subscription_confidence(replay: GroupReplay) -> Confidence:
    return Confidence.MEASURED if replay.basis is SubscriptionBasis.GIVEN else Confidence.ESTIMATED


def _groups_of(context: FindingContext, client: Client) -> Iterator[tuple[Group, KnownClient]]:
    for group in context.judged_groups:
        if group.type not in (GroupType.CLASSIC, GroupType.UNKNOWN) or not group.members:
            continue
        detected = group_client(group)
        if detected.client is client and detected.sureness is not Sureness.LOW:
            yield group, detected


def _evidence(group: Group, client: KnownClient) -> Evidence:
    client_evidence = {"client": client.client and client.client.value, "client_known_by": client.sign.value}
    return {
        "assignor": group.protocol, **client_evidence, "first_release": client.first or None,
        "last_release": client.last or None, "members": len(group.members),
    }  # fmt: skip


def _sureness(client: KnownClient) -> Confidence:
    return Confidence.GIVEN if client.sureness is Sureness.GIVEN else Confidence.ESTIMATED


_STICKY = ("sticky", "cooperative-sticky")
_UNSURE = (Sureness.LOW, Sureness.UNKNOWN)


def server_assignor_uneven(context: FindingContext) -> Iterator[Finding]:
    """The coordinator's other strategy is more even."""
    for replay in context.chosen_replays:
        better = None if replay.advised is None else replay.score(replay.advised)
        if better is None or context.group_inputs[replay.group_id].group.type is not GroupType.CONSUMER:
            continue
        today = replay.today
        is_rate = today.skew_rate is not None and better.skew_rate is not None
        before, after = (today.skew_rate, better.skew_rate) if is_rate else (today.skew_count, better.skew_count)
        gained = (before or 0.0) / (after or 1.0)
        is_seen = (today.skew_count or 0.0) >= threshold("server_assignor_uneven", "skew_gain_ratio")
        yield finding(
            "server_assignor_uneven",
            Severity.MEDIUM if gained >= 2 else Severity.LOW,
            replay.group_id,
            {
                "assignor": today.assignor,
                "advised_assignor": better.assignor,
                "members": today.members,
                "partitions": today.partitions,
                "skew_count": today.skew_count,
                "advised_skew_count": better.skew_count,
                "skew_rate": today.skew_rate,
                "advised_skew_rate": better.skew_rate,
                "idle_members": today.idle_members,
                "advised_idle_members": better.idle_members,
                "partitions_moved": better.partitions_moved,
            },
            Remedy(
                fact(
                    FactCode.SERVER_ASSIGNOR_UNEVEN,
                    strategy=today.assignor,
                    advised=better.assignor,
                    by_rate=is_rate and not is_seen,
                    skew=before,
                    advised_skew=after,
                    idle_members=today.idle_members or 0,
                    members=today.members,
                ),
                cost=fact(FactCode.MOVES_ONE_BY_ONE, partitions=better.partitions_moved or 0),
                gain=1 - 1 / gained,
                changes=better.partitions_moved or 0,
            ),
            confidence=Confidence.MEASURED if replay.is_reproduced else Confidence.ESTIMATED,
        )


def rollover_half_done(context: FindingContext) -> Iterator[Finding]:
    """Some members speak KIP-848, others the classic protocol."""
    for group in context.judged_groups:
        old = [member for member in group.members if member.is_classic]
        new = [member for member in group.members if member.is_classic is False]
        if not old or not new:
            continue
        names = [member.instance_id or member.client_id or member.id for member in old]
        yield finding(
            "rollover_half_done",
            Severity.MEDIUM,
            group.id,
            {
                "assignor": group.protocol,
                "members": len(group.members),
                "upgraded_members": len(new),
                "classic_members": len(old),
                "classic_ratio": len(old) / len(group.members),
            },
            Remedy(
                fact(
                    FactCode.ROLLOVER_HALF_DONE,
                    upgraded_members=len(new),
                    classic_members=len(old),
                    members=tuple(names[:MOST_NAMED]),
                ),
                cost=fact(FactCode.RESTARTS_MEMBERS, members=len(old)),
                gain=1.0,
                changes=len(old),
            ),
        )


def mixed_clients(context: FindingContext) -> Iterator[Finding]:
    """Several libraries: the leader's one decides the assignment."""
    for group in context.judged_groups:
        counts = _clients_of(group)
        if len(counts) < 2:
            continue
        is_sticky = group.protocol in _STICKY
        fewest = min(counts.values())
        yield finding(
            "mixed_clients",
            Severity.MEDIUM if is_sticky else Severity.LOW,
            group.id,
            {
                "assignor": group.protocol,
                "members": len(group.members),
                "clients": tuple(counts),
                "libraries": len(counts),
                "fewest_of_one_library": fewest,
            },
            Remedy(
                fact(
                    FactCode.MIXED_CLIENTS,
                    libraries=tuple(counts.items()),
                    strategy=group.protocol,
                    is_sticky=is_sticky,
                ),
                cost=fact(FactCode.CHANGES_LIBRARY, members=fewest),
                gain=fewest / len(group.members),
                changes=fewest,
            ),
            confidence=Confidence.ESTIMATED,
        )


def server_uniform_may_throw(context: FindingContext) -> Iterator[Finding]:
    """Uniform of Kafka 3.8 and 3.9 fails in some groups with different subscriptions."""
    if seen_release(context.snapshot.kafka_version)[:2] not in ((3, 8), (3, 9)):
        return
    for group in context.judged_groups:
        if group.type is not GroupType.CONSUMER or group.protocol != "uniform" or len(group.members) < 2:
            continue
        subscriptions = {member.subscription for member in group.members}
        if None in subscriptions or len(subscriptions) < 2:
            continue
        yield finding(
            "server_uniform_may_throw",
            Severity.MEDIUM,
            group.id,
            {
                "assignor": group.protocol,
                "kafka_version": context.snapshot.kafka_version,
                "members": len(group.members),
                "subscriptions": len(subscriptions),
            },
            Remedy(
                fact(
                    FactCode.SERVER_UNIFORM_MAY_THROW,
                    subscriptions=len(subscriptions),
                    kafka_version=context.snapshot.kafka_version,
                ),
                cost=fact(FactCode.ROLLING_RESTART),
                gain=0.1,
            ),
            confidence=Confidence.ESTIMATED,
        )


def _clients_of(group: Group) -> dict[str, int]:
    """Return members of each library; empty where a coordinator assigns, or some are uncertain."""
    if group.type not in (GroupType.CLASSIC, GroupType.UNKNOWN) or group.client is not None:
        return {}
    clients = [member_client(member, group) for member in group.members]
    if any(client.sureness in _UNSURE for client in clients):
        return {}
    counts = Counter(client.client.value if client.client else client.program for client in clients)
    return dict(sorted(counts.items()))


def connect_idle_workers(context: FindingContext) -> Iterator[Finding]:
    """There are more workers than connectors and tasks."""
    for replay in _connect_replays(context):
        for after in replay.rows_of(ConnectScenario.REBALANCES):
            if not after.idle_workers:
                continue
            idle = [load.member_id for load in replay.loads if not load.total]
            counts = {
                "idle_workers": after.idle_workers,
                "workers": after.worker_count,
                "connectors": replay.connectors,
                "tasks": replay.tasks,
            }
            yield finding(
                "connect_idle_workers",
                Severity.LOW,
                replay.group_id,
                {**counts, "example": idle[0] if idle else None},
                Remedy(
                    fact(FactCode.CONNECT_IDLE_WORKERS, **counts),
                    cost=fact(FactCode.COSTS_NOTHING),
                    gain=after.idle_workers / after.worker_count,
                ),
            )


def connect_uneven_workers(context: FindingContext) -> Iterator[Finding]:
    """The next rebalance would move connectors or tasks."""
    for replay in _connect_replays(context):
        for after in replay.rows_of(ConnectScenario.REBALANCES):
            today = replay.rows[0]
            before, then = (today.most_connectors, today.most_tasks), (after.most_connectors, after.most_tasks)
            if not after.moved or (then >= before and after.idle_workers >= today.idle_workers):
                continue
            counts = {
                "most_tasks": today.most_tasks,
                "least_tasks": today.least_tasks,
                "most_tasks_after": after.most_tasks,
                "most_connectors": today.most_connectors,
                "most_connectors_after": after.most_connectors,
                "idle_workers": today.idle_workers,
                "idle_workers_after": after.idle_workers,
            }
            yield finding(
                "connect_uneven_workers",
                Severity.LOW,
                replay.group_id,
                {**counts, "moved": after.moved},
                Remedy(
                    fact(FactCode.CONNECT_UNEVEN_WORKERS, **counts),
                    cost=fact(FactCode.RESTARTS_TASKS, moved=after.moved),
                    gain=1 - sum(then) / (sum(before) or 1),
                    changes=after.moved,
                ),
            )


def _connect_replays(context: FindingContext) -> Iterator[ConnectReplay]:
    for group in context.judged_groups:
        replay = replay_connect_group(group)
        if replay is not None:
            yield replay


def static_members_partly(context: FindingContext) -> Iterator[Finding]:
    """Some members keep their partitions in a restart, others cause a rebalance."""
    for group_input in context.chosen_inputs:
        group = group_input.group
        without = [member for member in group.members if member.instance_id is None]
        static = len(group.members) - len(without)
        if not static or not without or group.type is GroupType.SHARE:
            continue
        names = [member.client_id or member.id for member in without]
        yield finding(
            "static_members_partly",
            Severity.LOW,
            group.id,
            {"assignor": group.protocol, "members": len(group.members), "static_members": static,
             "dynamic_members": len(without)},
            Remedy(
                fact(
                    FactCode.STATIC_MEMBERS_PARTLY,
                    static_members=static,
                    dynamic_members=len(without),
                    members=tuple(names[:MOST_NAMED]),
                ),
                cost=fact(FactCode.RESTARTS_MEMBERS, members=len(without)),
                gain=len(without) / len(group.members),
                changes=len(without),
            ),
        )  # fmt: skip


def static_membership(context: FindingContext) -> Iterator[Finding]:
    """Static members would shorten restarts; only of eager groups of many members: each restart stops all twice."""
    inputs = context.group_inputs
    for replay in context.chosen_replays:
        today = scenario_row(replay, "rolling_restart")
        static = scenario_row(replay, "rolling_restart_static")
        if today is None or static is None or any(m.instance_id for m in inputs[replay.group_id].group.members):
            continue
        unread, left = today.unread_partition_ms, static.unread_partition_ms
        if not unread or left is None or today.longest_pause_ms is None or not today.partitions:
            continue
        mean_s, static_mean_s = unread / today.partitions / 1000, left / today.partitions / 1000
        if mean_s < threshold("static_membership", "unread_seconds"):
            continue
        saved = 1 - left / unread
        if saved < threshold("static_membership", "saved_ratio"):
            continue
        yield finding(
            "static_membership",
            Severity.LOW,
            replay.group_id,
            {
                "assignor": today.assignor,
                "members": today.members,
                "partitions": today.partitions,
                "mean_unread_seconds": mean_s,
                "static_mean_unread_seconds": static_mean_s,
                "longest_pause_seconds": today.longest_pause_ms / 1000,
                "partitions_moved": today.partitions_moved,
                "static_partitions_moved": static.partitions_moved,
            },
            Remedy(
                fact(
                    FactCode.STATIC_MEMBERSHIP,
                    members=today.members,
                    mean_unread_seconds=mean_s,
                    static_mean_unread_seconds=static_mean_s,
                ),
                cost=fact(FactCode.ROLLING_RESTART, effect="keeps_dead_members"),
                gain=saved,
                changes=today.members,
            ),
            confidence=Confidence.ESTIMATED,
        )  # fmt: skip


def scenario_row(replay: GroupReplay, scenario: str) -> GroupScore | None:
    return next(
        (
            row
            for row in replay.scenarios
            if (row.scenario, row.assignor) == (scenario, replay.today.assignor) and row.error is None
        ),
        None,
    )


def group_advice(replay: GroupReplay, group: Group, findings: Sequence[Finding] = ()) -> Fact:
    """Return the advice; ``findings``: those about this group, symptoms included."""
    kind, motion = kind_of(group), motion_of(group)
    is_moving = motion is not None and motion.code.is_moving and kind.reads_partitions
    if motion is not None and (kind.has_choice or not group.members or is_moving):
        return motion.fact(FactCode.NOT_JUDGED)
    by_code = {finding.code: finding for finding in reversed(findings)}
    see = tuple(sorted(by_code))
    if not kind.has_choice:
        return _advice_without_choice(kind, group, by_code, see)
    advised = None if replay.advised is None else replay.score(replay.advised)
    if advised is not None:
        return _change(advised, is_server=group.type is GroupType.CONSUMER)
    idle = by_code.get("idle_members")
    is_caused = idle is not None and idle.evidence.get("cause") not in (None, IdleCause.FEWER_PARTITIONS.value)
    if group.protocol and idle is not None and is_caused:
        return idle.recommendation
    return _keep(replay, group, see)


def _advice_without_choice(kind: GroupKind, group: Group, by_code: Mapping[str, Finding], see: tuple[str, ...]) -> Fact:
    workers = replay_connect_group(group)
    if workers is not None:
        return _connect_advice(workers, see)
    apart = by_code.get("read_without_joining")
    return fact(FactCode.NO_CHOICE, kind=kind.value, see=see) if apart is None else apart.recommendation


def _connect_advice(replay: ConnectReplay, see: tuple[str, ...]) -> Fact:
    """Return work and costs of deaths: the worst of a worker that does not lead, then the leader's."""
    counts = {"workers": len(replay.loads), "connectors": replay.connectors, "tasks": replay.tasks}
    if replay.missing:
        missing = tuple(part.value for part in replay.missing)
        return fact(FactCode.CONNECT_WORKERS_UNKNOWN, **counts, missing=missing, see=see)
    leaders = {load.member_id for load in replay.loads if load.is_leader}
    dies = replay.rows_of(ConnectScenario.WORKER_DIES)
    deaths = [
        max(rows, key=lambda row: (row.stopped, row.moved))
        for is_leader in (False, True)
        if (rows := [row for row in dies if (row.workers[0] in leaders) is is_leader])
    ]
    today, (joined,) = replay.rows[0], replay.rows_of(ConnectScenario.WORKER_JOINS)
    return fact(
        FactCode.CONNECT_WORKERS,
        **counts,
        is_eager=replay.is_eager,
        most_tasks=today.most_tasks,
        least_tasks=today.least_tasks,
        idle_workers=today.idle_workers,
        is_reproduced=bool(replay.is_reproduced),
        deaths=tuple(
            fact(
                FactCode.CONNECT_WORKER_DIES,
                worker=row.workers[0],
                is_leader=row.workers[0] in leaders,
                stopped=row.stopped,
                stopped_ms=row.stopped_ms,
                moved=row.moved,
            )
            for row in deaths
        ),
        gained=joined.gained,
        moved=joined.moved,
        see=see,
    )


def findings_by_group(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    by_group: dict[str, list[Finding]] = {}
    for outer in findings:
        for each in (outer, *outer.symptoms):
            if each.subject_type is SubjectType.GROUP:
                by_group.setdefault(each.subject, []).append(each)
    return by_group


def _change(advised: GroupScore, *, is_server: bool) -> Fact:
    return fact(
        FactCode.CHANGE_STRATEGY,
        advised=advised.assignor,
        idle_members=advised.idle_members or 0,
        skew_count=advised.skew_count,
        partitions_moved=advised.partitions_moved or 0,
        is_server=is_server,
    )


def _keep(replay: GroupReplay, group: Group, see: tuple[str, ...]) -> Fact:
    today, strategy = replay.today, group.protocol
    if not strategy:
        threads = sum(member_client(member, group).program == "Kafka Streams" for member in group.members)
        members, learn = len(group.members), learn_strategy(group)
        return fact(FactCode.STRATEGY_UNKNOWN, members=members, streams_threads=threads, learn=learn, see=see)
    if replay.is_reproduced is False and replay.basis is not SubscriptionBasis.GIVEN:
        return fact(FactCode.SUBSCRIPTIONS_UNKNOWN, strategy=strategy, see=see)
    skew, by_rate = (today.skew_count, False) if today.skew_rate is None else (today.skew_rate, True)
    if today.members == 1:
        why = "one_member"
    elif skew is None:
        why = "not_measured"
    elif skew < LEAST_GAIN:
        why = "even"
    elif group.type is not GroupType.CONSUMER and not strategies_of(group):
        client = group_client(group).program or None
        return fact(FactCode.STRATEGIES_NOT_REPLAYED, client=client, skew=skew, by_rate=by_rate, see=see)
    else:
        why = "none_better"
    return fact(FactCode.KEEP_STRATEGY, strategy=strategy, why=why, skew=skew, by_rate=by_rate, see=see)


def cross_rack_reads(context: FindingContext) -> Iterator[Finding]:
    """Another strategy reads more within racks, and is as even."""
    for replay in context.chosen_replays:
        today, best = replay.today, _best(replay)
        if best is None or today.same_rack_ratio is None or best.same_rack_ratio is None:
            continue
        more = best.same_rack_ratio - today.same_rack_ratio
        if more < threshold("cross_rack_reads", "same_rack_more_ratio"):
            continue
        yield finding(
            "cross_rack_reads",
            Severity.MEDIUM if more >= threshold("cross_rack_reads", "medium_more_ratio") else Severity.LOW,
            replay.group_id,
            {
                "assignor": today.assignor,
                "advised_assignor": best.assignor,
                "members": today.members,
                "partitions": today.partitions,
                "same_rack_ratio": today.same_rack_ratio,
                "advised_same_rack_ratio": best.same_rack_ratio,
                "leader_in_rack_ratio": today.leader_in_rack_ratio,
                "partitions_moved": best.partitions_moved,
            },
            Remedy(
                fact(
                    FactCode.CROSS_RACK_READS,
                    advised=best.assignor,
                    same_rack_ratio=today.same_rack_ratio,
                    advised_same_rack_ratio=best.same_rack_ratio,
                    leader_in_rack_ratio=today.leader_in_rack_ratio or 0.0,
                ),
                cost=fact(FactCode.ONE_REBALANCE, partitions=best.partitions_moved or 0),
                gain=more / (1 - today.same_rack_ratio),
                changes=best.partitions_moved or 0,
            ),
            confidence=Confidence.ESTIMATED,
        )


def _best(replay: GroupReplay) -> GroupScore | None:
    """Return the strategy with most reads within racks among settable ones as even by count as today."""
    others = [
        score
        for score in replay.scores[1:]
        if score.error is None and score.assignor != OWN and "/" not in score.assignor
        and score.same_rack_ratio is not None and (score.skew_count or 0) <= (replay.today.skew_count or 0) + 1e-9
    ]  # fmt: skip
    return max(others, key=lambda score: (score.same_rack_ratio or 0.0, -(score.partitions_moved or 0)), default=None)


def share_group_behind(context: FindingContext) -> Iterator[Finding]:
    """Records behind those in flight exceed so many seconds of writes."""
    for group in context.judged_groups:
        rates = context.group_inputs[group.id].rates
        if group.type is not GroupType.SHARE or not group.members:
            continue
        lag, rate = float(rates.lag_messages.sum()), float(rates.in_messages_per_s.sum())
        if not rate > 0 or not lag / rate >= threshold("share_group_behind", "behind_seconds"):
            continue
        partitions = len(rates.lag_messages)
        yield finding(
            "share_group_behind",
            Severity.MEDIUM,
            group.id,
            {
                "lag_messages": int(lag),
                "lag_seconds": lag / rate,
                "in_messages_per_s": rate,
                "members": len(group.members),
                "partitions": partitions,
            },
            Remedy(
                fact(
                    FactCode.SHARE_GROUP_BEHIND,
                    lag_messages=int(lag),
                    lag_seconds=lag / rate,
                    members=len(group.members),
                    partitions=partitions,
                ),
                cost=fact(FactCode.ADDS_MEMBERS),
                gain=1.0,
            ),
            # The broker's lag also counts finished records after the first one in flight.
            confidence=Confidence.ESTIMATED,
        )
