"""Real members of a real group that remember when they got and gave up each partition."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import Any

from kafka_assignors.coordinator.timeline import Partition, Protocol
from stack.waiting import PATIENCE_S, wait_for

STRATEGY = {Protocol.EAGER: "range", Protocol.COOPERATIVE: "cooperative-sticky"}
# A session ends for members that are gone alone, however long a busy machine lets the others wait.
SESSION_MS, HEARTBEAT_MS = 45_000, 1_000
_QUIET_S = 3.0


@dataclass(slots=True)
class Note:
    """At ``at_s`` (monotonic) ``member`` got (or gave up) partitions."""

    at_s: float
    member: str
    is_assigned: bool
    partitions: frozenset[Partition]


@dataclass(slots=True)
class FollowedGroup:
    """Members of one group on one topic; all notes go into one list."""

    bootstrap: str
    group: str
    topic: str
    protocol: Protocol
    notes: list[Note] = field(default_factory=list)
    holding: dict[str, set[Partition]] = field(default_factory=dict)
    _threads: dict[str, tuple[threading.Thread, threading.Event]] = field(default_factory=dict)
    _lock: Any = field(default_factory=threading.Lock)

    def join(self, member: str) -> None:
        """Start one member."""
        stop = threading.Event()
        thread = threading.Thread(target=self._live, args=(member, stop), daemon=True)
        self._threads[member] = thread, stop
        self.holding[member] = set()
        thread.start()

    def leave(self, member: str) -> None:
        """Close one member: it says goodbye."""
        thread, stop = self._threads.pop(member)
        stop.set()
        thread.join(PATIENCE_S)
        assert not thread.is_alive(), f"{member} did not close within {PATIENCE_S:.0f} s"
        self.holding.pop(member)

    def stop(self) -> None:
        """Close all."""
        for member in list(self._threads):
            self.leave(member)

    def settle(self, partitions: int) -> None:
        """Wait until every partition is held once, by every member some, and nothing has happened for a while."""

        def is_whole(holding: dict[str, frozenset[Partition]]) -> bool:
            held = [partition for mine in holding.values() for partition in mine]
            return len(held) == len(set(held)) == partitions and all(holding.values())

        wait_for(
            f"group {self.group} to settle",
            self.snapshot,
            until=is_whole,
            unchanged_s=_QUIET_S,
        )

    def snapshot(self) -> dict[str, frozenset[Partition]]:
        """Who holds what now."""
        with self._lock:
            return {member: frozenset(mine) for member, mine in self.holding.items()}

    def _live(self, member: str, stop: threading.Event) -> None:
        from confluent_kafka import Consumer

        modern = {"group.protocol": "consumer", "group.remote.assignor": "uniform"}
        classic = {
            "partition.assignment.strategy": STRATEGY.get(self.protocol, "range"),
            "session.timeout.ms": SESSION_MS,
            "heartbeat.interval.ms": HEARTBEAT_MS,
        }
        consumer = Consumer(
            {"bootstrap.servers": self.bootstrap, "group.id": self.group, "client.id": member}
            | (modern if self.protocol is Protocol.CONSUMER else classic)
        )
        consumer.subscribe(
            [self.topic],
            on_assign=lambda _, parts: self._note(member, parts, is_assigned=True),
            on_revoke=lambda _, parts: self._note(member, parts, is_assigned=False),
        )
        while not stop.is_set():
            consumer.poll(0.05)
        consumer.close()

    def _note(self, member: str, parts: list[Any], *, is_assigned: bool) -> None:
        partitions = frozenset((part.topic, part.partition) for part in parts)
        with self._lock:
            self.notes.append(Note(time.monotonic(), member, is_assigned, partitions))
            mine = self.holding.setdefault(member, set())
            if is_assigned:
                mine |= partitions
            else:
                mine -= partitions

    def pauses_since(self, since_s: float) -> dict[Partition, tuple[float, float]]:
        """Seconds after ``since_s`` from which and to which nobody read each partition (the last such span)."""
        stopped: dict[Partition, float] = {}
        spans: dict[Partition, tuple[float, float]] = {}
        for note in sorted(self.notes, key=lambda note: note.at_s):
            if note.at_s < since_s:
                continue
            for partition in note.partitions:
                if not note.is_assigned:
                    stopped[partition] = note.at_s - since_s
                elif partition in stopped:
                    spans[partition] = stopped.pop(partition), note.at_s - since_s
        return spans
