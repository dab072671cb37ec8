"""Each strategy through each scenario of a group: what moves, who is without work, how long nobody reads.

Promises, in this order: each step is the strategy's exact answer to the members as they are then, who own what the step
before gave them; the row is one that really was replayed: of the variants the one in which most partitions move; the
same seed draws the same members.

Example: range on 24 topics of one partition, 6 members: whoever leaves, the first member goes on reading all 24, so
nothing moves unless it is the first that leaves: then 24 partitions wait for its session to end.

Complexity: variants × strategies, each O(partitions + members) but for the strategy's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest

import numpy as np

from kafka_rebalance.arrays import NOBODY, Ints
from kafka_rebalance.assignors.registry import by_name
from kafka_rebalance.coordinator.pauses import Pauses, Step, added, pauses_of, restart_pauses, scaled, summed
from kafka_rebalance.coordinator.timeline import Protocol, Times, Trigger
from kafka_rebalance.errors import AssignorError
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.groups.answers import reader_of, scored, unscored
from kafka_rebalance.groups.client_settings import COOPERATIVE
from kafka_rebalance.groups.scenarios.catalogue import ROLLING_RESTART, STRATEGY_CHANGES, stage_of, variants_of
from kafka_rebalance.groups.scenarios.custom import ChangedGroup, changed_variant
from kafka_rebalance.groups.scenarios.members import Variant
from kafka_rebalance.groups.scenarios.state import Event, GroupState, changed_readers
from kafka_rebalance.groups.strategies import Candidate
from kafka_rebalance.scoring.assignment_scores import GroupScore
from kafka_rebalance.scoring.drain import member_capacity


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """A strategy, the class of it that is asked, and who reads each partition under it today."""

    candidate: Candidate
    release: str
    reader: Ints

    @property
    def protocol(self) -> Protocol:
        """How its members give partitions up."""
        if self.candidate.is_server:
            return Protocol.CONSUMER
        return Protocol.COOPERATIVE if self.candidate.name.partition("@")[0] == COOPERATIVE else Protocol.EAGER


@dataclass(frozen=True, slots=True, eq=False)
class _Outcome:
    """One variant under one strategy: who reads what at its end, and the sums over its events."""

    variant: Variant
    state: GroupState
    before: Ints
    reader: Ints
    moved: int
    pauses: Pauses


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """Answers that were given already: a leave and a death lead from today to the same state.

    ``capacity``: messages a second that a member was seen to read.
    """

    capacity: float
    answers: dict[tuple[int, str], tuple[GroupState, Ints]] = field(default_factory=dict)

    def answer(self, standing: Standing, state: GroupState, stays: Ints, *, is_from_today: bool) -> Ints:
        """int32[P]: who reads each partition in ``state``, whose members own ``stays``. Raises AssignorError.

        Of a group without members its coordinator asks nobody: it is empty.
        """
        if not state.members:
            return stays
        key = (id(state), standing.release)  # the state is kept beside its answer, so that no other takes its id
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
    """Rows by scenario, then by strategy, of all that can happen to this group.

    From its own strategy to others it changes only where that is among the standings.
    """
    rows: list[GroupScore] = []
    group_input = today.group_input
    capacity = member_capacity(group_input.reader, group_input.rates.read_messages_per_s, len(today.members))
    stage, asked = stage_of(today, seed), _Asked(capacity)
    for scenario in scenarios:
        if scenario != STRATEGY_CHANGES:
            variants = tuple(variants_of(scenario, stage))
            rows += [_row(scenario, standing, variants, asked, times) for standing in standings if variants]
    own = next((one for one in standings if one.candidate.name == group_input.group.protocol), None)
    if STRATEGY_CHANGES in scenarios and own is not None:
        restarts = {row.assignor: row for row in rows if row.scenario == ROLLING_RESTART}
        if not restarts:
            variants = tuple(variants_of(ROLLING_RESTART, stage))
            restarts = {one.candidate.name: _row(ROLLING_RESTART, one, variants, asked, times) for one in standings}
        others = (standing for standing in standings if standing is not own)
        rows += [_change(today, own, standing, restarts, asked.capacity) for standing in others]
    return tuple(rows)


def changed_scores(
    today: GroupState, standings: Sequence[Standing], changed: Mapping[str, ChangedGroup], times: Times
) -> tuple[GroupScore, ...]:
    """Rows by scenario, then by strategy, of somebody's own scenarios, by their names."""
    rows: list[GroupScore] = []
    rates = today.group_input.rates
    capacity = member_capacity(today.group_input.reader, rates.read_messages_per_s, len(today.members))
    for name, group in changed.items():
        variant, asked = changed_variant(today, group), _Asked(capacity)
        if group.after.group.members:
            rows += [_row(name, standing, (variant,), asked, times) for standing in standings]
        else:
            nobody = replace(unscored(group.after, ""), scenario=name, subject=variant.subject, error=_NO_MEMBER_LEFT)
            rows += [replace(nobody, assignor=standing.candidate.name) for standing in standings]
    return tuple(rows)


def _row(scenario: str, standing: Standing, variants: Sequence[Variant], asked: _Asked, times: Times) -> GroupScore:
    name = standing.candidate.name
    outcomes: list[_Outcome] = []
    for variant in variants:
        try:
            outcomes.append(_played(variant, standing, asked, times))
        except AssignorError as error:
            empty = unscored(variant.events[-1].after.group_input, name)
            return replace(empty, scenario=scenario, subject=variant.subject, error=error.fact)
    most = max(outcomes, key=lambda outcome: (outcome.moved, outcome.pauses.unread_partition_ms))
    row = scored(most.state.group_input, name, most.reader, most.before, asked.capacity)
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


def _played(variant: Variant, standing: Standing, asked: _Asked, times: Times) -> _Outcome:
    """The events of a variant, each on what the one before it left. Raises AssignorError as the strategy does."""
    reader, before, moved = standing.reader, standing.reader, 0
    steps: list[Step] = []
    for event in variant.events:
        stays, before = event.carried(reader)
        if event.trigger in _UNNOTICED:
            after = stays
        else:
            after = asked.answer(standing, event.after, stays, is_from_today=reader is standing.reader)
        moved += changed_readers(before, after)
        steps.append(_step(event, before, after))
        reader = after
    pauses = summed(_pauses(standing.protocol, steps, times))
    last = variant.events[-1].after
    return _Outcome(variant, last, before, reader, round(moved / variant.share), scaled(pauses, variant.share))


def _pauses(protocol: Protocol, steps: Sequence[Step], times: Times) -> Iterator[Pauses]:
    """Of each event; one that leaves and joins again is one restart."""
    for former, step, following in zip_longest((None, *steps[:-1]), steps, steps[1:]):
        if step.trigger is Trigger.MEMBER_LEAVES and following is not None:
            yield restart_pauses(protocol, step, following, times)
        elif former is None or former.trigger is not Trigger.MEMBER_LEAVES:  # else told with the leave before it
            yield pauses_of(protocol, step, times)


def _step(event: Event, before: Ints, after: Ints) -> Step:
    """The event in numbers. Several that come or go at once are one member to the clocks of the group."""
    members = len(event.member_before)
    if event.trigger is Trigger.STATIC_RESTART:
        return Step(event.trigger, event.subject, before, after, members, is_static=True)
    if event.trigger is Trigger.MEMBER_JOINS:
        first = int(np.flatnonzero(event.member_before == NOBODY)[0])  # newcomers stand behind all others
        return Step(event.trigger, first, before, np.minimum(after, np.int32(first)), first + 1)
    if event.trigger is Trigger.PARTITION_COUNT_CHANGES:
        return Step(event.trigger, NOBODY, before, after, members)
    return Step(event.trigger, members, before, after, members + 1, is_static=event.is_static)


def _change(
    today: GroupState, own: Standing, other: Standing, restarts: Mapping[str, GroupScore], capacity: float
) -> GroupScore:
    """From the group's own strategy to another: all restart once under each of the two, and partitions move once, from
    those who read them today: its own may give another answer.
    """
    name = other.candidate.name
    bounces = (restarts[own.candidate.name], restarts[name])
    refused = next((row.error for row in bounces if row.error), None)
    if refused:
        return replace(unscored(today.group_input, name), scenario=STRATEGY_CHANGES, error=refused)
    row = scored(today.group_input, name, other.reader, today.group_input.reader, capacity)
    by_count, by_rate = today.least_skews
    return replace(
        _with_pauses(row, added(*(_pauses_in(bounce) for bounce in bounces))),
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
_UNNOTICED = (Trigger.STATIC_RESTART, Trigger.COORDINATOR_MOVES)  # whoever is there goes on reading what it reads
