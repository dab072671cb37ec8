"""Overlapping triggers, starting and ending groups, static members: worked out by hand.

As in ``test_timelines``: A beats 1.0 s, B 2.0 s, C 2.5 s after the first trigger, then every 3 s (classic) or 5 s
(KIP-848) until it rejoins; a round trip takes 0.1 s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as some

from kafka_assignors.coordinator.pauses import replay_chain, replay_rebalance
from kafka_assignors.coordinator.timeline import Change, Holding, Protocol, Timeline, Times, Trigger
from kafka_assignors.errors import InvalidInputError
from tests.unit.coordinator.test_timelines import CONSUMER, COOPERATIVE, EAGER, THREE, TIMES, TWO, holding

ABSENT: Holding = {}
FOUR = holding(A="t0", B="t3 t4", C="t2 t5", D="t1")
Spans = Mapping[str, tuple[int, int | None]]


def assert_pauses(timeline: Timeline, spans: Spans) -> None:
    expected = {partition: span for text, span in spans.items() for partition in holding(x=text)["x"]}
    assert {pause.partition: (pause.from_ms, pause.to_ms) for pause in timeline.pauses} == expected


def test_an_empty_group_waits_for_the_initial_delay() -> None:
    """A joins at 200, is answered three seconds later and reads two round trips later. KIP-848 does not wait."""
    first = Change(Trigger.MEMBER_JOINS, "A", ABSENT, holding(A="t0 t1"), "A")
    assert_pauses(replay_rebalance(EAGER, first, TIMES), {"t0 t1": (0, 3400)})
    assert_pauses(replay_rebalance(COOPERATIVE, first, replace(TIMES, initial_delay_ms=0)), {"t0 t1": (0, 400)})
    assert_pauses(replay_rebalance(CONSUMER, first, TIMES), {"t0 t1": (0, 200)})


def test_who_joins_in_the_delay_prolongs_it_once_more() -> None:
    """A at 200, B at 1200: at 3200 the delay begins again, since B came; at 6200 it is over: one rebalance."""
    joins = (
        Change(Trigger.MEMBER_JOINS, "A", ABSENT, holding(A="t0 t1"), "A"),
        Change(Trigger.MEMBER_JOINS, "B", holding(A="t0 t1"), holding(A="t0", B="t1"), "A", at_ms=1000),
    )
    timeline = replay_chain(EAGER, joins, TIMES)
    assert_pauses(timeline, {"t0 t1": (0, 6400)})
    assert timeline.rebalances == 1
    # Prolonged no further than the rebalance timeout: 200 + 4000.
    assert_pauses(replay_chain(EAGER, joins, replace(TIMES, rebalance_ms=4000)), {"t0 t1": (0, 4400)})


JOINS = (
    Change(Trigger.MEMBER_JOINS, "C", TWO, THREE, "A"),
    Change(Trigger.MEMBER_JOINS, "D", THREE, FOUR, "A", at_ms=500),
)


def test_a_second_join_while_the_first_is_prepared_is_one_rebalance() -> None:
    """C joins at 200, D at 700; A at 1100, B at 2100: complete, as if C had come alone."""
    timeline = replay_chain(EAGER, JOINS, TIMES)
    assert timeline.rebalances == 1
    assert_pauses(timeline, {"t0 t1 t2": (1100, 2300), "t3 t4 t5": (2100, 2300)})


def test_a_second_join_between_join_and_sync_starts_anew() -> None:
    """D joins at 2150, after JoinGroup's answer (2100 … 2200): they learn at 2200, rejoin at 2300, read at 2500."""
    timeline = replay_chain(EAGER, (JOINS[0], replace(JOINS[1], at_ms=1950)), TIMES)
    assert timeline.rebalances == 2
    assert_pauses(timeline, {"t0 t1 t2": (1100, 2500), "t3 t4 t5": (2100, 2500)})


def test_a_second_join_after_the_first_pauses_everybody_again() -> None:
    """All clocks run from 2200. D joins at 3200: the others hear of it at 5200, rejoin at 5300, read at 5500."""
    timeline = replay_chain(EAGER, (JOINS[0], replace(JOINS[1], at_ms=3000)), TIMES)
    assert timeline.rebalances == 2
    spans = sorted({(pause.from_ms, pause.to_ms) for pause in timeline.pauses})
    assert spans == [(1100, 2300), (2100, 2300), (5300, 5500)]


def test_a_dead_member_is_waited_for_until_its_session_ends() -> None:
    """C died at 0 (session to 44500), D joins at 700: A and B stop at 1100 and 2100, and get their answer at 44600."""
    changes = (
        Change(Trigger.MEMBER_JOINS, "D", THREE, FOUR, "A", at_ms=500),
        Change(Trigger.MEMBER_DIES, "C", FOUR, holding(A="t0", B="t3 t4", D="t1 t2 t5"), "A"),
    )
    timeline = replay_chain(EAGER, changes, TIMES)
    assert timeline.rebalances == 1
    assert_pauses(timeline, {"t0 t1": (1100, 44_700), "t3 t4": (2100, 44_700), "t2 t5": (0, 44_700)})
    # KIP-848: D gets t1 once A has revoked it (beat 1000, answered 1100), at its beat of 5600. C's are freed at 42500
    # (its last beat was at -2500), and D's own heartbeat is the next, at 45600.
    assert_pauses(replay_chain(CONSUMER, changes, TIMES), {"t1": (1100, 5700), "t2 t5": (0, 45_700)})


def test_the_target_of_kip_848_waits_for_the_assignment_interval() -> None:
    """C's beat at 100 makes a target; D's at 600 is too soon (KIP-1263). A revokes at 1100 and 1200, B at 2100."""
    timeline = replay_chain(CONSUMER, JOINS, TIMES)
    assert_pauses(timeline, {"t2": (1100, 5200), "t5": (2100, 5200), "t1": (1200, 5700)})
    # Before 4.3 D's own heartbeat makes the target: A revokes t1 and t2 together.
    at_once = replay_chain(CONSUMER, JOINS, replace(TIMES, assignment_interval_ms=0))
    assert_pauses(at_once, {"t2": (1100, 5200), "t5": (2100, 5200), "t1": (1100, 5700)})


def test_a_static_member_that_leaves_is_waited_for() -> None:
    """It sends no LeaveGroup: as one that dies."""
    for protocol in Protocol:
        leaves = Change(Trigger.MEMBER_LEAVES, "C", THREE, TWO, "A", is_static=True)
        dies = replace(leaves, trigger=Trigger.MEMBER_DIES)
        assert replay_rebalance(protocol, leaves, TIMES).pauses == replay_rebalance(protocol, dies, TIMES).pauses


def test_a_static_member_that_stalls_is_there_for_a_session_more() -> None:
    """Classic: last beat before 300000 is 299500, so to 344500; A hears of it at 346000, B at 347000."""
    stalls = Change(Trigger.MEMBER_STALLS, "C", THREE, TWO, "A", is_static=True)
    assert_pauses(replay_rebalance(COOPERATIVE, stalls, TIMES), {"t2 t5": (0, 347_300)})
    # KIP-848: the last of its heartbeats is at 297500 and its session at 342500; A beats at 346000, B at 347000.
    assert_pauses(replay_rebalance(CONSUMER, stalls, TIMES), {"t2": (0, 346_100), "t5": (0, 347_100)})


def test_a_static_member_back_after_its_session_is_two_rebalances() -> None:
    """Session ends at 44500: all read at 47300. Back at 60000, it joins at 60100; rejoin 62300, all read at 62500."""
    restart = Change(Trigger.STATIC_RESTART, "C", THREE, THREE, "A", meanwhile=TWO)
    timeline = replay_rebalance(EAGER, restart, replace(TIMES, restart_ms=60_000))
    assert timeline.rebalances == 2
    spans = {(pause.partition, pause.from_ms, pause.to_ms) for pause in timeline.pauses}
    assert {span for span in spans if span[0] == ("t", 2)} == {(("t", 2), 0, 47_300), (("t", 2), 62_300, 62_500)}
    assert {span for span in spans if span[0] == ("t", 3)} == {(("t", 3), 47_100, 47_300), (("t", 3), 62_300, 62_500)}


def test_a_partition_that_nobody_reads_in_the_end_has_a_pause_without_end() -> None:
    for protocol in Protocol:
        last_leaves = Change(Trigger.MEMBER_LEAVES, "A", holding(A="t0 t1"), ABSENT, "A")
        timeline = replay_rebalance(protocol, last_leaves, TIMES)
        assert_pauses(timeline, {"t0 t1": (0, None)})
        assert timeline.longest_pause_ms is None
    # B was the only one to read u; it drops u at 0 (KIP-848: when its heartbeat of 0 is answered).
    before, after = holding(A="t0", B="t1 u0"), holding(A="t0", B="t1")
    drops = Change(Trigger.SUBSCRIPTION_CHANGES, "B", before, after, "A", frozenset("u"))
    assert_pauses(replay_rebalance(COOPERATIVE, drops, TIMES), {"u0": (0, None)})
    assert_pauses(replay_rebalance(CONSUMER, drops, TIMES), {"u0": (100, None)})


def test_cooperative_members_that_list_an_eager_strategy_give_all_up_before_they_join() -> None:
    """B lists range beside cooperative-sticky: B stops at 2100, A reads on. A revokes t2 at 2300; all read at 5500."""
    change = Change(Trigger.MEMBER_JOINS, "C", TWO, THREE, "A", eager_members=frozenset("B"))
    timeline = replay_rebalance(COOPERATIVE, change, TIMES)
    spans = {(pause.partition[1], pause.from_ms, pause.to_ms) for pause in timeline.pauses}
    assert spans == {
        (2, 2300, 5500), (3, 2100, 2300), (3, 5300, 5500), (4, 2100, 2300), (4, 5300, 5500), (5, 2100, 2300),
    }  # fmt: skip
    everybody = replace(change, eager_members=frozenset("ABC"))
    assert replay_rebalance(COOPERATIVE, everybody, TIMES).pauses == replay_rebalance(EAGER, change, TIMES).pauses


def test_changes_that_do_not_follow_each_other_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="change 1: does not begin with what the one before it ends with"):
        replay_chain(EAGER, (JOINS[0], replace(JOINS[1], before=TWO)), TIMES)


@pytest.mark.parametrize("protocol", Protocol)
def test_a_change_that_is_learned_of_after_the_next_is_refused(protocol: Protocol) -> None:
    dies = Change(Trigger.MEMBER_DIES, "C", THREE, TWO, "A")
    grows = Change(Trigger.SUBSCRIPTION_CHANGES, "B", TWO, TWO, "A", at_ms=1500)
    if protocol is CONSUMER:
        with pytest.raises(InvalidInputError, match="change 0: member_dies is learned of after the next one"):
            replay_chain(protocol, (dies, grows), TIMES)
    else:  # the rebalance of the second waits for the dead member, so that it knows of both
        assert replay_chain(protocol, (dies, grows), TIMES).rebalances == 1
        topic = replace(grows, trigger=Trigger.PARTITION_COUNT_CHANGES, subject="t", at_ms=0, before=THREE, after=THREE)
        with pytest.raises(InvalidInputError, match="change 0: partition_count_changes is learned of after"):
            replay_chain(protocol, (topic, dies), TIMES)


MEMBERS = "ABCDE"
PARTITIONS = frozenset(("t", number) for number in range(6))


@some.composite
def chains(draw: some.DrawFn) -> list[Change]:
    """Joins and leaves of five members, any owner for any partition, at any time."""
    there = draw(some.sets(some.sampled_from(MEMBERS)))
    held, at_ms, changes = _dealt(draw, there), 0, list[Change]()
    for _ in range(draw(some.integers(1, 4))):
        subject = draw(some.sampled_from(MEMBERS))
        trigger = Trigger.MEMBER_LEAVES if subject in there else Trigger.MEMBER_JOINS
        there = there ^ {subject}
        after = _dealt(draw, there)
        changes.append(Change(trigger, subject, held, after, at_ms=at_ms))
        held, at_ms = after, at_ms + draw(some.integers(0, 12_000))
    return changes


def _dealt(draw: some.DrawFn, there: set[str]) -> Holding:
    owners = {partition: draw(some.sampled_from(sorted(there))) for partition in sorted(PARTITIONS)} if there else {}
    return {name: frozenset(p for p, owner in owners.items() if owner == name) for name in sorted(there)}


@given(chains(), some.sampled_from(Protocol), some.integers(1, 300))
def test_everything_is_read_in_the_end_and_no_two_pauses_of_a_partition_meet(
    changes: list[Change], protocol: Protocol, round_trip_ms: int
) -> None:
    clocks = {name: 700 * number for number, name in enumerate(MEMBERS)}
    times = Times(round_trip_ms=round_trip_ms, heartbeat_offset_ms=clocks)
    # A leave is known at once and a join two round trips later: what is learned of in another order is refused.
    changes = [replace(change, at_ms=change.at_ms + 700 * number) for number, change in enumerate(changes)]
    timeline = replay_chain(protocol, changes, times)
    assert [event.at_ms for event in timeline.events] == sorted(event.at_ms for event in timeline.events)
    ends = {partition for members in changes[-1].after.values() for partition in members}
    for partition in PARTITIONS:
        pauses = [pause for pause in timeline.pauses if pause.partition == partition]
        closed = [pause for pause in pauses if pause.to_ms is not None]
        assert all(first.to_ms <= other.from_ms for first, other in zip(closed, pauses[1:], strict=False))
        assert [pause.to_ms for pause in pauses if pause.to_ms is None] == ([] if partition in ends else [None])
        if closed and partition in ends and closed[-1].member_after != changes[-1].owner_after[partition]:
            raise AssertionError(f"{partition} ends with {closed[-1].member_after}")
