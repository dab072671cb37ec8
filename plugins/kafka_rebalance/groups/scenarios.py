"""Each strategy's result in each scenario of a group: moved partitions, idle members, pauses.

Promises, in this order: each step is the strategy's exact answer for members that own the previous result; the row is
the variant with most moved partitions; the same seed draws the same members.

Example: range on 24 topics of one partition, 6 members: the first member reads all 24. If it dies, 24 partitions wait
for its session timeout.

A scenario is a chain of events between settled states. Members join, leave or restart, up to ``most`` in turn, drawn in
larger groups. Without a rebalance (other rates or leader racks) no reader changes.

Complexity: variants × strategies, each O(partitions + members) beside the strategy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import zip_longest
from typing import Any

import numpy as np

from kafka_assignors.arrays import ABSENT, Floats, Ints, Longs
from kafka_assignors.coordinator.pauses import Pauses, add_pauses, pauses_of, restart_pauses, scale_pauses, sum_pauses
from kafka_assignors.coordinator.timeline import Protocol, Step, Times, Trigger
from kafka_assignors.errors import AssignorError
from kafka_assignors.kernels import kernel
from kafka_assignors.registry import by_name
from kafka_assignors.weighted import least_skew
from kafka_rebalance.facts import Fact, FactCode, fact, refusal_of
from kafka_rebalance.groups.answers import empty_score, reader_of, score_answer
from kafka_rebalance.groups.group_input import GroupInput, group_inputs
from kafka_rebalance.groups.member_clients import COOPERATIVE
from kafka_rebalance.groups.request_frame import RequestFrame, Subscriptions, frame_of
from kafka_rebalance.groups.strategies import Candidate
from kafka_rebalance.scenarios.changes import Newcomers, drawn_topic_id, free_name, lots_of, restart, spread_over_all
from kafka_rebalance.scenarios.scenario import Scenario
from kafka_rebalance.scoring.assignment_scores import PartitionRates
from kafka_rebalance.scoring.drain import member_capacity
from kafka_rebalance.scoring.scores import GroupScore
from kafka_rebalance.snapshot.model import ClusterSnapshot, Member


@dataclass(frozen=True, eq=False)  # no slots: cached_property needs __dict__
class GroupState:
    """Members, topics and partitions of a group, without readers: ``assigned`` and ``user_data`` do not count."""

    group_input: GroupInput
    subscriptions: Subscriptions

    @property
    def members(self) -> tuple[Member, ...]:
        return self.group_input.group.members

    @cached_property
    def of_client(self) -> RequestFrame:
        return frame_of(self.group_input, self.subscriptions)

    @cached_property
    def of_server(self) -> RequestFrame:
        return frame_of(self.group_input, self.subscriptions, is_server=True)

    def frame(self, *, is_server: bool) -> RequestFrame:
        return self.of_server if is_server else self.of_client

    @cached_property
    def least_skews(self) -> tuple[float | None, float | None]:
        """Lower bounds on the skew of any assignment, by count and by rate."""
        request, rates = self.of_client.empty, self.group_input.rates.in_bytes_per_s
        is_read = np.repeat(request.topics.has_metadata, np.maximum(self.group_input.partition_counts, 0))
        return least_skew(request, np.ones(int(is_read.sum()))), least_skew(request, rates[is_read])

    def with_members(self, members: Sequence[Member], subscriptions: Subscriptions) -> GroupState:
        group = replace(self.group_input.group, members=tuple(members))
        return GroupState(replace(self.group_input, group=group), subscriptions)


@dataclass(frozen=True, eq=False, slots=True)
class Event:
    """Event in a settled group.

    ``member_before`` int32[M after]: former number, ABSENT: new. ``row_before`` int64[P after]: former row, -1: new;
    ``None``: unchanged. ``subject``: the number of a member that restarts in place.
    """

    trigger: Trigger
    after: GroupState
    member_before: Ints
    row_before: Longs | None = None
    is_static: bool = False
    subject: int = ABSENT

    def carry(self, reader: Ints) -> tuple[Ints, Ints]:
        """Return present and former readers, int32[P after] each, by new member numbers.

        Gone members share one number after all others.
        """
        members = len(self.member_before)
        rows = np.arange(len(reader), dtype=np.int64) if self.row_before is None else self.row_before
        return _carry(reader, rows, self.member_before, members)


@kernel
def changed_readers(before: Ints, after: Ints) -> int:
    count = 0
    for row in range(len(before)):
        if before[row] != ABSENT and before[row] != after[row]:
            count += 1
    return count


@kernel
def _carry(reader: Ints, row_before: Longs, member_before: Ints, members: int) -> tuple[Ints, Ints]:
    most = ABSENT
    for member in range(members):
        most = max(most, member_before[member])
    for row in range(len(reader)):
        most = max(most, reader[row])
    number = np.full(most + 2, members, np.int32)  # one more: index ABSENT is the last
    for member in range(members):
        if member_before[member] != ABSENT:
            number[member_before[member]] = member
    stays, was = np.empty(len(row_before), np.int32), np.empty(len(row_before), np.int32)
    for row in range(len(row_before)):
        old = reader[row_before[row]] if row_before[row] >= 0 else ABSENT
        was[row] = number[old] if old != ABSENT else ABSENT
        stays[row] = was[row] if was[row] < members else ABSENT
    return stays, was


@dataclass(frozen=True, slots=True, eq=False)
class Variant:
    """``share`` of the scenario that was replayed: 0.1 for 20 of 200 members."""

    subject: Fact
    events: Sequence[Event]
    share: float = 1.0


@dataclass(frozen=True, eq=False)  # no slots: cached_property needs __dict__
class Stage:
    today: GroupState
    seed: int
    most: int

    @cached_property
    def picked_members(self) -> tuple[int, ...]:
        count = len(self.today.members)
        if count <= self.most:
            return tuple(range(count))
        return tuple(sorted(self.lots("picked").permutation(count)[: self.most].tolist()))

    @cached_property
    def departures(self) -> tuple[Event, ...]:
        return tuple(without(self.today, {number}, Trigger.MEMBER_LEAVES) for number in self.picked_members)

    def lots(self, scenario: str) -> np.random.Generator:
        return lots_of(self.today.group_input.group.id, scenario, self.seed)

    def name(self, number: int) -> str:
        return self.today.members[number].id


def member_joins(stage: Stage) -> Iterator[Variant]:
    lots = stage.lots("member_joins")
    for _ in range(min(stage.most, _MOST_JOINS)):
        event = grow(stage.today, 1, lots)
        yield Variant(fact(FactCode.MEMBER_JOINS, member=event.after.members[-1].id), (event,))


def member_leaves(stage: Stage) -> Iterator[Variant]:
    for number, event in zip(stage.picked_members, stage.departures, strict=True):
        yield Variant(fact(FactCode.MEMBER_LEAVES, member=stage.name(number)), (event,))


def member_crashes(stage: Stage) -> Iterator[Variant]:
    for number, event in zip(stage.picked_members, stage.departures, strict=True):
        dies = fact(FactCode.MEMBER_DIES, member=stage.name(number))
        yield Variant(dies, (replace(event, trigger=Trigger.MEMBER_DIES),))


def static_restart(stage: Stage) -> Iterator[Variant]:
    """One restarts within its session, with group.instance.id: its partitions wait for it."""
    for number in stage.picked_members:
        restarts = fact(FactCode.MEMBER_RESTARTS, member=stage.name(number))
        yield Variant(restarts, (_restart_in_place(stage.today, number),))


def rolling_restart(stage: Stage) -> Iterator[Variant]:
    """Each member in turn leaves and joins with a new id."""
    lots, state = stage.lots("rolling_restart"), stage.today
    events: list[Event] = []
    for number in stage.picked_members:
        index = next(i for i, member in enumerate(state.members) if member.id == stage.name(number))
        member, topics = state.members[index], state.subscriptions[index]
        leaves = replace(without(state, {index}, Trigger.MEMBER_LEAVES), is_static=False)
        joins = with_newcomers(leaves.after, [restart(member, lots)], [topics])
        events += [leaves, joins]
        state = joins.after
    yield _rolling(stage, events)


def rolling_restart_static(stage: Stage) -> Iterator[Variant]:
    yield _rolling(stage, [_restart_in_place(stage.today, number) for number in stage.picked_members])


def rack_lost(stage: Stage) -> Iterator[Variant]:
    racks = sorted({member.rack for member in stage.today.members if member.rack})
    for rack in racks if len(racks) > 1 else ():
        lost = {number for number, member in enumerate(stage.today.members) if member.rack == rack}
        dies = fact(FactCode.RACK_DIES, rack=rack, members=len(lost))
        yield Variant(dies, (without(stage.today, lost, Trigger.MEMBER_DIES),))


def members_halved(stage: Stage) -> Iterator[Variant]:
    yield from _resize(stage, "members_halved", -(-len(stage.today.members) // 2))


def members_doubled(stage: Stage) -> Iterator[Variant]:
    yield from _resize(stage, "members_doubled", 2 * len(stage.today.members))


def members_as_partitions(stage: Stage) -> Iterator[Variant]:
    yield from _resize(stage, "members_as_partitions", int(stage.today.group_input.first_row[-1]))


def _resize(stage: Stage, scenario: str, size: int) -> Iterator[Variant]:
    count, lots = len(stage.today.members), stage.lots(scenario)
    if size in (count, 0) or size > max(_MOST_MEMBERS, 2 * count):
        return
    if size > count:
        event = grow(stage.today, size - count, lots)
    else:
        event = without(stage.today, set(lots.permutation(count)[size:].tolist()), Trigger.MEMBER_LEAVES)
    partitions = int(stage.today.group_input.first_row[-1])
    change = fact(
        FactCode.GROUP_CHANGES, members_before=count, members=size, partitions_before=partitions,
        partitions=partitions,
    )  # fmt: skip
    yield Variant(change, (event,))


def grow(state: GroupState, count: int, lots: np.random.Generator) -> Event:
    drawn = Newcomers(state.members, lots).draw(count)
    return with_newcomers(state, [member for _, member in drawn], [state.subscriptions[like] for like, _ in drawn])


def without(state: GroupState, gone: set[int], trigger: Trigger) -> Event:
    stays = [number for number in range(len(state.members)) if number not in gone]
    members, topics = [state.members[i] for i in stays], tuple(state.subscriptions[i] for i in stays)
    is_static = all(state.members[number].instance_id is not None for number in gone)
    return Event(trigger, state.with_members(members, topics), np.array(stays, dtype=np.int32), is_static=is_static)


def with_newcomers(state: GroupState, members: Sequence[Member], topics: Sequence[tuple[int, ...]]) -> Event:
    """Return the join of members at once; ``topics``: numbers of each one's topics."""
    after = state.with_members((*state.members, *members), (*state.subscriptions, *topics))
    before = np.concatenate((np.arange(len(state.members)), np.full(len(members), ABSENT))).astype(np.int32)
    return Event(Trigger.MEMBER_JOINS, after, before)


def _restart_in_place(state: GroupState, number: int) -> Event:
    before = np.arange(len(state.members), dtype=np.int32)
    return Event(Trigger.STATIC_RESTART, state, before, is_static=True, subject=number)


def _rolling(stage: Stage, events: Sequence[Event]) -> Variant:
    done, count = len(stage.picked_members), len(stage.today.members)
    return Variant(fact(FactCode.MEMBERS_RESTART, restarts=done, members=count), events, share=done / count)


_MOST_JOINS = 5
_MOST_MEMBERS = 10_000  # larger than real groups


_NEW = -1


def partitions_added(stage: Stage) -> Iterator[Variant]:
    """The topic with most partitions gets twice as many.

    Keys move, so each partition gets the topic's mean. Lag stays.
    """
    before = stage.today.group_input
    if not len(before.topics) or before.partition_counts.max() <= 0:
        return
    topic = int(np.argmax(before.partition_counts))
    count = int(before.partition_counts[topic])
    rows, first = [], before.first_row
    for number in range(len(before.topics)):
        rows.append(np.arange(first[number], first[number + 1], dtype=np.int64))
        if number == topic:
            rows.append(np.full(count, _NEW, dtype=np.int64))
    counts = before.partition_counts.copy()
    counts[topic] *= 2
    begins = int(first[topic])
    after = _with_rows(before, np.concatenate(rows), partition_counts=counts)
    for rate in (after.rates.in_bytes_per_s, after.rates.in_messages_per_s):
        spread_over_all(rate[begins : begins + 2 * count], count)
    after.rates.lag_messages[begins + count : begins + 2 * count] = 0
    grows = fact(
        FactCode.TOPIC_GROWS, topic=before.topics[topic], partitions_before=count, partitions=2 * count
    )  # fmt: skip
    yield Variant(grows, (_event(stage, after, rows),))


def topic_added(stage: Stage) -> Iterator[Variant]:
    """One more topic like the median one by partitions; all members subscribe."""
    before = stage.today.group_input
    there = np.flatnonzero(before.partition_counts > 0)
    if not len(there):
        return
    like = int(there[np.argsort(before.partition_counts[there], kind="stable")[len(there) // 2]])
    count, name = int(before.partition_counts[like]), free_name(before.topics, before.topics[like])
    position = sum(topic < name for topic in before.topics)
    first = before.first_row
    begins = int(first[position])
    rows = [np.arange(begins, dtype=np.int64), np.full(count, _NEW), np.arange(begins, first[-1], dtype=np.int64)]
    after = _with_rows(
        before,
        np.concatenate(rows),
        topics=(*before.topics[:position], name, *before.topics[position:]),
        partition_counts=np.insert(before.partition_counts, position, count).astype(np.int32),
        topic_ids=(
            *before.topic_ids[:position],
            drawn_topic_id(stage.lots("topic_added")),
            *before.topic_ids[position:],
        )
        if before.topic_ids
        else (),
    )
    old = slice(int(first[like]), int(first[like + 1]))
    after.rates.in_bytes_per_s[begins : begins + count] = before.rates.in_bytes_per_s[old]
    after.rates.in_messages_per_s[begins : begins + count] = before.rates.in_messages_per_s[old]
    after.rates.lag_messages[begins : begins + count] = 0
    subscriptions = tuple(
        (*(topic + (topic >= position) for topic in topics), position) for topics in stage.today.subscriptions
    )
    grows = fact(FactCode.TOPIC_GROWS, topic=name, partitions_before=0, partitions=count)
    yield Variant(grows, (_event(stage, after, rows, subscriptions),))


def _event(
    stage: Stage, after: GroupInput, rows: list[Longs], subscriptions: tuple[tuple[int, ...], ...] | None = None
) -> Event:
    members = np.arange(len(stage.today.members), dtype=np.int32)
    state = GroupState(after, stage.today.subscriptions if subscriptions is None else subscriptions)
    return Event(Trigger.PARTITION_COUNT_CHANGES, state, members, np.concatenate(rows))


def _with_rows(before: GroupInput, rows: Longs, **changes: Any) -> GroupInput:
    rates = PartitionRates(*(_values_of(getattr(before.rates, name), rows) for name in _RATES))
    if before.rack_offsets is None:
        return replace(before, rates=rates, **changes)
    widths = np.where(rows == _NEW, 0, np.diff(before.rack_offsets)[np.maximum(rows, 0)])
    offsets = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(widths)))
    racks = tuple(
        rack
        for row in rows.tolist()
        if row != _NEW
        for rack in before.racks[before.rack_offsets[row] : before.rack_offsets[row + 1]]
    )
    leader_racks = before.leader_racks
    leaders = tuple(leader_racks[row] if row != _NEW else None for row in rows.tolist()) if leader_racks else ()
    changes |= {"rack_offsets": offsets.astype(np.int64), "racks": racks, "leader_racks": leaders}
    return replace(before, rates=rates, **changes)


_RATES = ("in_bytes_per_s", "in_messages_per_s", "lag_messages", "read_messages_per_s")


def _values_of(values: Floats, rows: Longs) -> Floats:
    return np.where(rows == _NEW, np.nan, values[np.maximum(rows, 0)])


TODAY = "today"
ROLLING_RESTART = "rolling_restart"
STRATEGY_CHANGES = "strategy_changes"
EVENTS: dict[str, Callable[[Stage], Iterator[Variant]]] = {
    "member_joins": member_joins,
    "member_leaves": member_leaves,
    "member_crashes": member_crashes,
    "static_restart": static_restart,
    ROLLING_RESTART: rolling_restart,
    "rolling_restart_static": rolling_restart_static,
    "rack_lost": rack_lost,
    "members_halved": members_halved,
    "members_doubled": members_doubled,
    "members_as_partitions": members_as_partitions,
    "partitions_added": partitions_added,
    "topic_added": topic_added,
}
SCENARIOS = (*EVENTS, STRATEGY_CHANGES)
MOST_VARIANTS = 20
_ROWS_IN_ALL = 2_000_000  # limit of partitions and members of a scenario's variants together


def stage_of(today: GroupState, seed: int) -> Stage:
    return Stage(today, seed, most_variants(int(today.group_input.first_row[-1]) + len(today.members)))


def most_variants(size: int) -> int:
    return min(MOST_VARIANTS, max(1, _ROWS_IN_ALL // max(1, size)))


def variants_of(scenario: str, stage: Stage) -> Iterator[Variant]:
    """Yield no variant where the scenario cannot happen. Not for STRATEGY_CHANGES."""
    return EVENTS[scenario](stage)


@dataclass(frozen=True, slots=True, eq=False)
class ChangedGroup:
    """A group after a scenario, before the rebalance; ``is_failure``: missing members are dead."""

    after: GroupInput
    is_failure: bool = False


def changed_groups(
    before: Sequence[GroupInput], changed: Mapping[Scenario, ClusterSnapshot]
) -> dict[str, dict[str, ChangedGroup]]:
    """By group, then by scenario name: groups with a strategy that a scenario changes."""
    changed_by_group: dict[str, dict[str, ChangedGroup]] = {}
    topics = {group_input.group.id: group_input.topics for group_input in before}
    todays = {group_input.group.id: group_input for group_input in before}
    for scenario, snapshot in changed.items():
        for after in group_inputs(snapshot, topics):
            today = todays[after.group.id]
            if today.group.members and today.group.type.has_strategy and _differs(today, after):
                group = ChangedGroup(after, scenario.is_failure)
                changed_by_group.setdefault(after.group.id, {})[scenario.name] = group
    return changed_by_group


def changed_variant(today: GroupState, changed: ChangedGroup) -> Variant:
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
    present = {member.id for member in state.members}
    new = [member for member in changed.after.group.members if member.id not in present]
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
    rows = _rows_before(today.group_input, after)
    group_input = replace(after, group=replace(after.group, members=today.members))
    state = GroupState(group_input, tuple(_topics_now(today, after)))
    is_same = _has_same_topics(today.group_input, after) and state.subscriptions == today.subscriptions
    trigger = Trigger.COORDINATOR_MOVES if is_same else Trigger.PARTITION_COUNT_CHANGES
    return Event(trigger, state, np.arange(len(today.members), dtype=np.int32), rows)


def _topics_now(today: GroupState, after: GroupInput) -> Iterator[tuple[int, ...]]:
    index_of = {topic: number for number, topic in enumerate(after.topics)}
    before, subscriptions = today.group_input.topics, {member.id: member.subscription for member in after.group.members}
    topics_before = set(before)
    for member, topics in zip(today.members, today.subscriptions, strict=True):
        held = [index_of[before[topic]] for topic in topics if before[topic] in index_of]
        yield (*held, *(index_of[topic] for topic in subscriptions.get(member.id) or () if topic not in topics_before))


def _topics_of_newcomer(member: Member, after: GroupInput) -> tuple[int, ...]:
    if member.subscription is None or member.subscribed_regex is not None:
        return tuple(range(len(after.topics)))
    index_of = {topic: number for number, topic in enumerate(after.topics)}
    return tuple(index_of[topic] for topic in member.subscription)


def _rows_before(before: GroupInput, after: GroupInput) -> Longs:
    first, index_of = before.first_row, {topic: number for number, topic in enumerate(before.topics)}
    rows = [np.zeros(0, dtype=np.int64)]
    for topic, count in zip(after.topics, after.partition_counts.tolist(), strict=True):
        number = index_of.get(topic)
        kept = 0 if number is None else min(count, int(before.partition_counts[number]))
        begins = 0 if number is None else int(first[number])
        rows.append(np.arange(begins, begins + max(kept, 0), dtype=np.int64))
        rows.append(np.full(max(count, 0) - max(kept, 0), ABSENT, dtype=np.int64))
    return np.concatenate(rows)


def _has_same_topics(before: GroupInput, after: GroupInput) -> bool:
    return before.topics == after.topics and before.partition_counts.tolist() == after.partition_counts.tolist()


def _differs(today: GroupInput, after: GroupInput) -> bool:
    if today.group.members != after.group.members or not _has_same_topics(today, after):
        return True
    rates = [
        (getattr(today.rates, name), getattr(after.rates, name)) for name in type(today.rates).__dataclass_fields__
    ]
    is_same = all(np.array_equal(rate_before, rate_after, equal_nan=True) for rate_before, rate_after in rates)
    return not is_same or (today.racks, today.leader_racks) != (after.racks, after.leader_racks)


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    candidate: Candidate
    release: str
    reader: Ints

    @property
    def protocol(self) -> Protocol:
        if self.candidate.is_server:
            return Protocol.CONSUMER
        return Protocol.COOPERATIVE if self.candidate.name.partition("@")[0] == COOPERATIVE else Protocol.EAGER


@dataclass(frozen=True, slots=True, eq=False)
class _Outcome:
    variant: Variant
    state: GroupState
    before: Ints
    reader: Ints
    moved: int
    pauses: Pauses


@dataclass(frozen=True, slots=True, eq=False)
class _AnswerCache:
    """Cache of answers: a leave and a death give the same state."""

    capacity: float
    answers: dict[tuple[int, str], tuple[GroupState, Ints]] = field(default_factory=dict)

    def answer(self, standing: Standing, state: GroupState, stays: Ints, *, is_from_today: bool) -> Ints:
        """int32[P]: the readers in ``state``, whose members own ``stays``.

        Without members no strategy is called.
        """
        if not state.members:
            return stays
        key = (id(state), standing.release)  # the cache keeps the state, so its id stays unique
        if is_from_today and key in self.answers:
            return self.answers[key][1]
        frame = state.frame(is_server=standing.candidate.is_server)
        reader = reader_of(by_name(standing.release).assign(frame.of_reader(stays)), state.group_input)
        if is_from_today:
            self.answers[key] = state, reader
        return reader


def scenario_scores(
    today: GroupState, standings: Sequence[Standing], scenarios: Sequence[str], seed: int, times: Times
) -> tuple[GroupScore, ...]:
    """Return rows by scenario, then by strategy, of all that can happen.

    STRATEGY_CHANGES needs the group's own strategy among the standings.
    """
    rows: list[GroupScore] = []
    group_input = today.group_input
    capacity = member_capacity(group_input.reader, group_input.rates.read_messages_per_s, len(today.members))
    stage, cache = stage_of(today, seed), _AnswerCache(capacity)
    for scenario in scenarios:
        if scenario != STRATEGY_CHANGES:
            variants = tuple(variants_of(scenario, stage))
            rows += [_row(scenario, standing, variants, cache, times) for standing in standings if variants]
    own = next((baseline for baseline in standings if baseline.candidate.name == group_input.group.protocol), None)
    if STRATEGY_CHANGES in scenarios and own is not None:
        restarts = {row.assignor: row for row in rows if row.scenario == ROLLING_RESTART}
        if not restarts:
            variants = tuple(variants_of(ROLLING_RESTART, stage))
            restarts = {
                baseline.candidate.name: _row(ROLLING_RESTART, baseline, variants, cache, times)
                for baseline in standings
            }
        others = (standing for standing in standings if standing is not own)
        rows += [_change(today, own, standing, restarts, cache.capacity) for standing in others]
    return tuple(rows)


def changed_scores(
    today: GroupState, standings: Sequence[Standing], changed: Mapping[str, ChangedGroup], times: Times
) -> tuple[GroupScore, ...]:
    rows: list[GroupScore] = []
    rates = today.group_input.rates
    capacity = member_capacity(today.group_input.reader, rates.read_messages_per_s, len(today.members))
    for name, group in changed.items():
        variant, cache = changed_variant(today, group), _AnswerCache(capacity)
        if group.after.group.members:
            rows += [_row(name, standing, (variant,), cache, times) for standing in standings]
        else:
            nobody = replace(
                empty_score(group.after, ""), scenario=name, subject=variant.subject, error=_NO_MEMBER_LEFT
            )
            rows += [replace(nobody, assignor=standing.candidate.name) for standing in standings]
    return tuple(rows)


def _row(
    scenario: str, standing: Standing, variants: Sequence[Variant], cache: _AnswerCache, times: Times
) -> GroupScore:
    name = standing.candidate.name
    outcomes: list[_Outcome] = []
    for variant in variants:
        try:
            outcomes.append(_play(variant, standing, cache, times))
        except AssignorError as error:
            empty = empty_score(variant.events[-1].after.group_input, name)
            return replace(empty, scenario=scenario, subject=variant.subject, error=refusal_of(error))
    most = max(outcomes, key=lambda outcome: (outcome.moved, outcome.pauses.unread_partition_ms))
    row = score_answer(most.state.group_input, name, most.reader, most.before, cache.capacity)
    by_count, by_rate = most.state.least_skews
    return replace(
        _with_pauses(row, most.pauses),
        least_skew_count=by_count,
        least_skew_rate=by_rate,
        scenario=scenario,
        subject=most.variant.subject,
        variants=len(outcomes),
        partitions_moved=most.moved,
        moved_rate_ratio=row.moved_rate_ratio if len(most.variant.events) == 1 else None,
        mean_partitions_moved=sum(outcome.moved for outcome in outcomes) / len(outcomes),
    )


def _with_pauses(row: GroupScore, pauses: Pauses) -> GroupScore:
    return replace(
        row,
        partitions_revoked=pauses.partitions_revoked,
        partitions_unread=pauses.partitions_unread,
        longest_pause_ms=pauses.longest_pause_ms,
        unread_partition_ms=pauses.unread_partition_ms,
    )


def _play(variant: Variant, standing: Standing, cache: _AnswerCache, times: Times) -> _Outcome:
    reader, before, moved = standing.reader, standing.reader, 0
    steps: list[Step] = []
    for event in variant.events:
        stays, before = event.carry(reader)
        if event.trigger in _UNNOTICED:
            after = stays
        else:
            after = cache.answer(standing, event.after, stays, is_from_today=reader is standing.reader)
        moved += changed_readers(before, after)
        steps.append(_step(event, before, after))
        reader = after
    pauses = sum_pauses(_pauses(standing.protocol, steps, times))
    last = variant.events[-1].after
    return _Outcome(variant, last, before, reader, round(moved / variant.share), scale_pauses(pauses, variant.share))


def _pauses(protocol: Protocol, steps: Sequence[Step], times: Times) -> Iterator[Pauses]:
    """Yield the pauses of each event; a leave and a join of one member are one restart."""
    for former, step, following in zip_longest((None, *steps[:-1]), steps, steps[1:]):
        if step.trigger is Trigger.MEMBER_LEAVES and following is not None:
            yield restart_pauses(protocol, step, following, times)
        elif former is None or former.trigger is not Trigger.MEMBER_LEAVES:  # else counted with the leave before it
            yield pauses_of(protocol, step, times)


def _step(event: Event, before: Ints, after: Ints) -> Step:
    """Return the step; simultaneous joins or leaves count once for the group's timers."""
    members = len(event.member_before)
    if event.trigger is Trigger.STATIC_RESTART:
        return Step(event.trigger, event.subject, before, after, members, is_static=True)
    if event.trigger is Trigger.MEMBER_JOINS:
        first = int(np.flatnonzero(event.member_before == ABSENT)[0])  # new members are last
        return Step(event.trigger, first, before, np.minimum(after, np.int32(first)), first + 1)
    if event.trigger is Trigger.PARTITION_COUNT_CHANGES:
        return Step(event.trigger, ABSENT, before, after, members)
    return Step(event.trigger, members, before, after, members + 1, is_static=event.is_static)


def _change(
    today: GroupState, own: Standing, other: Standing, restarts: Mapping[str, GroupScore], capacity: float
) -> GroupScore:
    """All restart once under each strategy, and partitions move once from their current readers."""
    name = other.candidate.name
    bounces = (restarts[own.candidate.name], restarts[name])
    refused = next((row.error for row in bounces if row.error), None)
    if refused:
        return replace(empty_score(today.group_input, name), scenario=STRATEGY_CHANGES, error=refused)
    row = score_answer(today.group_input, name, other.reader, today.group_input.reader, capacity)
    by_count, by_rate = today.least_skews
    return replace(
        _with_pauses(row, add_pauses(*(_pauses_in(bounce) for bounce in bounces))),
        scenario=STRATEGY_CHANGES,
        subject=fact(FactCode.STRATEGY_CHANGES, strategy=own.candidate.name),
        variants=1,
        mean_partitions_moved=float(row.partitions_moved or 0),
        least_skew_count=by_count,
        least_skew_rate=by_rate,
    )


def _pauses_in(row: GroupScore) -> Pauses:
    return Pauses(
        partitions_unread=row.partitions_unread or 0,
        partitions_revoked=row.partitions_revoked or 0,
        longest_pause_ms=row.longest_pause_ms,
        unread_partition_ms=row.unread_partition_ms or 0,
    )


_NO_MEMBER_LEFT = fact(FactCode.NO_MEMBER_LEFT)
_UNNOTICED = (Trigger.STATIC_RESTART, Trigger.COORDINATOR_MOVES)  # other members go on reading


_FIXED = 140.0
_EVENTS = {"member_joins": (5, 0), "member_leaves": (0, 1), "member_crashes": (0, 0.3), "static_restart": (0, 0.1),
           "rolling_restart": (0, 2), "rolling_restart_static": (0, 0.1), "rack_lost": (3, 0)}  # fmt: skip
_OTHER = (1, 0)


def estimated_cost(members: int, partitions: int, scenarios: Sequence[str] = ()) -> float:
    """Of today's replay and these scenarios; each part of a split group repeats today's."""
    picked = min(members, most_variants(members + partitions))
    calls = sum(_calls(scenario, picked) for scenario in (TODAY, *scenarios))
    return calls * (_FIXED + members + partitions)


def split(scenarios: Sequence[str], members: int, partitions: int, parts: int) -> list[tuple[str, ...]]:
    picked = min(members, most_variants(members + partitions))
    loads: list[tuple[float, list[str]]] = [(0.0, []) for _ in range(parts)]
    for scenario in sorted(scenarios, key=lambda name: -_calls(name, picked)):
        part = 0 if scenario == STRATEGY_CHANGES else min(range(parts), key=lambda number: loads[number][0])
        if scenario == "rolling_restart":
            part = 0
        loads[part] = (loads[part][0] + _calls(scenario, picked), [*loads[part][1], scenario])
    return [tuple(name for name in scenarios if name in names) for _, names in loads if names]


def _calls(scenario: str, picked: int) -> float:
    fixed, by_member = _EVENTS.get(scenario, _OTHER)
    return fixed + by_member * picked
