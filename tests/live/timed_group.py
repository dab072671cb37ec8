"""A live group of Java members whose pauses are compared with the timeline that was replayed for each trigger.

What a replay cannot know it is told: who holds what before and after, and when each member's clock last began anew
(JoinGroup's answer, or under KIP-848 its last change), from which its heartbeats follow.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

from kafka_rebalance.coordinator.rebalance import replay_chain
from kafka_rebalance.coordinator.timeline import Change, Partition, Pause, Protocol, Reading, Times, Trigger
from tests.live.java_members import CLIENT_CLASSES, JavaMembers

HEARTBEAT_MS, SESSION_MS, POLL_MS, INITIAL_DELAY_MS, METADATA_MS, TRIP_MS = 1_500, 6_000, 4_000, 1_500, 1_000, 20
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
    initial_delay_ms=INITIAL_DELAY_MS, poll_interval_ms=POLL_MS, metadata_max_age_ms=METADATA_MS,
)  # fmt: skip
_SETTLE_S, _QUIET_S = 40.0, 1.5 * HEARTBEAT_MS / 1000
_GOES = (Trigger.MEMBER_DIES, Trigger.MEMBER_LEAVES, Trigger.MEMBER_STALLS, Trigger.STATIC_RESTART)

Span = tuple[Partition, int, str]


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
            "bootstrap.servers": self.bootstrap, "group.id": self.topic, "client.id": self.name(letter),
            "enable.auto.commit": "false", "auto.offset.reset": "earliest", "metadata.max.age.ms": str(METADATA_MS),
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
        deadline, quiet_since, seen = time.monotonic() + _SETTLE_S, time.monotonic(), None
        wanted = {(self.topic, number) for number in range(self.partitions)} if expected else set()
        while time.monotonic() < deadline:
            held = {letter: self._held(letter) for letter in sorted(expected)}
            if held != seen:
                seen, quiet_since = held, time.monotonic()
            read = [partition for mine in held.values() for partition in mine]
            is_whole = set(read) == wanted and len(read) == len(wanted) and all(held.values())
            if is_whole and time.monotonic() - quiet_since > _QUIET_S:
                self.holding = held
                return
            time.sleep(0.1)
        raise AssertionError(f"{self.topic} did not settle: {seen}")

    def _held(self, letter: str) -> frozenset[Partition]:
        return self.homes[letter].held().get(self.name(letter), frozenset())

    def _compare(self, scenario: str, changes: Sequence[Change], started_ms: int) -> None:
        observed = self._observed(changes, started_ms)
        offsets = {letter: (clock - started_ms) % HEARTBEAT_MS for letter, clock in self.clocks.items()}
        times = replace(_TIMES, heartbeat_offset_ms=offsets, restart_ms=self.restart_ms)
        replayed = replay_chain(self.protocol, changes, times).pauses
        seen, foretold = _moments(observed), _moments(replayed)
        wrong = [f"{span} was not foretold" for span in sorted(seen.keys() - foretold.keys())]
        wrong += [f"{span} did not happen" for span in sorted(foretold.keys() - seen.keys())]
        shared = sorted(seen.keys() & foretold.keys())
        distances = {span: abs(seen[span] - foretold[span]) for span in shared}
        wrong += [f"{span}: {seen[span]}, not {foretold[span]}" for span in shared if distances[span] > HEARTBEAT_MS]
        wrong += [f"{one} and {other} in another order" for one, other in _swapped(seen, foretold)]
        lengths = [pause.to_ms - pause.from_ms for pause in observed if pause.to_ms is not None]
        self.outcomes.append(
            Outcome(
                self.protocol, scenario, len(observed), max(lengths, default=0),
                max(distances.values(), default=0), tuple(wrong),
            )
        )  # fmt: skip

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


def _moments(pauses: Sequence[Pause]) -> dict[tuple[Any, ...], int]:
    """Each beginning and each end of a pause, with the member that stopped or started."""
    counts: dict[Partition, int] = {}
    found: dict[tuple[Any, ...], int] = {}
    for pause in pauses:
        number = counts[pause.partition] = counts.get(pause.partition, 0) + 1
        found[pause.partition, number, "from", pause.member_before or ""] = pause.from_ms
        if pause.to_ms is None:
            found[pause.partition, number, "has no end", ""] = 0
        else:
            found[pause.partition, number, "to", pause.member_after or ""] = pause.to_ms
    return found


def _swapped(seen: Mapping[tuple[Any, ...], int], foretold: Mapping[tuple[Any, ...], int]) -> list[tuple[Any, Any]]:
    """Moments foretold at least half a heartbeat apart that came in the other order."""
    pairs = combinations(sorted(seen.keys() & foretold.keys(), key=lambda span: foretold[span]), 2)
    return [
        (one, other) for one, other in pairs
        if foretold[other] - foretold[one] >= HEARTBEAT_MS // 2 and seen[one] > seen[other]
    ]  # fmt: skip
