from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from kafka_assignors.arrays import ABSENT
from kafka_assignors.coordinator.pauses import (
    EpochRaised,
    JoinPhase,
    Pauses,
    add_pauses,
    consumer_pauses,
    cooperative_pauses,
    eager_pauses,
    pauses_of,
    replayed_pauses,
    restart_pauses,
    scale_pauses,
    sum_pauses,
)
from kafka_assignors.coordinator.timeline import Protocol, Step, Times, Trigger, first_beats
from kafka_assignors.errors import InvalidInputError
from tests.unit.coordinator.random_steps import random_restart, random_step, random_times, replayed
from tests.unit.coordinator.test_timelines import CONSUMER, COOPERATIVE, EAGER

TRIGGERS = tuple(Trigger)


def column(*members: int) -> np.typing.NDArray[np.int32]:
    return np.array(members, dtype=np.int32)


JOIN = Step(Trigger.MEMBER_JOINS, 2, column(0, 0, 0, 1, 1, 1), column(0, 0, 2, 1, 1, 2), 3)
LEAVE = Step(Trigger.MEMBER_LEAVES, 2, JOIN.after, JOIN.before, 3)
TIMES = Times(round_trip_ms=100, consumer_heartbeat_ms=3000)  # members beat 1000, 2000, 3000 ms after the trigger


@pytest.mark.parametrize(
    ("protocol", "joins", "leaves"),
    [
        # It joins at 200; the others learn at 1000 and 2000 and rejoin at 1100, 2100; all read at 2300. Without the
        # third, which had 2 of them: 2 · (2300 - 1100) + 2 · (2300 - 2100) + 2 · 2300.
        (EAGER, Pauses(6, 6, 1200, 3 * 1200 + 3 * 200), Pauses(6, 4, 2300, 2 * 1200 + 2 * 200 + 2 * 2300)),
        # At 2300 each of the two revokes one and rejoins; the third learns at 2200 + 3000, all read at 5500.
        (COOPERATIVE, Pauses(2, 2, 3200, 2 * 3200), Pauses(2, 0, 2300, 2 * 2300)),
        # Revoked at 1100 and 2100; the third beats at 100, then at 3100, and reads at 3200. What it leaves: 1100, 2100.
        (CONSUMER, Pauses(2, 2, 2100, 2100 + 1100), Pauses(2, 0, 2100, 1100 + 2100)),
    ],
)
def test_a_join_and_a_leave_worked_by_hand(protocol: Protocol, joins: Pauses, leaves: Pauses) -> None:
    assert pauses_of(protocol, JOIN, TIMES) == joins
    assert pauses_of(protocol, LEAVE, TIMES) == leaves


def test_a_restart_is_two_rebalances_of_which_the_second_has_the_clocks_of_the_first() -> None:
    """Eager: beats at 2200 + 3000 · k. It joins again at 10200: rejoin 11300, read 11500: six pauses of 200 ms."""
    leaves = pauses_of(EAGER, LEAVE, TIMES)
    assert restart_pauses(EAGER, LEAVE, JOIN, TIMES) == sum_pauses((leaves, Pauses(6, 6, 200, 1200)))
    # One of four was sampled: four times as much, and no longer.
    assert scale_pauses(add_pauses(Pauses(3, 2, 700, 900), Pauses(1, 0, 800, 101)), 0.25) == Pauses(16, 8, 800, 4004)
    assert add_pauses(Pauses(1, 1, None, 0), leaves).longest_pause_ms is None


def test_one_that_is_back_before_the_others_have_settled_is_replayed() -> None:
    """Back at 1500, it joins at 1700 the rebalance that its leaving began: one rebalance, all read at 2300."""
    soon = replace(TIMES, restart_ms=1500)
    assert restart_pauses(EAGER, LEAVE, JOIN, soon) == Pauses(6, 4, 2300, 2 * 1200 + 2 * 200 + 2 * 2300)
    for protocol in Protocol:
        assert replayed_pauses(protocol, LEAVE, JOIN, TIMES) == restart_pauses(protocol, LEAVE, JOIN, TIMES)


def test_the_kernels_say_when_all_is_over_and_how_clocks_go_on() -> None:
    """The leave of above: eager members read at 2300 and beat at 2200 + 3000. KIP-848: the last is given at 2000."""
    beats = first_beats(3, 3000)
    phase = JoinPhase(0, ABSENT, gone=2, newcomer=ABSENT, delay_ms=0, unread_since_ms=0, trip_ms=100, heartbeat_ms=3000)
    nothing = np.zeros(0, dtype=np.bool_)
    nothing.setflags(write=False)
    eager = eager_pauses(LEAVE.before, LEAVE.after, beats.copy(), phase)
    cooperative = cooperative_pauses(LEAVE.before, LEAVE.after, nothing, beats.copy(), phase)
    assert (eager.ends_ms, eager.next_beat_ms) == (cooperative.ends_ms, cooperative.next_beat_ms) == (2300, 5200)
    epoch = EpochRaised(0, ABSENT, 2, ABSENT, unread_since_ms=0, not_before_ms=1500, trip_ms=100, heartbeat_ms=3000)
    late = consumer_pauses(LEAVE.before, LEAVE.after, beats, epoch)
    # No target before 1500: the beat at 2000 makes it, that of 0 at 4000 brings what it gets.
    assert (late.computed_ms, late.ends_ms, beats[:2].tolist()) == (2000, 4100, [4000, 2000])


def test_a_static_restart_pauses_what_it_had_and_nothing_else() -> None:
    """Away for 10 s, then three trips (KIP-848: two); beyond its session (its last beat was at 0) it has died."""
    restart = Step(Trigger.STATIC_RESTART, 2, JOIN.after, JOIN.after, 3, is_static=True, meanwhile=JOIN.before)
    assert pauses_of(EAGER, restart, TIMES) == Pauses(2, 0, 10_300, 20_600)
    assert pauses_of(CONSUMER, restart, TIMES) == Pauses(2, 0, 10_200, 20_400)
    # Session over at 45000: the others beat at 46000, 47000 and read at 47300. It joins at 60100 (no second request);
    # they beat from 47200 on, at 62200: rejoin at 62300, revoke one each at 62500, and it learns at 65400.
    late = replace(TIMES, restart_ms=60_000)
    assert pauses_of(COOPERATIVE, restart, late) == Pauses(4, 2, 47_300, 2 * 47_300 + 2 * 3200)


def test_what_a_member_subscribes_to_no_longer_is_given_up_at_once_or_with_the_rest() -> None:
    """Member 1 drops the last two, of which 0 takes one. Cooperative: known at 2200 by the beat at 2000 of 0."""
    step = Step(Trigger.SUBSCRIPTION_CHANGES, 1, column(0, 1, 1, 1), column(0, 1, 0, -1), 2)
    times = replace(TIMES, heartbeat_ms=4000)
    assert pauses_of(COOPERATIVE, replace(step, dropped=step.before != step.after), times) == Pauses(2, 2, None, 2300)
    # Unknown which: at 2300 it revokes both and rejoins; 0 learns at 6200, and reads at 6500.
    assert pauses_of(COOPERATIVE, step, times) == Pauses(2, 2, None, 4200)


def assert_as_replayed(seed: int, protocol: Protocol, counts: Counter[str]) -> None:
    random = np.random.default_rng(seed)
    times = random_times(random)
    trigger = TRIGGERS[seed % (len(TRIGGERS) + 1)] if seed % (len(TRIGGERS) + 1) < len(TRIGGERS) else None
    if trigger is None:
        restart = random_restart(random)
        found, expected = restart_pauses(protocol, *restart, times), replayed(protocol, restart, times)
    else:
        step = random_step(random, trigger)
        found, expected = pauses_of(protocol, step, times), replayed(protocol, (step,), times)
    assert found == expected, (seed, protocol, trigger, times)
    counts[trigger or "restart"] += expected.partitions_unread > 0


@pytest.mark.parametrize("protocol", Protocol)
def test_they_are_those_of_the_replay(protocol: Protocol) -> None:
    counts: Counter[str] = Counter()
    for seed in range(450):
        assert_as_replayed(seed, protocol, counts)
    assert all(counts[trigger] > 15 for trigger in (*TRIGGERS, "restart") if trigger is not Trigger.COORDINATOR_MOVES)


@pytest.mark.slow
@pytest.mark.parametrize("protocol", Protocol)
def test_they_are_those_of_the_replay_in_many_more_cases(protocol: Protocol) -> None:
    for seed in range(1000, 11_000):
        assert_as_replayed(seed, protocol, Counter())


@pytest.mark.parametrize("protocol", Protocol)
def test_a_large_group_has_the_pauses_of_the_replay(protocol: Protocol) -> None:
    """Sixty members, of which some beat in the same millisecond, and 600 partitions."""
    times = replace(TIMES, heartbeat_ms=50, consumer_heartbeat_ms=50, round_trip_ms=3, session_ms=100)
    before = np.arange(600, dtype=np.int32) % 59
    after = np.arange(600, dtype=np.int32) // 10
    for step in (Step(Trigger.MEMBER_JOINS, 59, before, after, 60), Step(Trigger.MEMBER_DIES, 59, after, before, 60)):
        assert pauses_of(protocol, step, times) == replayed(protocol, (step,), times)


def test_what_cannot_be_is_refused_with_its_place() -> None:
    for protocol in Protocol:
        for step in (
            replace(JOIN, before=JOIN.after), replace(LEAVE, after=LEAVE.before), replace(JOIN, after=JOIN.after + 1),
            replace(JOIN, before=JOIN.before - 2),
        ):  # fmt: skip
            with pytest.raises(InvalidInputError, match=r"partition \d: is read by .*members are 0 to 2"):
                pauses_of(protocol, step, TIMES)
        with pytest.raises(InvalidInputError, match="a trip is shorter than the heartbeat's interval"):
            pauses_of(protocol, JOIN, replace(TIMES, round_trip_ms=3000))
        moves = replace(JOIN, trigger=Trigger.COORDINATOR_MOVES)
        with pytest.raises(InvalidInputError, match="which it does not"):
            pauses_of(protocol, moves, TIMES)
        with pytest.raises(InvalidInputError, match="one member without instance id leaves"):
            restart_pauses(protocol, JOIN, LEAVE, TIMES)
        static = Step(Trigger.STATIC_RESTART, 2, JOIN.after, JOIN.after, 3, is_static=True)
        with pytest.raises(InvalidInputError, match=r"static member 2: is away for 60000 ms.*meanwhile"):
            pauses_of(protocol, static, replace(TIMES, restart_ms=60_000))
    with pytest.raises(InvalidInputError, match="no member 3 among 3"):
        replace(JOIN, subject=3)
    with pytest.raises(InvalidInputError, match="no leader 3 among 3"):
        replace(JOIN, trigger=Trigger.PARTITION_COUNT_CHANGES, leader=3)
    with pytest.raises(InvalidInputError, match="not equally long"):
        replace(JOIN, before=column(0))
