"""Scenarios in which members come, go or restart: the events of each, in the order in which they happen.

Which member it is decides what has to move. Each one is tried up to ``most``; of larger groups so many by seed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from kafka_rebalance.arrays import NOBODY
from kafka_rebalance.coordinator.timeline import Trigger
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.groups.scenarios.state import Event, GroupState
from kafka_rebalance.scenarios.newcomers import Newcomers, lots_of, restarted
from kafka_rebalance.snapshot.model import Member


@dataclass(frozen=True, slots=True, eq=False)
class Variant:
    """One way in which a scenario happens: ``subject`` says which, its events follow each other.

    ``share`` of the scenario that was replayed: 0.1 where 20 of 200 members are restarted.
    """

    subject: Fact
    events: Sequence[Event]
    share: float = 1.0


@dataclass(frozen=True, eq=False)  # no slots: cached_property keeps its values in __dict__
class Stage:
    """A group on which scenarios are played: today's state, the lots, and how many variants are worth their time."""

    today: GroupState
    seed: int
    most: int

    @cached_property
    def picked(self) -> tuple[int, ...]:
        """Members of whom each goes or restarts once: all, or so many that are drawn."""
        count = len(self.today.members)
        if count <= self.most:
            return tuple(range(count))
        return tuple(sorted(self.lots("picked").permutation(count)[: self.most].tolist()))

    @cached_property
    def departures(self) -> tuple[Event, ...]:
        """Each picked member is missing: by its leave or its death, the state after it is one."""
        return tuple(without(self.today, {number}, Trigger.MEMBER_LEAVES) for number in self.picked)

    def lots(self, scenario: str) -> np.random.Generator:
        """Of one scenario: the same whichever others are played."""
        return lots_of(self.today.group_input.group.id, scenario, self.seed)

    def name(self, number: int) -> str:
        """The member's id."""
        return self.today.members[number].id


def member_joins(stage: Stage) -> Iterator[Variant]:
    """One more member; its id is drawn, and so is the member that it resembles."""
    lots = stage.lots("member_joins")
    for _ in range(min(stage.most, _MOST_JOINS)):
        event = grown(stage.today, 1, lots)
        yield Variant(fact(FactCode.MEMBER_JOINS, member=event.after.members[-1].id), (event,))


def member_leaves(stage: Stage) -> Iterator[Variant]:
    """One says goodbye: a pod that is stopped in order."""
    for number, event in zip(stage.picked, stage.departures, strict=True):
        yield Variant(fact(FactCode.MEMBER_LEAVES, member=stage.name(number)), (event,))


def member_crashes(stage: Stage) -> Iterator[Variant]:
    """One dies without a word: its partitions wait for the end of its session."""
    for number, event in zip(stage.picked, stage.departures, strict=True):
        dies = fact(FactCode.MEMBER_DIES, member=stage.name(number))
        yield Variant(dies, (replace(event, trigger=Trigger.MEMBER_DIES),))


def static_restart(stage: Stage) -> Iterator[Variant]:
    """One restarts within its session, under its group.instance.id: nothing moves, its partitions wait for it."""
    for number in stage.picked:
        restarts = fact(FactCode.MEMBER_RESTARTS, member=stage.name(number))
        yield Variant(restarts, (_restart_in_place(stage.today, number),))


def rolling_restart(stage: Stage) -> Iterator[Variant]:
    """All restart one after another without instance ids: each leaves, and joins again under another id."""
    lots, state = stage.lots("rolling_restart"), stage.today
    events: list[Event] = []
    for number in stage.picked:
        place = next(i for i, member in enumerate(state.members) if member.id == stage.name(number))
        member, topics = state.members[place], state.subscriptions[place]
        leaves = replace(without(state, {place}, Trigger.MEMBER_LEAVES), is_static=False)
        joins = with_newcomers(leaves.after, [restarted(member, lots)], [topics])
        events += [leaves, joins]
        state = joins.after
    yield _rolling(stage, events)


def rolling_restart_static(stage: Stage) -> Iterator[Variant]:
    """All restart one after another under instance ids, each within its session."""
    yield _rolling(stage, [_restart_in_place(stage.today, number) for number in stage.picked])


def rack_lost(stage: Stage) -> Iterator[Variant]:
    """Every member of one rack dies at once."""
    racks = sorted({member.rack for member in stage.today.members if member.rack})
    for rack in racks if len(racks) > 1 else ():
        lost = {number for number, member in enumerate(stage.today.members) if member.rack == rack}
        dies = fact(FactCode.RACK_DIES, rack=rack, members=len(lost))
        yield Variant(dies, (without(stage.today, lost, Trigger.MEMBER_DIES),))


def members_halved(stage: Stage) -> Iterator[Variant]:
    """Half of the members leave, drawn."""
    yield from _sized(stage, "members_halved", -(-len(stage.today.members) // 2))


def members_doubled(stage: Stage) -> Iterator[Variant]:
    """As many members again join."""
    yield from _sized(stage, "members_doubled", 2 * len(stage.today.members))


def members_as_partitions(stage: Stage) -> Iterator[Variant]:
    """One member for each partition: no strategy can use more."""
    yield from _sized(stage, "members_as_partitions", int(stage.today.group_input.first_row[-1]))


def _sized(stage: Stage, scenario: str, wanted: int) -> Iterator[Variant]:
    count, lots = len(stage.today.members), stage.lots(scenario)
    if wanted in (count, 0) or wanted > max(_MOST_MEMBERS, 2 * count):
        return
    if wanted > count:
        event = grown(stage.today, wanted - count, lots)
    else:
        event = without(stage.today, set(lots.permutation(count)[wanted:].tolist()), Trigger.MEMBER_LEAVES)
    partitions = int(stage.today.group_input.first_row[-1])
    change = fact(
        FactCode.GROUP_CHANGES, members_before=count, members=wanted, partitions_before=partitions,
        partitions=partitions,
    )  # fmt: skip
    yield Variant(change, (event,))


def grown(state: GroupState, count: int, lots: np.random.Generator) -> Event:
    """So many newcomers at once, each like a member that is drawn."""
    drawn = Newcomers(state.members, lots).drawn(count)
    return with_newcomers(state, [member for _, member in drawn], [state.subscriptions[like] for like, _ in drawn])


def without(state: GroupState, gone: set[int], trigger: Trigger) -> Event:
    """The event of members that go at once."""
    stays = [number for number in range(len(state.members)) if number not in gone]
    members, topics = [state.members[i] for i in stays], tuple(state.subscriptions[i] for i in stays)
    is_static = all(state.members[number].instance_id is not None for number in gone)
    return Event(trigger, state.with_members(members, topics), np.array(stays, dtype=np.int32), is_static=is_static)


def with_newcomers(state: GroupState, members: Sequence[Member], topics: Sequence[tuple[int, ...]]) -> Event:
    """The event of members that join at once; ``topics``: the numbers of those that each subscribes to."""
    after = state.with_members((*state.members, *members), (*state.subscriptions, *topics))
    before = np.concatenate((np.arange(len(state.members)), np.full(len(members), NOBODY))).astype(np.int32)
    return Event(Trigger.MEMBER_JOINS, after, before)


def _restart_in_place(state: GroupState, number: int) -> Event:
    """Nothing changes but that this one is away: its number stands for it in ``member_before``."""
    before = np.arange(len(state.members), dtype=np.int32)
    return Event(Trigger.STATIC_RESTART, state, before, is_static=True, subject=number)


def _rolling(stage: Stage, events: Sequence[Event]) -> Variant:
    done, count = len(stage.picked), len(stage.today.members)
    return Variant(fact(FactCode.MEMBERS_RESTART, restarts=done, members=count), events, share=done / count)


_MOST_JOINS = 5
_MOST_MEMBERS = 10_000  # a coordinator holds no group that is much larger
