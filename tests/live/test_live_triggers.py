"""Every trigger on live groups, classic and KIP-848: pauses in the order that the timeline says, within a heartbeat.

    pytest -s -m live tests/live/test_live_triggers.py

prints the list. One broker, Java members, short times; three groups (eager, cooperative, KIP-848) side by side.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

import pytest

from kafka_assignors.coordinator.timeline import Change, Protocol, Trigger
from stack.kafka.cluster import ClusterSpec, start_cluster
from stack.kafka.setup import admin, create_topics
from tests.live.java_members import JavaMembers
from tests.live.timed_group import BROKER_TIMES, POLL_MS, TimedGroup, warm_up

pytestmark = [pytest.mark.live, pytest.mark.matrix]
Act = Callable[[TimedGroup], Sequence[Change]]
CLASSIC = (Protocol.EAGER, Protocol.COOPERATIVE)
GROWN = 9


@pytest.fixture(scope="module")
def groups(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[Protocol, TimedGroup]]:
    """One broker and the topic of each group, nobody reading yet."""
    spec = ClusterSpec(racks={1: "a"}, broker_properties=BROKER_TIMES)
    with start_cluster(spec, tmp_path_factory.mktemp("triggers") / "cluster") as cluster:
        results = {protocol: TimedGroup(cluster.bootstrap, protocol) for protocol in Protocol}
        create_topics(cluster.bootstrap, {group.topic: [[1]] * group.partitions for group in results.values()}, {})
        yield results


def change(trigger: Trigger, subject: str, **also: object) -> Change:
    """What is held before and after is seen later; A leads as long as it is there."""
    return Change(trigger, subject, {}, {}, "A", **also)  # type: ignore[arg-type]


def follow(groups: Sequence[TimedGroup], scenario: str, act: Act) -> None:
    """Let it happen to all, then wait for each and compare."""
    for group in groups:
        group.mind_clocks()
    happened = []
    for group in groups:
        started_ms = time.time_ns() // 1_000_000
        changes = act(group)
        happened.append((group, changes, started_ms))
    for group, changes, started_ms in happened:
        group.follow(scenario, lambda changes=changes: changes, started_ms)  # type: ignore[misc]


def joins(jvm: JavaMembers, letter: str, *, is_static: bool = False, **settings: str) -> Act:
    def act(group: TimedGroup) -> Sequence[Change]:
        group.join(jvm, letter, is_static=is_static, **settings)
        return [change(Trigger.MEMBER_JOINS, letter, is_static=is_static)]

    return act


def leaves(letter: str, *, is_static: bool = False) -> Act:
    def act(group: TimedGroup) -> Sequence[Change]:
        group.leave(letter)
        return [change(Trigger.MEMBER_LEAVES, letter, is_static=is_static)]

    return act


def restarts(jvm: JavaMembers, letter: str) -> Act:
    def act(group: TimedGroup) -> Sequence[Change]:
        group.restart(jvm, letter)
        return [change(Trigger.STATIC_RESTART, letter, is_static=True)]

    return act


def stalls(letter: str) -> Act:
    def act(group: TimedGroup) -> Sequence[Change]:
        group.homes[letter].stall([group.name(letter)])
        return [change(Trigger.MEMBER_STALLS, letter)]

    return act


def grows(group: TimedGroup) -> Sequence[Change]:
    with admin(group.bootstrap) as client:
        client.create_partitions({group.topic: GROWN})
    group.partitions = GROWN
    return [change(Trigger.PARTITION_COUNT_CHANGES, group.topic)]


def crashes(doomed: JavaMembers, letter: str) -> Act:
    def act(group: TimedGroup) -> Sequence[Change]:
        if group.homes.pop(letter) is doomed and doomed.is_running:
            doomed.kill()
        return [change(Trigger.MEMBER_DIES, letter)]

    return act


def crash_and_join(doomed: JavaMembers, jvm: JavaMembers, dead: str, new: str) -> Act:
    """The rebalance of the newcomer waits for the end of the dead member's session."""

    def act(group: TimedGroup) -> Sequence[Change]:
        died = crashes(doomed, dead)(group)
        group.join(jvm, new)
        return [change(Trigger.MEMBER_JOINS, new), *died]

    return act


def all_triggers(groups: dict[Protocol, TimedGroup]) -> None:
    every = tuple(groups.values())
    classic = tuple(groups[protocol] for protocol in CLASSIC)
    where = every[0].bootstrap
    with JavaMembers() as jvm:
        warm_up(jvm, where)
        follow(every, "first join", joins(jvm, "A"))
        follow(every, "join", joins(jvm, "B"))
        follow(every, "static join", joins(jvm, "S", is_static=True))
        follow(every, "static restart in the session", restarts(jvm, "S"))
        follow(every, "leave", leaves("B"))
        follow(every, "topic grown", grows)
        follow(every, "static leave", leaves("S", is_static=True))
        follow(every, "join", joins(jvm, "P", max_poll_interval_ms=str(POLL_MS)))
        follow(every, "stall", stalls("P"))
        for group in every:
            group.leave("P")
        with JavaMembers() as doomed:
            warm_up(doomed, where)
            follow(every, "join", joins(doomed, "K"))
            follow(every, "crash", crashes(doomed, "K"))
        with JavaMembers() as doomed:
            warm_up(doomed, where)
            follow(classic, "join", joins(doomed, "K"))
            follow(classic, "crash and join", crash_and_join(doomed, jvm, "K", "C"))
        follow(classic, "leave", leaves("C"))
        follow(every, "last leave", leaves("A"))


def test_pauses_come_as_the_timeline_says(
    groups: dict[Protocol, TimedGroup], capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        all_triggers(groups)
    finally:
        outcomes = [outcome for group in groups.values() for outcome in group.outcomes]
        with capsys.disabled():
            print("\n| protocol | trigger | pauses | longest ms | furthest from the replay ms | wrong |")
            print("|---|---|---|---|---|---|")
            for result in outcomes:
                row = (
                    result.protocol,
                    result.scenario,
                    result.pauses,
                    result.longest_ms,
                    result.worst_ms,
                    len(result.wrong),
                )
                print(f"| {' | '.join(map(str, row))} |", *result.wrong, sep="\n    ")
    assert [outcome for outcome in outcomes if outcome.wrong] == []
    assert all(len({row.scenario for row in group.outcomes}) >= 10 for group in groups.values())
    # They did something: partitions paused at every trigger, in every group.
    assert all(outcome.pauses for outcome in outcomes)
