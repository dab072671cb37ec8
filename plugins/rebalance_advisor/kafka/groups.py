"""Every group: type, state, coordinator; members of classic ones decoded one by one; committed offsets of all.

The type comes from ListGroups and decides whom to ask: a group asked by the wrong API looks dead and empty, on older
brokers without any error. The broker that lists a group coordinates it; FindCoordinator (which would create
``__consumer_offsets`` on a cluster without groups) is asked only about listed groups whose coordinator moved meanwhile.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from kafka.protocol.admin import DescribeGroupsRequest, ListGroupsRequest
from kafka.protocol.metadata import FindCoordinatorRequest

from kafka_rebalance.model import Group, GroupType, Member
from rebalance_advisor.kafka.asker import Asker
from rebalance_advisor.kafka.client import error_name, reason_of
from rebalance_advisor.kafka.coverage import Coverage
from rebalance_advisor.kafka.member_bytes import OddBytesError, decode_assignment, decode_subscription

LOADING, NOT_AVAILABLE, NOT_COORDINATOR = 14, 15, 16
_GROUPS_A_QUESTION = 200
_REBALANCING = ("PreparingRebalance", "CompletingRebalance")
_CONSUMER_PROTOCOL = "consumer"


@dataclass(frozen=True, slots=True)
class ListedGroups:
    """What ListGroups told: groups by name without members or offsets yet, ``coordinator`` set."""

    groups: dict[str, Group] = field(default_factory=dict)

    def by_coordinator(self, names: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
        """Coordinator and its groups, in portions of one question."""
        bundles: dict[int, list[str]] = defaultdict(list)
        for name in sorted(names):
            bundles[self.groups[name].coordinator or 0].append(name)
        for broker, bundle in sorted(bundles.items()):
            for i in range(0, len(bundle), _GROUPS_A_QUESTION):
                yield broker, bundle[i : i + _GROUPS_A_QUESTION]


def list_groups(asker: Asker, coverage: Coverage) -> ListedGroups:
    """Ask every broker for the groups that it coordinates."""
    answers = asker.ask(
        {broker: (broker, ListGroupsRequest()) for broker in asker.brokers},
        is_passing=lambda answer: answer.error_code in (LOADING, NOT_AVAILABLE),
    )
    found: dict[str, Group] = {}
    for broker, answer in sorted(answers.items()):
        if isinstance(answer, Exception) or answer.error_code:
            reason = reason_of(answer) if isinstance(answer, Exception) else error_name(answer.error_code)
            coverage.add_cluster("groups", f"broker {broker} did not list those that it coordinates: {reason}")
            continue
        for each in answer.groups:
            found[each.group_id] = Group(
                id=each.group_id,
                type=_group_type(getattr(each, "group_type", None)),
                protocol_type=each.protocol_type or _CONSUMER_PROTOCOL,
                state=getattr(each, "group_state", None) or None,
                coordinator=broker,
            )
    return ListedGroups(dict(sorted(found.items())))


def find_moved(asker: Asker, listed: ListedGroups, names: set[str]) -> ListedGroups:
    """The same groups with fresh coordinators for ``names``, which were all listed; as before where nobody tells."""
    if not names or asker.client.version_of(FindCoordinatorRequest) < 4:
        return listed
    answer = asker.ask_any(FindCoordinatorRequest(key_type=0, coordinator_keys=sorted(names), min_version=4))
    if isinstance(answer, Exception):
        return listed
    moved = {each.key: each.node_id for each in answer.coordinators if not each.error_code and each.key in names}
    return ListedGroups(
        {name: replace(group, coordinator=moved.get(name, group.coordinator)) for name, group in listed.groups.items()}
    )


def describe_classic(asker: Asker, listed: ListedGroups, coverage: Coverage) -> ListedGroups:
    """Members, assignor and state of the classic groups. Those of other types are told to be unread."""
    classic = {name for name, group in listed.groups.items() if group.type is GroupType.CLASSIC}
    described, failed = _describe(asker, listed, classic)
    moved = {name for name, reason in failed.items() if reason == error_name(NOT_COORDINATOR)}
    # A group between two phases has no metadata yet: asked once more.
    unready = {name for name, group in described.items() if group.group_state in _REBALANCING}
    if moved or unready:
        listed = find_moved(asker, listed, moved)
        asker.sleep(1.0)
        again, failed_again = _describe(asker, listed, moved | unready)
        described |= again
        failed = {name: reason for name, reason in failed.items() if name not in again} | failed_again
    groups = dict(listed.groups)
    for name in sorted(classic):
        if name in described:
            groups[name] = _with_members(groups[name], described[name], coverage)
        else:
            coverage.add("group", name, "members", failed[name])
    return ListedGroups(groups)


def _describe(asker: Asker, listed: ListedGroups, names: set[str]) -> tuple[dict[str, Any], dict[str, str]]:
    """Raw descriptions, and the reason for each group that has none."""
    bundles = list(listed.by_coordinator(names))
    questions = {
        i: (broker, DescribeGroupsRequest(groups=bundle, include_authorized_operations=False))
        for i, (broker, bundle) in enumerate(bundles)
    }
    described: dict[str, Any] = {}
    failed: dict[str, str] = {}
    for i, answer in asker.ask(questions).items():
        if isinstance(answer, Exception):
            failed |= dict.fromkeys(bundles[i][1], reason_of(answer))
            continue
        for group in answer.groups:
            if group.error_code:
                failed[group.group_id] = error_name(group.error_code)
            else:
                described[group.group_id] = group
    return described, failed


def _with_members(group: Group, described: Any, coverage: Coverage) -> Group:
    """The listed group with what DescribeGroups told."""
    if described.group_state == "Dead":
        coverage.add("group", group.id, "members", "the group vanished while it was read")
        return replace(group, state="Dead")
    protocol_type = described.protocol_type or group.protocol_type
    members = [_member(each, protocol_type) for each in described.members]
    if described.group_state in _REBALANCING:
        coverage.add("group", group.id, "members", f"the group is rebalancing ({described.group_state})")
    for member in members:
        if member.decode_error:
            coverage.add("member", f"{group.id}/{member.id}", "subscription and assignment", member.decode_error)
    return replace(
        group,
        protocol_type=protocol_type,
        protocol=described.protocol_data or None,
        state=described.group_state,
        members=tuple(sorted(members, key=lambda member: member.id)),
    )


def _member(raw: Any, protocol_type: str) -> Member:
    """One member; bytes that cannot be read leave the rest of it, and everybody else, as they are."""
    member = Member(
        id=raw.member_id,
        instance_id=getattr(raw, "group_instance_id", None) or None,
        client_id=raw.client_id or None,
        host=raw.client_host or None,
    )
    if protocol_type != _CONSUMER_PROTOCOL:
        return member  # Kafka Connect and others: their bytes mean something else
    try:
        if raw.member_metadata:
            said = decode_subscription(raw.member_metadata)
            member = replace(
                member, rack=said.rack, subscription=said.topics, owned=said.owned, generation=said.generation,
                user_data=said.user_data,
            )  # fmt: skip
        if raw.member_assignment:
            member = replace(member, assigned=decode_assignment(raw.member_assignment))
    except OddBytesError as odd:
        return replace(member, decode_error=str(odd))
    return member


def _group_type(name: str | None) -> GroupType:
    """Brokers older than 3.7 tell no type and know only classic groups."""
    if not name:
        return GroupType.CLASSIC
    try:
        return GroupType(name.lower())
    except ValueError:
        return GroupType.UNKNOWN
