"""Members of groups on librdkafka, each a thread of this process: the same doors as ``JavaMembers``."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, Self

from kafka_assignors.coordinator.timeline import Partition
from stack.waiting import wait_for
from tests.live.java_members import Span

# librdkafka may never return from ``consume`` or ``close`` where processors are overloaded (seen once). Such a member
# is left behind after ``_CLOSE_S``, and does not keep the tests after it waiting.
_MOST_RECORDS, _POLL_S, _CLOSE_S = 500, 0.1, 60.0


class LibrdkafkaMembers:
    """``join``, ``leave``, ``held`` and ``read`` as Java's; nobody tells the generation of such a member."""

    def __init__(self) -> None:
        self._members: dict[str, _Member] = {}
        self._spans: SimpleQueue[Span] = SimpleQueue()

    def join(self, name: str, topics: Sequence[str], settings: Mapping[str, str]) -> None:
        """Start a member; raises what librdkafka says of settings that it refuses."""
        self._members[name] = _Member(name, topics, settings, self._spans)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.leave(list(self._members))

    def leave(self, names: Iterable[str]) -> None:
        """Close members, all at once."""
        leaving = [self._members.pop(name) for name in names]
        for member in leaving:
            member.is_ending.set()
        for member in leaving:
            member.thread.join(_CLOSE_S)

    def stall(self, names: Iterable[str]) -> None:
        """They poll no more; their clients' heartbeats go on."""
        for name in names:
            self._members[name].is_polling.clear()

    def resume(self, names: Iterable[str]) -> None:
        """They poll again."""
        for name in names:
            self._members[name].is_polling.set()

    def pause(self, name: str, partition: Partition) -> None:
        """It fetches no more of the partition, which it keeps."""
        self._members[name].pause(partition)

    def held(self) -> dict[str, frozenset[Partition]]:
        """What each member believes it reads. Raises where one has failed."""
        failures = {name: member.failure for name, member in self._members.items() if member.failure}
        assert not failures, failures
        return {name: member.held for name, member in self._members.items()}

    def generations(self) -> dict[str, int]:
        """Not told."""
        return dict.fromkeys(self._members, 0)

    def read(self) -> list[Span]:
        """What was read and given up since this was last asked, in order of time."""
        spans = []
        while True:
            try:
                spans.append(self._spans.get_nowait())
            except Empty:
                return sorted(spans)


class _Member:
    def __init__(
        self, name: str, topics: Sequence[str], settings: Mapping[str, str], spans: SimpleQueue[Span]
    ) -> None:  # fmt: skip
        from confluent_kafka import Consumer

        self.name, self._spans = name, spans
        self.is_ending, self.is_polling = threading.Event(), threading.Event()
        self.is_polling.set()
        self.failure: BaseException | None = None
        self._to_pause: Partition | None = None
        self.held: frozenset[Partition] = frozenset()
        self._consumer = Consumer(dict(settings))
        self._consumer.subscribe(list(topics), on_revoke=self._give_up, on_lost=self._give_up)
        self.thread = threading.Thread(target=self._run, name=name, daemon=True)
        self.thread.start()

    def pause(self, partition: Partition) -> None:
        """Return when it is done: in the member's own thread, since pausing from another one may wait for ever."""
        self._to_pause = partition
        wait_for(f"{self.name} to pause {partition}", lambda: self._to_pause is None or self.failure)
        assert self.failure is None, self.failure

    def _run(self) -> None:
        from confluent_kafka import TopicPartition

        try:
            while not self.is_ending.is_set():
                if not self.is_polling.wait(_POLL_S):
                    continue
                if self._to_pause is not None:
                    self._consumer.pause([TopicPartition(*self._to_pause)])
                    self._to_pause = None
                records = self._consumer.consume(_MOST_RECORDS, _POLL_S)
                self._remember([record for record in records if record.error() is None])
                assigned = self._consumer.assignment()
                self.held = frozenset((where.topic, where.partition) for where in assigned)
        except Exception as failure:  # noqa: BLE001 whatever it is, the test tells it
            self.failure = failure
        finally:
            self._consumer.close()

    def _remember(self, records: Sequence[Any]) -> None:
        offsets: dict[Partition, list[int]] = defaultdict(list)
        for record in records:
            offsets[record.topic(), record.partition()].append(record.offset())
        for partition, result in offsets.items():
            self._spans.put(Span(_now_ms(), self.name, partition, min(result), max(result)))

    def _give_up(self, _: Any, partitions: Sequence[Any]) -> None:
        for where in partitions:
            self._spans.put(Span(_now_ms(), self.name, (where.topic, where.partition), -1, -1))


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
