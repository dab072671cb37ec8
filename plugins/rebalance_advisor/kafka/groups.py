"""Read every group with the API of its type; another API shows it dead and empty.

The listing broker is the coordinator. FindCoordinator can create ``__consumer_offsets``, so it is sent only for groups
that moved. Newer consumer protocol versions are decoded as the newest known.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from kafka.protocol.admin import DescribeGroupsRequest, ListGroupsRequest
from kafka.protocol.metadata import FindCoordinatorRequest

from kafka_assignors.connect_work import ConnectTask, Work
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.groups.streams_user_data import decode_streams_assignment, decode_streams_subscription
from kafka_rebalance.groups.subscriptions import OddBytesError, ProtocolReader, decode_user_data
from kafka_rebalance.snapshot.group import (
    RACK_AFFINITY,
    ConnectWorker,
    Member,
    Subtopology,
    TaskIds,
    TaskOffsets,
    Tasks,
    partitions_of_tasks,
)
from kafka_rebalance.snapshot.model import Group, GroupType, TopicPartitions
from rebalance_advisor.kafka.connection.client import kafka_error
from rebalance_advisor.kafka.coverage import Coverage
from rebalance_advisor.kafka.messages import (
    ConsumerGroupDescribeRequest,
    ShareGroupDescribeRequest,
    StreamsGroupDescribeRequest,
)
from rebalance_advisor.kafka.request_sender import RequestSender
from rebalance_advisor.kafka.unresponsive import UnresponsiveBrokerError

_NEWEST_SUBSCRIPTION = 3


@dataclass(frozen=True, slots=True)
class Subscription:
    """``owned``, ``generation``, ``rack``: not in version 0."""

    version: int
    topics: tuple[str, ...]
    user_data: bytes | None
    owned: TopicPartitions | None
    generation: int | None
    rack: str | None


def decode_subscription(data: bytes) -> Subscription:
    """ConsumerProtocolSubscription 0 to 3; kafka-go's version 1 has no owned partitions. Raises OddBytesError."""
    reader = ProtocolReader(data)
    said_version = reader.version()
    version = min(said_version, _NEWEST_SUBSCRIPTION)
    topics = tuple(reader.string() for _ in range(reader.count()))
    user_data = reader.nullable_bytes()
    is_cut = version == 1 and reader.is_at_end
    owned = () if is_cut else reader.topic_partitions() if version >= 1 else None
    generation = reader.int32() if version >= 2 else None
    rack = reader.nullable_string() if version >= 3 else None
    joined_generation = None if generation is None or generation < 0 else generation
    return Subscription(said_version, topics, user_data, owned, joined_generation, rack or None)


def decode_assignment(data: bytes) -> TopicPartitions:
    reader = ProtocolReader(data)
    reader.version()
    return reader.topic_partitions()


def _streams_tasks(data: bytes) -> Tasks | None:
    reader = ProtocolReader(data)
    reader.version()
    reader.topic_partitions()
    user_data = None if reader.is_at_end else reader.nullable_bytes()
    return decode_streams_assignment(user_data) if user_data else None


_CONNECTOR = -1  # among tasks: the connector itself


def decode_worker(metadata: bytes, assignment: bytes) -> ConnectWorker:
    """Metadata 0 ends after the config offset.

    Later versions add what the worker ran when it joined, as an assignment. Missing last fields have their defaults, as
    in Connect. Raises OddBytesError.
    """
    reader = ProtocolReader(metadata)
    worker = ConnectWorker(version=reader.version(), url=reader.nullable_string(), config_offset=reader.int64())
    if worker.version > 0:
        joined_with = None if reader.is_at_end else reader.nullable_bytes()
        worker = replace(worker, joined_with=_with_assignment(worker, joined_with).assigned or Work())
    return _with_assignment(worker, assignment)


def _with_assignment(worker: ConnectWorker, data: bytes | None) -> ConnectWorker:
    """Versions 0 to 2; a worker that waits for its first assignment has none."""
    if not data:
        return worker
    reader = ProtocolReader(data)
    version = reader.version()
    error, leader, leader_url, offset = (
        reader.int16(),
        reader.nullable_string(),
        reader.nullable_string(),
        reader.int64(),
    )
    assigned = _work(reader)
    revoked = Work() if version == 0 or reader.is_at_end else _work(reader)
    delay_ms = 0 if version == 0 or reader.is_at_end else reader.int32()
    return replace(
        worker, error=error, leader=leader, leader_url=leader_url, assigned_offset=offset, assigned=assigned,
        revoked=revoked, delay_ms=delay_ms,
    )  # fmt: skip


def _work(reader: ProtocolReader) -> Work:
    runs = [] if reader.is_at_end else reader.nullable_runs()
    return Work(
        tuple(connector for connector, numbers in runs if _CONNECTOR in numbers),
        tuple(ConnectTask(connector, number) for connector, numbers in runs for number in numbers if number >= 0),
    )


def subtopologies_of(described: Any) -> tuple[Subtopology, ...]:
    """() while the group is not initialized or topics are missing."""
    rows = (described.topology.subtopologies or ()) if described.topology is not None else ()
    return tuple(
        Subtopology(
            id=row.subtopology_id,
            source_topics=tuple(sorted(row.source_topics)),
            repartition_topics=tuple(sorted(topic.name for topic in row.repartition_source_topics)),
            changelog_topics=tuple(sorted(topic.name for topic in row.state_changelog_topics)),
        )
        for row in sorted(rows, key=lambda row: str(row.subtopology_id))
    )


def streams_member(raw: Any, subtopologies: tuple[Subtopology, ...], partition_counts: Mapping[str, int]) -> Member:
    tasks, target = _tasks(raw.assignment), _tasks(raw.target_assignment)
    topics = {topic for subtopology in subtopologies for topic in subtopology.read_topics}
    return Member(
        id=raw.member_id,
        instance_id=raw.instance_id or None,
        client_id=raw.client_id or None,
        host=raw.client_host or None,
        rack=raw.rack_id or None,
        subscription=tuple(sorted(topics)) if subtopologies else None,
        assigned=partitions_of_tasks(tasks.active, subtopologies, partition_counts),
        target=partitions_of_tasks(target.active, subtopologies, partition_counts),
        generation=raw.member_epoch,
        is_classic=bool(raw.is_classic),
        process_id=raw.process_id or None,
        tasks=tasks,
        target_tasks=target,
        task_offsets=_offset_sums(raw.task_offsets),
        task_end_offsets=_offset_sums(raw.task_end_offsets),
    )


def _offset_sums(rows: Any) -> TaskOffsets:
    by_subtopology: dict[str, dict[int, int]] = defaultdict(dict)
    for row in rows or ():
        if row.partition >= 0 and row.offset >= 0:
            by_subtopology[row.subtopology_id][row.partition] = row.offset
    return tuple((name, tuple(sorted(sums.items()))) for name, sums in sorted(by_subtopology.items()))


def _tasks(assignment: Any) -> Tasks:
    return Tasks(_ids(assignment.active_tasks), _ids(assignment.standby_tasks), _ids(assignment.warmup_tasks))


def _ids(rows: Any) -> TaskIds:
    return tuple(sorted((row.subtopology_id, tuple(sorted(row.partitions))) for row in rows or ()))


REBALANCING = ("PreparingRebalance", "CompletingRebalance")
CONSUMER_PROTOCOL, CONNECT_PROTOCOL, STREAMS_PROTOCOL = "consumer", "connect", "stream"
_IS_CLASSIC: dict[int | None, bool] = {0: True, 1: False}  # -1 and older versions: unknown


def with_members(group: Group, described: Any, coverage: Coverage, partition_counts: Mapping[str, int]) -> Group:
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
        if group.type is GroupType.STREAMS:
            # From version 1 (4.4): assignor of the next target, and task offsets.
            assignor = getattr(described, "assignor_name", None) or None
            group = replace(group, subtopologies=subtopologies_of(described), protocol=assignor)
            members = [streams_member(row, group.subtopologies, partition_counts) for row in described.members]
            if assignor is None:
                members = [replace(member, task_offsets=None, task_end_offsets=None) for member in members]
        else:
            group = replace(group, protocol=described.assignor_name or None)
            members = [_modern_member(row) for row in described.members]
    for member in members:
        if member.decode_error:
            reason = fact(FactCode.AS_REPORTED, text=member.decode_error)
            coverage.add("member", f"{group.id}/{member.id}", FactCode.LACKS_SUBSCRIPTION, reason)
    members.sort(key=lambda member: member.id)
    return replace(group, state=described.group_state, members=tuple(members))


def _with_worker(member: Member, raw: Any) -> Member:
    try:
        return replace(member, worker=decode_worker(raw.member_metadata, raw.member_assignment))
    except OddBytesError as error:
        return replace(member, decode_error=f"worker: {error}")


def _classic_member(raw: Any, group: Group) -> Member:
    """A bad subscription keeps the assignment."""
    member = Member(
        id=raw.member_id,
        instance_id=getattr(raw, "group_instance_id", None) or None,
        client_id=raw.client_id or None,
        host=raw.client_host or None,
    )
    if group.protocol_type == CONNECT_PROTOCOL and raw.member_metadata:
        return _with_worker(member, raw)
    if group.protocol_type != CONSUMER_PROTOCOL:
        return member  # other formats, such as Schema Registry
    odd = []
    try:
        if raw.member_metadata:
            subscription = decode_subscription(raw.member_metadata)
            owned, generation = _owned_by(subscription, group.protocol)
            rack = subscription.user_data if group.protocol == RACK_AFFINITY else None
            member = replace(
                member, rack=subscription.rack or (rack or b"").decode(errors="replace") or None,
                subscription=subscription.topics, owned=owned, generation=generation,
                user_data=subscription.user_data, subscription_version=subscription.version,
            )  # fmt: skip
    except OddBytesError as error:
        odd.append(f"subscription: {error}")
    try:
        if raw.member_assignment:
            member = replace(member, assigned=decode_assignment(raw.member_assignment))
    except OddBytesError as error:
        odd.append(f"assignment: {error}")
    if group.protocol == STREAMS_PROTOCOL and not odd:
        try:
            if member.user_data:
                streams_data = decode_streams_subscription(member.user_data)
                member = replace(member, process_id=streams_data.process_id, task_offsets=streams_data.offset_sums)
            member = replace(member, tasks=_streams_tasks(raw.member_assignment) if raw.member_assignment else None)
        except OddBytesError as error:
            odd.append(f"user data: {error}")
    return replace(member, decode_error="; ".join(odd)) if odd else member


def _owned_by(subscription: Subscription, protocol: str | None) -> tuple[TopicPartitions | None, int | None]:
    """Sticky members revoke all before they join, so theirs come from user data."""
    sticky_data = decode_user_data(subscription.user_data, protocol) if protocol == "sticky" else None
    if sticky_data is None or sticky_data.owned is None:
        return subscription.owned, subscription.generation
    return sticky_data.owned, sticky_data.generation


def _modern_member(raw: Any) -> Member:
    """Share groups have no target and no instance."""
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
    """As the coordinator walks its maps, which decides what a member keeps where ids of topics share a bin."""
    return tuple((runs.topic_name, tuple(runs.partitions)) for runs in assignment.topic_partitions)


LOADING, NOT_AVAILABLE, NOT_COORDINATOR = 14, 15, 16
_GROUPS_A_QUESTION = 200


@dataclass(frozen=True, slots=True)
class ListedGroups:
    groups: dict[str, Group] = field(default_factory=dict)

    def by_coordinator(self, names: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
        bundles: dict[int, list[str]] = defaultdict(list)
        for name in sorted(names):
            bundles[self.groups[name].coordinator or 0].append(name)
        for broker, bundle in sorted(bundles.items()):
            for i in range(0, len(bundle), _GROUPS_A_QUESTION):
                yield broker, bundle[i : i + _GROUPS_A_QUESTION]


def list_groups(sender: RequestSender, coverage: Coverage) -> ListedGroups:
    answers = sender.send(
        {broker: (broker, ListGroupsRequest()) for broker in sender.all_brokers},
        is_passing=lambda answer: answer.error_code in (LOADING, NOT_AVAILABLE),
    )
    by_id: dict[str, Group] = {}
    for broker, answer in sorted(answers.items()):
        if isinstance(answer, Exception):
            coverage.add_unanswered(broker, FactCode.LACKS_GROUPS_OF_BROKER, answer)
            continue
        if answer.error_code:
            reason = fact(FactCode.GROUPS_NOT_LISTED, broker=broker, why=kafka_error(answer.error_code))
            coverage.note_refusal(FactCode.LACKS_GROUPS, answer.error_code)
            coverage.add_cluster(FactCode.LACKS_GROUPS, reason)
            continue
        for group in answer.groups:
            by_id[group.group_id] = Group(
                id=group.group_id,
                type=_group_type(getattr(group, "group_type", None)),
                protocol_type=group.protocol_type or CONSUMER_PROTOCOL,
                state=getattr(group, "group_state", None) or None,
                coordinator=broker,
            )
    return ListedGroups(dict(sorted(by_id.items())))


def find_moved(sender: RequestSender, listed: ListedGroups, names: set[str]) -> ListedGroups:
    if not names or sender.client.version_of(FindCoordinatorRequest) < 4:
        return listed
    answer = sender.send_to_any(FindCoordinatorRequest(key_type=0, coordinator_keys=sorted(names), min_version=4))
    if isinstance(answer, Exception):
        return listed
    moved = {
        coordinator.key: coordinator.node_id
        for coordinator in answer.coordinators
        if not coordinator.error_code and coordinator.key in names
    }
    return ListedGroups(
        {name: replace(group, coordinator=moved.get(name, group.coordinator)) for name, group in listed.groups.items()}
    )


def may_have_moved(why: int | Exception) -> bool:
    return why == NOT_COORDINATOR or isinstance(why, UnresponsiveBrokerError)


def describe_groups(
    sender: RequestSender, listed: ListedGroups, coverage: Coverage, partition_counts: Mapping[str, int] | None = None
) -> ListedGroups:
    readable = {name for name, group in listed.groups.items() if group.type in _REQUESTS}
    described, failed = _describe(sender, listed, readable)
    moved = {name for name, why in failed.items() if may_have_moved(why)}
    # A classic group between two phases has no metadata.
    unready = {name for name, group in described.items() if group.group_state in REBALANCING}
    if moved or unready:
        listed = find_moved(sender, listed, moved)
        if unready:
            sender.sleep(1.0)
        again, failed_again = _describe(sender, listed, moved | unready)
        described |= again
        failed = {name: why for name, why in failed.items() if name not in again} | failed_again
    groups = dict(listed.groups)
    for name, group in listed.groups.items():
        if name in described:
            groups[name] = with_members(group, described[name], coverage, partition_counts or {})
        else:
            why = failed.get(name)
            if isinstance(why, int):
                coverage.add_error("group", name, FactCode.LACKS_MEMBERS, why)
            elif isinstance(why, Exception):
                coverage.add_unanswered(group.coordinator or 0, FactCode.LACKS_MEMBERS_OF_GROUPS, why, [name])
            else:
                reason = fact(FactCode.GROUP_TYPE_NOT_READ, group_type=group.type.value)
                coverage.add("group", name, FactCode.LACKS_MEMBERS, reason)
    return ListedGroups(groups)


def _describe(
    sender: RequestSender, listed: ListedGroups, names: set[str]
) -> tuple[dict[str, Any], dict[str, int | Exception]]:
    bundles = [
        (broker, kind, bundle)
        for kind in _REQUESTS
        for broker, bundle in listed.by_coordinator(name for name in names if listed.groups[name].type is kind)
    ]
    requests = {i: (broker, _REQUESTS[kind](bundle)) for i, (broker, kind, bundle) in enumerate(bundles)}
    described: dict[str, Any] = {}
    failed: dict[str, int | Exception] = {}
    for i, answer in sender.send(requests).items():
        if isinstance(answer, Exception):
            failed |= dict.fromkeys(bundles[i][2], answer)
            continue
        for group in answer.groups:
            if group.error_code:
                failed[group.group_id] = int(group.error_code)
            else:
                described[group.group_id] = group
    return described, failed


_REQUESTS: dict[GroupType, Callable[[list[str]], Any]] = {
    GroupType.CLASSIC: lambda names: DescribeGroupsRequest(groups=names, include_authorized_operations=False),
    GroupType.CONSUMER: lambda names: ConsumerGroupDescribeRequest(
        group_ids=names, include_authorized_operations=False
    ),
    GroupType.SHARE: lambda names: ShareGroupDescribeRequest(group_ids=names, include_authorized_operations=False),
    GroupType.STREAMS: lambda names: StreamsGroupDescribeRequest(group_ids=names, include_authorized_operations=False),
}


def _group_type(name: str | None) -> GroupType:
    """None: brokers older than 3.7 know only classic."""
    if not name:
        return GroupType.CLASSIC
    try:
        return GroupType(name.lower())
    except ValueError:
        return GroupType.UNKNOWN
