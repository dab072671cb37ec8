"""What each group is told in one line: another strategy, keep what there is and why, or why nothing is advised."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kafka_rebalance.amounts import changing, counted
from kafka_rebalance.findings.finding import Finding, SubjectType
from kafka_rebalance.findings.server_choice import better_server_strategy
from kafka_rebalance.groups.client_settings import strategies_of
from kafka_rebalance.groups.group_replay import LEAST_GAIN, GroupReplay
from kafka_rebalance.groups.idle_causes import IdleCause
from kafka_rebalance.groups.kinds import kind_of
from kafka_rebalance.groups.member_clients import group_client, member_client
from kafka_rebalance.groups.motion import motion_of
from kafka_rebalance.groups.rollover import learn_strategy
from kafka_rebalance.groups.subscriptions import SubscriptionBasis
from kafka_rebalance.scoring.assignment_scores import GroupScore
from kafka_rebalance.snapshot.model import Group, GroupType


def advice_words(replay: GroupReplay, group: Group, findings: Sequence[Finding] = ()) -> str:
    """``findings``: those about this group, symptoms among them."""
    kind, motion = kind_of(group), motion_of(group)
    is_moving = motion is not None and motion.code.is_moving and kind.reads_partitions
    if motion is not None and (kind.has_choice or not group.members or is_moving):
        return f"not judged: {motion.words}. {motion.look_at}"
    codes = sorted({finding.code.replace("_", " ") for finding in findings})
    see = f"; see {', '.join(codes)}" if codes else ""
    if not kind.has_choice:
        apart = next((finding for finding in findings if finding.code == "read_without_joining"), None)
        return kind.words + see if apart is None else apart.recommendation
    advised = None if replay.advised is None else replay.score(replay.advised)
    if advised is not None:
        return _change_words(advised)
    better = better_server_strategy(replay) if group.type is GroupType.CONSUMER else None
    if better is not None:
        return f"{_change_words(better)} (group.remote.assignor)"
    idle = next((finding for finding in findings if finding.code == "idle_members"), None)
    is_caused = idle is not None and idle.evidence.get("cause") not in (None, IdleCause.FEWER_PARTITIONS.value)
    if group.protocol and idle is not None and is_caused:
        return idle.recommendation
    return _keep_words(replay, group) + see


def findings_by_group(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    """Those about groups, and symptoms that are."""
    by_group: dict[str, list[Finding]] = {}
    for finding in findings:
        for told in (finding, *finding.symptoms):
            if told.subject_type is SubjectType.GROUP:
                by_group.setdefault(told.subject, []).append(told)
    return by_group


def _change_words(advised: GroupScore) -> str:
    skew = "" if advised.skew_count is None else f", skew {advised.skew_count:.2f}"
    return (
        f"{advised.assignor}: {advised.idle_members or 0} idle{skew}, {changing(advised.partitions_moved or 0)} reader"
    )


def _keep_words(replay: GroupReplay, group: Group) -> str:
    today, strategy = replay.today, group.protocol or "its strategy"
    if not group.protocol:
        threads = sum(member_client(member, group).program == "Kafka Streams" for member in group.members)
        streams = (
            f"; {threads} of {counted(len(group.members), 'member')} are threads of Kafka Streams" if threads else ""
        )
        return f"cannot tell: the group's strategy is not known{streams}: {learn_strategy(group)}"
    if replay.is_reproduced is False and replay.basis is not SubscriptionBasis.GIVEN:
        return f"cannot tell: {strategy} would not give what the members read, so their subscriptions are not known"
    if today.members == 1:
        return f"keep {strategy}: one member reads all"
    skew, by_what = (today.skew_count, "count") if today.skew_rate is None else (today.skew_rate, "rate")
    if skew is None:
        return f"keep {strategy}: how even it is was not measured"
    if skew < LEAST_GAIN:
        return f"keep {strategy}: even, the fullest member has {skew:.2f} times the mean by {by_what}"
    if group.type is not GroupType.CONSUMER and not strategies_of(group):
        unknown = group_client(group).program or "part of its members"
        return (
            f"cannot tell: the strategies of {unknown} are not replayed here ({skew:.2f} times the mean by {by_what})"
        )
    return f"keep {strategy}: no other would be better by a quarter ({skew:.2f} times the mean by {by_what})"
