"""Advice of each group: another strategy, keep the one that it has and why, or why nothing is recommended."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.findings.finding import Finding, SubjectType
from kafka_rebalance.findings.server_choice import better_server_strategy
from kafka_rebalance.groups.client_settings import learn_strategy, strategies_of
from kafka_rebalance.groups.group_replay import LEAST_GAIN, GroupReplay
from kafka_rebalance.groups.idle_causes import IdleCause
from kafka_rebalance.groups.kinds import kind_of
from kafka_rebalance.groups.member_clients import group_client, member_client
from kafka_rebalance.groups.motion import motion_of
from kafka_rebalance.groups.subscriptions import SubscriptionBasis
from kafka_rebalance.scoring.assignment_scores import GroupScore
from kafka_rebalance.snapshot.model import Group, GroupType


def group_advice(replay: GroupReplay, group: Group, findings: Sequence[Finding] = ()) -> Fact:
    """Return the group's advice. ``findings``: those about this group, symptoms among them."""
    kind, motion = kind_of(group), motion_of(group)
    is_moving = motion is not None and motion.code.is_moving and kind.reads_partitions
    if motion is not None and (kind.has_choice or not group.members or is_moving):
        return motion.fact(FactCode.NOT_JUDGED)
    see = tuple(sorted({finding.code for finding in findings}))
    if not kind.has_choice:
        apart = next((finding for finding in findings if finding.code == "read_without_joining"), None)
        return fact(FactCode.NO_CHOICE, kind=kind.value, see=see) if apart is None else apart.recommendation
    advised = None if replay.advised is None else replay.score(replay.advised)
    if advised is not None:
        return _change(advised, is_server=False)
    better = better_server_strategy(replay) if group.type is GroupType.CONSUMER else None
    if better is not None:
        return _change(better, is_server=True)
    idle = next((finding for finding in findings if finding.code == "idle_members"), None)
    is_caused = idle is not None and idle.evidence.get("cause") not in (None, IdleCause.FEWER_PARTITIONS.value)
    if group.protocol and idle is not None and is_caused:
        return idle.recommendation
    return _keep(replay, group, see)


def findings_by_group(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    """Those about groups, and symptoms that are."""
    by_group: dict[str, list[Finding]] = {}
    for finding in findings:
        for told in (finding, *finding.symptoms):
            if told.subject_type is SubjectType.GROUP:
                by_group.setdefault(told.subject, []).append(told)
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
