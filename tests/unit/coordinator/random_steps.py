"""Random triggers on settled groups, and what an event by event replay of them sums up to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kafka_assignors.arrays import ABSENT, Flags, Ints
from kafka_assignors.coordinator.pauses import Pauses, replay_chain
from kafka_assignors.coordinator.timeline import Change, Phase, Protocol, Step, Times, Trigger, stagger

GOES = (Trigger.MEMBER_DIES, Trigger.MEMBER_LEAVES, Trigger.MEMBER_STALLS)


def random_times(random: np.random.Generator) -> Times:
    """Few different values, so that events meet at one moment; never as long as real ones, whose beats take long."""
    interval = int(random.choice([3, 10, 3000]))
    trip = int(random.choice([0, 0, 1, interval // 3, interval - 1]))
    waits = [int(random.integers(0, 4 * interval)) for _ in range(4)]
    return Times(
        session_ms=interval + waits[0], heartbeat_ms=interval, rebalance_ms=interval + trip + 1 + waits[1],
        initial_delay_ms=waits[1], poll_interval_ms=waits[2], consumer_heartbeat_ms=interval,
        assignment_interval_ms=int(random.choice([0, 1, 2 * interval])), metadata_max_age_ms=waits[3],
        round_trip_ms=trip, restart_ms=int(random.integers(0, 12 * interval)),
    )  # fmt: skip


def random_step(random: np.random.Generator, trigger: Trigger) -> Step:
    """Up to six members, some idle, and up to nine partitions, some unread before, or after."""
    members, partitions = int(random.integers(1, 7)), int(random.integers(0, 10))
    subject = int(random.integers(members))
    absent_before = subject if trigger is Trigger.MEMBER_JOINS else ABSENT
    absent_after = subject if trigger in GOES else ABSENT
    before = _any_column(random, members, partitions, absent_before)
    after = _changed(random, before, members, absent_after)
    meanwhile = None
    if trigger is Trigger.COORDINATOR_MOVES:
        after = before
    if trigger is Trigger.STATIC_RESTART:
        meanwhile = _changed(random, before, members, subject)
        after = before
    return Step(
        trigger, subject, before, after, members, is_static=bool(random.integers(2)),
        leader=int(random.integers(members)), meanwhile=meanwhile, dropped=random.random(partitions) < 0.3,
    )  # fmt: skip


def random_restart(random: np.random.Generator) -> tuple[Step, Step]:
    """A member leaves and joins again."""
    goes = replace(random_step(random, Trigger.MEMBER_LEAVES), is_static=False)
    after = _changed(random, goes.before, goes.member_count, ABSENT)
    return goes, replace(goes, trigger=Trigger.MEMBER_JOINS, before=goes.after, after=after)


def _any_column(random: np.random.Generator, members: int, partitions: int, absent: int) -> Ints:
    column = random.integers(ABSENT, members, partitions).astype(np.int32)
    column[column == absent] = ABSENT
    return column


def _changed(random: np.random.Generator, before: Ints, members: int, absent: int) -> Ints:
    """Some or most go elsewhere; what ``absent`` had goes to the others."""
    after = np.where(
        random.random(len(before)) < random.random(), _any_column(random, members, len(before), absent), before
    )
    others = [member for member in range(members) if member != absent] or [ABSENT]
    return np.where((after == absent) & (absent != ABSENT), random.choice(others, len(before)), after).astype(np.int32)


def replayed(protocol: Protocol, steps: Sequence[Step], times: Times) -> Pauses:
    """``replay_chain`` of one step, or of one that goes and comes back after ``restart_ms``."""
    names = [f"m{number:05}" for number in range(steps[0].member_count)]
    changes = [_change(step, names, 0 if step is steps[0] else times.restart_ms) for step in steps]
    timeline = replay_chain(protocol, changes, stagger(protocol, times, names))
    is_absent = steps[0].trigger in (*GOES, Trigger.STATIC_RESTART)
    return Pauses(
        len(timeline.pauses),
        sum(
            event.partitions
            for event in timeline.events
            if event.phase is Phase.REVOKE and not (is_absent and event.member == names[steps[0].subject])
        ),
        timeline.longest_pause_ms,
        sum(pause.to_ms - pause.from_ms for pause in timeline.pauses if pause.to_ms is not None),
    )


def _change(step: Step, names: list[str], at_ms: int) -> Change:
    dropped = np.zeros(len(step.before), dtype=np.bool_) if step.dropped is None else step.dropped
    absent_before = step.subject if step.trigger is Trigger.MEMBER_JOINS else ABSENT
    absent_after = step.subject if step.trigger in GOES else ABSENT
    return Change(
        step.trigger,
        names[step.subject],
        _holding(step.before, names, dropped, absent_before),
        _holding(step.after, names, dropped, absent_after),
        names[step.leader],
        frozenset({"dropped"}),
        is_static=step.is_static,
        meanwhile=None if step.meanwhile is None else _holding(step.meanwhile, names, dropped, step.subject),
        at_ms=at_ms,
    )


def _holding(column: Ints, names: list[str], dropped: Flags, absent: int) -> dict[str, frozenset[tuple[str, int]]]:
    return {
        name: frozenset(
            ("dropped" if dropped[partition] else "kept", int(partition))
            for partition in np.flatnonzero(column == number)
        )
        for number, name in enumerate(names)
        if number != absent
    }
