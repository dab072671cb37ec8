"""Every group: type, state, coordinator, and a description from the API of its own type.

The type comes from ListGroups and decides which API is used: a group described by the wrong one looks dead and empty,
on older brokers without any error. The broker that lists a group coordinates it; FindCoordinator (which would create
``__consumer_offsets`` on a cluster without groups) is asked only about listed groups whose coordinator moved meanwhile.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from kafka.protocol.admin import DescribeGroupsRequest, ListGroupsRequest
from kafka.protocol.metadata import FindCoordinatorRequest

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.snapshot.model import Group, GroupType
from rebalance_advisor.kafka.connection.client import kafka_error
from rebalance_advisor.kafka.coverage import Coverage
from rebalance_advisor.kafka.groups.members import CONSUMER_PROTOCOL, REBALANCING, with_members
from rebalance_advisor.kafka.messages import (
    ConsumerGroupDescribeRequest,
    ShareGroupDescribeRequest,
    StreamsGroupDescribeRequest,
)
from rebalance_advisor.kafka.request_sender import RequestSender
from rebalance_advisor.kafka.unheard import BrokerUnheardError

LOADING, NOT_AVAILABLE, NOT_COORDINATOR = 14, 15, 16
_GROUPS_A_QUESTION = 200


@dataclass(frozen=True, slots=True)
class ListedGroups:
    """What ListGroups told: groups by name without members or offsets yet, ``coordinator`` set."""

    groups: dict[str, Group] = field(default_factory=dict)

    def by_coordinator(self, names: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
        """Coordinator and its groups, in portions of one request."""
        bundles: dict[int, list[str]] = defaultdict(list)
        for name in sorted(names):
            bundles[self.groups[name].coordinator or 0].append(name)
        for broker, bundle in sorted(bundles.items()):
            for i in range(0, len(bundle), _GROUPS_A_QUESTION):
                yield broker, bundle[i : i + _GROUPS_A_QUESTION]


def list_groups(sender: RequestSender, coverage: Coverage) -> ListedGroups:
    """Ask every broker for the groups that it coordinates."""
    answers = sender.send(
        {broker: (broker, ListGroupsRequest()) for broker in sender.all_brokers},
        is_passing=lambda answer: answer.error_code in (LOADING, NOT_AVAILABLE),
    )
    found: dict[str, Group] = {}
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
            found[group.group_id] = Group(
                id=group.group_id,
                type=_group_type(getattr(group, "group_type", None)),
                protocol_type=group.protocol_type or CONSUMER_PROTOCOL,
                state=getattr(group, "group_state", None) or None,
                coordinator=broker,
            )
    return ListedGroups(dict(sorted(found.items())))


def find_moved(sender: RequestSender, listed: ListedGroups, names: set[str]) -> ListedGroups:
    """The same groups with fresh coordinators for ``names``, which were all listed; as before where nobody tells."""
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
    """A failure after which another broker may coordinate the group."""
    return why == NOT_COORDINATOR or isinstance(why, BrokerUnheardError)


def describe_groups(
    sender: RequestSender, listed: ListedGroups, coverage: Coverage, partition_counts: Mapping[str, int] | None = None
) -> ListedGroups:
    """The same groups with assignor, state and members. Types that have no reader here are told to be unread.

    ``partition_counts`` by topic: what the tasks of streams groups read.
    """
    readable = {name for name, group in listed.groups.items() if group.type in _REQUESTS}
    described, failed = _describe(sender, listed, readable)
    moved = {name for name, why in failed.items() if may_have_moved(why)}
    # A classic group between two phases has no metadata yet: asked once more.
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
    """Raw descriptions, and for each group that has none Kafka's error code or the failure."""
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
    """Brokers older than 3.7 tell no type and know only classic groups."""
    if not name:
        return GroupType.CLASSIC
    try:
        return GroupType(name.lower())
    except ValueError:
        return GroupType.UNKNOWN
