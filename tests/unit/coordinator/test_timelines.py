"""One golden timeline for each trigger under each protocol, worked out by hand.

A beats 1.0 s, B 2.0 s, C 2.5 s after the trigger, then every 3 s (classic) or 5 s (KIP-848); a round trip takes 0.1
s.
"""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from kafka_assignors.coordinator.pauses import replay_rebalance
from kafka_assignors.coordinator.timeline import Change, Event, Phase, Protocol, Times, Trigger
from kafka_assignors.errors import InvalidInputError
from tests.sample import for_each

EAGER, COOPERATIVE, CONSUMER = Protocol.EAGER, Protocol.COOPERATIVE, Protocol.CONSUMER
TIMES = Times(round_trip_ms=100, heartbeat_offset_ms={"A": 1000, "B": 2000, "C": 2500})


def holding(**members: str) -> dict[str, frozenset[tuple[str, int]]]:
    """``A="t0 t1"`` → {"A": {("t", 0), ("t", 1)}}."""
    return {member: frozenset((part[0], int(part[1:])) for part in text.split()) for member, text in members.items()}


TWO, THREE = holding(A="t0 t1 t2", B="t3 t4 t5"), holding(A="t0 t1", B="t3 t4", C="t2 t5")
CHANGES = {
    Trigger.MEMBER_JOINS: Change(Trigger.MEMBER_JOINS, "C", TWO, THREE, "A"),
    Trigger.MEMBER_DIES: Change(Trigger.MEMBER_DIES, "C", THREE, TWO, "A"),
    Trigger.MEMBER_LEAVES: Change(Trigger.MEMBER_LEAVES, "C", THREE, TWO, "A"),
    Trigger.MEMBER_STALLS: Change(Trigger.MEMBER_STALLS, "C", THREE, TWO, "A"),
    Trigger.STATIC_RESTART: Change(Trigger.STATIC_RESTART, "C", THREE, THREE, "A"),
    Trigger.SUBSCRIPTION_CHANGES: Change(
        Trigger.SUBSCRIPTION_CHANGES,
        "B",
        holding(A="t0 u0", B="t1 u1"),
        holding(A="t0 u0 u1", B="t1"),
        "A",
        frozenset("u"),
    ),
    Trigger.PARTITION_COUNT_CHANGES: Change(
        Trigger.PARTITION_COUNT_CHANGES, "t", holding(A="t0 t1", B="t2 t3"), holding(A="t0 t1 t4", B="t2 t3 t5"), "A"
    ),
    Trigger.COORDINATOR_MOVES: Change(Trigger.COORDINATOR_MOVES, "", THREE, THREE, "A"),
}

# (trigger, protocol) → (rebalances, {"partitions": (unread from, to)})
GOLDEN: dict[tuple[Trigger, Protocol], tuple[int, Mapping[str, tuple[int, int]]]] = {
    # C: id at 100, joins at 200. A hears of it at 1000, B at 2000; all joined at 2100, synced at 2300.
    (Trigger.MEMBER_JOINS, EAGER): (1, {"t0 t1 t2": (1100, 2300), "t3 t4 t5": (2100, 2300)}),
    # A and B read on; at 2300 they revoke one each and rejoin. JoinGroup was answered at 2200, from where C's clock
    # runs: it learns at 5200, all joined 5300, synced 5500.
    (Trigger.MEMBER_JOINS, COOPERATIVE): (2, {"t2": (2300, 5500), "t5": (2300, 5500)}),
    # C finds nothing free at 100; A revokes t2 at 1100, B t5 at 2100; C's next beat is 5100.
    (Trigger.MEMBER_JOINS, CONSUMER): (1, {"t2": (1100, 5200), "t5": (2100, 5200)}),
    # C's last beat was at -500: its session ends at 44500. A beats at 46000, B at 47000.
    (Trigger.MEMBER_DIES, EAGER): (1, {"t0 t1": (46100, 47300), "t3 t4": (47100, 47300), "t2 t5": (0, 47300)}),
    (Trigger.MEMBER_DIES, COOPERATIVE): (1, {"t2 t5": (0, 47300)}),
    # C's last beat was at -2500: its session ends at 42500. A beats at 46000, B at 47000; each takes what is free.
    (Trigger.MEMBER_DIES, CONSUMER): (1, {"t2": (0, 46100), "t5": (0, 47100)}),
    (Trigger.MEMBER_LEAVES, EAGER): (1, {"t0 t1": (1100, 2300), "t3 t4": (2100, 2300), "t2 t5": (0, 2300)}),
    (Trigger.MEMBER_LEAVES, COOPERATIVE): (1, {"t2 t5": (0, 2300)}),
    (Trigger.MEMBER_LEAVES, CONSUMER): (1, {"t2": (0, 1100), "t5": (0, 2100)}),
    # Away for 10 s, then FindCoordinator, JoinGroup, SyncGroup (KIP-848: FindCoordinator and one heartbeat). C's
    # heartbeats continue, so it leaves at the end of its poll interval. A beats at 301000, B at 302000.
    (Trigger.MEMBER_STALLS, EAGER): (
        1, {"t0 t1": (301_100, 302_300), "t3 t4": (302_100, 302_300), "t2 t5": (0, 302_300)},
    ),
    (Trigger.MEMBER_STALLS, COOPERATIVE): (1, {"t2 t5": (0, 302_300)}),
    (Trigger.MEMBER_STALLS, CONSUMER): (1, {"t2": (0, 301_100), "t5": (0, 302_100)}),
    (Trigger.STATIC_RESTART, EAGER): (0, {"t2 t5": (0, 10_300)}),
    (Trigger.STATIC_RESTART, COOPERATIVE): (0, {"t2 t5": (0, 10_300)}),
    (Trigger.STATIC_RESTART, CONSUMER): (0, {"t2 t5": (0, 10_200)}),
    # B rejoins at 0 without u; A hears of it at 1000.
    (Trigger.SUBSCRIPTION_CHANGES, EAGER): (1, {"t0 u0": (1100, 1300), "t1 u1": (0, 1300)}),
    (Trigger.SUBSCRIPTION_CHANGES, COOPERATIVE): (1, {"u1": (0, 1300)}),
    (Trigger.SUBSCRIPTION_CHANGES, CONSUMER): (1, {"u1": (100, 1100)}),
    # The leader's metadata is five minutes old at worst; B beats at 302000. KIP-848: the broker knows at the next beat.
    (Trigger.PARTITION_COUNT_CHANGES, EAGER): (
        1, {"t0 t1": (300_000, 302_300), "t2 t3": (302_100, 302_300), "t4 t5": (0, 302_300)},
    ),
    (Trigger.PARTITION_COUNT_CHANGES, COOPERATIVE): (1, {"t4 t5": (0, 302_300)}),
    (Trigger.PARTITION_COUNT_CHANGES, CONSUMER): (1, {"t4": (0, 1100), "t5": (0, 2100)}),
    (Trigger.COORDINATOR_MOVES, EAGER): (0, {}),
    (Trigger.COORDINATOR_MOVES, COOPERATIVE): (0, {}),
    (Trigger.COORDINATOR_MOVES, CONSUMER): (0, {}),
}  # fmt: skip


def test_seed_002_every_trigger_has_a_golden_timeline_under_every_protocol() -> None:
    assert GOLDEN.keys() == {(trigger, protocol) for trigger in Trigger for protocol in Protocol}


@for_each("trigger, protocol", GOLDEN)
def test_seed_002_reading_pauses_as_the_protocol_says(trigger: Trigger, protocol: Protocol) -> None:
    rebalances, spans = GOLDEN[trigger, protocol]
    timeline = replay_rebalance(protocol, CHANGES[trigger], TIMES)
    expected = {partition: span for text, span in spans.items() for partition in holding(x=text)["x"]}
    assert {pause.partition: (pause.from_ms, pause.to_ms) for pause in timeline.pauses} == expected
    assert timeline.rebalances == rebalances


def test_the_phases_of_an_eager_join_come_in_kafkas_order() -> None:
    timeline = replay_rebalance(EAGER, CHANGES[Trigger.MEMBER_JOINS], TIMES)
    assert [(event.at_ms, event.member, event.phase) for event in timeline.events] == [
        (0, "C", Phase.FIND_COORDINATOR), (100, "C", Phase.JOIN_GROUP), (200, "C", Phase.JOIN_GROUP),
        (1000, "A", Phase.HEARTBEAT), (1100, "A", Phase.REVOKE), (1100, "A", Phase.JOIN_GROUP),
        (2000, "B", Phase.HEARTBEAT), (2100, "B", Phase.REVOKE), (2100, "B", Phase.JOIN_GROUP),
        (2200, "A", Phase.SYNC_GROUP), (2200, "B", Phase.SYNC_GROUP), (2200, "C", Phase.SYNC_GROUP),
        (2300, "A", Phase.ASSIGN), (2300, "B", Phase.ASSIGN), (2300, "C", Phase.ASSIGN),
    ]  # fmt: skip


def test_a_coordinator_that_moves_is_looked_up_again() -> None:
    timeline = replay_rebalance(EAGER, CHANGES[Trigger.COORDINATOR_MOVES], TIMES)
    assert [event for event in timeline.events if event.member == "A"] == [
        Event(1000, "A", Phase.HEARTBEAT, "NOT_COORDINATOR"),
        Event(1100, "A", Phase.FIND_COORDINATOR),
        Event(1200, "A", Phase.HEARTBEAT),
    ]


def test_trips_that_take_no_time_hand_over_after_a_whole_interval_as_all_others_do() -> None:
    """All join at 2000 and beat at that moment, before A and B revoke: C learns of it at its next beat, at 5000."""
    at_once = replace(TIMES, round_trip_ms=0)
    timeline = replay_rebalance(COOPERATIVE, CHANGES[Trigger.MEMBER_JOINS], at_once)
    assert [(pause.from_ms, pause.to_ms) for pause in timeline.pauses] == [(2000, 5000), (2000, 5000)]


def test_a_slow_poll_holds_everybody_up() -> None:
    slow = Times(round_trip_ms=0, heartbeat_offset_ms={"A": 1000, "B": 2000}, poll_delay_ms={"B": 60_000})
    timeline = replay_rebalance(EAGER, CHANGES[Trigger.MEMBER_LEAVES], slow)
    assert timeline.longest_pause_ms == 62_000


def test_a_member_beyond_the_rebalance_timeout_is_another_trigger() -> None:
    slow = Times(heartbeat_offset_ms={"A": 1000}, poll_delay_ms={"B": 300_001})
    with pytest.raises(InvalidInputError, match=r"member B: polls .* replay that as member_dies"):
        replay_rebalance(EAGER, CHANGES[Trigger.MEMBER_LEAVES], slow)


def test_a_restart_that_outlives_the_session_is_two_triggers() -> None:
    with pytest.raises(InvalidInputError, match="static member C"):
        replay_rebalance(COOPERATIVE, CHANGES[Trigger.STATIC_RESTART], Times(restart_ms=60_000))
