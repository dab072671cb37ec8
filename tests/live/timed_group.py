"""A live group of Java members whose pauses are compared with the timeline that was replayed for each trigger.

What a replay cannot know it is told: who holds what before and after, and when each member's clock last began anew
(JoinGroup's answer, or under KIP-848 its last change), from which its heartbeats follow.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

from kafka_assignors.coordinator.pauses import replay_chain
from kafka_assignors.coordinator.timeline import Change, Partition, Pause, Protocol, Reading, Times, Trigger
from stack.waiting import wait_for
from tests.live.java_members import CLIENT_CLASSES, JavaMembers

# A session is no multiple of heartbeats: where it is, it ends at a heartbeat of the others, and a millisecond decides.
HEARTBEAT_MS, SESSION_MS, POLL_MS, INITIAL_DELAY_MS, LATEST_START_MS, TRIP_MS = 1_400, 6_000, 4_000, 1_500, 500, 20
BROKER_TIMES = {
    "group.initial.rebalance.delay.ms": str(INITIAL_DELAY_MS),
    "group.consumer.min.heartbeat.interval.ms": str(HEARTBEAT_MS),
    "group.consumer.heartbeat.interval.ms": str(HEARTBEAT_MS),
    "group.consumer.min.session.timeout.ms": str(SESSION_MS),
    "group.consumer.session.timeout.ms": str(SESSION_MS),
}
STRATEGIES = {Protocol.EAGER: "range", Protocol.COOPERATIVE: "cooperative-sticky"}
_TIMES = Times(
    session_ms=SESSION_MS, heartbeat_ms=HEARTBEAT_MS, consumer_heartbeat_ms=HEARTBEAT_MS, round_trip_ms=TRIP_MS,
    initial_delay_ms=INITIAL_DELAY_MS, poll_interval_ms=POLL_MS,
)  # fmt: skip
EAGER, CONSUMER = Protocol.EAGER, Protocol.CONSUMER
_QUIET_S = 1.5 * HEARTBEAT_MS / 1000
_GOES = (Trigger.MEMBER_DIES, Trigger.MEMBER_LEAVES, Trigger.MEMBER_STALLS, Trigger.STATIC_RESTART)


@dataclass(frozen=True, slots=True)
class Outcome:
    """One trigger of one group: ``worst_ms`` is the furthest that a pause began or ended from its replay."""

    protocol: Protocol
    scenario: str
    pauses: int
    longest_ms: int | None
    worst_ms: int
    wrong: tuple[str, ...]


@dataclass(slots=True)
class TimedGroup:
    """``homes``: letter of a member → the JVM that it lives in."""

    bootstrap: str
    protocol: Protocol
    partitions: int = 6
    group: str = ""
    homes: dict[str, JavaMembers] = field(default_factory=dict)
    holding: dict[str, frozenset[Partition]] = field(default_factory=dict)
    outcomes: list[Outcome] = field(default_factory=list)
    clocks: dict[str, int] = field(default_factory=dict)
    restart_ms: int = 0

    @property
    def topic(self) -> str:
        return f"timed.{self.protocol}"

    def name(self, letter: str) -> str:
        return f"{self.topic}.{letter}"

    def join(self, jvm: JavaMembers, letter: str, *, is_static: bool = False, **settings: str) -> None:
        """Start a member."""
        common = {
            "bootstrap.servers": self.bootstrap, "group.id": self.group or self.topic, "client.id": self.name(letter),
            "enable.auto.commit": "false", "auto.offset.reset": "earliest", "metadata.max.age.ms": str(LATEST_START_MS),
        }  # fmt: skip
        if self.protocol is Protocol.CONSUMER:
            common |= {"group.protocol": "consumer", "group.remote.assignor": "uniform"}
        else:
            common |= {
                "session.timeout.ms": str(SESSION_MS), "heartbeat.interval.ms": str(HEARTBEAT_MS),
                "partition.assignment.strategy": CLIENT_CLASSES[STRATEGIES[self.protocol]],
            }  # fmt: skip
        if is_static:
            common["group.instance.id"] = f"pod-{letter}"
        jvm.join(self.name(letter), [self.topic], common | {key.replace("_", "."): settings[key] for key in settings})
        self.homes[letter] = jvm

    def leave(self, letter: str) -> None:
        """Close a member."""
        self.homes.pop(letter).leave([self.name(letter)])

    def restart(self, jvm: JavaMembers, letter: str) -> None:
        """Close a static member, and start it again at once."""
        began = time.monotonic()
        self.leave(letter)
        self.restart_ms = round((time.monotonic() - began) * 1000)
        self.join(jvm, letter, is_static=True)

    def follow(self, scenario: str, act: Callable[[], Sequence[Change]], started_ms: int) -> None:
        """``act`` has happened at ``started_ms``; it gives the changes without what is held before and after."""
        before, changes = self.holding, list(act())
        gone = {change.subject for change in changes if change.trigger in _GOES[:-1]}
        expected = {letter for letter in self.homes if letter not in gone}
        self._settle(expected)
        for number, change in enumerate(changes):
            last = number == len(changes) - 1
            changes[number] = replace(change, before=before, after=self.holding if last else before)
        self._compare(scenario, changes, started_ms)

    def _settle(self, expected: set[str]) -> None:
        """Wait until every partition is read once, by everybody some, and has been for a while."""
        wanted = {(self.topic, number) for number in range(self.partitions)} if expected else set()

        def is_whole(held: Mapping[str, frozenset[Partition]]) -> bool:
            read = [partition for mine in held.values() for partition in mine]
            return set(read) == wanted and len(read) == len(wanted) and all(held.values())

        self.holding = wait_for(
            f"{self.topic} to settle", lambda: {letter: self._held(letter) for letter in sorted(expected)},
            until=is_whole, unchanged_s=_QUIET_S,
        )  # fmt: skip

    def wait_for(self, letter: str) -> None:
        """Wait until a member reads something."""
        wait_for(f"member {letter} of {self.topic} to read", lambda: self._held(letter))

    def _held(self, letter: str) -> frozenset[Partition]:
        return self.homes[letter].held().get(self.name(letter), frozenset())

    def _compare(self, scenario: str, changes: Sequence[Change], started_ms: int) -> None:
        observed = self._observed(changes, started_ms)
        seen = _moments(observed)
        worst_ms, wrong = min(
            (_differences(seen, _moments(pauses)) for pauses in self._replays(changes, started_ms)),
            key=lambda result: (len(result[1]), result[0]),
        )
        lengths = [pause.to_ms - pause.from_ms for pause in observed if pause.to_ms is not None]
        self.outcomes.append(Outcome(self.protocol, scenario, len(observed), max(lengths, default=0), worst_ms, wrong))

    def _replays(self, changes: Sequence[Change], started_ms: int) -> Iterator[tuple[Pause, ...]]:
        """Pauses for all that is not known: when a newcomer's first request (or the leader's next look at the metadata)
        comes, and how far the clocks have drifted. A request just before a heartbeat or just behind it makes a
        heartbeat's difference.
        """
        subjects = {change.subject for change in changes}
        for lag_ms in range(0, LATEST_START_MS + 1, 100):
            late = [
                replace(change, at_ms=change.at_ms + lag_ms * (change.trigger is Trigger.MEMBER_JOINS))
                for change in changes
            ]
            for drift_ms in (0, -100, 100):
                offsets = {
                    letter: (clock - started_ms + drift_ms * (letter not in subjects)) % HEARTBEAT_MS
                    for letter, clock in self.clocks.items()
                }
                times = replace(
                    _TIMES, heartbeat_offset_ms=offsets, restart_ms=self.restart_ms + lag_ms, metadata_max_age_ms=lag_ms
                )
                yield replay_chain(self.protocol, late, times).pauses

    def _observed(self, changes: Sequence[Change], started_ms: int) -> tuple[Pause, ...]:
        """Pauses as the members' own notes tell them; those of one that is gone begin when it went."""
        reading = Reading({letter: set(held) for letter, held in changes[0].before.items()})
        for change in changes:
            reading.wait(0, change.owner_after.keys() - change.owner_before.keys())
            if change.trigger in _GOES:
                reading.stop(0, change.subject, tuple(reading.owned[change.subject]))
        stalled = {change.subject for change in changes if change.trigger is Trigger.MEMBER_STALLS}
        for note in sorted(note for jvm in set(self.homes.values()) for note in jvm.notes()):
            group, _, letter = note.member.rpartition(".")
            if group != self.topic or letter in stalled or letter not in self.homes:
                continue
            if note.at_ms >= started_ms:
                reading.owned.setdefault(letter, set())
                act = reading.start if note.is_got else reading.stop
                act(note.at_ms - started_ms, letter, note.partitions)
        return reading.all_pauses()

    def mind_clocks(self) -> None:
        """When each member's clock last began anew."""
        self.clocks = {}
        for note in sorted(note for jvm in set(self.homes.values()) for note in jvm.notes()):
            group, _, letter = note.member.rpartition(".")
            if group == self.topic and (note.is_got or self.protocol is Protocol.CONSUMER):
                self.clocks[letter] = note.at_ms


def warm_up(jvm: JavaMembers, bootstrap: str) -> None:
    """Load the client's classes: a first member's join would wait a second for them. Two groups that nobody follows.

    Each of its own name: a broker that converts a classic group while its first member joins answers
    UnknownServerException (``ConsumerGroup.fromClassicGroup``: no assignment yet).
    """
    letter = f"{id(jvm)}"
    warming = [TimedGroup(bootstrap, kind, group=f"warming-{kind.value}-{letter}") for kind in (EAGER, CONSUMER)]
    for group in warming:
        group.join(jvm, letter)
    for group in warming:
        group.wait_for(letter)
        group.leave(letter)


def _moments(pauses: Sequence[Pause]) -> dict[tuple[Any, ...], int]:
    """Each beginning and each end of a pause, with the member that stopped or started."""
    counts: dict[Partition, int] = {}
    results: dict[tuple[Any, ...], int] = {}
    for pause in pauses:
        number = counts[pause.partition] = counts.get(pause.partition, 0) + 1
        results[pause.partition, number, "from", pause.member_before or ""] = pause.from_ms
        if pause.to_ms is None:
            results[pause.partition, number, "has no end", ""] = 0
        else:
            results[pause.partition, number, "to", pause.member_after or ""] = pause.to_ms
    return results


def _differences(
    seen: Mapping[tuple[Any, ...], int], foretold: Mapping[tuple[Any, ...], int]
) -> tuple[int, tuple[str, ...]]:
    """How far the furthest moment is from its replay, and what is wrong."""
    wrong = [f"{moment} was not foretold" for moment in sorted(seen.keys() - foretold.keys())]
    wrong += [f"{moment} did not happen" for moment in sorted(foretold.keys() - seen.keys())]
    distances = {moment: abs(seen[moment] - foretold[moment]) for moment in sorted(seen.keys() & foretold.keys())}
    wrong += [
        f"{moment}: {seen[moment]}, not {foretold[moment]}"
        for moment, distance in distances.items()
        if distance > HEARTBEAT_MS
    ]
    wrong += [f"{first} and {other} in another order" for first, other in _swapped(seen, foretold)]
    return max(distances.values(), default=0), tuple(wrong)


def _swapped(seen: Mapping[tuple[Any, ...], int], foretold: Mapping[tuple[Any, ...], int]) -> list[tuple[Any, Any]]:
    """Moments foretold at least half a heartbeat apart that came in the other order."""
    pairs = combinations(sorted(seen.keys() & foretold.keys(), key=lambda span: foretold[span]), 2)
    return [
        (first, other) for first, other in pairs
        if foretold[other] - foretold[first] >= HEARTBEAT_MS // 2 and seen[first] > seen[other]
    ]  # fmt: skip
