"""A described group → its members, each decoded by itself: classic, consumer (KIP-848), share and streams groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.groups.user_data import decode_user_data
from kafka_rebalance.snapshot.model import Group, GroupType, Member, TopicPartitions
from rebalance_advisor.kafka.coverage import Coverage
from rebalance_advisor.kafka.groups.member_metadata import (
    OddBytesError,
    Subscription,
    decode_assignment,
    decode_subscription,
)
from rebalance_advisor.kafka.groups.streams_members import streams_member, subtopologies_of

REBALANCING = ("PreparingRebalance", "CompletingRebalance")
CONSUMER_PROTOCOL = "consumer"
_IS_CLASSIC: dict[int | None, bool] = {0: True, 1: False}  # -1 and older versions: not told


def with_members(group: Group, described: Any, coverage: Coverage, partition_counts: Mapping[str, int]) -> Group:
    """The listed group with what its own API told; members in the order of their ids."""
    if described.group_state == "Dead":
        coverage.add("group", group.id, FactCode.LACKS_MEMBERS, FactCode.GROUP_GONE)
        return replace(group, state="Dead")
    if described.group_state in REBALANCING:
        reason = fact(FactCode.GROUP_REBALANCING, state=described.group_state)
        coverage.add("group", group.id, FactCode.LACKS_MEMBERS, reason)
    if group.type is GroupType.CLASSIC:
        group = replace(group, protocol_type=described.protocol_type or group.protocol_type)
        group = replace(group, protocol=described.protocol_data or None)
        members = [_classic_member(row, group) for row in described.members]
    else:
        group = replace(group, generation=described.group_epoch, assignment_epoch=described.assignment_epoch)
        if group.type is GroupType.STREAMS:  # its tasks are dealt out by no assignor that one could name
            group = replace(group, subtopologies=subtopologies_of(described))
            members = [streams_member(row, group.subtopologies, partition_counts) for row in described.members]
        else:
            group = replace(group, protocol=described.assignor_name or None)
            members = [_modern_member(row) for row in described.members]
    for member in members:
        if member.decode_error:
            reason = fact(FactCode.AS_REPORTED, text=member.decode_error)
            coverage.add("member", f"{group.id}/{member.id}", FactCode.LACKS_SUBSCRIPTION, reason)
    members.sort(key=lambda member: member.id)
    return replace(group, state=described.group_state, members=tuple(members))


def _classic_member(raw: Any, group: Group) -> Member:
    """Bytes that cannot be read leave the rest of the member, and everybody else, as they are."""
    member = Member(
        id=raw.member_id,
        instance_id=getattr(raw, "group_instance_id", None) or None,
        client_id=raw.client_id or None,
        host=raw.client_host or None,
    )
    if group.protocol_type != CONSUMER_PROTOCOL:
        return member  # Kafka Connect and others: their bytes mean something else
    try:
        if raw.member_metadata:
            said = decode_subscription(raw.member_metadata)
            owned, generation = _owned_by(said, group.protocol)
            member = replace(
                member, rack=said.rack, subscription=said.topics, owned=owned, generation=generation,
                user_data=said.user_data, subscription_version=said.version,
            )  # fmt: skip
        if raw.member_assignment:
            member = replace(member, assigned=decode_assignment(raw.member_assignment))
    except OddBytesError as odd:
        return replace(member, decode_error=str(odd))
    return member


def _owned_by(said: Subscription, protocol: str | None) -> tuple[TopicPartitions | None, int | None]:
    """Members of a sticky strategy give everything up before they join, and say in their user data what they had."""
    told = decode_user_data(said.user_data, protocol) if protocol == "sticky" else None
    if told is None or told.owned is None:
        return said.owned, said.generation
    return told.owned, told.generation


def _modern_member(raw: Any) -> Member:
    """Consumer groups tell where they are and where they are going; share groups have neither target nor instance."""
    target = getattr(raw, "target_assignment", None)
    return Member(
        id=raw.member_id,
        instance_id=getattr(raw, "instance_id", None) or None,
        client_id=raw.client_id or None,
        host=raw.client_host or None,
        rack=raw.rack_id or None,
        subscription=tuple(raw.subscribed_topic_names),
        subscribed_regex=getattr(raw, "subscribed_topic_regex", None) or None,
        assigned=_topic_partitions(raw.assignment),
        target=None if target is None else _topic_partitions(target),
        generation=raw.member_epoch,
        is_classic=_IS_CLASSIC.get(getattr(raw, "member_type", None)),
    )


def _topic_partitions(assignment: Any) -> TopicPartitions:
    return tuple(
        sorted(
            (topic_partition.topic_name, tuple(sorted(topic_partition.partitions)))
            for topic_partition in assignment.topic_partitions
        )
    )
