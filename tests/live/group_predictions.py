"""What a group will do, worked out from the reading before an event and from who is there after it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from kafka_assignors.coordinator.membership import NEWEST, Coordinator, TimelineMap, coordinator_of, elect_strategy
from kafka_assignors.coordinator.timeline import Partition
from kafka_assignors.registry import by_name
from kafka_assignors.releases import seen_release
from kafka_rebalance.groups.group_input import group_inputs
from kafka_rebalance.groups.subscriptions import hypotheses, request_of
from kafka_rebalance.snapshot.model import ClusterSnapshot, Group, GroupType, Member, TopicPartitions

_MOST_ROUNDS = 5
Reading = dict[str, frozenset[Partition]]  # member id → what it reads


@dataclass(frozen=True, slots=True)
class Prediction:
    """The strategy that the group will be told to use (one of several on a tie), and what each member will read."""

    strategies: tuple[str, ...]
    reading: Reading


def group_of(snapshot: ClusterSnapshot, name: str) -> Group:
    return next(group for group in snapshot.groups if group.id == name)


def reading_of(group: Group) -> Reading:
    """What each member reads today."""
    return {member.id: _pairs(member.assigned) for member in group.members}


def without_rebalance(before: Group, after: Group) -> Prediction:
    """A static member is back within its session: everybody keeps what it has, whatever its new id."""
    assert before.protocol is not None
    return Prediction((before.protocol,), {member.id: _pairs(_had(before, member)) for member in after.members})


def after_rebalance(
    before: Group, after: ClusterSnapshot, strategies: Mapping[str, Sequence[str]]
) -> tuple[Prediction, ...]:
    """One prediction; one for each strategy where equally many members of a KIP-848 group ask for it (``_of_most``).

    ``strategies``: what the members list, by client id in the order in which they joined; ids, subscriptions and
    partitions are those of ``after``.

    What members say that they own is what ``before`` gave them, as far as their client remembers it.
    """
    group = group_of(after, before.id)
    is_server = group.type is GroupType.CONSUMER
    listed = {member.id: strategies[str(member.client_id)] for member in group.members}
    coordinator = coordinator_of(seen_release(after.kafka_version)) or NEWEST
    possible = _of_most(listed) if is_server else (elect_strategy(listed, coordinator).winner or "",)
    return tuple(Prediction(possible, _predicted(before, after, strategies, strategy)) for strategy in possible)


def _predicted(
    before: Group, after: ClusterSnapshot, strategies: Mapping[str, Sequence[str]], strategy: str
) -> Reading:
    group = group_of(after, before.id)
    is_server = group.type is GroupType.CONSUMER
    joined = list(strategies)
    by_join = sorted(group.members, key=lambda member: joined.index(str(member.client_id)))
    walked = _as_walked(before, by_join, is_server=is_server)
    remembering = {member.id for member in walked if _remembers(before, strategy, strategies[str(member.client_id)])}
    members = tuple(replace(member, assigned=_had(before, member), target=None) for member in walked)
    return _last_round(f"server-{strategy}" if is_server else strategy, after, group, members, remembering)


def as_client_answers(before: Group, after: ClusterSnapshot, assignor: str, joined: Sequence[str]) -> Reading:
    """What members that stay or are new, and remember what they had, will read; ``joined``: their ids as they came.

    ``assignor``: name of the class that stands for their client.
    """
    group = group_of(after, before.id)
    by_join = sorted(group.members, key=lambda member: joined.index(member.id))
    members = _as_walked(before, by_join, is_server=_has_server(group))
    had = tuple(replace(member, assigned=_had(before, member), target=None) for member in members)
    return _last_round(assignor, after, group, had, set(joined))


def _last_round(
    assignor: str, after: ClusterSnapshot, group: Group, members: tuple[Member, ...], remembering: AbstractSet[str]
) -> Reading:
    is_server = _has_server(group)
    for _ in range(_MOST_ROUNDS):
        said = tuple(
            member if member.id in remembering else replace(member, assigned=(), target=None) for member in members
        )
        members, is_settled = _round(assignor, after, group, said, is_server)
        if is_settled:
            return {member.id: _pairs(member.assigned) for member in members}
    raise AssertionError(f"{group.id}: partitions are still withheld after {_MOST_ROUNDS} rounds")


def _round(
    assignor: str, snapshot: ClusterSnapshot, group: Group, members: tuple[Member, ...], is_server: bool
) -> tuple[tuple[Member, ...], bool]:
    """What members have after one rebalance, and whether that was the last: nothing is withheld for the next."""
    asked = replace(snapshot, groups=(replace(group, members=members),))
    (group_input,) = group_inputs(asked)
    ((_, subscriptions),) = hypotheses(group_input)
    is_scala = coordinator_of(seen_release(snapshot.kafka_version)) is Coordinator.SCALA
    request = request_of(group_input, subscriptions, is_server=is_server, as_listed=is_server or not is_scala)
    answer = by_name(assignor).assign(request)
    topics = group_input.topics
    given = [[(topics[topic], partition) for topic, partition in answer.of_member(i)] for i in range(len(members))]
    result = tuple(
        replace(member, assigned=_runs(pairs), target=None) for member, pairs in zip(members, given, strict=True)
    )
    return result, not len(answer.withheld)


def _has_server(group: Group) -> bool:
    """The coordinator assigns."""
    return group.type in (GroupType.CONSUMER, GroupType.SHARE)


def _as_walked(before: Group, by_join: Sequence[Member], *, is_server: bool) -> Sequence[Member]:
    """Members as they are put into the map of the strategy, which matters where two share a bin of it.

    A classic group's leader hears of them bin by bin, in a bin as they joined (brokers up to 3.9: by hash, which
    ``request_of`` says better). The coordinator of a KIP-848 group walks those that it knew and adds the one that has
    just come; that of a share group knows it by then.
    """
    if not is_server:
        return by_join
    is_share = before.type is GroupType.SHARE
    known = {member.id for member in (by_join if is_share else before.members)}
    walk = TimelineMap.settled(member.id for member in by_join if member.id in known).order()
    index = {name: number for number, name in enumerate(walk)}
    return sorted(by_join, key=lambda member: index.get(member.id, len(index)))


def _had(before: Group, member: Member) -> TopicPartitions:
    """By its id, or by that of its instance; a newcomer had nothing."""
    for old in before.members:
        if old.id == member.id or (member.instance_id is not None and old.instance_id == member.instance_id):
            return old.owns(is_server=_has_server(before))
    return ()


def _remembers(before: Group, strategy: str, listed: Sequence[str]) -> bool:
    """A member says what it had: under KIP-848 the coordinator knows; ``sticky`` writes into its user data what it
    assigned itself; ``cooperative-sticky`` finds it where no eager strategy is listed beside it, for a member that
    lists one gives everything up before it joins.
    """
    if strategy == "sticky":
        return before.protocol == "sticky"
    return strategy != "cooperative-sticky" or tuple(listed) == ("cooperative-sticky",)


def _of_most(listed: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """What most members of a KIP-848 group ask for. Between equals its coordinator takes the one that stands first in a
    HashMap of which the member that beats first has just been taken out and put in again: that cannot be known, and
    what ConsumerGroupDescribe tells comes from another map.
    """
    votes = Counter(names[0] for names in listed.values())
    return tuple(name for name, count in votes.items() if count == max(votes.values()))


def _pairs(runs: TopicPartitions) -> frozenset[Partition]:
    return frozenset((topic, number) for topic, numbers in runs for number in numbers)


def _runs(pairs: Sequence[Partition]) -> TopicPartitions:
    grouped: dict[str, list[int]] = {}
    for topic, number in pairs:
        grouped.setdefault(topic, []).append(number)
    return tuple((topic, tuple(numbers)) for topic, numbers in grouped.items())
