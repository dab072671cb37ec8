"""A group of a snapshot and the same group after somebody's own scenario: the events that lead from one to the other.

What happens at once is told as events that follow each other: topics get other partitions, the dead are missed,
newcomers join, others leave. Between them the group settles. Where the group notices nothing (other rates, leaders in
other racks) nobody's partitions change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kafka_rebalance.arrays import NOBODY, Longs
from kafka_rebalance.coordinator.timeline import Trigger
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.groups.group_input import GroupInput, group_inputs
from kafka_rebalance.groups.scenarios.members import Variant, with_newcomers, without
from kafka_rebalance.groups.scenarios.state import Event, GroupState
from kafka_rebalance.scenarios.scenario import Scenario
from kafka_rebalance.snapshot.model import ClusterSnapshot, Member


@dataclass(frozen=True, slots=True, eq=False)
class ChangedGroup:
    """A group as a scenario leaves it, before anybody rebalances; ``is_failure``: those that are gone are dead."""

    after: GroupInput
    is_failure: bool = False


def changed_groups(
    before: Sequence[GroupInput], changed: Mapping[Scenario, ClusterSnapshot]
) -> dict[str, dict[str, ChangedGroup]]:
    """By group, then by the scenario's name: groups with a strategy that a scenario changes.

    ``before``: all groups of the snapshot; ``changed``: the snapshot after each scenario.
    """
    found: dict[str, dict[str, ChangedGroup]] = {}
    topics = {group_input.group.id: group_input.topics for group_input in before}
    todays = {group_input.group.id: group_input for group_input in before}
    for scenario, snapshot in changed.items():
        for after in group_inputs(snapshot, topics):
            today = todays[after.group.id]
            if today.group.members and today.group.type.has_strategy and _differs(today, after):
                group = ChangedGroup(after, scenario.is_failure)
                found.setdefault(after.group.id, {})[scenario.name] = group
    return found


def changed_variant(today: GroupState, changed: ChangedGroup) -> Variant:
    """What leads to the group as it is then; the last state is its own, whoever reads it."""
    events = tuple(_events(today, changed))
    before, after = today.group_input, changed.after
    members, partitions = len(before.group.members), int(before.first_row[-1])
    change = fact(
        FactCode.GROUP_CHANGES, members_before=members, members=len(after.group.members),
        partitions_before=partitions, partitions=int(after.first_row[-1]),
    )  # fmt: skip
    return Variant(change, events)


def _events(today: GroupState, changed: ChangedGroup) -> Iterator[Event]:
    event = _with_topics(today, changed.after)
    state = event.after
    stays = {member.id for member in changed.after.group.members}
    gone = {number for number, member in enumerate(state.members) if member.id not in stays}
    known = {member.id for member in state.members}
    new = [member for member in changed.after.group.members if member.id not in known]
    is_other = event.trigger is Trigger.PARTITION_COUNT_CHANGES
    if is_other or not (gone or new):
        yield event
    if gone and changed.is_failure:
        event = without(state, gone, Trigger.MEMBER_DIES)
        yield event
        state = event.after
    if new:
        event = with_newcomers(state, new, [_topics_of_newcomer(member, changed.after) for member in new])
        yield event
        state = event.after
    if gone and not changed.is_failure:
        yield without(state, gone, Trigger.MEMBER_LEAVES)


def _with_topics(today: GroupState, after: GroupInput) -> Event:
    """Today's members with the topics, rates and racks of the group as it is then."""
    rows = _rows_before(today.group_input, after)
    group_input = replace(after, group=replace(after.group, members=today.members))
    state = GroupState(group_input, tuple(_topics_now(today, after)))
    is_same = _has_same_topics(today.group_input, after) and state.subscriptions == today.subscriptions
    trigger = Trigger.COORDINATOR_MOVES if is_same else Trigger.PARTITION_COUNT_CHANGES
    return Event(trigger, state, np.arange(len(today.members), dtype=np.int32), rows)


def _topics_now(today: GroupState, after: GroupInput) -> Iterator[tuple[int, ...]]:
    """What each member subscribed to, and what is new and it says to subscribe to."""
    place = {topic: number for number, topic in enumerate(after.topics)}
    before, told = today.group_input.topics, {member.id: member.subscription for member in after.group.members}
    known = set(before)
    for member, topics in zip(today.members, today.subscriptions, strict=True):
        held = [place[before[topic]] for topic in topics if before[topic] in place]
        yield (*held, *(place[topic] for topic in told.get(member.id) or () if topic not in known))


def _topics_of_newcomer(member: Member, after: GroupInput) -> tuple[int, ...]:
    """Where it did not say it: all that the group reads."""
    if member.subscription is None or member.subscribed_regex is not None:
        return tuple(range(len(after.topics)))
    place = {topic: number for number, topic in enumerate(after.topics)}
    return tuple(place[topic] for topic in member.subscription)


def _rows_before(before: GroupInput, after: GroupInput) -> Longs:
    """int64[P after]: each partition's row before, NOBODY for a new one."""
    first, place = before.first_row, {topic: number for number, topic in enumerate(before.topics)}
    rows = [np.zeros(0, dtype=np.int64)]
    for topic, count in zip(after.topics, after.partition_counts.tolist(), strict=True):
        number = place.get(topic)
        known = 0 if number is None else min(count, int(before.partition_counts[number]))
        begins = 0 if number is None else int(first[number])
        rows.append(np.arange(begins, begins + max(known, 0), dtype=np.int64))
        rows.append(np.full(max(count, 0) - max(known, 0), NOBODY, dtype=np.int64))
    return np.concatenate(rows)


def _has_same_topics(one: GroupInput, other: GroupInput) -> bool:
    return one.topics == other.topics and one.partition_counts.tolist() == other.partition_counts.tolist()


def _differs(today: GroupInput, after: GroupInput) -> bool:
    """Other members, topics, rates, or racks of what they read."""
    if today.group.members != after.group.members or not _has_same_topics(today, after):
        return True
    rates = [
        (getattr(today.rates, name), getattr(after.rates, name)) for name in type(today.rates).__dataclass_fields__
    ]
    is_same = all(np.array_equal(one, other, equal_nan=True) for one, other in rates)
    return not is_same or (today.racks, today.leader_racks) != (after.racks, after.leader_racks)
